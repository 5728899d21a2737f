//! The bodies that the exchange's operations take, and the commands they become.

use std::borrow::Cow;

use serde::Deserialize;
use turnstile_exchange::{
    AccountId, CASH_SCALE, ClientId, Command, Decimal, Order, OrderRef, SelfTrade, Side, Symbol,
    TimeInForce,
    limits::{PRICE_SCALE, QUANTITY_SCALE},
};
use turnstile_types::Timestamp;
use utoipa::ToSchema;

use crate::{
    problem::{Place, Problem},
    request::Faults,
};

/// Opens an account.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada", max_length = 40)]
    account: Cow<'a, str>,
    /// What it begins with.
    #[serde(borrow)]
    #[schema(value_type = String, example = "100000")]
    cash: Cow<'a, str>,
}

/// Puts cash into an account, or takes it out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CashAmount<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "250.50")]
    amount: Cow<'a, str>,
}

/// Bounds what an account may do.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLimits<'a> {
    #[serde(default)]
    #[schema(example = 100)]
    open_orders: Option<u32>,
    /// The largest quantity of one order.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, example = "1000")]
    quantity: Option<Cow<'a, str>>,
    /// The largest limit x quantity of one order.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, example = "50000")]
    notional: Option<Cow<'a, str>>,
}

/// Lists a symbol.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSymbol<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "SPY", max_length = 16)]
    symbol: Cow<'a, str>,
    /// Digits after the point of a price; the two scales are at most 8 together.
    #[serde(default)]
    #[schema(maximum = 8, default = 4)]
    price_scale: Option<u8>,
    #[serde(default)]
    #[schema(maximum = 8, default = 4)]
    quantity_scale: Option<u8>,
}

/// Gives an account new shares.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrant<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada")]
    account: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "500")]
    quantity: Cow<'a, str>,
}

/// Refuses orders below `low` or above `high`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBand<'a> {
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, example = "90")]
    low: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, example = "110")]
    high: Option<Cow<'a, str>>,
}

/// An order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOrder<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada")]
    pub(super) account: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "SPY")]
    pub(super) symbol: Cow<'a, str>,
    /// `buy` or `sell`.
    #[serde(borrow)]
    #[schema(value_type = String, example = "buy")]
    pub(super) side: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "10")]
    pub(super) quantity: Cow<'a, str>,
    /// The worst price that is accepted. Without it the order takes the market's price.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, example = "145.67")]
    pub(super) limit: Option<Cow<'a, str>>,
    /// `gtc`, `gtd`, `ioc`, `fok` or `post_only`. When it is left out: `gtd` with `until`, `gtc`
    /// with a limit, else `ioc`.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>)]
    pub(super) time_in_force: Option<Cow<'a, str>>,
    /// When a `gtd` order expires.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) until: Option<Cow<'a, str>>,
    /// What happens when it meets an order of its own account: `allow`, `skip`, `expire_maker`,
    /// `expire_taker` or `expire_both`.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, default = "expire_taker")]
    pub(super) self_trade: Option<Cow<'a, str>>,
    /// Unique for the account: the same order under the same id again opens nothing, and gets the
    /// first answer.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, max_length = 36)]
    pub(super) client_id: Option<Cow<'a, str>>,
}

/// Cancels what is left of an order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderCancellation<'a> {
    /// The account that sent it.
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada")]
    account: Cow<'a, str>,
}

/// Changes an order in one step.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderReplacement<'a> {
    /// The account that sent it.
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada")]
    pub(super) account: Cow<'a, str>,
    /// What shall be left open.
    #[serde(borrow)]
    #[schema(value_type = String, example = "5")]
    pub(super) quantity: Cow<'a, str>,
    /// When it is left out, the limit stays.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>)]
    pub(super) limit: Option<Cow<'a, str>>,
}

/// Cancels every open order of an account.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MassCancellation<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada")]
    pub(super) account: Cow<'a, str>,
    /// Only those of this symbol.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>)]
    pub(super) symbol: Option<Cow<'a, str>>,
}

impl Faults {
    pub(super) fn account(&mut self, text: &str) -> Option<AccountId> {
        self.take("account", AccountId::parse(text.as_bytes()))
    }

    pub(super) fn symbol(&mut self, text: &str) -> Option<Symbol> {
        self.take("symbol", Symbol::parse(text.as_bytes()))
    }

    fn decimal(&mut self, field: &str, text: &str) -> Option<Decimal> {
        self.take(field, Decimal::parse(text.as_bytes()))
    }

