//! What the machine can be asked to do.

use std::fmt;

use turnstile_chassis::{
    Bytes, Fields, Kind, Need, NoWord, Operations, Parameter, Parameters, Readable, Show, Source,
    Value, Words,
};
use turnstile_types::Timestamp;

use crate::{
    AccountId, CASH_SCALE, ClientId, Decimal, Done, InvalidLabel, OrderId, SelfTrade, Side, Symbol,
    about::About, limits,
};

/// The most digits after the point.
const SCALE_MAX: u64 = CASH_SCALE as u64;

/// How long an order may wait on the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
#[fields(tag = "time_in_force")]
pub enum TimeInForce {
    /// Until it is filled or cancelled.
    #[byte(0x00)]
    #[word("gtc")]
    GoodTillCancel,
    /// Until this instant of logged time.
    #[byte(0x01)]
    #[word("gtd")]
    GoodTillDate(#[field(name = "until")] Timestamp),
    /// Not at all: what does not match at once is cancelled.
    #[byte(0x02)]
    #[word("ioc")]
    ImmediateOrCancel,
    /// Not at all: it matches whole at once, or nothing happens.
    #[byte(0x03)]
    #[word("fok")]
    FillOrKill,
    /// Until it is filled or cancelled, and it must not match at once: else it is refused.
    #[byte(0x04)]
    PostOnly,
}

impl TimeInForce {
    /// The date of an order that has one.
    #[must_use]
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::GoodTillDate(until) => Some(until),
            Self::GoodTillCancel | Self::ImmediateOrCancel | Self::FillOrKill | Self::PostOnly => {
                None
            }
        }
    }
}

impl TimeInForce {
    /// The words of those that need no date.
    const PLAIN: &'static [&'static str] = &["gtc", "ioc", "fok", "post_only"];

    /// Reads the word of one that needs no date, whatever the case of its letters.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, NoWord> {
        let plain = [
            Self::GoodTillCancel,
            Self::ImmediateOrCancel,
            Self::FillOrKill,
            Self::PostOnly,
        ];
        let mut pairs = Self::PLAIN.iter().zip(plain);
        let found = pairs.find(|(word, _)| word.as_bytes().eq_ignore_ascii_case(text));
        found.map(|(_, time)| time).ok_or(NoWord(Self::PLAIN))
    }
}

/// `until` makes it good till that date; without either, a limit decides.
struct OrderLifetime(Option<TimeInForce>);

impl<'a> Parameters<'a> for OrderLifetime {
    fn parameters() -> Vec<Parameter> {
        let parameter = |name, meaning, kind, need| Parameter {
            name,
            meaning,
            kind,
            need,
            default: None,
        };
        vec![
            parameter(
                "time_in_force",
                "gtc with a limit and ioc without, when nothing is said",
                Kind::OneOf(TimeInForce::PLAIN),
                Need::OptionalWord,
            ),
            parameter(
                "until",
                "When the order expires, instead of a word",
                Kind::Instant,
                Need::Optional,
            ),
        ]
    }

    #[inline]
    fn read<S: Source<'a>>(source: &mut S) -> Option<Self> {
        let plain = source.optional("time_in_force", TimeInForce::parse)?;
        let until = source.optional("until", Timestamp::read)?;
        if plain.is_some() && until.is_some() {
            source.invalid(
                "until",
                "an order has a date or a word for its time in force, not both",
            );
            return None;
        }
        Some(Self(plain.or_else(|| until.map(TimeInForce::GoodTillDate))))
    }
}

/// A new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct Order {
    pub account: AccountId,
    pub symbol: Symbol,
    pub side: Side,
    pub quantity: Decimal,
    /// The worst price that is accepted. None: the market's, which only an order that never waits
    /// may ask for.
    pub limit: Option<Decimal>,
    #[field(flatten)]
    pub time_in_force: TimeInForce,
    pub self_trade: SelfTrade,
    /// Unique for the account. The same order under the same id again is answered as the first
    /// time and opens nothing.
    pub client_id: Option<ClientId>,
}

impl<'a> Parameters<'a> for Order {
    fn parameters() -> Vec<Parameter> {
        OrderParameters::parameters()
    }

    #[inline]
    fn read<S: Source<'a>>(source: &mut S) -> Option<Self> {
        OrderParameters::read(source).map(Self::from)
    }
}

/// An order as it is asked for.
#[derive(Parameters)]
struct OrderParameters {
    account: AccountId,
    symbol: Symbol,
    side: Side,
    quantity: Decimal,
    /// The worst price that is accepted, or the market's.
    #[parameter(none = "market")]
    limit: Option<Decimal>,
    #[parameter(flatten)]
    waiting: OrderLifetime,
    /// What happens when it meets an order of its own account.
    #[parameter(default = SelfTrade::ExpireTaker, shown = SelfTrade::ExpireTaker.code())]
    self_trade: SelfTrade,
    /// Unique for the account: the same order under the same id opens nothing again.
    client_id: Option<ClientId>,
}

impl From<OrderParameters> for Order {
    fn from(asked: OrderParameters) -> Self {
        let usual = match asked.limit {
            Some(_) => TimeInForce::GoodTillCancel,
            None => TimeInForce::ImmediateOrCancel,
        };
        Self {
            account: asked.account,
            symbol: asked.symbol,
            side: asked.side,
            quantity: asked.quantity,
            limit: asked.limit,
            time_in_force: asked.waiting.0.unwrap_or(usual),
            self_trade: asked.self_trade,
            client_id: asked.client_id,
        }
    }
}

