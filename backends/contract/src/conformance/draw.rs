//! Random commands and queries that conflict often.

use turnstile_rooms::{
    Command, GuestId, GuestName, IdKey, IdNumber, Query, Reference, Wish, limits,
};
use turnstile_seed::Random;
use turnstile_types::{Name, Night, Principal, Stay};

const PROPERTIES: [&str; 2] = ["grand", "open-house"];
const ROOMS: [&str; 6] = ["1", "2", "10", "01", "a-9", "a-10"];
const TYPES: [&str; 3] = ["single", "double", "open"];
const PRINCIPALS: [&str; 2] = ["local", "shop"];
const WAITS_MS: [u64; 8] = [0, 0, 1, 999, 1_000, 60_000, 900_000, 1_800_000];

/// A reference that no back end gives: it would be the last of all.
const NOBODYS: Reference = Reference {
    slot: u32::MAX - 1,
    generation: i32::MAX as u32,
};

pub(super) fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a name of the suite")
}

pub(super) fn principal(random: &mut Random) -> Principal {
    Principal(name(random.pick(&PRINCIPALS)))
}

pub(super) fn principals() -> impl Iterator<Item = Principal> {
    PRINCIPALS
        .into_iter()
        .map(|principal| Principal(name(principal)))
}

pub(super) fn properties() -> impl Iterator<Item = Name> {
    PROPERTIES.into_iter().map(name)
}

/// How long to wait before the next step. Now and then long enough that expired holds and
/// idempotency keys are forgotten.
pub(super) fn wait_ms(random: &mut Random) -> u64 {
    if random.one_in(40) {
        limits::LATE_CONFIRM_MS
    } else {
        random.pick(&WAITS_MS)
    }
}

fn night(days: u64) -> Night {
    Night::from_days(u16::try_from(days).expect("the nights of the suite are early ones"))
}

pub(super) fn stay(random: &mut Random) -> Stay {
    let arrival = 26 + random.below(8);
    let nights = match random.below(10) {
        0 => 30,
        1 => 90,
        few => 1 + few % 3,
    };
    Stay::new(night(arrival), night(arrival + nights)).expect("a stay of the suite")
}

/// The sealed id numbers of three guests. Two have the same seal: they are still two.
pub(super) fn ids() -> [GuestId; 3] {
    let sealed = |number: &[u8]| {
        let number = IdNumber::parse(number, false).expect("an id number of the suite");
        IdKey::new([7; 16]).seal(number)
    };
    let (first, second) = (sealed(b"234123410001"), sealed(b"234123410002"));
    let third = GuestId {
        last_four: 3,
        ..second
    };
    [first, second, third]
}

fn guest(random: &mut Random) -> GuestName<'static> {
    let guest = random.pick(&["Ada", "Grace O'Hopper", "Zo\u{eb} \\ \"Q\""]);
    GuestName::parse(guest.as_bytes()).expect("a guest of the suite")
}

fn wish(random: &mut Random) -> Wish {
    match random.below(7) {
        0..3 => Wish::Room(name(random.pick(&ROOMS))),
        3..5 => Wish::Type(name(random.pick(&TYPES))),
        _ => Wish::Any,
    }
}

fn ttl_ms(random: &mut Random) -> u32 {
    let max = limits::HOLD_TTL_MS_MAX;
    random.pick(&[1, 1_000, 1_000, 60_000, max, max, 0, max + 1])
}

fn reference(random: &mut Random, made: &[Reference]) -> Reference {
    if made.is_empty() || random.one_in(20) {
        return NOBODYS;
    }
    let recent = made.len().saturating_sub(6);
    random.pick(made.get(recent..).unwrap_or(made))
}

