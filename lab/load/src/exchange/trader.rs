//! A trader: sends orders and cancels the oldest that it holds, over either door. With a witness it asks
//! under keys until each answer is known, looks at the books, and tells all that it hears.

use std::sync::Arc;

use turnstile_check::{
    Witness,
    exchange::{LimitOrder, OrderCancelled, OrderSide, OrderState, Ordered, TradingOperation},
};
use turnstile_client::resp;
use turnstile_exchange::Side;

use super::{
    Config, Door, RunMarket,
    answer::{self, BestPrice},
    flow::{Flow, FlowOrder, Path, RestingOrder, Wish},
    wire::{OpenedOrder, TraderReply},
};
use crate::{
    again::{Keyed, KeyedReply, KeyedUser, WitnessOf},
    pace::{Answer, Garbled, ParsedAnswer},
    seed::Dice,
};

/// How many orders all traders together remember for the proof, the newest: 16 bytes each. A server
/// remembers the newest four million that have ended.
const SENT_MAX: usize = 2 << 20;

/// With a witness, one of so many requests looks at the best prices of a book.
const LOOKS_ONE_IN: u64 = 8;

/// One trader, with a witness if it is `CHECKED`. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(crate) struct Trader<const CHECKED: bool> {
    door: Door,
    market: Arc<RunMarket>,
    flow: Flow,
    asks_left: u64,
    /// The orders that were accepted last, the n-th of all in place n modulo capacity; none where a
    /// witness is told.
    sent: Vec<SentOrder>,
    /// How many orders were accepted.
    accepted: usize,
    /// When a trader with a witness looks, and at which book.
    looks: Dice,
}

/// An order that was accepted, and what the server has told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentOrder {
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

const _: () = assert!(size_of::<SentOrder>() == 16);

/// What a trader asks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TraderRequest {
    Order { new: FlowOrder },
    Cancel { held: RestingOrder },
    Look { symbol: usize },
}

/// The traders of a run whose answers nobody checks.
pub(super) fn traders(config: &Config, market: &Arc<RunMarket>) -> Vec<Keyed<Trader<false>>> {
    let path = Arc::new(Path::of_seed(config.pace.seed));
    let remembered = (SENT_MAX / config.users.max(1)).max(64);
    (0..config.users)
        .map(|number| Trader::new(config, number, market, &path, remembered))
        .map(Keyed::plain)
        .collect()
}

/// The traders of a run that begins at this position, whose answers are checked.
pub(crate) fn checked(
    config: &Config,
    market: &Arc<RunMarket>,
    position: u64,
    witnesses: Vec<Witness<TradingOperation>>,
) -> Vec<Keyed<Trader<true>>> {
    let path = Arc::new(Path::of_seed(config.pace.seed));
    let trader = |witness: Witness<TradingOperation>| {
        let trader = Trader::new(config, witness.user(), market, &path, 0);
        Keyed::checked(trader, witness, (position, config.pace.pipeline))
    };
    witnesses.into_iter().map(trader).collect()
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).expect("users and symbols are bounded")
}

fn narrow(number: usize) -> u16 {
    u16::try_from(number).expect("at most 1,000 accounts and symbols")
}

impl<const CHECKED: bool> Trader<CHECKED> {
    /// A trader that remembers so many orders.
    fn new(
        config: &Config,
        number: usize,
        market: &Arc<RunMarket>,
        path: &Arc<Path>,
        remembered: usize,
    ) -> Self {
        Self {
            door: config.door,
            market: Arc::clone(market),
            flow: Flow::new(
                Dice::of_user(config.pace.seed, wide(number)),
                Arc::clone(path),
                market.accounts_of(number),
                market.symbols.len(),
                config.door == Door::Resp,
                config.users,
            ),
            asks_left: u64::MAX,
            sent: Vec::with_capacity(remembered),
            accepted: 0,
            looks: Dice::of_user(!config.pace.seed, wide(number)),
        }
    }

    pub(super) const fn asks_once(&mut self) {
        self.asks_left = 1;
    }

    /// The orders that were accepted last, and how many more there were.
    pub(super) fn sent(&self) -> (&[SentOrder], u64) {
        (&self.sent, wide(self.accepted - self.sent.len()))
    }

    /// Remembers an order instead of the oldest one; says where.
    fn remember(&mut self, sent: SentOrder) -> usize {
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
    fn ended(&mut self, held: &RestingOrder) {
        let sent = &mut self.sent[held.place];
        // Else its place has been given to a newer one.
        if sent.order == held.order {
            sent.ended = true;
        }
    }

    fn opened(&mut self, opened: OpenedOrder, new: &FlowOrder) {
        let OpenedOrder {
            order,
            rests,
            executed,
        } = opened;
        let place = self.remember(SentOrder {
            order,
            account: narrow(new.account),
            symbol: narrow(new.symbol),
            side: new.side,
            executed,
            ended: !rests,
        });
        if rests {
            self.rests(order, new, place);
        }
    }

    fn rests(&mut self, order: u64, new: &FlowOrder, place: usize) {
        let account = new.account;
        self.flow.rests(RestingOrder {
            order,
            account,
            place,
        });
    }
}

fn ordered(new: &FlowOrder, answer: Ordered) -> TradingOperation {
    let order = LimitOrder {
        account: narrow(new.account),
        symbol: narrow(new.symbol),
        side: match new.side {
            Side::Buy => OrderSide::Buy,
            Side::Sell => OrderSide::Sell,
        },
        quantity: new.quantity,
        limit: new.price,
        immediate: new.immediate,
    };
    TradingOperation::Order { order, answer }
}

fn cancelled(held: &RestingOrder, answer: OrderCancelled) -> TradingOperation {
    TradingOperation::Cancel {
        account: narrow(held.account),
        order: held.order,
        answer,
    }
}

impl<const CHECKED: bool> KeyedUser for Trader<CHECKED> {
    type What = TraderRequest;

