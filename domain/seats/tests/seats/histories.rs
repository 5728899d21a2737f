//! Random histories through the machine and its naive twin: equal outcomes, events and answers after
//! every step, and a sound state.

use proptest::{collection::vec, option, prelude::*, sample::select};
use turnstile_chassis::{Countable, Served};
use turnstile_seats::{
    Answer, BookingNumber, Choice, Command, Cursor, Outcome, Query, SeatNumber, SeatNumbers, Seats,
};
use turnstile_trial::{bytes_of, context};
use turnstile_types::{Machine, Name, Principal, Timestamp};

use crate::{
    scenery::{name, section, up_to},
    twin::Twin,
};

const START: u64 = 1_000_000;

#[derive(Clone, Debug)]
enum Act {
    Do(Command),
    Ask(Query),
    /// A listing, page by page.
    Leaf(Query),
    Tick,
}

#[derive(Clone, Debug)]
struct Step {
    wait_ms: u64,
    principal: Principal,
    act: Act,
}

fn shows() -> impl Strategy<Value = Name> {
    select(vec!["gala", "gala", "gala", "revue", "opera"]).prop_map(name)
}

fn sections() -> impl Strategy<Value = Name> {
    select(vec!["stalls", "stalls", "boxes", "balcony"]).prop_map(name)
}

fn buyers() -> impl Strategy<Value = Name> {
    select(vec!["ann", "bob"]).prop_map(name)
}

fn bookings() -> impl Strategy<Value = BookingNumber> {
    (0..14_u64).prop_map(BookingNumber)
}

fn choices() -> impl Strategy<Value = Choice> {
    let seat = (1..4_u16, 1..7_u16).prop_map(|(row, number)| SeatNumber { row, number });
    let named = vec(seat, 1..4).prop_filter_map("seats that are named once", |seats| {
        SeatNumbers::new(seats).ok().map(Choice::Named)
    });
    prop_oneof![
        named,
        (1..7_u16).prop_map(|count| Choice::Best(up_to(count))),
    ]
}

