//! What can be trusted on this machine: each thing that has spoilt measurements before, looked at.

mod disk;
mod limits;
mod neighbours;
mod processors;
mod timing;

use std::{fmt, fs, path::Path};

use serde::Serialize;
use turnstile_result::Machine;

/// How something is, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    Ok,
    /// Some measurements suffer from it; those it would spoil say so themselves.
    Warn,
    /// Nothing that is measured here says much.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HealthCheck {
    /// Its name, always the same: `timer`, `neighbours`, ...
    pub check: &'static str,
    pub grade: Grade,
    /// In words: what was found.
    pub found: String,
    /// What that does to measurements.
    pub means: &'static str,
    /// What to do about it; absent when it is fine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<&'static str>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examination {
    pub machine: Machine,
    pub findings: Vec<HealthCheck>,
}

/// Looks at the machine for some seconds. `directory`: where a server would keep its data.
#[must_use]
pub fn examine(directory: &Path) -> Examination {
    let mut findings = vec![
        processors::cores(),
        processors::pinning(),
        processors::quota(),
    ];
    findings.extend(limits::all());
    findings.extend(neighbours::all());
    findings.extend(timing::all());
    findings.extend([processors::real_time(), processors::perf()]);
    findings.extend(disk::all(directory));
    Examination {
        machine: Machine::this(),
        findings,
    }
}

impl Examination {
    #[must_use]
    pub fn worst(&self) -> Grade {
        let grades = self.findings.iter().map(|finding| finding.grade);
        grades.max().unwrap_or(Grade::Ok)
    }
}

impl HealthCheck {
    const fn new(check: &'static str, means: &'static str) -> Self {
        Self {
            check,
            grade: Grade::Ok,
            found: String::new(),
            means,
            cure: None,
        }
    }

    /// What was found is fine.
    fn fine(self, found: String) -> Self {
        Self { found, ..self }
    }

    /// It is not, for which there is a cure.
    fn is(self, grade: Grade, found: String, cure: &'static str) -> Self {
        let cure = (grade != Grade::Ok).then_some(cure);
        Self {
            grade,
            found,
            cure,
            ..self
        }
    }
}

impl Grade {
    /// Of something that is fine up to one limit, and bad above another.
    fn up_to(fine: f64, bearable: f64, found: f64) -> Self {
        if found <= fine {
            Self::Ok
        } else if found <= bearable {
            Self::Warn
        } else {
            Self::Bad
        }
    }
}

/// A file of the system; nothing where it has none.
fn told(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "BAD",
        })
    }
}

impl fmt::Display for Examination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            let HealthCheck {
                check,
                grade,
                found,
                means,
                cure,
            } = finding;
            writeln!(f, "{grade:<5} {check:<12} {found}")?;
            if let Some(cure) = cure {
                writeln!(
                    f,
                    "                   {means}\n                   cure: {cure}"
                )?;
            }
        }
        let count = |grade| {
            self.findings
                .iter()
                .filter(|one| one.grade == grade)
                .count()
        };
        write!(
            f,
            "{} of {} ok, {} warn, {} bad",
            count(Grade::Ok),
            self.findings.len(),
            count(Grade::Warn),
            count(Grade::Bad)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Examination, Grade, HealthCheck, examine};

    #[test]
    fn everything_is_looked_at_once_and_what_is_not_fine_has_a_cure() {
        let folder = tempfile::tempdir().unwrap();
        let Examination { findings, .. } = examine(folder.path());
        let names: BTreeSet<&str> = findings.iter().map(|finding| finding.check).collect();
        let known = [
            "backlog",
            "clock",
            "cores",
            "descriptors",
            "free disk",
            "loopback",
            "neighbours",
            "perf",
            "pinning",
            "ports",
            "pressure",
            "quota",
            "real time",
            "steal",
            "sync",
            "timer",
        ];
        assert_eq!(names, BTreeSet::from(known));
        assert_eq!(names.len(), findings.len());
        for finding in &findings {
            assert!(!finding.found.is_empty(), "{finding:?}");
            assert_eq!(
                finding.cure.is_some(),
                finding.grade != Grade::Ok,
                "{finding:?}"
            );
        }
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "nothing is left behind");
    }

    #[test]
    fn a_directory_that_is_not_there_is_bad() {
        let findings = super::disk::all(std::path::Path::new("/nowhere/at/all"));
        let grades: Vec<Grade> = findings.iter().map(|finding| finding.grade).collect();
        assert_eq!(grades, [Grade::Bad, Grade::Bad]);
    }

    #[test]
    fn a_finding_is_a_line_and_a_bad_one_three() {
        let fine = HealthCheck::new("cores", "nothing").fine("2 cores".to_owned());
        let bad = HealthCheck::new("timer", "requests leave late").is(
            Grade::Bad,
            "late by 3ms".to_owned(),
            "use --rt",
        );
        let examination = Examination {
            machine: turnstile_result::Machine::this(),
            findings: vec![fine, bad],
        };
        assert_eq!(examination.worst(), Grade::Bad);
        let shown = "ok    cores        2 cores\n\
                     BAD   timer        late by 3ms\n                   requests leave late\n\
                     \x20                  cure: use --rt\n1 of 2 ok, 0 warn, 1 bad";
        assert_eq!(examination.to_string(), shown);
    }

    #[test]
    fn a_grade_has_two_limits() {
        let grades = [1.0, 2.0, 5.0, 5.1].map(|found| Grade::up_to(1.0, 5.0, found));
        assert_eq!(grades, [Grade::Ok, Grade::Warn, Grade::Warn, Grade::Bad]);
    }
}
