//! Random histories through the machine and its naive twin: equal outcomes, events, answers and
//! states after every step.

use proptest::{collection::vec, prelude::*, sample::select};
use turnstile_rooms::{Command, Cursor, GuestId, Outcome, Query, Reference, Rooms, Wish, limits};
use turnstile_trial::{bytes_of, context};
use turnstile_types::{Machine, Name, Night, Principal, Stay, Timestamp};

use crate::{
    pieces::check_pieces,
    scenery::{guest, id, name, reason, stay},
    twin::Twin,
};

/// A command with everything it borrows left out, so that it can be drawn and shrunk.
#[derive(Clone, Debug)]
enum Order {
    Do(Command<'static>),
    /// A command about the entry that some earlier command made, counted from the last.
    About(usize, About),
    Ask(Query),
    /// Asks a listing from its first to its last page.
    Leaf(Query),
    Tick,
}

#[derive(Clone, Debug)]
enum About {
    Extend(u32),
    Confirm(GuestId),
    Release,
    Cancel(GuestId),
    CancelForGuest,
    Move(Wish, Stay, GuestId),
    LookUp,
}

#[derive(Clone, Debug)]
struct Step {
    /// How long after the step before, in milliseconds.
    wait_ms: u64,
    principal: Principal,
    order: Order,
}

/// What histories are about.
#[derive(Clone, Debug)]
struct Universe {
    properties: Vec<Name>,
    rooms: Vec<Name>,
    types: Vec<Name>,
}

fn small() -> Universe {
    Universe {
        properties: ["grand", "open-house"].map(name).to_vec(),
        rooms: ["1", "2", "10", "01", "a-9", "a-10", LONG]
            .map(name)
            .to_vec(),
        types: ["open", "single"].map(name).to_vec(),
    }
}

/// A name that does not fit beside its room.
const LONG: &str = "the-room-at-the-end-of-the-long-corridor-on-the-7th-floor";

fn names(names: &[Name]) -> impl Strategy<Value = Name> + use<> {
    select(names.to_vec())
}

fn stays() -> impl Strategy<Value = Stay> {
    // Around the ends of blocks of 15 nights and of pages of 32.
    let nights = prop_oneof![8 => 1..4_u16, 1 => Just(30), 1 => Just(90)];
    (26..34_u16, nights).prop_map(|(arrival, nights)| stay(arrival, nights))
}

fn ids() -> impl Strategy<Value = GuestId> {
    // The last two have the same seal: they are still two guests.
    select(vec![
        id(1),
        id(2),
        GuestId {
            last_four: 3,
            ..id(2)
        },
    ])
}

fn ttls() -> impl Strategy<Value = u32> {
    let max = limits::HOLD_TTL_MS_MAX;
    prop_oneof![6 => select(vec![1, 1_000, max]), 1 => select(vec![0, max + 1])]
}

fn waits() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => select(vec![0, 1, 999, 1_000]),
        2 => select(vec![600_000, 900_000, 1_800_000]),
        1 => Just(limits::LATE_CONFIRM_MS),
    ]
}

fn wishes(universe: &Universe) -> impl Strategy<Value = Wish> + use<> {
    prop_oneof![
        3 => names(&universe.rooms).prop_map(Wish::Room),
        2 => names(&universe.types).prop_map(Wish::Type),
        2 => Just(Wish::Any),
    ]
}

