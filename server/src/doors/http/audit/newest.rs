//! The audit from its end: what was decided last stands first.

use std::{
    collections::VecDeque,
    ops::ControlFlow,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use tokio::sync::oneshot;
use turnstile_embedded::Auditor;
use turnstile_http::{AuditRequest, Code, Problem};
use turnstile_json::{AuditFilter, AuditLine, AuditLines, AuditPage};
use turnstile_types::{Audited, Position, Principal};

use super::{
    super::limits::{AUDIT_BYTES, AUDIT_NEWEST},
    Audits, busy, unaudited,
};

/// The last lines of what was decided before a position, for the pages that follow the first.
///
/// To find them, all of the journal is decided again: so a reading keeps more than a page of them. The state
/// of the services goes with its end.
#[derive(Debug)]
pub(super) struct NewestLines {
    filter: AuditFilter,
    /// The oldest first, with the positions at which they were decided, and their bytes.
    lines: VecDeque<(Position, usize, AuditLine)>,
    bytes: usize,
    /// Whether there are older ones than these.
    has_older: bool,
    /// The position after which the journal begins.
    from: Position,
    /// The last record that was read.
    last: Position,
    /// How many commands were read, shown or not.
    read: u64,
    pub(super) used: Instant,
}

/// A page of what was decided before a position, the newest first. One without a position is read anew.
pub(super) async fn page(
    audits: &Audits,
    directory: PathBuf,
    reader: Principal,
    request: &AuditRequest,
    before: Position,
) -> Result<AuditPage, Problem> {
    let mut kept = audits.newest.try_lock().map_err(|_locked| busy())?;
    let serves = |kept: &NewestLines| kept.filter == request.filter && kept.has_before(before);
    let mut lines = match kept.take().filter(serves) {
        Some(lines) => lines,
        None => {
            let _alone = audits.claim(&reader)?;
            read(directory, request.filter.clone(), before).await?
        }
    };
    let page = lines.page(before, request.limit);
    lines.used = Instant::now();
    *kept = Some(lines);
    Ok(page)
}

/// Reads the journal on a thread of its own, which stops when nobody waits for it any more.
async fn read(
    directory: PathBuf,
    filter: AuditFilter,
    before: Position,
) -> Result<NewestLines, Problem> {
    let (answer, answered) = oneshot::channel();
    let thread = thread::Builder::new().name("audit".to_owned());
    let begun = thread.spawn(move || {
        let lines = NewestLines::read(&directory, filter, before, || answer.is_closed());
        // Its client may have left.
        drop(answer.send(lines));
    });
    begun.map_err(|failure| unaudited(failure.to_string()))?;
    let lines = answered.await.map_err(|_ended| Code::Unavailable)?;
    lines.map_err(unaudited)
}

impl NewestLines {
    fn read(
        directory: &Path,
        filter: AuditFilter,
        before: Position,
        is_left: impl Fn() -> bool,
    ) -> Result<Self, String> {
        let auditor = Auditor::open(directory).map_err(|failure| failure.to_string())?;
        let mut found = Self {
            filter: filter.clone(),
            lines: VecDeque::new(),
            bytes: 0,
            has_older: false,
            from: auditor.from(),
            last: auditor.from(),
            read: 0,
            used: Instant::now(),
        };
        let mut lines = AuditLines::new(filter);
        let read = auditor.read(|audited| {
            let by = audited.by();
            if by >= before || is_left() {
                return ControlFlow::Break(());
            }
            found.take(by, &mut lines, &audited);
            ControlFlow::Continue(())
        });
        let (extent, more) = read.map_err(|failure| failure.to_string())?;
        // At the end of the journal, commands that nobody has answered are the newest.
        if more.is_some() {
            found.last = extent.last;
            for line in lines.waiting() {
                found.keep(Position(extent.last.0 + 1), 0, line.clone());
            }
        }
        Ok(found)
    }

    fn take(&mut self, by: Position, lines: &mut AuditLines, audited: &Audited<'_>) {
        self.last = by;
        let bytes = match audited {
            Audited::Command(command) => {
                self.read += 1;
                command.payload.len() + command.outcome.len()
            }
            Audited::Answer { outcome, .. } => outcome.len(),
        };
        if let Some(line) = lines.take(audited) {
            self.keep(by, bytes, line);
        }
    }

    /// Keeps a line, and forgets the oldest beyond the bounds: all that one record has answered at once.
    fn keep(&mut self, by: Position, bytes: usize, line: AuditLine) {
        self.lines.push_back((by, bytes, line));
        self.bytes += bytes;
        while self.lines.len() > AUDIT_NEWEST || self.bytes > AUDIT_BYTES {
            let oldest = self.lines.front().map(|(by, ..)| *by);
            if oldest == Some(by) {
                return;
            }
            while let Some((_, bytes, _)) = self.lines.pop_front_if(|(by, ..)| Some(*by) == oldest)
            {
                self.bytes -= bytes;
            }
            self.has_older = true;
        }
    }

    /// Whether all that was decided shortly before a position is here.
    fn has_before(&self, before: Position) -> bool {
        let is_later = self.last < before;
        let has_some = self.lines.front().is_some_and(|(by, ..)| *by < before);
        !is_later && (has_some || !self.has_older)
    }

    /// The newest of those that were decided before a position: so many, and what stands with the last.
    fn page(&self, before: Position, limit: usize) -> AuditPage {
        let mut page = AuditPage {
            read: self.read,
            after: self.from.0,
            position: self.last.0,
            ..AuditPage::default()
        };
        let mut last = None;
        let earlier = self.lines.iter().rev();
        for (by, _, line) in earlier.skip_while(|(by, ..)| *by >= before) {
            if page.commands.len() >= limit && last != Some(*by) {
                page.go_on_at(last.unwrap_or(before));
                return page;
            }
            page.commands.push(line.clone());
            last = Some(*by);
        }
        if self.has_older
            && let Some(last) = last
        {
            page.go_on_at(last);
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use turnstile_json::RecordLine;

    use super::*;

    fn line(position: u64) -> AuditLine {
        let record = serde_json::json!({
            "position": position, "time": "", "principal": "", "door": "", "address_class": "",
            "service": "", "operation": "", "fields": {},
        });
        let record: RecordLine = serde_json::from_value(record).unwrap();
        AuditLine {
            record,
            outcome: turnstile_json::AuditOutcome::Waiting,
            decided_at: None,
        }
    }

    fn lines(decided: impl Iterator<Item = u64>) -> NewestLines {
        let mut lines = NewestLines {
            filter: AuditFilter::default(),
            lines: VecDeque::new(),
            bytes: 0,
            has_older: false,
            from: Position(0),
            last: Position(0),
            read: 0,
            used: Instant::now(),
        };
        for position in decided {
            lines.last = Position(position);
            lines.keep(Position(position), 1, line(position));
        }
        lines
    }

    fn shown(lines: &NewestLines, before: u64) -> (Vec<u64>, Option<String>) {
        let page = lines.page(Position(before), 2);
        let positions = page.commands.iter().map(|line| line.record.position);
        (positions.collect(), page.next)
    }

    #[test]
    fn what_one_record_decided_stands_on_one_page() {
        let lines = lines([3, 5, 5, 5, 8].into_iter());
        let next = |position: u64| Some(format!("c{position:016x}"));
        assert_eq!(shown(&lines, u64::MAX), (vec![8, 5, 5, 5], next(5)));
        assert_eq!(shown(&lines, 5), (vec![3], None));
        assert_eq!(shown(&lines, 3), (vec![], None));
    }

    #[test]
    fn beyond_the_bounds_the_oldest_are_read_again() {
        let all = u64::try_from(AUDIT_NEWEST).unwrap() + 2;
        let lines = lines(1..=all);
        assert_eq!(lines.lines.len(), AUDIT_NEWEST);
        assert!(lines.has_before(Position(all)) && lines.has_before(Position(4)));
        assert!(!lines.has_before(Position(3)));
        let (shown, next) = shown(&lines, 4);
        assert_eq!((shown, next), (vec![3], Some(format!("c{:016x}", 3))));
        assert!(!lines.has_before(Position(u64::MAX)), "more may have come");
    }
}
