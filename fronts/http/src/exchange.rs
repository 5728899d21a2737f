//! The exchange in HTTP: bodies and parameters to commands and queries, outcomes and answers to JSON.

mod event;
pub mod feed;
mod query;
mod request;

use turnstile_exchange::{Answer, Done, Outcome};
use turnstile_types::Position;

use crate::{
    answer::{Told, decided},
    conditional::{etag_of_bytes, etag_of_number},
    problem::{Code, Problem},
};

pub use event::{Interest, concerns, put_event};
pub use query::{
    account, account_in, accounts, depth, interest, order_in, orders, queue, status, symbol_in,
    symbols, trades,
};
pub use request::{
    CashAmount, MassCancellation, NewAccount, NewBand, NewGrant, NewLimits, NewOrder, NewSymbol,
    OrderCancellation, OrderReplacement,
};

/// Tells a command's outcome.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_outcome(
    position: Position,
    replayed: bool,
    outcome: &Outcome,
) -> Result<Told, Problem> {
    let (done, receipt) = decided(position, replayed, outcome)?;
    let told = Told::done(done, receipt);
    Ok(match done {
        Done::AccountCreated | Done::SymbolCreated => told.made(receipt),
        Done::Accepted { ticket, again } => {
            let path = format!("/v1/exchange/orders/{}", ticket.order);
            if *again { told } else { told.made(receipt) }.at(path)
        }
        Done::Granted { .. }
        | Done::Deposited { .. }
        | Done::Withdrawn { .. }
        | Done::Cancelled { .. }
        | Done::Replaced { .. }
        | Done::AllCancelled { .. }
        | Done::BandSet
        | Done::Halted
        | Done::Resumed
        | Done::LimitsSet => told,
    })
}

/// Tells the answer to a query.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_answer(answer: &Answer) -> Result<Told, Problem> {
    let told = match answer {
        Answer::Refused(refusal) => return Err(Problem::from(Code::from(*refusal))),
        answer => Told::answer(answer),
    };
    Ok(match answer {
        Answer::Order(_) => {
            let etag = etag_of_bytes(&told.json);
            told.with_etag(etag)
        }
        Answer::Depth(depth) => told.with_etag(etag_of_number(depth.seq)),
        Answer::Queue { seq, .. } => told.with_etag(etag_of_number(*seq)),
        _ => told,
    })
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{Cash, Decimal, EndReason, OrderId, Ticket, TicketState};

    use super::*;

    fn told(done: Done, replayed: bool) -> (u16, String, Option<String>) {
        let told = tell_outcome(Position(9), replayed, &Outcome::Done(done)).unwrap();
        let json = String::from_utf8(told.json).unwrap();
        (told.status, json, told.location)
    }

    #[test]
    fn an_order_is_told_with_what_became_of_it() {
        let ticket = Ticket {
            order: OrderId(17),
            state: TicketState::Ended(EndReason::Immediate),
            filled: Decimal::new(25, 1),
            value: Cash(250_000_000),
            open: Decimal::ZERO,
        };
        let accepted = |again| Done::Accepted { ticket, again };
        let location = Some("/v1/exchange/orders/17".to_owned());
        let whole = r#"{"order":17,"state":"cancelled","filled":"2.5","value":"2.5","open":"0","reason":"immediate","position":9}"#;
        assert_eq!(
            told(accepted(false), false),
            (201, whole.to_owned(), location.clone())
        );
        let again = whole.replace(r#","position""#, r#","again":true,"position""#);
        assert_eq!(told(accepted(true), false), (200, again, location.clone()));
        let replayed = whole.replace('}', r#","replayed":true}"#);
        assert_eq!(told(accepted(false), true), (200, replayed, location));
        let ticket = Ticket {
            state: TicketState::Open,
            open: Decimal::new(5, 0),
            filled: Decimal::ZERO,
            value: Cash(0),
            ..ticket
        };
        let replaced = Done::Replaced {
            ticket,
            kept_place: true,
        };
        assert_eq!(
            told(replaced, false).1,
            r#"{"order":17,"state":"open","filled":"0","value":"0","open":"5","kept_place":true,"position":9}"#
        );
    }
}
