//! Reads the database's answer to a command as an outcome.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, de::Error as _};
use turnstile_chassis::Readable;
use turnstile_exchange::{
    Cash, CommandField, Decimal, Done, EndReason, OrderId, Outcome, Refusal, Ticket, TicketState,
};

/// Something that the database gives as text, in the form that every door reads.
pub(super) struct Parsed<T>(pub(super) T);

impl<'de, T: for<'a> Readable<'a>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(from)?;
        let read = T::read(text.as_bytes());
        read.map(Self)
            .map_err(|invalid| D::Error::custom(format_args!("{text}: {invalid}")))
    }
}

/// An outcome with data. Numbers are in units of the scale that stands beside them; cash is in units of its
/// own.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum OutcomeRow {
    Granted {
        position: u64,
        scale: u8,
    },
    Deposited {
        cash: u128,
    },
    Withdrawn {
        cash: u128,
    },
    Accepted {
        ticket: TicketRow,
        again: bool,
    },
    Cancelled {
        order: u64,
        quantity: u64,
        scale: u8,
    },
    Replaced {
        ticket: TicketRow,
        kept_place: bool,
    },
    AllCancelled {
        orders: u32,
    },
    TooManyDigits {
        field: Parsed<CommandField>,
        scale: u8,
    },
    TooLarge {
        field: Parsed<CommandField>,
    },
    Zero {
        field: Parsed<CommandField>,
    },
    InsufficientFunds {
        needed: u128,
        free: u128,
    },
    InsufficientShares {
        needed: u64,
        free: u64,
        scale: u8,
    },
    OutsideBand {
        low: Option<u64>,
        high: Option<u64>,
        scale: u8,
    },
    TooManyOpenOrders {
        limit: u32,
    },
    QuantityLimit {
        limit: Parsed<Decimal>,
    },
    NotionalLimit {
        limit: u128,
    },
    ClientIdReused {
        order: u64,
    },
    Full {
        limit: u32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TicketRow {
    order: u64,
    /// `open`, `filled`, or why it ended.
    state: String,
    filled: u64,
    value: u128,
    open: u64,
    scale: u8,
}

/// Reads an outcome: one without data is its word.
///
/// # Errors
/// The text is none; with what is wrong about it.
pub(super) fn outcome(text: &str) -> Result<Outcome, String> {
    let wrong = |failure: &dyn std::fmt::Display| format!("the outcome {text}: {failure}");
    if let Ok(word) = serde_json::from_str::<&str>(text) {
        let done = Done::plain(word).map(Outcome::Done);
        let outcome = done.or_else(|| Refusal::plain(word).map(Outcome::Refused));
        return outcome.ok_or_else(|| wrong(&"there is no such word"));
    }
    let row: OutcomeRow = serde_json::from_str(text).map_err(|failure| wrong(&failure))?;
    row.into_outcome()
}

/// A number of the machine from its parts.
///
/// # Errors
/// No symbol has such a scale.
pub(super) fn decimal(units: u64, scale: u8) -> Result<Decimal, String> {
    if scale > turnstile_exchange::CASH_SCALE {
        return Err(format!("a scale of {scale}"));
    }
    Ok(Decimal::new(units, scale))
}

impl OutcomeRow {
    fn into_outcome(self) -> Result<Outcome, String> {
        Ok(match self {
            Self::Granted { position, scale } => Outcome::Done(Done::Granted {
                position: decimal(position, scale)?,
            }),
            Self::Deposited { cash } => Outcome::Done(Done::Deposited { cash: Cash(cash) }),
            Self::Withdrawn { cash } => Outcome::Done(Done::Withdrawn { cash: Cash(cash) }),
            Self::Accepted { ticket, again } => Outcome::Done(Done::Accepted {
                ticket: ticket.into_ticket()?,
                again,
            }),
            Self::Cancelled {
                order,
                quantity,
                scale,
            } => Outcome::Done(Done::Cancelled {
                order: OrderId(order),
                quantity: decimal(quantity, scale)?,
            }),
            Self::Replaced { ticket, kept_place } => Outcome::Done(Done::Replaced {
                ticket: ticket.into_ticket()?,
                kept_place,
            }),
            Self::AllCancelled { orders } => Outcome::Done(Done::AllCancelled { orders }),
            Self::TooManyDigits { field, scale } => Outcome::Refused(Refusal::TooManyDigits {
                field: field.0,
                scale,
            }),
            Self::TooLarge { field } => Outcome::Refused(Refusal::TooLarge { field: field.0 }),
            Self::Zero { field } => Outcome::Refused(Refusal::Zero { field: field.0 }),
            Self::InsufficientFunds { needed, free } => {
                Outcome::Refused(Refusal::InsufficientFunds {
                    needed: Cash(needed),
                    free: Cash(free),
                })
            }
            Self::InsufficientShares {
                needed,
                free,
                scale,
            } => Outcome::Refused(Refusal::InsufficientShares {
                needed: decimal(needed, scale)?,
                free: decimal(free, scale)?,
            }),
            Self::OutsideBand { low, high, scale } => Outcome::Refused(Refusal::OutsideBand {
                low: low.map(|low| decimal(low, scale)).transpose()?,
                high: high.map(|high| decimal(high, scale)).transpose()?,
            }),
            Self::TooManyOpenOrders { limit } => {
                Outcome::Refused(Refusal::TooManyOpenOrders { limit })
            }
            Self::QuantityLimit { limit } => {
                Outcome::Refused(Refusal::QuantityLimit { limit: limit.0 })
            }
            Self::NotionalLimit { limit } => {
                Outcome::Refused(Refusal::NotionalLimit { limit: Cash(limit) })
            }
            Self::ClientIdReused { order } => Outcome::Refused(Refusal::ClientIdReused {
                order: OrderId(order),
            }),
            Self::Full { limit } => Outcome::Refused(Refusal::Full { limit }),
        })
    }
}

impl TicketRow {
    fn into_ticket(self) -> Result<Ticket, String> {
        let ended = || EndReason::plain(&self.state).map(TicketState::Ended);
        let state = TicketState::plain(&self.state).or_else(ended);
        Ok(Ticket {
            order: OrderId(self.order),
            state: state.ok_or_else(|| format!("the state {}", self.state))?,
            filled: decimal(self.filled, self.scale)?,
            value: Cash(self.value),
            open: decimal(self.open, self.scale)?,
        })
    }
}
