//! What clients may ask.

use std::borrow::Cow;

use serde::Deserialize;
use turnstile_exchange::{AccountId, ClientId, Command, Order, OrderId, OrderRef};

use super::Topic;
use crate::{
    body::parse_body,
    exchange::request::{MassCancellation, NewOrder, OrderReplacement},
    message::{Asked, Bare, Read, key, read, wrong},
    problem::{Place, Problem},
    request::Faults,
};

/// What a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    Ping,
    Subscribe(Topic),
    Unsubscribe(Topic),
    /// Whether the orders that are sent from now on are cancelled when the connection ends.
    OnDisconnect {
        cancel: bool,
    },
    Order {
        order: Order,
        key: Option<Box<str>>,
    },
    /// A cancellation or a replacement.
    Command {
        command: Command,
        key: Option<Box<str>>,
    },
}

const OPS: [&str; 8] = [
    "ping",
    "subscribe",
    "unsubscribe",
    "on_disconnect",
    "order",
    "cancel",
    "replace",
    "cancel_all",
];

const CHANNELS: [&str; 4] = ["book", "trades", "top", "orders"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subscription<'a> {
    #[serde(default, rename = "op")]
    _op: Read,
    #[serde(default, rename = "id")]
    _id: Read,
    #[serde(borrow)]
    channel: Cow<'a, str>,
    #[serde(borrow, default)]
    symbol: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    account: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parting<'a> {
    #[serde(default, rename = "op")]
    _op: Read,
    #[serde(default, rename = "id")]
    _id: Read,
    #[serde(borrow)]
    orders: Cow<'a, str>,
}

/// The body of the HTTP operation, and what is around it here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Placement<'a> {
    #[serde(default, rename = "op")]
    _op: Read,
    #[serde(default, rename = "id")]
    _id: Read,
    #[serde(borrow, default)]
    key: Option<Cow<'a, str>>,
    #[serde(borrow)]
    account: Cow<'a, str>,
    #[serde(borrow)]
    symbol: Cow<'a, str>,
    #[serde(borrow)]
    side: Cow<'a, str>,
    #[serde(borrow)]
    quantity: Cow<'a, str>,
    #[serde(borrow, default)]
    limit: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    time_in_force: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    until: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    self_trade: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    client_id: Option<Cow<'a, str>>,
}

/// A cancellation or a replacement of one order, or a cancellation of many.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change<'a> {
    #[serde(default, rename = "op")]
    _op: Read,
    #[serde(default, rename = "id")]
    _id: Read,
    #[serde(borrow, default)]
    key: Option<Cow<'a, str>>,
    #[serde(borrow)]
    account: Cow<'a, str>,
    #[serde(default)]
    order: Option<u64>,
    #[serde(borrow, default)]
    client_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    quantity: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    limit: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    symbol: Option<Cow<'a, str>>,
}

/// Reads one message.
#[must_use]
pub fn parse_message(text: &str) -> Asked<Wish> {
    read(text, wish)
}

fn wish(op: &str, text: &[u8]) -> Result<Wish, Problem> {
    match op {
        "ping" => parse_body::<Bare>(text).map(|_ping| Wish::Ping),
        "subscribe" => topic(text).map(Wish::Subscribe),
        "unsubscribe" => topic(text).map(Wish::Unsubscribe),
        "on_disconnect" => match &*parse_body::<Parting<'_>>(text)?.orders {
            "cancel" => Ok(Wish::OnDisconnect { cancel: true }),
            "keep" => Ok(Wish::OnDisconnect { cancel: false }),
            _ => Err(wrong("orders", "one of cancel, keep")),
        },
        "order" => parse_body::<Placement<'_>>(text)?.wish(),
        "cancel" | "replace" | "cancel_all" => parse_body::<Change<'_>>(text)?.wish(op),
        _ => Err(wrong("op", format_args!("one of {}", OPS.join(", ")))),
    }
}

