//! The last events of a service, for those who follow: a ring that the loop writes and others read.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;
use turnstile_embedded::Recovery;
use turnstile_http::EventId;
use turnstile_json::InPartition;
use turnstile_types::{Machine, Position};

use crate::{
    core::news::{Gathered, News},
    limits::EVENTS_KEPT,
    registry::{Registered, SomeServices},
};

/// The most events that one reading looks at: the lock is held for some microseconds only.
const EVENTS_AT_ONCE: usize = 256;

/// How often [`Feed::rest`] is called before a feed that nobody follows is not kept any more.
const RESTS: u32 = 60;

/// The last events of a service, oldest first.
///
/// The loop writes, others read; both hold the lock for a short copy. A reader that finds nothing
/// leaves its mark, and only then does the next group wake somebody: publishing a group costs one
/// lock and a copy when nobody waits, and one wake-up for any number of events when somebody does.
///
/// A feed may be kept only while it is followed, and some time longer for those who come back. Then
/// the loop looks at one flag, and remembers only how far it has gone without keeping anything.
pub struct Feed<M: Machine> {
    ring: Mutex<EventRing<M::Event>>,
    bell: Notify,
    is_kept: AtomicBool,
    /// The last position of which events were not kept.
    dropped: AtomicU64,
    followers: AtomicU32,
    /// Calls of [`Self::rest`] since anybody followed.
    rests: AtomicU32,
}

macro_rules! feeds {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The feeds of the services.
        #[derive(Clone, Debug)]
        pub(crate) struct Feeds {
            $(pub(crate) $name: Arc<Feed<turnstile_services::$name::$machine>>,)+
        }

        impl Feeds {
            /// Feeds that [begin](Self::begin_after) when the state is there; those that are kept while
            /// they are followed keep so many events.
            pub(crate) fn new(events: usize) -> Self {
                Self {
                    $($name: Arc::new(if turnstile_services::$name::$machine::IS_KEPT_WHILE_FOLLOWED {
                        Feed::while_followed(Position(0), events)
                    } else {
                        Feed::new(Position(0))
                    }),)+
                }
            }

            pub(crate) fn begin_after(&self, found: &Recovery) {
                $(self.$name.begin_after(found.events_after::<turnstile_services::$name::$machine>());)+
            }

            /// The places after the newest events.
            pub(crate) fn ends(&self) -> FeedPlaces {
                FeedPlaces {
                    $($name: self.$name.end(),)+
                }
            }

            /// Adds all that is behind these places, as it is told of the partition of this name, and moves
            /// the places on.
            pub(crate) fn tell_on(
                &self,
                places: &mut FeedPlaces,
                partition: &str,
                told: &mut ToldEvents,
            ) {
                $(self.$name.tell_on(&mut places.$name, partition, told);)+
            }

            /// Which of them are kept.
            pub(crate) fn kept(&self) -> SomeServices {
                SomeServices([$(self.$name.is_kept()),+])
            }

            /// Keeps what has happened where somebody may ask for it.
            pub(crate) fn publish(&self, news: &mut News, kept: SomeServices) {
                $(self.$name.publish_news(&mut news.$name, kept);)+
            }
        }

        /// A place in each of the feeds.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct FeedPlaces {
            $($name: Place,)+
        }
    };
}

turnstile_services::services!(feeds);

struct EventRing<E> {
    events: VecDeque<E>,
    capacity: usize,
    /// The number of the first event in the ring; events are numbered from 0 since the start.
    first: u64,
    /// The last event that is not in the ring any more: those up to it cannot be told.
    lost: EventId,
    /// Somebody found nothing and waits.
    awaited: bool,
}

/// A place in the feed of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(u64);

/// What a partition tells those who follow it in another loop.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ToldEvents {
    /// Channels and messages, oldest first within a service.
    pub(crate) messages: Vec<(String, String)>,
    /// Whether some events are gone before they were told.
    pub(crate) has_missed: bool,
}

/// What a reading gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading<E> {
    /// Events, oldest first, and the place after them.
    Events(Vec<E>, Place),
    /// The reader is at the end; the bell will ring.
    Nothing,
    /// The reader was too slow: so many events are gone, and the feed goes on at this one.
    Missed {
        events: u64,
        first: EventId,
        place: Place,
    },
}

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedStart {
    At(Place),
    /// The feed does not go on where it left off: what it wants is gone, or was never told. This event
    /// is the first that it gets.
    Elsewhere {
        first: EventId,
        place: Place,
    },
}