    type Operation = TradingOperation;

    const OPERATIONS: &'static [&'static str] = if CHECKED {
        &["order", "cancel", "look"]
    } else {
        &["order", "cancel"]
    };

    fn choose(&mut self) -> Option<TraderRequest> {
        self.asks_left = self.asks_left.checked_sub(1)?;
        if CHECKED && self.looks.below(LOOKS_ONE_IN) == 0 {
            let symbol = self.looks.below(wide(self.market.symbols.len()));
            let symbol = usize::try_from(symbol).expect("symbols are bounded");
            return Some(TraderRequest::Look { symbol });
        }
        Some(match self.flow.next() {
            Wish::New(new) => TraderRequest::Order { new },
            Wish::Cancel(held) => TraderRequest::Cancel { held },
        })
    }

    fn put(&mut self, out: &mut Vec<u8>, what: &TraderRequest, more: usize) {
        match what {
            TraderRequest::Order { new } => self.door.put_new(out, &self.market, new, more),
            TraderRequest::Cancel { held } => {
                self.door.put_cancel(out, &self.market, *held, more);
            }
            TraderRequest::Look { symbol } => {
                let symbol = self.market.symbols[*symbol].as_bytes();
                resp::put_command(out, &[b"EXCHANGE.GET-DEPTH", symbol, b"LEVELS", b"1"]);
            }
        }
    }

    fn operation(what: &TraderRequest) -> usize {
        match what {
            TraderRequest::Order { .. } => 0,
            TraderRequest::Cancel { .. } => 1,
            TraderRequest::Look { .. } => 2,
        }
    }

    fn changes(what: &TraderRequest) -> bool {
        !matches!(what, TraderRequest::Look { .. })
    }

    fn unknown(&mut self, what: &TraderRequest) -> Option<TradingOperation> {
        match what {
            TraderRequest::Order { new } => Some(ordered(new, Ordered::Unknown)),
            TraderRequest::Cancel { held } => Some(cancelled(held, OrderCancelled::Unknown)),
            TraderRequest::Look { .. } => None,
        }
    }

    fn hear_briefly<'a>(
        &mut self,
        what: &TraderRequest,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let Some((told, length)) = self.door.hear(bytes)? else {
            return Ok(None);
        };
        let answer = match (told, what) {
            (TraderReply::Error(code), _) => Answer::Error(code),
            (TraderReply::Refused(reason), what) => {
                if let TraderRequest::Cancel { held } = what
                    && reason == self.door.not_open()
                {
                    self.ended(held);
                }
                Answer::Refused(reason)
            }
            (TraderReply::Cancelled, TraderRequest::Cancel { held }) => {
                self.ended(held);
                Answer::Done
            }
            (TraderReply::Opened(opened), TraderRequest::Order { new }) => {
                self.opened(opened, new);
                Answer::Done
            }
            (TraderReply::Cancelled | TraderReply::Opened(_), _) => return Err(Garbled),
        };
        Ok(Some(ParsedAnswer { length, answer }))
    }

    fn hear_whole<'a>(
        &mut self,
        what: &TraderRequest,
        reply: &'a [u8],
        witness: &mut WitnessOf<Self>,
    ) -> Result<Answer<'a>, Garbled> {
        let unknown = self.unknown(what);
        Ok(match what {
            TraderRequest::Order { new } => {
                let reply = answer::ordered(reply)?;
                if let KeyedReply::Answered {
                    answer: Ordered::Accepted { order, ticket },
                    ..
                } = reply
                    && ticket.state == OrderState::Open
                {
                    self.rests(order, new, 0);
                }
                witness.takes(reply, unknown, |answer| ordered(new, answer))
            }
            TraderRequest::Cancel { held } => {
                let reply = answer::cancelled(reply)?;
                witness.takes(reply, unknown, |answer| cancelled(held, answer))
            }
            TraderRequest::Look { symbol } => {
                let symbol = narrow(*symbol);
                let look = |[bid, ask]: [BestPrice; 2]| TradingOperation::Look { symbol, bid, ask };
                witness.takes(answer::top(reply)?, unknown, look)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::tests::config;

    fn open(trader: &mut Trader<false>, order: u64, rests: bool, executed: u8) {
        let opened = OpenedOrder {
            order,
            rests,
            executed,
        };
        let new = FlowOrder {
            account: 3,
            symbol: 1,
            side: Side::Sell,
            quantity: 9,
            price: 100,
            immediate: false,
        };
        trader.opened(opened, &new);
    }

    #[test]
    fn the_newest_orders_are_remembered_with_what_was_told_of_them() {
        let mut config = config(Door::Resp);
        config.users = 2;
        let market = Arc::new(RunMarket::named(&config, 1));
        let path = Arc::new(Path::of_seed(1));
        let mut trader = Trader::new(&config, 0, &market, &path, 64);
        for order in 0..64 {
            open(&mut trader, order, true, 0);
        }
        open(&mut trader, 64, true, 5);
        open(&mut trader, 65, false, 7);
        let held = |order, place| RestingOrder {
            order,
            account: 3,
            place,
        };
        // The first has been forgotten for the one in its place.
        trader.ended(&held(0, 0));
        trader.ended(&held(2, 2));
        let sent = |order, executed, ended| SentOrder {
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
