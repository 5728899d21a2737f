//! What the exchange's commands answer when they succeed.

use serde::Serialize;
use turnstile_exchange::{Cash, Decimal, Done, Outcome, Ticket, TicketState};
use turnstile_types::Position;
use utoipa::ToSchema;

use crate::{
    answer::{Receipt, Text, Told, is_false},
    problem::{Code, Problem},
};

/// What became of an order at once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderPlaced {
    #[schema(example = 17)]
    order: u64,
    /// `open`, `filled` or `cancelled`.
    #[schema(value_type = String, example = "open")]
    state: &'static str,
    /// What was executed now.
    #[schema(value_type = String, example = "0")]
    filled: Text<Decimal>,
    /// The cash that it cost or brought now: the sum of price x quantity.
    #[schema(value_type = String, example = "0")]
    value: Text<Cash>,
    /// What still waits on the book.
    #[schema(value_type = String, example = "10")]
    open: Text<Decimal>,
    /// Why it was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reason: Option<&'static str>,
    /// Present and true when this is the first answer to the same client id.
    #[serde(skip_serializing_if = "is_false")]
    again: bool,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderReplaced {
    /// Whether it was reduced where it stood in the queue.
    kept_place: bool,
    #[serde(flatten)]
    placed: OrderPlaced,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderCancelled {
    order: u64,
    /// What was cancelled.
    #[schema(value_type = String, example = "10")]
    quantity: Text<Decimal>,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrdersCancelled {
    /// How many.
    orders: u32,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SharesGranted {
    /// What the account now holds, free and reserved together.
    #[schema(value_type = String, example = "500")]
    shares: Text<Decimal>,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CashMoved {
    /// The free cash after it.
    #[schema(value_type = String, example = "100250.5")]
    cash: Text<Cash>,
    #[serde(flatten)]
    receipt: Receipt,
}

/// Tells a command's outcome.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_outcome(
    position: Position,
    replayed: bool,
    outcome: &Outcome,
) -> Result<Told, Problem> {
    let receipt = Receipt {
        position: position.0,
        replayed,
    };
    match outcome {
        Outcome::Done(done) => Ok(tell_done(done, receipt)),
        Outcome::Refused(refusal) => Err(Problem {
            position: Some(position),
            replayed,
            ..Problem::from(Code::from(*refusal))
        }),
    }
}

fn tell_done(done: &Done, receipt: Receipt) -> Told {
    let made = if receipt.replayed { 200 } else { 201 };
    match *done {
        Done::AccountCreated | Done::SymbolCreated => Told::of(made, &receipt),
        Done::BandSet | Done::Halted | Done::Resumed | Done::LimitsSet => Told::of(200, &receipt),
        Done::Granted { position } => {
            let shares = Text(position);
            Told::of(200, &SharesGranted { shares, receipt })
        }
        Done::Deposited { cash } | Done::Withdrawn { cash } => {
            let cash = Text(cash);
            Told::of(200, &CashMoved { cash, receipt })
        }
        Done::Accepted { ticket, again } => Told {
            location: Some(format!("/v1/exchange/orders/{}", ticket.order)),
            ..Told::of(
                if again { 200 } else { made },
                &placed(ticket, again, receipt),
            )
        },
        Done::Replaced { ticket, kept_place } => {
            let placed = placed(ticket, false, receipt);
            Told::of(200, &OrderReplaced { kept_place, placed })
        }
        Done::Cancelled { order, quantity } => {
            let cancelled = OrderCancelled {
                order: order.0,
                quantity: Text(quantity),
                receipt,
            };
            Told::of(200, &cancelled)
        }
        Done::AllCancelled { orders } => Told::of(200, &OrdersCancelled { orders, receipt }),
    }
}

const fn placed(ticket: Ticket, again: bool, receipt: Receipt) -> OrderPlaced {
    let reason = match ticket.state {
        TicketState::Open | TicketState::Filled => None,
        TicketState::Ended(reason) => Some(reason.code()),
    };
    OrderPlaced {
        order: ticket.order.0,
        state: ticket.state.code(),
        filled: Text(ticket.filled),
        value: Text(ticket.value),
        open: Text(ticket.open),
        reason,
        again,
        receipt,
    }
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{EndReason, OrderId};

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
            r#"{"kept_place":true,"order":17,"state":"open","filled":"0","value":"0","open":"5","position":9}"#
        );
    }
}
