//! Carries requests to the loop and answers back, many at a time.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use tokio::sync::oneshot;
use turnstile_embedded::{ExecuteError, Reply};
use turnstile_http::{Code, Problem};
use turnstile_rooms::{Answer, Query, Rooms};
use turnstile_types::{Position, Principal};

use super::Door;
use crate::gate::{Ask, Gate, ServerStatus};

/// How often the courier looks for more requests before it goes. A bound, because sockets that are
/// never silent would keep it for ever.
const GATHERING_ROUNDS: usize = 8;

/// The desk at which the connections of this thread leave their requests.
///
/// Waking a thread is the dearest part of a request, so it is done for many at once. Connections
/// that became ready together leave their requests here without a wake-up; when the sockets bring no
/// more, the courier hands all of them to the loop. On the way back it listens to the last of the
/// outstanding answers only: the loop answers in order, so when that one is there the others are,
/// and the loop's other sends find nobody to wake. Should the order ever differ, an answer comes
/// with a later wake-up, never not at all.
#[derive(Debug)]
pub(super) struct Courier {
    desk: Mutex<Desk>,
    gate: Gate,
}

#[derive(Debug, Default)]
struct Desk {
    requests: Vec<(Ask, Ticket)>,
    courier: Option<Waker>,
}

/// An answer that is on its way from the loop to a connection.
#[derive(Debug)]
enum Ticket {
    Command(Relay<Result<Reply<Rooms>, ExecuteError>>),
    Query(Relay<(Position, Answer)>),
    Status(Relay<ServerStatus>),
}

#[derive(Debug)]
struct Relay<T> {
    from: oneshot::Receiver<T>,
    /// Gone when the answer was passed on.
    to: Option<oneshot::Sender<Result<T, Code>>>,
}

impl<T> Relay<T> {
    fn pass(&mut self, answer: Result<T, Code>) {
        if let Some(to) = self.to.take() {
            // A connection that ended meanwhile wants no answer.
            drop(to.send(answer));
        }
    }

    /// Passes the answer on if it is there; otherwise the task will be woken when it is.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.from)
            .poll(cx)
            .map(|answer| self.pass(answer.map_err(|_stopped| Code::Unavailable)))
    }

    /// Passes the answer on if it is there.
    fn is_passed(&mut self) -> bool {
        match self.from.try_recv() {
            Ok(answer) => self.pass(Ok(answer)),
            Err(oneshot::error::TryRecvError::Closed) => self.pass(Err(Code::Unavailable)),
            Err(oneshot::error::TryRecvError::Empty) => return false,
        }
        true
    }
}

impl Ticket {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Command(relay) => relay.poll(cx),
            Self::Query(relay) => relay.poll(cx),
            Self::Status(relay) => relay.poll(cx),
        }
    }

    fn is_passed(&mut self) -> bool {
        match self {
            Self::Command(relay) => relay.is_passed(),
            Self::Query(relay) => relay.is_passed(),
            Self::Status(relay) => relay.is_passed(),
        }
    }

    fn refuse(&mut self, code: Code) {
        match self {
            Self::Command(relay) => relay.pass(Err(code)),
            Self::Query(relay) => relay.pass(Err(code)),
            Self::Status(relay) => relay.pass(Err(code)),
        }
    }
}

impl Courier {
    pub(super) fn new(gate: Gate) -> Self {
        Self {
            desk: Mutex::new(Desk::default()),
            gate,
        }
    }

    /// Has a command executed; the answer is durable.
    ///
    /// # Errors
    /// The loop takes no more work, cannot write, or knows the key with other content.
    pub(super) async fn command(
        &self,
        key: Option<Box<str>>,
        command: Vec<u8>,
    ) -> Result<Reply<Rooms>, Problem> {
        let (reply, from) = oneshot::channel();
        let ask = Ask::Command {
            principal: Principal::local(),
            key,
            command,
            reply,
        };
        let executed = self.ask(ask, from, Ticket::Command).await?;
        executed.map_err(|error| match error {
            ExecuteError::KeyReused { first } => Problem::with(
                Code::KeyReused,
                format!("the key was used at position {first} for another command"),
            ),
            ExecuteError::ReadOnly => Problem::from(Code::ReadOnly),
            ExecuteError::TooLarge => Problem::from(Code::CommandTooLarge),
            ExecuteError::Stopped => Problem::from(Code::Unavailable),
        })
    }