/// How a caller names an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum OrderRef {
    #[byte(0x00)]
    Id(OrderId),
    /// Of the account that asks.
    #[byte(0x01)]
    Client(ClientId),
}

impl OrderRef {
    /// The number, if that is how it is named.
    #[must_use]
    pub const fn id(self) -> Option<OrderId> {
        match self {
            Self::Id(id) => Some(id),
            Self::Client(_) => None,
        }
    }
}

/// As it is asked for.
impl Value for OrderRef {
    fn show<S: Show>(&self, show: S) -> S::Out {
        match self {
            Self::Id(id) => show.display(id),
            Self::Client(id) => show.display(&format_args!("id:{id}")),
        }
    }

    fn kind() -> Kind {
        <Self as Readable>::kind()
    }
}

/// Some text that names no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidOrderRef {
    /// Neither a number, nor `id:` and more.
    Form,
    ClientId(InvalidLabel),
}

impl OrderRef {
    /// Reads an order's number, or `id:` and the client's id for it.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidOrderRef> {
        if let Some(id) = text.strip_prefix(b"id:") {
            return ClientId::parse(id)
                .map(Self::Client)
                .map_err(InvalidOrderRef::ClientId);
        }
        if text.is_empty() {
            return Err(InvalidOrderRef::Form);
        }
        let number = text.iter().try_fold(0_u64, |number, byte| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        });
        number
            .map(|number| Self::Id(OrderId(number)))
            .ok_or(InvalidOrderRef::Form)
    }
}

impl fmt::Display for InvalidOrderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("an order's number, or id: and the client's id for it"),
            Self::ClientId(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for InvalidOrderRef {}

turnstile_chassis::readable!(
    OrderRef,
    InvalidOrderRef,
    Kind::Forms {
        forms: &["NUMBER", "id:CLIENT_ID"],
        example: "17",
        pattern: "^([0-9]{1,19}|id:[!-~]{1,36})$",
    }
);

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(answers = Done, about = About)]
pub enum Command {
    /// Opens an account with some cash.
    #[byte(0x01)]
    #[operation(answer = AccountCreated, right = manage, about = Account(*account))]
    CreateAccount { account: AccountId, cash: Decimal },
    /// Lists a symbol. A scale is the number of digits after the point (4). A symbol that is first
    /// named by a grant or an order gets the default scales.
    #[byte(0x02)]
    #[operation(answer = SymbolCreated, right = manage)]
    CreateSymbol {
        symbol: Symbol,
        #[parameter(max = SCALE_MAX, default = limits::PRICE_SCALE)]
        price_scale: u8,
        #[parameter(max = SCALE_MAX, default = limits::QUANTITY_SCALE)]
        quantity_scale: u8,
    },
    /// Gives an account new shares.
    #[byte(0x03)]
    #[operation(answer = Granted, right = manage, about = Account(*account))]
    Grant {
        account: AccountId,
        symbol: Symbol,
        quantity: Decimal,
    },
    /// Puts cash into an account.
    #[byte(0x04)]
    #[operation(answer = Deposited, right = manage, about = Account(*account))]
    Deposit { account: AccountId, amount: Decimal },
    /// Takes free cash out of an account.
    #[byte(0x05)]
    #[operation(answer = Withdrawn, right = manage, about = Account(*account))]
    Withdraw { account: AccountId, amount: Decimal },
    /// Sends an order; at a price it waits until it is cancelled, at the market's not at all.
    #[byte(0x06)]
    #[word("place_order")]
    #[operation(answer = Accepted, about = Account(inner.account))]
    Order(#[field(flatten)] Order),
    /// Cancels what is left of an order; only for the account that sent it.
    #[byte(0x07)]
    #[word("cancel_order")]
    #[operation(answer = Cancelled, about = Account(*account))]
    Cancel { account: AccountId, order: OrderRef },
    /// Changes an order in one step; `quantity` is what stays open. Less at the same limit keeps its
    /// place in the queue (and as much changes nothing); anything else goes to the end of it, and may
    /// match at once.
    #[byte(0x08)]
    #[word("replace_order")]
    #[operation(answer = Replaced, about = Account(*account))]
    Replace {
        account: AccountId,
        order: OrderRef,
        quantity: Decimal,
        /// As it is, when nothing is said.
        limit: Option<Decimal>,
    },
    /// Cancels every open order of an account, or those of one symbol.
    #[byte(0x09)]
    #[word("cancel_orders")]
    #[operation(answer = AllCancelled, about = Account(*account))]
    CancelAll {
        account: AccountId,
        symbol: Option<Symbol>,
    },
    /// Bounds the prices of a symbol's orders; what is not named has no bound.
    #[byte(0x0a)]
    #[operation(answer = BandSet, right = manage)]
    SetBand {
        symbol: Symbol,
        low: Option<Decimal>,
        high: Option<Decimal>,
    },
    /// Stops the trade of a symbol; its orders stay and may be cancelled.
    #[byte(0x0b)]
    #[word(halted, "halt", "resume")]
    #[operation(answer = Halted | Resumed, otherwise = "Resumes the trade of a symbol", right = manage)]
    Halt {
        symbol: Symbol,
        #[field(skip)]
        halted: bool,
    },
    /// Bounds an account's open orders and the size of each; what is not named has no bound but the
    /// machine's own.
    #[byte(0x0c)]
    #[operation(answer = LimitsSet, right = manage, about = Account(*account))]
    SetLimits {
        account: AccountId,
        open_orders: Option<u32>,
        /// The largest quantity of one order.
        quantity: Option<Decimal>,
        /// The largest limit x quantity of one order.
        notional: Option<Decimal>,
    },
}
