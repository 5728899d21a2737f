//! `turnstile follow`: a second directory that is never far behind a running server.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use turnstile_backup::{
    BackupError, BackupSource, JournalPieces, PiecesPlace, SourceDescription, SourceError, Standby,
    StandbyStep,
};
use turnstile_embedded::{ID_KEY_FILE, put_id_file};
use zeroize::Zeroizing;

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

/// The metric that an alert looks at: a time does not grow old in a file that nothing writes any more.
const COMPLETE_UNTIL: &str = "complete_until_seconds";

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
    let mut source = RemoteSource::new(&arguments.security, &arguments.from)?;
    let mut source = InterruptibleSource {
        source: &mut source,
        ended: &ended,
    };
    let mut told = FollowFigures::new(arguments);
    let mut pace = FollowPace::default();
    let mut standby = loop {
        told.tell(false);
        match Standby::open(&mut source, &arguments.to) {
            Err(error) if error.is_passing() => pace.note_away(&error, &ended),
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
        told,
        renewed: Instant::now(),
    };
    loop {
        let step = following.step();
        match step {
            Ok(step) => pace.note_step(&step),
            Err(error) if error.is_passing() => pace.note_away(&error, &ended),
            Err(error) => return Err(failed(error)),
        }
        following.told.tell(pace.is_reached);
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
    source: InterruptibleSource<'a>,
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

    fn note_away(&mut self, error: &BackupError, ended: &Receiver<()>) {
        if self.is_reached && !is_over(ended) {
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

/// A source that gives nothing more once the end came: a snapshot may have many parts.
struct InterruptibleSource<'a> {
    source: &'a mut dyn BackupSource,
    ended: &'a Receiver<()>,
}

impl<'a> InterruptibleSource<'a> {
    fn before_end(&mut self) -> Result<&mut (dyn BackupSource + 'a), SourceError> {
        if is_over(self.ended) {
            return Err(SourceError::Away {
                cause: "a signal came".into(),
                is_passing: true,
            });
        }
        Ok(&mut *self.source)
    }
}

impl BackupSource for InterruptibleSource<'_> {
    fn describe(&mut self) -> Result<SourceDescription, SourceError> {
        self.before_end()?.describe()
    }

    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError> {
        self.before_end()?.pieces(place)
    }

    fn snapshot(&mut self, position: u64, offset: u64) -> Result<Vec<u8>, SourceError> {
        self.before_end()?.snapshot(position, offset)
    }

    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        self.before_end()?.id_key()
    }
}

/// What was last known, for the log and for Prometheus.
struct FollowFigures<'a> {
    file: Option<&'a Path>,
    /// Why the file could not be written, until it can.
    unwritten: Option<io::ErrorKind>,
    step: Option<StandbyStep>,
    /// Everything that was acknowledged before this is in the copy.
    complete_until: Option<SystemTime>,
    was_behind: bool,
    told: Option<Instant>,
}

