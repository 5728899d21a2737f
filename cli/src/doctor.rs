//! `turnstile doctor`: what is wrong, or soon will be, with a data directory or a running server.

mod directory;
mod holder;
mod machine;
mod metrics;
mod ntp;
mod server;

use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::{address, connect::Security, exit::Coded, terminal};

#[derive(Args, Debug)]
pub(crate) struct DoctorArguments {
    /// Data directory, which a server may use; or http://HOST:PORT or https://HOST:PORT of a running
    /// server. A directory is tried with a file of a few KiB that is removed again; nothing else in it
    /// changes. A guarded server wants a key with the role operator, reader or admin
    #[arg(value_name = "DIR|URL")]
    subject: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    security: Security,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Health {
    Ok,
    /// Worth knowing; it need not be mended.
    Note,
    /// It is wrong, or soon will be.
    Wrong,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Symptom {
    /// Its name, always the same.
    check: &'static str,
    health: Health,
    /// In words: what was found.
    found: String,
    /// The page of the book that explains it, and says what to do.
    page: &'static str,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Diagnosis {
    subject: String,
    program: &'static str,
    symptoms: Vec<Symptom>,
}

pub(crate) fn run(arguments: &DoctorArguments) -> anyhow::Result<()> {
    let subject = &arguments.subject;
    let symptoms = if subject.contains("://") {
        let door = address::HTTP.read(subject);
        let door = door.map_err(Coded::usage)?;
        let mut symptoms = server::examine(&mut arguments.security.http(&door)?)?;
        if door.socket.ip().is_loopback() {
            symptoms.push(ntp::kept());
        }
        symptoms
    } else {
        directory::examine(Path::new(subject))?
    };
    let diagnosis = Diagnosis {
        subject: subject.clone(),
        program: env!("CARGO_PKG_VERSION"),
        symptoms,
    };
    terminal::line(if arguments.json {
        serde_json::to_string(&diagnosis)?
    } else {
        diagnosis.table()
    })?;
    diagnosis.judge()
}

impl Symptom {
    fn new(check: &'static str, page: &'static str, health: Health, found: String) -> Self {
        Self {
            check,
            health,
            found,
            page,
        }
    }
}

impl Health {
    /// Of something that is bad above a limit.
    fn wrong_if(is_wrong: bool) -> Self {
        if is_wrong { Self::Wrong } else { Self::Ok }
    }

    fn note_if(is_worth_it: bool) -> Self {
        if is_worth_it { Self::Note } else { Self::Ok }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Wrong => "WRONG",
        }
    }
}

impl Diagnosis {
    fn count(&self, health: Health) -> usize {
        let symptoms = self.symptoms.iter();
        symptoms.filter(|symptom| symptom.health == health).count()
    }

    fn table(&self) -> String {
        let mut lines = String::new();
        for symptom in &self.symptoms {
            let Symptom {
                check,
                health,
                found,
                page,
            } = symptom;
            lines.push_str(&format!("{:<5}  {check:<18}  {found}\n", health.word()));
            if *health != Health::Ok {
                lines.push_str(&format!("{:27}see docs/{page}\n", ""));
            }
        }
        lines.push_str(&format!(
            "{} of {} ok, {} to note, {} wrong",
            self.count(Health::Ok),
            self.symptoms.len(),
            self.count(Health::Note),
            self.count(Health::Wrong)
        ));
        lines
    }

    fn judge(&self) -> anyhow::Result<()> {
        let wrong = self
            .symptoms
            .iter()
            .filter(|symptom| symptom.health == Health::Wrong);
        let wrong: Vec<&str> = wrong.map(|symptom| symptom.check).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Coded::unwell(format!("wrong: {}", wrong.join(", "))).into())
    }
}

/// Hours until so many bytes are full; at least three days are no reason to hurry.
const HOURS_SOON: f64 = 72.0;
const HOURS_NOW: f64 = 6.0;

/// Less than this is a full disk soon, whatever the rate: two segments and a reserve of the usual size.
const FREE_BYTES_LEAST: u64 = 256 << 20;

const DISK_FULL: &str = "runbooks.md#the-disk-is-full";

/// How long the disk lasts: bytes that are free, and bytes a second that are written, if that is known.
fn room_left(free: u64, rate: Option<f64>, how: &str) -> Symptom {
    use turnstile_stats::units::{Bytes, to_float};
    let shown = Bytes(free);
    let hours = rate.filter(|rate| *rate > 0.0);
    let hours = hours.map(|rate| to_float(free) / rate / 3_600.0);
    let (health, found) = match hours {
        _ if free < FREE_BYTES_LEAST => (Health::Wrong, format!("{shown} free")),
        None => (Health::Ok, format!("{shown} free; {how}")),
        Some(hours) => {
            let health = if hours < HOURS_NOW {
                Health::Wrong
            } else {
                Health::note_if(hours < HOURS_SOON)
            };
            (
                health,
                format!(
                    "{shown} free: {hours:.0} h {how}; snapshots free what they make superfluous"
                ),
            )
        }
    };
    Symptom::new("disk left", DISK_FULL, health, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_lasts_as_long_as_the_rate_says() {
        let check = |free: u64, rate: Option<f64>, health: Health, begin: &str| {
            let symptom = room_left(free, rate, "at the present rate");
            assert_eq!(symptom.health, health, "{symptom:?}");
            assert!(symptom.found.starts_with(begin), "{symptom:?}");
        };
        let gib = 1 << 30;
        check(100 << 20, None, Health::Wrong, "100");
        check(10 * gib, None, Health::Ok, "10");
        check(10 * gib, Some(0.0), Health::Ok, "10");
        check(10 * gib, Some(1e6), Health::Wrong, "10.0 GiB free: 3 h");
        check(100 * gib, Some(1e6), Health::Note, "100 GiB free: 30 h");
        check(1_000 * gib, Some(1e6), Health::Ok, "1000 GiB free: 298 h");
    }
}
