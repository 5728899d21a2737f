//! Orders that an outside judge can follow: whole units, whole prices, and accounts that never meet themselves.

use rand::{RngExt as _, rngs::StdRng};

use crate::crash::{answer::Answer, tape::units};

/// Few enough symbols that orders meet, and enough that each is judged quickly.
const SYMBOLS: [&str; 4] = ["A", "B", "C", "D"];

/// They have what all orders of a test take.
const BUYERS: [&str; 2] = ["1", "3"];
const SELLERS: [&str; 2] = ["2", "4"];
const CASH: &str = "100000000";
const SHARES: &str = "1000000";

/// A unit as the server counts it.
const UNIT: u128 = 100_000_000;

/// What a trader asks for.
#[derive(Clone, Debug)]
pub(super) enum TradeRequest {
    Place {
        account: &'static str,
        symbol: &'static str,
        is_buy: bool,
        quantity: u32,
        price: u32,
        /// What does not trade at once is not kept.
        at_once: bool,
    },
    Cancel {
        account: &'static str,
        symbol: &'static str,
        order: u64,
    },
}

/// A trader, who remembers which orders may rest.
#[derive(Debug, Default)]
pub(super) struct Trader {
    resting: Vec<(&'static str, &'static str, u64)>,
}

impl Trader {
    /// What is sent before anything else.
    pub(super) fn opening() -> Vec<Vec<&'static str>> {
        let accounts = BUYERS.into_iter().chain(SELLERS);
        let mut commands = Vec::new();
        for account in accounts {
            commands.push(vec!["EXCHANGE.CREATE-ACCOUNT", account, CASH]);
            commands.extend(SYMBOLS.map(|symbol| vec!["EXCHANGE.GRANT", account, symbol, SHARES]));
        }
        commands
    }

    pub(super) fn next(&mut self, rng: &mut StdRng) -> TradeRequest {
        if !self.resting.is_empty() && rng.random_bool(0.3) {
            let at = rng.random_range(0..self.resting.len());
            let (account, symbol, order) = self.resting.swap_remove(at);
            return TradeRequest::Cancel {
                account,
                symbol,
                order,
            };
        }
        let is_buy = rng.random_bool(0.5);
        let accounts = if is_buy { BUYERS } else { SELLERS };
        TradeRequest::Place {
            account: accounts[rng.random_range(0..accounts.len())],
            symbol: SYMBOLS[rng.random_range(0..SYMBOLS.len())],
            is_buy,
            quantity: rng.random_range(1..=9),
            price: rng.random_range(9..=12),
            at_once: rng.random_bool(0.2),
        }
    }

    pub(super) fn learn(&mut self, request: &TradeRequest, answer: &Answer) {
        if let (
            TradeRequest::Place {
                account, symbol, ..
            },
            Some("open"),
            Some(order),
        ) = (request, answer.text("state"), answer.number("order"))
        {
            self.resting.push((account, symbol, order));
        }
    }
}

impl TradeRequest {
    pub(super) fn words(&self, key: &str) -> Vec<String> {
        let mut words = match self {
            Self::Place {
                account,
                symbol,
                is_buy,
                quantity,
                price,
                at_once,
            } => {
                let side = if *is_buy { "BUY" } else { "SELL" };
                let mut words = ["EXCHANGE.PLACE-ORDER", account, symbol, side]
                    .map(str::to_owned)
                    .to_vec();
                words.extend([quantity.to_string(), price.to_string()]);
                words.extend(at_once.then(|| "IOC".to_owned()));
                words
            }
            Self::Cancel { account, order, .. } => {
                vec![
                    "EXCHANGE.CANCEL-ORDER".to_owned(),
                    (*account).to_owned(),
                    order.to_string(),
                ]
            }
        };
        words.extend(["KEY", key].map(str::to_owned));
        words
    }
}

/// An amount of an answer in whole units; nothing if it is missing, or not whole.
pub(super) fn whole(answer: &Answer, field: &str) -> Option<u64> {
    let amount = units(answer.text(field)?);
    let is_whole = amount.is_multiple_of(UNIT);
    is_whole.then(|| u64::try_from(amount / UNIT).ok())?
}
