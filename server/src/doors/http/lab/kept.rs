//! The loads that are remembered: those since the start, and those whose results are kept.

use std::{
    cmp::Reverse,
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
};

use turnstile_http::{LabKind, LabOrder, LabRunView, LabSecond, LabState};
use turnstile_types::{Name, Principal, Timestamp};

use super::{
    super::limits::{LAB_RUNS, LAB_SECONDS},
    process::{LabProcess, LabProgress, Told},
    result::{LabResult, REPORT},
};

#[derive(Debug, Default)]
pub(super) struct KeptRuns {
    /// The newest first.
    runs: VecDeque<KeptRun>,
    /// The number of the newest.
    pub(super) last: u64,
    /// The process of the load that is under way, which is the newest.
    pub(super) process: Option<LabProcess>,
}

#[derive(Debug)]
pub(super) struct KeptRun {
    pub(super) view: LabRunView,
    pub(super) folder: PathBuf,
    /// The oldest first.
    seconds: Vec<LabSecond>,
    /// What was told last.
    progress: Option<LabProgress>,
}

impl KeptRuns {
    /// The newest of those whose results are in this folder. Nothing else there is touched.
    pub(super) fn of_results(results: &Path) -> Self {
        let Ok(entries) = fs::read_dir(results) else {
            return Self::default();
        };
        let mut found: Vec<(FolderName, PathBuf)> = entries
            .filter_map(|entry| {
                let folder = entry.ok()?.path();
                Some((FolderName::parse(folder.file_name()?.to_str()?)?, folder))
            })
            .collect();
        found.sort_by_key(|(name, _)| Reverse(name.run));
        found.dedup_by_key(|(name, _)| name.run);
        let last = found.first().map_or(0, |(name, _)| name.run);
        let runs = found
            .into_iter()
            .filter_map(|(name, folder)| KeptRun::of_result(name, folder))
            .take(LAB_RUNS);
        Self {
            runs: runs.collect(),
            last,
            process: None,
        }
    }

    pub(super) fn push(&mut self, run: KeptRun) {
        self.last = run.view.run;
        self.runs.push_front(run);
        self.runs.truncate(LAB_RUNS);
    }

    pub(super) fn find(&mut self, run: u64) -> Option<&mut KeptRun> {
        self.runs.iter_mut().find(|one| one.view.run == run)
    }

    pub(super) fn views(&self) -> Vec<LabRunView> {
        self.runs.iter().map(|one| one.view.clone()).collect()
    }

    /// Notes what a load has told about itself; its process, once that has ended.
    pub(super) fn note(&mut self, run: u64, told: Told, now: Timestamp) -> Option<LabProcess> {
        let process = match told {
            Told::Ended => self.process.take(),
            Told::Progress(_) | Told::Message(_) => None,
        };
        if let Some(found) = self.find(run) {
            match told {
                Told::Progress(progress) => found.advance(progress),
                Told::Message(line) => found.view.message = Some(line.into()),
                Told::Ended => found.end(now),
            }
        }
        process
    }
}

impl KeptRun {
    /// A load that begins now.
    pub(super) fn begin(
        run: u64,
        order: LabOrder,
        principal: Principal,
        began: Timestamp,
        results: &Path,
    ) -> Self {
        let name = FolderName {
            began,
            run,
            principal,
        };
        let is_rush = order.kind == LabKind::Rush;
        let view = LabRunView {
            kind: order.kind,
            service: order.service.into(),
            clients: order.clients,
            seconds: (!is_rush).then_some(order.seconds),
            rate: order.rate.filter(|_| !is_rush),
            rooms: is_rush.then_some(order.rooms),
            ..name.view()
        };
        Self::new(view, results.join(name.text()))
    }

    /// One from before a restart, by its result.
    fn of_result(name: FolderName, folder: PathBuf) -> Option<Self> {
        let result = LabResult::read(&folder)?;
        let mut view = name.view();
        result.describe(&mut view)?;
        result.count(&mut view);
        view.state = LabState::Ended;
        view.has_report = folder.join(REPORT).is_file();
        view.verdict = Some(result.verdict);
        Some(Self::new(view, folder))
    }

    const fn new(view: LabRunView, folder: PathBuf) -> Self {
        Self {
            view,
            folder,
            seconds: Vec::new(),
            progress: None,
        }
    }