/// The last event that cannot be told by a feed that begins after this position.
const fn nothing_before(begin: Position) -> EventId {
    let ordinal = if begin.0 == 0 { 0 } else { u32::MAX };
    EventId {
        position: begin,
        ordinal,
    }
}

impl<M: Machine> Feed<M> {
    /// A feed whose first event will come after the position `begin`: what was before is not kept.
    #[must_use]
    pub fn new(begin: Position) -> Self {
        Self::with_capacity(begin, EVENTS_KEPT)
    }

    /// A feed that is kept while it is followed only.
    pub(crate) fn while_followed(begin: Position, capacity: usize) -> Self {
        Self {
            is_kept: AtomicBool::new(false),
            ..Self::with_capacity(begin, capacity)
        }
    }

    fn with_capacity(begin: Position, capacity: usize) -> Self {
        let ring = EventRing {
            events: VecDeque::with_capacity(capacity),
            capacity,
            first: 0,
            lost: nothing_before(begin),
            awaited: false,
        };
        Self {
            ring: Mutex::new(ring),
            bell: Notify::new(),
            is_kept: AtomicBool::new(true),
            dropped: AtomicU64::new(0),
            followers: AtomicU32::new(0),
            rests: AtomicU32::new(0),
        }
    }

    /// Has the first event come after another position: nothing was published yet.
    pub(crate) fn begin_after(&self, begin: Position) {
        let mut ring = self.lock();
        assert!(ring.events.is_empty(), "the feed has not begun");
        ring.lost = nothing_before(begin);
    }

    /// Adds the events of a committed group, oldest first. Allocates nothing.
    pub fn publish(&self, events: impl IntoIterator<Item = M::Event>) {
        let mut events = events.into_iter().peekable();
        if events.peek().is_none() {
            return;
        }
        let mut ring = self.lock();
        ring.forget_before(self.dropped.load(Ordering::Relaxed));
        for event in events {
            ring.add::<M>(event);
        }
        let awaited = std::mem::take(&mut ring.awaited);
        drop(ring);
        if awaited {
            self.bell.notify_one();
        }
    }

    /// Publishes what has happened, or notes that it was not kept.
    fn publish_news(&self, news: &mut Gathered<M::Event>, kept: SomeServices)
    where
        M: Registered,
    {
        let position_of = |event: &M::Event| M::place_of(event).0;
        if !kept.has::<M>()
            && let Some(event) = news.events.drain(..).next_back()
        {
            news.dropped = news.dropped.max(Some(position_of(&event)));
        }
        if let Some(position) = news.dropped.take() {
            self.drop_up_to(position);
            news.events.retain(|event| position_of(event) > position);
        }
        self.publish(news.events.drain(..).filter(M::is_told));
    }

    /// Whether events are to be published; otherwise they are [dropped](Self::drop_up_to).
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// Notes that the events up to this position were not published.
    pub(crate) fn drop_up_to(&self, position: Position) {
        self.dropped.store(position.0, Ordering::Relaxed);
    }

    /// Has the feed kept from now on. The loop knows it as soon as it has answered any request
    /// that was asked after this; [`Self::after`] MUST be called after that only.
    pub(crate) fn follow(&self) {
        self.followers.fetch_add(1, Ordering::Relaxed);
        self.rests.store(0, Ordering::Relaxed);
        self.is_kept.store(true, Ordering::Relaxed);
    }

    pub(crate) fn unfollow(&self) {
        self.followers.fetch_sub(1, Ordering::Relaxed);
    }

    /// MUST be called by the thread of the followers only, about once a second: after a minute without followers, the feed is not kept any more.
    pub(crate) fn rest(&self) {
        if self.followers.load(Ordering::Relaxed) > 0 {
            self.rests.store(0, Ordering::Relaxed);
        } else if self.rests.fetch_add(1, Ordering::Relaxed) >= RESTS {
            self.is_kept.store(false, Ordering::Relaxed);
        }
    }

    /// Returns when something was published after a reading that found nothing. One task waits
    /// here for all readers, so that the loop pays for one wake-up only.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// The place after the newest event.
    pub(crate) fn end(&self) -> Place {
        self.lock().end()
    }

    /// The place after the newest event, and the id of that event.
    pub(crate) fn newest(&self) -> (Place, EventId) {
        let ring = self.lock();
        (ring.end(), ring.newest::<M>())
    }

    /// Whether `last` is none of the events so far: a position behind them, or an event that this
    /// server never told.
    pub(crate) fn is_beyond(&self, last: EventId) -> bool {
        last > self.lock().newest::<M>()
    }

