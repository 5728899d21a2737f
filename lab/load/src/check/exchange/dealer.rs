//! A dealer: the order flow of a trader, under keys, and looks at the books; it notes all that it
//! hears, and asks again what was not answered.

use std::{
    collections::VecDeque,
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use turnstile_check::{
    Seen, Witness,
    exchange::{Cancelled, Operation, Order, Ordered, Side, State},
};
use turnstile_client::resp;

use super::answer::{self, Told};
use crate::{
    check::reply,
    exchange::{self as workload, Flow, Held, Market, New, Path, Wish, put_number},
    pace::{self, Garbled, Heard, User},
    seed::Dice,
};

/// Of so many requests one looks at the best prices of a book.
const LOOKS_ONE_IN: u64 = 8;

/// How long the server may take for any one answer when the load is over.
const PATIENCE: Duration = Duration::from_secs(10);

/// Digits after the point of a price: the flow has cents.
const PRICE_SCALE: u8 = 2;

/// One dealer. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub struct Dealer {
    dice: Dice,
    flow: Flow,
    market: Arc<Market>,
    witness: Witness<Operation>,
    /// The unchanging beginning of its keys.
    stem: Vec<u8>,
    key: Vec<u8>,
    asked: u64,
    /// What was asked and not answered on connections before, in order.
    again: VecDeque<Ask>,
    /// How many at its front were lost with the last connection.
    lost: usize,
    /// Whether the connection speaks RESP2 still.
    is_new: bool,
}

/// What a dealer asked. The same is the same bytes, but for the greeting.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    greets: bool,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Order { new: New, key: u64 },
    Cancel { held: Held, key: u64 },
    Look { symbol: usize },
}

/// The dealers of a run that begins at this position.
pub(super) fn dealers(
    config: &workload::Config,
    market: &Arc<Market>,
    position: u64,
    witnesses: Vec<Witness<Operation>>,
) -> Vec<Dealer> {
    let path = Arc::new(Path::of_seed(config.pace.seed));
    let dealer = |witness: Witness<Operation>| {
        let number = witness.user();
        let user = u64::try_from(number).expect("users are bounded");
        let dice = Dice::of_user(config.pace.seed, user);
        let accounts = market.accounts_of(number);
        let symbols = market.symbols.len();
        let flow = Flow::new(
            dice,
            Arc::clone(&path),
            accounts,
            symbols,
            true,
            config.users,
        );
        Dealer {
            dice: Dice::of_user(!config.pace.seed, user),
            flow,
            market: Arc::clone(market),
            witness,
            stem: format!("check{position}-{number}-").into_bytes(),
            key: Vec::with_capacity(64),
            asked: 0,
            again: VecDeque::with_capacity(config.pace.pipeline),
            lost: 0,
            is_new: true,
        }
    };
    witnesses.into_iter().map(dealer).collect()
}

fn narrow(number: usize) -> u16 {
    u16::try_from(number).expect("at most 1,000 accounts and symbols")
}

impl Dealer {
    /// Asks once more, when the load is over, what was never answered. What it does not learn now it
    /// will not learn.
    pub(super) fn settle(&mut self, address: SocketAddr) {
        if self.again.is_empty() || self.ask_alone(address).is_ok() {
            return;
        }
        for ask in self.again.drain(..) {
            match ask.what.unknown() {
                Some(operation) => self.witness.hears(Seen::Unknown, operation),
                None => self.witness.hears_nothing(),
            }
        }
    }

    fn ask_alone(&mut self, address: SocketAddr) -> io::Result<()> {
        let mut line = TcpStream::connect_timeout(&address, PATIENCE)?;
        line.set_read_timeout(Some(PATIENCE))?;
        self.is_new = true;
        while let Some(first) = self.again.front().copied() {
            let mut out = Vec::new();
            let greets = std::mem::take(&mut self.is_new);
            if greets {
                resp::put_command(&mut out, &[b"HELLO", b"3"]);
            }
            self.put(&mut out, &first.what);
            line.write_all(&out)?;
            let ask = Ask {
                greets,
                what: first.what,
            };
            let (mut answer, mut buffer) = (Vec::new(), [0; 4_096]);
            while self
                .hear(&ask, &answer)
                .map_err(io::Error::other)?
                .is_none()
            {
                match line.read(&mut buffer)? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    read => answer.extend_from_slice(&buffer[..read]),
                }
            }
            self.again.pop_front();
        }
        Ok(())
    }

    fn choose(&mut self) -> What {
        if self.dice.below(LOOKS_ONE_IN) == 0 {
            let symbols = u64::try_from(self.market.symbols.len()).expect("symbols are bounded");
            let symbol = usize::try_from(self.dice.below(symbols)).expect("symbols are bounded");
            return What::Look { symbol };
        }
        let key = self.asked;
        self.asked += 1;
        match self.flow.next() {
            Wish::New(new) => What::Order { new, key },
            Wish::Cancel(held) => What::Cancel { held, key },
        }
    }

    fn put(&mut self, out: &mut Vec<u8>, what: &What) {
        let market = &self.market;
        match what {
            What::Order { new, key } => {
                let side: &[u8] = match new.side {
                    turnstile_exchange::Side::Buy => b"BUY",
                    turnstile_exchange::Side::Sell => b"SELL",
                };
                resp::put_count(out, b'*', if new.immediate { 9 } else { 8 });
                resp::put_bulk(out, b"EXCHANGE.ORDER");
                resp::put_bulk(out, market.accounts[new.account].as_bytes());
                resp::put_bulk(out, market.symbols[new.symbol].as_bytes());
                resp::put_bulk(out, side);
                put_number(out, new.quantity, 0);
                put_number(out, new.price, PRICE_SCALE);
                if new.immediate {
                    resp::put_bulk(out, b"IOC");
                }
                self.put_key(out, *key);
            }
            What::Cancel { held, key } => {
                resp::put_count(out, b'*', 5);
                resp::put_bulk(out, b"EXCHANGE.CANCEL");
                resp::put_bulk(out, market.accounts[held.account].as_bytes());
                put_number(out, held.order, 0);
                self.put_key(out, *key);
            }
            What::Look { symbol } => {
                resp::put_count(out, b'*', 2);
                resp::put_bulk(out, b"EXCHANGE.TOP");
                resp::put_bulk(out, market.symbols[*symbol].as_bytes());
            }
        }
    }

    fn put_key(&mut self, out: &mut Vec<u8>, key: u64) {
        self.key.clear();
        self.key.extend_from_slice(&self.stem);
        resp::put_decimal(&mut self.key, key);
        resp::put_bulk(out, b"KEY");
        resp::put_bulk(out, &self.key);
    }

    /// Notes an outcome, and remembers an order that waits.
    fn note<'a>(
        &mut self,
        what: &What,
        position: u64,
        operation: Operation,
        refused: Option<&'a [u8]>,
    ) -> pace::Answer<'a> {
        if let (
            What::Order { new, .. },
            Operation::Order {
                answer: Ordered::Accepted { order, ticket },
                ..
            },
        ) = (what, operation)
            && ticket.state == State::Open
        {
            let (account, place) = (new.account, 0);
            self.flow.rests(Held {
                order,
                account,
                place,
            });
        }
        self.witness.hears(Seen::At(position), operation);
        refused.map_or(pace::Answer::Done, pace::Answer::Refused)
    }
}

