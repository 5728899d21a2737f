//! Carries requests to the loop and answers back, many at a time.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use serde_json::Value;
use tokio::sync::oneshot;
use turnstile_contract::Failure;
use turnstile_embedded::{ExecuteError, Reply};
use turnstile_http::{Code, Problem};
use turnstile_types::{Machine, Position};

use super::{Door, access::problem_of_denied};
use crate::{
    core::{
        asked::Asked,
        caller::{Caller, NotPermitted},
        gate::{Answered, Ask, Executed, Gate, Request, RequestsAway, ServerStatus, Undecided},
        quotas::{Meter, PendingRequest},
        waiting_room::NotYourTurn,
    },
    counters::{Counters, ErrorCode},
};

/// Requests for which the loop is woken although others are still with it.
///
/// A sync costs the core as much as six requests, so batches should be large; but while one is
/// synced this thread should have others to work on. Of 64 connections, 44 in a batch leave as
/// many as fill the time of a sync: 40 gave 0.99 of the rate, 48 gave 0.98.
pub(super) const BATCH: usize = 44;

/// With fewer requests than these with the loop, it is woken for any others as soon as the sockets
/// bring no more: with few connections time passes in syncs, not in work, and larger batches would
/// save nothing.
pub(super) const FEW: usize = 16;

const _: () = assert!(FEW < BATCH);

/// How often the courier looks for more requests before it wakes the loop for a small batch. A
/// bound, because sockets that are never silent would keep it for ever.
const GATHERING_ROUNDS: usize = 8;

/// The desk at which the connections of this thread leave their requests.
///
/// Waking a thread is the dearest part of a request, so it is done for many at once. A request goes
/// into the loop's queue without a wake-up. The loop is told when there is a whole batch; or, while
/// few are with the loop, when the sockets bring no more. What comes while more are with the loop
/// waits for their answers, as it would wait for their sync anyway; it does not wait for those that
/// a database or a shared log decides, which may take long. On the way back the loop
/// tells once when it has answered a turn's requests, or is gone: its single answers find nobody to
/// wake. On a core that both share, each wake-up would interrupt it among them.
#[derive(Debug)]
pub(super) struct Courier {
    desk: Mutex<Desk>,
    gate: Gate,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Desk {
    /// In the order of the loop's queue.
    outstanding: VecDeque<Ticket>,
    /// How many of them, the latest, the loop was not woken for.
    unannounced: usize,
    /// To be woken by the next request.
    courier: Option<Waker>,
}

/// An answer of one machine.
#[derive(Debug)]
pub(super) enum PendingAnswer<M: Machine> {
    Command(Relay<Executed<M>>),
    Query(Relay<Answered<M>>),
}

/// A machine whose answers the courier carries.
pub(super) trait Carried: Asked {
    fn ticket(awaited: PendingAnswer<Self>) -> Ticket;
}

macro_rules! tickets {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// An answer that is on its way from the loop to a connection.
        #[derive(Debug)]
        pub(super) enum Ticket {
            $($machine(PendingAnswer<turnstile_services::$name::$machine>),)+
            Status(Relay<ServerStatus>),
            Cluster(Relay<Option<Value>>),
        }

        $(
            impl Carried for turnstile_services::$name::$machine {
                fn ticket(awaited: PendingAnswer<Self>) -> Ticket {
                    Ticket::$machine(awaited)
                }
            }
        )+

        impl Ticket {
            fn relay(&mut self) -> &mut dyn Passing {
                match self {
                    $(Self::$machine(awaited) => awaited.relay(),)+
                    Self::Status(relay) => relay,
                    Self::Cluster(relay) => relay,
                }
            }
        }
    };
}

turnstile_services::services!(tickets);

#[derive(Debug)]
pub(super) struct Relay<T> {
    from: oneshot::Receiver<T>,
    /// Gone when the answer was passed on.
    to: Option<oneshot::Sender<Result<T, Code>>>,
    /// Counts it among the requests of its principal, where that has a quota.
    _pending: Option<PendingRequest>,
}

impl<T> Relay<T> {
    fn pass(&mut self, answer: Result<T, Code>) {
        if let Some(to) = self.to.take() {
            // A connection that ended meanwhile wants no answer.
            drop(to.send(answer));
        }
    }
}

/// What can be done with an answer on its way, whatever it is.
trait Passing {
    /// Passes the answer on if it is there.
    fn is_passed(&mut self) -> bool;

    fn refuse(&mut self, code: Code);
}

impl<T> Passing for Relay<T> {
    fn is_passed(&mut self) -> bool {
        match self.from.try_recv() {
            Ok(answer) => self.pass(Ok(answer)),
            Err(oneshot::error::TryRecvError::Closed) => self.pass(Err(Code::Unavailable)),
            Err(oneshot::error::TryRecvError::Empty) => return false,
        }
        true
    }

