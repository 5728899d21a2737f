//! The thread of a log: it alone talks to the brokers.

mod attaching;
mod entries;
mod opening;
mod telling;
mod watching;

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, pending},
    pin::Pin,
    sync::{Arc, atomic::Ordering, mpsc::SyncSender},
    time::{Duration, Instant},
};

use async_nats::{Client, Message, Subscriber};
use futures_util::StreamExt as _;
use tokio::{runtime::Builder, sync::mpsc, time::sleep_until};

use crate::{
    api::{Api, NoAnswer, StreamReport},
    connecting::ConnectionSignals,
    error::OpenLogError,
    event::{BrokerWarning, Fatal, LogEvent, LogStatus},
    id::Sequence,
    opening::LogOpening,
    proposals::{Proposals, Publication, PublicationSlot, PublishAnswer},
    reading::{ID_HEADER, StreamReading},
    settings::LogSettings,
    shared::{LogShared, Order, StreamIdentity, StreamStart},
    stream,
    survey::Survey,
};
use attaching::{Attached, Attaching};

/// Entries of one request to the brokers: enough that the request costs nothing beside them.
const PULL_ENTRIES: usize = 1_024;

/// Bytes of one request to the brokers.
const PULL_BYTES: usize = 8 << 20;

/// Bytes that the caller has not taken, beyond which nothing more is asked for.
const UNREAD_BYTES_MAX: usize = 4 << 20;

/// How long a request for entries lasts.
const PULL_TIME: Duration = Duration::from_secs(30);

/// How often a broker says that it is there while it has no entries.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How often the brokers are asked about the stream.
const LOOK: Duration = Duration::from_secs(2);

/// How soon they are asked again without an answer.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// After how long without any success another broker is tried.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many answers in a row say that there is no such stream, before that is believed: brokers that
/// have just started may not know it yet.
const ABSENCES_MAX: u32 = 5;

type Pending<T> = Option<Pin<Box<dyn Future<Output = T>>>>;

/// What the thread begins with.
pub(crate) struct LogStart {
    pub(crate) settings: LogSettings,
    pub(crate) after: Sequence,
    pub(crate) identity: Option<StreamIdentity>,
    pub(crate) orders: mpsc::Receiver<Order>,
    pub(crate) events: mpsc::Sender<LogEvent>,
    pub(crate) shared: Arc<LogShared>,
    pub(crate) wake: Box<dyn Fn() + Send>,
    pub(crate) opening: Arc<LogOpening>,
    /// Whether it waits as long as there is hope, and not only for `timeouts.open`.
    pub(crate) is_patient: bool,
}

impl fmt::Debug for LogStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

/// Runs a log from its start to its end.
pub(crate) fn run(start: LogStart, report: &SyncSender<Result<StreamStart, OpenLogError>>) {
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return tell(report, Err(OpenLogError::Thread(error))),
    };
    let work = async move {
        match LogWorker::open(start).await {
            Err(error) => tell(report, Err(error)),
            Ok((mut worker, opened)) => {
                tell(report, Ok(opened));
                if let Some(fatal) = worker.work().await {
                    worker.end(fatal).await;
                }
            }
        }
    };
    runtime.block_on(work);
    // A look-up of an address may still be under way, and must not keep the caller.
    runtime.shutdown_background();
}

fn tell(
    report: &SyncSender<Result<StreamStart, OpenLogError>>,
    result: Result<StreamStart, OpenLogError>,
) {
    let sent = report.send(result);
    sent.expect("the caller of `open` waits for the report");
}

/// The connection of a log, and all that is under way on it.
///
/// One task owns it and does one thing after the other; what it waits for are messages of the brokers,
/// orders of the caller, and moments.
struct LogWorker {
    settings: LogSettings,
    client: Client,
    api: Api,
    signals: Arc<ConnectionSignals>,
    messages: Subscriber,
    /// The start of all subjects on which brokers answer us.
    inbox: String,
    identity: StreamIdentity,
    orders: mpsc::Receiver<Order>,
    events: mpsc::Sender<LogEvent>,
    /// Events that the channel has no room for: what one request for entries brings, and few others.
    unsent: VecDeque<LogEvent>,
    shared: Arc<LogShared>,
    wake: Box<dyn Fn() + Send>,
    proposals: Proposals,
    reading: StreamReading,
    consumer: EntrySource,
    attaching: Attaching,
    look: Pending<Result<StreamReport, NoAnswer>>,
    next_look: Instant,
    absences: u32,
    purge: Pending<Result<Sequence, NoAnswer>>,
    next_purge: Instant,
    purge_below: Sequence,
    purged_below: Sequence,
    /// The last entry that the brokers have counted in the bytes of the stream.
    measured: u64,
    stepping_down: Pending<Result<(), NoAnswer>>,
    survey: Pending<Result<Survey, String>>,
    next_survey: Instant,
    /// What was told.
    warned: Vec<BrokerWarning>,
    leader: Option<String>,
    is_connected: bool,
    /// The name of the broker that we are connected to.
    connected: Option<String>,
    /// When the brokers last took or answered something that needs their majority.
    last_success: Instant,
    /// When another broker was last tried.
    last_move: Instant,
    told: LogStatus,
}