    fn optional_decimal(&mut self, field: &str, text: Option<&str>) -> Option<Option<Decimal>> {
        match text {
            None => Some(None),
            Some(text) => self.decimal(field, text).map(Some),
        }
    }

    fn scale(&mut self, field: &str, scale: Option<u8>, default: u8) -> Option<u8> {
        let scale = scale.unwrap_or(default);
        if scale <= CASH_SCALE {
            return Some(scale);
        }
        self.add(field, format_args!("0 to {CASH_SCALE}"));
        None
    }

    fn time_in_force(
        &mut self,
        word: Option<&str>,
        until: Option<&str>,
        has_limit: bool,
    ) -> Option<TimeInForce> {
        let date = until.map(|until| Timestamp::parse(until.as_bytes()));
        let date = self.take("until", date.transpose())?;
        let plain = [
            TimeInForce::GoodTillCancel,
            TimeInForce::ImmediateOrCancel,
            TimeInForce::FillOrKill,
            TimeInForce::PostOnly,
        ];
        let mut choices = plain.map(|time| (time.code(), Some(time))).to_vec();
        choices.push(("gtd", None));
        let chosen = match word {
            Some(word) => self.choice("time_in_force", word, &choices)?,
            None if until.is_some() => None,
            None if has_limit => Some(TimeInForce::GoodTillCancel),
            None => Some(TimeInForce::ImmediateOrCancel),
        };
        match (chosen, date) {
            (None, Some(until)) => Some(TimeInForce::GoodTillDate(until)),
            (Some(plain), None) => Some(plain),
            (None, None) => {
                self.add("until", "missing; a gtd order has a date");
                None
            }
            (Some(_), Some(_)) => {
                self.add("until", "only a gtd order has a date");
                None
            }
        }
    }
}

impl NewAccount<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let account = faults.account(&self.account);
        let cash = faults.decimal("cash", &self.cash);
        let whole = account.zip(cash);
        faults.finish(whole.map(|(account, cash)| Command::CreateAccount { account, cash }))
    }
}

impl CashAmount<'_> {
    /// The amount.
    ///
    /// # Errors
    /// Wrong fields.
    pub fn amount(&self) -> Result<Decimal, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let amount = faults.decimal("amount", &self.amount);
        faults.finish(amount)
    }
}

impl NewLimits<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, account: AccountId) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let quantity = faults.optional_decimal("quantity", self.quantity.as_deref());
        let notional = faults.optional_decimal("notional", self.notional.as_deref());
        let whole = quantity.zip(notional);
        faults.finish(whole.map(|(quantity, notional)| Command::SetLimits {
            account,
            open_orders: self.open_orders,
            quantity,
            notional,
        }))
    }
}

impl NewSymbol<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let symbol = faults.symbol(&self.symbol);
        let price_scale = faults.scale("price_scale", self.price_scale, PRICE_SCALE);
        let quantity_scale = faults.scale("quantity_scale", self.quantity_scale, QUANTITY_SCALE);
        let whole = || {
            Some(Command::CreateSymbol {
                symbol: symbol?,
                price_scale: price_scale?,
                quantity_scale: quantity_scale?,
            })
        };
        faults.finish(whole())
    }
}

impl NewGrant<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, symbol: Symbol) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let account = faults.account(&self.account);
        let quantity = faults.decimal("quantity", &self.quantity);
        let whole = account.zip(quantity);
        faults.finish(whole.map(|(account, quantity)| Command::Grant {
            account,
            symbol,
            quantity,
        }))
    }
}

impl NewBand<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, symbol: Symbol) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let low = faults.optional_decimal("low", self.low.as_deref());
        let high = faults.optional_decimal("high", self.high.as_deref());
        let whole = low.zip(high);
        faults.finish(whole.map(|(low, high)| Command::SetBand { symbol, low, high }))
    }
}

impl NewOrder<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn order(&self) -> Result<Order, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let account = faults.account(&self.account);
        let symbol = faults.symbol(&self.symbol);
        let sides = Side::ALL.map(|side| (side.code(), side));
        let side = faults.choice("side", &self.side, &sides);
        let quantity = faults.decimal("quantity", &self.quantity);
        let limit = faults.optional_decimal("limit", self.limit.as_deref());
        let time_in_force = faults.time_in_force(
            self.time_in_force.as_deref(),
            self.until.as_deref(),
            self.limit.is_some(),
        );
        let modes = SelfTrade::ALL.map(|mode| (mode.code(), mode));
        let self_trade = match &self.self_trade {
            None => Some(SelfTrade::ExpireTaker),
            Some(word) => faults.choice("self_trade", word, &modes),
        };
        let client_id = self.client_id.as_deref();
        let client_id = client_id.map(|id| ClientId::parse(id.as_bytes()));
        let client_id = faults.take("client_id", client_id.transpose());
        let whole = || {
            Some(Order {
                account: account?,
                symbol: symbol?,
                side: side?,
                quantity: quantity?,
                limit: limit?,
                time_in_force: time_in_force?,
                self_trade: self_trade?,
                client_id: client_id?,
            })
        };
        faults.finish(whole())
    }
}

