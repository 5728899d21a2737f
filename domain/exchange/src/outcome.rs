//! What the machine answers to a command: done or refused, both with data.

use turnstile_chassis::{
    Bytes, Decode, Encode, Field as Shown, Fields, Value as _, Visitor, Words,
};
use turnstile_types::{Malformed, Reader};

use crate::{Cash, Decimal, OrderId};

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Done {
    #[byte(0x01)]
    AccountCreated,
    #[byte(0x02)]
    SymbolCreated,
    /// What the account now holds, free and reserved together.
    #[byte(0x03)]
    Granted {
        #[field(name = "shares")]
        position: Decimal,
    },
    /// The free cash after it.
    #[byte(0x04)]
    Deposited { cash: Cash },
    /// The free cash after it.
    #[byte(0x05)]
    Withdrawn { cash: Cash },
    /// An order was accepted.
    #[byte(0x06)]
    Accepted {
        #[field(flatten)]
        ticket: Ticket,
        #[field(flatten, with = Again::new)]
        again: bool,
    },
    /// What was cancelled.
    #[byte(0x07)]
    Cancelled { order: OrderId, quantity: Decimal },
    #[byte(0x08)]
    Replaced {
        #[field(flatten)]
        ticket: Ticket,
        /// Whether it was reduced where it stood in the queue.
        kept_place: bool,
    },
    #[byte(0x09)]
    AllCancelled { orders: u32 },
    #[byte(0x0a)]
    BandSet,
    #[byte(0x0b)]
    Halted,
    #[byte(0x0c)]
    Resumed,
    #[byte(0x0d)]
    LimitsSet,
}

/// What became of an order at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Ticket {
    pub order: OrderId,
    pub state: TicketState,
    /// What was executed now.
    pub filled: Decimal,
    /// The cash that it cost or brought now: the sum of price x quantity.
    pub value: Cash,
    /// What still waits on the book.
    pub open: Decimal,
}

/// The first of the stable bytes of a [`TicketState`] without a reason.
const OPEN: u8 = 0x00;
const FILLED: u8 = 0x01;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TicketState {
    /// It rests on the book, perhaps partly executed.
    Open,
    Filled,
    /// What was left of it was cancelled.
    #[word("cancelled")]
    Ended(EndReason),
}

/// Why an order ended before it was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum EndReason {
    /// Its account cancelled it.
    #[byte(0x10)]
    Cancelled,
    /// Its account cancelled all its orders.
    #[byte(0x11)]
    MassCancelled,
    /// Its date came.
    #[byte(0x12)]
    Expired,
    /// It was not to wait, and nothing more matched.
    #[byte(0x13)]
    Immediate,
    /// It met an order of its own account.
    #[byte(0x14)]
    SelfTrade,
}

