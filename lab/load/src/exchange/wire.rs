//! What a trader says and hears on either door, without allocating.

use turnstile_client::resp::{self, ReplyLimits, Token};
use turnstile_exchange::{Decimal, OrderId, Side};
use turnstile_xml::{
    Framed,
    client::{Outgoing, frame},
};

use super::{
    Door, RunMarket,
    flow::{FlowOrder, RestingOrder},
};
use crate::{door::code, pace::Garbled};

/// Digits after the point of a price: the flow has cents.
const PRICE_SCALE: u8 = 2;

/// How an `error` of XML begins that is no refusal, and the code that RESP has for it.
const XML_ERRORS: [(&[u8], &[u8]); 5] = [
    (b"unknown: ", b"UNKNOWN"),
    (b"broken: ", b"BROKEN"),
    (b"unavailable: ", b"UNAVAILABLE"),
    (b"unsupported: ", b"UNSUPPORTED"),
    (b"the server recovers its journal", b"LOADING"),
];

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraderReply<'a> {
    Opened(OpenedOrder),
    Cancelled,
    Refused(&'a [u8]),
    Error(&'a [u8]),
}

/// An order that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenedOrder {
    pub(super) order: u64,
    /// It may be on the book.
    pub(super) rests: bool,
    /// Shares that were executed at once, as far as the door tells: none over XML.
    pub(super) executed: u8,
}

impl Door {
    /// How a cancel is refused when nothing of the order is open.
    pub(super) const fn not_open(self) -> &'static [u8] {
        match self {
            Self::Resp => b"not_open",
            Self::Xml => b"nothing of the order is open",
        }
    }

    /// Appends an order, which so many more words follow: none over XML.
    pub(super) fn put_new(
        self,
        out: &mut Vec<u8>,
        market: &RunMarket,
        new: &FlowOrder,
        more: usize,
    ) {
        match self {
            Self::Resp => put_order(out, market, new, more),
            Self::Xml => {
                let (quantity, price) = (Decimal::new(new.quantity, 0), price(new));
                let mut request = Outgoing::transactions(out, &market.accounts[new.account]);
                request.order(&market.symbols[new.symbol], new.side, quantity, price);
                request.finish();
            }
        }
    }

    /// Appends a cancellation, which so many more words follow: none over XML.
    pub(super) fn put_cancel(
        self,
        out: &mut Vec<u8>,
        market: &RunMarket,
        held: RestingOrder,
        more: usize,
    ) {
        match self {
            Self::Resp => {
                resp::put_count(out, b'*', 3 + more);
                resp::put_bulk(out, b"EXCHANGE.CANCEL-ORDER");
                resp::put_bulk(out, market.accounts[held.account].as_bytes());
                put_number(out, held.order, 0);
            }
            Self::Xml => {
                let mut request = Outgoing::transactions(out, &market.accounts[held.account]);
                request.cancel(OrderId(held.order));
                request.finish();
            }
        }
    }

    /// Reads the answer at the front of `bytes` and how many bytes it takes; nothing when more are
    /// needed.
    pub(super) fn hear(self, bytes: &[u8]) -> Result<Option<(TraderReply<'_>, usize)>, Garbled> {
        match self {
            Self::Resp => hear_resp(bytes),
            Self::Xml => hear_xml(bytes),
        }
    }
}

fn put_order(out: &mut Vec<u8>, market: &RunMarket, new: &FlowOrder, more: usize) {
    let price = price(new);
    resp::put_count(out, b'*', 6 + usize::from(new.immediate) + more);
    resp::put_bulk(out, b"EXCHANGE.PLACE-ORDER");
    resp::put_bulk(out, market.accounts[new.account].as_bytes());
    resp::put_bulk(out, market.symbols[new.symbol].as_bytes());
    let side: &[u8] = match new.side {
        Side::Buy => b"BUY",
        Side::Sell => b"SELL",
    };
    resp::put_bulk(out, side);
    put_number(out, new.quantity, 0);
    put_number(out, price.units(), price.scale());
    if new.immediate {
        resp::put_bulk(out, b"IOC");
    }
}

fn price(new: &FlowOrder) -> Decimal {
    Decimal::new(new.price, PRICE_SCALE)
}

/// Appends a number as a bulk string.
pub(crate) fn put_number(out: &mut Vec<u8>, mut units: u64, scale: u8) {
    // Twenty digits and the point.
    let mut text = [b'0'; 21];
    let mut at = text.len();
    for digit in 0_u8.. {
        if digit > scale && units == 0 {
            break;
        }
        if digit == scale && scale > 0 {
            at -= 1;
            text[at] = b'.';
        }
        at -= 1;
        text[at] = b'0' + u8::try_from(units % 10).expect("a digit is below ten");
        units /= 10;
    }
    resp::put_bulk(out, &text[at..]);
}