fn commands() -> impl Strategy<Value = Command> {
    prop_oneof![
        1 => (shows(), 0..200_u64).prop_map(|(show, seconds)| Command::AddShow {
            show,
            begins: Timestamp(START + seconds * 1_000),
        }),
        1 => (shows(), sections(), 1..4_u16, 1..6_u16).prop_map(|(show, section, rows, seats)| {
            Command::AddSection { show, section, rows: up_to(rows), row_seats: up_to(seats) }
        }),
        1 => (shows(), any::<bool>()).prop_map(|(show, closed)| Command::CloseSale { show, closed }),
        12 => (shows(), sections(), choices(), buyers()).prop_map(|(show, section, seats, buyer)| {
            Command::Book { show, section, seats, buyer }
        }),
        8 => (shows(), sections(), choices(), 1..90_u16).prop_map(|(show, section, seats, ttl)| {
            Command::Hold { show, section, seats, ttl_seconds: up_to(ttl) }
        }),
        5 => (bookings(), buyers()).prop_map(|(hold, buyer)| Command::Confirm { hold, buyer }),
        3 => bookings().prop_map(|hold| Command::Release { hold }),
        5 => (bookings(), buyers()).prop_map(|(booking, buyer)| Command::Cancel { booking, buyer }),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    let cursors = || option::of(prop_oneof![0..20_u64, Just(u64::MAX)].prop_map(Cursor));
    prop_oneof![
        bookings().prop_map(|reference| Query::LookUp { reference }),
        (shows(), cursors(), 1..4_u16).prop_map(|(show, cursor, limit)| Query::List {
            show,
            cursor,
            limit,
        }),
        (shows(), option::of(sections()))
            .prop_map(|(show, section)| Query::Availability { show, section }),
        (shows(), sections()).prop_map(|(show, section)| Query::Map { show, section }),
        (cursors(), 1..3_u16).prop_map(|(cursor, limit)| Query::Shows { cursor, limit }),
        Just(Query::Totals),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        12 => commands().prop_map(Act::Do),
        4 => queries().prop_map(Act::Ask),
        1 => queries().prop_map(Act::Leaf),
        1 => Just(Act::Tick),
    ];
    let waits = select(vec![0, 0, 1, 999, 1_000, 10_000, 60_000]);
    let principals = select(vec![Principal::local(), Principal(name("shop"))]);
    (waits, principals, act).prop_map(|(wait_ms, principal, act)| Step {
        wait_ms,
        principal,
        act,
    })
}

/// The machine and its twin, and where they are in their history.
struct Pair {
    fast: Seats,
    slow: Twin,
    position: u64,
    now: u64,
}

impl Pair {
    /// With a show of two sections, which begins in ten minutes.
    fn new() -> Self {
        let mut pair = Self {
            fast: Seats::empty(),
            slow: Twin::default(),
            position: 0,
            now: START,
        };
        let local = Principal::local();
        let show = Command::AddShow {
            show: name("gala"),
            begins: Timestamp(START + 600_000),
        };
        for command in [
            show,
            section("gala", "stalls", 3, 6),
            section("gala", "boxes", 2, 3),
        ] {
            pair.apply(&local, &command);
        }
        pair.compare();
        pair
    }

    fn step(&mut self, step: &Step) {
        self.now += step.wait_ms;
        match &step.act {
            Act::Do(command) => self.apply(&step.principal, command),
            Act::Ask(query) => {
                self.ask(query);
            }
            Act::Leaf(query) => self.leaf(*query),
            Act::Tick => {
                self.position += 1;
                let context = context(self.position, self.now, &step.principal);
                self.fast.tick(&context);
                self.slow.tick(&context);
            }
        }
        self.compare();
    }

    fn apply(&mut self, principal: &Principal, command: &Command) {
        self.position += 1;
        let context = context(self.position, self.now, principal);
        let before = self.fast.next_deadline();
        let untouched = before.is_none_or(|deadline| deadline > context.now);
        let state = untouched.then(|| bytes_of(&self.fast));
        let outcome = self.fast.apply(&context, command);
        assert_eq!(outcome, self.slow.apply(&context, command), "{command:?}");
        if let (Outcome::Refused(_), Some(state)) = (outcome, state) {
            assert_eq!(bytes_of(&self.fast), state, "a refusal changes nothing");
        }
    }

    fn ask(&mut self, query: &Query) -> Answer {
        let local = Principal::local();
        let answer = self.fast.query(Timestamp(self.now), &local, query);
        assert_eq!(answer, self.slow.query(query), "{query:?}");
        answer
    }

    fn leaf(&mut self, mut query: Query) {
        loop {
            let next = match self.ask(&query) {
                Answer::Page { next, .. } | Answer::Shows { next, .. } => next,
                _ => None,
            };
            if next.is_none() {
                return;
            }
            match &mut query {
                Query::List { cursor, .. } | Query::Shows { cursor, .. } => *cursor = next,
                _ => unreachable!("only listings have another page"),
            }
        }
    }

    fn compare(&mut self) {
        assert_eq!(self.fast.check(), Ok(()));
        assert_eq!(self.fast.next_deadline(), self.slow.next_deadline());
        for principal in [Principal::local(), Principal(name("shop"))] {
            let open = self.fast.open_of(&principal, Countable::Holds);
            assert_eq!(open as usize, self.slow.holds_of(&principal));
        }
        let mut events = Vec::new();
        self.fast.drain_events(&mut |event| events.push(event));
        assert_eq!(events, std::mem::take(&mut self.slow.events));
    }

    /// Goes on with a machine that was read from its snapshot.
    fn restore(&mut self) {
        let bytes = bytes_of(&self.fast);
        self.fast = Seats::restore(&bytes).unwrap();
        assert_eq!(bytes_of(&self.fast), bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_machine_and_its_twin_agree_on_every_step(
        steps in vec(steps(), 1..70),
        restored in 0..70_usize,
    ) {
        let mut pair = Pair::new();
        for (number, step) in steps.iter().enumerate() {
            if number == restored {
                pair.restore();
            }
            pair.step(step);
        }
        for show in ["gala", "revue", "opera"].map(name) {
            pair.ask(&Query::List { show, cursor: None, limit: 100 });
            pair.ask(&Query::Availability { show, section: None });
        }
        pair.ask(&Query::Totals);
    }
}
