//! What the naive twin is too slow for: very many rooms, full limits.

use std::collections::BTreeMap;

use turnstile_rooms::{
    Answer, Block, Command, Cursor, Done, Outcome, Query, Reference, Refusal, Rooms, Wish, limits,
};
use turnstile_trial::context;
use turnstile_types::{Machine, Name, Night, Principal, Timestamp, hash_of};

use crate::scenery::{guest, id, name, stay};

struct House {
    rooms: Rooms,
    position: u64,
    now: u64,
}

impl House {
    fn new(open: bool) -> Self {
        let mut house = Self {
            rooms: Rooms::empty(),
            position: 0,
            now: 1_000,
        };
        let property = name("house");
        house.apply(&Command::AddProperty { property, open });
        house
    }

    fn apply(&mut self, command: &Command<'_>) -> Outcome {
        self.position += 1;
        let local = Principal::local();
        let context = context(self.position, self.now, &local);
        self.rooms.apply(&context, command)
    }

    fn add(&mut self, room: &str, room_type: &str) -> Outcome {
        self.apply(&Command::AddRoom {
            property: name("house"),
            room: name(room),
            room_type: name(room_type),
        })
    }

    /// Books for a night and returns the reference and the room.
    fn book(&mut self, wish: Wish, night: u16) -> (Reference, Name) {
        let command = Command::Book {
            property: name("house"),
            wish,
            stay: stay(night, 1),
            guest: guest("ada"),
            id: id(1),
        };
        match self.apply(&command) {
            Outcome::Done(Done::Booked { reference, room }) => (reference, room),
            other => panic!("a free room was not booked: {other:?}"),
        }
    }
}

/// The numbers from 0 up to a power of two, in a scattered order.
fn scattered(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |number| number.wrapping_mul(0x9e37_79b1) % count)
}

/// Rooms enough to fill the first large page of rows, of runs of five blocks, and of blocks; and looks
/// enough to bring them there.
#[test]
fn rooms_that_are_looked_for_until_they_lie_in_large_pages_are_what_they_were() {
    const ROOMS: u16 = 33_000;
    let mut house = House::new(true);
    let rooms: Vec<Name> = (0..ROOMS).map(|room| name(&format!("r{room}"))).collect();
    let mut newest = Vec::new();
    for night in [100, 120, 140, 160, 180] {
        let book = |&room: &Name| house.book(Wish::Room(room), night).0;
        newest = rooms.iter().map(book).collect();
    }
    for night in [180, 181] {
        for (room, booking) in rooms.iter().zip(&mut newest) {
            let cancelled = house.apply(&Command::Cancel {
                booking: *booking,
                id: id(1),
            });
            let (room, stay) = (*room, stay(night, 1));
            assert_eq!(cancelled, Outcome::Done(Done::Cancelled { room, stay }));
            *booking = house.book(Wish::Room(room), night + 1).0;
        }
    }
    assert_eq!(house.rooms.check(), Ok(()));
    let mut bytes = Vec::new();
    house.rooms.snapshot(&mut bytes);
    let restored = Rooms::restore(&bytes).unwrap();
    assert_eq!(hash_of(&restored), hash_of(&house.rooms));
}

#[test]
fn any_room_is_the_lowest_free_one_among_thousands_that_were_added() {
    let mut house = House::new(true);
    let booked: Vec<(Reference, u32)> = scattered(1 << 15)
        .map(|number| {
            let room = format!("-{number:012}");
            house.add(&room, "single");
            (house.book(Wish::Room(name(&room)), 100).0, number)
        })
        .collect();
    assert_eq!(
        house.book(Wish::Any, 100).1,
        name("1"),
        "all that were added are taken"
    );
    assert_eq!(
        house.book(Wish::Any, 101).1,
        name(&format!("-{:012}", 0)),
        "another night is free"
    );
    let mut freed = Vec::new();
    for &(booking, number) in booked.iter().step_by(1_000) {
        house.apply(&Command::Cancel { booking, id: id(1) });
        freed.push(number);
    }
    freed.sort_unstable();
    for number in freed {
        let expected = name(&format!("-{number:012}"));
        assert_eq!(house.book(Wish::Any, 100).1, expected);
    }
    assert_eq!(house.book(Wish::Any, 100).1, name("2"));
    house.book(Wish::Room(name("loose")), 200);
    assert_eq!(
        house.book(Wish::Any, 100).1,
        name("3"),
        "a room that nobody added is not searched"
    );
    house.add("-", "single");
    assert_eq!(
        house.book(Wish::Any, 100).1,
        name("-"),
        "a room that was added is free"
    );
    assert_eq!(house.rooms.check(), Ok(()));
}

