//! A server in this process: from its start to the signal that ends it.

use std::{
    future,
    io::{self, BufRead as _, Read as _},
    path::{Path, PathBuf},
    process,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::Receiver,
    time,
};
use turnstile_journal::Spot;
use turnstile_server::{Gate, Recovery, ReloadAsk, Running, StartError, Starting, Stopper};

use crate::{config::Config, descriptors, reading::Reading, supervisor::Supervisor, terminal};

/// Of a line of standard input; what is longer counts as several.
const LINE_BYTES: u64 = 256;

/// How often the server looks whether the files of TLS have changed: a certificate is renewed days before it
/// expires.
const CERTIFICATE_LOOK: Duration = Duration::from_secs(60);

/// A server whose doors are open, and that recovers its journal.
#[derive(Debug)]
pub(crate) struct Opened {
    starting: Starting,
    data: Option<PathBuf>,
    is_secured: bool,
    supervisor: Arc<Supervisor>,
}

/// A server that serves.
#[derive(Debug)]
pub(crate) struct Serving {
    running: Running,
    supervisor: Arc<Supervisor>,
}

impl Opened {
    /// Takes the directory and opens the doors. From here on SIGTERM and SIGINT stop the server: a
    /// recovery at once, a service gracefully. SIGHUP has the configuration read again.
    pub(crate) fn start(
        config: &Config,
        reading: Reading,
        supervisor: Supervisor,
    ) -> anyhow::Result<Self> {
        let signals = ProcessSignals::catch()?;
        descriptors::allow(&config.server.limits);
        let settings = config.settings()?;
        let data = settings.data.clone();
        let starting = Starting::begin(&settings).with_context(|| cannot_serve(data.as_deref()))?;
        let mut doors = starting.doors().iter();
        let resp = doors.find(|(name, _)| *name == "resp");
        if let (Some(lab), Some(&(_, resp))) = (&settings.lab, resp) {
            let first = lab.target.set(config.lab_target(resp));
            first.expect("doors are opened once");
        }
        let supervisor = Arc::new(supervisor);
        supervisor.watch(starting.stopper())?;
        let reloading = Reloading {
            reading,
            server: starting.stopper(),
            supervisor: Arc::clone(&supervisor),
        };
        signals.heed(reloading, config.server.limits.drain)?;
        let is_secured = settings.tls.is_some();
        Ok(Self {
            starting,
            data,
            is_secured,
            supervisor,
        })
    }

    /// Where a browser finds the console, if HTTP is served.
    pub(crate) fn console(&self) -> Option<String> {
        let mut doors = self.starting.doors().iter();
        let (_, address) = doors.find(|(name, _)| *name == "http")?;
        let scheme = if self.is_secured { "https" } else { "http" };
        Some(format!("{scheme}://{address}/console/"))
    }

    /// Prints one line for each door, and where the data is.
    pub(crate) fn announce(&self) -> io::Result<()> {
        for (name, address) in self.starting.doors() {
            let scheme = match *name {
                "http" if self.is_secured => "https://",
                "http" => "http://",
                "resp" if self.is_secured => "rediss://",
                _ => "",
            };
            terminal::line(format_args!("{name:<12} {scheme}{address}"))?;
        }
        let place = match &self.data {
            Some(data) => data.display().to_string(),
            None => "in memory only: it ends with the server".to_owned(),
        };
        terminal::line(format_args!("{:<12} {place}", "data"))
    }

    /// Stops this server when standard input ends, so that it never outlives who started it. Each line
    /// that comes before is for `heed`.
    pub(crate) fn stop_at_end_of_input(&self, heed: fn(&str)) -> io::Result<()> {
        let stopper = self.starting.stopper();
        thread::Builder::new()
            .name("end-of-input".to_owned())
            .spawn(move || {
                let (mut input, mut line) = (io::stdin().lock(), Vec::new());
                while let Ok(1..) = input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
                    heed(String::from_utf8_lossy(&line).trim_end());
                    line.clear();
                }
                stopper.stop();
            })?;
        Ok(())
    }

    /// Waits until the journal is recovered; nothing when the server was stopped before.
    pub(crate) fn recovered(self) -> anyhow::Result<Option<Serving>> {
        let data = self.data.as_deref();
        let running = match self.starting.finish() {
            Err(StartError::Stopped) => {
                tracing::info!(
                    pid = process::id(),
                    "stopped before the journal was recovered"
                );
                return Ok(None);
            }
            finished => finished.with_context(|| cannot_serve(data))?,
        };
        note_recovery(running.recovery());
        Ok(Some(Serving {
            running,
            supervisor: self.supervisor,
        }))
    }
}

