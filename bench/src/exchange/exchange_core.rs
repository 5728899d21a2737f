//! exchange-core: a Java exchange in process, without network and without journal, under the same
//! flow of orders.

use std::{
    env, fmt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};

use super::ORDERS;
use crate::{
    contest::{self, RATE, SERVER_CPU, Sample},
    ground::{Ground, tell},
    pin::{self, SERVER_CORE},
    process::Neighbours,
    program,
    ratio::Bound::{self, AtLeast},
    section::{Section, Subject},
};

/// Where the driver and its script are, from the root of the repository.
const SCRIPT: &str = "bench/exchange-core/build.sh";

/// How exchange-core is run.
#[derive(Clone, Copy)]
struct Setting {
    /// How its threads wait for each other.
    strategy: &'static str,
    /// How many requests may be under way: as many as ours, or so many that its queue is never
    /// empty.
    window: u32,
    /// Whether it has the core of our server only, or both.
    one_core: bool,
}

const SETTINGS: [Setting; 4] = [
    Setting::new("YIELDING", 800, true),
    Setting::new("YIELDING", 800, false),
    Setting::new("BLOCKING", 800, false),
    Setting::new("YIELDING", 32_768, false),
];

impl Setting {
    const fn new(strategy: &'static str, window: u32, one_core: bool) -> Self {
        Self {
            strategy,
            window,
            one_core,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores = if self.one_core {
            "one core"
        } else {
            "both cores"
        };
        write!(f, "{}, {} under way, {cores}", self.strategy, self.window)
    }
}

/// Requests before it is measured: Java compiles what it runs often.
const WARM_UP: u32 = 2_000_000;

/// exchange-core opens packages of the JDK that later JDKs keep closed.
const OPENED: [&str; 6] = [
    "java.base/java.lang=ALL-UNNAMED",
    "java.base/java.lang.reflect=ALL-UNNAMED",
    "java.base/java.io=ALL-UNNAMED",
    "java.base/java.nio=ALL-UNNAMED",
    "java.base/sun.nio.ch=ALL-UNNAMED",
    "java.base/jdk.internal.ref=ALL-UNNAMED",
];

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let built = build()?;
    let load = ground.load(50, 16);
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let (mut ours, mut theirs) = (Vec::new(), SETTINGS.map(|_| Vec::new()));
    for _ in 0..ground.rounds() {
        let sample = contest::sample(ground, ORDERS, load)?;
        tell(&format!("{ORDERS}: {sample}"))?;
        ours.push(sample);
        for (setting, samples) in SETTINGS.iter().zip(&mut theirs) {
            let sample = run(&built, *setting, load.requests)?;
            tell(&format!("exchange-core, {setting}: {sample}"))?;
            samples.push(sample);
        }
    }
    let mut subjects = vec![Subject {
        name: ORDERS.to_string(),
        figures: contest::figures(&ours),
    }];
    for (setting, samples) in SETTINGS.iter().zip(&theirs) {
        subjects.push(Subject {
            name: format!("exchange-core in process, {setting}"),
            figures: contest::figures(samples),
        });
    }
    let mut section = Section {
        title: "Beside exchange-core 0.5.3",
        setting: format!(
            "{} requests, {} rounds; ours are durable and come over RESP from 50 connections x \
             16 under way. exchange-core has neither network nor journal nor client ids: one \
             thread submits the same flow to it in the same process, after {WARM_UP} to warm up; \
             its CPU is that of the whole process. It was built for many cores of its own; ours is \
             one thread on one core",
            load.requests,
            ground.rounds(),
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects,
        claims: Vec::new(),
    };
    for (peer, setting) in (1..).zip(SETTINGS) {
        let target = format!("rate of durable orders over RESP / exchange-core, {setting}");
        section.claim(&target, RATE, (0, peer), AtLeast(1.0));
        let target = format!("server CPU of a durable order over RESP / exchange-core, {setting}");
        section.claim(&target, SERVER_CPU, (0, peer), Bound::None);
    }
    Ok(section)
}

fn build() -> Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let out = target.join("exchange-core");
    let status = Command::new(SCRIPT).arg(&out).status();
    let status = status.with_context(|| format!("cannot run {SCRIPT} from here"))?;
    ensure!(status.success(), "exchange-core was not brought or built");
    Ok(out)
}

fn run(built: &Path, setting: Setting, requests: u32) -> Result<Sample> {
    let mut command = if setting.one_core {
        pin::command(SERVER_CORE, "java")
    } else {
        Command::new("java")
    };
    command.args(["-Xms1g", "-Xmx4g"]);
    for opened in OPENED {
        command.args(["--add-opens", opened]);
    }
    let paths = [built.join("driver.jar"), built.join("lib").join("*")];
    command.arg("-cp").arg(env::join_paths(paths)?);
    command.args(["Driver", setting.strategy, &setting.window.to_string()]);
    command.args([WARM_UP.to_string(), requests.to_string()]);
    let (output, _cpu) = program::run(&mut command)?;
    parse(&output, requests).with_context(|| format!("no figures in {output:?}"))
}

/// The last line: requests a second, microseconds of CPU for each, how many were refused.
fn parse(output: &str, requests: u32) -> Option<Sample> {
    let mut figures = output.lines().last()?.split(' ').map(str::parse::<f64>);
    let mut next = || figures.next()?.ok();
    Some(Sample {
        rate: next()?,
        server_us: next()?,
        client_us: 0.0,
        refused_percent: next()? / f64::from(requests) * 100.0,
    })
}

#[cfg(test)]
mod tests {
    use super::{Sample, parse};

    #[test]
    fn the_last_line_has_the_figures() {
        let expected = Sample {
            rate: 512_000.5,
            server_us: 3.125,
            client_us: 0.0,
            refused_percent: 0.5,
        };
        let output = "a word of warning\n512000.5 3.125 2\n";
        assert_eq!(parse(output, 400), Some(expected));
        assert_eq!(parse("Exception in thread\n", 400), None);
        assert_eq!(parse("", 400), None);
    }
}
