//! What travel's commands answer when they succeed.

use std::fmt::Write;

use serde::Serialize;
use turnstile_travel::{
    AbortReason, Bill, Command, CustomerId, Done, Item, Locator, Outcome, Refusal, Step, Stock,
};
use turnstile_types::{Position, Timestamp};
use utoipa::ToSchema;

use super::answer::{BillView, StockView};
use crate::{
    answer::{Receipt, Text, Told},
    problem::{Code, Problem},
};

/// What a command asked to see: its outcome does not say so again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    Nothing,
    Item(Item),
    Customer(CustomerId),
}

impl About {
    #[must_use]
    pub const fn of(command: &Command) -> Self {
        match command {
            Command::Within {
                step: Step::Query { item },
                ..
            } => Self::Item(*item),
            Command::Within {
                step: Step::QueryCustomer { customer },
                ..
            } => Self::Customer(*customer),
            _ => Self::Nothing,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TransactionStarted {
    #[schema(example = 17)]
    xid: u64,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CustomerMade {
    #[schema(example = 77)]
    customer: i32,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ItineraryMade {
    #[schema(value_type = String, example = "7K2M9Q")]
    locator: Text<Locator>,
    /// Of all its items.
    #[schema(example = 480)]
    price: u64,
    /// When the hold ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Text<Timestamp>>,
    #[serde(flatten)]
    receipt: Receipt,
}

/// What every customer has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SummaryView {
    customers: Vec<BillView>,
}

/// Tells a command's outcome; one that waits MUST be waited for first.
///
/// # Errors
/// The problem of a refusal, or that what was asked for is not there.
///
/// # Panics
/// The outcome waits, or belongs to a command that no operation sends.
pub fn tell_outcome(
    about: About,
    position: Position,
    replayed: bool,
    outcome: &Outcome,
) -> Result<Told, Problem> {
    let receipt = Receipt {
        position: position.0,
        replayed,
    };
    let told = match outcome {
        Outcome::Done(done) => tell_done(about, done, receipt),
        Outcome::Refused(refusal) => Err(problem_of(refusal)),
        Outcome::Waiting { .. } => unreachable!("it has been waited for"),
    };
    told.map_err(|problem| Problem {
        position: Some(position),
        replayed,
        ..problem
    })
}

fn tell_done(about: About, done: &Done, receipt: Receipt) -> Result<Told, Problem> {
    let made = if receipt.replayed { 200 } else { 201 };
    Ok(match done {
        Done::Started { xid } => {
            let xid = xid.0;
            Told {
                location: Some(format!("/v1/travel/transactions/{xid}")),
                ..Told::of(made, &TransactionStarted { xid, receipt })
            }
        }
        Done::CustomerAdded(customer) => {
            let customer = customer.0;
            Told::of(made, &CustomerMade { customer, receipt })
        }
        Done::Booked {
            locator,
            price,
            until,
        } => {
            let view = ItineraryMade {
                locator: Text(*locator),
                price: *price,
                until: until.map(Text),
                receipt,
            };
            Told {
                location: Some(format!("/v1/travel/itineraries/{locator}")),
                ..Told::of(made, &view)
            }
        }
        Done::Stock(stock) => match about {
            About::Item(item) => return tell_stock(item, *stock),
            About::Customer(_) | About::Nothing => unreachable!("it asked for an item"),
        },
        Done::Bill(bill) => match about {
            About::Customer(customer) => return tell_bill(customer, bill.as_ref()),
            About::Item(_) | About::Nothing => unreachable!("it asked for a customer"),
        },
        Done::Summary(bills) => {
            let customers = bills.iter().map(BillView::of).collect();
            Told::of(200, &SummaryView { customers })
        }
        Done::Committed
        | Done::Aborted
        | Done::Added
        | Done::Deleted
        | Done::CustomerDeleted
        | Done::Reserved
        | Done::Confirmed
        | Done::Cancelled
        | Done::Resolved => Told::of(200, &receipt),
        Done::Configured | Done::Recovered | Done::Delivered => {
            unreachable!("no operation sends such a command")
        }
    })
}

/// What there is of an item.
fn tell_stock(item: Item, stock: Option<Stock>) -> Result<Told, Problem> {
    let none = || Problem::from(Code::from(Refusal::NoSuchItem(item)));
    let stock = stock.ok_or_else(none)?;
    Ok(Told::of(200, &StockView::of(item, stock)))
}

/// What a customer has.
pub(super) fn tell_bill(customer: CustomerId, bill: Option<&Bill>) -> Result<Told, Problem> {
    let none = || Problem::from(Code::from(Refusal::NoSuchCustomer(customer)));
    let bill = bill.ok_or_else(none)?;
    Ok(Told::of(200, &BillView::of(bill)))
}

fn problem_of(refusal: &Refusal) -> Problem {
    let code = Code::from(refusal.clone());
    match refusal {
        Refusal::Aborted(reason) => Problem::with(code, sentence(*reason)),
        _ => Problem::from(code),
    }
}

/// Why a transaction was aborted.
fn sentence(reason: AbortReason) -> String {
    let mut text = String::new();
    let put = match reason {
        AbortReason::Asked => write!(text, "somebody asked for it"),
        AbortReason::Refused => write!(text, "the trip could not be booked"),
        AbortReason::Expired => write!(text, "nothing was asked of it for too long"),
        AbortReason::Deadlock { holder } => {
            write!(text, "it waited in a circle, for transaction {holder} next")
        }
        AbortReason::LockTimeout { holder } => {
            write!(text, "it waited too long for what transaction {holder} has")
        }
        AbortReason::DeskAway(desk) => write!(text, "the desk of {desk} did not answer in time"),
        AbortReason::DeskLost(desk) => {
            write!(text, "the desk of {desk} started anew, or had given it up")
        }
        AbortReason::Restarted => write!(text, "the coordinator started anew"),
        AbortReason::Evicted => write!(text, "its connection was closed and room was needed"),
    };
    put.expect("a text takes what is written");
    text
}

#[cfg(test)]
mod tests {
    use turnstile_travel::{BillLine, Xid};

    use super::*;

    fn told(about: About, done: Done, replayed: bool) -> Result<(u16, String), (u16, String)> {
        let told = tell_outcome(about, Position(9), replayed, &Outcome::Done(done));
        let text = |json: Vec<u8>| String::from_utf8(json).unwrap();
        told.map(|told| (told.status, text(told.json)))
            .map_err(|problem| (problem.code.status(), text(problem.json("/x", "r-1"))))
    }

    #[test]
    fn what_is_new_is_created_once_and_told_again_when_replayed() {
        let locator = Locator::parse(b"7K2M9Q").unwrap();
        let rows = [
            (Done::Started { xid: Xid(7) }, r#""xid":7"#),
            (Done::CustomerAdded(CustomerId(-1)), r#""customer":-1"#),
            (
                Done::Booked {
                    locator,
                    price: 480,
                    until: None,
                },
                r#""locator":"7K2M9Q","price":480"#,
            ),
            (
                Done::Booked {
                    locator,
                    price: 480,
                    until: Some(Timestamp(0)),
                },
                r#""locator":"7K2M9Q","price":480,"until":"1970-01-01T00:00:00.000Z""#,
            ),
        ];
        for (done, data) in rows {
            let first = (201, format!(r#"{{{data},"position":9}}"#));
            let again = (200, format!(r#"{{{data},"position":9,"replayed":true}}"#));
            assert_eq!(told(About::Nothing, done.clone(), false), Ok(first));
            assert_eq!(told(About::Nothing, done, true), Ok(again));
        }
        let receipt = (200, r#"{"position":9}"#.to_owned());
        assert_eq!(told(About::Nothing, Done::Committed, false), Ok(receipt));
    }

    #[test]
    fn a_read_shows_what_is_there_or_says_that_it_is_not() {
        let (item, customer) = (Item::Flight(7), CustomerId(5));
        let stock = Stock {
            free: 3,
            reserved: 1,
            price: 250,
        };
        let shown = r#"{"item":"flight-7","free":3,"reserved":1,"price":250}"#;
        assert_eq!(
            told(About::Item(item), Done::Stock(Some(stock)), false),
            Ok((200, shown.to_owned()))
        );
        let line = BillLine {
            item,
            count: 2,
            price: 250,
        };
        let bill = Bill {
            customer,
            lines: vec![line],
        };
        let shown =
            r#"{"customer":5,"lines":[{"item":"flight-7","count":2,"price":250}],"total":500}"#;
        assert_eq!(
            told(
                About::Customer(customer),
                Done::Bill(Some(bill.clone())),
                false
            ),
            Ok((200, shown.to_owned()))
        );
        let summary = (200, format!(r#"{{"customers":[{shown}]}}"#));
        assert_eq!(
            told(About::Nothing, Done::Summary(vec![bill]), false),
            Ok(summary)
        );
        for (about, done, data) in [
            (
                About::Item(item),
                Done::Stock(None),
                r#""item":"flight-7","position":9}"#,
            ),
            (
                About::Customer(customer),
                Done::Bill(None),
                r#""customer":5,"position":9}"#,
            ),
        ] {
            let (status, json) = told(about, done, false).unwrap_err();
            assert_eq!(status, 404);
            assert!(json.ends_with(data), "{json}");
        }
    }
}