impl<'a> FollowFigures<'a> {
    /// A copy that goes on is as complete as the last file said, until the server answers.
    fn new(arguments: &'a FollowArguments) -> Self {
        let file = arguments.metrics_file.as_deref();
        let last = file.filter(|_file| Standby::is_begun(&arguments.to));
        Self {
            file,
            unwritten: None,
            step: None,
            complete_until: last.and_then(complete_until),
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
    fn tell(&mut self, is_reached: bool) {
        let Some(file) = self.file else {
            return;
        };
        if self.told.is_some_and(|told| told.elapsed() < TELL) {
            return;
        }
        self.told = Some(Instant::now());
        let unwritten = replace(file, &self.text(is_reached)).err();
        let kind = unwritten.as_ref().map(io::Error::kind);
        if let Some(error) = unwritten
            && kind != self.unwritten
        {
            tracing::warn!(%error, file = %file.display(), "the metrics file cannot be written");
        }
        self.unwritten = kind;
    }

    /// A figure that is not known yet is left out; that the copy is complete until some time is always said,
    /// so that an alert sees a copy that never was.
    fn text(&self, is_reached: bool) -> String {
        let since = self
            .complete_until
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let complete = since.unwrap_or_default().as_secs_f64();
        let rows = [
            (
                "position",
                "The last position that the copy has, durably",
                self.step.map(|step| step.position.to_string()),
            ),
            (
                "lag_positions",
                "Positions that the server had more when it last answered",
                self.step.map(|step| step.lag().to_string()),
            ),
            (
                COMPLETE_UNTIL,
                "Everything that the server had acknowledged at this Unix time is in the copy",
                Some(format!("{complete:.3}")),
            ),
            (
                "connected",
                "Whether the server answered last",
                Some(u8::from(is_reached).to_string()),
            ),
        ];
        let known = rows.into_iter().filter_map(|(name, help, value)| {
            let value = value?;
            Some(format!(
                "# HELP turnstile_follow_{name} {help}\n# TYPE turnstile_follow_{name} gauge\n\
                 turnstile_follow_{name} {value}\n"
            ))
        });
        known.collect()
    }
}

/// What a file of metrics says of the completeness of the copy.
fn complete_until(file: &Path) -> Option<SystemTime> {
    let text = fs::read_to_string(file).ok()?;
    let name = format!("turnstile_follow_{COMPLETE_UNTIL} ");
    let seconds = text.lines().find_map(|line| line.strip_prefix(&name))?;
    let since = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    UNIX_EPOCH.checked_add(since)
}

/// Puts a file in the place of another, so that no reader sees half of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}

/// Whether the end came.
fn is_over(ended: &Receiver<()>) -> bool {
    ended.try_recv() != Err(TryRecvError::Empty)
}

/// A channel that SIGINT and SIGTERM close.
fn when_ended() -> anyhow::Result<Receiver<()>> {
    let (open, ended) = sync_channel(1);
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
            drop(open);
        })?;
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::SyncSender;

    use turnstile_backup::CopyStart;

    use super::*;

    /// A source with a snapshot that has no end. The signal comes when a part of it is asked for.
    struct EndlessSource {
        open: Option<SyncSender<()>>,
        parts: u32,
    }

    impl BackupSource for EndlessSource {
        fn describe(&mut self) -> Result<SourceDescription, SourceError> {
            Ok(SourceDescription {
                format: 1,
                program: String::new(),
                journal: format!("{:016x}", 7),
                last: 9,
                starts: vec![CopyStart {
                    snapshot: 9,
                    snapshot_bytes: u64::MAX,
                    place: PiecesPlace {
                        segment: 0,
                        offset: 0,
                        after: 9,
                    },
                }],
                id_check: String::new(),
            })
        }

        fn pieces(&mut self, _place: PiecesPlace) -> Result<JournalPieces, SourceError> {
            Err(SourceError::Gone)
        }

        fn snapshot(&mut self, _position: u64, _offset: u64) -> Result<Vec<u8>, SourceError> {
            self.open = None;
            self.parts += 1;
            Ok(vec![0])
        }

        fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
            Ok(None)
        }
    }

    /// A signal was noticed only after the whole snapshot had come.
    #[test]
    fn a_signal_ends_the_copy_of_a_snapshot() {
        let (open, ended) = sync_channel(1);
        let mut endless = EndlessSource {
            open: Some(open),
            parts: 0,
        };
        let folder = tempfile::tempdir().unwrap();
        let mut source = InterruptibleSource {
            source: &mut endless,
            ended: &ended,
        };
        let opened = Standby::open(&mut source, &folder.path().join("copy"));
        let error = opened.unwrap_err();
        assert_eq!(error.to_string(), "a signal came");
        assert!(error.is_passing());
        assert_eq!(endless.parts, 1);
        assert!(FollowPace::default().rest(&ended));
    }
}
