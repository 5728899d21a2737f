//! Whether the lab names planted bottlenecks, and refuses planted bad runs: real servers with one known
//! fault each, driven by the real program.

mod planted;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::Deserialize;
use tempfile::TempDir;
use turnstile_result::{Outcome, Run};
use turnstile_stats::units::count;

use crate::{
    arguments::{Program, RunExtent},
    pin::{self, CLIENT_CORE, SERVER_CORE},
    ratio::{Bound, Ratio},
    report::Report,
    section::{MeasuredRow, Section, SubjectMetric},
};

pub(crate) use planted::{Planted, serve};

/// Spinning processes beside a server or a generator that is to be starved.
const NEIGHBOURS: usize = 3;

/// Sound runs that should not be refused.
const SOUND: usize = 20;

/// Of twenty planted bottlenecks, those that are to be named.
const NAMED: Bound = Bound::AtLeast(18.0);

/// Sound runs that may be refused, in percent.
const LOST_PERCENT: Bound = Bound::AtMost(2.0);

/// The exit code of a run that is not known precisely enough.
const UNKNOWN: i32 = 96;

const CASES: &str = include_str!("../scenarios/bottlenecks.toml");

#[derive(Args, Debug)]
pub(crate) struct Bottlenecks {
    #[command(flatten)]
    extent: RunExtent,
    #[command(flatten)]
    program: Program,
    /// Only what has one of these in its name
    #[arg(long)]
    only: Vec<String>,
}

/// All that is planted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    named: Vec<PlantedCase>,
    refused: Vec<PlantedCase>,
    sound: Vec<PlantedCase>,
}

/// A server with one bottleneck or fault, and what the lab should say of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlantedCase {
    planted: String,
    /// The words after `planted`.
    server: String,
    /// The words after `lab bottleneck` or `lab run`.
    load: String,
    /// The names or the exit codes of which any is right.
    expected: Vec<String>,
    /// Whether the server runs on whatever cores there are.
    #[serde(default)]
    anywhere: bool,
    /// Whose core has busy neighbours.
    #[serde(default)]
    neighbours: Option<NeighbourSide>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NeighbourSide {
    Server,
    Client,
}

/// A process that is killed when this is dropped.
#[derive(Debug)]
struct ChildGuard(Child);

/// How the lab ended, and what it wrote.
#[derive(Debug)]
struct LabSaid {
    code: Option<i32>,
    run: Option<Run>,
}

pub(crate) fn measure(arguments: &Bottlenecks) -> Result<Report> {
    let turnstile = arguments.program.path()?;
    let quick = arguments.extent.quick;
    let seconds = if quick { "1s" } else { "3s" };
    let lab = Lab {
        turnstile: &turnstile,
        seconds,
    };
    let Cases {
        named,
        refused,
        sound,
    } = cases()?;
    let sound = sound.iter().cycle().take(if quick { 2 } else { SOUND });
    let sound: Vec<PlantedCase> = sound.cloned().collect();
    let chosen = |cases: Vec<PlantedCase>| -> Vec<PlantedCase> {
        let chosen = cases
            .into_iter()
            .filter(|case| arguments.chooses(&case.planted));
        chosen.collect()
    };
    let (named, refused, sound) = (chosen(named), chosen(refused), chosen(sound));
    let planted = named.len() + refused.len() + sound.len();
    ensure!(planted > 0, "nothing is planted under such a name");
    let sections = vec![
        lab.names(&named)?,
        lab.runs("Bad runs", &refused)?,
        lab.runs("Sound runs", &sound)?,
    ];
    let mut report = Report {
        title: "Planted bottlenecks and bad runs".to_owned(),
        about: "`turnstile-bench bottlenecks` gives these again: real servers, each with one known fault, on \
                a core of their own where nothing else is said, driven by `lab bottleneck` and `lab run`."
            .to_owned(),
        quick,
        machine: None,
        sections,
        not_measured: Vec::new(),
    };
    let is_part = !arguments.only.is_empty();
    // A part of all cases has no targets.
    if !is_part {
        judge(&mut report.sections);
    }
    report.write(arguments.extent.out(is_part), "bottlenecks")?;
    Ok(report)
}

fn cases() -> Result<Cases> {
    Ok(toml::from_str(CASES)?)
}

/// Holds the sections against their targets.
fn judge(sections: &mut [Section]) {
    let right = |section: &Section| {
        let rows = section.subjects.iter();
        let right = rows.filter(|row| row.figures.contains(&is_right(true)));
        (count(right.count()), count(section.subjects.len()))
    };
    let [(named, _), (refused, bad), (accepted, sound)] =
        [0, 1, 2].map(|place| right(&sections[place]));
    let lost = 100.0 * (sound - accepted) / sound;
    for (place, target, value, bound) in [
        (0, "bottlenecks named of 20", named, NAMED),
        (1, "bad runs refused of 15", refused, Bound::AtLeast(bad)),
        (2, "sound runs refused, %", lost, LOST_PERCENT),
    ] {
        sections[place].claim_ratio(target, Ratio::spread(&[value]), bound);
    }
}

fn is_right(is_right: bool) -> SubjectMetric {
    SubjectMetric::text("right", if is_right { "yes" } else { "NO" })
}

