//! What clients may ask.

use std::sync::LazyLock;

use turnstile_chassis::{Kind, Need, Parameter, Readable, Source as _};
use turnstile_exchange::{AccountId, Command, Order, Symbol};

use super::Topic;
use crate::{
    message::{Asked, Op, Rest, ops, read, wrong},
    operation::PlacedParameter,
    problem::{Place, Problem},
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

/// What is no command of the exchange.
const OWN_OPS: [&str; 4] = ["ping", "subscribe", "unsubscribe", "on_disconnect"];

static COMMANDS: LazyLock<Vec<Op>> = LazyLock::new(|| {
    ops::<Command>(
        &[
            "place_order",
            "cancel_order",
            "replace_order",
            "cancel_orders",
        ],
        &[],
    )
});

const CHANNELS: &[&str] = &["book", "trades", "top", "orders"];

const PARTINGS: &[&str] = &["cancel", "keep"];

const fn field(name: &'static str, kind: Kind, need: Need) -> PlacedParameter {
    PlacedParameter {
        place: Place::Body,
        declared: Parameter {
            name,
            meaning: "",
            kind,
            need,
            default: None,
        },
    }
}

static PARTING: [PlacedParameter; 1] = [field("orders", Kind::OneOf(PARTINGS), Need::Required)];

static SUBSCRIPTION: LazyLock<[PlacedParameter; 3]> = LazyLock::new(|| {
    [
        field("channel", Kind::OneOf(CHANNELS), Need::Required),
        field("symbol", Symbol::kind(), Need::Optional),
        field("account", AccountId::kind(), Need::Optional),
    ]
});

/// Reads one message.
#[must_use]
pub fn parse_message(text: &str) -> Asked<Wish> {
    read(text, wish)
}

fn wish(op: &str, mut rest: Rest<'_>) -> Result<Wish, Problem> {
    match op {
        "ping" => rest.finish().map(|()| Wish::Ping),
        "subscribe" => topic(rest).map(Wish::Subscribe),
        "unsubscribe" => topic(rest).map(Wish::Unsubscribe),
        "on_disconnect" => {
            let given = rest.given(&PARTING);
            let word = given.read_with(|reader| reader.required("orders", str::from_utf8))?;
            let cancel = word == "cancel";
            Ok(Wish::OnDisconnect { cancel })
        }
        _ => {
            let Some(known) = COMMANDS.iter().find(|known| known.word == op) else {
                let commands = COMMANDS.iter().map(|known| known.word);
                let all: Vec<&str> = OWN_OPS.into_iter().chain(commands).collect();
                return Err(wrong("op", format_args!("one of {}", all.join(", "))));
            };
            let key = rest.key()?;
            let given = rest.given(&known.parameters);
            Ok(match given.read(known.place, ())? {
                Command::Order(order) => Wish::Order { order, key },
                command => Wish::Command { command, key },
            })
        }
    }
}

fn topic(rest: Rest<'_>) -> Result<Topic, Problem> {
    let given = rest.given(&*SUBSCRIPTION);
    given.read_with(|reader| {
        let channel = reader.required("channel", str::from_utf8)?;
        let symbol = reader.optional("symbol", Symbol::read)?;
        let account = reader.optional("account", AccountId::read)?;
        let (name, is_there, other) = match channel {
            "orders" => ("account", account.is_some(), symbol.map(|_| "symbol")),
            _ => ("symbol", symbol.is_some(), account.map(|_| "account")),
        };
        if let Some(other) = other {
            reader.invalid(other, format_args!("not of channel {channel}"));
        }
        if !is_there {
            reader.invalid(name, "missing");
        }
        match channel {
            "book" => symbol.map(Topic::Book),
            "trades" => symbol.map(Topic::Trades),
            "top" => symbol.map(Topic::Top),
            _ => account.map(Topic::Orders),
        }
    })
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{Decimal, OrderId, OrderRef};

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
                r#"{"op":"cancel_order","account":"ada","order":"7"}"#,
                command(Command::Cancel { account, order }),
            ),
            (
                r#"{"op":"replace_order","account":"ada","order":7,"quantity":"2"}"#,
                command(Command::Replace {
                    account,
                    order,
                    quantity: Decimal::new(2, 0),
                    limit: None,
                }),
            ),
            (
                r#"{"op":"cancel_orders","account":"ada","key":"k"}"#,
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
{"op":"ping","x":1} -> x unknown
{"op":"ping","id":-1} -> id a number, or a text
{"id":1} -> op missing
{"op":"subscribe","channel":"book"} -> symbol missing
{"op":"subscribe","channel":"book","symbol":"S","account":"a"} -> account not of channel book
{"op":"subscribe","channel":"books","symbol":"S"} -> channel one of book, trades, top, orders
{"op":"subscribe","channel":"orders","account":"a b"} -> account character 2
{"op":"subscribe","channel":7} -> channel expected a text
{"op":"on_disconnect","orders":"forget"} -> orders one of cancel, keep
{"op":"place_order","account":"a","symbol":"S","side":"up","quantity":"1"} -> side one of buy, sell
{"op":"place_order","account":"a","symbol":"S","side":"buy","quantity":1} -> quantity expected a text
{"op":"cancel_order","account":"a"} -> order missing
{"op":"cancel_order","account":"a","order":"x"} -> order number
{"op":"cancel_order","account":"a","order":1,"quantity":"1"} -> quantity unknown
{"op":"replace_order","account":"a","order":1} -> quantity missing
{"op":"cancel_orders","account":"a","order":1} -> order unknown
{"op":"cancel_orders","account":"a","key":"a b"} -> key key
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
        let broken = parse_message(r#"{"op":"cancel_orders""#).wish.unwrap_err();
        assert!(broken.detail.contains("EOF"), "{broken:?}");
        let list = parse_message("[1]").wish.unwrap_err();
        assert_eq!(list.detail, "the body is not a JSON object");
        let long = format!(r#"{{"op":"ping","id":"{}"}}"#, "x".repeat(65));
        assert_eq!(parse_message(&long).wish.unwrap_err().errors[0].field, "id");
    }
}