fn topic(text: &[u8]) -> Result<Topic, Problem> {
    let asked: Subscription<'_> = parse_body(text)?;
    let mut faults = Faults::in_place(Place::Body);
    let (needed, other) = match &*asked.channel {
        "orders" => (("account", &asked.account), ("symbol", &asked.symbol)),
        _ => (("symbol", &asked.symbol), ("account", &asked.account)),
    };
    if other.1.is_some() {
        faults.add(other.0, format_args!("not of channel {}", asked.channel));
    }
    let Some(text) = needed.1.as_deref() else {
        faults.add(needed.0, "missing");
        return Err(faults.problem());
    };
    let topic = match &*asked.channel {
        "book" => faults.symbol(text).map(Topic::Book),
        "trades" => faults.symbol(text).map(Topic::Trades),
        "top" => faults.symbol(text).map(Topic::Top),
        "orders" => faults.account(text).map(Topic::Orders),
        _ => {
            faults.add("channel", format_args!("one of {}", CHANNELS.join(", ")));
            None
        }
    };
    faults.finish(topic)
}

impl<'a> Placement<'a> {
    fn wish(self) -> Result<Wish, Problem> {
        let key = key(self.key.as_deref())?;
        let order = NewOrder {
            account: self.account,
            symbol: self.symbol,
            side: self.side,
            quantity: self.quantity,
            limit: self.limit,
            time_in_force: self.time_in_force,
            until: self.until,
            self_trade: self.self_trade,
            client_id: self.client_id,
        };
        let order = order.order()?;
        Ok(Wish::Order { order, key })
    }
}

impl<'a> Change<'a> {
    fn wish(self, op: &str) -> Result<Wish, Problem> {
        let key = key(self.key.as_deref())?;
        self.belong(op)?;
        let command = match op {
            "cancel" => self.cancellation(),
            "replace" => self.replacement(),
            _ => MassCancellation {
                account: self.account,
                symbol: self.symbol,
            }
            .command(),
        };
        command.map(|command| Wish::Command { command, key })
    }

    /// Asserts that no field is there that only the other operations have.
    fn belong(&self, op: &str) -> Result<(), Problem> {
        let of_one = op != "cancel_all";
        let fields = [
            ("order", self.order.is_some(), of_one),
            ("client_id", self.client_id.is_some(), of_one),
            ("quantity", self.quantity.is_some(), op == "replace"),
            ("limit", self.limit.is_some(), op == "replace"),
            ("symbol", self.symbol.is_some(), !of_one),
        ];
        let mut faults = Faults::in_place(Place::Body);
        for (field, is_there, belongs) in fields {
            if is_there && !belongs {
                faults.add(field, format_args!("not of {op}"));
            }
        }
        faults.finish(Some(()))
    }

    fn order_ref(&self) -> Result<OrderRef, Problem> {
        match (self.order, self.client_id.as_deref()) {
            (Some(order), None) => Ok(OrderRef::Id(OrderId(order))),
            (None, Some(id)) => ClientId::parse(id.as_bytes())
                .map(OrderRef::Client)
                .map_err(|invalid| wrong("client_id", invalid)),
            (None, None) => Err(wrong("order", "missing; an order or a client_id is needed")),
            (Some(_), Some(_)) => Err(wrong("client_id", "an order is named once")),
        }
    }

    fn cancellation(&self) -> Result<Command, Problem> {
        let order = self.order_ref()?;
        AccountId::parse(self.account.as_bytes())
            .map(|account| Command::Cancel { account, order })
            .map_err(|invalid| wrong("account", invalid))
    }

    fn replacement(self) -> Result<Command, Problem> {
        let order = self.order_ref()?;
        let replacement = OrderReplacement {
            account: self.account,
            quantity: self.quantity.ok_or_else(|| wrong("quantity", "missing"))?,
            limit: self.limit,
        };
        replacement.command(order)
    }
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{Decimal, Symbol};

    use super::*;
    use crate::message::Tag;

    fn symbol() -> Symbol {
        Symbol::parse(b"S").unwrap()
    }

