//! Asking brokers for a consumer that brings entries from the right place on.

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    api::{Api, NO_STREAM, NoAnswer, StreamReport},
    event::Fatal,
    id::Sequence,
    settings::LogSettings,
    shared::StreamIdentity,
    stream,
};

use super::{ABSENCES_MAX, Pending, nanos};

/// Between two tries.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// For how long brokers keep a consumer that nothing asks for entries.
const CONSUMER_LIFE: Duration = Duration::from_secs(60);

/// How many answers in a row say that the stream ends too early, before that is believed: a broker
/// that has lost its peers may answer from the past for 10 s, and then gives up to lead.
const SHORT_ANSWERS_MAX: u32 = 50;

/// What a consumer is to bring.
pub(super) struct WantedPlace {
    pub(super) api: Api,
    pub(super) stream: String,
    pub(super) identity: StreamIdentity,
    /// The entry that is needed next.
    pub(super) next: Sequence,
    /// The entry that was taken last, to compare; or `next`.
    pub(super) overlap: Sequence,
    pub(super) inbox: String,
}

/// A consumer, and the stream when it was made.
pub(super) struct Attached {
    pub(super) consumer: String,
    pub(super) info: StreamReport,
}

/// Why there is no consumer.
pub(super) enum NotAttached {
    Unanswered(NoAnswer),
    /// The stream ends before what was taken.
    Short(Fatal),
    Fatal(Fatal),
}

/// Tries to get a consumer, again and again.
pub(super) struct Attaching {
    pub(super) under_way: Pending<Result<Attached, NotAttached>>,
    next: Instant,
    pause: Duration,
    /// Consumers so far, for their names.
    count: u64,
    /// The one that was given up last.
    gone: Option<String>,
    short_answers: u32,
}

impl fmt::Debug for Attaching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attaching")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Attaching {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            under_way: None,
            next: now,
            pause: PAUSE_MIN,
            count: 0,
            gone: None,
            short_answers: 0,
        }
    }

    /// A consumer has gone: the first try is at once, unless that was a moment ago.
    pub(super) fn again(&mut self, now: Instant, gone: String) {
        self.next = self.next.max(now);
        self.gone = Some(gone);
    }

    /// There is a new connection: what is under way gets no answer.
    pub(super) fn restart(&mut self, now: Instant) {
        if self.under_way.take().is_some() {
            self.gone.get_or_insert_default();
        }
        self.next = now;
    }

    /// When the next try is.
    pub(super) fn next_try(&self) -> Option<Instant> {
        (self.under_way.is_none() && self.gone.is_some()).then_some(self.next)
    }

    pub(super) fn begin(&mut self, now: Instant, place: WantedPlace) {
        if self.under_way.is_some() || now < self.next {
            return;
        }
        self.count += 1;
        let token = place.inbox.rsplit('.').next().unwrap_or_default();
        let consumer = format!("{token}-{}", self.count);
        let gone = self.gone.take();
        self.under_way = Some(Box::pin(attach(place, consumer, gone)));
    }

    /// What the try has brought.
    pub(super) fn ended(
        &mut self,
        now: Instant,
        result: Result<Attached, NotAttached>,
    ) -> Result<Option<Attached>, Fatal> {
        self.under_way = None;
        self.next = now + self.pause;
        match result {
            Ok(attached) => {
                self.pause = PAUSE_MIN;
                self.short_answers = 0;
                return Ok(Some(attached));
            }
            Err(NotAttached::Fatal(fatal)) => return Err(fatal),
            Err(NotAttached::Short(fatal)) => {
                self.short_answers += 1;
                if self.short_answers >= SHORT_ANSWERS_MAX {
                    return Err(fatal);
                }
            }
            Err(NotAttached::Unanswered(_)) => {}
        }
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        self.gone.get_or_insert_default();
        Ok(None)
    }
}

/// The answers in a row that there is no such stream.
///
/// # Errors
/// They are too many.
pub(super) fn notice_absence(
    absences: &mut u32,
    unanswered: &NoAnswer,
    settings: &LogSettings,
) -> Result<(), Fatal> {
    let NoAnswer::Refused {
        number: NO_STREAM, ..
    } = unanswered
    else {
        return Ok(());
    };
    *absences += 1;
    if *absences < ABSENCES_MAX {
        return Ok(());
    }
    Err(Fatal::Deleted {
        stream: stream::name(settings),
    })
}