fn commands(universe: &Universe) -> impl Strategy<Value = Command<'static>> + use<> {
    let property = || names(&universe.properties);
    let room = || names(&universe.rooms);
    prop_oneof![
        1 => (property(), any::<bool>())
            .prop_map(|(property, open)| Command::AddProperty { property, open }),
        3 => (property(), room(), names(&universe.types)).prop_map(
            |(property, room, room_type)| Command::AddRoom { property, room, room_type }
        ),
        1 => (property(), room())
            .prop_map(|(property, room)| Command::WithdrawRoom { property, room }),
        2 => (property(), room(), stays(), any::<bool>()).prop_map(
            |(property, room, stay, stopped)| Command::StopSell { property, room, stay, stopped }
        ),
        6 => (property(), wishes(universe), stays(), ids()).prop_map(
            |(property, wish, stay, id)| Command::Book {
                property,
                wish,
                stay,
                guest: guest("ada"),
                id,
            }
        ),
        4 => (property(), wishes(universe), stays(), ttls()).prop_map(
            |(property, wish, stay, ttl_ms)| Command::Hold { property, wish, stay, ttl_ms }
        ),
        1 => (0..4_u32, 0..3_u32).prop_map(|(slot, generation)| Command::Cancel {
            booking: Reference { slot, generation },
            id: id(1),
        }),
        1 => (0..4_u32, 0..3_u32).prop_map(|(slot, generation)| Command::CancelForGuest {
            booking: Reference { slot, generation },
            reason: reason("the house is closed"),
        }),
    ]
}

fn abouts(universe: &Universe) -> impl Strategy<Value = About> + use<> {
    prop_oneof![
        2 => ttls().prop_map(About::Extend),
        3 => ids().prop_map(About::Confirm),
        1 => Just(About::Release),
        4 => ids().prop_map(About::Cancel),
        2 => Just(About::CancelForGuest),
        6 => (wishes(universe), stays(), ids())
            .prop_map(|(wish, stay, id)| About::Move(wish, stay, id)),
        1 => Just(About::LookUp),
    ]
}

fn cursors() -> impl Strategy<Value = Option<Cursor>> {
    let place = (0..12_u64, 0..2_u64, 20..40_u64)
        .prop_map(|(room, loose, night)| room << 32 | loose << 16 | night);
    let hostile = select(vec![
        0,
        1,
        u64::MAX,
        u64::MAX - 1,
        1 << 32 | 0xffff,
        1 << 16,
        1 << 17,
    ]);
    prop_oneof![
        4 => Just(None),
        1 => place.prop_map(|place| Some(Cursor(place))),
        1 => (0..60_u64).prop_map(|position| Some(Cursor(position))),
        1 => hostile.prop_map(|cursor| Some(Cursor(cursor))),
    ]
}

fn queries(universe: &Universe) -> impl Strategy<Value = Query> + use<> {
    let property = || names(&universe.properties);
    let night = || (20..44_u16).prop_map(Night::from_days);
    let rooms = proptest::option::of(names(&universe.rooms));
    let list = (property(), rooms, night(), night(), cursors(), 1..4_u16).prop_map(
        |(property, room, from, to, cursor, limit)| Query::List {
            property,
            room,
            from,
            to,
            cursor,
            limit,
        },
    );
    let types = proptest::option::of(names(&universe.types));
    prop_oneof![
        (0..6_u32, 0..3_u32).prop_map(|(slot, generation)| Query::LookUp {
            reference: Reference { slot, generation },
        }),
        list,
        (ids(), cursors(), 1..4_u16).prop_map(|(id, cursor, limit)| Query::Guest {
            id,
            cursor,
            limit
        }),
        (cursors(), 1..4_u16).prop_map(|(cursor, limit)| Query::Holds { cursor, limit }),
        (property(), types, stays()).prop_map(|(property, room_type, stay)| {
            Query::Availability {
                property,
                room_type,
                stay,
            }
        }),
        (property(), wishes(universe), stays()).prop_map(|(property, wish, stay)| {
            Query::Explain {
                property,
                wish,
                stay,
            }
        }),
        (cursors(), 1..3_u16).prop_map(|(cursor, limit)| Query::Properties { cursor, limit }),
        Just(Query::Totals),
        (property(), cursors(), 1..4_u16).prop_map(|(property, cursor, limit)| {
            Query::ListRooms {
                property,
                cursor,
                limit,
            }
        }),
        (property(), stays(), cursors(), 1..4_u16).prop_map(|(property, stay, cursor, limit)| {
            Query::ListStopSells {
                property,
                stay,
                cursor,
                limit,
            }
        }),
    ]
}

