//! What a session follows, and how far it has been told.

use std::sync::Arc;

use tokio::time::Instant;
use turnstile_chassis::Subject;
use turnstile_exchange::{Answer, DepthView, Event, Exchange, Query};
use turnstile_http::{
    Problem,
    exchange::{
        concerns,
        feed::{self, Topic, TopicProgress, TopicWriter},
    },
    message::{self, Tag},
};
use turnstile_types::{Name, Position};

use super::Session;
use crate::{
    core::feed::{Place, Reading},
    doors::http::{
        Door,
        limits::{SNAPSHOT_ORDERS, SNAPSHOT_TRADES, TOP_EVERY, TOP_LEVELS},
        stream::Follower,
        talk::{Going, Hangup},
    },
};

/// The subscriptions of one session, and its place in the feed.
///
/// A snapshot is asked of the loop when the place in the feed is known, so what happens after the
/// snapshot comes after the place. What the feed tells again from before it has a sequence number
/// that the snapshot has passed, and is left out.
pub(super) struct Followed {
    epoch: String,
    place: Option<(Place, Follower<Exchange>)>,
    subscriptions: Vec<Subscription>,
}

struct Subscription {
    topic: Topic,
    /// To be told back with the first snapshot.
    tag: Option<Tag>,
    /// None until there was a snapshot.
    seen: Option<TopicProgress>,
    /// When the next snapshot is to be told.
    due: Option<Instant>,
    /// When the last one was.
    told: Instant,
    /// The top of the book that was told last, for that channel.
    top: Option<DepthView>,
}

