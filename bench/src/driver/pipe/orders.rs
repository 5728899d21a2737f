//! The flow of orders in the words of a protocol.

use std::{collections::VecDeque, fmt, net::SocketAddr};

use anyhow::{Context as _, Result, bail, ensure};
use turnstile_client::{Connection, resp};

use super::{
    Answer, Heard, Talk,
    flow::{self, Flow, Side, Step},
    resp_answer,
};
use crate::{booking::is_done, server::Server};

/// What an account has of cash and of each symbol: nobody runs out of it.
const PLENTY: &[u8] = b"100000000000";

/// How an order is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Resp,
    /// Over RESP, each with a client id of 36 characters.
    RespWithId,
    /// One order or cancel in a `transactions` of its own.
    Xml,
}

impl Order {
    pub(super) const fn address(self, server: &Server) -> SocketAddr {
        match self {
            Self::Resp | Self::RespWithId => server.resp(),
            Self::Xml => server.xml(),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resp => "orders over RESP",
            Self::RespWithId => "orders with client ids over RESP",
            Self::Xml => "orders over XML",
        })
    }
}

/// Makes the accounts of so many connections, with cash and with shares of every symbol.
pub(super) fn prepare(connection: &mut Connection, connections: u32) -> Result<()> {
    let mut sent = 0;
    for number in (0..connections).flat_map(flow::accounts) {
        let account = number.to_string();
        connection.send(&[b"EXCHANGE.ACCOUNT", account.as_bytes(), PLENTY]);
        for symbol in 0..flow::SYMBOLS {
            let symbol = symbol_name(symbol);
            connection.send(&[b"EXCHANGE.GRANT", account.as_bytes(), &symbol, PLENTY]);
        }
        sent += 1 + flow::SYMBOLS;
    }
    connection.flush()?;
    for _ in 0..sent {
        let reply = connection.receive()?;
        ensure!(is_done(&reply), "not prepared: {reply:?}");
    }
    Ok(())
}

fn symbol_name(number: u32) -> [u8; 4] {
    let digit = |number: u32| b'0' + u8::try_from(number % 10).expect("a digit");
    [b'S', digit(number / 100), digit(number / 10), digit(number)]
}

/// One connection's side.
pub(super) struct Trader {
    order: Order,
    flow: Flow,
    number: u32,
    /// Orders that were given client ids.
    named: u32,
    /// Whether each request that is under way is an order to cancel later.
    asked: VecDeque<bool>,
    words: Words,
}

/// The numbers of a request, written out.
#[derive(Default)]
struct Words {
    account: Vec<u8>,
    quantity: Vec<u8>,
    price: Vec<u8>,
    order: Vec<u8>,
    body: Vec<u8>,
}

impl Trader {
    pub(super) fn new(order: Order, number: u32) -> Self {
        Self {
            order,
            flow: Flow::new(number),
            number,
            named: 0,
            asked: VecDeque::new(),
            words: Words::default(),
        }
    }

    /// A UUID that nobody else has.
    fn client_id(&mut self) -> [u8; 36] {
        self.named += 1;
        let mut id = *b"00000000-0000-4000-8000-000000000000";
        put_digits(&mut id[..8], self.number);
        put_digits(&mut id[24..], self.named);
        id
    }
}

impl Talk for Trader {
    fn ask(&mut self, out: &mut Vec<u8>) {
        let step = self.flow.next();
        self.asked
            .push_back(matches!(step, Step::Order { rests: true, .. }));
        self.words.write(&step);
        match self.order {
            Order::Resp => self.words.put_resp(out, &step, None),
            Order::RespWithId => {
                let id = self.client_id();
                self.words.put_resp(out, &step, Some(&id));
            }
            Order::Xml => self.words.put_xml(out, &step),
        }
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Option<Heard>> {
        let answer = match self.order {
            Order::Resp | Order::RespWithId => resp_answer(bytes)?,
            Order::Xml => xml_answer(bytes)?,
        };
        let Some((heard, order)) = answer else {
            return Ok(None);
        };
        let rests = self.asked.pop_front().context("an answer to nothing")?;
        if rests && heard.accepted {
            self.flow
                .rested(order.context("an order without a number")?);
        }
        Ok(Some(heard))
    }
}

impl Words {
    fn write(&mut self, step: &Step) {
        let write = |text: &mut Vec<u8>, number| {
            text.clear();
            resp::put_decimal(text, number);
        };
        match *step {
            Step::Order {
                account,
                quantity,
                cents,
                ..
            } => {
                write(&mut self.account, u64::from(account));
                write(&mut self.quantity, u64::from(quantity));
                write(&mut self.price, u64::from(cents));
                self.price.insert(self.price.len() - 2, b'.');
            }
            Step::Cancel { account, order } => {
                write(&mut self.account, u64::from(account));
                write(&mut self.order, order);
            }
        }
    }

    fn put_resp(&self, out: &mut Vec<u8>, step: &Step, id: Option<&[u8]>) {
        match *step {
            Step::Cancel { .. } => {
                resp::put_command(out, &[b"EXCHANGE.CANCEL", &self.account, &self.order]);
            }
            Step::Order { symbol, side, .. } => {
                let symbol = symbol_name(symbol);
                let side: &[u8] = match side {
                    Side::Buy => b"BUY",
                    Side::Sell => b"SELL",
                };
                let plain: [&[u8]; 6] = [
                    b"EXCHANGE.ORDER",
                    &self.account,
                    &symbol,
                    side,
                    &self.quantity,
                    &self.price,
                ];
                match id {
                    None => resp::put_command(out, &plain),
                    Some(id) => {
                        let [a, b, c, d, e, f] = plain;
                        resp::put_command(out, &[a, b, c, d, e, f, b"ID", id]);
                    }
                }
            }
        }
    }