/// What opens the properties: a closed one with rooms, and an open one.
pub(super) fn furniture() -> Vec<Command<'static>> {
    let [grand, open_house] = PROPERTIES.map(name);
    let mut commands = vec![
        Command::AddProperty {
            property: grand,
            open: false,
        },
        Command::AddProperty {
            property: open_house,
            open: true,
        },
    ];
    for (room, room_type) in [("1", "single"), ("2", "double"), ("10", "single")] {
        commands.push(Command::AddRoom {
            property: grand,
            room: name(room),
            room_type: name(room_type),
        });
    }
    commands
}

/// A command about properties and rooms, or about some of the references `made`, newest last.
pub(super) fn command(random: &mut Random, made: &[Reference]) -> Command<'static> {
    let property = name(random.pick(&PROPERTIES));
    let room = name(random.pick(&ROOMS));
    match random.below(34) {
        0 => Command::AddProperty {
            property,
            open: random.one_in(2),
        },
        1..4 => Command::AddRoom {
            property,
            room,
            room_type: name(random.pick(&TYPES)),
        },
        4 => Command::WithdrawRoom { property, room },
        5..7 => Command::StopSell {
            property,
            room,
            stay: stay(random),
            stopped: random.one_in(2),
        },
        7..15 => Command::Book {
            property,
            wish: wish(random),
            stay: stay(random),
            guest: guest(random),
            id: random.pick(&ids()),
        },
        15..20 => Command::Hold {
            property,
            wish: wish(random),
            stay: stay(random),
            ttl_ms: ttl_ms(random),
        },
        _ => {
            let reference = reference(random, made);
            about(random, reference)
        }
    }
}

fn about(random: &mut Random, reference: Reference) -> Command<'static> {
    match random.below(10) {
        0..2 => Command::Extend {
            hold: reference,
            ttl_ms: ttl_ms(random),
        },
        2..5 => Command::Confirm {
            hold: reference,
            guest: guest(random),
            id: random.pick(&ids()),
        },
        5 => Command::Release { hold: reference },
        _ => Command::Cancel {
            booking: reference,
            id: random.pick(&ids()),
        },
    }
}

pub(super) fn query(random: &mut Random, made: &[Reference]) -> Query {
    let property = name(random.pick(&PROPERTIES));
    let limit = u16::try_from(1 + random.below(4)).expect("below 5");
    match random.below(8) {
        0 => Query::LookUp {
            reference: reference(random, made),
        },
        1 => {
            let rooms = ROOMS.map(|room| Some(name(room)));
            let room = random.pick(&rooms).filter(|_room| random.one_in(2));
            Query::List {
                property,
                room,
                from: night(20 + random.below(24)),
                to: night(20 + random.below(24)),
                cursor: None,
                limit,
            }
        }
        2 => Query::Guest {
            id: random.pick(&ids()),
            cursor: None,
            limit,
        },
        3 => Query::Holds {
            cursor: None,
            limit,
        },
        4 | 5 => {
            let types = TYPES.map(|kind| Some(name(kind)));
            Query::Availability {
                property,
                room_type: random.pick(&types).filter(|_kind| random.one_in(2)),
                stay: stay(random),
            }
        }
        6 => Query::Explain {
            property,
            wish: wish(random),
            stay: stay(random),
        },
        _ => Query::Properties {
            cursor: None,
            limit,
        },
    }
}

/// Queries that tell the whole state between them; totals are left out.
pub(super) fn whole() -> Vec<Query> {
    let all = (night(0), Night::from_days(u16::MAX));
    let limit = 100;
    let mut queries = vec![Query::Properties {
        cursor: None,
        limit,
    }];
    for property in properties() {
        queries.push(Query::List {
            property,
            room: None,
            from: all.0,
            to: all.1,
            cursor: None,
            limit,
        });
        for arrival in [20, 50, 90] {
            queries.push(Query::Availability {
                property,
                room_type: None,
                stay: Stay::new(night(arrival), night(arrival + 40)).expect("forty nights"),
            });
        }
    }
    queries.extend(ids().map(|id| Query::Guest {
        id,
        cursor: None,
        limit,
    }));
    queries.push(Query::Holds {
        cursor: None,
        limit,
    });
    queries
}
