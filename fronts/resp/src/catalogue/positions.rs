//! What stands where in the answer to a command.
//!
//! RESP3 names the fields of an answer, RESP2 does not: there, what was done is `1`, then these fields, then
//! the position in the journal.

use super::Action;
use crate::{exchange, games, rooms, travel};

const NONE: &[&str] = &[];
const PLACED: &[&str] = &["order", "state", "filled", "value", "open", "reason"];
const REPLACED: &[&str] = &[
    "order",
    "state",
    "filled",
    "value",
    "open",
    "reason",
    "kept_place",
];
const DEED: &[&str] = &["match", "ply", "seq", "last", "to_move", "ending", "winner"];

/// The fields between the `1` and the position, in their order; nothing for what answers no outcome.
pub(super) fn fields_done(action: Action) -> Option<&'static [&'static str]> {
    match action {
        Action::Rooms(verb) => (!verb.is_read()).then(|| of_rooms(verb)),
        Action::Exchange(verb) => (!verb.is_read()).then(|| of_exchange(verb)),
        Action::Games(verb) => (!verb.is_read()).then(|| of_games(verb)),
        Action::Travel(verb) => of_travel(verb),
        Action::Session(_) => None,
    }
}

fn of_rooms(verb: rooms::Verb) -> &'static [&'static str] {
    use rooms::Verb;
    match verb {
        Verb::Book => &["reference", "room"],
        Verb::Hold => &["reference", "room", "until"],
        Verb::Confirm => &["reference", "room", "late"],
        Verb::Extend => &["until"],
        Verb::Cancel => &["room", "arrival", "departure"],
        _ => NONE,
    }
}

fn of_exchange(verb: exchange::Verb) -> &'static [&'static str] {
    use exchange::Verb;
    match verb {
        Verb::Order => PLACED,
        Verb::Replace => REPLACED,
        Verb::Cancel => &["order", "quantity"],
        Verb::CancelAll => &["orders"],
        Verb::Grant => &["shares"],
        Verb::Deposit | Verb::Withdraw => &["cash"],
        _ => NONE,
    }
}

fn of_games(verb: games::Verb) -> &'static [&'static str] {
    use games::Verb;
    match verb {
        Verb::Begin | Verb::Challenge | Verb::Seek => &["state", "ticket", "activity"],
        Verb::Connect => &["state"],
        Verb::Report => &["standings"],
        Verb::Withdraw | Verb::Disconnect => NONE,
        _ => DEED,
    }
}