impl What {
    fn order(new: &New) -> Order {
        Order {
            account: narrow(new.account),
            symbol: narrow(new.symbol),
            side: match new.side {
                turnstile_exchange::Side::Buy => Side::Buy,
                turnstile_exchange::Side::Sell => Side::Sell,
            },
            quantity: new.quantity,
            limit: new.price,
            immediate: new.immediate,
        }
    }

    fn ordered(new: &New, answer: Ordered) -> Operation {
        let order = Self::order(new);
        Operation::Order { order, answer }
    }

    fn cancelled(held: &Held, answer: Cancelled) -> Operation {
        Operation::Cancel {
            account: narrow(held.account),
            order: held.order,
            answer,
        }
    }

    /// The same without an answer; nothing of what changes nothing.
    fn unknown(&self) -> Option<Operation> {
        match self {
            Self::Order { new, .. } => Some(Self::ordered(new, Ordered::Unknown)),
            Self::Cancel { held, .. } => Some(Self::cancelled(held, Cancelled::Unknown)),
            Self::Look { .. } => None,
        }
    }
}

impl User for Dealer {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &["order", "cancel", "look"];

    const REQUEST_BYTES_MAX: usize = 512;

    fn connected(&mut self) {
        self.is_new = true;
    }

    fn goes_on(&self) -> bool {
        !self.again.is_empty()
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        self.lost = 0;
        let greets = std::mem::take(&mut self.is_new);
        if greets {
            resp::put_command(out, &[b"HELLO", b"3"]);
        }
        let what = match self.again.pop_front() {
            // It was noted when it was asked for the first time.
            Some(ask) => ask.what,
            None => {
                self.witness.asks();
                self.choose()
            }
        };
        self.put(out, &what);
        Some(Ask { greets, what })
    }

    fn operation(ask: &Ask) -> usize {
        match ask.what {
            What::Order { .. } => 0,
            What::Cancel { .. } => 1,
            What::Look { .. } => 2,
        }
    }

    fn hear<'a>(&mut self, ask: &Ask, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let Some(whole) = reply::whole(bytes, ask.greets)? else {
            return Ok(None);
        };
        let length = whole.end;
        let reply = &bytes[whole];
        let told = match ask.what {
            What::Order { .. } => answer::ordered(reply)?,
            What::Cancel { .. } => answer::cancelled(reply)?,
            What::Look { .. } => answer::top(reply)?,
        };
        let answer = match (told, &ask.what) {
            (Told::Error(code), what) => {
                match what.unknown().filter(|_one| reply::is_unknown(code)) {
                    Some(operation) => self.witness.hears(Seen::Unknown, operation),
                    None => self.witness.hears_nothing(),
                }
                pace::Answer::Error(code)
            }
            (
                Told::Ordered {
                    position,
                    answer,
                    refused,
                },
                What::Order { new, .. },
            ) => self.note(&ask.what, position, What::ordered(new, answer), refused),
            (
                Told::Cancelled {
                    position,
                    answer,
                    refused,
                },
                What::Cancel { held, .. },
            ) => self.note(&ask.what, position, What::cancelled(held, answer), refused),
            (Told::Seen { bid, ask: best }, What::Look { symbol }) => {
                let symbol = narrow(*symbol);
                let ask = best;
                self.witness
                    .hears(Seen::Reading, Operation::Look { symbol, bid, ask });
                pace::Answer::Done
            }
            _ => return Err(Garbled),
        };
        Ok(Some(Heard { length, answer }))
    }

    fn lost(&mut self, ask: &Ask) {
        self.again.insert(self.lost, *ask);
        self.lost += 1;
    }
}
