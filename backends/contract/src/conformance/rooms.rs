//! Rooms in the suite: random commands and queries that conflict often.

use turnstile_chassis::{Cursor, Needs as _};
use turnstile_rooms::{
    Answer, Block, CancelReason, Command, Done, Entry, EntryState, GuestId, GuestName, IdKey,
    IdNumber, Outcome, Query, Reference, Rooms, Wish, limits,
};
use turnstile_seed::Random;
use turnstile_types::{Machine as _, Name, Night, Position, Principal, Stay, Timestamp};

use super::{
    Names, Suite,
    scopes::{self, GRANTS},
};
use crate::Scope;

const PROPERTIES: [&str; 2] = ["grand", "open-house"];
const ROOMS: [&str; 6] = ["1", "2", "10", "01", "a-9", "a-10"];
const TYPES: [&str; 3] = ["single", "double", "open"];
const PRINCIPALS: [&str; 2] = ["local", "shop"];
const WAITS_MS: [u64; 8] = [0, 0, 1, 999, 1_000, 60_000, 900_000, 1_800_000];

pub(super) fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a name of the suite")
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

fn reason(random: &mut Random) -> CancelReason<'static> {
    let reason = random.pick(&["guest phoned", "d\u{e9}c\u{e8}s \\ 'q' \"Q\" %s"]);
    CancelReason::parse(reason.as_bytes()).expect("a reason of the suite")
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
        return Rooms::NOBODYS;
    }
    let recent = made.len().saturating_sub(6);
    random.pick(made.get(recent..).unwrap_or(made))
}

fn about(random: &mut Random, reference: Reference) -> Command<'static> {
    match random.below(13) {
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
        6 => Command::CancelForGuest {
            booking: reference,
            reason: reason(random),
        },
        7..10 => Command::Move {
            booking: reference,
            wish: wish(random),
            stay: stay(random),
            id: random.pick(&ids()),
        },
        _ => Command::Cancel {
            booking: reference,
            id: random.pick(&ids()),
        },
    }
}

impl Suite for Rooms {
    type Made = Reference;

    /// It would be the last of all.
    const NOBODYS: Reference = Reference {
        slot: u32::MAX - 1,
        generation: i32::MAX as u32,
    };

    const TICKS_FIRST: bool = false;

    const COMPARED_EVERY: u32 = u32::MAX;

    const LONGEST_MS: u64 = u64::MAX;

    const BEFORE_CROWD: (u64, u64) = (0, 0);

    const TOTALS: Query = Query::Totals;

    fn principals() -> Vec<Principal> {
        PRINCIPALS.map(|text| Principal(name(text))).to_vec()
    }

    fn furniture() -> Vec<Command<'static>> {
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

    /// Now and then long enough that expired holds and idempotency keys are forgotten.
    fn wait_ms(random: &mut Random) -> u64 {
        if random.one_in(40) {
            limits::LATE_CONFIRM_MS
        } else {
            random.pick(&WAITS_MS)
        }
    }

    fn draw_command(random: &mut Random, _now: Timestamp, made: &[Reference]) -> Command<'static> {
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

    fn draw_scope(random: &mut Random, command: &Command<'_>) -> Scope {
        if command.entry().is_none() || random.one_in(2) {
            return Scope::EVERYTHING;
        }
        scopes::draw(random, &GRANTS, (Self::SERVICE, command.needed()))
    }

    fn draw_query_scope(random: &mut Random, query: &Query) -> Scope {
        if !matches!(query, Query::LookUp { .. }) {
            return Scope::EVERYTHING;
        }
        scopes::draw(random, &GRANTS, (Self::SERVICE, query.needed()))
    }

    fn is_refused(answer: &Answer) -> bool {
        matches!(answer, Answer::Refused(_))
    }