    #[test]
    fn a_message_becomes_a_wish() {
        let account = AccountId::parse(b"ada").unwrap();
        let order = OrderRef::Id(OrderId(7));
        let command = |command| Wish::Command { command, key: None };
        let rows = [
            (r#"{"op":"ping"}"#, Wish::Ping),
            (
                r#"{"op":"subscribe","channel":"book","symbol":"S"}"#,
                Wish::Subscribe(Topic::Book(symbol())),
            ),
            (
                r#"{"channel":"orders","op":"unsubscribe","account":"ada"}"#,
                Wish::Unsubscribe(Topic::Orders(account)),
            ),
            (
                r#"{"op":"on_disconnect","orders":"cancel"}"#,
                Wish::OnDisconnect { cancel: true },
            ),
            (
                r#"{"op":"cancel","account":"ada","order":7}"#,
                command(Command::Cancel { account, order }),
            ),
            (
                r#"{"op":"replace","account":"ada","order":7,"quantity":"2"}"#,
                command(Command::Replace {
                    account,
                    order,
                    quantity: Decimal::new(2, 0),
                    limit: None,
                }),
            ),
            (
                r#"{"op":"cancel_all","account":"ada","key":"k"}"#,
                Wish::Command {
                    command: Command::CancelAll {
                        account,
                        symbol: None,
                    },
                    key: Some("k".into()),
                },
            ),
        ];
        for (text, expected) in rows {
            let asked = parse_message(text);
            assert_eq!((asked.tag, asked.wish), (None, Ok(expected)), "{text}");
        }
        let tagged = parse_message(r#"{"op":"ping","id":"a-1"}"#);
        assert_eq!(tagged.tag, Some(Tag::Text("a-1".to_owned())));
        assert_eq!(
            parse_message(r#"{"op":"ping","id":7}"#).tag,
            Some(Tag::Number(7))
        );
    }

    /// A message, and the field and a part of the sentence of what is wrong with it.
    const WRONG: &str = r#"
{"op":"dance"} -> op one of ping, subscribe
{"op":"ping","x":1} -> x unknown field `x`
{"op":"ping","id":-1} -> id did not match
{"id":1} -> op missing field `op`
{"op":"subscribe","channel":"book"} -> symbol missing
{"op":"subscribe","channel":"book","symbol":"S","account":"a"} -> account not of channel book
{"op":"subscribe","channel":"books","symbol":"S"} -> channel one of book, trades, top, orders
{"op":"subscribe","channel":"orders","account":"a b"} -> account character 2
{"op":"subscribe","channel":7} -> channel invalid type
{"op":"on_disconnect","orders":"forget"} -> orders one of cancel, keep
{"op":"order","account":"a","symbol":"S","side":"up","quantity":"1"} -> side one of buy, sell
{"op":"order","account":"a","symbol":"S","side":"buy","quantity":1} -> quantity invalid type
{"op":"cancel","account":"a"} -> order missing
{"op":"cancel","account":"a","order":1,"client_id":"x"} -> client_id named once
{"op":"cancel","account":"a","order":1,"quantity":"1"} -> quantity not of cancel
{"op":"replace","account":"a","order":1} -> quantity missing
{"op":"cancel_all","account":"a","order":1} -> order not of cancel_all
{"op":"cancel_all","account":"a","key":"a b"} -> key key
{"op":"cancel_all" -> . EOF
"#;

    #[test]
    fn a_wrong_message_is_told_what_is_wrong_and_where() {
        for row in WRONG.lines().skip(1) {
            let (text, expected) = row.split_once(" -> ").unwrap();
            let (field, part) = expected.split_once(' ').unwrap();
            let problem = parse_message(text).wish.unwrap_err();
            let [only] = &*problem.errors else {
                panic!("{row}: {problem:?}");
            };
            assert_eq!(only.field, field, "{row}: {only:?}");
            assert!(only.message.contains(part), "{row}: {only:?}");
        }
        let list = parse_message("[1]").wish.unwrap_err();
        assert_eq!(list.detail, "the body is not a JSON object");
        let long = format!(r#"{{"op":"ping","id":"{}"}}"#, "x".repeat(65));
        assert_eq!(parse_message(&long).wish.unwrap_err().errors[0].field, "id");
    }
}
