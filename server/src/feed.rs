//! The last events, for those who follow: a ring that the loop writes and streams read.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use turnstile_http::EventId;
use turnstile_rooms::Event;
use turnstile_types::Position;

/// How many events are kept for those who come back: some seconds at full speed, hours in a hotel.
const EVENTS_KEPT: usize = 65_536;

/// The most events that one reading takes: the lock is held for some microseconds only.
const EVENTS_AT_ONCE: usize = 256;

/// The last events of the service, oldest first.
///
/// The loop writes, streams read; both hold the lock for a short copy. A reader that finds nothing
/// leaves its mark, and only then does the next event wake somebody: publishing costs a lock and a
/// copy when nobody waits, and one wake-up for any number of events when somebody does.
pub struct Feed {
    ring: Mutex<Ring>,
    bell: Notify,
}

struct Ring {
    events: VecDeque<Event>,
    capacity: usize,
    /// The number of the first event in the ring; events are numbered from 0 since the start.
    first: u64,
    /// The last event that is not in the ring any more: those up to it cannot be told.
    lost: EventId,
    /// Somebody found nothing and waits.
    awaited: bool,
}

/// A place in the feed of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u64);

/// What a reading gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Events, oldest first, and the place after them.
    Events(Vec<Event>, Place),
    /// The reader is at the end; the bell will ring.
    Nothing,
    /// The reader was too slow: so many events are gone, and the feed goes on at this one.
    Missed {
        events: u64,
        first: EventId,
        place: Place,
    },
}

/// Where a reader that comes back begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    At(Place),
    /// What it wants is gone; the feed begins with this event.
    TooOld {
        first: EventId,
        place: Place,
    },
}

impl Feed {
    /// A feed whose first event will come after the position `begin`: what was before is not kept.
    #[must_use]
    pub fn new(begin: Position) -> Self {
        Self::with_capacity(begin, EVENTS_KEPT)
    }

    fn with_capacity(begin: Position, capacity: usize) -> Self {
        let ordinal = if begin == Position(0) { 0 } else { u32::MAX };
        let ring = Ring {
            events: VecDeque::with_capacity(capacity),
            capacity,
            first: 0,
            lost: EventId {
                position: begin,
                ordinal,
            },
            awaited: false,
        };
        Self {
            ring: Mutex::new(ring),
            bell: Notify::new(),
        }
    }

    /// Adds an event of a committed group. Allocates nothing.
    pub fn publish(&self, event: Event) {
        let mut ring = self.lock();
        if ring.events.len() == ring.capacity
            && let Some(oldest) = ring.events.pop_front()
        {
            ring.first += 1;
            ring.lost = EventId::of(&oldest);
        }
        ring.events.push_back(event);
        let awaited = std::mem::take(&mut ring.awaited);
        drop(ring);
        if awaited {
            self.bell.notify_one();
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

    /// The place after the event `last`.
    pub(crate) fn after(&self, last: EventId) -> Start {
        let ring = self.lock();
        if last < ring.lost {
            return Start::TooOld {
                first: ring.first_id(),
                place: Place(ring.first),
            };
        }
        let told = ring
            .events
            .partition_point(|event| EventId::of(event) <= last);
        Start::At(Place(ring.first + number(told)))
    }

    /// The events from a place on.
    pub(crate) fn read(&self, from: Place) -> Reading {
        let mut ring = self.lock();
        if from.0 < ring.first {
            return Reading::Missed {
                events: ring.first - from.0,
                first: ring.first_id(),
                place: Place(ring.first),
            };
        }
        if from == ring.end() {
            ring.awaited = true;
            return Reading::Nothing;
        }
        let skipped = usize::try_from(from.0 - ring.first).expect("a place is inside the ring");
        let events: Vec<Event> = ring
            .events
            .iter()
            .skip(skipped)
            .take(EVENTS_AT_ONCE)
            .copied()
            .collect();
        let place = Place(from.0 + number(events.len()));
        Reading::Events(events, place)
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn end(&self) -> Place {
        Place(self.first + number(self.events.len()))
    }

    /// The oldest event that can be told, or the one that would be next.
    fn first_id(&self) -> EventId {
        let next = EventId {
            position: self.lost.position.next(),
            ordinal: 0,
        };
        self.events.front().map_or(next, EventId::of)
    }
}

fn number(length: usize) -> u64 {
    u64::try_from(length).expect("a length fits 64 bits")
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::EventKind;
    use turnstile_types::{Name, Timestamp};

    use super::*;

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
        }
    }

    fn id(position: u64, ordinal: u32) -> EventId {
        EventId::of(&event(position, ordinal))
    }

    #[test]
    fn a_reader_resumes_after_the_event_it_saw_last() {
        let feed = Feed::with_capacity(Position(5), 4);
        for (position, ordinal) in [(6, 0), (9, 0), (9, 1), (11, 0)] {
            feed.publish(event(position, ordinal));
        }
        assert_eq!(feed.after(id(5, u32::MAX)), Start::At(Place(0)));
        assert_eq!(feed.after(id(9, 0)), Start::At(Place(2)));
        assert_eq!(
            feed.after(id(10, 3)),
            Start::At(Place(3)),
            "nothing happened at 10"
        );
        assert_eq!(feed.after(id(99, 0)), Start::At(feed.end()));
        let old = Start::TooOld {
            first: id(6, 0),
            place: Place(0),
        };
        assert_eq!(feed.after(id(4, 0)), old, "before the process began");
        assert_eq!(
            feed.read(Place(2)),
            Reading::Events(vec![event(9, 1), event(11, 0)], Place(4))
        );
    }

    #[test]
    fn a_reader_that_is_overtaken_is_told_how_much_it_missed() {
        let feed = Feed::with_capacity(Position(0), 2);
        let begin = feed.end();
        assert_eq!(feed.after(id(0, 0)), Start::At(begin));
        for position in 1..=5 {
            feed.publish(event(position, 0));
        }
        let missed = Reading::Missed {
            events: 3,
            first: id(4, 0),
            place: Place(3),
        };
        assert_eq!(feed.read(begin), missed);
        assert_eq!(
            feed.after(id(2, 0)),
            Start::TooOld {
                first: id(4, 0),
                place: Place(3)
            }
        );
        assert_eq!(feed.after(id(3, 0)), Start::At(Place(3)));
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
            feed.publish(event(1, 0));
            assert!(rung.as_mut().poll(&mut poll).is_pending(), "nobody waited");
            assert_eq!(feed.read(feed.end()), Reading::Nothing);
            feed.publish(event(2, 0));
            assert!(rung.as_mut().poll(&mut poll).is_ready());
            feed.publish(event(3, 0));
            let mut again = std::pin::pin!(feed.rung());
            assert!(
                again.as_mut().poll(&mut poll).is_pending(),
                "told once already"
            );
        });
    }
}