fn hear_resp(bytes: &[u8]) -> Result<Option<(TraderReply<'_>, usize)>, Garbled> {
    let garbled = |_malformed| Garbled;
    let Some(length) = resp::reply_length(bytes, &ReplyLimits::REPLY).map_err(garbled)? else {
        return Ok(None);
    };
    let mut rest = &bytes[..length];
    let mut next = || -> Result<Option<Token<'_>>, Garbled> {
        let token = resp::token(rest, &ReplyLimits::REPLY).map_err(garbled)?;
        Ok(token.map(|(token, used)| {
            rest = &rest[used..];
            token
        }))
    };
    let told = match (next()?, next()?, next()?, next()?, next()?) {
        (Some(Token::Error(text)), ..) => TraderReply::Error(code(text)),
        (Some(Token::Array(2..)), Some(Token::Integer(0)), Some(Token::Bulk(reason)), ..) => {
            TraderReply::Refused(reason)
        }
        // Order, state, filled, value, open, and the position behind them.
        (
            Some(Token::Array(7..)),
            Some(Token::Integer(1)),
            Some(Token::Integer(order)),
            Some(Token::Bulk(state)),
            Some(Token::Bulk(filled)),
        ) => TraderReply::Opened(OpenedOrder {
            order: u64::try_from(order).map_err(|_negative| Garbled)?,
            rests: state == b"open",
            executed: whole(filled).ok_or(Garbled)?,
        }),
        // Order, quantity, position.
        (Some(Token::Array(4)), Some(Token::Integer(1)), ..) => TraderReply::Cancelled,
        _ => return Err(Garbled),
    };
    Ok(Some((told, length)))
}

/// Reads the first reply only, and of it the name and the id: an answer holds one, and reading it
/// whole, as [`turnstile_xml::client::Replies`] does, takes memory.
fn hear_xml(bytes: &[u8]) -> Result<Option<(TraderReply<'_>, usize)>, Garbled> {
    let (answer, length) = match frame(bytes) {
        Framed::Incomplete { .. } => return Ok(None),
        Framed::Broken(_) => return Err(Garbled),
        Framed::Frame { xml, consumed } => (&bytes[xml], consumed),
    };
    let reply = answer.strip_prefix(b"<results><").ok_or(Garbled)?;
    let end = reply.iter().position(|&byte| byte == b'>').ok_or(Garbled)?;
    let (tag, content) = (&reply[..end], &reply[end + 1..]);
    let name = tag.split(|byte| b" />".contains(byte)).next();
    let told = match name {
        Some(b"opened") => TraderReply::Opened(OpenedOrder {
            order: id(tag).ok_or(Garbled)?,
            rests: true,
            executed: 0,
        }),
        Some(b"canceled") => TraderReply::Cancelled,
        Some(b"error") => xml_code(content).map_or_else(
            || {
                // The figures of a refusal stand behind a colon.
                let end = content.iter().position(|byte| b":<,".contains(byte));
                TraderReply::Refused(&content[..end.unwrap_or(content.len())])
            },
            TraderReply::Error,
        ),
        _ => return Err(Garbled),
    };
    Ok(Some((told, length)))
}

/// The code that RESP has for an `error` of XML; none when that is a refusal.
pub(super) fn xml_code(sentence: &[u8]) -> Option<&'static [u8]> {
    let found = XML_ERRORS
        .iter()
        .find(|(words, _)| sentence.starts_with(words));
    found.map(|(_, code)| *code)
}

/// A number of shares: the flow asks for whole ones, at most a hundred.
fn whole(number: &[u8]) -> Option<u8> {
    str::from_utf8(number).ok()?.parse().ok()
}