/// What sends us entries.
#[derive(Debug, Default)]
struct EntrySource {
    /// Its name; empty while there is none.
    name: String,
    /// Requests for entries so far: a status that an earlier one ends with says nothing.
    requests: u64,
    /// Entries that the request under way may still bring; nothing without a request.
    asked: Option<usize>,
    /// Until when there must be a sign of life.
    alive_until: Option<Instant>,
    /// When it last brought an entry, or began.
    brought: Option<Instant>,
}

/// What has happened.
enum Happening {
    Order(Option<Order>),
    Message(Option<Message>),
    Connection,
    Attached(Result<Attached, attaching::NotAttached>),
    Looked(Result<StreamReport, NoAnswer>),
    Purged(Result<Sequence, NoAnswer>),
    SteppedDown(Result<(), NoAnswer>),
    Surveyed(Result<Survey, String>),
    Room,
    Moment,
}

impl LogWorker {
    /// Works until the caller goes, or until it cannot go on.
    async fn work(&mut self) -> Option<Fatal> {
        loop {
            let now = Instant::now();
            self.publish(now).await;
            self.ask_for_entries(now).await;
            self.begin_what_is_due(now);
            self.send_events();
            self.tell_status();
            let happening = self.happening().await;
            match self.happened(happening).await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(fatal) => return Some(fatal),
            }
        }
    }

    /// Waits for the next thing.
    async fn happening(&mut self) -> Happening {
        let moment = self.next_moment();
        let (signals, shared) = (Arc::clone(&self.signals), Arc::clone(&self.shared));
        tokio::select! {
            biased;
            order = self.orders.recv() => Happening::Order(order),
            message = self.messages.next() => Happening::Message(message),
            () = signals.changed.notified() => Happening::Connection,
            attached = done(&mut self.attaching.under_way) => Happening::Attached(attached),
            looked = done(&mut self.look) => Happening::Looked(looked),
            purged = done(&mut self.purge) => Happening::Purged(purged),
            left = done(&mut self.stepping_down) => Happening::SteppedDown(left),
            surveyed = done(&mut self.survey) => Happening::Surveyed(surveyed),
            () = shared.room.notified() => Happening::Room,
            () = sleep_until(moment.into()) => Happening::Moment,
        }
    }

    /// Does what follows; says whether there is more to come.
    async fn happened(&mut self, happening: Happening) -> Result<bool, Fatal> {
        let now = Instant::now();
        match happening {
            Happening::Order(None) => return Ok(false),
            Happening::Order(Some(order)) => self.obey(order),
            Happening::Message(Some(message)) => self.receive(now, message)?,
            Happening::Message(None) => return Err(Fatal::Ended),
            Happening::Connection => self.notice_connection(now),
            Happening::Attached(result) => self.attached(now, result)?,
            Happening::Looked(result) => self.looked(now, result)?,
            Happening::Purged(Ok(below)) => {
                self.purged_below = below;
                // How much room there is now.
                self.next_look = now;
            }
            Happening::Purged(Err(_)) => self.next_purge = now + LOOK,
            Happening::SteppedDown(Ok(())) => self.next_look = now,
            Happening::SteppedDown(Err(why)) => {
                let reason = why.to_string();
                self.emit(LogEvent::Warning(BrokerWarning::LeadsOn { reason }));
            }
            Happening::Surveyed(result) => self.surveyed(result),
            Happening::Room => {}
            Happening::Moment => self.moment(now).await,
        }
        Ok(true)
    }

    fn next_moment(&self) -> Instant {
        let far = Instant::now() + LOOK;
        if !self.is_connected {
            return far;
        }
        let moments = [
            Some(self.next_look).filter(|_| self.look.is_none()),
            Some(self.next_purge).filter(|_| self.may_purge()),
            Some(self.next_survey).filter(|_| self.survey.is_none()),
            self.proposals.next_moment(),
            self.consumer.alive_until,
            self.attaching.next_try(),
        ];
        moments.into_iter().flatten().fold(far, Instant::min)
    }

    fn may_purge(&self) -> bool {
        self.purge.is_none() && self.purge_below > self.purged_below
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Propose(id, bytes) => {
                if let Err(fate) = self.proposals.add(id, bytes) {
                    self.tell_fate(fate);
                }
            }
            Order::Withdraw(id) => {
                self.proposals.remove(&id);
            }
            Order::PurgeBelow(sequence) => self.purge_below = self.purge_below.max(sequence),
            Order::StepDown => {
                let (api, name) = (self.api.clone(), stream::name(&self.settings));
                self.stepping_down =
                    Some(Box::pin(
                        async move { attaching::step_down(&api, &name).await },
                    ));
            }
        }
    }

    async fn publish(&mut self, now: Instant) {
        for Publication { slot, id, bytes } in self.proposals.due(now) {
            let mut headers = async_nats::HeaderMap::new();
            headers.insert(ID_HEADER, id.to_string());
            let reply = format!("{}.a.{}", self.inbox, slot.0);
            let subject = stream::subject(&self.settings);
            let sent = self
                .client
                .publish_with_reply_and_headers(subject, reply, headers, bytes)
                .await;
            if sent.is_err() {
                self.proposals.answered(now, slot, PublishAnswer::Unknown);
            }
        }
        let retries = self.proposals.retries();
        self.shared.retries.store(retries, Ordering::Relaxed);
    }

    fn begin_what_is_due(&mut self, now: Instant) {
        if !self.is_connected {
            return;
        }
        if self.look.is_none() && now >= self.next_look {
            let (api, name) = (self.api.clone(), stream::name(&self.settings));
            self.look = Some(Box::pin(async move { attaching::info(&api, &name).await }));
        }
        if self.consumer.name.is_empty() {
            let at = attaching::WantedPlace {
                api: self.api.clone(),
                stream: stream::name(&self.settings),
                identity: self.identity.clone(),
                next: self.reading.next(),
                overlap: self.reading.start(Sequence(0)),
                inbox: self.inbox.clone(),
            };
            self.attaching.begin(now, at);
        }
        self.begin_survey(now);
        if self.may_purge() && now >= self.next_purge {
            let (api, name) = (self.api.clone(), stream::name(&self.settings));
            let below = self.purge_below;
            self.purge = Some(Box::pin(async move {
                attaching::purge(&api, &name, below).await.map(|()| below)
            }));
        }
    }

    fn receive(&mut self, now: Instant, message: Message) -> Result<(), Fatal> {
        let subject = message.subject.as_str();
        if let Some(answer) = subject.strip_prefix(self.inbox.as_str()) {
            if let Some(slot) = answer.strip_prefix(".a.") {
                if let Ok(slot) = slot.parse() {
                    self.acknowledged(now, PublicationSlot(slot), &message);
                }
            } else if let Some(consumer) = answer.strip_prefix(".p.")
                && self.consumer.asked.is_some()
                && consumer == format!("{}.{}", self.consumer.name, self.consumer.requests)
            {
                self.heard_of_consumer(now, message.status);
            }
            return Ok(());
        }
        self.delivered(now, message)
    }

    fn acknowledged(&mut self, now: Instant, slot: PublicationSlot, message: &Message) {
        let answer = PublishAnswer::parse(&message.payload);
        if let PublishAnswer::Stored(sequence) = answer {
            self.last_success = now;
            self.shared.hint.fetch_max(sequence.0, Ordering::Relaxed);
        }
        if let Some(fate) = self.proposals.answered(now, slot, answer) {
            self.tell_fate(fate);
        }
    }

    fn looked(
        &mut self,
        now: Instant,
        result: Result<StreamReport, NoAnswer>,
    ) -> Result<(), Fatal> {
        match result {
            Ok(info) => {
                self.next_look = now + LOOK;
                self.heard(now, &info)
            }
            Err(unanswered) => {
                self.next_look = now + LOOK_AGAIN;
                attaching::notice_absence(&mut self.absences, &unanswered, &self.settings)
            }
        }
    }

    /// The brokers have said something about the stream.
    fn heard(&mut self, now: Instant, info: &StreamReport) -> Result<(), Fatal> {
        self.absences = 0;
        attaching::check_identity(&stream::name(&self.settings), &self.identity, info)?;
        self.leader = info.leader(&self.client.server_info().server_name);
        // A broker that has lost its peers may answer from the past.
        let is_of_now = info.state.last_seq >= self.reading.taken().0;
        if is_of_now && info.has_leader() {
            self.last_success = now;
        }
        if is_of_now {
            self.measured = self.shared.note_extent(info.state);
        }
        self.notice_stall(now);
        Ok(())
    }

    async fn moment(&mut self, now: Instant) {
        if self.consumer.alive_until.is_some_and(|until| until <= now) {
            self.detach(now);
        }
        self.move_if_tired(now).await;
    }
}

/// The result of what is under way, which is then over.
async fn done<T>(under_way: &mut Pending<T>) -> T {
    match under_way {
        Some(future) => {
            let result = future.await;
            *under_way = None;
            result
        }
        None => pending().await,
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