fn cannot_serve(data: Option<&Path>) -> String {
    match data {
        Some(data) => format!("cannot serve {}", data.display()),
        None => "cannot serve".to_owned(),
    }
}

impl Serving {
    pub(crate) fn gate(&self) -> Gate {
        self.running.gate()
    }

    /// The address of the door with this name, if it is open.
    pub(crate) fn door(&self, name: &str) -> Option<std::net::SocketAddr> {
        let doors = self.running.doors();
        let door = doors.iter().find(|(door, _)| *door == name);
        door.map(|&(_, address)| address)
    }

    /// Says `ready`, serves, and returns when everything accepted has been answered.
    pub(crate) fn until_stopped(self) -> anyhow::Result<()> {
        self.supervisor.note_ready();
        terminal::line("ready")?;
        self.running.join().context("the server failed")?;
        tracing::info!(pid = process::id(), "stopped");
        Ok(())
    }
}

/// Says in the log what was found in the directory, and what of it was not whole.
fn note_recovery(found: &Recovery) {
    let Some(journal) = found.journal.as_ref().filter(|journal| !journal.created) else {
        return;
    };
    tracing::info!(
        position = %found.position,
        snapshot = %found.snapshot,
        replayed = found.records,
        took = ?found.took,
        "recovered"
    );
    if let Some(Spot { file, offset }) = &journal.cut_at {
        let bytes = journal.cut_bytes;
        tracing::warn!(
            bytes,
            file,
            offset,
            "a torn tail was cut: what stood in it may have been acknowledged if the power failed"
        );
    }
    if journal.lost > 0 {
        let (records, position) = (journal.lost, journal.last);
        tracing::error!(
            records,
            %position,
            "acknowledged records after this position were given up, as --accept-loss said"
        );
    }
}

/// The signals that are heeded, caught from now on.
struct ProcessSignals {
    runtime: tokio::runtime::Runtime,
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl ProcessSignals {
    fn catch() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (terminate, interrupt, hang_up) = {
            let _entered = runtime.enter();
            (
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::hangup())?,
            )
        };
        Ok(Self {
            runtime,
            terminate,
            interrupt,
            hang_up,
        })
    }

    /// Stops the server at the first signal that asks for it, once the time to announce that is over or
    /// at a second signal; and reads the configuration again at each hang-up, and whenever HTTP asks. It
    /// watches the files of TLS meanwhile. The thread ends with the process.
    fn heed(self, mut reloading: Reloading, drain: Duration) -> io::Result<()> {
        let Self {
            runtime,
            mut terminate,
            mut interrupt,
            mut hang_up,
        } = self;
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                let server = reloading.server.clone();
                let supervisor = Arc::clone(&reloading.supervisor);
                let mut asks = server.reload_asks();
                let watching = server.clone();
                runtime.spawn(async move { watching.watch_certificates(CERTIFICATE_LOOK).await });
                runtime.block_on(async {
                    loop {
                        tokio::select! {
                            _ = terminate.recv() => break,
                            _ = interrupt.recv() => break,
                            _ = hang_up.recv() => reloading.at_hang_up(),
                            ask = next(&mut asks) => reloading.as_asked(ask),
                        }
                    }
                    // Who asks from now on is told that the server ends.
                    drop(asks);
                    supervisor.note_stop();
                    server.announce_stop();
                    // Before it is ready nobody is served who could go elsewhere.
                    let drain = if supervisor.is_ready() {
                        drain
                    } else {
                        Duration::ZERO
                    };
                    tracing::info!(?drain, "the server stops");
                    tokio::select! {
                        _ = terminate.recv() => {}
                        _ = interrupt.recv() => {}
                        () = time::sleep(drain) => {}
                    }
                });
                server.stop();
            })?;
        Ok(())
    }
}

/// What reads the configuration again, for whoever wants it.
struct Reloading {
    reading: Reading,
    server: Stopper,
    supervisor: Arc<Supervisor>,
}

impl Reloading {
    fn at_hang_up(&mut self) {
        self.supervisor.around_reload(|| {
            // The log says what came of it.
            let _outcome = self.reading.again(&self.server, None);
        });
    }

    fn as_asked(&mut self, ask: ReloadAsk) {
        self.supervisor.around_reload(|| {
            let outcome = self.reading.again(&self.server, Some(ask.by));
            if ask.reply.send(outcome).is_err() {
                tracing::debug!("who asked for a reload has gone");
            }
        });
    }
}

/// The next client that asks for a reload; where nobody can ask, it never comes.
async fn next(asks: &mut Option<Receiver<ReloadAsk>>) -> ReloadAsk {
    if let Some(asks) = asks
        && let Some(ask) = asks.recv().await
    {
        return ask;
    }
    future::pending().await
}