#[test]
fn a_closed_property_has_ten_thousand_rooms_at_most() {
    let mut house = House::new(false);
    for number in 0..limits::ROOMS_PER_PROPERTY_MAX {
        let outcome = house.add(&number.to_string(), "single");
        assert_eq!(outcome, Outcome::Done(Done::RoomAdded));
    }
    let limit = limits::ROOMS_PER_PROPERTY_MAX;
    let refused = Outcome::Refused(Refusal::TooManyRooms { limit });
    assert_eq!(house.add("one-more", "single"), refused);
    let (property, room) = (name("house"), name("7"));
    house.apply(&Command::WithdrawRoom { property, room });
    assert_eq!(
        house.add("one-more", "single"),
        refused,
        "a withdrawn room is remembered"
    );
    assert_eq!(house.add("7", "single"), Outcome::Done(Done::RoomAdded));
    assert_eq!(house.rooms.check(), Ok(()));
}

#[test]
fn a_principal_has_a_thousand_open_holds_at_most() {
    let mut house = House::new(true);
    let mut hold = |now: u64| {
        house.now = now;
        house.apply(&Command::Hold {
            property: name("house"),
            wish: Wish::Any,
            stay: stay(100, 1),
            ttl_ms: 1_000,
        })
    };
    for _ in 0..limits::HOLDS_PER_PRINCIPAL_MAX {
        assert!(matches!(hold(1_000), Outcome::Done(Done::Held { .. })));
    }
    let limit = limits::HOLDS_PER_PRINCIPAL_MAX;
    assert_eq!(
        hold(1_999),
        Outcome::Refused(Refusal::TooManyHolds { limit })
    );
    assert!(
        matches!(hold(2_000), Outcome::Done(Done::Held { .. })),
        "the others expired"
    );
    let mut expired = 0;
    house.rooms.drain_events(&mut |event| {
        expired += u32::from(event.kind == turnstile_rooms::EventKind::Expired);
    });
    assert_eq!(expired, limits::HOLDS_PER_PRINCIPAL_MAX);
    assert_eq!(house.rooms.check(), Ok(()));
}

#[test]
fn an_explanation_names_the_first_thousand_blocks_and_the_room_that_is_free() {
    let mut house = House::new(false);
    let most = u32::try_from(limits::EXPLAINED_BLOCKS_MAX).unwrap();
    // Two bookings stand in the way in each room but the last, so that the limit falls between rooms,
    // and a third in the first one, so that it falls inside one.
    for number in 1..=most {
        house.add(&number.to_string(), "single");
        for night in [100, 101] {
            house.book(Wish::Room(name(&number.to_string())), night);
        }
    }
    house.add(&(most + 1).to_string(), "single");
    let explain = |house: &House, nights: u16| {
        let query = Query::Explain {
            property: name("house"),
            wish: Wish::Any,
            stay: stay(100, nights),
        };
        let now = Timestamp(house.now);
        match house.rooms.query(now, &Principal::local(), &query) {
            Answer::Explanation(explanation) => explanation,
            other => panic!("an explanation, not {other:?}"),
        }
    };
    let room_of = |block: &Block| match block {
        Block::Booking { room, .. } => *room,
        other => panic!("a booking, not {other:?}"),
    };
    let found = explain(&house, 3);
    assert_eq!(found.would_get, Some(name(&(most + 1).to_string())));
    assert_eq!(found.blocks.len(), limits::EXPLAINED_BLOCKS_MAX);
    let last = found.blocks.last().map(room_of);
    assert_eq!(last, Some(name(&(most / 2).to_string())));
    house.book(Wish::Room(name("1")), 102);
    let found = explain(&house, 3);
    assert_eq!(found.blocks.len(), limits::EXPLAINED_BLOCKS_MAX);
    let last_two: Vec<Name> = found.blocks.iter().rev().take(2).map(room_of).collect();
    let half = most / 2;
    assert_eq!(
        last_two,
        [name(&half.to_string()), name(&(half - 1).to_string())]
    );
}