impl Bottlenecks {
    fn chooses(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

/// The program under test.
struct Lab<'a> {
    turnstile: &'a Path,
    /// The length of a run.
    seconds: &'a str,
}

impl Lab<'_> {
    /// What the lab names.
    fn names(&self, cases: &[PlantedCase]) -> Result<Section> {
        let rows = cases.iter().map(|case| {
            let said = self.drive("bottleneck", case)?;
            let found = said.run.and_then(|run| run.bottleneck);
            let (named, probability, why) = found.map_or_else(Default::default, |found| {
                (found.named, found.probability, found.why)
            });
            let figures = vec![
                SubjectMetric::text("expected", case.expected.join(" or ")),
                SubjectMetric::text("named", named.as_str()),
                is_right(case.expected.contains(&named)),
                SubjectMetric::one("P", probability),
                SubjectMetric::text("why", why),
            ];
            Ok(MeasuredRow::new(case.planted.as_str(), figures))
        });
        let rows = rows.collect::<Result<_>>()?;
        let setting = format!(
            "`lab bottleneck` with {} for each number of users",
            self.seconds
        );
        Ok(Section::new("Bottlenecks", setting, rows))
    }

    /// How runs end.
    fn runs(&self, title: &str, cases: &[PlantedCase]) -> Result<Section> {
        let rows = cases.iter().map(|case| {
            let said = self.drive("run", case)?;
            let code = said
                .code
                .map_or_else(|| "-".to_owned(), |code| code.to_string());
            let figures = vec![
                SubjectMetric::text("expected", case.expected.join(" or ")),
                SubjectMetric::text("exit code", code.as_str()),
                is_right(case.expected.contains(&code)),
                SubjectMetric::text("because", said.because().join(", ")),
            ];
            Ok(MeasuredRow::new(case.planted.as_str(), figures))
        });
        let rows = rows.collect::<Result<_>>()?;
        let setting = format!("`lab run` for {} where nothing else is said", self.seconds);
        Ok(Section::new(title, setting, rows))
    }

    /// Plants a server and runs a command of the lab against it.
    fn drive(&self, command: &str, case: &PlantedCase) -> Result<LabSaid> {
        let (server, behind) = planted(case)?;
        let _neighbours = neighbours(case.neighbours)?;
        let folder = TempDir::new()?;
        let mut lab = Command::new(self.turnstile);
        lab.args(["lab", command, &format!("resp://{}", server.address)]);
        if command == "bottleneck" {
            lab.arg("--pin").arg(format!("gen={CLIENT_CORE}"));
        } else {
            lab = pinned(&lab);
        }
        lab.args(case.load.split(' '));
        if let Some(behind) = &behind {
            lab.args(["--database-pid", &behind.0.id().to_string()]);
        }
        if !case.load.contains("--max-time") {
            lab.args(["-d", self.seconds]);
        }
        lab.args(["-q", "-o"]).arg(folder.path());
        lab.args(["--", "PING"]);
        lab.stdout(Stdio::null()).stderr(Stdio::null());
        let status = lab.status().context("the lab does not start")?;
        let run = fs::read(folder.path().join("run.json")).ok();
        Ok(LabSaid {
            code: status.code(),
            run: run.map(|bytes| Run::read(&bytes)).transpose()?,
        })
    }
}

impl LabSaid {
    /// The checks that failed, and what else is against the run.
    fn because(&self) -> Vec<String> {
        let Some(point) = self.run.as_ref().and_then(|run| run.points.first()) else {
            return Vec::new();
        };
        let checks = point.validity.iter();
        let failed = checks.filter(|check| check.outcome == Outcome::Fails);
        let mut because: Vec<String> = failed.map(|check| check.check.clone()).collect();
        if self.code == Some(UNKNOWN) {
            because.push(point.steady.why.clone());
        }
        because
    }
}

/// The same command with all its threads on the core of clients.
fn pinned(command: &Command) -> Command {
    let mut pinned = pin::command(CLIENT_CORE, command.get_program());
    pinned.args(command.get_args());
    pinned
}

/// A server that serves.
struct Server {
    _running: ChildGuard,
    address: SocketAddr,
}

/// Starts a planted server, and what is behind it, if that is how it is planted.
fn planted(case: &PlantedCase) -> Result<(Server, Option<ChildGuard>)> {
    let (mut words, mut behind) = (case.server.clone(), None);
    if let Some(options) = words.strip_prefix("behind") {
        let (running, address) = start(&format!("compute{options}"), false)?;
        words = format!("behind --behind {address}");
        behind = Some(running);
    }
    let (running, address) = start(&words, case.anywhere)?;
    let server = Server {
        _running: running,
        address,
    };
    Ok((server, behind))
}

fn start(words: &str, anywhere: bool) -> Result<(ChildGuard, SocketAddr)> {
    let own = std::env::current_exe()?;
    let mut command = if anywhere {
        Command::new(own)
    } else {
        pin::command(SERVER_CORE, own)
    };
    command
        .arg("planted")
        .args(words.split(' '))
        .stdout(Stdio::piped());
    let mut running = ChildGuard(command.spawn()?);
    let output = running.0.stdout.take().context("its output is piped")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let address = line
        .trim()
        .parse()
        .context("a planted server tells its address")?;
    Ok((running, address))
}

/// Processes that take all they can get of one core.
fn neighbours(end: Option<NeighbourSide>) -> Result<Vec<ChildGuard>> {
    let core = match end {
        None => return Ok(Vec::new()),
        Some(NeighbourSide::Server) => SERVER_CORE,
        Some(NeighbourSide::Client) => CLIENT_CORE,
    };
    let spin = |_| {
        let mut command = pin::command(core, "sh");
        command.args(["-c", "while :; do :; done"]);
        Ok(ChildGuard(command.spawn()?))
    };
    (0..NEIGHBOURS).map(spin).collect()
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::cases;

    #[test]
    fn twenty_bottlenecks_and_fifteen_bad_runs_are_planted() {
        let cases = cases().unwrap();
        let counts = (cases.named.len(), cases.refused.len(), cases.sound.len());
        assert_eq!(counts, (20, 15, 4));
    }
}
