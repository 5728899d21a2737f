//! Requests as clients write them, and replies as clients read them, byte by byte.

use turnstile_rooms::{
    Answer, Block, CancelReason, Command, Cursor, Done, Entry, EntryState, Event, EventKind,
    Explanation, GuestId, GuestName, IdKey, IdNumber, Nights, Outcome, Page, PropertySummary,
    Query, Reference, Refusal, TypeAvailability, Wish,
};
use turnstile_types::{Key, Name, Night, Position, Principal, Stay, Timestamp};

use super::{Door, Request, parse, put_answer, put_outcome};
use crate::{
    Protocol,
    catalogue::Action,
    tests::{shown, typed},
};

const SECRET: [u8; 16] = [3; 16];

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

fn stay(arrival: &str, departure: &str) -> Stay {
    let night = |text: &str| Night::parse(text.as_bytes()).unwrap();
    Stay::new(night(arrival), night(departure)).unwrap()
}

fn sealed(text: &str) -> GuestId {
    IdKey::new(SECRET).seal(IdNumber::parse(text.as_bytes(), false).unwrap())
}

const REFERENCE: Reference = Reference {
    slot: 7,
    generation: 0,
};

/// What a typed line asks for, or the error it gets.
fn asked(line: &str, check: impl FnOnce(Result<Request<'_>, String>)) {
    let id_key = IdKey::new(SECRET);
    let door = Door {
        id_key: &id_key,
        verhoeff: true,
    };
    typed(line, |found, arguments| {
        check(match found {
            Ok(Action::Rooms(call)) => {
                parse(call, arguments, door).map_err(|invalid| invalid.to_string())
            }
            other => Err(format!("{other:?}")),
        });
    });
}

fn commands(line: &str, expected: Command<'_>, expected_key: Option<&str>) {
    asked(line, |found| {
        let key = expected_key.map(|key| Key::parse(key.as_bytes()).unwrap());
        assert_eq!(
            found,
            Ok(Request::Command {
                command: expected,
                key
            }),
            "{line}"
        );
    });
}

#[test]
fn a_line_becomes_its_command() {
    let (property, guest) = (name("inn"), GuestName::parse(b"Ada L").unwrap());
    let (id, stay) = (sealed("234123412346"), stay("2027-01-01", "2027-01-03"));
    let book = |wish| Command::Book {
        property,
        wish,
        stay,
        guest,
        id,
    };
    let nights = "2027-01-01 2027-01-03";
    commands(
        &format!("rooms.book inn 101 {nights} 'Ada L' 234123412346"),
        book(Wish::Room(name("101"))),
        None,
    );
    commands(
        &format!("ROOMS.BOOK inn type:twin {nights} 'Ada L' 234123412346 key k-1"),
        book(Wish::Type(name("twin"))),
        Some("k-1"),
    );
    commands(
        &format!("ROOMS.BOOK inn any {nights} 'Ada L' 234123412346"),
        book(Wish::Any),
        None,
    );
    // A room of that name would be booked in an open property, and nobody means it.
    for (word, wish) in [
        ("ANY", Wish::Any),
        ("Type:twin", Wish::Type(name("twin"))),
        ("TYPE:twin", Wish::Type(name("twin"))),
        ("types", Wish::Room(name("types"))),
        ("anyone", Wish::Room(name("anyone"))),
        ("type", Wish::Room(name("type"))),
    ] {
        let line = format!("ROOMS.BOOK inn {word} {nights} 'Ada L' 234123412346");
        commands(&line, book(wish), None);
    }
    let hold = |ttl_ms| Command::Hold {
        property,
        wish: Wish::Any,
        stay,
        ttl_ms,
    };
    commands(&format!("ROOMS.HOLD inn any {nights}"), hold(600_000), None);
    commands(
        &format!("ROOMS.HOLD inn any {nights} KEY k TTL_SECONDS 5"),
        hold(5_000),
        Some("k"),
    );
}

#[test]
fn a_line_about_one_hold_or_booking_becomes_its_command() {
    let (guest, id) = (GuestName::parse(b"Ada L").unwrap(), sealed("234123412346"));
    let extend = Command::Extend {
        hold: REFERENCE,
        ttl_ms: 60_000,
    };
    commands("ROOMS.EXTEND R77 60", extend, None);
    commands(
        "ROOMS.CONFIRM r77 'Ada L' 234123412346",
        Command::Confirm {
            hold: REFERENCE,
            guest,
            id,
        },
        None,
    );
    commands(
        "ROOMS.RELEASE R77",
        Command::Release { hold: REFERENCE },
        None,
    );
    let cancel = Command::Cancel {
        booking: REFERENCE,
        id,
    };
    commands("ROOMS.CANCEL R77 234123412346 KEY c", cancel, Some("c"));
    let moves = Command::Move {
        booking: REFERENCE,
        wish: Wish::Type(name("double")),
        stay: stay("2027-01-01", "2027-01-03"),
        id,
    };
    commands(
        "ROOMS.MOVE R77 type:double 2027-01-01 2027-01-03 234123412346 KEY m",
        moves,
        Some("m"),
    );
    let for_guest = Command::CancelForGuest {
        booking: REFERENCE,
        reason: CancelReason::parse(b"guest phoned").unwrap(),
    };
    commands(
        "ROOMS.CANCEL-FOR-GUEST R77 'guest phoned' KEY c",
        for_guest,
        Some("c"),
    );
}

#[test]
fn a_line_about_an_inventory_becomes_its_command() {
    let (property, nights) = (name("inn"), "2027-01-01 2027-01-03");
    let stay = stay("2027-01-01", "2027-01-03");
    let add = |open| Command::AddProperty { property, open };
    commands("ROOMS.ADD-PROPERTY inn", add(false), None);
    commands("ROOMS.ADD-PROPERTY inn OPEN", add(true), None);
    let room = name("101");
    commands(
        "ROOMS.ADD-ROOM inn 101 twin",
        Command::AddRoom {
            property,
            room,
            room_type: name("twin"),
        },
        None,
    );
    commands(
        "ROOMS.WITHDRAW-ROOM inn 101",
        Command::WithdrawRoom { property, room },
        None,
    );
    let stop = |stopped| Command::StopSell {
        property,
        room,
        stay,
        stopped,
    };
    commands(
        &format!("ROOMS.STOP-SELL inn 101 {nights}"),
        stop(true),
        None,
    );
    commands(
        &format!("ROOMS.RESUME-SELL inn 101 {nights}"),
        stop(false),
        None,
    );
}

#[test]
fn a_line_becomes_its_query() {
    let property = name("inn");
    let (from, to) = (Night::from_days(0), Night::from_days(90));
    let list = |room, cursor, limit| Query::List {
        property,
        room,
        from,
        to,
        cursor,
        limit,
    };
    let stay = stay("2027-01-01", "2027-01-03");
    let rows = [
        (
            "ROOMS.LOOK-UP R77",
            Query::LookUp {
                reference: REFERENCE,
            },
        ),
        (
            "ROOMS.LIST-BOOKINGS inn 1970-01-01 1970-04-01",
            list(None, None, 100),
        ),
        (
            "ROOMS.LIST-BOOKINGS inn 1970-01-01 1970-04-01 cursor 8 limit 7 room 101",
            list(Some(name("101")), Some(Cursor(8)), 7),
        ),
        (
            "ROOMS.LIST-GUEST-BOOKINGS 234123412346 LIMIT 1000",
            Query::Guest {
                id: sealed("234123412346"),
                cursor: None,
                limit: 1_000,
            },
        ),
        (
            "ROOMS.LIST-HOLDS CURSOR 0",
            Query::Holds {
                cursor: Some(Cursor(0)),
                limit: 100,
            },
        ),
        (
            "ROOMS.GET-AVAILABILITY inn 2027-01-01 2027-01-03 TYPE twin",
            Query::Availability {
                property,
                room_type: Some(name("twin")),
                stay,
            },
        ),
        (
            "ROOMS.EXPLAIN inn any 2027-01-01 2027-01-03",
            Query::Explain {
                property,
                wish: Wish::Any,
                stay,
            },
        ),
        (
            "ROOMS.LIST-PROPERTIES",
            Query::Properties {
                cursor: None,
                limit: 100,
            },
        ),
    ];
    for (line, expected) in rows {
        asked(line, |found| {
            assert_eq!(found, Ok(Request::Query(expected)), "{line}")
        });
    }
}

#[test]
fn the_rooms_of_a_property_and_its_stop_sells_are_listed() {
    let property = name("inn");
    asked("ROOMS.LIST-ROOMS inn LIMIT 5", |found| {
        let query = Query::ListRooms {
            property,
            cursor: None,
            limit: 5,
        };
        assert_eq!(found, Ok(Request::Query(query)));
    });
    asked("ROOMS.LIST-STOP-SELLS inn 2027-01-01 2027-01-03", |found| {
        let query = Query::ListStopSells {
            property,
            stay: stay("2027-01-01", "2027-01-03"),
            cursor: None,
            limit: 100,
        };
        assert_eq!(found, Ok(Request::Query(query)));
    });
}

#[test]
fn totals_are_asked_for_without_any_argument() {
    asked("ROOMS.GET-TOTALS", |found| {
        assert_eq!(found, Ok(Request::Query(Query::Totals)));
    });
}

#[test]
fn an_error_says_which_argument_is_wrong_and_why() {
    let rows = [
        (
            "ROOMS.BOOK inn 101 tomorrow 2027-01-03 ada 234123412346",
            "ROOMS.BOOK arrival: a date has the form YYYY-MM-DD",
        ),
        (
            "ROOMS.BOOK inn 101 2027-01-03 2027-01-03 ada 234123412346",
            "ROOMS.BOOK departure: the departure is a date after the arrival",
        ),
        (
            "ROOMS.BOOK inn type: 2027-01-01 2027-01-03 ada 234123412346",
            "ROOMS.BOOK wish: a name has at least one character",
        ),
        (
            "ROOMS.BOOK i/n 101 2027-01-01 2027-01-03 ada 234123412346",
            "ROOMS.BOOK property: a name uses A-Z a-z 0-9 . _ : - only, character 2 is none",
        ),
        (
            "ROOMS.BOOK inn 101 2027-01-01 2027-01-03 ada 234123412345",
            "ROOMS.BOOK id_number: the id number's check digit is wrong",
        ),
        (
            "ROOMS.BOOK inn 101 2027-01-01 2027-01-03 ada 234123412346 KEY",
            "ROOMS.BOOK key: the value is missing",
        ),
        (
            "ROOMS.BOOK inn 101 2027-01-01 2027-01-03 ada 234123412346 KEY a KEY b",
            "ROOMS.BOOK key: given twice",
        ),
        (
            "ROOMS.BOOK inn 101 2027-01-01 2027-01-03 ada 234123412346 TTL 3",
            "ROOMS.BOOK option: argument 7 is no option of this command",
        ),
        (
            "ROOMS.EXTEND R77 0",
            "ROOMS.EXTEND ttl_seconds: a whole number from 1 to 4294967",
        ),
        (
            "ROOMS.LIST-HOLDS LIMIT 1001",
            "ROOMS.LIST-HOLDS limit: a whole number from 1 to 1000",
        ),
        (
            "ROOMS.LIST-HOLDS CURSOR 18446744073709551616",
            "ROOMS.LIST-HOLDS cursor: a whole number from 0 to 18446744073709551615",
        ),
        (
            "ROOMS.LIST-BOOKINGS inn 2027-01-02 2027-01-02",
            "ROOMS.LIST-BOOKINGS to: the end is a date after the start",
        ),
        (
            "ROOMS.ADD-ROOM inn 10/1 twin",
            "ROOMS.ADD-ROOM room: a name uses A-Z a-z 0-9 . _ : - only, character 3 is none",
        ),
        (
            "ROOMS.RELEASE R78",
            "ROOMS.RELEASE hold: the reference is mistyped: its check character does not fit",
        ),
    ];
    for (line, expected) in rows {
        asked(line, |found| {
            assert_eq!(found, Err(expected.to_owned()), "{line}")
        });
    }
}

fn outcome(outcome: Outcome, replayed: bool) -> (String, String) {
    let show = |protocol| {
        shown(protocol, |reply| {
            put_outcome(reply, &outcome, Position(42), replayed)
        })
    };
    (show(Protocol::Resp2), show(Protocol::Resp3))
}

#[test]
fn what_was_done_reads_the_same_for_ever() {
    let room = name("101");
    let rows = [
        (
            Done::Booked {
                reference: REFERENCE,
                room,
            },
            "*4|:1|$3|R77|$3|101|:42|",
            "%4|$7|outcome|$4|done|$9|reference|$3|R77|$4|room|$3|101|$8|position|:42|",
        ),
        (
            Done::Held {
                reference: REFERENCE,
                room,
                until: Timestamp(0),
            },
            "*5|:1|$3|R77|$3|101|$24|1970-01-01T00:00:00.000Z|:42|",
            "%5|$7|outcome|$4|done|$9|reference|$3|R77|$4|room|$3|101|\
             $5|until|$24|1970-01-01T00:00:00.000Z|$8|position|:42|",
        ),
        (
            Done::Confirmed {
                reference: REFERENCE,
                room,
                late: true,
            },
            "*5|:1|$3|R77|$3|101|:1|:42|",
            "%5|$7|outcome|$4|done|$9|reference|$3|R77|$4|room|$3|101|$4|late|#t|$8|position|:42|",
        ),
        (
            Done::Cancelled {
                room,
                stay: stay("2027-01-01", "2027-01-03"),
            },
            "*5|:1|$3|101|$10|2027-01-01|$10|2027-01-03|:42|",
            "%5|$7|outcome|$4|done|$4|room|$3|101|$7|arrival|$10|2027-01-01|\
             $9|departure|$10|2027-01-03|$8|position|:42|",
        ),
        (
            Done::Extended {
                until: Timestamp(0),
            },
            "*3|:1|$24|1970-01-01T00:00:00.000Z|:42|",
            "%3|$7|outcome|$4|done|$5|until|$24|1970-01-01T00:00:00.000Z|$8|position|:42|",
        ),
        (
            Done::Released,
            "*2|:1|:42|",
            "%2|$7|outcome|$4|done|$8|position|:42|",
        ),
    ];
    for (done, resp2, resp3) in rows {
        assert_eq!(
            outcome(Outcome::Done(done), false),
            (resp2.to_owned(), resp3.to_owned())
        );
    }
    let (resp2, resp3) = outcome(Outcome::Done(Done::RoomAdded), true);
    assert_eq!(resp2, "*3|:1|:42|$8|replayed|");
    assert_eq!(
        resp3,
        "%3|$7|outcome|$4|done|$8|position|:42|$8|replayed|#t|"
    );
}

#[test]
fn a_refusal_is_a_value_with_its_data() {
    let first = Night::from_days(0);
    let nights = Nights { first, bits: 0b101 };
    let rows = [
        (
            Refusal::SoldOut { nights },
            "*3|:0|$8|sold_out|*2|$10|1970-01-01|$10|1970-01-03|",
            "%4|$7|outcome|$7|refused|$6|reason|$8|sold_out|\
             $6|nights|*2|$10|1970-01-01|$10|1970-01-03|$8|position|:42|",
        ),
        (
            Refusal::NotFound,
            "*2|:0|$9|not_found|",
            "%3|$7|outcome|$7|refused|$6|reason|$9|not_found|$8|position|:42|",
        ),
        (
            Refusal::TooManyHolds { limit: 9 },
            "*3|:0|$14|too_many_holds|:9|",
            "%4|$7|outcome|$7|refused|$6|reason|$14|too_many_holds|$5|limit|:9|$8|position|:42|",
        ),
        (
            Refusal::HoldTooLong { ttl_ms_max: 3_000 },
            "*3|:0|$13|hold_too_long|:3|",
            "%4|$7|outcome|$7|refused|$6|reason|$13|hold_too_long|$15|ttl_seconds_max|:3|$8|position|:42|",
        ),
        (
            Refusal::HoldCeiling {
                until_max: Timestamp(0),
            },
            "*3|:0|$12|hold_ceiling|$24|1970-01-01T00:00:00.000Z|",
            "%4|$7|outcome|$7|refused|$6|reason|$12|hold_ceiling|\
             $9|until_max|$24|1970-01-01T00:00:00.000Z|$8|position|:42|",
        ),
        (
            Refusal::RoomInUse { night: first },
            "*3|:0|$11|room_in_use|$10|1970-01-01|",
            "%4|$7|outcome|$7|refused|$6|reason|$11|room_in_use|\
             $5|night|$10|1970-01-01|$8|position|:42|",
        ),
    ];
    for (refusal, resp2, resp3) in rows {
        let found = outcome(Outcome::Refused(refusal), false);
        assert_eq!(found, (resp2.to_owned(), resp3.to_owned()));
    }
}

/// An answer in the older protocol and the newer.
fn both(answer: &Answer) -> [String; 2] {
    [Protocol::Resp2, Protocol::Resp3]
        .map(|protocol| shown(protocol, |reply| put_answer(reply, answer)))
}

#[test]
fn answers_are_fields_and_values() {
    let (stay, room) = (stay("2027-01-01", "2027-01-02"), name("101"));
    let entry = Entry {
        reference: REFERENCE,
        state: EntryState::Booked,
        property: name("inn"),
        room,
        stay,
        guest: Some("Ada".into()),
        id: Some(sealed("234123412346")),
        principal: Principal::local(),
        since: Timestamp(0),
        position: Position(9),
    };
    let fields = "$9|reference|$3|R77|$5|state|$6|booked|$8|property|$3|inn|$4|room|$3|101|\
                  $7|arrival|$10|2027-01-01|$9|departure|$10|2027-01-02|$5|guest|$3|Ada|\
                  $9|id_number|$12|********2346|$9|principal|$5|local|\
                  $5|since|$24|1970-01-01T00:00:00.000Z|$8|position|:9|";
    let found = both(&Answer::Entry(entry.clone()));
    assert_eq!(found, [format!("*22|{fields}"), format!("%11|{fields}")]);

    let page = Page {
        entries: vec![entry],
        next: Some(Cursor(5)),
    };
    assert_eq!(
        both(&Answer::Page(page)),
        [
            format!("*4|$7|entries|*1|*22|{fields}$4|next|$1|5|"),
            format!("%2|$7|entries|*1|%11|{fields}$4|next|$1|5|"),
        ]
    );
}

#[test]
fn answers_about_an_inventory_are_fields_and_values() {
    let (stay, room) = (stay("2027-01-01", "2027-01-02"), name("101"));
    let summary = PropertySummary {
        property: name("inn"),
        open: true,
        rooms: 2,
    };
    assert_eq!(
        both(&Answer::Properties {
            properties: vec![summary],
            next: None
        }),
        [
            "*4|$10|properties|*1|*6|$8|property|$3|inn|$4|open|:1|$5|rooms|:2|$4|next|$-1|",
            "%2|$10|properties|*1|%3|$8|property|$3|inn|$4|open|#t|$5|rooms|:2|$4|next|_|",
        ]
    );
    let availability = TypeAvailability {
        room_type: name("twin"),
        rooms: 3,
        free: vec![2, 0],
        free_throughout: 0,
    };
    let free = "$4|type|$4|twin|$5|rooms|:3|$4|free|*2|:2|:0|$15|free_throughout|:0|";
    let found = both(&Answer::Availability(vec![availability]));
    assert_eq!(
        found,
        [
            format!("*2|$5|types|*1|*8|{free}"),
            format!("%1|$5|types|*1|%4|{free}")
        ]
    );
    let block = Block::Booking {
        room,
        reference: REFERENCE,
        stay,
    };
    let explanation = Explanation {
        would_get: None,
        blocks: vec![block],
    };
    let found = both(&Answer::Explanation(explanation));
    let blocks = "$4|kind|$7|booking|$4|room|$3|101|$9|reference|$3|R77|\
                  $7|arrival|$10|2027-01-01|$9|departure|$10|2027-01-02|";
    assert_eq!(
        found,
        [
            format!("*4|$9|would_get|$-1|$6|blocks|*1|*10|{blocks}"),
            format!("%2|$9|would_get|_|$6|blocks|*1|%5|{blocks}"),
        ]
    );
    assert_eq!(
        both(&Answer::Refused(Refusal::NotFound)),
        [
            "*2|:0|$9|not_found|",
            "%2|$7|outcome|$7|refused|$6|reason|$9|not_found|",
        ]
    );
}

#[test]
fn an_event_is_a_line_of_json() {
    let event = Event {
        position: Position(3),
        ordinal: 0,
        at: Timestamp(0),
        kind: EventKind::Booked,
        property: name("inn"),
        room: Some(name("101")),
        reference: Some(REFERENCE),
        stay: Some(stay("2027-01-01", "2027-01-02")),
        reason: None,
        from: None,
    };
    assert_eq!(
        turnstile_json::object(&event),
        r#"{"position":3,"ordinal":0,"at":"1970-01-01T00:00:00.000Z","kind":"booked","property":"inn","room":"101","reference":"R77","arrival":"2027-01-01","departure":"2027-01-02"}"#
    );
    let cancelled = Event {
        kind: EventKind::Cancelled,
        reason: Some("guest phoned".into()),
        ..event
    };
    assert_eq!(
        turnstile_json::object(&cancelled),
        r#"{"position":3,"ordinal":0,"at":"1970-01-01T00:00:00.000Z","kind":"cancelled","property":"inn","room":"101","reference":"R77","arrival":"2027-01-01","departure":"2027-01-02","reason":"guest phoned"}"#
    );
}

#[test]
fn every_night_is_written_as_it_is_shown() {
    for days in 0..=u16::MAX {
        let night = Night::from_days(days);
        let bits = 1;
        let refusal = Refusal::SoldOut {
            nights: Nights { first: night, bits },
        };
        let (resp2, _) = outcome(Outcome::Refused(refusal), false);
        assert_eq!(resp2, format!("*3|:0|$8|sold_out|*1|$10|{night}|"));
    }
}