impl Followed {
    pub(super) const fn new(epoch: String) -> Self {
        Self {
            epoch,
            place: None,
            subscriptions: Vec::new(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.subscriptions.len()
    }

    pub(super) fn has(&self, topic: Topic) -> bool {
        self.subscriptions.iter().any(|one| one.topic == topic)
    }

    /// Subscribes; whoever has subscribed already gets a new snapshot.
    pub(super) fn add(&mut self, topic: Topic, tag: Option<&Tag>, door: &Arc<Door>) {
        if self.place.is_none() {
            let follower = door.sources.exchange.follow();
            self.place = Some((door.sources.exchange.feed.end(), follower));
        }
        self.remove_one(topic);
        let now = Instant::now();
        self.subscriptions.push(Subscription {
            topic,
            tag: tag.cloned(),
            seen: None,
            due: Some(now),
            told: now,
            top: None,
        });
    }

    /// Unsubscribes; answers whether there was something to end.
    pub(super) fn remove(&mut self, topic: Topic) -> bool {
        let removed = self.remove_one(topic);
        if self.subscriptions.is_empty() {
            self.place = None;
        }
        removed
    }

    fn remove_one(&mut self, topic: Topic) -> bool {
        let before = self.subscriptions.len();
        self.subscriptions.retain(|one| one.topic != topic);
        self.subscriptions.len() < before
    }

    /// The topics that not everybody may follow, and whose they are.
    fn owned(&self) -> Vec<(Topic, Subject)> {
        let topics = self.subscriptions.iter().map(|one| one.topic);
        let owned = topics.filter_map(|topic| match topic {
            Topic::Orders(account) => {
                let name = Name::parse(account.as_bytes());
                Some((topic, name.map_or(Subject::All, Subject::of)))
            }
            Topic::Book(_) | Topic::Top(_) | Topic::Trades(_) => None,
        });
        owned.collect()
    }

    /// When the next snapshot is to be told.
    pub(super) fn due(&self) -> Option<Instant> {
        self.subscriptions.iter().filter_map(|one| one.due).min()
    }

    /// The next events that any subscription is about.
    fn read(&mut self, door: &Door) -> Reading<Event> {
        let Some((place, _)) = &mut self.place else {
            return Reading::Nothing;
        };
        let subscriptions = &self.subscriptions;
        let is_wanted = |event: &Event| subscriptions.iter().any(|one| one.is_about(event));
        let reading = door.sources.exchange.feed.read(*place, is_wanted);
        match &reading {
            Reading::Nothing => {}
            Reading::Events(_, next) => *place = *next,
            // What is kept of the feed is in the snapshots that follow.
            Reading::Missed { .. } => *place = door.sources.exchange.feed.end(),
        }
        reading
    }
}

impl Subscription {
    fn is_about(&self, event: &Event) -> bool {
        match self.topic {
            Topic::Book(symbol) | Topic::Top(symbol) => {
                event.symbol == symbol && event.seq.is_some()
            }
            Topic::Trades(symbol) => event.symbol == symbol,
            Topic::Orders(account) => concerns(event, account),
        }
    }

    const fn query(&self) -> Query {
        match self.topic {
            Topic::Book(symbol) => Query::Depth {
                symbol,
                levels: u16::MAX,
            },
            Topic::Top(symbol) => Query::Depth {
                symbol,
                levels: TOP_LEVELS,
            },
            Topic::Trades(symbol) => Query::Trades {
                symbol,
                cursor: None,
                limit: SNAPSHOT_TRADES,
            },
            Topic::Orders(account) => Query::Orders {
                account,
                symbol: None,
                cursor: None,
                limit: SNAPSHOT_ORDERS,
            },
        }
    }

    /// What some events are to the client, which has been told everything before them.
    fn take(&mut self, teller: TopicWriter<'_>, events: &[Event]) -> Option<String> {
        let seen = self.seen?;
        if let Topic::Top(symbol) = self.topic {
            let is_new = |event: &Event| event.symbol == symbol && event.seq > Some(seen.last);
            if self.due.is_none() && events.iter().any(is_new) {
                self.due = Some(self.told + TOP_EVERY);
            }
            return None;
        }
        let (last, text) = teller.delta(self.topic, seen, events)?;
        self.seen = Some(TopicProgress { last, ..seen });
        Some(text)
    }

    /// The client was overtaken: it needs a new snapshot, and hears why. Not so for the top of a
    /// book, which is whole each time.
    fn overtake(&mut self, teller: TopicWriter<'_>, missed: u64) -> Option<String> {
        self.due.get_or_insert_with(Instant::now);
        match self.topic {
            Topic::Top(_) => None,
            Topic::Book(_) | Topic::Trades(_) | Topic::Orders(_) => self
                .seen
                .take()
                .map(|_seen| teller.lagged(self.topic, missed)),
        }
    }

    /// Takes the answer to its query; what there is to tell of it, if anything.
    fn show(
        &mut self,
        teller: TopicWriter<'_>,
        at: Position,
        answer: Answer,
    ) -> Result<Option<String>, Problem> {
        let (last, text) = teller.snapshot(self.tag.as_ref(), self.topic, at, &answer)?;
        self.tag = None;
        self.told = Instant::now();
        self.seen = Some(TopicProgress {
            snapshot: last,
            last,
        });
        match (self.topic, answer) {
            (Topic::Top(_), Answer::Depth(top)) => {
                let same = |told: &DepthView| told.bids == top.bids && told.asks == top.asks;
                let is_known = self.top.as_ref().is_some_and(same);
                self.top = Some(top);
                Ok((!is_known).then_some(text))
            }
            _ => Ok(Some(text)),
        }
    }
}

impl Session {
    /// Tells the snapshots that are due and the next changes; answers whether there may be more.
    pub(super) async fn tell_followed(&mut self) -> Result<bool, Hangup> {
        self.tell_snapshots().await?;
        let reading = self.followed.read(&self.door);
        let mut texts = Vec::new();
        let has_more = match reading {
            Reading::Nothing => false,
            Reading::Events(events, _) => {
                let Followed {
                    epoch,
                    subscriptions,
                    ..
                } = &mut self.followed;
                let teller = TopicWriter { epoch };
                let told = subscriptions.iter_mut();
                texts.extend(told.filter_map(|one| one.take(teller, &events)));
                true
            }
            Reading::Missed { events, .. } => {
                let Followed {
                    epoch,
                    subscriptions,
                    ..
                } = &mut self.followed;
                let teller = TopicWriter { epoch };
                let told = subscriptions.iter_mut();
                texts.extend(told.filter_map(|one| one.overtake(teller, events)));
                true
            }
        };
        for text in texts {
            self.talk.say(text).await?;
        }
        Ok(has_more)
    }

    /// Ends what the caller may not follow any longer, and says why.
    pub(super) async fn end_unpermitted(&mut self) -> Going {
        for (topic, whose) in self.followed.owned() {
            if let Err(problem) = self.pass.check(&whose) {
                self.followed.remove(topic);
                self.talk.say(message::problem(None, &problem)).await?;
                self.talk.say(feed::unsubscribed(None, topic)).await?;
            }
        }
        Ok(())
    }

    async fn tell_snapshots(&mut self) -> Going {
        let now = Instant::now();
        let is_due = |one: &Subscription| one.due.is_some_and(|due| due <= now);
        let mut at = 0;
        while let Some(one) = self.followed.subscriptions.get_mut(at) {
            at += 1;
            if !is_due(one) {
                continue;
            }
            one.due = None;
            let query = one.query();
            let answer = self
                .door
                .courier
                .query::<Exchange>(&self.caller, query)
                .await;
            let teller = TopicWriter {
                epoch: &self.followed.epoch,
            };
            let shown = answer.and_then(|(position, answer)| one.show(teller, position, answer));
            match shown {
                Ok(None) => {}
                Ok(Some(text)) => self.talk.say(text).await?,
                Err(problem) if one.tag.is_none() && problem.code.retryable() => {
                    one.due = Some(now + TOP_EVERY);
                }
                Err(problem) => {
                    let text = message::problem(one.tag.as_ref(), &problem);
                    let topic = one.topic;
                    self.followed.remove(topic);
                    at -= 1;
                    self.talk.say(text).await?;
                }
            }
        }
        Ok(())
    }
}