    /// A sell is an order of a negative amount.
    fn put_xml(&mut self, out: &mut Vec<u8>, step: &Step) {
        let body = &mut self.body;
        body.clear();
        let mut put = |pieces: &[&[u8]]| {
            pieces
                .iter()
                .for_each(|piece| body.extend_from_slice(piece))
        };
        put(&[b"<transactions id=\"", &self.account]);
        match *step {
            Step::Cancel { .. } => put(&[b"\"><cancel id=\"", &self.order, b"\"/>"]),
            Step::Order { symbol, side, .. } => {
                let sign: &[u8] = if side == Side::Sell { b"-" } else { b"" };
                put(&[
                    b"\"><order sym=\"",
                    &symbol_name(symbol),
                    b"\" amount=\"",
                    sign,
                ]);
                put(&[&self.quantity, b"\" limit=\"", &self.price, b"\"/>"]);
            }
        }
        put(&[b"</transactions>"]);
        resp::put_decimal(out, self.body.len() as u64);
        out.push(b'\n');
        out.extend_from_slice(&self.body);
    }
}

/// Writes a number over zeros.
fn put_digits(zeros: &mut [u8], mut number: u32) {
    for digit in zeros.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).expect("a digit");
        number /= 10;
    }
}

/// Reads one `results`, and the number of the order that it opened.
fn xml_answer(bytes: &[u8]) -> Result<Answer> {
    const BEGIN: &[u8] = b"<results>";
    const END: &[u8] = b"</results>";
    // What is shorter is no answer, so that the search starts behind it.
    let tail = bytes.get(BEGIN.len()..).unwrap_or_default();
    let Some(length) = memchr::memmem::find(tail, END) else {
        return Ok(None);
    };
    let inner = &tail[..length];
    let heard = |accepted| Heard {
        length: BEGIN.len() + length + END.len(),
        accepted,
    };
    if inner.starts_with(b"<canceled") {
        return Ok(Some((heard(true), None)));
    }
    if let Some(opened) = inner.strip_prefix(b"<opened".as_slice()) {
        let number = opened.strip_suffix(b"\"/>").context("no end")?;
        let begin = memchr::memrchr(b'"', number).context("no number")? + 1;
        let number = str::from_utf8(&number[begin..])?.parse()?;
        return Ok(Some((heard(true), Some(number))));
    }
    if inner.starts_with(b"<error") {
        return Ok(Some((heard(false), None)));
    }
    bail!("what is this: {}", bytes.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::{Answer, Heard, Order, Talk as _, Trader, xml_answer};

    fn said(order: Order, answer: &[u8], requests: usize) -> String {
        let mut trader = Trader::new(order, 3);
        let mut out = Vec::new();
        for _ in 0..requests {
            out.clear();
            trader.ask(&mut out);
            trader.hear(answer).unwrap().unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_order_and_a_cancel_are_said_in_each_protocol() {
        let resp: &[u8] = b"*2\r\n:1\r\n:17\r\n";
        let xml = br#"<results><opened sym="S000" amount="1" limit="1" id="17"/></results>"#;
        let first = said(Order::Resp, resp, 1);
        assert!(
            first.starts_with("*6\r\n$14\r\nEXCHANGE.ORDER\r\n$7\r\n9000006\r\n$4\r\nS0"),
            "{first:?}"
        );
        let named = said(Order::RespWithId, resp, 1);
        let id = "$36\r\n00000003-0000-4000-8000-000000000001\r\n";
        assert!(named.ends_with(id), "{named:?}");
        let first = said(Order::Xml, xml, 3);
        let begin = "<transactions id=\"9000006\"><order sym=\"S0";
        let (length, body) = first.split_once('\n').unwrap();
        assert_eq!(length.parse(), Ok(body.len()));
        assert!(
            body.starts_with(begin) && body.contains("amount=\"-"),
            "{body}"
        );
        let cancel = "<transactions id=\"9000006\"><cancel id=\"17\"/></transactions>";
        assert_eq!(said(Order::Xml, xml, 68), format!("59\n{cancel}"));
        let cancel = "*3\r\n$15\r\nEXCHANGE.CANCEL\r\n$7\r\n9000006\r\n$2\r\n17\r\n";
        assert_eq!(said(Order::Resp, resp, 68), cancel);
    }

    #[test]
    fn an_xml_answer_is_one_results() {
        let heard = |length, accepted| Heard { length, accepted };
        let rows: [(&[u8], Answer); 4] = [
            (
                b"<results><opened sym=\"S\" id=\"17\"/></results><results>",
                Some((heard(44, true), Some(17))),
            ),
            (
                b"<results><canceled id=\"1\"></canceled></results>",
                Some((heard(47, true), None)),
            ),
            (
                b"<results><error>no</error></results>",
                Some((heard(36, false), None)),
            ),
            (b"<results><opened sym", None),
        ];
        for (bytes, expected) in rows {
            assert_eq!(xml_answer(bytes).unwrap(), expected);
        }
        assert!(xml_answer(b"<results></results>").is_err());
    }
}