/// One page looks at ten thousand rooms; the next one goes on behind them.
#[test]
fn a_listing_of_many_empty_rooms_comes_in_short_pages() {
    let mut house = House::new(true);
    for number in 0..25_000 {
        let room = name(&number.to_string());
        let (property, stay) = (name("house"), stay(50, 1));
        house.apply(&Command::StopSell {
            property,
            room,
            stay,
            stopped: true,
        });
    }
    for number in [9_999, 10_000, 24_999] {
        house.book(Wish::Room(name(&number.to_string())), 100);
    }
    let [first, second, third] = ["9999", "10000", "24999"].map(|room| vec![name(room)]);
    assert_eq!(pages_of(&house), [first, second, third]);
}

/// The rooms of the first part are passed once more in the second, which counts.
#[test]
fn a_listing_of_added_and_loose_rooms_shows_each_once_in_short_pages() {
    let mut house = House::new(true);
    house.book(Wish::Room(name("late")), 100);
    for number in 0..15_000 {
        house.add(&format!("b{number}"), "single");
    }
    for room in ["early", "b9999", "b10000", "b0"] {
        house.book(Wish::Room(name(room)), 100);
    }
    let pages = [
        vec!["b0", "b9999"],
        vec!["b10000", "late"],
        vec![],
        vec!["early"],
    ];
    let pages = pages.map(|page| page.into_iter().map(name).collect::<Vec<_>>());
    assert_eq!(pages_of(&house), pages);
}

/// A page once walked past all newer bookings of the guest.
#[test]
fn a_page_of_a_guest_with_many_bookings_begins_where_its_cursor_says_after_cancellations_and_moves()
{
    const BOOKINGS: u16 = 2_000;
    let mut house = House::new(true);
    let mut booked = BTreeMap::new();
    for night in 0..BOOKINGS {
        let (reference, _) = house.book(Wish::Room(name("1")), night);
        booked.insert(house.position, reference);
    }
    for (number, (position, booking)) in booked.clone().into_iter().enumerate() {
        let number = u16::try_from(number).unwrap();
        let outcome = match number % 256 {
            255 | 0..64 => house.apply(&Command::Cancel { booking, id: id(1) }),
            100..103 => house.apply(&Command::Move {
                booking,
                id: id(1),
                wish: Wish::Room(name("2")),
                stay: stay(number, 1),
            }),
            _ => continue,
        };
        booked.remove(&position);
        if let Outcome::Done(Done::Moved { .. }) = outcome {
            booked.insert(house.position, booking);
        }
    }
    assert_eq!(house.rooms.check(), Ok(()));
    let mut bytes = Vec::new();
    house.rooms.snapshot(&mut bytes);
    let restored = Rooms::restore(&bytes).unwrap();
    for cursor in 0..=house.position + 1 {
        let query = Query::Guest {
            id: id(1),
            cursor: Some(Cursor(cursor)),
            limit: 2,
        };
        let older: Vec<_> = booked.range(..cursor).rev().take(3).collect();
        let shown: Vec<Reference> = older.iter().take(2).map(|&(_, &booking)| booking).collect();
        let next = older.get(1).filter(|_| older.len() == 3);
        let expected = (shown, next.map(|&(&position, _)| Cursor(position)));
        for rooms in [&house.rooms, &restored] {
            let answer = rooms.query(Timestamp(house.now), &Principal::local(), &query);
            let Answer::Page(page) = answer else {
                panic!("not a page: {answer:?}");
            };
            let entries = page.entries.iter().map(|entry| entry.reference);
            assert_eq!((entries.collect(), page.next), expected, "{cursor}");
        }
    }
}

/// The rooms of each page of a whole listing.
fn pages_of(house: &House) -> Vec<Vec<Name>> {
    let mut pages = Vec::new();
    let mut cursor: Option<Cursor> = None;
    loop {
        let query = Query::List {
            property: name("house"),
            room: None,
            from: Night::from_days(0),
            to: Night::from_days(u16::MAX),
            cursor,
            limit: 10,
        };
        let answer = house
            .rooms
            .query(Timestamp(house.now), &Principal::local(), &query);
        let Answer::Page(page) = answer else {
            panic!("not a page: {answer:?}");
        };
        let rooms: Vec<Name> = page.entries.iter().map(|entry| entry.room).collect();
        pages.push(rooms);
        cursor = page.next;
        if cursor.is_none() {
            return pages;
        }
    }
}
