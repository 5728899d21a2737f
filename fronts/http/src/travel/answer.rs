//! What travel's reads answer.

use turnstile_travel::{Answer, Query, Refusal};

use super::{outcome::tell_bill, query::item_cursor};
use crate::{
    answer::Told,
    conditional::etag_of_bytes,
    cursor::cursor_text,
    problem::{Code, Problem},
};

/// Tells the answer to a query, which the answer does not repeat.
///
/// # Errors
/// What was asked for is not there.
pub fn tell_answer(query: &Query, answer: &Answer) -> Result<Told, Problem> {
    Ok(match (query, answer) {
        // A page that is full may be the last one; then an empty one follows.
        (Query::Items { limit, .. }, Answer::Items(items)) => {
            let last = items.last().filter(|_| items.len() == *limit);
            Told::page(answer, last.map(|(item, _)| item_cursor(*item)))
        }
        (Query::Transactions { limit, .. }, Answer::Transactions(transactions)) => {
            let last = transactions.last();
            let last = last.filter(|_| transactions.len() == *limit);
            Told::page(answer, last.map(|last| cursor_text(last.xid.0)))
        }
        (Query::Customer { customer }, Answer::Customer(bill)) => {
            with_etag(tell_bill(*customer, bill.as_ref())?)
        }
        (_, Answer::Itinerary(None)) => {
            return Err(Problem::from(Code::from(Refusal::NoSuchItinerary)));
        }
        (_, Answer::Transaction(None)) => {
            return Err(Problem::from(Code::from(Refusal::UnknownTransaction)));
        }
        (_, Answer::Itinerary(Some(_))) => with_etag(Told::answer(answer)),
        (_, answer) => Told::answer(answer),
    })
}

/// Nobody counts the changes of these things.
fn with_etag(told: Told) -> Told {
    let etag = etag_of_bytes(&told.json);
    told.with_etag(etag)
}
