//! Whether the lab names planted bottlenecks, and refuses planted bad runs: real servers with one known
//! fault each, driven by the real program.

mod cases;
mod planted;
mod report;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    arguments::{Extent, Program},
    pin::{self, CLIENT_CORE, SERVER_CORE},
};
use cases::{Bad, Case, Place};

pub(crate) use planted::{Planted, serve};
pub(crate) use report::Report;

/// Spinning processes beside a server or a generator that is to be starved.
const NEIGHBOURS: usize = 3;

/// Sound runs that should not be refused.
const SOUND: u32 = 20;

#[derive(Args, Debug)]
pub(crate) struct Bottlenecks {
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    program: Program,
    /// Only what has one of these in its name; no files are written
    #[arg(long)]
    only: Vec<String>,
}

/// A process that is killed when this is dropped.
#[derive(Debug)]
struct Running(Child);

/// What the lab said of one run.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    run: Option<Value>,
}

pub(crate) fn measure(arguments: &Bottlenecks) -> Result<Report> {
    let turnstile = arguments.program.path()?;
    let quick = arguments.extent.quick;
    let seconds = if quick { "1s" } else { "3s" };
    let lab = Lab {
        turnstile: &turnstile,
        seconds,
    };
    let chosen = |name: &str| arguments.chooses(name);
    let named = cases::named();
    let named = named.iter().filter(|case| chosen(case.name));
    let named = named.map(|case| lab.name(case)).collect::<Result<_>>()?;
    let bad = cases::bad();
    let bad = bad.iter().filter(|bad| chosen(bad.name));
    let refused = bad.map(|bad| lab.refuse(bad)).collect::<Result<_>>()?;
    let sound = if quick { 2 } else { SOUND };
    let sound = (0..sound).map(cases::sound);
    let accepted = sound
        .filter(|sound| chosen(sound.name))
        .map(|sound| lab.accept(&sound))
        .collect::<Result<_>>()?;
    let report = Report {
        quick,
        whole: arguments.only.is_empty(),
        named,
        refused,
        accepted,
    };
    ensure!(!report.is_empty(), "nothing is planted under such a name");
    if report.whole {
        report.write(&arguments.extent.out)?;
    }
    Ok(report)
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
    fn name(&self, case: &Case) -> Result<report::Named> {
        let (server, behind) = planted(&case.server, case.place)?;
        let _neighbours = neighbours(case.neighbours)?;
        let mut words = vec!["bottleneck".to_owned()];
        words.extend(case.words.iter().map(ToString::to_string));
        if let Some(behind) = &behind {
            words.extend(["--database-pid".to_owned(), behind.0.id().to_string()]);
        }
        words.extend(["-d", self.seconds].map(str::to_owned));
        let said = self.run(&words, server.address)?;
        let found = |name: &str| Some(said.run.as_ref()?["bottleneck"].get(name)?.clone());
        let text = |name: &str| {
            let found = found(name);
            found
                .and_then(|one| Some(one.as_str()?.to_owned()))
                .unwrap_or_default()
        };
        Ok(report::Named {
            planted: case.name,
            expected: case.expected,
            named: text("named"),
            probability: found("probability")
                .and_then(|one| one.as_f64())
                .unwrap_or(0.0),
            why: text("why"),
        })
    }

    fn refuse(&self, bad: &Bad) -> Result<report::Refused> {
        let (server, _behind) = planted(&bad.server, Place::Apart)?;
        let _neighbours = neighbours(bad.neighbours)?;
        let mut words = vec!["run".to_owned()];
        words.extend(bad.words.iter().map(ToString::to_string));
        if !bad.words.contains(&"--max-time") {
            words.extend(["-d", self.seconds].map(str::to_owned));
        }
        let said = self.run(&words, server.address)?;
        Ok(report::Refused::of(bad, &said))
    }

    /// A run in which nothing is wrong.
    fn accept(&self, sound: &Bad) -> Result<report::Refused> {
        let (server, _behind) = planted(&sound.server, Place::Apart)?;
        let mut words = vec!["run".to_owned()];
        words.extend(sound.words.iter().map(ToString::to_string));
        words.extend(["-d", self.seconds].map(str::to_owned));
        let said = self.run(&words, server.address)?;
        Ok(report::Refused::of(sound, &said))
    }

    /// Runs the lab against a server; the words of the command but for `lab` and the target.
    fn run(&self, words: &[String], server: SocketAddr) -> Result<Said> {
        let folder = TempDir::new()?;
        let (command, rest) = words.split_first().context("a command")?;
        let mut lab = Command::new(self.turnstile);
        lab.args(["lab", command, &format!("resp://{server}")]);
        if command == "bottleneck" {
            lab.arg("--pin").arg(format!("gen={CLIENT_CORE}"));
        } else {
            lab = pinned(&lab);
        }
        lab.args(rest).args(["-q", "-o"]).arg(folder.path());
        lab.args(["--", "PING"]);
        lab.stdout(Stdio::null()).stderr(Stdio::null());
        let status = lab.status().context("the lab does not start")?;
        let run = fs::read(folder.path().join("run.json")).ok();
        let run = run
            .map(|bytes| serde_json::from_slice(&bytes))
            .transpose()?;
        Ok(Said {
            code: status.code(),
            run,
        })
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
    _running: Running,
    address: SocketAddr,
}

/// Starts a planted server, and what is behind it, if that is how it is planted.
fn planted(words: &[&str], place: Place) -> Result<(Server, Option<Running>)> {
    let mut all: Vec<String> = words.iter().map(ToString::to_string).collect();
    let mut behind = None;
    if words.first() == Some(&"behind") {
        let own: Vec<String> = ["compute", "--micros", words[2]]
            .map(str::to_owned)
            .to_vec();
        let (running, address) = start(&own, Place::Apart)?;
        all.truncate(1);
        all.extend(["--behind".to_owned(), address.to_string()]);
        behind = Some(running);
    }
    let (running, address) = start(&all, place)?;
    let server = Server {
        _running: running,
        address,
    };
    Ok((server, behind))
}

fn start(words: &[String], place: Place) -> Result<(Running, SocketAddr)> {
    let own = std::env::current_exe()?;
    let mut command = match place {
        Place::Apart => pin::command(SERVER_CORE, own),
        Place::Anywhere => Command::new(own),
    };
    command.arg("planted").args(words).stdout(Stdio::piped());
    let mut running = Running(command.spawn()?);
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
fn neighbours(core: Option<usize>) -> Result<Vec<Running>> {
    let Some(core) = core else {
        return Ok(Vec::new());
    };
    let spin = |_| {
        let mut command = pin::command(core, "sh");
        command.args(["-c", "while :; do :; done"]);
        Ok(Running(command.spawn()?))
    };
    (0..NEIGHBOURS).map(spin).collect()
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
