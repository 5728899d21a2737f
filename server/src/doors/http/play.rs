//! One player's WebSocket: the player is there while it is open, hears of every change, and moves.

use std::{pin::Pin, sync::Arc};

use futures_util::stream::{FuturesOrdered, StreamExt};
use tokio::time;
use tokio_tungstenite::{WebSocketStream, tungstenite::protocol::frame::coding::CloseCode};
use turnstile_games::{Answer as Told, Command, Event, Games, Outcome, PlayerId, Query};
use turnstile_http::{
    Code, EventId, Problem, Served as _,
    games::{
        concerns,
        play::{self, Wish, parse_message},
    },
    message::{self, Asked, Tag},
};
use turnstile_types::Position;

use super::{
    Door,
    access::StreamPass,
    attendance::{self, Bell},
    limits::IN_FLIGHT,
    socket::MeteredSocket,
    stream::Follower,
    talk::{Going, Hangup, LEAVE_ENDED, Talk, answer_of},
};
use crate::core::{
    caller::Caller,
    feed::{FeedStart, Place, Reading},
};

/// One player's conversation.
///
/// It does one thing at a time: whatever it has to say is written before it looks further. So a
/// client that reads slowly holds up nobody; the ring overtakes it, and it is told so and gets its
/// state anew. Every event of a match has the whole match in it, so nothing is to be kept. It is woken
/// for what concerns its player, and passes over what lies before.
pub(super) struct Play {
    door: Arc<Door>,
    caller: Caller,
    /// Ends with the caller's leave to play.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    talk: Talk,
    player: PlayerId,
    bell: Arc<Bell>,
    place: Place,
    /// Everything before the place that the bell will ring for next was looked at.
    is_current: bool,
    /// The client has been told everything up to here.
    known: EventId,
    /// The answers to what the loop was asked, in the order of asking.
    in_flight: FuturesOrdered<Pin<Box<dyn Future<Output = String> + Send>>>,
    _follower: Follower<Games>,
}

impl Play {
    pub(super) fn new(
        door: Arc<Door>,
        (socket, pass): (WebSocketStream<MeteredSocket>, StreamPass),
        player: PlayerId,
    ) -> Self {
        let follower = door.sources.games.follow();
        Self {
            caller: {
                let meter = Arc::clone(socket.get_ref().meter());
                pass.visitor().caller.clone().metered_by(meter)
            },
            over: Box::pin(pass.over()),
            talk: Talk::new(Arc::clone(&door), socket),
            player,
            bell: Arc::default(),
            place: door.sources.games.feed.end(),
            is_current: false,
            known: EventId::default(),
            in_flight: FuturesOrdered::new(),
            _follower: follower,
            door,
        }
    }

    /// Lets the player come, converses until one side ends it, and lets the player go.
    pub(super) async fn run(mut self, since: Option<EventId>) {
        let ending = match self.begin(since).await {
            Err(ending) => ending,
            Ok(()) => loop {
                if let Err(ending) = self.go_on().await {
                    break ending;
                }
            },
        };
        self.talk.end(ending).await;
        // What was sent is done, whether or not somebody hears of it, before the player goes.
        while self.in_flight.next().await.is_some() {}
        let caller = self.caller.by_server();
        attendance::leave((&self.door, &caller), self.player, &self.bell).await;
    }

    /// Says that the player is there, and tells the client the state and what it missed.
    async fn begin(&mut self, since: Option<EventId>) -> Going {
        let come = attendance::come((&self.door, &self.caller), self.player, &self.bell).await;
        let told = come.and_then(|reply| match &reply.outcome {
            Outcome::Done(_) => Ok(()),
            refused @ Outcome::Refused(_) => {
                Games::tell_outcome((), reply.position, reply.replayed, refused).map(drop)
            }
        });
        if let Err(problem) = told {
            let (code, why) = match problem.code {
                Code::Refused(_) => (CloseCode::Policy, "the player may not come"),
                _ => (CloseCode::Again, "the server has no time for the player"),
            };
            self.talk.say(message::problem(None, &problem)).await?;
            return Err(Hangup::Told(code, why));
        }
        // The loop has answered, so it knows that the feed is kept.
        let place = since.map(|since| (since, self.door.sources.games.feed.after(since)));
        let state = self.look().await?;
        match place {
            Some((since, FeedStart::At(place))) => {
                (self.place, self.known) = (place, since);
            }
            Some((_, FeedStart::Elsewhere { first, .. })) => {
                self.talk.say(play::reset(first)).await?
            }
            None => {}
        }
        self.talk.say(state).await
    }