    fn refuse(&mut self, code: Code) {
        self.pass(Err(code));
    }
}

impl<M: Machine> PendingAnswer<M> {
    fn relay(&mut self) -> &mut dyn Passing {
        match self {
            Self::Command(relay) => relay,
            Self::Query(relay) => relay,
        }
    }
}

impl Courier {
    pub(super) fn new(gate: Gate, counters: Arc<Counters>) -> Self {
        Self {
            desk: Mutex::new(Desk::default()),
            gate,
            counters,
        }
    }

    /// Has a command executed; the answer is durable. The request is in the loop's queue when this
    /// returns, so that those of one sender are executed in their order.
    ///
    /// # Errors
    /// The loop takes no more work, cannot write, or knows the key with other content.
    pub(super) fn command<M: Carried>(
        &self,
        caller: &Caller,
        key: Option<Box<str>>,
        command: Vec<u8>,
    ) -> impl Future<Output = Result<Reply<M>, Problem>> + use<M> {
        let (reply, from) = oneshot::channel();
        let request = Request::Command {
            caller: caller.clone(),
            key,
            command,
            reply,
        };
        let ticket = |relay| M::ticket(PendingAnswer::Command(relay));
        let executed = self.ask(caller.meter(), M::ask(request), from, ticket);
        async { executed.await?.map_err(problem_of) }
    }

    /// Has a command executed that is not yet encoded; as [`Self::command`].
    pub(super) fn execute<M: Carried>(
        &self,
        caller: &Caller,
        key: Option<Box<str>>,
        command: &M::Command<'_>,
    ) -> impl Future<Output = Result<Reply<M>, Problem>> + use<M> {
        let mut bytes = Vec::with_capacity(256);
        M::encode_command(command, &mut bytes);
        self.command::<M>(caller, key, bytes)
    }

    /// Has a query answered.
    ///
    /// # Errors
    /// The loop takes no more work, or has ended.
    pub(super) fn query<M: Carried>(
        &self,
        caller: &Caller,
        query: M::Query,
    ) -> impl Future<Output = Result<(Position, M::Answer), Problem>> + use<M> {
        self.query_as::<M>(caller, query, false)
    }

    /// The same, by a node of a cluster from its own state if that will do.
    ///
    /// # Errors
    /// As of [`query`](Self::query).
    pub(super) fn query_as<M: Carried>(
        &self,
        caller: &Caller,
        query: M::Query,
        may_be_stale: bool,
    ) -> impl Future<Output = Result<(Position, M::Answer), Problem>> + use<M> {
        let (reply, from) = oneshot::channel();
        let request = Request::Query {
            caller: caller.clone(),
            query,
            may_be_stale,
            reply,
        };
        let ticket = |relay| M::ticket(PendingAnswer::Query(relay));
        let answered = self.ask(caller.meter(), M::ask(request), from, ticket);
        async { answered.await?.map_err(problem_of) }
    }

    /// Has the loop say how it is.
    ///
    /// # Errors
    /// The loop takes no more work, or has ended.
    pub(super) async fn status(&self) -> Result<ServerStatus, Problem> {
        let (reply, from) = oneshot::channel();
        self.ask(None, Ask::Status { reply }, from, Ticket::Status)
            .await
    }

    /// How a node stands in its cluster; nothing where there is none.
    ///
    /// # Errors
    /// The loop takes no more work, or has ended.
    pub(super) async fn cluster_report(&self, is_draining: bool) -> Result<Option<Value>, Problem> {
        let (reply, from) = oneshot::channel();
        let ask = Ask::Cluster { is_draining, reply };
        self.ask(None, ask, from, Ticket::Cluster).await
    }

    fn ask<T, F: FnOnce(Relay<T>) -> Ticket>(
        &self,
        meter: Option<&Arc<Meter>>,
        ask: Ask,
        from: oneshot::Receiver<T>,
        ticket: F,
    ) -> impl Future<Output = Result<T, Problem>> + use<T, F> {
        let (to, answer) = oneshot::channel();
        let begun = meter.map(Meter::begin).transpose();
        let left = begun.map(|pending| {
            let to = Some(to);
            let relay = Relay {
                from,
                to,
                _pending: pending,
            };
            self.leave(ask, ticket(relay));
        });
        let left = left.map_err(|exceeded| {
            self.counters.error(ErrorCode::QuotaExceeded);
            problem_of_denied(NotPermitted::Quota(exceeded))
        });
        async {
            left?;
            let answer = answer.await.unwrap_or(Err(Code::Unavailable));
            answer.map_err(Problem::from)
        }
    }

