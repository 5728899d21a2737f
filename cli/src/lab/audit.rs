//! `turnstile lab audit`.

use std::{fmt::Display, fs, io::Read as _, path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::Args;
use turnstile_audit::{Audit, Settings, Table, published};

use super::{duration, write_json};
use crate::{exit::Coded, terminal};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// CSV table with one row per point: users, throughput and response_ms (or _s, _us, _ns);
    /// optional think_ms, utilization or cpu_percent, cores, and run_1_ms, run_2_ms, ... with
    /// mean_ms, sd_ms and se_ms. Text columns separate series. `-` reads standard input
    #[arg(required_unless_present = "published")]
    file: Option<PathBuf>,
    /// Audit the tables of the five originals' reports instead
    #[arg(long, conflicts_with_all = ["file", "closed", "think"])]
    published: bool,
    /// The load was a closed loop: each user waited for the answer before the next request
    #[arg(long)]
    closed: bool,
    /// Mean think time of the users, such as 100ms or 2s
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "closed")]
    think: Option<Duration>,
    /// Tolerance for rounding and noise
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = percent)]
    tolerance: f64,
    /// Also write the findings to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.published {
        let found = published(arguments.tolerance);
        return conclude(arguments, &found, found.broken());
    }
    let settings = Settings {
        closed: arguments.closed,
        think: arguments.think.unwrap_or_default().as_secs_f64(),
        tolerance: arguments.tolerance,
    };
    let (name, text) = read(arguments)?;
    let table = Table::read(&text).map_err(|error| Coded::usage(format!("{name}: {error}")))?;
    let audit = Audit::of(&table, settings);
    conclude(arguments, &audit, audit.broken())
}

fn read(arguments: &Arguments) -> anyhow::Result<(String, String)> {
    let file = arguments.file.as_deref();
    let path = file.expect("clap asks for a file or for --published");
    if path.as_os_str() == "-" {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.context("standard input")?;
        return Ok(("standard input".to_owned(), text));
    }
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| name.clone())?;
    Ok((name, text))
}

fn conclude<A: Display + serde::Serialize>(
    arguments: &Arguments,
    found: &A,
    broken: usize,
) -> anyhow::Result<()> {
    terminal::line(found)?;
    if let Some(path) = &arguments.json {
        write_json(found, path)?;
    }
    match broken {
        0 => Ok(()),
        1 => Err(Coded::invalid("a point breaks a law".to_owned()).into()),
        _ => Err(Coded::invalid(format!("{broken} points break a law")).into()),
    }
}

/// `10%` as 0.1.
fn percent(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|number| number.parse().ok());
    let number = number.filter(|number| (0.0..=100.0).contains(number));
    let share = number.map(|number: f64| number / 100.0);
    share.ok_or_else(|| {
        format!("invalid tolerance `{text}`: write 10%, or anything from 0% to 100%")
    })
}
