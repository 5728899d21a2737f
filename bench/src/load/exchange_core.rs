//! exchange-core: a Java exchange in process, without network and without journal. `exchange-core
//! YIELDING -w 800 -n 100000 --one-core` submits a balanced flow of orders and cancels, at most 800 of
//! them undecided, in one thread of the same process.

use std::{env, path::PathBuf, process::Command};

use anyhow::{Context as _, Result, ensure};

use super::{CLIENT_US, Measures, RATE, REFUSED_PERCENT, SERVER_US, option};
use crate::{
    pin::{self, SERVER_CORE},
    program,
};

/// Where the driver and its script are, from the root of the repository.
const SCRIPT: &str = "bench/exchange-core/build.sh";

/// Requests before it is measured: Java compiles code that runs often.
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

pub(super) fn drive(words: &[&str]) -> Result<Measures> {
    let built = build()?;
    let strategy = words
        .first()
        .context("how its threads wait for each other")?;
    let window: u32 = option(words, "-w")?;
    let requests: u32 = option(words, "-n")?;
    let mut command = if words.contains(&"--one-core") {
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
    command.args(["Driver", strategy, &window.to_string()]);
    command.args([WARM_UP.to_string(), requests.to_string()]);
    let (output, _cpu) = program::run(&mut command)?;
    parse(&output, requests).with_context(|| format!("no figures in {output:?}"))
}

fn build() -> Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let out = target.join("exchange-core");
    let status = Command::new(SCRIPT).arg(&out).status();
    let status = status.with_context(|| format!("cannot run {SCRIPT} from here"))?;
    ensure!(status.success(), "exchange-core was not brought or built");
    Ok(out)
}

/// The last line: requests a second, microseconds of CPU for each, how many were refused.
fn parse(output: &str, requests: u32) -> Option<Measures> {
    let mut figures = output.lines().last()?.split(' ').map(str::parse::<f64>);
    let mut next = || figures.next()?.ok();
    let (rate, server_us, refused) = (next()?, next()?, next()?);
    let measures = [
        (RATE, rate),
        (SERVER_US, server_us),
        // One thread submits in the process that decides.
        (CLIENT_US, 0.0),
        (REFUSED_PERCENT, refused / f64::from(requests) * 100.0),
    ];
    Some(
        measures
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_last_line_has_the_figures() {
        let output = "a word of warning\n512000.5 3.125 2\n";
        let measures = parse(output, 400).unwrap();
        let expected = [
            ("client us", 0.0),
            ("rate", 512_000.5),
            ("refused %", 0.5),
            ("server us", 3.125),
        ];
        let measures: Vec<(&str, f64)> = measures
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        assert_eq!(measures, expected);
        assert_eq!(parse("Exception in thread\n", 400), None);
        assert_eq!(parse("", 400), None);
    }
}
