//! The invariants of the whole state.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_book::Resting;
use turnstile_chassis::{Faults, OpenCounts};
use turnstile_types::Principal;

use crate::{
    Exchange, Side,
    ledger::{Row, State, row_of},
};

pub(crate) fn examine(exchange: &Exchange) -> Result<(), Vec<String>> {
    let mut faults = Faults::default();
    exchange.check_books(&mut faults);
    exchange.check_orders(&mut faults);
    exchange.check_ended(&mut faults);
    exchange.check_cash(&mut faults);
    exchange.check_shares(&mut faults);
    exchange.check_lists(&mut faults);
    faults.verdict()
}

/// Whether orders of two accounts stand on a book that should have matched: the sides are given
/// best first. Orders of one account may be crossed.
pub(crate) fn is_crossed<'a>(
    buys: impl Iterator<Item = Resting> + 'a,
    sells: impl Iterator<Item = Resting> + 'a,
) -> bool {
    let sells = Cheapest::of(sells);
    for buy in buys {
        if sells.of_another(&buy) <= buy.price {
            return true;
        }
        // The best that is left is no better: with it, nobody of another account can cross.
        if sells.best > buy.price {
            return false;
        }
    }
    false
}

/// The lowest sell of all, whose it is, and the lowest of anybody else.
#[derive(Clone, Copy)]
struct Cheapest {
    best: u64,
    owner: Option<turnstile_book::Owner>,
    others: u64,
}

impl Cheapest {
    fn of(mut sells: impl Iterator<Item = Resting>) -> Self {
        let Some(first) = sells.next() else {
            return Self {
                best: u64::MAX,
                owner: None,
                others: u64::MAX,
            };
        };
        let others = sells.find(|sell| sell.owner != first.owner);
        Self {
            best: first.price,
            owner: Some(first.owner),
            others: others.map_or(u64::MAX, |sell| sell.price),
        }
    }

    /// The best sell of somebody else than the buyer.
    fn of_another(self, buy: &Resting) -> u64 {
        if self.owner == Some(buy.owner) {
            self.others
        } else {
            self.best
        }
    }
}

