//! Reads the database's answer to a command as an outcome.

use serde::Deserialize;
use turnstile_exchange::{
    Cash, Decimal, Done, EndReason, Field, OrderId, Outcome, Refusal, Ticket, TicketState,
};

/// Numbers are in units of the scale that stands beside them; cash is in units of its own.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Decided {
    AccountCreated,
    SymbolCreated,
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
        ticket: Given,
        again: bool,
    },
    Cancelled {
        order: u64,
        quantity: u64,
        scale: u8,
    },
    Replaced {
        ticket: Given,
        kept_place: bool,
    },
    AllCancelled {
        orders: u32,
    },
    BandSet,
    Halted,
    Resumed,
    LimitsSet,
    UnknownAccount,
    AccountExists,
    UnknownSymbol,
    SymbolExists,
    ScaleTooLarge,
    TooManyDigits {
        field: What,
        scale: u8,
    },
    TooLarge {
        field: What,
    },
    Zero {
        field: What,
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
    MarketMustNotWait,
    NoMarket,
    NotFillable,
    WouldMatch,
    DateOver,
    OutsideBand {
        low: Option<u64>,
        high: Option<u64>,
        scale: u8,
    },
    EmptyBand,
    SymbolHalted,
    TooManyOpenOrders {
        limit: u32,
    },
    QuantityLimit {
        limit: String,
    },
    NotionalLimit {
        limit: u128,
    },
    ClientIdReused {
        order: u64,
    },
    NotFound,
    NotYours,
    NotOpen,
    Full {
        limit: u32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    order: u64,
    state: State,
    filled: u64,
    value: u128,
    open: u64,
    scale: u8,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Filled,
    #[serde(untagged)]
    Ended(Reason),
}

/// The type `exchange.reason` of the database.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    Cancelled,
    MassCancelled,
    Expired,
    Immediate,
    SelfTrade,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Price,
    Quantity,
    Cash,
}

/// Reads an outcome.
///
/// # Errors
/// The text is none; with what is wrong about it.
pub(super) fn outcome(text: &str) -> Result<Outcome, String> {
    let decided: Decided =
        serde_json::from_str(text).map_err(|failure| format!("the outcome {text}: {failure}"))?;
    decided.into_outcome()
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

/// A number of the machine from its text.
pub(super) fn parse(text: &str) -> Result<Decimal, String> {
    Decimal::parse(text.as_bytes()).map_err(|failure| format!("the number {text}: {failure:?}"))
}

impl Decided {
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each outcome, so that none is forgotten"
    )]
    fn into_outcome(self) -> Result<Outcome, String> {
        let refusal = match self {
            Self::AccountCreated => return Ok(Outcome::Done(Done::AccountCreated)),
            Self::SymbolCreated => return Ok(Outcome::Done(Done::SymbolCreated)),
            Self::Granted { position, scale } => {
                return Ok(Outcome::Done(Done::Granted {
                    position: decimal(position, scale)?,
                }));
            }
            Self::Deposited { cash } => {
                return Ok(Outcome::Done(Done::Deposited { cash: Cash(cash) }));
            }
            Self::Withdrawn { cash } => {
                return Ok(Outcome::Done(Done::Withdrawn { cash: Cash(cash) }));
            }
            Self::Accepted { ticket, again } => {
                return Ok(Outcome::Done(Done::Accepted {
                    ticket: ticket.into_ticket()?,
                    again,
                }));
            }
            Self::Cancelled {
                order,
                quantity,
                scale,
            } => {
                return Ok(Outcome::Done(Done::Cancelled {
                    order: OrderId(order),
                    quantity: decimal(quantity, scale)?,
                }));
            }
            Self::Replaced { ticket, kept_place } => {
                return Ok(Outcome::Done(Done::Replaced {
                    ticket: ticket.into_ticket()?,
                    kept_place,
                }));
            }
            Self::AllCancelled { orders } => {
                return Ok(Outcome::Done(Done::AllCancelled { orders }));
            }
            Self::BandSet => return Ok(Outcome::Done(Done::BandSet)),
            Self::Halted => return Ok(Outcome::Done(Done::Halted)),
            Self::Resumed => return Ok(Outcome::Done(Done::Resumed)),
            Self::LimitsSet => return Ok(Outcome::Done(Done::LimitsSet)),
            Self::UnknownAccount => Refusal::UnknownAccount,
            Self::AccountExists => Refusal::AccountExists,
            Self::UnknownSymbol => Refusal::UnknownSymbol,
            Self::SymbolExists => Refusal::SymbolExists,
            Self::ScaleTooLarge => Refusal::ScaleTooLarge,
            Self::TooManyDigits { field, scale } => Refusal::TooManyDigits {
                field: field.into(),
                scale,
            },
            Self::TooLarge { field } => Refusal::TooLarge {
                field: field.into(),
            },
            Self::Zero { field } => Refusal::Zero {
                field: field.into(),
            },
            Self::InsufficientFunds { needed, free } => Refusal::InsufficientFunds {
                needed: Cash(needed),
                free: Cash(free),
            },
            Self::InsufficientShares {
                needed,
                free,
                scale,
            } => Refusal::InsufficientShares {
                needed: decimal(needed, scale)?,
                free: decimal(free, scale)?,
            },
            Self::MarketMustNotWait => Refusal::MarketMustNotWait,
            Self::NoMarket => Refusal::NoMarket,
            Self::NotFillable => Refusal::NotFillable,
            Self::WouldMatch => Refusal::WouldMatch,
            Self::DateOver => Refusal::DateOver,
            Self::OutsideBand { low, high, scale } => Refusal::OutsideBand {
                low: low.map(|low| decimal(low, scale)).transpose()?,
                high: high.map(|high| decimal(high, scale)).transpose()?,
            },
            Self::EmptyBand => Refusal::EmptyBand,
            Self::SymbolHalted => Refusal::SymbolHalted,
            Self::TooManyOpenOrders { limit } => Refusal::TooManyOpenOrders { limit },
            Self::QuantityLimit { limit } => Refusal::QuantityLimit {
                limit: parse(&limit)?,
            },
            Self::NotionalLimit { limit } => Refusal::NotionalLimit { limit: Cash(limit) },
            Self::ClientIdReused { order } => Refusal::ClientIdReused {
                order: OrderId(order),
            },
            Self::NotFound => Refusal::NotFound,
            Self::NotYours => Refusal::NotYours,
            Self::NotOpen => Refusal::NotOpen,
            Self::Full { limit } => Refusal::Full { limit },
        };
        Ok(Outcome::Refused(refusal))
    }
}

impl Given {
    fn into_ticket(self) -> Result<Ticket, String> {
        Ok(Ticket {
            order: OrderId(self.order),
            state: match self.state {
                State::Open => TicketState::Open,
                State::Filled => TicketState::Filled,
                State::Ended(reason) => TicketState::Ended(reason.into()),
            },
            filled: decimal(self.filled, self.scale)?,
            value: Cash(self.value),
            open: decimal(self.open, self.scale)?,
        })
    }
}

impl From<Reason> for EndReason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Cancelled => Self::Cancelled,
            Reason::MassCancelled => Self::MassCancelled,
            Reason::Expired => Self::Expired,
            Reason::Immediate => Self::Immediate,
            Reason::SelfTrade => Self::SelfTrade,
        }
    }
}

impl From<What> for Field {
    fn from(what: What) -> Self {
        match what {
            What::Price => Self::Price,
            What::Quantity => Self::Quantity,
            What::Cash => Self::Cash,
        }
    }
}
