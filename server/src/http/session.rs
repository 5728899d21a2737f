//! One client of the exchange's WebSocket: what it follows, what it asks, and the end.

mod entered;
mod followed;

use std::{future::Future, pin::Pin, sync::Arc};

use futures_util::{SinkExt, StreamExt, stream::FuturesOrdered};
use tokio::{
    sync::futures::OwnedNotified,
    time::{self, Instant},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        error::CapacityError,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};
use turnstile_embedded::Reply;
use turnstile_exchange::{AccountId, Command, Exchange};
use turnstile_http::{
    Code, FieldError, Place, Problem,
    exchange::{
        feed::{self, Asked, Tag, Wish, parse_message},
        tell_outcome,
    },
};
use turnstile_types::Machine;

use self::{entered::Entered, followed::Followed};
use super::{
    Door,
    limits::{IN_FLIGHT, SUBSCRIPTIONS},
    socket::Wire,
};

/// One client's conversation.
///
/// It does one thing at a time: whatever it has to say is written before it looks further. So a
/// client that reads slowly holds up nobody and costs what one reading of the feed gives; the ring
/// overtakes it, and it is told so and gets new snapshots.
pub(super) struct Session {
    door: Arc<Door>,
    socket: WebSocketStream<Wire>,
    followed: Followed,
    entered: Entered,
    /// Commands that the loop has and has not answered, in the order of their sending.
    in_flight: FuturesOrdered<Pin<Box<dyn Future<Output = Answer> + Send>>>,
    /// When the client was last heard.
    heard: Instant,
}

/// The answer to a command that was sent.
struct Answer {
    tag: Option<Tag>,
    /// Whose order it was, where it was one.
    order: Option<AccountId>,
    reply: Result<Reply<Exchange>, Problem>,
}

/// How a conversation ends.
enum Ending {
    /// The client has gone, or does not listen.
    Gone,
    /// It is told why.
    Told(CloseCode, &'static str),
}

type Going = Result<(), Ending>;

impl Session {
    pub(super) fn new(door: Arc<Door>, socket: WebSocketStream<Wire>) -> Self {
        Self {
            followed: Followed::new(door.epoch()),
            entered: Entered::default(),
            in_flight: FuturesOrdered::new(),
            heard: Instant::now(),
            door,
            socket,
        }
    }

    /// Converses until one side ends it, and then cancels what is to be cancelled.
    pub(super) async fn run(mut self) {
        let ending = loop {
            if let Err(ending) = self.go_on().await {
                break ending;
            }
        };
        if let Ending::Told(code, reason) = ending {
            let reason = reason.into();
            let goodbye = self.socket.close(Some(CloseFrame { code, reason }));
            match time::timeout(self.door.limits.stall, goodbye).await {
                Ok(Ok(())) | Err(_) => {}
                Ok(Err(failure)) => tracing::debug!(%failure, "a goodbye was not taken"),
            }
        }
        drop(self.socket);
        while let Some(answer) = self.in_flight.next().await {
            self.entered.note(&answer);
        }
        self.entered.cancel(&self.door).await;
    }

    /// Says what there is to say, then waits for the next thing that happens.
    async fn go_on(&mut self) -> Going {
        if self.door.is_stopping() {
            return Err(Ending::Told(CloseCode::Away, "the server stops"));
        }
        let news = self.listen();
        tokio::pin!(news);
        news.as_mut().enable();
        let has_more = self.tell_followed().await?;
        let due = self.followed.due();
        let heartbeat = self.door.limits.heartbeat;
        tokio::select! {
            biased;
            Some(answer) = self.in_flight.next(), if !self.in_flight.is_empty() => {
                self.answer(&answer).await
            }
            message = self.socket.next(), if self.in_flight.len() < IN_FLIGHT => {
                self.hear(message).await
            }
            () = std::future::ready(()), if has_more => Ok(()),
            () = time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => Ok(()),
            () = news => Ok(()),
            () = time::sleep(heartbeat) => self.beat().await,
        }
    }

    fn listen(&self) -> OwnedNotified {
        Arc::clone(&self.door.exchange.news).notified_owned()
    }

    /// A client that is silent is asked whether it is there; one that never answers has gone.
    async fn beat(&mut self) -> Going {
        if self.heard.elapsed() > self.door.limits.idle {
            return Err(Ending::Told(
                CloseCode::Away,
                "nothing was heard for too long",
            ));
        }
        self.send(Message::Ping(Vec::new().into())).await
    }

    /// Writes one message, and waits until the socket has taken it.
    async fn send(&mut self, message: Message) -> Going {
        match time::timeout(self.door.limits.stall, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(failure)) => {
                tracing::debug!(%failure, "a socket broke");
                Err(Ending::Gone)
            }
            Err(_late) => {
                tracing::info!("a socket whose client does not read was dropped");
                Err(Ending::Gone)
            }
        }
    }

