//! What travel's reads answer.

use turnstile_travel::{Answer, Query, Refusal};

use super::outcome::tell_bill;
use crate::{answer::Told, code::Code, problem::Problem};

/// Tells the answer to a query, which the answer does not repeat.
///
/// # Errors
/// What was asked for is not there.
pub(super) fn tell(query: &Query, answer: &Answer) -> Result<Told, Problem> {
    Ok(match (query, answer) {
        // A page that is full may be the last one; then an empty one follows.
        (Query::Items { limit, .. }, Answer::Items(items)) => {
            let last = items.last().filter(|_| items.len() == *limit);
            Told::page(answer, last.map(|(item, _)| item.to_string()))
        }
        (Query::Transactions { limit, .. }, Answer::Transactions(transactions)) => {
            let last = transactions.last();
            let last = last.filter(|_| transactions.len() == *limit);
            Told::page(answer, last.map(|last| format!("c{:016x}", last.xid.0)))
        }
        (Query::Customer { customer }, Answer::Customer(bill)) => {
            tell_bill(*customer, bill.as_ref())?
        }
        (_, Answer::Itinerary(None)) => {
            return Err(Problem::from(Code::from(Refusal::NoSuchItinerary)));
        }
        (_, Answer::Transaction(None)) => {
            return Err(Problem::from(Code::from(Refusal::UnknownTransaction)));
        }
        (_, answer) => Told::answer(answer),
    })
}
