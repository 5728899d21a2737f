//! `turnstile follow`: a second directory that is never far behind a running server.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use turnstile_backup::{BackupError, Standby, StandbyStep};
use turnstile_embedded::{ID_KEY_FILE, put_id_file};

use crate::{
    address::{self, DoorAddress},
    backup::{failed, remote::RemoteSource},
    connect::{Security, secret_in},
    exit::Coded,
    terminal,
};

/// How often a server is asked when it has nothing new.
const LOOK: Duration = Duration::from_millis(100);

/// How long it rests after a server was not reached; twice as long each time.
const REST: Duration = Duration::from_millis(100);
const REST_MAX: Duration = Duration::from_secs(5);

/// How often a newer snapshot is looked for: what lies before it can go.
const RENEW: Duration = Duration::from_secs(10);

/// How often the metrics are written while nothing changes.
const TELL: Duration = Duration::from_secs(1);

#[derive(Args, Debug)]
pub(crate) struct FollowArguments {
    /// HTTP address of the server to follow. The key to show needs the role operator or admin
    #[arg(long, value_name = "URL", value_parser = address::HTTP)]
    from: DoorAddress,
    /// Directory for the copy: empty or not there at first, the same when it goes on
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Copy this file into the directory as its id.key. The server does not hand it out
    #[arg(long, value_name = "FILE")]
    id_key: Option<PathBuf>,
    /// Write metrics to this file, for the textfile collector of Prometheus' node exporter
    #[arg(long, value_name = "FILE")]
    metrics_file: Option<PathBuf>,
    #[command(flatten)]
    security: Security,
}

pub(crate) fn run(arguments: &FollowArguments) -> anyhow::Result<()> {
    let ended = when_ended()?;
    let mut source = RemoteSource::new(arguments.security.clone(), arguments.from.clone());
    let mut pace = FollowPace::default();
    let mut standby = loop {
        match Standby::open(&mut source, &arguments.to) {
            Err(error) if error.is_passing() => pace.note_away(&error),
            opened => break opened.map_err(failed)?,
        }
        if pace.rest(&ended) {
            return Ok(());
        }
    };
    put_id_key(arguments)?;
    terminal::line(format_args!(
        "following {} from position {}",
        arguments.from,
        standby.position()
    ))?;
    let mut following = FollowedServer {
        source,
        standby: &mut standby,
        told: FollowFigures::new(arguments.metrics_file.as_deref()),
        renewed: Instant::now(),
    };
    loop {
        let step = following.step();
        match step {
            Ok(step) => pace.note_step(&step),
            Err(error) if error.is_passing() => pace.note_away(&error),
            Err(error) => return Err(failed(error)),
        }
        following.told.tell(pace.is_reached)?;
        if pace.rest(&ended) {
            break;
        }
    }
    let position = standby.position();
    terminal::line(format_args!("stopped at position {position}"))?;
    Ok(())
}

/// The copy as it goes on.
struct FollowedServer<'a> {
    source: RemoteSource,
    standby: &'a mut Standby,
    told: FollowFigures<'a>,
    renewed: Instant,
}

impl FollowedServer<'_> {
    fn step(&mut self) -> Result<StandbyStep, BackupError> {
        // Before it asks: whatever is acknowledged up to now is in the answer.
        let asked = SystemTime::now();
        let was_whole = self.standby.is_whole();
        let step = self.standby.step(&mut self.source)?;
        self.told.note(&step, asked);
        if !was_whole && self.standby.is_whole() {
            tracing::info!(
                position = step.position,
                "a server can be started on the copy"
            );
        }
        if step.lag() == 0 && self.renewed.elapsed() >= RENEW {
            self.renewed = Instant::now();
            if self.standby.renew(&mut self.source)? {
                tracing::info!("a newer snapshot was copied, and what lies before it removed");
            }
        }
        Ok(step)
    }
}

/// Puts the key of the id numbers into the copy.
fn put_id_key(arguments: &FollowArguments) -> anyhow::Result<()> {
    let Some(file) = &arguments.id_key else {
        let has_key = arguments.to.join(ID_KEY_FILE).exists();
        if !has_key {
            terminal::note(
                "the copy has no id.key: put it there, or name --id-key FILE, before a server starts on it",
            );
        }
        return Ok(());
    };
    let secret = secret_in(file, "id.key")?;
    let put = put_id_file(&arguments.to, ID_KEY_FILE, &secret);
    put.map_err(|refused| Coded::usage(refused.to_string()))?;
    Ok(())
}