fn steps(universe: &Universe) -> impl Strategy<Value = Step> + use<> {
    let order = prop_oneof![
        10 => commands(universe).prop_map(Order::Do),
        6 => (0..6_usize, abouts(universe)).prop_map(|(back, about)| Order::About(back, about)),
        4 => queries(universe).prop_map(Order::Ask),
        1 => queries(universe).prop_map(Order::Leaf),
        1 => Just(Order::Tick),
    ];
    let principal = select(vec![Principal::local(), Principal(name("shop"))]);
    (waits(), principal, order).prop_map(|(wait_ms, principal, order)| Step {
        wait_ms,
        principal,
        order,
    })
}

/// The machine and its twin, and where they are in their history.
struct Pair {
    fast: Rooms,
    slow: Twin,
    position: u64,
    now: u64,
    made: Vec<Reference>,
}

impl Pair {
    fn new() -> Self {
        Self {
            fast: Rooms::empty(),
            slow: Twin::default(),
            position: 0,
            now: 1_000_000,
            made: Vec::new(),
        }
    }

    /// Opens both properties, with some rooms in the first.
    fn furnish(&mut self, rooms: &[Name]) {
        let local = Principal::local();
        for (property, open) in [("grand", false), ("open-house", true)] {
            let property = name(property);
            self.apply(&local, &Command::AddProperty { property, open });
        }
        for (&room, kind) in rooms.iter().zip(["single", "double"].into_iter().cycle()) {
            let (property, room_type) = (name("grand"), name(kind));
            let command = Command::AddRoom {
                property,
                room,
                room_type,
            };
            self.apply(&local, &command);
        }
    }

    fn step(&mut self, step: &Step) {
        self.now += step.wait_ms;
        match &step.order {
            Order::Do(command) => self.apply(&step.principal, command),
            Order::About(back, about) => {
                let made = self.made.iter().rev().nth(*back).copied();
                let reference = made.unwrap_or(Reference {
                    slot: 0,
                    generation: 0,
                });
                self.about(&step.principal, reference, about);
            }
            Order::Ask(query) => {
                self.ask(&step.principal, query);
            }
            Order::Leaf(query) => self.leaf(&step.principal, *query),
            Order::Tick => {
                self.position += 1;
                let context = context(self.position, self.now, &step.principal);
                self.fast.tick(&context);
                self.slow.tick(&context);
            }
        }
        self.compare();
    }

    fn about(&mut self, principal: &Principal, reference: Reference, about: &About) {
        let command = match *about {
            About::Extend(ttl_ms) => Command::Extend {
                hold: reference,
                ttl_ms,
            },
            About::Confirm(id) => Command::Confirm {
                hold: reference,
                guest: guest("Grace Hopper, who has a rather long name"),
                id,
            },
            About::Release => Command::Release { hold: reference },
            About::Cancel(id) => Command::Cancel {
                booking: reference,
                id,
            },
            About::CancelForGuest => Command::CancelForGuest {
                booking: reference,
                reason: reason("guest phoned"),
            },
            About::Move(wish, stay, id) => Command::Move {
                booking: reference,
                wish,
                stay,
                id,
            },
            About::LookUp => {
                self.ask(principal, &Query::LookUp { reference });
                return;
            }
        };
        self.apply(principal, &command);
    }

    fn apply(&mut self, principal: &Principal, command: &Command<'_>) {
        self.position += 1;
        let context = context(self.position, self.now, principal);
        self.fast.prefetch(command);
        let before = self.fast.next_deadline();
        let untouched = before.is_none_or(|deadline| deadline > context.now);
        let state = untouched.then(|| bytes_of(&self.fast));
        let outcome = self.fast.apply(&context, command);
        assert_eq!(outcome, self.slow.apply(&context, command), "{command:?}");
        match outcome {
            Outcome::Done(
                turnstile_rooms::Done::Booked { reference, .. }
                | turnstile_rooms::Done::Held { reference, .. },
            ) => self.made.push(reference),
            Outcome::Done(_) => {}
            Outcome::Refused(_) => {
                if let Some(state) = state {
                    assert_eq!(bytes_of(&self.fast), state, "a refusal changes nothing");
                }
            }
        }
    }