/// A number of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum CommandField {
    #[byte(0x00)]
    Price,
    #[byte(0x01)]
    Quantity,
    #[byte(0x02)]
    Cash,
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Refusal {
    #[byte(0x81)]
    #[refusal(not_found, "There is no such account")]
    UnknownAccount,
    #[byte(0x82)]
    #[refusal(conflict, "The account exists")]
    AccountExists,
    #[byte(0x83)]
    #[refusal(not_found, "There is no such symbol")]
    UnknownSymbol,
    #[byte(0x84)]
    #[refusal(conflict, "The symbol exists")]
    SymbolExists,
    /// The two scales of a symbol are at most 8 together.
    #[byte(0x85)]
    #[refusal(invalid, "The two scales of a symbol are at most 8 together")]
    ScaleTooLarge,
    /// The number has more digits after the point than the symbol (or cash) keeps.
    #[byte(0x86)]
    #[refusal(invalid, "The number has more digits after the point than are kept")]
    TooManyDigits { field: CommandField, scale: u8 },
    /// The number is larger than the machine keeps.
    #[byte(0x87)]
    #[refusal(invalid, "The number is larger than the exchange keeps")]
    TooLarge { field: CommandField },
    /// The number must not be zero.
    #[byte(0x88)]
    #[refusal(invalid, "The number must not be zero")]
    Zero { field: CommandField },
    #[byte(0x89)]
    #[refusal(conflict, "The account has not enough free cash")]
    InsufficientFunds { needed: Cash, free: Cash },
    #[byte(0x8a)]
    #[refusal(conflict, "The account has not enough free shares")]
    InsufficientShares { needed: Decimal, free: Decimal },
    /// A market order must not wait.
    #[byte(0x8b)]
    #[refusal(invalid, "A market order must not wait: it is ioc or fok")]
    MarketMustNotWait,
    /// No order rests on the other side of a market order.
    #[byte(0x8c)]
    #[refusal(conflict, "No order rests on the other side of a market order")]
    NoMarket,
    /// A fill-or-kill order would not be filled whole.
    #[byte(0x8d)]
    #[refusal(conflict, "The order would not be filled whole")]
    NotFillable,
    /// A post-only order would match at once.
    #[byte(0x8e)]
    #[refusal(conflict, "The order would match at once")]
    WouldMatch,
    /// The date of a good-till-date order is over.
    #[byte(0x8f)]
    #[refusal(invalid, "The date of the order is over")]
    DateOver,
    #[byte(0x90)]
    #[refusal(conflict, "The price is outside the band of the symbol")]
    OutsideBand {
        low: Option<Decimal>,
        high: Option<Decimal>,
    },
    /// A band whose low end is above its high end.
    #[byte(0x91)]
    #[refusal(invalid, "The low end of the band is above its high end")]
    EmptyBand,
    #[byte(0x92)]
    #[refusal(conflict, "Trading in the symbol is halted")]
    SymbolHalted,
    #[byte(0x93)]
    #[refusal(conflict, "The account has as many open orders as it may have")]
    TooManyOpenOrders { limit: u32 },
    /// Larger than the account's limit on the quantity of one order.
    #[byte(0x94)]
    #[refusal(conflict, "The quantity is above the account's limit for one order")]
    QuantityLimit { limit: Decimal },
    /// Larger than the account's limit on the value of one order.
    #[byte(0x95)]
    #[refusal(conflict, "The value is above the account's limit for one order")]
    NotionalLimit { limit: Cash },
    /// The client id belongs to another order of the account.
    #[byte(0x96)]
    #[refusal(conflict, "The client id belongs to another order of the account")]
    ClientIdReused { order: OrderId },
    /// There never was such an order, or it ended so long ago that it is forgotten.
    #[byte(0x97)]
    #[refusal(not_found, "There never was such an order, or it is forgotten")]
    NotFound,
    /// It is another account's order.
    #[byte(0x98)]
    #[refusal(forbidden, "It is another account's order")]
    NotYours,
    /// Nothing of the order is open.
    #[byte(0x99)]
    #[refusal(conflict, "Nothing of the order is open")]
    NotOpen,
    /// The machine has as many accounts, symbols or open orders as it may have.
    #[byte(0x9a)]
    #[refusal(conflict, "The exchange keeps no more of them")]
    Full { limit: u32 },
}

/// Why it ended stands last: an order that has not ended has no reason.
impl Fields for Ticket {
    #[inline]
    fn visit(&self, visitor: &mut impl Visitor) {
        let reason = match self.state {
            TicketState::Open | TicketState::Filled => None,
            TicketState::Ended(reason) => Some(reason),
        };
        visitor.field("order", &self.order);
        visitor.field("state", &self.state);
        visitor.field("filled", &self.filled);
        visitor.field("value", &self.value);
        visitor.field("open", &self.open);
        visitor.field("reason", &reason);
    }

    fn describe() -> Vec<Shown> {
        vec![
            Shown::new("order", "", OrderId::kind()),
            Shown::new("state", "", TicketState::kind()),
            Shown::new("filled", "What was executed now.", Decimal::kind()),
            Shown::new(
                "value",
                "The cash that it cost or brought now: the sum of price x quantity.",
                Cash::kind(),
            ),
            Shown::new("open", "What still waits on the book.", Decimal::kind()),
            Shown::new(
                "reason",
                "Why it was cancelled.",
                <Option<EndReason>>::kind(),
            ),
        ]
    }
}

/// The mark of an answer that was given before to the same client id. Other answers have none.
struct Again(bool);

impl Again {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "fields are handed over by reference"
    )]
    const fn new(again: &bool) -> Self {
        Self(*again)
    }
}

impl Fields for Again {
    #[inline]
    fn visit(&self, visitor: &mut impl Visitor) {
        if self.0 {
            visitor.field("again", &true);
        }
    }

    fn describe() -> Vec<Shown> {
        let meaning = "Present and true when this is the first answer to the same client id.";
        vec![Shown::new("again", meaning, <Option<bool>>::kind())]
    }
}

/// The byte of what ended an order is that of its reason.
impl Encode for TicketState {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Open => out.push(OPEN),
            Self::Filled => out.push(FILLED),
            Self::Ended(reason) => reason.encode(out),
        }
    }
}

impl Decode<'_> for TicketState {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let plain = match reader.peek() {
            Some(OPEN) => Self::Open,
            Some(FILLED) => Self::Filled,
            Some(_) | None => return EndReason::decode(reader, field).map(Self::Ended),
        };
        reader.u8(field)?;
        Ok(plain)
    }
}