/// How often the server is asked.
#[derive(Debug)]
struct FollowPace {
    rest: Duration,
    is_reached: bool,
}

impl Default for FollowPace {
    fn default() -> Self {
        Self {
            rest: REST,
            is_reached: true,
        }
    }
}

impl FollowPace {
    fn note_step(&mut self, step: &StandbyStep) {
        if !self.is_reached {
            tracing::info!(position = step.position, "the server answers again");
        }
        self.is_reached = true;
        self.rest = if step.lag() > 0 { Duration::ZERO } else { LOOK };
    }

    fn note_away(&mut self, error: &BackupError) {
        if self.is_reached {
            tracing::warn!(%error, "the server is not reached: the copy stays as it is");
            self.rest = REST;
        }
        self.is_reached = false;
        self.rest = self.rest.saturating_mul(2).clamp(REST, REST_MAX);
    }

    /// Rests; says whether the end came.
    fn rest(&self, ended: &Receiver<()>) -> bool {
        !matches!(
            ended.recv_timeout(self.rest),
            Err(RecvTimeoutError::Timeout)
        )
    }
}

/// What was last known, for the log and for Prometheus.
struct FollowFigures<'a> {
    file: Option<&'a Path>,
    step: Option<StandbyStep>,
    /// Everything that was acknowledged before this is in the copy.
    complete_until: Option<SystemTime>,
    was_behind: bool,
    told: Option<Instant>,
}

impl<'a> FollowFigures<'a> {
    const fn new(file: Option<&'a Path>) -> Self {
        Self {
            file,
            step: None,
            complete_until: None,
            was_behind: false,
            told: None,
        }
    }

    fn note(&mut self, step: &StandbyStep, asked: SystemTime) {
        let has_moved = self
            .step
            .is_none_or(|before| before.position != step.position);
        self.step = Some(*step);
        if step.lag() == 0 {
            self.complete_until = Some(asked);
            if self.was_behind {
                tracing::info!(position = step.position, "the copy has caught up");
            }
        } else if !self.was_behind {
            tracing::info!(
                position = step.position,
                lag = step.lag(),
                "the copy is behind"
            );
        }
        self.was_behind = step.lag() > 0;
        if has_moved {
            self.told = None;
        }
    }

    /// Writes the metrics, if there is something new to say.
    fn tell(&mut self, is_reached: bool) -> anyhow::Result<()> {
        let Some(file) = self.file else {
            return Ok(());
        };
        if self.told.is_some_and(|told| told.elapsed() < TELL) {
            return Ok(());
        }
        self.told = Some(Instant::now());
        let text = self.text(is_reached);
        replace(file, &text).with_context(|| file.display().to_string())
    }

    fn text(&self, is_reached: bool) -> String {
        let seconds = |time: Option<SystemTime>| {
            let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.unwrap_or_default().as_secs_f64()
        };
        let now = seconds(Some(SystemTime::now()));
        let complete = seconds(self.complete_until);
        let (position, lag) = self.step.map_or((0, 0), |step| (step.position, step.lag()));
        let rows = [
            (
                "position",
                "The last position that the copy has, durably",
                position.to_string(),
            ),
            (
                "lag_positions",
                "Positions that the server had more when it last answered",
                lag.to_string(),
            ),
            (
                "lag_seconds",
                "Since everything that the server had acknowledged was in the copy",
                format!("{:.3}", (now - complete).max(0.0)),
            ),
            (
                "complete_until_seconds",
                "Everything that the server had acknowledged at this Unix time is in the copy",
                format!("{complete:.3}"),
            ),
            (
                "connected",
                "Whether the server answered last",
                u8::from(is_reached).to_string(),
            ),
        ];
        let rows = rows.map(|(name, help, value)| {
            format!(
                "# HELP turnstile_follow_{name} {help}\n# TYPE turnstile_follow_{name} gauge\n\
                 turnstile_follow_{name} {value}\n"
            )
        });
        rows.concat()
    }
}

/// Puts a file in the place of another, so that no reader sees half of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}

/// Rings at SIGINT and SIGTERM.
fn when_ended() -> anyhow::Result<Receiver<()>> {
    let (ring, ended) = sync_channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let (mut interrupt, mut terminate) = {
        let _inside = runtime.enter();
        (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        )
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            });
            if ring.send(()).is_err() {
                tracing::debug!("it has ended by itself meanwhile");
            }
        })?;
    Ok(ended)
}
