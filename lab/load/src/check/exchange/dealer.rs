//! A dealer: the order flow of a trader, under keys, and looks at the books; it notes all that it
//! hears, and asks again what was not answered.

use std::{sync::Arc, time::Instant};

use turnstile_check::{
    Seen, Witness,
    exchange::{Cancelled, Operation, Order, Ordered, Side, State},
};
use turnstile_client::resp;

use super::answer::{self, Told};
use crate::{
    check::again::{self, Ask, Insistent, Unanswered},
    exchange::{self as workload, Flow, Held, Market, New, Path, Wish, put_number},
    pace::{self, Garbled, Heard, User},
    reply,
    seed::Dice,
};

/// Of so many requests one looks at the best prices of a book.
const LOOKS_ONE_IN: u64 = 8;

/// Digits after the point of a price: the flow has cents.
const PRICE_SCALE: u8 = 2;

/// One dealer. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(super) struct Dealer {
    dice: Dice,
    flow: Flow,
    market: Arc<Market>,
    witness: Witness<Operation>,
    unanswered: Unanswered<What>,
}

/// What a dealer asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
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
            unanswered: Unanswered::new(position, number, config.pace.pipeline),
        }
    };
    witnesses.into_iter().map(dealer).collect()
}

fn narrow(number: usize) -> u16 {
    u16::try_from(number).expect("at most 1,000 accounts and symbols")
}

impl Dealer {
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

impl Insistent for Dealer {
    type What = What;

    fn unanswered(&mut self) -> &mut Unanswered<What> {
        &mut self.unanswered
    }

    fn choose(&mut self) -> What {
        self.witness.asks();
        if self.dice.below(LOOKS_ONE_IN) == 0 {
            let symbols = u64::try_from(self.market.symbols.len()).expect("symbols are bounded");
            let symbol = usize::try_from(self.dice.below(symbols)).expect("symbols are bounded");
            return What::Look { symbol };
        }
        let key = self.unanswered.next_key();
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
                resp::put_bulk(out, b"EXCHANGE.PLACE-ORDER");
                resp::put_bulk(out, market.accounts[new.account].as_bytes());
                resp::put_bulk(out, market.symbols[new.symbol].as_bytes());
                resp::put_bulk(out, side);
                put_number(out, new.quantity, 0);
                put_number(out, new.price, PRICE_SCALE);
                if new.immediate {
                    resp::put_bulk(out, b"IOC");
                }
                self.unanswered.put_key(out, *key);
            }
            What::Cancel { held, key } => {
                resp::put_count(out, b'*', 5);
                resp::put_bulk(out, b"EXCHANGE.CANCEL-ORDER");
                resp::put_bulk(out, market.accounts[held.account].as_bytes());
                put_number(out, held.order, 0);
                self.unanswered.put_key(out, *key);
            }
            What::Look { symbol } => {
                let symbol = market.symbols[*symbol].as_bytes();
                resp::put_command(out, &[b"EXCHANGE.GET-DEPTH", symbol, b"LEVELS", b"1"]);
            }
        }
    }

    fn gives_up(&mut self, what: &What) {
        match what.unknown() {
            Some(operation) => self.witness.hears(Seen::Unknown, operation),
            None => self.witness.hears_nothing(),
        }
    }
}

impl User for Dealer {
    type Ask = Ask<What>;

    const OPERATIONS: &'static [&'static str] = &["order", "cancel", "look"];

    const REQUEST_BYTES_MAX: usize = 512;

    fn at(&mut self, now: Instant) {
        self.witness.at(now);
    }

    fn connected(&mut self) {
        self.unanswered.connected();
    }

    fn goes_on(&self) -> bool {
        !self.unanswered.is_empty()
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask<What>> {
        Some(again::ask(self, out))
    }

    fn operation(ask: &Ask<What>) -> usize {
        match ask.what {
            What::Order { .. } => 0,
            What::Cancel { .. } => 1,
            What::Look { .. } => 2,
        }
    }

    fn hear<'a>(&mut self, ask: &Ask<What>, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
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

    fn lost(&mut self, ask: &Ask<What>) {
        self.unanswered.lose(ask.what);
    }
}
