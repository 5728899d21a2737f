//! A trader: one connection, four accounts, and the flow of its orders.

use std::sync::Arc;

use turnstile_exchange::Side;

use super::{
    Config, Door, Market,
    flow::{Flow, Held, New, Path, Wish},
    wire::{Opened, Told},
};
use crate::{
    pace::{Answer, Garbled, Heard, User},
    seed::Dice,
};

/// How many orders all traders together remember for the proof, the newest: 16 bytes each. A server
/// remembers the newest four million that have ended.
const SENT_MAX: usize = 2 << 20;

/// One trader. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub struct Trader {
    door: Door,
    market: Arc<Market>,
    flow: Flow,
    asks_left: u64,
    /// The orders that were accepted last, the n-th of all in place n modulo capacity.
    sent: Vec<Sent>,
    /// How many orders were accepted.
    accepted: usize,
}

/// An order that was accepted, and what the server has told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) order: u64,
    /// Numbers within the run.
    pub(super) account: u16,
    pub(super) symbol: u16,
    pub(super) side: Side,
    /// Shares that were executed at once.
    pub(super) executed: u8,
    /// Nothing of it is open any more.
    pub(super) ended: bool,
}

const _: () = assert!(size_of::<Sent>() == 16);

/// What a trader asked.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    Order {
        account: usize,
        symbol: usize,
        side: Side,
    },
    Cancel(Held),
}

/// The traders of a run.
pub(super) fn traders(config: &Config, market: &Arc<Market>) -> Vec<Trader> {
    let path = Arc::new(Path::of_seed(config.pace.seed));
    (0..config.users)
        .map(|number| Trader::new(config, number, market, &path))
        .collect()
}

impl Trader {
    fn new(config: &Config, number: usize, market: &Arc<Market>, path: &Arc<Path>) -> Self {
        let user = u64::try_from(number).expect("users are bounded");
        let remembered = (SENT_MAX / config.users.max(1)).max(64);
        Self {
            door: config.door,
            market: Arc::clone(market),
            flow: Flow::new(
                Dice::of_user(config.pace.seed, user),
                Arc::clone(path),
                market.accounts_of(number),
                market.symbols.len(),
                config.door == Door::Resp,
                config.users,
            ),
            asks_left: u64::MAX,
            sent: Vec::with_capacity(remembered),
            accepted: 0,
        }
    }

    /// The same trader, who asks once.
    pub(super) const fn once(mut self) -> Self {
        self.asks_left = 1;
        self
    }

    /// The orders that were accepted last, and how many more there were.
    pub(super) fn sent(&self) -> (&[Sent], u64) {
        let left_out = u64::try_from(self.accepted - self.sent.len());
        (&self.sent, left_out.expect("a count fits 64 bits"))
    }

    /// Remembers an order instead of the oldest one; says where.
    fn remember(&mut self, sent: Sent) -> usize {
        let place = self.accepted % self.sent.capacity();
        self.accepted += 1;
        if place < self.sent.len() {
            self.sent[place] = sent;
        } else {
            self.sent.push(sent);
        }
        place
    }

    /// Takes an answer by which nothing of an order is open any more.
    fn ended(&mut self, held: &Held) {
        let sent = &mut self.sent[held.place];
        // Else its place has been given to a newer one.
        if sent.order == held.order {
            sent.ended = true;
        }
    }

    fn opened(&mut self, opened: Opened, account: usize, symbol: usize, side: Side) {
        let Opened {
            order,
            rests,
            executed,
        } = opened;
        let narrow = |number| u16::try_from(number).expect("at most 1,000 of each");
        let place = self.remember(Sent {
            order,
            account: narrow(account),
            symbol: narrow(symbol),
            side,
            executed,
            ended: !rests,
        });
        if rests {
            self.flow.rests(Held {
                order,
                account,
                place,
            });
        }
    }
}

impl User for Trader {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &["order", "cancel"];

    const REQUEST_BYTES_MAX: usize = 512;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        self.asks_left = self.asks_left.checked_sub(1)?;
        Some(match self.flow.next() {
            Wish::Cancel(held) => {
                self.door.put_cancel(out, &self.market, held);
                Ask::Cancel(held)
            }
            Wish::New(new) => {
                self.door.put_new(out, &self.market, &new);
                let New {
                    account,
                    symbol,
                    side,
                    ..
                } = new;
                Ask::Order {
                    account,
                    symbol,
                    side,
                }
            }
        })
    }

    fn operation(ask: &Ask) -> usize {
        match ask {
            Ask::Order { .. } => 0,
            Ask::Cancel(_) => 1,
        }
    }

    fn hear<'a>(&mut self, ask: &Ask, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let Some((told, length)) = self.door.hear(bytes)? else {
            return Ok(None);
        };
        let answer = match (told, *ask) {
            (Told::Error(code), _) => Answer::Error(code),
            (Told::Refused(reason), ask) => {
                if let Ask::Cancel(held) = ask
                    && reason == self.door.not_open()
                {
                    self.ended(&held);
                }
                Answer::Refused(reason)
            }
            (Told::Cancelled, Ask::Cancel(held)) => {
                self.ended(&held);
                Answer::Done
            }
            (
                Told::Opened(opened),
                Ask::Order {
                    account,
                    symbol,
                    side,
                },
            ) => {
                self.opened(opened, account, symbol, side);
                Answer::Done
            }
            (Told::Cancelled, Ask::Order { .. }) | (Told::Opened(_), Ask::Cancel(_)) => {
                return Err(Garbled);
            }
        };
        Ok(Some(Heard { length, answer }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::tests::config;

    fn open(trader: &mut Trader, order: u64, rests: bool, executed: u8) {
        let opened = Opened {
            order,
            rests,
            executed,
        };
        trader.opened(opened, 3, 1, Side::Sell);
    }

    #[test]
    fn the_newest_orders_are_remembered_with_what_was_told_of_them() {
        let mut config = config(Door::Resp);
        config.users = SENT_MAX;
        let market = Arc::new(Market::named(&config, 1));
        let path = Arc::new(Path::of_seed(1));
        let mut trader = Trader::new(&config, 0, &market, &path);
        for order in 0..64 {
            open(&mut trader, order, true, 0);
        }
        open(&mut trader, 64, true, 5);
        open(&mut trader, 65, false, 7);
        let held = |order, place| Held {
            order,
            account: 3,
            place,
        };
        // The first has been forgotten for the one in its place.
        trader.ended(&held(0, 0));
        trader.ended(&held(2, 2));
        let sent = |order, executed, ended| Sent {
            order,
            account: 3,
            symbol: 1,
            side: Side::Sell,
            executed,
            ended,
        };
        let (remembered, left_out) = trader.sent();
        assert_eq!((remembered.len(), left_out), (64, 2));
        let expected = [
            sent(64, 5, false),
            sent(65, 7, true),
            sent(2, 0, true),
            sent(3, 0, false),
        ];
        assert_eq!(remembered[..4], expected);
    }
}
