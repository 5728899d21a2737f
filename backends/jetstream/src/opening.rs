//! A start of a log that another thread watches, and may end.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use crate::{error::OpenLogError, event::Fatal};

/// An obstacle that stays is told again after this time.
const TELL_AGAIN: Duration = Duration::from_secs(10);

/// Obstacles are told no faster than this.
const TELL_PAUSE: Duration = Duration::from_secs(1);

/// What a start of a log waits for. All but [`Stream`](Self::Stream) may pass by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogObstacle {
    /// No broker can be reached, for this reason.
    NoBroker(String),
    /// The stream has no leader: most of its brokers are missing, or they elect one.
    NoLeader,
    /// The brokers have no room for the stream.
    NoStorage {
        stream_bytes: u64,
        replicas: u8,
        reason: String,
    },
    /// The brokers answer, and not what is needed.
    NotYet(String),
    /// Brokers tell for a while of a stream that cannot be the one that was asked for.
    Stream(Fatal),
}

/// Hears what a start waits for.
type TellObstacle = Box<dyn Fn(&LogObstacle) + Send + Sync>;

/// A start of a log, for other threads to watch and to end.
#[derive(Default)]
pub struct LogOpening {
    obstacle: Mutex<Option<LogObstacle>>,
    tell: Option<TellObstacle>,
    told: Mutex<ToldObstacle>,
    is_ended: AtomicBool,
    end: Notify,
}

/// What was told last.
#[derive(Default)]
struct ToldObstacle {
    /// When the first obstacle was met.
    since: Option<Instant>,
    last: Option<(LogObstacle, Instant)>,
}

impl LogOpening {
    /// `tell` hears what the start waits for once it has waited for a second, what else it waits for later,
    /// and the same again every ten seconds.
    pub fn telling(tell: impl Fn(&LogObstacle) + Send + Sync + 'static) -> Self {
        Self {
            tell: Some(Box::new(tell)),
            ..Self::default()
        }
    }

    /// What it waits for, if anything is known of that.
    #[must_use]
    pub fn obstacle(&self) -> Option<LogObstacle> {
        let obstacle = self.obstacle.lock();
        obstacle.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the start: it fails with [`OpenLogError::Ended`].
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Release);
        self.end.notify_one();
    }

    /// Waits until it is to end.
    pub(crate) async fn ended(&self) {
        while !self.is_ended.load(Ordering::Acquire) {
            self.end.notified().await;
        }
    }

    /// The start cannot go on for this reason, and is tried again.
    pub(crate) fn hear(&self, obstacle: &LogObstacle) {
        let kept = self.obstacle.lock();
        *kept.unwrap_or_else(PoisonError::into_inner) = Some(obstacle.clone());
        self.tell(obstacle, Instant::now());
    }

    fn tell(&self, obstacle: &LogObstacle, now: Instant) {
        let Some(tell) = &self.tell else { return };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = *told.since.get_or_insert(now);
        let (since, pause) = match &told.last {
            None => (begin, TELL_PAUSE),
            Some((last, at)) if last == obstacle => (*at, TELL_AGAIN),
            Some((_, at)) => (*at, TELL_PAUSE),
        };
        if now.duration_since(since) >= pause {
            told.last = Some((obstacle.clone(), now));
            tell(obstacle);
        }
    }
}

impl fmt::Debug for LogOpening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogOpening")
            .field("obstacle", &self.obstacle())
            .finish_non_exhaustive()
    }
}

impl LogObstacle {
    /// Whether it may pass by itself.
    pub(crate) const fn may_pass(&self) -> bool {
        !matches!(self, Self::Stream(_))
    }

    /// What strangers may hear of it: without what brokers say.
    #[must_use]
    pub const fn summary(&self) -> &'static str {
        match self {
            Self::NoBroker(_) => "no broker can be reached",
            Self::NoLeader => "the stream has no leader yet",
            Self::NoStorage { .. } => {
                "the brokers have not enough storage for cluster.stream_bytes"
            }
            Self::NotYet(_) | Self::Stream(_) => {
                "the brokers do not give what is needed, the log of this node says why"
            }
        }
    }
}

impl fmt::Display for LogObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBroker(reason) => write!(f, "no broker can be reached: {reason}"),
            Self::NoLeader => f.write_str(self.summary()),
            Self::NoStorage {
                stream_bytes,
                replicas,
                reason,
            } => write!(
                f,
                "the brokers have not enough storage for {stream_bytes} bytes (cluster.stream_bytes) on \
                 {replicas} of them: give JetStream more, or the stream less ({reason})"
            ),
            Self::NotYet(reason) => f.write_str(reason),
            Self::Stream(fatal) => fatal.fmt(f),
        }
    }
}

impl From<LogObstacle> for OpenLogError {
    fn from(obstacle: LogObstacle) -> Self {
        match obstacle {
            LogObstacle::Stream(fatal) => Self::Stream(fatal),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_obstacle_is_told_soon_and_again_while_it_stays() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&told);
        let opening = LogOpening::telling(move |obstacle| {
            ear.lock().unwrap().push(obstacle.to_string());
        });
        let begin = Instant::now();
        let refused = LogObstacle::NoBroker("refused".to_owned());
        for (second, obstacle) in [
            (0, &LogObstacle::NoLeader),
            (1, &refused),
            (2, &refused),
            (3, &LogObstacle::NoLeader),
            (3, &refused),
            (12, &LogObstacle::NoLeader),
            (13, &LogObstacle::NoLeader),
            (14, &LogObstacle::NoLeader),
        ] {
            opening.tell(obstacle, begin + Duration::from_secs(second));
        }
        let leader = "the stream has no leader yet";
        let expected = ["no broker can be reached: refused", leader, leader];
        assert_eq!(*told.lock().unwrap(), expected);
    }

    #[test]
    fn strangers_hear_nothing_of_what_brokers_say() {
        let secret = "Permissions Violation for Publish to \"log.main.n1\"";
        for obstacle in [
            LogObstacle::NoBroker(secret.to_owned()),
            LogObstacle::NotYet(secret.to_owned()),
        ] {
            assert!(obstacle.to_string().contains(secret));
            assert!(!obstacle.summary().contains("log.main"), "{obstacle}");
        }
    }
}
