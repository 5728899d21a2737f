//! A server in this process: from its start to the signal that ends it.

use std::{
    io::{self, Read as _},
    path::Path,
    process, thread,
};

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use turnstile_embedded::Options;
use turnstile_server::{Databases, Gate, Limits, Running, Settings, Stopper};

use crate::{config::Config, terminal};

/// A server that serves, and the signals that will stop it.
#[derive(Debug)]
pub(crate) struct Serving {
    running: Running,
}

impl Serving {
    /// Opens the doors. From here on SIGTERM and SIGINT stop the server gracefully.
    pub(crate) fn start(config: &Config, data: Option<&Path>) -> anyhow::Result<Self> {
        let signals = Signals::catch()?;
        let running = turnstile_server::start(&Settings {
            data: data.map(Path::to_owned),
            storage: Options {
                durability: config.durability,
                segment_bytes: config.segment_bytes,
                snapshot_records: config.snapshot_records,
            },
            resp: config.resp,
            http: config.http,
            xml: config.xml,
            xml_options: config.xml_options,
            lines: config.travel,
            lines_options: turnstile_lines::Options {
                bill_total: config.bill_total,
            },
            verhoeff: config.verhoeff,
            travel: Some(turnstile_travel::Settings {
                roles: config.role.roles(),
                lifetime_ms: config.lifetime_ms,
                wait_ms: config.wait_ms,
                ..turnstile_travel::Settings::FIRST
            }),
            games: Some(config.games),
            duels: config.duels,
            peers: config.travel_peers()?,
            databases: Databases {
                rooms: config.rooms_backend.clone(),
            },
            limits: Limits::STANDARD,
        })
        .with_context(|| match data {
            Some(data) => format!("cannot serve {}", data.display()),
            None => "cannot serve".to_owned(),
        })?;
        signals.stop(running.stopper())?;
        Ok(Self { running })
    }

    pub(crate) fn gate(&self) -> Gate {
        self.running.gate()
    }

    /// The address of the door with this name, if it is open.
    pub(crate) fn door(&self, name: &str) -> Option<std::net::SocketAddr> {
        let doors = self.running.doors();
        let door = doors.iter().find(|(door, _)| *door == name);
        door.map(|&(_, address)| address)
    }

    /// Prints one line for each door, and where the data is.
    pub(crate) fn announce(&self, data: Option<&Path>) -> io::Result<()> {
        for (name, address) in self.running.doors() {
            let scheme = if *name == "http" { "http://" } else { "" };
            terminal::line(format_args!("{name:<6} {scheme}{address}"))?;
        }
        match data {
            Some(data) => terminal::line(format_args!("data   {}", data.display())),
            None => terminal::line("data   in memory only: it ends with the server"),
        }
    }

    /// Stops this server when standard input ends, so that it never outlives who started it.
    pub(crate) fn stop_at_end_of_input(&self) -> io::Result<()> {
        let stopper = self.running.stopper();
        thread::Builder::new()
            .name("end-of-input".to_owned())
            .spawn(move || {
                let mut ignored = [0; 256];
                while io::stdin().read(&mut ignored).is_ok_and(|read| read > 0) {}
                stopper.stop();
            })?;
        Ok(())
    }

    /// Says `ready`, serves, and returns when everything accepted has been answered.
    pub(crate) fn until_stopped(self) -> anyhow::Result<()> {
        terminal::line("ready")?;
        self.running.join().context("the server failed")?;
        tracing::info!(pid = process::id(), "stopped");
        Ok(())
    }
}

/// The signals that ask for an end, caught from now on.
struct Signals {
    runtime: tokio::runtime::Runtime,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn catch() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let (terminate, interrupt) = {
            let _entered = runtime.enter();
            (
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
            )
        };
        Ok(Self {
            runtime,
            terminate,
            interrupt,
        })
    }

    /// Stops the server at the first signal; the thread ends with the process.
    fn stop(mut self, stopper: Stopper) -> io::Result<()> {
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                self.runtime.block_on(async {
                    tokio::select! {
                        _ = self.terminate.recv() => {}
                        _ = self.interrupt.recv() => {}
                    }
                });
                stopper.stop();
            })?;
        Ok(())
    }
}
