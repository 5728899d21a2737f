//! A WebSocket while two talk on it: what is said, what is heard, and how it ends.

use std::{future::poll_fn, sync::Arc, time::Duration};

use futures_util::{SinkExt, StreamExt};
use tokio::time::{self, Instant};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message, Utf8Bytes,
        error::CapacityError,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};
use turnstile_embedded::Reply;
use turnstile_http::{
    Code, Problem, Served,
    message::{self, Tag},
};

use super::{Door, metered::wait_in_debt, socket::MeteredSocket};

/// One side of a conversation.
pub(super) struct Talk {
    door: Arc<Door>,
    socket: WebSocketStream<MeteredSocket>,
    /// When the client was last heard.
    heard: Instant,
}

/// How a conversation ends.
pub(super) enum Hangup {
    /// The client has gone, or does not listen.
    Gone,
    /// It is told why.
    Told(CloseCode, &'static str),
}

/// The client's key or session has ended, or it has lost its right.
pub(super) const LEAVE_ENDED: Hangup = Hangup::Told(
    CloseCode::Policy,
    "the key or the session has ended, or its right",
);

pub(super) type Going = Result<(), Hangup>;

/// The message about what a command came to.
pub(super) fn answer_of<M: Served<About = ()>>(
    tag: Option<&Tag>,
    reply: Result<Reply<M>, Problem>,
) -> String {
    let told =
        reply.and_then(|reply| M::tell_outcome((), reply.position, reply.replayed, &reply.outcome));
    match told {
        Ok(told) => message::done(tag, &told),
        Err(problem) => message::problem(tag, &problem),
    }
}

impl Talk {
    pub(super) fn new(door: Arc<Door>, socket: WebSocketStream<MeteredSocket>) -> Self {
        Self {
            door,
            socket,
            heard: Instant::now(),
        }
    }

    /// How long nothing more is told unasked, because the client's principal was sent more than its quota
    /// allows.
    pub(super) fn debt(&self) -> Option<Duration> {
        wait_in_debt(self.socket.get_ref().meter())
    }

    /// The next that comes from the client; it is understood by [`Self::hear`]. Nothing is lost when
    /// this is dropped.
    pub(super) async fn next(&mut self) -> Option<Result<Message, Error>> {
        self.socket.next().await
    }

    /// The text of a message, if it is one. A client that sends bytes is told that nobody understands
    /// them.
    pub(super) async fn hear(
        &mut self,
        message: Option<Result<Message, Error>>,
    ) -> Result<Option<Utf8Bytes>, Hangup> {
        self.heard = Instant::now();
        match message {
            Some(Ok(Message::Text(text))) => Ok(Some(text)),
            Some(Ok(Message::Binary(_))) => {
                let wrong = Problem::with(Code::MalformedJson, "a message is text, not bytes");
                self.say(message::problem(None, &wrong)).await?;
                Ok(None)
            }
            // The library answers a goodbye when it is read on; then the stream ends.
            Some(Ok(
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) | Message::Close(_),
            )) => Ok(None),
            None => Err(Hangup::Gone),
            Some(Err(failure)) => Err(ending_of(&failure)),
        }
    }

    /// A client that is silent is asked whether it is there; one that never answers has gone.
    pub(super) async fn beat(&mut self) -> Going {
        if self.heard.elapsed() > self.door.limits.idle {
            return Err(Hangup::Told(
                CloseCode::Away,
                "nothing was heard for too long",
            ));
        }
        self.send(Message::Ping(Vec::new().into())).await
    }

    pub(super) async fn say(&mut self, text: String) -> Going {
        self.send(Message::text(text)).await
    }

    /// Writes one message, and waits until the socket has taken it.
    async fn send(&mut self, message: Message) -> Going {
        let dropped = Arc::clone(self.socket.get_ref().dropped());
        let sending = time::timeout(self.door.limits.stall, self.socket.send(message));
        let sent = tokio::select! {
            biased;
            sent = sending => sent,
            () = poll_fn(|cx| dropped.poll(cx)) => return Err(Hangup::Gone),
        };
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(failure)) => {
                tracing::debug!(%failure, "a socket broke");
                Err(Hangup::Gone)
            }
            Err(_late) => {
                tracing::info!("a socket dropped: its client does not read");
                Err(Hangup::Gone)
            }
        }
    }

    /// Says goodbye, where the client still listens.
    pub(super) async fn end(mut self, ending: Hangup) {
        let Hangup::Told(code, reason) = ending else {
            return;
        };
        let reason = reason.into();
        let goodbye = self.socket.close(Some(CloseFrame { code, reason }));
        match time::timeout(self.door.limits.stall, goodbye).await {
            Ok(Ok(())) | Err(_) => {}
            Ok(Err(failure)) => tracing::debug!(%failure, "the last message could not be sent"),
        }
    }
}

/// How the conversation ends after bytes that are no message.
fn ending_of(failure: &Error) -> Hangup {
    match failure {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => {
            Hangup::Told(CloseCode::Size, "a message has at most 64 KiB")
        }
        Error::Utf8(_) => Hangup::Told(CloseCode::Invalid, "text is UTF-8"),
        Error::Protocol(_) => Hangup::Told(CloseCode::Protocol, "not a frame of WebSocket"),
        _ => Hangup::Gone,
    }
}
