//! The start of a log: every check before the first entry.

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::time::sleep;

use crate::{
    api::{Api, NO_STREAM, NoAnswer, StreamReport},
    connecting::{self, ConnectionSignals, NotConnected},
    error::OpenLogError,
    event::{BrokerWarning, Fatal, LogStatus},
    id::Sequence,
    opening::{LogObstacle, LogOpening},
    proposals::Proposals,
    reading::StreamReading,
    settings::LogSettings,
    shared::{StreamIdentity, StreamStart},
    stream,
    survey::survey,
};

use super::{
    EntrySource, LogStart, LogWorker,
    attaching::{self, Attaching, NotAttached},
};

/// Replicas without which the loss of one broker may lose the log.
const REPLICAS_MIN: u8 = 3;

/// Why a stream is not made now: no peers, no majority, no leader, and another node that was faster.
const MAY_PASS: [u32; 4] = [NO_PEERS, 10_008, 10_009, 10_058];

/// No brokers are suited for the stream; the reason is in words.
const NO_PEERS: u32 = 10_005;

/// What brokers say when those that are there have too little storage.
const NO_STORAGE: &str = "insufficient storage";

/// Why a stream cannot be made as large as it is to be: resources, storage.
const TOO_LARGE: [u32; 2] = [10_023, 10_047];

/// Between two questions about the stream.
const PAUSE: Duration = Duration::from_millis(200);

/// How many answers in a row tell of a stream that cannot be the right one, before that is believed: 15 s. A
/// broker that has lost its peers may answer from the past for 10 s, and one that has just started may not
/// know the stream yet.
const DOUBTS_MAX: u32 = 75;

impl LogWorker {
    /// Connects, and checks all that can be checked.
    pub(super) async fn open(start: LogStart) -> Result<(Self, StreamStart), OpenLogError> {
        let patience = start.settings.timeouts.open;
        let (watched, is_patient) = (Arc::clone(&start.opening), start.is_patient);
        let mut opening = pin!(open(start, &watched));
        loop {
            tokio::select! {
                result = &mut opening => return result,
                () = watched.ended() => return Err(OpenLogError::Ended),
                () = sleep(patience) => {}
            }
            let obstacle = watched.obstacle();
            let obstacle = obstacle
                .unwrap_or_else(|| LogObstacle::NoBroker("none answers in time".to_owned()));
            if !is_patient || !obstacle.may_pass() {
                return Err(obstacle.into());
            }
        }
    }
}

fn unavailable(reason: &impl ToString) -> OpenLogError {
    OpenLogError::Unavailable(reason.to_string())
}

fn not_connected(error: NotConnected) -> OpenLogError {
    match error {
        NotConnected::Settings(reason) => OpenLogError::Settings(reason),
        NotConnected::Refused(reason) => OpenLogError::Unavailable(reason),
    }
}

/// `opening` hears what it waits for.
async fn open(
    start: LogStart,
    opening: &LogOpening,
) -> Result<(LogWorker, StreamStart), OpenLogError> {
    let settings = &start.settings;
    let signals = Arc::new(ConnectionSignals::default());
    let client = connecting::connect(settings, &signals, |reason| {
        opening.hear(&LogObstacle::NoBroker(reason));
    });
    let client = client.await.map_err(not_connected)?;
    let max_payload = client.max_payload();
    if max_payload < stream::MESSAGE_BYTES_MAX {
        let broker = client.server_info().server_name;
        return Err(OpenLogError::SmallMessages {
            broker,
            max_payload,
        });
    }
    let warnings = checked(settings).await?;
    let inbox = client.new_inbox();
    let subscribed = client.subscribe(format!("{inbox}.>")).await;
    let messages = subscribed.map_err(|error| unavailable(&error))?;
    let api = Api::new(client.clone(), settings.timeouts.request);
    let info = stream_of(&start, &api, &signals).await?;
    let identity = StreamIdentity(info.created.clone());
    let opened = StreamStart {
        identity: identity.clone(),
        warnings: warnings.clone(),
    };
    let now = Instant::now();
    let connects = client.statistics().connects.load(Ordering::Relaxed);
    start.shared.connects.store(connects, Ordering::Relaxed);
    let connected = Some(client.server_info().server_name);
    let worker = LogWorker {
        client,
        api,
        signals,
        messages,
        inbox,
        identity,
        orders: start.orders,
        events: start.events,
        unsent: VecDeque::new(),
        measured: start.shared.note_extent(info.state),
        shared: start.shared,
        wake: start.wake,
        proposals: Proposals::new(settings.timeouts.acknowledgement),
        reading: StreamReading::after(start.after),
        consumer: EntrySource::default(),
        attaching: Attaching::new(now),
        look: None,
        next_look: now + Duration::from_millis(500),
        absences: 0,
        purge: None,
        next_purge: now,
        purge_below: Sequence::default(),
        purged_below: Sequence::default(),
        stepping_down: None,
        survey: None,
        next_survey: now + Duration::from_secs(60),
        warned: warnings,
        leader: connected.as_ref().and_then(|asked| info.leader(asked)),
        is_connected: true,
        connected,
        last_success: now,
        last_move: now,
        told: LogStatus::default(),
        settings: start.settings,
    };
    Ok((worker, opened))
}