    fn leave(&self, ask: Ask, mut ticket: Ticket) {
        if self.gate.put(ask).is_err() {
            ticket.relay().refuse(Code::Overloaded);
            return;
        }
        let mut desk = self.desk();
        desk.outstanding.push_back(ticket);
        desk.unannounced += 1;
        let is_batch = desk.unannounced == BATCH;
        if is_batch {
            desk.unannounced = 0;
        }
        let courier = desk.courier.take();
        drop(desk);
        if is_batch {
            self.gate.wake();
        }
        if let Some(courier) = courier {
            courier.wake();
        }
    }

    /// Returns when there are requests on the desk and few with the loop.
    async fn is_to_announce(&self) {
        poll_fn(|cx| {
            let mut desk = self.desk();
            if desk.takes_few(&self.gate.away) {
                if desk.unannounced > 0 {
                    return Poll::Ready(());
                }
                desk.courier = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Waits as long as the sockets that are ready bring more requests; each round looks at all of
    /// them once and takes no time when there is nothing.
    async fn gather(&self) {
        let mut seen = 0;
        for _ in 0..GATHERING_ROUNDS {
            let requests = self.desk().unannounced;
            if requests <= seen {
                return;
            }
            seen = requests;
            tokio::task::yield_now().await;
        }
    }

    /// Wakes the loop, unless a whole batch has done so meanwhile.
    fn announce(&self) {
        let mut desk = self.desk();
        if desk.unannounced > 0 && desk.takes_few(&self.gate.away) {
            desk.unannounced = 0;
            drop(desk);
            self.gate.wake();
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn problem_of(undecided: Undecided) -> Problem {
    match undecided {
        Undecided::Journal(ExecuteError::KeyReused { first }) => key_reused(first),
        Undecided::Journal(full @ ExecuteError::KeysFull { retry_after_s }) => {
            Problem::with(Code::KeysFull { retry_after_s }, full.to_string())
        }
        Undecided::Journal(ExecuteError::ReadOnly) => Problem::from(Code::ReadOnly),
        Undecided::Journal(ExecuteError::TooLarge) => Problem::from(Code::CommandTooLarge),
        Undecided::Journal(ExecuteError::Stopped) => Problem::from(Code::Unavailable),
        Undecided::Backend(failure) => problem_of_failure(&failure),
        Undecided::Share(full) => Problem::with(Code::Overloaded, full.to_string()),
        Undecided::NotPermitted(denied) => problem_of_denied(denied),
        Undecided::InLine(not_yet) => {
            let place = match not_yet {
                NotYourTurn::Wait(line) => Some((line.place, line.seconds)),
                NotYourTurn::NoKey
                | NotYourTurn::Full { .. }
                | NotYourTurn::TooManyPlaces { .. } => None,
            };
            let retry_after_s = not_yet.retry_after_s();
            let code = Code::InLine {
                place,
                retry_after_s,
            };
            Problem::with(code, not_yet.to_string())
        }
    }
}

fn problem_of_failure(failure: &Failure) -> Problem {
    let code = match failure {
        Failure::KeyReused { first } => return key_reused(*first),
        Failure::Forbidden(_) => Code::MissingRight,
        Failure::Unsupported { .. } => Code::Unsupported,
        Failure::Unavailable { .. } => Code::Unavailable,
        Failure::Unknown { .. } => Code::OutcomeUnknown,
        Failure::Broken { .. } => Code::BackendBroken,
    };
    Problem::with(code, failure.to_string())
}

fn key_reused(first: Position) -> Problem {
    let detail = format!("the key was used at position {first} for another command");
    Problem::with(Code::KeyReused, detail)
}

impl Desk {
    /// Whether the loop is to be woken for less than a batch.
    fn takes_few(&self, away: &RequestsAway) -> bool {
        let announced = self.outstanding.len() - self.unannounced;
        announced.saturating_sub(away.count()) < FEW
    }

    /// Passes on the answers that are there.
    fn take_answers(&mut self) {
        self.outstanding
            .retain_mut(|ticket| !ticket.relay().is_passed());
        // The loop takes all that is in its queue, what it was not woken for as well.
        self.unannounced = self.unannounced.min(self.outstanding.len());
    }
}

/// The courier's task, which ends with the loop.
pub(super) async fn carry(door: Arc<Door>) {
    let courier = &door.courier;
    let mut answered = courier.gate.answered();
    loop {
        tokio::select! {
            biased;
            news = answered.changed() => {
                courier.desk().take_answers();
                if news.is_err() {
                    return;
                }
            }
            () = courier.is_to_announce() => {
                courier.gather().await;
                courier.announce();
            }
        }
    }
}