    fn draw_query(random: &mut Random, made: &[Reference]) -> Query {
        let property = name(random.pick(&PROPERTIES));
        let limit = u16::try_from(1 + random.below(4)).expect("below 5");
        match random.below(10) {
            8 => Query::ListRooms {
                property,
                cursor: None,
                limit,
            },
            9 => Query::ListStopSells {
                property,
                stay: stay(random),
                cursor: None,
                limit,
            },
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

    fn done_in(round: u32) -> Command<'static> {
        Command::Hold {
            property: name("open-house"),
            wish: Wish::Room(name(&format!("r{round}"))),
            stay: stay(&mut Random::new(round.into())),
            ttl_ms: 1_000,
        }
    }

    /// Totals are left out: they count what was found expired.
    fn whole() -> Vec<Query> {
        let all = (night(0), Night::from_days(u16::MAX));
        let limit = 100;
        let mut queries = vec![Query::Properties {
            cursor: None,
            limit,
        }];
        for property in PROPERTIES.map(name) {
            queries.push(Query::List {
                property,
                room: None,
                from: all.0,
                to: all.1,
                cursor: None,
                limit,
            });
            queries.push(Query::ListRooms {
                property,
                cursor: None,
                limit,
            });
            for arrival in [20, 50, 90] {
                queries.push(Query::Availability {
                    property,
                    room_type: None,
                    stay: Stay::new(night(arrival), night(arrival + 40)).expect("forty nights"),
                });
                queries.push(Query::ListStopSells {
                    property,
                    stay: Stay::new(night(arrival), night(arrival + 40)).expect("forty nights"),
                    cursor: None,
                    limit,
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

    fn look_up(reference: Reference) -> Query {
        Query::LookUp { reference }
    }

    fn offers(unsupported: &[&str], command: &Command<'_>) -> bool {
        !unsupported.contains(&command.code())
    }

    fn answers(unsupported: &[&str], query: &Query) -> bool {
        !unsupported.contains(&query.code())
    }

    fn made(outcome: &Outcome) -> Option<Reference> {
        match outcome {
            Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. }) => {
                Some(*reference)
            }
            _ => None,
        }
    }

    fn ask_ours(command: &mut Command<'_>, names: &Names<Self>) {
        if let Command::Extend {
            hold: reference, ..
        }
        | Command::Confirm {
            hold: reference, ..
        }
        | Command::Release { hold: reference }
        | Command::Cancel {
            booking: reference, ..
        }
        | Command::CancelForGuest {
            booking: reference, ..
        }
        | Command::Move {
            booking: reference, ..
        } = command
        {
            names.our(reference);
        }
    }

    fn query_ours(query: &mut Query, names: &Names<Self>) {
        if let Query::LookUp { reference } = query {
            names.our(reference);
        }
    }

    fn tell_theirs(outcome: &mut Outcome, names: &Names<Self>) {
        if let Outcome::Done(
            Done::Booked { reference, .. }
            | Done::Held { reference, .. }
            | Done::Confirmed { reference, .. },
        ) = outcome
        {
            names.their(reference);
        }
    }

    fn answer_theirs(answer: &mut Answer, names: &Names<Self>) {
        if let Answer::Explanation(explanation) = answer {
            for block in &mut explanation.blocks {
                if let Block::Booking { reference, .. } | Block::Hold { reference, .. } = block {
                    names.their(reference);
                }
            }
        }
        for entry in entries(answer) {
            names.their(&mut entry.reference);
            names.their_position(&mut entry.position);
        }
    }

    /// The machine notes the record at which a hold was found expired, a database need not.
    fn forget_own(answer: &mut Answer) {
        for entry in entries(answer) {
            if matches!(entry.state, EntryState::Expired { .. }) {
                entry.position = Position(0);
            }
        }
    }

    fn next_page(answer: &mut Answer) -> Option<Cursor> {
        match answer {
            Answer::Page(page) => page.next.take(),
            Answer::Properties { next, .. }
            | Answer::Rooms { next, .. }
            | Answer::StopSells { next, .. } => next.take(),
            _ => None,
        }
    }

    fn cursor(query: &mut Query) -> Option<&mut Option<Cursor>> {
        match query {
            Query::List { cursor, .. }
            | Query::Guest { cursor, .. }
            | Query::Holds { cursor, .. }
            | Query::Properties { cursor, .. }
            | Query::ListRooms { cursor, .. }
            | Query::ListStopSells { cursor, .. } => Some(cursor),
            _ => None,
        }
    }

    fn append(answer: &mut Answer, page: Answer) {
        match (answer, page) {
            (Answer::Page(all), Answer::Page(page)) => {
                all.entries.extend(page.entries);
                all.next = page.next;
            }
            (
                Answer::Properties { properties, next },
                Answer::Properties {
                    properties: more,
                    next: last,
                },
            ) => {
                properties.extend(more);
                *next = last;
            }
            (
                Answer::Rooms { rooms, next },
                Answer::Rooms {
                    rooms: more,
                    next: last,
                },
            ) => {
                rooms.extend(more);
                *next = last;
            }
            (
                Answer::StopSells { stop_sells, next },
                Answer::StopSells {
                    stop_sells: more,
                    next: last,
                },
            ) => {
                stop_sells.extend(more);
                *next = last;
            }
            (answer, page) => *answer = page,
        }
    }
}

fn entries(answer: &mut Answer) -> &mut [Entry] {
    match answer {
        Answer::Entry(entry) => std::slice::from_mut(entry),
        Answer::Page(page) => &mut page.entries,
        _ => &mut [],
    }
}
