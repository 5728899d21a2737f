//! The answers that traders read whole, for the witness.

use turnstile_check::exchange::{
    Cents, OrderCancelled, OrderState, OrderTicket, Ordered, ShareCount,
};
use turnstile_client::resp::Token;
use turnstile_exchange::{CASH_SCALE, Decimal};

use super::{CENTS, WHOLE};
use crate::{
    again::KeyedReply,
    pace::Garbled,
    reply::{Tokens, error},
};

/// The best price of a side, and how many shares wait there.
pub(super) type BestPrice = Option<(Cents, ShareCount)>;

/// The fields of an outcome.
#[derive(Clone, Copy, Debug, Default)]
struct OrderFields<'a> {
    done: bool,
    position: Option<u64>,
    /// Why it was refused, or why an order ended.
    reason: Option<&'a [u8]>,
    state: &'a [u8],
    order: Option<u64>,
    filled: Option<u64>,
    value: Option<u64>,
    open: Option<u64>,
    quantity: Option<u64>,
}

/// Reads a whole reply in RESP3 to an order.
pub(super) fn ordered(reply: &[u8]) -> Result<KeyedReply<'_, Ordered>, Garbled> {
    if let Some(code) = error(reply)? {
        return Ok(KeyedReply::Error(code));
    }
    let fields = OrderFields::read(reply)?;
    let position = fields.position.ok_or(Garbled)?;
    if !fields.done {
        let answer = match fields.reason {
            Some(b"insufficient_funds" | b"insufficient_shares") => Ordered::NotCovered,
            _ => Ordered::Strange,
        };
        let refused = fields.reason;
        return Ok(KeyedReply::Answered {
            position: Some(position),
            answer,
            refused,
        });
    }
    let state = match (fields.state, fields.reason) {
        (b"open", None) => OrderState::Open,
        (b"filled", None) => OrderState::Filled,
        (b"cancelled", Some(b"immediate")) => OrderState::Immediate,
        (b"cancelled", Some(b"self_trade")) => OrderState::SelfTrade,
        _ => return Err(Garbled),
    };
    let ticket = OrderTicket {
        state,
        filled: fields.filled.ok_or(Garbled)?,
        value: fields.value.ok_or(Garbled)?,
        open: fields.open.ok_or(Garbled)?,
    };
    let order = fields.order.ok_or(Garbled)?;
    let answer = Ordered::Accepted { order, ticket };
    Ok(KeyedReply::Answered {
        position: Some(position),
        answer,
        refused: None,
    })
}

/// Reads a whole reply in RESP3 to a cancellation.
pub(super) fn cancelled(reply: &[u8]) -> Result<KeyedReply<'_, OrderCancelled>, Garbled> {
    if let Some(code) = error(reply)? {
        return Ok(KeyedReply::Error(code));
    }
    let fields = OrderFields::read(reply)?;
    let answer = match fields.reason {
        None => OrderCancelled::Done(fields.quantity.ok_or(Garbled)?),
        Some(b"not_open" | b"not_found") => OrderCancelled::Gone,
        Some(_) => OrderCancelled::Strange,
    };
    Ok(KeyedReply::Answered {
        position: Some(fields.position.ok_or(Garbled)?),
        answer,
        refused: fields.reason,
    })
}

/// Reads a whole reply in RESP3 to a look at the best prices: of who buys, and of who sells.
pub(super) fn top(reply: &[u8]) -> Result<KeyedReply<'_, [BestPrice; 2]>, Garbled> {
    if let Some(code) = error(reply)? {
        return Ok(KeyedReply::Error(code));
    }
    let mut tokens = Tokens(reply);
    let (mut bid, mut ask) = (None, None);
    for _ in 0..tokens.pairs()? {
        match (tokens.text()?, tokens.next()?) {
            (b"bids", Token::Array(levels)) => bid = level(&mut tokens, levels)?,
            (b"asks", Token::Array(levels)) => ask = level(&mut tokens, levels)?,
            (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
            _ => {}
        }
    }
    Ok(KeyedReply::Answered {
        position: None,
        answer: [bid, ask],
        refused: None,
    })
}

