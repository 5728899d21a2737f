//! The words of a script.

use turnstile_travel::{
    Command, CustomerId, Desk, Locator, Outcome, Query, Settings, Step, Travel, Trip, Xid,
};
use turnstile_types::{Machine, Position, Principal, Timestamp};

use super::answers;
use crate::scenery::{Office, bytes_of, item};

/// A machine that is played with.
pub(crate) struct Stage {
    office: Office,
}

/// `5ms`, `5s`, `5m`, `5h`
fn ms(text: &str) -> u64 {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap();
    let (number, unit) = text.split_at(end);
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        other => panic!("no unit of time: {other}"),
    };
    number.parse::<u64>().unwrap() * unit
}

fn customer(text: &str) -> CustomerId {
    CustomerId(text.parse().unwrap())
}

fn trip_of(items: &[&str]) -> Trip {
    Trip::new(items.iter().map(|text| item(text)).collect()).unwrap()
}

fn locator(text: &str) -> Locator {
    Locator::parse(text.as_bytes()).unwrap()
}

fn stage(text: &str) -> Option<turnstile_travel::Stage> {
    let mut stages = turnstile_travel::Stage::ALL.into_iter();
    match text {
        "any" => None,
        text => Some(stages.find(|stage| stage.code() == text).unwrap()),
    }
}

fn desk(text: &str) -> Desk {
    Desk::ALL
        .into_iter()
        .find(|desk| desk.code() == text)
        .unwrap()
}

/// The words after the number of a transaction.
fn step(words: &[&str]) -> Step {
    match *words {
        ["add", what, count, price] => Step::Add {
            item: item(what),
            count: count.parse().unwrap(),
            price: price.parse().unwrap(),
        },
        ["delete", what] => Step::Delete { item: item(what) },
        ["query", what] => Step::Query { item: item(what) },
        ["customer"] => Step::AddCustomer { customer: None },
        ["customer", id] => Step::AddCustomer {
            customer: Some(customer(id)),
        },
        ["drop", id] => Step::DeleteCustomer {
            customer: customer(id),
        },
        ["bill", id] => Step::QueryCustomer {
            customer: customer(id),
        },
        ["reserve", id, ref items @ ..] => Step::Reserve {
            customer: customer(id),
            trip: trip_of(items),
        },
        ["summary"] => Step::Summary,
        ["commit"] => Step::Commit,
        _ => panic!("no step: {words:?}"),
    }
}

fn command(words: &[&str]) -> Option<Command> {
    Some(match *words {
        ["start"] => Command::Start,
        ["book", id, ref items @ ..] => Command::Book {
            customer: customer(id),
            trip: trip_of(items),
            hold_ms: None,
        },
        ["hold", id, time, ref items @ ..] => Command::Book {
            customer: customer(id),
            trip: trip_of(items),
            hold_ms: Some(ms(time)),
        },
        ["confirm", text] => Command::Confirm {
            locator: locator(text),
        },
        ["cancel", text] => Command::Cancel {
            locator: locator(text),
        },
        ["configure", lifetime, wait, deadlocks] => Command::Configure(Settings {
            lifetime_ms: ms(lifetime),
            wait_ms: ms(wait),
            detect_deadlocks: deadlocks == "detect",
            ..Settings::FIRST
        }),
        ["recover"] => Command::Recover,
        ["resolve", at, xid, decision] => Command::Resolve {
            desk: desk(at),
            xid: Xid(xid.parse().unwrap()),
            commit: decision == "commit",
        },
        [xid, ref words @ ..] => {
            let xid = Xid(xid.parse().ok()?);
            match *words {
                ["abort"] => Command::Abort { xid },
                _ => Command::Within {
                    xid,
                    step: step(words),
                },
            }
        }
        [] => return None,
    })
}

fn question(words: &[&str]) -> Query {
    match *words {
        ["show", xid] => Query::Transaction {
            xid: Xid(xid.parse().unwrap()),
        },
        ["list", wanted] => Query::Transactions {
            after: Xid(0),
            stage: stage(wanted),
            limit: 100,
        },
        ["items", at] => Query::Items {
            desk: desk(at),
            after: None,
            limit: 100,
        },
        ["owes", id] => Query::Customer {
            customer: customer(id),
        },
        ["itinerary", text] => Query::Itinerary {
            locator: locator(text),
        },
        ["totals"] => Query::Totals,
        _ => panic!("no such words: {words:?}"),
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            office: Office::new(),
        }
    }

    /// Plays one line and returns the lines of the answer, and of what happened.
    pub(crate) fn play(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut answer = match words.as_slice() {
            ["after", time] => {
                self.office.pass(ms(time));
                String::new()
            }
            ["answer", ticket] => {
                let ticket = Position(ticket.parse().unwrap());
                answers::late(&self.office.travel.late_answer(ticket))
            }
            words => match command(words) {
                Some(command) => self.apply(&command),
                None => self.ask(&question(words)),
            },
        };
        for event in self.office.events() {
            answer.push_str(&answers::event(&event));
        }
        let checked = Machine::check(&self.office.travel);
        assert_eq!(checked, Ok(()), "after {line}");
        let bytes = bytes_of(&self.office.travel);
        let restored = <Travel as Machine>::restore(&bytes).unwrap();
        assert_eq!(bytes_of(&restored), bytes, "after {line}");
        self.office.travel = restored;
        answer
    }

    fn apply(&mut self, command: &Command) -> String {
        let before = bytes_of(&self.office.travel);
        let outcome = self.office.apply(command);
        if matches!(command, Command::Confirm { .. }) && matches!(outcome, Outcome::Refused(_)) {
            assert!(
                before == bytes_of(&self.office.travel),
                "refused, and changed"
            );
        }
        format!("{}\n", answers::outcome(&outcome))
    }

    fn ask(&self, query: &Query) -> String {
        let now = Timestamp(self.office.now);
        let answer = self.office.travel.query(now, &Principal::local(), query);
        answers::answer(&answer)
    }
}