    /// All seconds, or those after one.
    pub(super) fn seconds_after(&self, elapsed_ms: Option<u64>) -> Vec<LabSecond> {
        let begin = self
            .seconds
            .partition_point(|one| elapsed_ms.is_some_and(|after| one.elapsed_ms <= after));
        self.seconds[begin..].to_vec()
    }

    fn advance(&mut self, progress: LabProgress) {
        let view = &mut self.view;
        view.elapsed_ms = progress.elapsed_ms;
        view.answered = progress.answered;
        view.refused = progress.refused;
        view.failed = progress.failed;
        view.per_second = progress.per_second;
        let kept = self.seconds.last().map_or(0, |last| last.elapsed_ms);
        if progress.elapsed_ms / 1_000 > kept / 1_000 {
            self.keep_second(progress);
        }
        self.progress = Some(progress);
    }

    /// Keeps how the load stands at the end of a second.
    fn keep_second(&mut self, progress: LabProgress) {
        if self.seconds.len() == LAB_SECONDS {
            return;
        }
        let last = self.seconds.last();
        let before = last.map_or((0, 0), |last| (last.elapsed_ms, last.answered));
        let took_ms = progress.elapsed_ms.saturating_sub(before.0).max(1);
        let answered = progress.answered.saturating_sub(before.1);
        self.seconds.push(LabSecond {
            elapsed_ms: progress.elapsed_ms,
            answered: progress.answered,
            refused: progress.refused,
            failed: progress.failed,
            per_second: answered.saturating_mul(1_000) / took_ms,
            p50_ns: progress.p50_ns,
            p99_ns: progress.p99_ns,
            checked: progress.checked,
            violations: progress.violations,
        });
    }

    fn end(&mut self, now: Timestamp) {
        if let Some(progress) = self.progress.take() {
            // What was told of the same millisecond before is less.
            self.seconds
                .pop_if(|last| last.elapsed_ms >= progress.elapsed_ms);
            self.keep_second(progress);
        }
        let result = LabResult::read(&self.folder);
        let view = &mut self.view;
        view.ended = Some(now);
        if let Some(result) = &result {
            result.count(view);
        }
        view.verdict = result.map(|result| result.verdict);
        view.has_report = view.verdict.is_some() && self.folder.join(REPORT).is_file();
        if view.state == LabState::Running {
            let has_result = view.verdict.is_some();
            view.state = if has_result {
                LabState::Ended
            } else {
                LabState::Failed
            };
        }
    }
}

/// What the name of the folder of a load says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FolderName {
    began: Timestamp,
    run: u64,
    principal: Principal,
}

impl FolderName {
    fn text(&self) -> String {
        let Self {
            began,
            run,
            principal,
        } = self;
        format!("{}-{run}-{principal}", began.0)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let began = Timestamp(parts.next()?.parse().ok()?);
        let run = parts.next()?.parse().ok()?;
        let principal = Principal(Name::parse(parts.next()?.as_bytes()).ok()?);
        let name = Self {
            began,
            run,
            principal,
        };
        (name.text() == text).then_some(name)
    }