    /// Has a query answered.
    ///
    /// # Errors
    /// The loop takes no more work, or has ended.
    pub(super) async fn query(&self, query: Query) -> Result<(Position, Answer), Problem> {
        let (reply, from) = oneshot::channel();
        let principal = Principal::local();
        let ask = Ask::Query {
            principal,
            query,
            reply,
        };
        self.ask(ask, from, Ticket::Query).await
    }

    /// Has the loop say how it is.
    ///
    /// # Errors
    /// The loop takes no more work, or has ended.
    pub(super) async fn status(&self) -> Result<ServerStatus, Problem> {
        let (reply, from) = oneshot::channel();
        self.ask(Ask::Status { reply }, from, Ticket::Status).await
    }

    async fn ask<T>(
        &self,
        ask: Ask,
        from: oneshot::Receiver<T>,
        ticket: impl FnOnce(Relay<T>) -> Ticket,
    ) -> Result<T, Problem> {
        let (to, answer) = oneshot::channel();
        self.leave(ask, ticket(Relay { from, to: Some(to) }));
        let answer = answer.await.unwrap_or(Err(Code::Unavailable));
        answer.map_err(Problem::from)
    }

    fn leave(&self, ask: Ask, ticket: Ticket) {
        let mut desk = self.desk();
        desk.requests.push((ask, ticket));
        let courier = desk.courier.take();
        drop(desk);
        if let Some(courier) = courier {
            courier.wake();
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The courier's task.
pub(super) async fn carry(door: Arc<Door>) {
    let courier = &door.courier;
    let mut requests = Vec::new();
    let mut outstanding = VecDeque::new();
    loop {
        poll_fn(|cx| {
            bring_back(cx, &mut outstanding);
            courier.poll_filled(cx)
        })
        .await;
        courier.gather().await;
        courier.take_out(&mut requests, &mut outstanding);
        // Listen before the loop is woken: it may run at once, and answer before this thread does
        // anything else.
        poll_fn(|cx| {
            bring_back(cx, &mut outstanding);
            Poll::Ready(())
        })
        .await;
        courier.gate.wake();
    }
}

impl Courier {
    /// Ready when there is a request on the desk.
    fn poll_filled(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut desk = self.desk();
        if desk.requests.is_empty() {
            desk.courier = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Waits as long as the sockets that are ready bring more requests; each round looks at all of
    /// them once and takes no time when there is nothing.
    async fn gather(&self) {
        let mut seen = 0;
        for _ in 0..GATHERING_ROUNDS {
            let requests = self.desk().requests.len();
            if requests == seen {
                return;
            }
            seen = requests;
            tokio::task::yield_now().await;
        }
    }

    /// Hands the desk's requests to the loop, without waking it.
    fn take_out(&self, requests: &mut Vec<(Ask, Ticket)>, outstanding: &mut VecDeque<Ticket>) {
        std::mem::swap(&mut self.desk().requests, requests);
        for (ask, mut ticket) in requests.drain(..) {
            match self.gate.put(ask) {
                Ok(()) => outstanding.push_back(ticket),
                Err(_overloaded) => ticket.refuse(Code::Overloaded),
            }
        }
    }
}

/// Passes on what is there, and listens to the last of what is not.
fn bring_back(cx: &mut Context<'_>, outstanding: &mut VecDeque<Ticket>) {
    outstanding.retain_mut(|ticket| !ticket.is_passed());
    while let Some(last) = outstanding.back_mut() {
        if last.poll(cx).is_pending() {
            return;
        }
        outstanding.pop_back();
    }
}
