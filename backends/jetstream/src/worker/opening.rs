//! The start of a log: every check before the first entry.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::time::{sleep, timeout_at};

use crate::{
    api::{Api, NO_STREAM, NoAnswer, StreamReport},
    connecting::{self, ConnectionSignals, NotConnected},
    error::OpenLogError,
    event::{BrokerWarning, Fatal, LogStatus},
    id::Sequence,
    proposals::Proposals,
    reading::StreamReading,
    settings::LogSettings,
    shared::{Opened, StreamIdentity},
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
const MAY_PASS: [u32; 4] = [10_005, 10_008, 10_009, 10_058];

/// Between two questions about the stream.
const PAUSE: Duration = Duration::from_millis(200);

impl LogWorker {
    /// Connects, and checks all that can be checked.
    pub(super) async fn open(start: LogStart) -> Result<(Self, Opened), OpenLogError> {
        let deadline = Instant::now() + start.settings.timeouts.open;
        let mut obstacle = unavailable(&"no broker answers in time");
        let opening = open(start, &mut obstacle);
        match timeout_at(deadline.into(), opening).await {
            Ok(result) => result,
            Err(_elapsed) => Err(obstacle),
        }
    }
}

fn unavailable(reason: &impl ToString) -> OpenLogError {
    OpenLogError::Unavailable(reason.to_string())
}

/// `obstacle` says what it waits for.
async fn open(
    start: LogStart,
    obstacle: &mut OpenLogError,
) -> Result<(LogWorker, Opened), OpenLogError> {
    let settings = &start.settings;
    let signals = Arc::new(ConnectionSignals::default());
    let client = connecting::connect(settings, &signals, |reason| {
        *obstacle = unavailable(&reason);
    });
    let client = client.await.map_err(|error| match error {
        NotConnected::Settings(reason) => OpenLogError::Settings(reason),
        NotConnected::Refused(reason) => OpenLogError::Unavailable(reason),
    })?;
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
    let info = stream_of(&start, &api, &signals, obstacle).await?;
    let identity = StreamIdentity(info.created.clone());
    let opened = Opened {
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
        survey: None,
        next_survey: now + Duration::from_secs(60),
        warned: warnings,
        leader: info.leader(),
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
    obstacle: &mut OpenLogError,
) -> Result<StreamReport, OpenLogError> {
    let name = stream::name(&start.settings);
    loop {
        let waits_for = match attaching::info(api, &name).await {
            Ok(info) if !info.has_leader() => unavailable(&"the stream has no leader"),
            Ok(info) => match check(start, &name, &info) {
                Ok(()) => {
                    check_configuration(start, name, &info)?;
                    return Ok(info);
                }
                Err(NotAttached::Fatal(fatal)) => return Err(OpenLogError::Stream(fatal)),
                // A broker that has lost its peers may answer from the past.
                Err(NotAttached::Short(fatal)) => OpenLogError::Stream(fatal),
                Err(NotAttached::Unanswered(unanswered)) => unavailable(&unanswered),
            },
            Err(NoAnswer::Refused {
                number: NO_STREAM, ..
            }) => make(start, api, &name).await?,
            Err(unanswered) => unavailable(&unanswered),
        };
        let waits_for = match (waits_for, signals.complaint()) {
            (OpenLogError::Unavailable(_), Some(complaint)) => unavailable(&complaint),
            (waits_for, _) => waits_for,
        };
        *obstacle = waits_for;
        sleep(PAUSE).await;
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
/// which is no harm. A node whose own stream is gone makes no other.
async fn make(start: &LogStart, api: &Api, name: &str) -> Result<OpenLogError, OpenLogError> {
    if start.identity.is_some() {
        let stream = name.to_owned();
        return Ok(OpenLogError::Stream(Fatal::Deleted { stream }));
    }
    let what = format!("STREAM.CREATE.{name}");
    let wanted = stream::wanted(&start.settings);
    match api.ask::<Value>(&what, wanted).await {
        Ok(_) => Ok(unavailable(&"the stream was just made")),
        Err(NoAnswer::Refused { number, reason }) if !MAY_PASS.contains(&number) => {
            Err(OpenLogError::NotMade {
                stream: name.to_owned(),
                reason,
            })
        }
        Err(unanswered) => Ok(unavailable(&unanswered)),
    }
}