async fn attach(
    place: WantedPlace,
    consumer: String,
    gone: Option<String>,
) -> Result<Attached, NotAttached> {
    let WantedPlace { api, stream, .. } = &place;
    if let Some(gone) = gone.filter(|name| !name.is_empty()) {
        // It is no loss if this fails: brokers end a consumer that nothing asks.
        let what = format!("CONSUMER.DELETE.{stream}.{gone}");
        drop(api.ask::<Value>(&what, Value::Null).await);
    }
    let info = info(api, stream).await.map_err(NotAttached::Unanswered)?;
    check(&place, &info)?;
    let first = Sequence(info.state.first_seq);
    let start = if place.overlap >= first {
        place.overlap
    } else {
        place.next
    };
    let what = format!("CONSUMER.CREATE.{stream}.{consumer}");
    let config = json!({
        "name": consumer,
        "deliver_policy": "by_start_sequence",
        "opt_start_seq": start.0,
        "ack_policy": "none",
        "replay_policy": "instant",
        "inactive_threshold": nanos(CONSUMER_LIFE),
        "num_replicas": 1,
        "mem_storage": true,
    });
    let order = json!({ "stream_name": stream, "config": config, "action": "create" });
    api.ask::<Value>(&what, order)
        .await
        .map_err(NotAttached::Unanswered)?;
    Ok(Attached { consumer, info })
}

fn check(place: &WantedPlace, info: &StreamReport) -> Result<(), NotAttached> {
    if !info.has_leader() {
        let reason = "the stream has no leader".to_owned();
        return Err(NotAttached::Unanswered(NoAnswer::Unknown(reason)));
    }
    check_identity(&place.stream, &place.identity, info).map_err(NotAttached::Fatal)?;
    check_range(place.next, info)
}

/// Whether the stream still has what comes next, and had what was taken.
pub(super) fn check_range(next: Sequence, info: &StreamReport) -> Result<(), NotAttached> {
    let (first, last) = (
        Sequence(info.state.first_seq),
        Sequence(info.state.last_seq),
    );
    if first > next {
        return Err(NotAttached::Fatal(Fatal::Purged {
            wanted: next,
            first,
        }));
    }
    if last.next() < next {
        let ours = Sequence(next.0 - 1);
        return Err(NotAttached::Short(Fatal::Shorter { ours, last }));
    }
    Ok(())
}

/// Whether this is still the same stream.
pub(super) fn check_identity(
    stream: &str,
    identity: &StreamIdentity,
    info: &StreamReport,
) -> Result<(), Fatal> {
    if info.created == identity.0 {
        return Ok(());
    }
    Err(Fatal::MadeAnew {
        stream: stream.to_owned(),
        ours: identity.0.clone(),
        found: info.created.clone(),
    })
}

/// What brokers say of a stream.
pub(super) async fn info(api: &Api, stream: &str) -> Result<StreamReport, NoAnswer> {
    api.ask(&format!("STREAM.INFO.{stream}"), Value::Null).await
}

/// Removes the entries before `below`.
pub(super) async fn purge(api: &Api, stream: &str, below: Sequence) -> Result<(), NoAnswer> {
    let order = json!({ "seq": below.0 });
    succeed(api, &format!("STREAM.PURGE.{stream}"), order).await
}

/// Has the leader of a stream leave that to another broker.
pub(super) async fn step_down(api: &Api, stream: &str) -> Result<(), NoAnswer> {
    let what = format!("STREAM.LEADER.STEPDOWN.{stream}");
    succeed(api, &what, Value::Null).await
}

/// Asks for something that succeeds or does not.
async fn succeed(api: &Api, what: &str, order: Value) -> Result<(), NoAnswer> {
    #[derive(Deserialize)]
    struct Done {
        success: bool,
    }
    let done: Done = api.ask(what, order).await?;
    if done.success {
        return Ok(());
    }
    Err(NoAnswer::Unknown(format!("{what} had no success")))
}