    /// A load of which nothing else is known.
    fn view(&self) -> LabRunView {
        LabRunView {
            run: self.run,
            kind: LabKind::Run,
            service: "".into(),
            clients: 0,
            seconds: None,
            rate: None,
            rooms: None,
            principal: self.principal,
            state: LabState::Running,
            began: self.began,
            ended: None,
            elapsed_ms: 0,
            answered: 0,
            refused: 0,
            failed: 0,
            per_second: 0,
            verdict: None,
            message: None,
            has_report: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: Timestamp = Timestamp(1_700_000_000_000);

    fn order(kind: LabKind) -> LabOrder {
        LabOrder {
            kind,
            service: "rooms",
            clients: 3,
            seconds: 9,
            rate: None,
            rooms: 2,
        }
    }

    fn begun(run: u64, kind: LabKind, results: &Path) -> KeptRun {
        KeptRun::begin(run, order(kind), Principal::local(), BEGAN, results)
    }

    fn progress(elapsed_ms: u64, answered: u64) -> LabProgress {
        LabProgress {
            elapsed_ms,
            answered,
            refused: 0,
            failed: 0,
            per_second: 0,
            p50_ns: None,
            p99_ns: None,
            checked: None,
            violations: None,
        }
    }

    #[test]
    fn a_load_is_kept_second_by_second_and_at_its_end() {
        let mut kept = KeptRuns::default();
        kept.push(begun(1, LabKind::Run, Path::new("/nowhere")));
        for (elapsed_ms, answered) in [(400, 1), (1_200, 6), (1_400, 9), (2_200, 16), (2_300, 17)] {
            kept.note(1, Told::Progress(progress(elapsed_ms, answered)), BEGAN);
        }
        kept.note(1, Told::Ended, BEGAN);
        let run = kept.find(1).unwrap();
        let shown = |after| -> Vec<(u64, u64)> {
            let seconds = run.seconds_after(after);
            let shown = seconds.iter().map(|one| (one.elapsed_ms, one.per_second));
            shown.collect()
        };
        assert_eq!(shown(None), [(1_200, 5), (2_200, 10), (2_300, 10)]);
        assert_eq!(shown(Some(2_200)), [(2_300, 10)]);
        assert_eq!(run.view.state, LabState::Failed);
    }

    #[test]
    fn the_last_that_is_told_is_kept_whenever_it_is_told() {
        // A rush may be over within a millisecond, and a load within the one of its last second.
        for told in [&[(0, 5)][..], &[(2_000, 7), (2_000, 9)]] {
            let mut kept = KeptRuns::default();
            kept.push(begun(1, LabKind::Rush, Path::new("/nowhere")));
            for &(elapsed_ms, answered) in told {
                kept.note(1, Told::Progress(progress(elapsed_ms, answered)), BEGAN);
            }
            kept.note(1, Told::Ended, BEGAN);
            let seconds = kept.find(1).unwrap().seconds_after(None);
            let shown: Vec<_> = seconds
                .iter()
                .map(|one| (one.elapsed_ms, one.answered))
                .collect();
            assert_eq!(shown.as_slice(), &told[told.len() - 1..]);
        }
    }

    #[test]
    fn a_load_has_bounded_seconds() {
        let mut run = begun(1, LabKind::Run, Path::new("/nowhere"));
        for second in 1..=2_000 {
            run.advance(progress(second * 1_000, second));
        }
        assert_eq!(run.seconds_after(None).len(), LAB_SECONDS);
    }

    #[test]
    fn results_are_found_again_with_their_numbers_and_nothing_else_is() {
        let results = tempfile::tempdir().unwrap();
        let rush = begun(7, LabKind::Rush, results.path());
        let run = begun(9, LabKind::Run, results.path());
        let without_result = begun(11, LabKind::Run, results.path());
        for run in [&rush, &run, &without_result] {
            fs::create_dir(&run.folder).unwrap();
        }
        for other in ["mine", "1-2", "01-3-local", "1-4-"] {
            fs::create_dir(results.path().join(other)).unwrap();
        }
        let operations =
            r#"[{"done": 5, "refused": {"sold_out": 3}, "errors": {"BUSY": 1}, "unknown": 2}]"#;
        let settings = r#"{"rooms": "2", "clients": "3", "connections": "1"}"#;
        let result = |command: &str, load: &str| {
            format!(
                r#"{{"schema": 2, "took_s": 2.5, "verdict": "fine",
                    "asked": {{"command": "{command}", "workload": "rooms", "settings": {settings}}},
                    "points": [{{"load": {load}, "window_s": 9.0, "operations": {operations}}}]}}"#
            )
        };
        let counted = result("rush", r#"{"loop": "count", "users": 1, "requests": 3}"#);
        fs::write(rush.folder.join("run.json"), counted).unwrap();
        let closed = result("run", r#"{"loop": "closed", "users": 3, "pipeline": 1}"#);
        fs::write(run.folder.join("run.json"), closed).unwrap();
        fs::write(run.folder.join(REPORT), "page").unwrap();

        let kept = KeptRuns::of_results(results.path());
        let ended = |run: &KeptRun, has_report| LabRunView {
            state: LabState::Ended,
            ended: Some(Timestamp(BEGAN.0 + 2_500)),
            elapsed_ms: 2_500,
            answered: 9,
            refused: 3,
            failed: 3,
            verdict: Some("fine".into()),
            has_report,
            ..run.view.clone()
        };
        assert_eq!(kept.views(), [ended(&run, true), ended(&rush, false)]);
        assert_eq!(kept.last, 11);
    }
}