impl OrderCancellation<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, order: OrderRef) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let account = faults.account(&self.account);
        faults.finish(account.map(|account| Command::Cancel { account, order }))
    }
}

impl OrderReplacement<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, order: OrderRef) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let account = faults.account(&self.account);
        let quantity = faults.decimal("quantity", &self.quantity);
        let limit = faults.optional_decimal("limit", self.limit.as_deref());
        let whole = || {
            Some(Command::Replace {
                account: account?,
                order,
                quantity: quantity?,
                limit: limit?,
            })
        };
        faults.finish(whole())
    }
}

impl MassCancellation<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let account = faults.account(&self.account);
        let symbol = match self.symbol.as_deref() {
            None => Some(None),
            Some(symbol) => faults.symbol(symbol).map(Some),
        };
        let whole = account.zip(symbol);
        faults.finish(whole.map(|(account, symbol)| Command::CancelAll { account, symbol }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_body;

    fn order(fields: &str) -> Result<Order, Vec<(String, String)>> {
        let body =
            format!(r#"{{"account":"ada","symbol":"S","side":"sell","quantity":"2.50"{fields}}}"#);
        let order: NewOrder<'_> = parse_body(body.as_bytes()).unwrap();
        order.order().map_err(|problem| {
            let errors = problem.errors.into_vec().into_iter();
            errors.map(|error| (error.field, error.message)).collect()
        })
    }

    #[test]
    fn an_order_that_says_little_gets_what_is_usual() {
        let market = order("").unwrap();
        let expected = Order {
            account: AccountId::parse(b"ada").unwrap(),
            symbol: Symbol::parse(b"S").unwrap(),
            side: Side::Sell,
            quantity: Decimal::new(25, 1),
            limit: None,
            time_in_force: TimeInForce::ImmediateOrCancel,
            self_trade: SelfTrade::ExpireTaker,
            client_id: None,
        };
        assert_eq!(market, expected);
        let times = [
            (r#","limit":"7""#, TimeInForce::GoodTillCancel),
            (
                r#","limit":"7","time_in_force":"ioc""#,
                TimeInForce::ImmediateOrCancel,
            ),
            (r#","time_in_force":"fok""#, TimeInForce::FillOrKill),
            (
                r#","limit":"7","time_in_force":"post_only""#,
                TimeInForce::PostOnly,
            ),
            (
                r#","limit":"7","until":"1970-01-01T00:00:01Z""#,
                TimeInForce::GoodTillDate(Timestamp(1_000)),
            ),
            (
                r#","limit":"7","time_in_force":"gtd","until":"1970-01-01T00:00:02Z""#,
                TimeInForce::GoodTillDate(Timestamp(2_000)),
            ),
        ];
        for (fields, time) in times {
            assert_eq!(order(fields).unwrap().time_in_force, time, "{fields}");
        }
    }

    #[test]
    fn every_wrong_field_of_an_order_is_named_at_once() {
        let fields = r#","limit":"-1","time_in_force":"day","self_trade":"no","client_id":"a b""#;
        let wrong = order(fields).unwrap_err();
        let expected = [
            (
                "limit",
                "a number is digits with at most one point, character 1 is not",
            ),
            ("time_in_force", "one of gtc, ioc, fok, post_only, gtd"),
            (
                "self_trade",
                "one of allow, skip, expire_maker, expire_taker, expire_both",
            ),
            ("client_id", "character 2 is not allowed"),
        ];
        let expected = expected.map(|(field, message)| (field.to_owned(), message.to_owned()));
        assert_eq!(wrong, expected);
        for (fields, message) in [
            (
                r#","time_in_force":"gtd""#,
                "missing; a gtd order has a date",
            ),
            (
                r#","time_in_force":"gtc","until":"2027-01-01T00:00:00Z""#,
                "only a gtd order has a date",
            ),
            (
                r#","until":"soon""#,
                "an instant has the form YYYY-MM-DDThh:mm:ssZ",
            ),
        ] {
            let expected = vec![("until".to_owned(), message.to_owned())];
            assert_eq!(order(fields), Err(expected), "{fields}");
        }
    }
}