    /// The place after the event `last`.
    pub(crate) fn after(&self, last: EventId) -> FeedStart {
        let mut ring = self.lock();
        ring.forget_before(self.dropped.load(Ordering::Relaxed));
        if last < ring.lost {
            return FeedStart::Elsewhere {
                first: ring.first_id::<M>(),
                place: Place(ring.first),
            };
        }
        let told = ring
            .events
            .partition_point(|event| id_of::<M>(event) <= last);
        FeedStart::At(Place(ring.first + number(told)))
    }

    /// The events from a place on, but only those that somebody wants. A reading that finds only
    /// others gives none, and the place after them.
    pub(crate) fn read(
        &self,
        from: Place,
        is_wanted: impl Fn(&M::Event) -> bool,
    ) -> Reading<M::Event> {
        let mut ring = self.lock();
        let reading = ring.read::<M>(from, is_wanted);
        ring.awaited |= reading == Reading::Nothing;
        reading
    }

    /// Adds all that is behind a place to what is told, and moves the place on. The bell rings for others.
    fn tell_on(&self, place: &mut Place, partition: &str, told: &mut ToldEvents)
    where
        M: Registered,
    {
        loop {
            let reading = self.lock().read::<M>(*place, |_event| true);
            match reading {
                Reading::Nothing => return,
                Reading::Events(events, next) => {
                    *place = next;
                    let messages = events.iter().map(|event| {
                        let fields = InPartition {
                            partition,
                            fields: event,
                        };
                        let channel = M::channel(event).into_owned();
                        (channel, turnstile_json::object(&fields))
                    });
                    told.messages.extend(messages);
                }
                Reading::Missed { place: next, .. } => {
                    *place = next;
                    told.has_missed = true;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, EventRing<M::Event>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E> EventRing<E> {
    fn end(&self) -> Place {
        Place(self.first + number(self.events.len()))
    }

    /// The events from a place on that are wanted, a bounded number.
    fn read<M: Machine<Event = E>>(&self, from: Place, is_wanted: impl Fn(&E) -> bool) -> Reading<E>
    where
        E: Clone,
    {
        if from.0 < self.first {
            return Reading::Missed {
                events: self.first - from.0,
                first: self.first_id::<M>(),
                place: Place(self.first),
            };
        }
        if from == self.end() {
            return Reading::Nothing;
        }
        let skipped = usize::try_from(from.0 - self.first).expect("a place is inside the ring");
        let end = self.events.len().min(skipped + EVENTS_AT_ONCE);
        let looked_at = self.events.range(skipped..end);
        let events = looked_at.filter(|event| is_wanted(event)).cloned();
        Reading::Events(events.collect(), Place(from.0 + number(end - skipped)))
    }

    /// Adds an event, in the place of the oldest when there is no other.
    fn add<M: Machine<Event = E>>(&mut self, event: E) {
        if self.events.len() == self.capacity
            && let Some(oldest) = self.events.pop_front()
        {
            self.first += 1;
            self.lost = id_of::<M>(&oldest);
        }
        self.events.push_back(event);
    }

    /// Forgets what was told before events were dropped: it does not reach up to those that come.
    fn forget_before(&mut self, dropped: u64) {
        if self.lost.position.0 < dropped {
            self.first = self.end().0;
            self.events.clear();
            self.lost = EventId {
                position: Position(dropped),
                ordinal: u32::MAX,
            };
        }
    }

    /// The oldest event that can be told, or the one that would be next.
    fn first_id<M: Machine<Event = E>>(&self) -> EventId {
        let next = self.lost.following();
        self.events.front().map_or(next, id_of::<M>)
    }

    /// The newest event that was told, kept or not.
    fn newest<M: Machine<Event = E>>(&self) -> EventId {
        self.events.back().map_or(self.lost, id_of::<M>)
    }
}

fn id_of<M: Machine>(event: &M::Event) -> EventId {
    EventId::of(M::place_of(event))
}

fn number(length: usize) -> u64 {
    u64::try_from(length).expect("a length fits 64 bits")
}

impl<M: Machine> fmt::Debug for Feed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::{Event, EventKind, Rooms};
    use turnstile_types::{Name, Timestamp};

    use super::*;

    type Feed = super::Feed<Rooms>;

    fn event(position: u64, ordinal: u32) -> Event {
        Event {
            position: Position(position),
            ordinal,
            at: Timestamp(position),
            kind: EventKind::Expired,
            property: Name::parse(b"grand").unwrap(),
            room: None,
            reference: None,
            stay: None,
            reason: None,
            from: None,
        }
    }

    fn id(position: u64, ordinal: u32) -> EventId {
        id_of::<Rooms>(&event(position, ordinal))
    }

    #[test]
    fn a_reader_resumes_after_the_event_it_saw_last() {
        let feed = Feed::with_capacity(Position(5), 4);
        for (position, ordinal) in [(6, 0), (9, 0), (9, 1), (11, 0)] {
            feed.publish([event(position, ordinal)]);
        }
        assert_eq!(feed.after(id(5, u32::MAX)), FeedStart::At(Place(0)));
        assert_eq!(feed.after(id(9, 0)), FeedStart::At(Place(2)));
        assert_eq!(
            feed.after(id(10, 3)),
            FeedStart::At(Place(3)),
            "nothing happened at 10"
        );
        assert_eq!(feed.after(id(99, 0)), FeedStart::At(feed.end()));
        let old = FeedStart::Elsewhere {
            first: id(6, 0),
            place: Place(0),
        };
        assert_eq!(feed.after(id(4, 0)), old, "before the process began");
        assert_eq!(
            feed.read(Place(2), |_| true),
            Reading::Events(vec![event(9, 1), event(11, 0)], Place(4))
        );
    }

    #[test]
    fn a_reader_that_is_overtaken_is_told_how_much_it_missed() {
        let feed = Feed::with_capacity(Position(0), 2);
        let begin = feed.end();
        assert_eq!(feed.after(id(0, 0)), FeedStart::At(begin));
        for position in 1..=5 {
            feed.publish([event(position, 0)]);
        }
        let missed = Reading::Missed {
            events: 3,
            first: id(4, 0),
            place: Place(3),
        };
        assert_eq!(feed.read(begin, |_| true), missed);
        assert_eq!(
            feed.after(id(2, 0)),
            FeedStart::Elsewhere {
                first: id(4, 0),
                place: Place(3)
            }
        );
        assert_eq!(feed.after(id(3, 0)), FeedStart::At(Place(3)));
    }

    #[test]
    fn a_feed_is_kept_while_it_is_followed_and_some_time_longer() {
        let feed = Feed::while_followed(Position(0), 4);
        assert!(!feed.is_kept());
        feed.publish([event(1, 0)]);
        feed.drop_up_to(Position(7));
        feed.follow();
        assert!(feed.is_kept());
        let place = feed.end();
        let late = FeedStart::Elsewhere {
            first: id(8, 0),
            place,
        };
        assert_eq!(
            feed.after(id(6, 0)),
            late,
            "what was dropped cannot be told"
        );
        assert_eq!(feed.after(id(7, u32::MAX)), FeedStart::At(place));
        feed.publish([event(9, 0)]);
        let read = Reading::Events(vec![event(9, 0)], Place(2));
        assert_eq!(feed.read(place, |_| true), read);
        feed.unfollow();
        for _ in 0..RESTS {
            feed.rest();
        }
        assert!(feed.is_kept());
        feed.rest();
        assert!(!feed.is_kept());
    }

    #[test]
    fn a_reading_passes_over_what_nobody_wants() {
        let feed = Feed::with_capacity(Position(0), 1_024);
        for position in 1..=300 {
            feed.publish([event(position, 0)]);
        }
        let last = |event: &Event| event.position == Position(300);
        let nothing = Reading::Events(Vec::new(), Place(256));
        assert_eq!(feed.read(Place(0), last), nothing);
        let found = Reading::Events(vec![event(300, 0)], Place(300));
        assert_eq!(feed.read(Place(256), last), found);
    }

    #[test]
    fn the_bell_rings_once_for_many_events_and_only_when_awaited() {
        let feed = Feed::new(Position(0));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut rung = std::pin::pin!(feed.rung());
            let mut poll = std::task::Context::from_waker(std::task::Waker::noop());
            feed.publish([event(1, 0)]);
            assert!(rung.as_mut().poll(&mut poll).is_pending(), "nobody waited");
            assert_eq!(feed.read(feed.end(), |_| true), Reading::Nothing);
            feed.publish([event(2, 0)]);
            assert!(rung.as_mut().poll(&mut poll).is_ready());
            feed.publish([event(3, 0)]);
            let mut again = std::pin::pin!(feed.rung());
            assert!(
                again.as_mut().poll(&mut poll).is_pending(),
                "told once already"
            );
        });
    }
}