impl Exchange {
    /// Everything that rests, with the number of its symbol.
    fn resting(&self) -> impl Iterator<Item = (u32, Resting)> + '_ {
        let symbols = (0..).zip(self.symbols.iter());
        symbols.flat_map(|(symbol, listed)| {
            let side = |side| listed.book.resting(&self.orders, side);
            let both = side(Side::Buy).chain(side(Side::Sell));
            both.map(move |resting| (symbol, resting))
        })
    }

    /// Books hang together, are not crossed, and say what the ledger says.
    fn check_books(&self, faults: &mut Faults) {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for (symbol, resting) in self.resting() {
            *counts.entry(symbol).or_default() += 1;
            let row = self.ledger.at(row_of(resting.order));
            let same = (row.symbol, row.side, row.limit, row.rest, row.account)
                == (
                    symbol,
                    resting.side,
                    resting.price,
                    resting.quantity,
                    resting.owner.0,
                );
            let there = matches!(row.state, State::Open { slot, .. } if slot == resting.slot);
            faults.unless(same && there, || {
                format!("the book and the ledger disagree about order {}", row.id)
            });
        }
        for (number, listed) in (0..).zip(self.symbols.iter()) {
            if let Err(fault) = listed.book.check(&self.orders) {
                faults.add(format!("the book of {}: {fault}", listed.name));
            }
            let side = |side| listed.book.resting(&self.orders, side);
            faults.unless(!is_crossed(side(Side::Buy), side(Side::Sell)), || {
                format!("the book of {} is crossed", listed.name)
            });
            let count = counts.get(&number).copied().unwrap_or(0);
            faults.unless(count == listed.open_orders, || {
                format!("the open orders of {} are miscounted", listed.name)
            });
            faults.unless(self.symbols.find(&listed.name) == Some(number), || {
                format!("{} is not found", listed.name)
            });
            let numbers = listed.trades.iter().map(|traded| traded.trade);
            let sorted = numbers.clone().is_sorted_by(|left, right| left < right);
            faults.unless(sorted && numbers.max() <= Some(self.trades), || {
                format!("the trades of {} are not in order", listed.name)
            });
        }
        let mut senders = OpenCounts::new();
        for row in self.open_rows() {
            senders.add(
                self.senders
                    .name(row.sender)
                    .unwrap_or_else(|| Principal::local().0),
            );
        }
        self.check_senders(&senders, faults);
        let open: u32 = counts.values().sum();
        faults.unless(
            open == self.ledger.open() && open == self.orders.len(),
            || format!("{open} orders are on the books, {}", self.ledger.open()),
        );
    }

    /// Open orders are counted for the principals that have sent them.
    fn check_senders(&self, counted: &OpenCounts, faults: &mut Faults) {
        let known = self.senders.names().map(Principal);
        for principal in known.chain([Principal::local()]) {
            let open = self.senders.open_of(&principal, self.ledger.open());
            faults.unless(open == counted.of(&principal), || {
                format!(
                    "the open orders of the principal {} are miscounted",
                    principal.0
                )
            });
        }
    }

    /// What is open, executed and cancelled adds up, for open orders and ended ones.
    fn check_orders(&self, faults: &mut Faults) {
        let open = self.resting().map(|(_, resting)| row_of(resting.order));
        let (mut rows, mut executions, mut clients) = (0, 0, 0);
        for number in open.chain(self.ledger.iter_ended()) {
            let row = self.ledger.at(number);
            rows += 1;
            executions += row.executions.count;
            let executed = self.ledger.executions.iter(row.executions);
            let (count, sum) = executed.fold((0, 0), |(count, sum), executed| {
                (count + 1, sum + u128::from(executed.quantity))
            });
            let whole = sum + u128::from(row.rest) == u128::from(row.quantity);
            faults.unless(whole && count == row.executions.count, || {
                format!("the parts of order {} do not add up", row.id)
            });
            faults.unless(self.ledger.find(row.id) == Some(number), || {
                format!("order {} is not found", row.id)
            });
            if let Some(id) = self.ledger.client_id(row) {
                clients += 1;
                let found = self.ledger.find_client(row.account, &id);
                faults.unless(found == Some(number), || {
                    format!("order {} is not found by its client id", row.id)
                });
            }
            faults.unless(row.id.0 <= self.ledger.accepted, || {
                format!("order {} has an id that was not given", row.id)
            });
        }
        let kept = (
            self.ledger.len(),
            self.ledger.executions.len(),
            self.ledger.clients(),
        );
        faults.unless((rows, executions, clients) == kept, || {
            format!("{rows} orders, {executions} executions, {clients} client ids; kept: {kept:?}")
        });
    }

    /// Ended orders are in the order in which they ended; deadlines are those of open orders.
    fn check_ended(&self, faults: &mut Faults) {
        let (mut last, mut count) = (turnstile_types::Timestamp(0), 0);
        for number in self.ledger.iter_ended() {
            let row = self.ledger.at(number);
            count += 1;
            if let State::Ended { at, reason, .. } = row.state {
                faults.unless(at >= last && reason.is_some() == (row.rest > 0), || {
                    format!("order {} ended out of order", row.id)
                });
                last = at;
            }
        }
        faults.unless(count == self.ledger.ended(), || {
            format!("{count} orders have ended, {}", self.ledger.ended())
        });
        let dated = |row: &Row| row.until.0 > 0;
        let deadlines: BTreeSet<_> = self
            .resting()
            .map(|(_, resting)| row_of(resting.order))
            .filter(|&number| dated(self.ledger.at(number)))
            .map(|number| {
                let row = self.ledger.at(number);
                (row.until, row.id.0, number)
            })
            .collect();
        faults.unless(deadlines == self.deadlines, || {
            "the deadlines are not those of the open orders".into()
        });
    }

    /// Cash is conserved, and what is reserved is what open orders may cost.
    fn check_cash(&self, faults: &mut Faults) {
        let mut reserved: BTreeMap<u32, u128> = BTreeMap::new();
        for (_, resting) in self.resting() {
            if resting.side == Side::Buy {
                let row = self.resting_row(&resting);
                let scales = self.symbols.at(row.symbol).scales;
                *reserved.entry(row.account).or_default() +=
                    scales.value(resting.price, resting.quantity);
            }
        }
        let mut sum = 0;
        for (number, account) in (0..).zip(self.accounts.iter()) {
            sum += account.free + account.reserved;
            let owed = reserved.get(&number).copied().unwrap_or(0);
            faults.unless(account.reserved == owed, || {
                format!(
                    "account {} has reserved {}, its orders need {owed}",
                    account.id, account.reserved
                )
            });
            faults.unless(self.accounts.find(&account.id) == Some(number), || {
                format!("account {} is not found", account.id)
            });
        }
        faults.unless(sum == self.cash && sum == self.accounts.held(), || {
            format!("there is cash of {sum}, put in were {}", self.cash)
        });
    }

    /// The shares of each symbol are conserved, and what is reserved is what is for sale.
    fn check_shares(&self, faults: &mut Faults) {
        let mut reserved: BTreeMap<(u32, u32), u128> = BTreeMap::new();
        for (symbol, resting) in self.resting() {
            if resting.side == Side::Sell {
                let key = (resting.owner.0, symbol);
                *reserved.entry(key).or_default() += u128::from(resting.quantity);
            }
        }
        let (mut sums, mut all, mut count): (BTreeMap<u32, u128>, _, _) = (BTreeMap::new(), 0, 0);
        for position in self.positions.iter() {
            let held = u128::from(position.free) + u128::from(position.reserved);
            *sums.entry(position.symbol).or_default() += held;
            all += held;
            count += 1;
            let key = (position.account, position.symbol);
            let owed = reserved.remove(&key).unwrap_or(0);
            let found = self.positions.find(key.0, key.1);
            let found = found.is_some_and(|found| std::ptr::eq(found, position));
            faults.unless(u128::from(position.reserved) == owed && found, || {
                format!("the position {key:?} is not found, or has not reserved {owed}")
            });
        }
        faults.unless(reserved.is_empty() && count == self.positions.len(), || {
            "an order sells shares that no account has".into()
        });
        for (number, listed) in (0..).zip(self.symbols.iter()) {
            let sum = sums.get(&number).copied().unwrap_or(0);
            faults.unless(sum == u128::from(listed.issued), || {
                format!("{sum} shares of {}, {} issued", listed.name, listed.issued)
            });
        }
        faults.unless(all == self.shares && all == self.positions.held(), || {
            format!("{all} shares, {} issued", self.shares)
        });
    }

    /// Each account's list holds its open orders, by id.
    fn check_lists(&self, faults: &mut Faults) {
        let mut listed = 0;
        for (number, account) in (0..).zip(self.accounts.iter()) {
            let bound = account.open.count as usize + 1;
            let orders: Vec<&Row> = self
                .ledger
                .open_from(account.open, None)
                .take(bound)
                .map(|row| self.ledger.at(row))
                .collect();
            listed += account.open.count;
            let own = orders
                .iter()
                .all(|row| row.account == number && row.is_open());
            let sorted = orders.is_sorted_by(|left, right| left.id < right.id);
            let counted = orders.len() == account.open.count as usize;
            faults.unless(own && sorted && counted, || {
                format!("the open orders of account {} are not its own", account.id)
            });
        }
        faults.unless(listed == self.ledger.open(), || {
            format!("{listed} open orders are listed, {}", self.ledger.open())
        });
    }
}