    async fn say(&mut self, text: String) -> Going {
        self.send(Message::text(text)).await
    }

    async fn hear(&mut self, message: Option<Result<Message, Error>>) -> Going {
        self.heard = Instant::now();
        match message {
            Some(Ok(Message::Text(text))) => {
                let asked = parse_message(text.as_str());
                self.obey(asked).await
            }
            Some(Ok(Message::Binary(_))) => {
                let wrong = Problem::with(Code::MalformedJson, "a message is text, not bytes");
                self.say(feed::problem(None, &wrong)).await
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(()),
            // The library answers a goodbye when it is read on; then the stream ends.
            Some(Ok(Message::Close(_))) => Ok(()),
            None => Err(Ending::Gone),
            Some(Err(failure)) => Err(ending_of(&failure)),
        }
    }

    async fn obey(&mut self, asked: Asked) -> Going {
        let Asked { tag, wish } = asked;
        let tag = tag.as_ref();
        match wish {
            Err(problem) => self.say(feed::problem(tag, &problem)).await,
            Ok(Wish::Ping) => self.say(feed::pong(tag)).await,
            Ok(Wish::Subscribe(topic)) => {
                if self.followed.len() >= SUBSCRIPTIONS && !self.followed.has(topic) {
                    let most = format!("a connection has at most {SUBSCRIPTIONS} subscriptions");
                    return self.complain(tag, "channel", most).await;
                }
                self.followed.add(topic, tag, &self.door);
                Ok(())
            }
            Ok(Wish::Unsubscribe(topic)) => {
                if !self.followed.remove(topic) {
                    let none = format!("{topic} was not subscribed to");
                    return self.complain(tag, "channel", none).await;
                }
                self.say(feed::unsubscribed(tag, topic)).await
            }
            Ok(Wish::OnDisconnect { cancel }) => {
                self.entered.set(cancel);
                self.say(feed::on_disconnect(tag, cancel)).await
            }
            Ok(Wish::Order { order, key }) => {
                if !self.has_room().await {
                    let most = self.door.limits.session_orders;
                    let detail = format!("it cancels at most {most} orders");
                    let full = Problem::with(Code::SessionFull, detail);
                    return self.say(feed::problem(tag, &full)).await;
                }
                self.send_on(tag, Some(order.account), &Command::Order(order), key);
                Ok(())
            }
            Ok(Wish::Command { command, key }) => {
                self.send_on(tag, None, &command, key);
                Ok(())
            }
        }
    }

    /// Whether one more order can be cancelled at the end, if that is wanted.
    async fn has_room(&mut self) -> bool {
        let (most, awaited) = (self.door.limits.session_orders, self.in_flight.len());
        if !self.entered.has_room(most, awaited) {
            self.entered.review(&self.door).await;
        }
        self.entered.has_room(most, awaited)
    }

    async fn complain(&mut self, tag: Option<&Tag>, field: &str, message: String) -> Going {
        let problem = Problem::invalid(vec![FieldError {
            place: Place::Body,
            field: field.to_owned(),
            message,
        }]);
        self.say(feed::problem(tag, &problem)).await
    }

    /// Has a command executed. It is in the loop's queue when this returns, so that commands are
    /// executed in the order in which they were sent.
    fn send_on(
        &mut self,
        tag: Option<&Tag>,
        order: Option<AccountId>,
        command: &Command,
        key: Option<Box<str>>,
    ) {
        let mut bytes = Vec::with_capacity(256);
        Exchange::encode_command(command, &mut bytes);
        let reply = self.door.courier.command::<Exchange>(key, bytes);
        let tag = tag.cloned();
        self.in_flight.push_back(Box::pin(async move {
            Answer {
                tag,
                order,
                reply: reply.await,
            }
        }));
    }

    async fn answer(&mut self, answer: &Answer) -> Going {
        self.entered.note(answer);
        let tag = answer.tag.as_ref();
        let told = answer
            .reply
            .as_ref()
            .map_err(Problem::clone)
            .and_then(|reply| tell_outcome(reply.position, reply.replayed, &reply.outcome));
        let text = match told {
            Ok(told) => feed::done(tag, &told),
            Err(problem) => feed::problem(tag, &problem),
        };
        self.say(text).await
    }
}

/// How the conversation ends after bytes that are no message.
fn ending_of(failure: &Error) -> Ending {
    match failure {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => {
            Ending::Told(CloseCode::Size, "a message has at most 64 KiB")
        }
        Error::Utf8(_) => Ending::Told(CloseCode::Invalid, "text is UTF-8"),
        Error::Protocol(_) => Ending::Told(CloseCode::Protocol, "not a frame of WebSocket"),
        _ => Ending::Gone,
    }
}
