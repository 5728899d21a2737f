//! `turnstile lab record` and `turnstile lab replay`: a stream of requests, kept and sent again.

use std::{
    net::SocketAddr,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use turnstile_client::ServerAddress;
use turnstile_load::{
    LoadReport,
    pace::Pace,
    record::{Proxy, Recorded},
    replay,
    workload::{Door, Load, Options},
};
use turnstile_result::Verdict;
use turnstile_stats::units::Count;
use turnstile_trace::Trace;

use super::{
    NOWHERE, ProgressLine, default_threads,
    driven::Driven,
    notebook::{self, Notebook, OutputArguments},
    pacing::Pacing,
    watching::Behind,
    workload::Service,
};
use crate::{
    address::{self, DoorAddress},
    connect::Security,
    exit::Coded,
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Recording {
    /// Trace file to write; must not exist
    file: PathBuf,
    /// Record a run of this service: one with a RESP door of its own, such as rooms or exchange
    #[arg(required_unless_present = "to", conflicts_with = "to")]
    service: Option<Service>,
    /// Instead, record the clients of this RESP server through a proxy
    #[arg(long, value_name = "ADDR", value_parser = address::RESP, conflicts_with = "resp")]
    to: Option<DoorAddress>,
    /// Address of the proxy; port 0 picks a free port
    #[arg(
        long,
        value_name = "ADDR",
        value_parser = address::parse,
        requires = "to",
        default_value = "127.0.0.1:0"
    )]
    listen: SocketAddr,
    /// RESP address of the server for a run; default: the lab starts its own server
    #[arg(long, value_name = "ADDR", value_parser = address::RESP)]
    resp: Option<DoorAddress>,
    #[command(flatten)]
    security: Security,
    /// Number of generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    #[command(flatten)]
    pacing: Pacing,
}

