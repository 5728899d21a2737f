//! The TLS handshakes of the HTTP door: their pace, their deadline, and what comes of them.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    mem,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    task::Poll,
};

use axum::Router;
use rustls::ServerConfig;
use tokio::{
    net::TcpStream,
    sync::{Notify, Semaphore},
    task, time,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use turnstile_http::{Code, Problem};

use super::{
    Door,
    limits::{HANDSHAKE_STEPS, HANDSHAKES_PART, TLS_UNSENT_BYTES},
    line::Line,
    requests::{say_goodbye, serve_line},
    secured::HttpStream,
};
use crate::{
    core::tls::FIRST_BYTE,
    counters::{DoorName, HandshakeEnd},
    limits::{HANDSHAKE_SWEEPS, SWEEP},
};

/// The handshakes of the door.
///
/// A full one costs a signature. So in each round of the runtime only a few steps of them are done, and
/// the requests of others are delayed by little, however many connections begin at once.
#[derive(Debug)]
pub(super) struct PacedHandshakes {
    /// Steps that may be done before the next round.
    steps: Semaphore,
    /// Rings when a step was done.
    stepped: Notify,
    open: Mutex<OpenHandshakes>,
}

/// The handshakes that are not done, the oldest first.
#[derive(Debug, Default)]
struct OpenHandshakes {
    leave: BTreeMap<u64, Arc<Notify>>,
    last: u64,
}

impl PacedHandshakes {
    pub(super) fn new() -> Self {
        Self {
            steps: Semaphore::new(HANDSHAKE_STEPS),
            stepped: Notify::new(),
            open: Mutex::default(),
        }
    }

    /// Allows new steps, once all that was ready has run.
    pub(super) async fn pace(&self) {
        loop {
            self.stepped.notified().await;
            task::yield_now().await;
            let done = HANDSHAKE_STEPS.saturating_sub(self.steps.available_permits());
            self.steps.add_permits(done);
        }
    }

    /// Runs a handshake step by step.
    async fn step<T>(&self, handshake: impl Future<Output = T>) -> Option<T> {
        let mut handshake = pin!(handshake);
        loop {
            self.steps.acquire().await.ok()?.forget();
            self.stepped.notify_one();
            let step = poll_fn(|cx| Poll::Ready(handshake.as_mut().poll(cx))).await;
            if let Poll::Ready(done) = step {
                return Some(done);
            }
            // What the handshake waits for wakes this task.
            let mut is_woken = false;
            poll_fn(|_cx| match mem::replace(&mut is_woken, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
        }
    }

    /// Begins one more, for which the oldest has to leave where there are `most`. Answers with its number
    /// and what tells it to leave.
    fn begin(&self, most: usize) -> (u64, Arc<Notify>) {
        let mut open = self.open();
        if open.leave.len() >= most
            && let Some((_, oldest)) = open.leave.pop_first()
        {
            oldest.notify_one();
        }
        open.last += 1;
        let (number, leave) = (open.last, Arc::new(Notify::new()));
        open.leave.insert(number, Arc::clone(&leave));
        (number, leave)
    }

    fn end(&self, number: u64) {
        self.open().leave.remove(&number);
    }

    fn open(&self) -> MutexGuard<'_, OpenHandshakes> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves one connection that begins with a handshake.
pub(super) async fn serve_secured(
    door: Arc<Door>,
    router: Router,
    (stream, config): (TcpStream, Arc<ServerConfig>),
) {
    // The bell for the end may have rung before it could be heard here.
    if door.is_stopping() {
        return door.give_up_place();
    }
    let most = (door.limits.connections / HANDSHAKES_PART).max(1);
    let (number, leave) = door.handshakes.begin(most);
    let counted = &door.counters.of(DoorName::Http).handshakes;
    counted.begin();
    // The connection keeps nothing of its handshake.
    let shaking = Box::pin(shake(&door, stream, config));
    let shaken = tokio::select! {
        shaken = time::timeout(SWEEP * HANDSHAKE_SWEEPS, shaking) => shaken,
        () = leave.notified() => Ok(None),
        () = door.ending.notified() => Ok(None),
    };
    door.handshakes.end(number);
    counted.end(match &shaken {
        Ok(Some(stream)) => HandshakeEnd::of(stream.get_ref().1.handshake_kind()),
        Ok(None) | Err(_) => HandshakeEnd::Failed,
    });
    match shaken {
        Ok(Some(stream)) if !door.is_stopping() => {
            let stream = HttpStream::Secured(Box::new(stream));
            let line = Arc::new(Line::of(&door, stream));
            serve_line(door, router, line).await;
        }
        Ok(_) | Err(_) => door.give_up_place(),
    }
}

/// Does the handshake. A client that speaks no TLS is answered in plain HTTP.
async fn shake(
    door: &Door,
    stream: TcpStream,
    config: Arc<ServerConfig>,
) -> Option<TlsStream<TcpStream>> {
    let mut first = [FIRST_BYTE];
    if let Err(failure) = stream.peek(&mut first).await {
        tracing::debug!(%failure, "a connection ended before its handshake");
        return None;
    }
    if first != [FIRST_BYTE] {
        let problem = Problem::with(Code::MalformedHead, "this address serves HTTPS only");
        say_goodbye(door, HttpStream::Plain(stream), &problem).await;
        return None;
    }
    let handshake = TlsAcceptor::from(config).accept_with(stream, |session| {
        session.set_buffer_limit(Some(TLS_UNSENT_BYTES));
    });
    match door.handshakes.step(handshake).await? {
        Ok(stream) => Some(stream),
        Err(failure) => {
            tracing::debug!(%failure, "a TLS handshake failed");
            None
        }
    }
}

impl Door {
    /// Frees the place of a connection that has spoken no HTTP.
    fn give_up_place(&self) {
        self.speaking.fetch_sub(1, Ordering::Relaxed);
        self.counters.of(DoorName::Http).open.take(1);
    }
}