/// The number in ` id="..."`. Nothing before it holds a quote: the other attributes are ours.
fn id(tag: &[u8]) -> Option<u64> {
    let start = tag.windows(5).position(|window| window == b" id=\"")?;
    let value = tag[start + 5..].split(|&byte| byte == b'"').next()?;
    str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::tests::config;

    fn check(door: Door, bytes: &[u8], told: TraderReply<'_>) {
        assert_eq!(door.hear(bytes), Ok(Some((told, bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(door.hear(&bytes[..cut]), Ok(None), "{cut}");
        }
    }

    #[test]
    fn answers_of_either_door_are_read_whole_or_not_at_all() {
        let opened = |rests, executed| {
            TraderReply::Opened(OpenedOrder {
                order: 17,
                rests,
                executed,
            })
        };
        for (state, rests, filled) in [
            ("open", true, 3),
            ("filled", false, 9),
            ("cancelled", false, 0),
        ] {
            let length = state.len();
            let bytes = format!(
                "*7\r\n:1\r\n:17\r\n${length}\r\n{state}\r\n$1\r\n{filled}\r\n$1\r\n0\r\n$2\r\n10\r\n:9\r\n"
            );
            check(Door::Resp, bytes.as_bytes(), opened(rests, filled));
        }
        let refused = b"*2\r\n:0\r\n$8\r\nnot_open\r\n";
        check(Door::Resp, refused, TraderReply::Refused(b"not_open"));
        check(Door::Resp, b"-BUSY later\r\n", TraderReply::Error(b"BUSY"));
        let cancelled = b"*4\r\n:1\r\n:17\r\n$2\r\n10\r\n:9\r\n";
        check(Door::Resp, cancelled, TraderReply::Cancelled);
        let rows: [(&[u8], TraderReply<'_>); 5] = [
            (
                b"<results><opened sym=\"L1S0\" amount=\"10\" limit=\"99.5\" id=\"17\"/></results>",
                opened(true, 0),
            ),
            (
                b"<results><canceled id=\"17\"><canceled shares=\"5\" time=\"1\"/></canceled></results>",
                TraderReply::Cancelled,
            ),
            (
                b"<results><error id=\"17\">Insufficient funds: 5 needed</error></results>",
                TraderReply::Refused(b"Insufficient funds"),
            ),
            (
                b"<results><error sym=\"L1S0\">unknown: the command was done or not</error></results>",
                TraderReply::Error(b"UNKNOWN"),
            ),
            (
                b"<results><error>the server recovers its journal, try again later</error></results>",
                TraderReply::Error(b"LOADING"),
            ),
        ];
        for (bytes, told) in rows {
            check(Door::Xml, bytes, told);
        }
    }

    #[test]
    fn what_is_no_answer_is_garbled() {
        let rows: [(Door, &[u8]); 6] = [
            (Door::Resp, b"+OK\r\n"),
            (Door::Resp, b"*2\r\n:1\r\n:9\r\n"),
            (Door::Resp, b"?"),
            (Door::Xml, b"HTTP/1.1 400"),
            (Door::Xml, b"<results></results>"),
            (Door::Xml, b"<results><opened sym=\"x\"/></results>"),
        ];
        for (door, bytes) in rows {
            assert_eq!(door.hear(bytes), Err(Garbled), "{door:?} {bytes:?}");
        }
    }

    #[test]
    fn orders_and_cancels_are_written_as_each_door_reads_them() {
        let market = RunMarket::named(&config(Door::Resp), 3);
        let mut new = FlowOrder {
            account: 2,
            symbol: 1,
            side: Side::Sell,
            quantity: 40,
            price: 9_905,
            immediate: true,
        };
        let held = RestingOrder {
            order: 17,
            account: 2,
            place: 0,
        };
        let mut out = Vec::new();
        Door::Resp.put_new(&mut out, &market, &new, 0);
        new.price = 10_000;
        new.immediate = false;
        Door::Resp.put_new(&mut out, &market, &new, 0);
        Door::Resp.put_cancel(&mut out, &market, held, 0);
        let expected = "*7\r\n$20\r\nEXCHANGE.PLACE-ORDER\r\n$5\r\n30002\r\n$4\r\nL3S1\r\n$4\r\nSELL\r\n\
            $2\r\n40\r\n$5\r\n99.05\r\n$3\r\nIOC\r\n\
            *6\r\n$20\r\nEXCHANGE.PLACE-ORDER\r\n$5\r\n30002\r\n$4\r\nL3S1\r\n$4\r\nSELL\r\n\
            $2\r\n40\r\n$3\r\n100\r\n\
            *3\r\n$21\r\nEXCHANGE.CANCEL-ORDER\r\n$5\r\n30002\r\n$2\r\n17\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);

        let mut out = Vec::new();
        Door::Xml.put_new(&mut out, &market, &new, 0);
        Door::Xml.put_cancel(&mut out, &market, held, 0);
        let order = "<transactions id=\"30002\"><order sym=\"L3S1\" amount=\"-40\" limit=\"100\"/>\
            </transactions>";
        let cancel = "<transactions id=\"30002\"><cancel id=\"17\"/></transactions>";
        let expected = format!("{}\n{order}{}\n{cancel}", order.len(), cancel.len());
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
