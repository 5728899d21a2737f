//! Traders around a price that walks.

use std::collections::VecDeque;

use anyhow::Result;
use turnstile_client::resp::Value;

use super::{CommandSource, is_done, number, text, words};
use crate::dice::Draws;

/// The accounts that trade with each other.
const TRADERS: [&str; 4] = ["north", "south", "east", "west"];

/// Orders that may rest before the oldest are cancelled.
const RESTING: usize = 160;

/// The price moves by a cent after so many commands.
const COMMANDS_A_STEP: u64 = 12;

/// Where the price stays, in cents.
const LOW: u64 = 9_400;
const HIGH: u64 = 10_600;

#[derive(Debug)]
pub(in crate::console) struct Market {
    symbol: String,
    middle: u64,
    /// Whether the price rises for a while.
    rises: bool,
    commands: u64,
    resting: VecDeque<(usize, i64)>,
    /// Of each command under way, the trader of an order; nothing of a cancel.
    asked: VecDeque<Option<usize>>,
    draws: Draws,
}

impl Market {
    pub(in crate::console) fn new(symbol: &str, seed: u64) -> Self {
        Self {
            symbol: symbol.to_owned(),
            middle: 10_000,
            rises: true,
            commands: 0,
            resting: VecDeque::new(),
            asked: VecDeque::new(),
            draws: Draws::new(seed),
        }
    }

    /// The commands that make accounts and symbol.
    pub(in crate::console) fn opening(&self) -> Vec<Vec<String>> {
        let symbol = &self.symbol;
        let mut commands = vec![words(&format!("EXCHANGE.CREATE-SYMBOL {symbol}"))];
        for trader in TRADERS {
            commands.push(words(&format!("EXCHANGE.CREATE-ACCOUNT {trader} 50000000")));
            commands.push(words(&format!("EXCHANGE.GRANT {trader} {symbol} 5000000")));
        }
        commands
    }

    fn walk(&mut self) {
        self.commands += 1;
        if !self.commands.is_multiple_of(COMMANDS_A_STEP) {
            return;
        }
        if self.draws.percent(15) {
            self.rises = !self.rises;
        }
        let up = if self.rises { 65 } else { 35 };
        if self.draws.percent(up) {
            self.middle = (self.middle + 1).min(HIGH);
        } else {
            self.middle = (self.middle - 1).max(LOW);
        }
    }
}

impl CommandSource for Market {
    fn next(&mut self) -> Vec<String> {
        self.walk();
        if self.resting.len() > RESTING
            && let Some((trader, order)) = self.resting.pop_front()
        {
            self.asked.push_back(None);
            let trader = TRADERS[trader];
            return words(&format!("EXCHANGE.CANCEL-ORDER {trader} {order}"));
        }
        let trader = usize::try_from(self.draws.below(4_u64)).expect("one of four");
        self.asked.push_back(Some(trader));
        // Most orders rest near the price, and some cross it by a little.
        let away = self.draws.below(24_u64).min(self.draws.below(24_u64));
        let crosses = self.draws.percent(22);
        let away = if crosses { away / 4 } else { away };
        let buys = self.draws.percent(50);
        let cents = if buys == crosses {
            self.middle + 1 + away
        } else {
            self.middle - away
        };
        let side = if buys { "BUY" } else { "SELL" };
        let quantity = 1 + self.draws.below(60_u64);
        let (trader, symbol) = (TRADERS[trader], &self.symbol);
        let price = format!("{}.{:02}", cents / 100, cents % 100);
        words(&format!(
            "EXCHANGE.PLACE-ORDER {trader} {symbol} {side} {quantity} {price}"
        ))
    }

    fn heed(&mut self, answer: &Value) -> Result<()> {
        // A cancel may come too late, and an order may meet one of its own account.
        if let Some(Some(trader)) = self.asked.pop_front()
            && is_done(answer)
            && text(answer, "open")? != "0"
        {
            self.resting.push_back((trader, number(answer, "order")?));
        }
        Ok(())
    }
}
