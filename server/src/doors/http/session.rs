//! One client of the exchange's WebSocket: what it follows, what it asks, and the end.

mod entered;
mod followed;

use std::{future::Future, pin::Pin, sync::Arc};

use futures_util::stream::{FuturesOrdered, StreamExt};
use tokio::{
    sync::{futures::OwnedNotified, watch},
    time::{self, Instant},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::protocol::frame::coding::CloseCode};
use turnstile_access::Access;
use turnstile_embedded::Reply;
use turnstile_exchange::{AccountId, Command, Exchange};
use turnstile_http::{
    Code, FieldError, Place, Problem,
    exchange::feed::{self, Wish, parse_message},
    message::{self, Asked, Tag},
};

use self::{entered::Entered, followed::Followed};
use super::{
    Door,
    access::StreamPass,
    limits::{IN_FLIGHT, SUBSCRIPTIONS},
    socket::MeteredSocket,
    stream::untold,
    talk::{Going, Hangup, LEAVE_ENDED, Talk, answer_of},
};
use crate::core::caller::Caller;

/// One client's conversation.
///
/// It does one thing at a time: whatever it has to say is written before it looks further. So a
/// client that reads slowly holds up nobody and costs what one reading of the feed gives; the ring
/// overtakes it, and it is told so and gets new snapshots.
pub(super) struct Session {
    door: Arc<Door>,
    caller: Caller,
    /// What the caller may follow.
    pass: StreamPass,
    /// Tells that its rights have changed.
    rights: watch::Receiver<Option<Arc<Access>>>,
    /// Ends with the caller's leave to follow.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    talk: Talk,
    followed: Followed,
    entered: Entered,
    /// Commands that the loop has and has not answered, in the order of their sending.
    in_flight: FuturesOrdered<Pin<Box<dyn Future<Output = Answer> + Send>>>,
}

/// The answer to a command that was sent.
struct Answer {
    tag: Option<Tag>,
    /// Whose order it was, where it was one.
    order: Option<AccountId>,
    reply: Result<Reply<Exchange>, Problem>,
}

impl Session {
    pub(super) fn new(
        door: Arc<Door>,
        socket: WebSocketStream<MeteredSocket>,
        pass: StreamPass,
    ) -> Self {
        Self {
            caller: {
                let meter = Arc::clone(socket.get_ref().meter());
                pass.visitor().caller.clone().metered_by(meter)
            },
            rights: pass.changes(),
            over: Box::pin(pass.clone().over()),
            pass,
            followed: Followed::new(door.epoch().to_owned()),
            entered: Entered::default(),
            in_flight: FuturesOrdered::new(),
            talk: Talk::new(Arc::clone(&door), socket),
            door,
        }
    }

    /// Converses until one side ends it, and then cancels what is to be cancelled.
    pub(super) async fn run(mut self) {
        let ending = loop {
            if let Err(ending) = self.go_on().await {
                break ending;
            }
        };
        self.talk.end(ending).await;
        while let Some(answer) = self.in_flight.next().await {
            self.entered.note(&answer);
        }
        self.entered
            .cancel(&self.door, &self.caller.by_server())
            .await;
    }

    /// Says what there is to say, then waits for the next thing that happens.
    async fn go_on(&mut self) -> Going {
        if self.door.is_stopping() {
            return Err(Hangup::Told(CloseCode::Away, "the server stops"));
        }
        let news = self.listen();
        tokio::pin!(news);
        news.as_mut().enable();
        // Nothing more is told of what the caller may not follow any longer.
        if self.rights.has_changed().unwrap_or_default() {
            self.rights.mark_unchanged();
            self.end_unpermitted().await?;
        }
        let debt = self.talk.debt();
        let has_more = debt.is_none() && self.tell_followed().await?;
        let due = self.followed.due().filter(|_| debt.is_none());
        let heartbeat = self.door.limits.heartbeat;
        tokio::select! {
            biased;
            () = &mut self.over => Err(LEAVE_ENDED),
            Ok(()) = self.rights.changed() => self.end_unpermitted().await,
            Some(answer) = self.in_flight.next(), if !self.in_flight.is_empty() => {
                self.answer(answer).await
            }
            message = self.talk.next(), if self.in_flight.len() < self.in_flight_most() => {
                match self.talk.hear(message).await? {
                    Some(text) => self.obey(parse_message(text.as_str())).await,
                    None => Ok(()),
                }
            }
            () = std::future::ready(()), if has_more => Ok(()),
            () = time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => Ok(()),
            () = time::sleep(debt.unwrap_or_default()), if debt.is_some() => Ok(()),
            () = news, if debt.is_none() => Ok(()),
            () = time::sleep(heartbeat) => self.talk.beat().await,
        }
    }

    fn listen(&self) -> OwnedNotified {
        Arc::clone(&self.door.sources.exchange.news).notified_owned()
    }

    /// How many commands may wait for their answers. A database decides several at a time in any order,
    /// so that there each waits for the one before.
    fn in_flight_most(&self) -> usize {
        if self.door.gate.in_databases.has::<Exchange>() {
            1
        } else {
            IN_FLIGHT
        }
    }

    async fn obey(&mut self, asked: Asked<Wish>) -> Going {
        let Asked { tag, wish } = asked;
        let tag = tag.as_ref();
        match wish {
            Err(problem) => self.talk.say(message::problem(tag, &problem)).await,
            Ok(Wish::Ping) => self.talk.say(message::pong(tag)).await,
            Ok(Wish::Subscribe(_)) if self.door.gate.in_databases.has::<Exchange>() => {
                let problem = untold::<Exchange>();
                self.talk.say(message::problem(tag, &problem)).await
            }
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
                self.talk.say(feed::unsubscribed(tag, topic)).await
            }
            Ok(Wish::OnDisconnect { cancel }) => {
                self.entered.set(cancel);
                self.talk.say(feed::on_disconnect(tag, cancel)).await
            }
            Ok(Wish::Order { order, key }) => {
                if !self.has_room().await {
                    let most = self.door.limits.session_orders;
                    let detail = format!("it cancels at most {most} orders");
                    let full = Problem::with(Code::SessionFull, detail);
                    return self.talk.say(message::problem(tag, &full)).await;
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
            self.entered.review(&self.door, &self.caller).await;
        }
        self.entered.has_room(most, awaited)
    }

    async fn complain(&mut self, tag: Option<&Tag>, field: &str, message: String) -> Going {
        let problem = Problem::invalid(vec![FieldError {
            place: Place::Body,
            field: field.to_owned(),
            message,
        }]);
        self.talk.say(message::problem(tag, &problem)).await
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
        let reply = self
            .door
            .courier
            .execute::<Exchange>(&self.caller, key, command);
        let tag = tag.cloned();
        self.in_flight.push_back(Box::pin(async move {
            Answer {
                tag,
                order,
                reply: reply.await,
            }
        }));
    }

    async fn answer(&mut self, answer: Answer) -> Going {
        self.entered.note(&answer);
        let text = answer_of::<Exchange>(answer.tag.as_ref(), answer.reply);
        self.talk.say(text).await
    }
}