/// Asks all brokers for their version, and gives what an operator must know.
async fn checked(settings: &LogSettings) -> Result<Vec<BrokerWarning>, OpenLogError> {
    let mut survey = survey(settings).await.map_err(OpenLogError::Settings)?;
    if let Some((broker, refused)) = survey.refused {
        return Err(OpenLogError::Version { broker, refused });
    }
    if settings.replicas < REPLICAS_MIN {
        let replicas = settings.replicas;
        survey
            .warnings
            .push(BrokerWarning::FewReplicas { replicas });
    }
    Ok(survey.warnings)
}

/// The stream, which is as it must be and holds what is wanted of it.
async fn stream_of(
    start: &LogStart,
    api: &Api,
    signals: &ConnectionSignals,
) -> Result<StreamReport, OpenLogError> {
    let name = stream::name(&start.settings);
    let mut doubts = StreamDoubts::default();
    loop {
        let waits_for = match attaching::info(api, &name).await {
            Ok(info) if !info.has_leader() => LogObstacle::NoLeader,
            Ok(info) => match check(start, &name, &info) {
                Ok(()) => {
                    check_configuration(start, name, &info)?;
                    return Ok(info);
                }
                Err(NotAttached::Fatal(fatal)) => return Err(OpenLogError::Stream(fatal)),
                // A broker that has lost its peers may answer from the past.
                Err(NotAttached::Short(fatal)) => LogObstacle::Stream(fatal),
                Err(NotAttached::Unanswered(unanswered)) => not_yet(&unanswered),
            },
            Err(NoAnswer::Refused {
                number: NO_STREAM, ..
            }) => make(start, api, &name).await?,
            Err(unanswered) => not_yet(&unanswered),
        };
        let waits_for = match (waits_for, signals.complaint()) {
            (LogObstacle::NotYet(_), Some(complaint)) => LogObstacle::NotYet(complaint),
            (waits_for, _) => waits_for,
        };
        start.opening.hear(&doubts.weigh(waits_for));
        sleep(PAUSE).await;
    }
}

/// The answers in a row that tell of a stream that cannot be the right one.
#[derive(Debug, Default)]
struct StreamDoubts(u32);

impl StreamDoubts {
    /// What the start waits for by this answer. Until there are enough answers like it, it may pass.
    fn weigh(&mut self, waits_for: LogObstacle) -> LogObstacle {
        let LogObstacle::Stream(fatal) = waits_for else {
            self.0 = 0;
            return waits_for;
        };
        self.0 = self.0.saturating_add(1);
        if self.0 < DOUBTS_MAX {
            return not_yet(&fatal);
        }
        LogObstacle::Stream(fatal)
    }
}

fn check(start: &LogStart, name: &str, info: &StreamReport) -> Result<(), NotAttached> {
    if let Some(identity) = &start.identity {
        attaching::check_identity(name, identity, info).map_err(NotAttached::Fatal)?;
    }
    attaching::check_range(start.after.next(), info)
}

fn check_configuration(
    start: &LogStart,
    stream: String,
    info: &StreamReport,
) -> Result<(), OpenLogError> {
    let differences = stream::differences(&stream::wanted(&start.settings), &info.config);
    if differences.is_empty() {
        return Ok(());
    }
    Err(OpenLogError::Configuration {
        stream,
        differences,
    })
}

/// Makes the stream, and says what is to be waited for. Another node may make it at the same time,
/// which is no harm. A node that had a stream makes no other in its place.
async fn make(start: &LogStart, api: &Api, name: &str) -> Result<LogObstacle, OpenLogError> {
    if start.identity.is_some() {
        let stream = name.to_owned();
        return Ok(LogObstacle::Stream(Fatal::Deleted { stream }));
    }
    let (ours, last) = (start.after, Sequence::default());
    if ours > last {
        return Ok(LogObstacle::Stream(Fatal::Shorter { ours, last }));
    }
    let what = format!("STREAM.CREATE.{name}");
    let wanted = stream::wanted(&start.settings);
    match api.ask::<Value>(&what, wanted).await {
        Ok(_) => Ok(not_yet(&"the stream was just made")),
        Err(NoAnswer::Refused { number, reason })
            if TOO_LARGE.contains(&number) || number == NO_PEERS && reason.contains(NO_STORAGE) =>
        {
            Ok(LogObstacle::NoStorage {
                stream_bytes: start.settings.stream_bytes_max,
                replicas: start.settings.replicas,
                reason,
            })
        }
        Err(NoAnswer::Refused { number, reason }) if !MAY_PASS.contains(&number) => {
            Err(OpenLogError::NotMade {
                stream: name.to_owned(),
                reason,
            })
        }
        Err(unanswered) => Ok(not_yet(&unanswered)),
    }
}

fn not_yet(reason: &impl ToString) -> LogObstacle {
    LogObstacle::NotYet(reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stream_that_is_wrong_for_a_while_without_interruption_is_believed_to_be() {
        let (ours, last) = (Sequence(4), Sequence(3));
        let wrong = || LogObstacle::Stream(Fatal::Shorter { ours, last });
        let mut doubts = StreamDoubts::default();
        for interruption in [
            LogObstacle::NoLeader,
            LogObstacle::NotYet("no answer".to_owned()),
        ] {
            for number in 1..DOUBTS_MAX {
                let weighed = doubts.weigh(wrong());
                assert!(weighed.may_pass(), "answer {number}: {weighed}");
                assert_eq!(weighed.to_string(), wrong().to_string());
            }
            assert_eq!(doubts.weigh(interruption.clone()), interruption);
        }
        for _ in 1..DOUBTS_MAX {
            doubts.weigh(wrong());
        }
        assert_eq!(doubts.weigh(wrong()), wrong());
        assert_eq!(doubts.weigh(wrong()), wrong());
    }
}
