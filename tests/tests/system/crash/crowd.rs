//! Traders at the XML door, which knows neither positions nor idempotency keys.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rand::{RngExt as _, rngs::StdRng};
use turnstile_exchange::{AccountId, Decimal, OrderId, Side, Symbol};
use turnstile_xml::Framed;
use turnstile_xml::client::{Outgoing, Part, Replies, Reply, ReplyKind, frame};

use super::floor::{Floor, Order};
use super::tape::{Seen, units};

/// How long one answer may take; a slow machine needs a fraction of it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most items of one request.
const ITEMS_MAX: usize = 12;

/// What is answered when somebody cancels an order that was filled or cancelled before.
const NOT_OPEN: &str = "nothing of the order is open";

/// Connections with requests in flight.
#[derive(Debug)]
pub(crate) struct Crowd {
    traders: Vec<Trader>,
}

/// One connection, and what it is owed.
#[derive(Debug)]
struct Trader {
    stream: TcpStream,
    inbox: Vec<u8>,
    owed: VecDeque<Vec<Item>>,
}

#[derive(Debug)]
enum Item {
    Order(Order),
    Query(u64),
    Cancel(u64),
}

impl Crowd {
    pub(crate) fn connect(address: SocketAddr, traders: usize) -> Result<Self, String> {
        let traders = (0..traders).map(|_| Trader::connect(address));
        let traders = traders.collect::<std::io::Result<_>>();
        Ok(Self {
            traders: traders.map_err(|error| error.to_string())?,
        })
    }

    /// Each sends a request, and listens to some of the answers that it is owed.
    pub(crate) fn trade(&mut self, floor: &mut Floor, rng: &mut StdRng) -> Result<(), String> {
        self.ask(floor, rng)?;
        for trader in &mut self.traders {
            for _ in 0..rng.random_range(0..=trader.owed.len()) {
                if !trader.listen(floor)? {
                    return Err("the door closed".to_owned());
                }
            }
        }
        Ok(())
    }

    /// Each sends a request.
    pub(crate) fn ask(&mut self, floor: &mut Floor, rng: &mut StdRng) -> Result<(), String> {
        for trader in &mut self.traders {
            trader.ask(floor, rng).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Listens to what the server sent before it ended. That, too, was acknowledged.
    pub(crate) fn drain(self, floor: &mut Floor) -> Result<(), String> {
        for mut trader in self.traders {
            while trader.listen(floor)? {}
        }
        Ok(())
    }
}

impl Trader {
    fn connect(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self {
            stream,
            inbox: Vec::new(),
            owed: VecDeque::new(),
        })
    }

    /// Sends some items for one account.
    fn ask(&mut self, floor: &mut Floor, rng: &mut StdRng) -> std::io::Result<()> {
        let first = floor.order(rng);
        let account = first.account;
        let mut items = vec![Item::Order(first)];
        for _ in 0..rng.random_range(0..ITEMS_MAX) {
            items.push(match floor.known(rng) {
                Some((owner, order)) if owner == account => Item::Cancel(order),
                Some((_, order)) => Item::Query(order),
                None => break,
            });
        }
        let mut bytes = Vec::new();
        let account = AccountId::parse(account.as_bytes()).expect("it is an account");
        let mut request = Outgoing::transactions(&mut bytes, &account);
        for item in &items {
            match item {
                Item::Order(order) => put(&mut request, order),
                Item::Query(order) => request.query(OrderId(*order)),
                Item::Cancel(order) => request.cancel(OrderId(*order)),
            }
        }
        request.finish();
        self.owed.push_back(items);
        self.stream.write_all(&bytes)
    }

    /// Waits for the next answer and enters it; says whether one came.
    fn listen(&mut self, floor: &mut Floor) -> Result<bool, String> {
        let Some(items) = self.owed.pop_front() else {
            return Ok(false);
        };
        let (xml, consumed) = loop {
            match frame(&self.inbox) {
                Framed::Frame { xml, consumed } => break (xml, consumed),
                Framed::Incomplete { .. } if self.read()? => {}
                Framed::Incomplete { .. } => return Ok(false),
                Framed::Broken(fault) => return Err(format!("a garbled answer: {fault}")),
            }
        };
        let replies = Replies::new(&self.inbox[xml]).map_err(|error| error.to_string())?;
        let replies = replies.collect::<Result<Vec<_>, _>>();
        let replies = replies.map_err(|error| error.to_string())?;
        if replies.len() != items.len() {
            return Err(format!("{items:?} were answered {replies:?}"));
        }
        for (item, reply) in items.iter().zip(&replies) {
            enter(floor, item, reply)?;
        }
        self.inbox.drain(..consumed);
        Ok(true)
    }

    /// Reads some bytes; says whether any came.
    fn read(&mut self) -> Result<bool, String> {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.inbox.extend_from_slice(&bytes[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(false),
            Err(error) => Err(format!("not closed, but: {error}")),
        }
    }
}

fn put(request: &mut Outgoing<'_>, order: &Order) {
    let symbol = Symbol::parse(order.symbol.as_bytes()).expect("it is a symbol");
    let side = if order.is_buy { Side::Buy } else { Side::Sell };
    let number = |text: &str| Decimal::parse(text.as_bytes()).expect("it is a number");
    request.order(&symbol, side, number(&order.quantity), number(&order.limit));
}

/// Enters what was answered to an item.
fn enter(floor: &mut Floor, item: &Item, reply: &Reply<'_>) -> Result<(), String> {
    match (item, reply.kind, reply.order()) {
        (Item::Order(order), ReplyKind::Opened, Some(OrderId(number))) => {
            floor.known.push((order.account, number));
            floor.open(order, number)
        }
        (Item::Query(order), ReplyKind::Status, Some(OrderId(number)))
        | (Item::Cancel(order), ReplyKind::Cancelled, Some(OrderId(number)))
            if *order == number =>
        {
            floor.see(number, seen(&reply.parts))
        }
        (item, ReplyKind::Error, _) if is_of_database(reply.text) => {
            floor.failures += 1;
            if let Item::Order(order) = item
                && reply.text.starts_with("unavailable: ")
            {
                floor.refuse(order);
            }
            Ok(())
        }
        (Item::Cancel(order), ReplyKind::Error, _) if reply.text == NOT_OPEN => {
            floor.ended.insert(*order);
            Ok(())
        }
        _ => Err(format!("{item:?} was answered {reply:?}")),
    }
}

/// Whether a database was lost on the way, or was away.
fn is_of_database(error: &str) -> bool {
    let words = ["unavailable: ", "unknown: ", "the order was cancelled, "];
    words.iter().any(|word| error.starts_with(word))
}

fn seen(parts: &[Part]) -> Seen {
    let mut seen = Seen::default();
    for part in parts {
        match part {
            Part::Open { .. } => {}
            Part::Cancelled { shares, .. } => seen.cancelled = Some(units(&shares.to_string())),
            Part::Executed { shares, price, .. } => {
                let execution = (units(&shares.to_string()), units(&price.to_string()));
                seen.executions.push(execution);
            }
        }
    }
    seen
}