/// Within a transaction a read answers an outcome, too.
fn of_travel(verb: travel::Verb) -> Option<&'static [&'static str]> {
    use travel::Verb;
    match verb {
        Verb::Start => Some(&["xid"]),
        Verb::Query => Some(&["free", "reserved", "price"]),
        Verb::AddCustomer => Some(&["customer"]),
        Verb::QueryCustomer => Some(&["customer", "total", "lines"]),
        Verb::Summary => Some(&["customers"]),
        Verb::Book => Some(&["locator", "price"]),
        Verb::Itinerary
        | Verb::Customer
        | Verb::Items
        | Verb::Totals
        | Verb::TxList
        | Verb::TxShow => None,
        _ => Some(NONE),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Position;

    use super::*;
    use crate::{
        Protocol,
        catalogue::{COMMANDS, Syntax, description::Summary},
        typed::shown,
    };

    /// An answer in RESP3 has these names, in this order.
    #[track_caller]
    fn named(action: Action, answer: &str) {
        let fields = fields_done(action).unwrap();
        let length = fields.len() + 2;
        assert!(
            answer.starts_with(&format!("%{length}|$7|outcome|$4|done|")),
            "{answer}"
        );
        let mut rest = answer;
        for name in fields.iter().chain(&["position"]) {
            let named = format!("${}|{name}|", name.len());
            rest = rest
                .split_once(&named)
                .unwrap_or_else(|| panic!("{name} in {answer}"))
                .1;
        }
    }

    #[test]
    fn the_positions_in_rooms_and_exchange_are_those_of_the_answers_that_have_names() {
        use turnstile_exchange::{Cash, Decimal, Done as Traded, OrderId, Ticket, TicketState};
        use turnstile_rooms::{Done as Roomed, Reference};
        use turnstile_types::{Name, Timestamp};

        let reference = Reference::parse(b"R77").unwrap();
        let room = Name::parse(b"101").unwrap();
        let until = Timestamp(0);
        let of_rooms = [
            (rooms::Verb::Book, Roomed::Booked { reference, room }),
            (
                rooms::Verb::Hold,
                Roomed::Held {
                    reference,
                    room,
                    until,
                },
            ),
            (
                rooms::Verb::Confirm,
                Roomed::Confirmed {
                    reference,
                    room,
                    late: true,
                },
            ),
            (rooms::Verb::Extend, Roomed::Extended { until }),
            (rooms::Verb::Release, Roomed::Released),
        ];
        for (verb, done) in of_rooms {
            let outcome = turnstile_rooms::Outcome::Done(done);
            named(
                Action::Rooms(verb),
                &shown(Protocol::Resp3, |reply| {
                    rooms::put_outcome(reply, &outcome, Position(42), false);
                }),
            );
        }
        let ticket = Ticket {
            order: OrderId(7),
            state: TicketState::Open,
            filled: Decimal::new(0, 0),
            value: Cash(0),
            open: Decimal::new(10, 0),
        };
        let again = false;
        let kept_place = true;
        let of_exchange = [
            (exchange::Verb::Order, Traded::Accepted { ticket, again }),
            (
                exchange::Verb::Replace,
                Traded::Replaced { ticket, kept_place },
            ),
            (exchange::Verb::Deposit, Traded::Deposited { cash: Cash(1) }),
            (
                exchange::Verb::CancelAll,
                Traded::AllCancelled { orders: 3 },
            ),
        ];
        for (verb, done) in of_exchange {
            let outcome = turnstile_exchange::Outcome::Done(done);
            named(
                Action::Exchange(verb),
                &shown(Protocol::Resp3, |reply| {
                    exchange::put_outcome(reply, &outcome, Position(42), false);
                }),
            );
        }
    }

    #[test]
    fn the_positions_in_travel_and_games_are_those_of_the_answers_that_have_names() {
        use turnstile_games::Done as Played;
        use turnstile_travel::{CustomerId, Done as Travelled, Xid};

        let of_travel = [
            (travel::Verb::Start, Travelled::Started { xid: Xid(7) }),
            (travel::Verb::Query, Travelled::Stock(None)),
            (
                travel::Verb::AddCustomer,
                Travelled::CustomerAdded(CustomerId(-1)),
            ),
            (travel::Verb::QueryCustomer, Travelled::Bill(None)),
            (travel::Verb::Summary, Travelled::Summary(Vec::new())),
            (travel::Verb::Commit, Travelled::Committed),
        ];
        for (verb, done) in of_travel {
            let outcome = turnstile_travel::Outcome::Done(done);
            named(
                Action::Travel(verb),
                &shown(Protocol::Resp3, |reply| {
                    travel::put_outcome(reply, &outcome, Position(42), false);
                }),
            );
        }
        for (verb, done) in [
            (games::Verb::Challenge, Played::Challenged),
            (games::Verb::Connect, Played::Connected(None)),
            (games::Verb::Withdraw, Played::Withdrawn),
        ] {
            let outcome = turnstile_games::Outcome::Done(done);
            named(
                Action::Games(verb),
                &shown(Protocol::Resp3, |reply| {
                    games::put_outcome(reply, &outcome, Position(42), false);
                }),
            );
        }
    }

    #[test]
    fn the_summary_says_what_stands_where() {
        let summary = |name: &str| {
            let found = COMMANDS.iter().find(|syntax| syntax.name == name);
            found.map(|syntax: &Syntax| Summary(syntax).to_string())
        };
        let book = "Books a room for every night of a stay, or for none. RESP2 answers \
                    1 reference room position, or 0 reason ...";
        assert_eq!(summary("rooms.book").as_deref(), Some(book));
        assert_eq!(
            summary("rooms.lookup").as_deref(),
            Some("Shows one booking or hold")
        );
    }
}