    fn ask(&mut self, principal: &Principal, query: &Query) -> turnstile_rooms::Answer {
        let answer = self.fast.query(Timestamp(self.now), principal, query);
        let expected = self.slow.query(Timestamp(self.now), principal, query);
        assert_eq!(answer, expected, "{query:?}");
        answer
    }

    fn leaf(&mut self, principal: &Principal, mut query: Query) {
        loop {
            let next = match self.ask(principal, &query) {
                turnstile_rooms::Answer::Page(page) => page.next,
                turnstile_rooms::Answer::Properties { next, .. }
                | turnstile_rooms::Answer::Rooms { next, .. }
                | turnstile_rooms::Answer::StopSells { next, .. } => next,
                _ => None,
            };
            if next.is_none() {
                return;
            }
            match &mut query {
                Query::List { cursor, .. }
                | Query::Guest { cursor, .. }
                | Query::Holds { cursor, .. }
                | Query::Properties { cursor, .. }
                | Query::ListRooms { cursor, .. }
                | Query::ListStopSells { cursor, .. } => *cursor = next,
                _ => unreachable!("only listings have another page"),
            }
        }
    }

    fn compare(&mut self) {
        assert_eq!(self.fast.check(), Ok(()));
        assert_eq!(self.fast.next_deadline(), self.slow.next_deadline());
        let mut events = Vec::new();
        self.fast.drain_events(&mut |event| events.push(event));
        assert_eq!(events, std::mem::take(&mut self.slow.events));
        assert_eq!(bytes_of(&self.fast), self.slow.snapshot());
    }

    /// Takes the state apart as it is now, as it is when open holds are over, and when they are
    /// forgotten.
    fn take_apart(&self) {
        for later in [0, limits::HOLD_TTL_MS_MAX.into(), limits::LATE_CONFIRM_MS] {
            check_pieces(&self.fast, Timestamp(self.now + later));
        }
    }

    /// Goes on with a machine that was read from its snapshot.
    fn restore(&mut self) {
        let bytes = bytes_of(&self.fast);
        self.fast = Rooms::restore(&bytes).unwrap();
        assert_eq!(bytes_of(&self.fast), bytes);
    }
}

fn configuration(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(configuration(2_000))]

    #[test]
    fn the_machine_and_its_twin_agree_on_every_step(
        steps in vec(steps(&small()), 1..70),
        restored in 0..70_usize,
    ) {
        let mut pair = Pair::new();
        pair.furnish(&[name("1"), name("2"), name("10")]);
        pair.compare();
        for (number, step) in steps.iter().enumerate() {
            if number == restored {
                pair.restore();
            }
            pair.step(step);
        }
        pair.take_apart();
    }
}

/// So many rooms that shelves split and fill, added in any order.
fn large() -> Universe {
    Universe {
        properties: ["grand", "open-house"].map(name).to_vec(),
        rooms: (0..300).map(|number| name(&format!("r{number}"))).collect(),
        types: ["open", "single", "double"].map(name).to_vec(),
    }
}

proptest! {
    #![proptest_config(configuration(60))]

    #[test]
    fn the_machine_and_its_twin_agree_in_a_large_house(
        rooms in Just(large().rooms).prop_shuffle(),
        steps in vec(steps(&large()), 1..60),
        restored in 0..60_usize,
    ) {
        let mut pair = Pair::new();
        pair.furnish(&rooms[..200]);
        pair.compare();
        for (number, step) in steps.iter().enumerate() {
            if number == restored {
                pair.restore();
            }
            pair.step(step);
        }
        pair.take_apart();
    }
}