    /// What the player does now; events up to there are known from then on.
    async fn look(&mut self) -> Result<String, Hangup> {
        let player = self.player;
        let query = Query::Player { player };
        let answer = self.door.courier.query::<Games>(&self.caller, query);
        match answer.await {
            Ok((position, answer)) => {
                self.known = all_of(position);
                Ok(shown(&self.door, None, position, &answer))
            }
            Err(problem) => {
                self.talk.say(message::problem(None, &problem)).await?;
                Err(Hangup::Told(CloseCode::Again, "the server has no time"))
            }
        }
    }

    /// Says what there is to say, then waits for the next thing that happens.
    async fn go_on(&mut self) -> Going {
        if self.door.is_stopping() {
            return Err(Hangup::Told(CloseCode::Away, "the server stops"));
        }
        let bell = Arc::clone(&self.bell);
        let debt = self.talk.debt();
        let has_more = debt.is_none() && self.tell().await?;
        let heartbeat = self.door.limits.heartbeat;
        tokio::select! {
            biased;
            () = &mut self.over => Err(LEAVE_ENDED),
            Some(answer) = self.in_flight.next(), if !self.in_flight.is_empty() => {
                self.talk.say(answer).await
            }
            message = self.talk.next(), if self.in_flight.len() < IN_FLIGHT => {
                match self.talk.hear(message).await? {
                    Some(text) => self.obey(text.as_str()).await,
                    None => Ok(()),
                }
            }
            () = std::future::ready(()), if has_more => Ok(()),
            () = time::sleep(debt.unwrap_or_default()), if debt.is_some() => Ok(()),
            () = bell.rung(), if debt.is_none() => Ok(()),
            () = time::sleep(heartbeat) => self.talk.beat().await,
        }
    }

    /// Tells what has happened; answers whether there may be more.
    async fn tell(&mut self) -> Result<bool, Hangup> {
        match self.bell.take() {
            Some(place) if self.is_current => self.place = self.place.max(place),
            None if self.is_current => return Ok(false),
            _ => {}
        }
        self.is_current = false;
        let feed = &self.door.sources.games.feed;
        let is_new = |event: &Event| {
            EventId::of((event.position, event.ordinal)) > self.known
                && concerns(event, &self.player)
        };
        match feed.read(self.place, is_new) {
            Reading::Nothing => {
                self.is_current = true;
                return Ok(false);
            }
            Reading::Events(events, place) => {
                self.place = place;
                for event in &events {
                    self.talk.say(play::happened(event)).await?;
                }
            }
            Reading::Missed { events, .. } => {
                self.place = feed.end();
                self.talk.say(play::lagged(events)).await?;
                let state = self.look().await?;
                self.talk.say(state).await?;
            }
        }
        Ok(true)
    }

    async fn obey(&mut self, text: &str) -> Going {
        let Asked { tag, wish } = parse_message(text, self.player);
        match wish {
            Err(problem) => {
                self.talk
                    .say(message::problem(tag.as_ref(), &problem))
                    .await
            }
            Ok(Wish::Ping) => self.talk.say(message::pong(tag.as_ref())).await,
            Ok(Wish::Look) => {
                let player = self.player;
                let query = Query::Player { player };
                let answer = self.door.courier.query::<Games>(&self.caller, query);
                let door = Arc::clone(&self.door);
                self.in_flight.push_back(Box::pin(async move {
                    match answer.await {
                        Ok((position, answer)) => shown(&door, tag.as_ref(), position, &answer),
                        Err(problem) => message::problem(tag.as_ref(), &problem),
                    }
                }));
                Ok(())
            }
            Ok(Wish::Command { command, key }) => {
                self.send_on(tag, &command, key);
                Ok(())
            }
        }
    }

    /// Has a command executed. It is in the loop's queue when this returns, so that commands are
    /// executed in the order in which they were sent.
    fn send_on(&mut self, tag: Option<Tag>, command: &Command, key: Option<Box<str>>) {
        let reply = self
            .door
            .courier
            .execute::<Games>(&self.caller, key, command);
        let done = async move { answer_of::<Games>(tag.as_ref(), reply.await) };
        self.in_flight.push_back(Box::pin(done));
    }
}

/// What a player does now.
fn shown(door: &Door, tag: Option<&Tag>, position: Position, answer: &Told) -> String {
    match answer {
        Told::Player(view) => play::state(tag, door.epoch(), position, view),
        _ => message::problem(tag, &Problem::from(Code::NoSuchPlayer)),
    }
}

/// The last place that the events of a record can have.
const fn all_of(position: Position) -> EventId {
    EventId {
        position,
        ordinal: u32::MAX,
    }
}