#[derive(Args, Debug)]
pub(crate) struct Replaying {
    /// Trace file to replay
    file: PathBuf,
    /// RESP address of the server; default: the lab starts its own server
    #[arg(long, value_name = "ADDR", value_parser = address::RESP)]
    resp: Option<DoorAddress>,
    #[command(flatten)]
    security: Security,
    /// Speed relative to the recording, 0.001x to 1000x
    #[arg(long, default_value = "1x", value_parser = speed)]
    speed: f64,
    /// Number of generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads `2x`.
fn speed(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').unwrap_or(text).parse::<f64>();
    number
        .ok()
        .filter(|speed| (0.001..=1_000.0).contains(speed))
        .ok_or_else(|| format!("invalid speed `{text}`: write 2x or 0.5x, from 0.001x to 1000x"))
}

pub(super) fn record(arguments: &Recording) -> anyhow::Result<()> {
    let (recorded, report) = match (&arguments.to, arguments.service) {
        (Some(server), _) => {
            let server = arguments.security.resp(server)?;
            (listen(arguments, &server)?, None)
        }
        (None, Some(service)) => {
            let (recorded, report) = run(arguments, service)?;
            (recorded, Some(report))
        }
        (None, None) => {
            let wrong = "name a service to record, or a server with --to";
            return Err(Coded::usage(wrong.to_owned()).into());
        }
    };
    if let Some(report) = &report {
        terminal::line(&report.proof)?;
    }
    if recorded.turned_away > 0 {
        let many = Count(recorded.turned_away);
        terminal::note(format_args!("{many} connections were too many, and closed"));
    }
    if recorded.failed > 0 {
        let many = Count(recorded.failed);
        terminal::note(format_args!(
            "{many} connections failed: the server was not reached, or there were too few descriptors"
        ));
    }
    if let Some(why) = &recorded.delayed {
        terminal::note(format_args!("some clients had to wait: {why}"));
    }
    terminal::line(format_args!(
        "{}: {} requests on {} connections, stream {}",
        arguments.file.display(),
        Count(recorded.requests),
        recorded.connections,
        recorded.hash
    ))?;
    let verdict = report.map_or(Verdict::Fine, |report| report.verdict());
    Coded::of_verdict(verdict).map_or(Ok(()), |coded| Err(coded.into()))
}

fn proxy(listen: SocketAddr, server: &ServerAddress, file: &Path) -> anyhow::Result<Proxy> {
    if server.has_key() && !listen.ip().is_loopback() {
        let wrong =
            "clients of the proxy have the rights of its key: --listen on loopback, or give no key";
        return Err(Coded::usage(wrong.to_owned()).into());
    }
    Proxy::start(listen, server, file).with_context(|| file.display().to_string())
}

/// Records what clients say, for the time that was asked for or until the process is ended.
fn listen(arguments: &Recording, server: &ServerAddress) -> anyhow::Result<Recorded> {
    let proxy = proxy(arguments.listen, server, &arguments.file)?;
    terminal::line(format_args!("recording {} for {server}", proxy.address()))?;
    // Nobody sends: this only waits. A process that is killed leaves a trace that can be read.
    let (_kept, nothing) = mpsc::channel::<()>();
    match arguments.pacing.duration() {
        Some(time) => nothing.recv_timeout(time).unwrap_or_default(),
        None => nothing.recv().unwrap_or_default(),
    }
    Ok(proxy.stop()?)
}

/// Records a run by a proxy of our own. Its figures are those of the proxy, too: only its proof counts.
fn run(arguments: &Recording, service: Service) -> anyhow::Result<(Recorded, LoadReport<String>)> {
    if service.door() != Door::Resp {
        let (name, flag) = (service.name(), service.flag());
        let wrong = format!("{name} is driven at {flag}, and only RESP is recorded");
        return Err(Coded::usage(wrong).into());
    }
    let threads = arguments.threads.get();
    let pacing = arguments.pacing.lasting(Duration::from_secs(10));
    pacing.pace(NOWHERE, threads)?;
    let resp = arguments.security.named_resp(arguments.resp.as_ref())?;
    let driven = Driven::over_resp(resp, Behind::default())?;
    let proxy = proxy(NOWHERE, &driven.address, &arguments.file)?;
    let pace = pacing.pace(proxy.address(), threads)?;
    let line = ProgressLine::new(false);
    let load = Load {
        pace: &pace,
        users: pacing.connections.get(),
        resp: Some(pace.address.clone()),
        own: driven.is_own(),
        options: &Options::default(),
    };
    let ran = service.run(&load, &mut |progress| line.show(progress));
    line.clear();
    let recorded = proxy.stop()?;
    let report = ran?;
    driven.stop()?;
    Ok((recorded, report))
}

pub(super) fn replay(arguments: &Replaying) -> anyhow::Result<()> {
    let shown = || arguments.file.display().to_string();
    let trace = Trace::read(&arguments.file).with_context(shown)?;
    if trace.torn() > 0 {
        let torn = Count(u64::try_from(trace.torn())?);
        terminal::note(format_args!(
            "{}: {torn} bytes at its end are no whole entry, and left out",
            shown()
        ));
    }
    let threads = arguments.threads.get();
    let resp = arguments.security.named_resp(arguments.resp.as_ref())?;
    let driven = Driven::over_resp(resp, Behind::default())?;
    let mut asked = notebook::asked("replay", "trace", driven.target(), None, threads);
    let settings = [
        ("file", shown()),
        ("speed", format!("{}x", arguments.speed)),
    ];
    for (name, value) in settings {
        asked.settings.insert(name.to_owned(), value);
    }
    let mut notebook = Notebook::new(&arguments.output, asked, driven.watched())?;
    let pace = Pace {
        threads,
        ..Pace::closed(&driven.address, Duration::ZERO, Duration::from_secs(1))
    };
    let config = replay::Config {
        pace: &pace,
        trace: &trace,
        speed: arguments.speed,
    };
    let began = notebook.begin(None);
    let report = replay::run(&config, &mut |progress| notebook.watch(progress))?;
    notebook.keep(report.point.clone(), &pace, began);
    driven.stop()?;
    terminal::line(&report)?;
    notebook.finish_as(Verdict::Fine)?;
    if report.is_whole() {
        return Ok(());
    }
    let short = "not all of the recorded stream was sent and answered".to_owned();
    Err(Coded::invalid(short).into())
}

#[cfg(test)]
mod tests {
    use super::speed;

    #[test]
    fn a_speed_is_a_number_with_or_without_its_x() {
        assert_eq!((speed("2x"), speed("0.5")), (Ok(2.0), Ok(0.5)));
        for text in ["", "x", "0x", "-1x", "NaN", "1e9x", "2y"] {
            assert!(speed(text).is_err(), "{text}");
        }
    }
}
