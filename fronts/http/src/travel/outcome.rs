//! What travel's commands answer.

use turnstile_travel::{Bill, Command, CustomerId, Done, Item, Outcome, Refusal, Step, StockView};
use turnstile_types::Position;

use crate::{
    answer::{Receipt, Told},
    code::Code,
    problem::Problem,
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

/// Tells a command's outcome; one that waits is not known yet.
///
/// # Errors
/// The problem of a refusal, or that what was asked for is not there.
pub(super) fn tell(
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
        Outcome::Waiting { .. } => Err(Problem::from(Code::OutcomeUnknown)),
    };
    told.map_err(|problem| Problem {
        position: Some(position),
        replayed,
        ..problem
    })
}

/// A step that only reads has no receipt: it changes nothing.
fn tell_done(about: About, done: &Done, receipt: Receipt) -> Result<Told, Problem> {
    Ok(match (done, about) {
        (Done::Stock(stock), About::Item(item)) => {
            let none = || Problem::from(Code::from(Refusal::NoSuchItem(item)));
            let stock = stock.ok_or_else(none)?;
            Told::answer(&StockView { item, stock })
        }
        (Done::Bill(bill), About::Customer(customer)) => tell_bill(customer, bill.as_ref())?,
        (Done::Summary(_), _) => Told::answer(done),
        (done, _) => Told::done(done, receipt),
    })
}

/// What a customer has.
pub(super) fn tell_bill(customer: CustomerId, bill: Option<&Bill>) -> Result<Told, Problem> {
    let none = || Problem::from(Code::from(Refusal::NoSuchCustomer(customer)));
    bill.map(Told::answer).ok_or_else(none)
}

fn problem_of(refusal: &Refusal) -> Problem {
    let code = Code::from(refusal.clone());
    match refusal {
        Refusal::Aborted(reason) => Problem::with(code, reason.to_string()),
        _ => Problem::from(code),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_travel::{BillLine, Locator, Stock, Travel, Xid};
    use turnstile_types::Timestamp;

    use super::*;
    use crate::served::answer_of;

    /// One that makes nothing.
    const ANY: &str = "/transactions/7/commit";

    /// What is answered at a path.
    fn told(
        path: &str,
        about: About,
        done: Done,
        replayed: bool,
    ) -> Result<(u16, String), (u16, String)> {
        let path = format!("/v1/travel{path}");
        answer_of::<Travel>(&path, about, replayed, &Outcome::Done(done))
            .map(|(status, _, json)| (status, json))
            .map_err(|problem| {
                let json = problem.json("/x", "r-1");
                (problem.code.status(), String::from_utf8(json).unwrap())
            })
    }

    #[test]
    fn what_is_new_is_created_once_and_told_again_when_replayed() {
        let locator = Locator::parse(b"7K2M9Q").unwrap();
        let rows = [
            ("/transactions", Done::Started { xid: Xid(7) }, r#""xid":7"#),
            (
                "/transactions/7/customers",
                Done::CustomerAdded(CustomerId(-1)),
                r#""customer":-1"#,
            ),
            (
                "/itineraries",
                Done::Booked {
                    locator,
                    price: 480,
                    until: None,
                },
                r#""locator":"7K2M9Q","price":480"#,
            ),
            (
                "/itineraries",
                Done::Booked {
                    locator,
                    price: 480,
                    until: Some(Timestamp(0)),
                },
                r#""locator":"7K2M9Q","price":480,"until":"1970-01-01T00:00:00.000Z""#,
            ),
        ];
        for (path, done, data) in rows {
            let first = (201, format!(r#"{{{data},"position":9}}"#));
            let again = (200, format!(r#"{{{data},"position":9,"replayed":true}}"#));
            assert_eq!(told(path, About::Nothing, done.clone(), false), Ok(first));
            assert_eq!(told(path, About::Nothing, done, true), Ok(again));
        }
        let receipt = (200, r#"{"position":9}"#.to_owned());
        assert_eq!(
            told(
                "/transactions/7/commit",
                About::Nothing,
                Done::Committed,
                false
            ),
            Ok(receipt)
        );
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
            told(ANY, About::Item(item), Done::Stock(Some(stock)), false),
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
            r#"{"customer":5,"total":500,"lines":[{"item":"flight-7","count":2,"price":250}]}"#;
        assert_eq!(
            told(
                ANY,
                About::Customer(customer),
                Done::Bill(Some(bill.clone())),
                false
            ),
            Ok((200, shown.to_owned()))
        );
        let summary = (200, format!(r#"{{"customers":[{shown}]}}"#));
        assert_eq!(
            told(ANY, About::Nothing, Done::Summary(vec![bill]), false),
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
            let (status, json) = told(ANY, about, done, false).unwrap_err();
            assert_eq!(status, 404);
            assert!(json.ends_with(data), "{json}");
        }
    }
}