/// The only level of a side, or none.
fn level(tokens: &mut Tokens<'_>, levels: usize) -> Result<BestPrice, Garbled> {
    if levels == 0 {
        return Ok(None);
    }
    let (mut price, mut quantity) = (None, None);
    for _ in 0..tokens.pairs()? {
        match (tokens.text()?, tokens.next()?) {
            (b"price", Token::Bulk(text)) => price = Some(number(text, CENTS)?),
            (b"quantity", Token::Bulk(text)) => quantity = Some(number(text, WHOLE)?),
            (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
            _ => {}
        }
    }
    if levels > 1 {
        return Err(Garbled);
    }
    Ok(Some((price.ok_or(Garbled)?, quantity.ok_or(Garbled)?)))
}

impl<'a> OrderFields<'a> {
    fn read(reply: &'a [u8]) -> Result<Self, Garbled> {
        let mut tokens = Tokens(reply);
        let mut fields = Self::default();
        for _ in 0..tokens.pairs()? {
            let name = tokens.text()?;
            match (name, tokens.next()?) {
                (b"position", Token::Integer(number)) => {
                    fields.position = u64::try_from(number).ok()
                }
                (b"order", Token::Integer(number)) => fields.order = u64::try_from(number).ok(),
                (_, Token::Bulk(text) | Token::Simple(text)) => fields.take(name, text)?,
                (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
                // A mark that it was replayed: it is the first answer.
                _ => {}
            }
        }
        if !fields.done && fields.reason.is_none() {
            return Err(Garbled);
        }
        Ok(fields)
    }

    fn take(&mut self, name: &[u8], text: &'a [u8]) -> Result<(), Garbled> {
        match name {
            b"outcome" => self.done = text == b"done",
            b"reason" => self.reason = Some(text),
            b"state" => self.state = text,
            b"filled" => self.filled = Some(number(text, WHOLE)?),
            b"value" => self.value = Some(number(text, CENTS)?),
            b"open" => self.open = Some(number(text, WHOLE)?),
            b"quantity" => self.quantity = Some(number(text, WHOLE)?),
            _ => {}
        }
        Ok(())
    }
}

/// A decimal number in whole units: traders ask for whole shares and cents, and get nothing else.
fn number(text: &[u8], unit: u128) -> Result<u64, Garbled> {
    let decimal = Decimal::parse(text).map_err(|_invalid| Garbled)?;
    let small = decimal.at_scale(CASH_SCALE).ok_or(Garbled)?;
    if !small.is_multiple_of(unit) {
        return Err(Garbled);
    }
    u64::try_from(small / unit).map_err(|_large| Garbled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut reply = format!("%{}\r\n", pairs.len());
        for (name, value) in pairs {
            reply.push_str(&format!("${}\r\n{name}\r\n", name.len()));
            match value.strip_prefix(':') {
                Some(number) => reply.push_str(&format!(":{number}\r\n")),
                None => reply.push_str(&format!("${}\r\n{value}\r\n", value.len())),
            }
        }
        reply.into_bytes()
    }

    #[test]
    fn tickets_are_read_in_whole_shares_and_cents() {
        let reply = map(&[
            ("outcome", "done"),
            ("order", ":17"),
            ("state", "open"),
            ("filled", "3"),
            ("value", "300.15"),
            ("open", "4"),
            ("position", ":9"),
        ]);
        let ticket = OrderTicket {
            state: OrderState::Open,
            filled: 3,
            value: 30_015,
            open: 4,
        };
        let answer = Ordered::Accepted { order: 17, ticket };
        let told = KeyedReply::Answered {
            position: Some(9),
            answer,
            refused: None,
        };
        assert_eq!(ordered(&reply), Ok(told));
        let half = map(&[("outcome", "done"), ("filled", "0.5")]);
        assert_eq!(ordered(&half), Err(Garbled));
    }

    #[test]
    fn refusals_are_read_with_their_reason_and_position() {
        let reply = |reason| {
            map(&[
                ("outcome", "refused"),
                ("reason", reason),
                ("position", ":9"),
            ])
        };
        for (reason, answer) in [
            ("insufficient_funds", Ordered::NotCovered),
            ("no_market", Ordered::Strange),
        ] {
            let told = KeyedReply::Answered {
                position: Some(9),
                answer,
                refused: Some(reason.as_bytes()),
            };
            assert_eq!(ordered(&reply(reason)), Ok(told));
        }
        for (reason, answer) in [
            ("not_open", OrderCancelled::Gone),
            ("not_yours", OrderCancelled::Strange),
        ] {
            let told = KeyedReply::Answered {
                position: Some(9),
                answer,
                refused: Some(reason.as_bytes()),
            };
            assert_eq!(cancelled(&reply(reason)), Ok(told));
        }
        assert_eq!(
            cancelled(b"-BUSY later\r\n"),
            Ok(KeyedReply::Error(b"BUSY"))
        );
    }

    #[test]
    fn the_best_prices_are_read_with_what_waits_there() {
        let mut reply = b"%3\r\n$6\r\nsymbol\r\n$1\r\nX\r\n$4\r\nbids\r\n*1\r\n".to_vec();
        reply.extend(map(&[
            ("price", "99.5"),
            ("quantity", "12"),
            ("orders", ":2"),
        ]));
        reply.extend(b"$4\r\nasks\r\n*0\r\n");
        let told = KeyedReply::Answered {
            position: None,
            answer: [Some((9_950, 12)), None],
            refused: None,
        };
        assert_eq!(top(&reply), Ok(told));
    }
}
