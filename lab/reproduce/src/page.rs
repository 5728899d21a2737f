//! What is published of experiments that were made again: a page for each, and one with all conclusions.

use crate::{ExperimentExtent, Fate, Reproduction};

/// One command that made them, from beginning to end.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// As it can be typed again; of a database what kind it is, and not where.
    pub command: String,
    /// What it was measured on.
    pub machine: String,
    /// When it began, UTC.
    pub began: String,
    /// How long all of it took, in seconds.
    pub took_s: f64,
    pub extent: ExperimentExtent,
    /// Whether the server and the lab were built for speed.
    pub is_release: bool,
}

impl Session {
    /// The page of one experiment.
    #[must_use]
    pub fn page(&self, one: &Reproduction) -> String {
        let (title, how) = (one.experiment.title(), self.how(one.took_s));
        let command = &self.command;
        format!(
            "# {title}, made again\n\n{how} What is measured and by which rules it is judged is in\n\
             `docs/lab-reproduce.md`. `(invalid)` is what the lab refuses to use, such as a generator that \
             was held up by\nneighbours.\n\n    {command}\n\n{one}"
        )
    }

    /// The page that begins with how many conclusions stand, and lists all of them.
    #[must_use]
    pub fn summary(&self, all: &[Reproduction]) -> String {
        let count = |fate| all.iter().map(|one| one.count(fate)).sum::<usize>();
        let (confirmed, refuted) = (count(Fate::Confirmed), count(Fate::Refuted));
        let untested = count(Fate::NotTestable);
        let conclusions = confirmed + refuted + untested;
        let (how, command) = (self.how(self.took_s), &self.command);
        let mut text = format!(
            "# The originals' experiments, made again\n\n{how} Each page has the published table beside \
             ours and the rule's\nreason for each conclusion. How: `docs/lab-reproduce.md`.\n\n    \
             {command}\n\nOf {conclusions} conclusions {confirmed} are confirmed, {refuted} are refuted, \
             {untested} are not testable here.\n\n\
             | experiment | conclusion of the original | here |\n| --- | --- | --- |\n"
        );
        for one in all {
            let name = one.experiment;
            for conclusion in &one.conclusions {
                let (claim, fate) = (&conclusion.claim, conclusion.fate.name());
                text += &format!("| [{name}]({name}.md) | {claim} | {fate} |\n");
            }
        }
        text += "\n| experiment | took | runs that failed | invalid figures, left out |\n\
                 | --- | --- | --- | --- |\n";
        for one in all {
            let (name, took, failed) = (one.experiment, lasted(one.took_s), one.failed.len());
            let left_out = one.left_out();
            text += &format!("| {name} | {took} | {failed} | {left_out} |\n");
        }
        text
    }

    /// How it was measured, in a sentence, and in how many seconds.
    #[must_use]
    pub fn how(&self, took_s: f64) -> String {
        let extent = match self.extent {
            ExperimentExtent::Brief => "Brief",
            ExperimentExtent::Quick => "Quick",
            ExperimentExtent::Full => "Full",
        };
        let build = if self.is_release {
            "in release"
        } else {
            "in a build for debugging, so that no figure says anything"
        };
        let (machine, began) = (&self.machine, &self.began);
        let took = lasted(took_s);
        format!("{extent}, {build}, begun {began}, in {took}, on {machine}.")
    }
}

/// `3 min 7 s`; of less than a minute only seconds.
fn lasted(seconds: f64) -> String {
    let whole = std::time::Duration::try_from_secs_f64(seconds.round()).unwrap_or_default();
    match (whole.as_secs() / 60, whole.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measured, OriginalExperiment};

    fn session(is_release: bool) -> Session {
        Session {
            command: "turnstile lab reproduce all".to_owned(),
            machine: "a machine".to_owned(),
            began: "2027-01-01 12:00".to_owned(),
            took_s: 187.4,
            extent: ExperimentExtent::Quick,
            is_release,
        }
    }

    #[test]
    fn times_are_told_in_minutes_and_seconds() {
        for (seconds, told) in [
            (0.2, "0 s"),
            (59.4, "59 s"),
            (59.6, "1 min 0 s"),
            (187.4, "3 min 7 s"),
        ] {
            assert_eq!(lasted(seconds), told);
        }
    }

    #[test]
    fn a_summary_has_every_conclusion_its_page_and_what_failed() {
        let failed = Measured {
            failed: vec!["the door is shut".to_owned()],
            took_s: 12.0,
            ..Measured::default()
        };
        let all = [
            OriginalExperiment::BookingRedis,
            OriginalExperiment::TravelOps,
        ]
        .map(|experiment| Reproduction::of(experiment, &failed, &[]));
        let text = session(true).summary(&all);
        // Little's law and the composition need no run.
        for line in [
            "Quick, in release, begun 2027-01-01 12:00, in 3 min 7 s, on a machine. Each page",
            "Of 14 conclusions 1 are confirmed, 1 are refuted, 12 are not testable here.",
            "| [booking-redis](booking-redis.md) | throughput and response describe the same users | refuted |",
            "| travel-ops | 12 s | 1 | 0 |",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let page = session(false).page(&all[0]);
        assert!(
            page.starts_with("# Room booking on Redis, made again\n"),
            "{page}"
        );
        assert!(page.contains("in a build for debugging"), "{page}");
        assert!(
            page.contains("\n    turnstile lab reproduce all\n"),
            "{page}"
        );
        assert!(
            page.contains("* **not measured**: the door is shut\n"),
            "{page}"
        );
    }
}
