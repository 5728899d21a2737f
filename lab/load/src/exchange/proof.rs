//! Whether every cent and every share that was put in is still there, and every order is what was
//! acknowledged.

use std::fmt;

use turnstile_check::Charge;
use turnstile_client::{ServerAddress, resp::Value};
use turnstile_exchange::{CASH_SCALE, Cash, Decimal};
use turnstile_result::Rule;
use turnstile_stats::units::Count;

use super::{
    Config, RunMarket, Trader,
    books::{AccountBooks, Balance},
    statuses::{self, Statuses},
};
use crate::{
    Error,
    again::Keyed,
    door,
    pace::{Tally, Totals},
    point,
};

/// The server's own counts at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct TradeCounters {
    orders: u64,
    trades: u64,
}

/// The reconciliation of a run with its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// `accounts`: each was looked into. `statuses`: only the orders were asked about, which shows
    /// that what was bought was sold, but not what the accounts hold.
    pub by: &'static str,
    /// Why nothing could be proven at all: the server could not be asked.
    pub unproven: Option<String>,
    pub accounts: u64,
    pub symbols: u64,
    /// In dollars. By statuses: what buyers paid, and what sellers got.
    pub cash_put_in: String,
    pub cash_found: String,
    /// Of it, what open orders reserve.
    pub cash_reserved: String,
    /// Of all symbols; they are compared symbol by symbol. By statuses: bought, and sold.
    pub shares_put_in: String,
    pub shares_found: String,
    pub shares_reserved: String,
    /// Acknowledged to the generator, and counted by the server.
    pub orders: u64,
    pub orders_by_server: u64,
    pub trades: u64,
    /// Requests without an answer that says whether they were carried out.
    pub unknown: u64,
    /// Orders whose status was compared with what was acknowledged of them.
    pub statuses: u64,
    /// Accepted orders that were not asked about: the oldest of a long run.
    pub left_out: u64,
    /// A sentence for each broken promise; when there is none, the run is proven.
    pub violations: Vec<String>,
}

impl TradeCounters {
    pub(super) fn ask(address: &ServerAddress) -> Result<Self, Error> {
        let facts = door::facts(&mut door::connect_again(address)?, "exchange")?;
        Ok(Self {
            orders: facts.count("exchange_orders_total")?,
            trades: facts.count("exchange_trades_total")?,
        })
    }
}

/// Asks about every order, reads every account and every symbol where they can be read, and adds
/// up. When the server is gone, the proof says so.
///
/// # Errors
/// The server answered something that is no answer to what was asked.
pub(super) fn prove(
    config: &Config,
    market: &RunMarket,
    before: Option<&TradeCounters>,
    totals: &Totals<Keyed<Trader<false>>>,
) -> Result<Proof, Error> {
    let mut proof = Proof::of_run(config, market, totals);
    match proof.reconcile(config, market, before, totals) {
        Ok(()) => Ok(proof),
        Err(error @ Error::Door(_)) => {
            let unproven = Some(error.to_string());
            Ok(Proof {
                unproven,
                ..Proof::of_run(config, market, totals)
            })
        }
        Err(error) => Err(error),
    }
}

impl Proof {
    /// What the generator knows.
    fn of_run(config: &Config, market: &RunMarket, totals: &Totals<Keyed<Trader<false>>>) -> Self {
        let (order, unknown) = acknowledged(&totals.tally);
        let left_out = totals.users.iter().map(|trader| trader.user.sent().1);
        Self {
            by: config.witness().map_or("statuses", |_| "accounts"),
            accounts: count(market.accounts.len()),
            symbols: count(market.symbols.len()),
            orders: order,
            unknown,
            left_out: left_out.sum(),
            ..Self::default()
        }
    }

    /// The same for `run.json`.
    pub(super) fn rule(&self) -> Rule {
        let rule = "every cent and every share that was put in is there, and every order is what was \
            acknowledged";
        let unproven = self.unproven.as_deref();
        let unknown = "without a RESP door every answer and every order is needed";
        let unproven = unproven.or_else(|| (!self.is_proof()).then_some(unknown));
        point::found(point::rule(rule, &self.violations, unproven), self)
    }

    /// Whether no promise was broken.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether enough is known to prove anything. Without the accounts, every order must be.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        self.unproven.is_none() && (self.by == "accounts" || self.knows_every_order())
    }

    const fn knows_every_order(&self) -> bool {
        self.unknown + self.left_out == 0
    }

    fn reconcile(
        &mut self,
        config: &Config,
        market: &RunMarket,
        before: Option<&TradeCounters>,
        totals: &Totals<Keyed<Trader<false>>>,
    ) -> Result<(), Error> {
        let statuses = statuses::ask(config, market, &totals.users)?;
        self.statuses = statuses.asked;
        if self.knows_every_order() {
            self.judge_deals(market, &statuses);
        }
        match config.witness().zip(before) {
            None => self.tell_deals(&statuses),
            Some((address, before)) => {
                self.judge_counters(before, &TradeCounters::ask(address)?, &statuses, totals);
                let books = AccountBooks::read(address, market)?;
                self.judge_cash(market, &books);
                self.judge_shares(market, &books);
                if self.knows_every_order() {
                    self.judge_accounts(market, &books, &statuses);
                }
                self.accuse(books.charge);
            }
        }
        self.accuse(statuses.charge);
        Ok(())
    }

    /// What was bought of each symbol was sold, share by share and cent by cent.
    fn judge_deals(&mut self, market: &RunMarket, statuses: &Statuses) {
        for (number, symbol) in market.symbols.iter().enumerate() {
            let dealt = statuses.of_symbol(number);
            if dealt.bought != dealt.sold {
                self.violations.push(format!(
                    "of {symbol} {} shares were bought for {} dollars, but {} sold for {}",
                    Cash(dealt.bought.fine_shares()),
                    Cash(dealt.bought.value),
                    Cash(dealt.sold.fine_shares()),
                    Cash(dealt.sold.value)
                ));
            }
        }
    }

    fn tell_deals(&mut self, statuses: &Statuses) {
        let dealt = statuses.in_all();
        self.shares_put_in = Cash(dealt.bought.fine_shares()).to_string();
        self.shares_found = Cash(dealt.sold.fine_shares()).to_string();
        self.cash_put_in = Cash(dealt.bought.value).to_string();
        self.cash_found = Cash(dealt.sold.value).to_string();
    }

    /// The server counts what it acknowledged; requests whose outcome is unknown widen that.
    fn judge_counters(
        &mut self,
        before: &TradeCounters,
        after: &TradeCounters,
        statuses: &Statuses,
        totals: &Totals<Keyed<Trader<false>>>,
    ) {
        self.orders_by_server = after.orders.saturating_sub(before.orders);
        self.trades = after.trades.saturating_sub(before.trades);
        let most = self.orders + totals.tally.operations[0].unknown;
        if !(self.orders..=most).contains(&self.orders_by_server) {
            self.violations.push(format!(
                "the server counts {} orders, between {} and {most} were acknowledged (unless \
                 another client used it)",
                self.orders_by_server, self.orders
            ));
        }
        let executions = statuses.in_all().bought.count;
        if self.knows_every_order() && executions != self.trades {
            self.violations.push(format!(
                "the server counts {} trades, its orders were executed {executions} times (unless \
                 another client used it)",
                self.trades
            ));
        }
    }

    fn judge_cash(&mut self, market: &RunMarket, books: &AccountBooks) {
        let put_in = units(market.cash_each) * wide(market.accounts.len());
        let found = sum(books.cash.iter());
        if put_in != found.all() {
            self.violations.push(format!(
                "{} dollars were put in, and {} are there",
                Cash(put_in),
                Cash(found.all())
            ));
        }
        self.cash_put_in = Cash(put_in).to_string();
        self.cash_found = Cash(found.all()).to_string();
        self.cash_reserved = Cash(found.reserved).to_string();
    }

    fn judge_shares(&mut self, market: &RunMarket, books: &AccountBooks) {
        let each = units(market.shares_each) * wide(market.accounts.len());
        let mut all = Balance::default();
        for (number, symbol) in market.symbols.iter().enumerate() {
            let held = sum(books.shares.iter().map(|shares| &shares[number]));
            let issued = books.issued[number];
            if held.all() != each || issued != each {
                self.violations.push(format!(
                    "{} shares of {symbol} were put in; the accounts hold {}, and {} were issued",
                    Cash(each),
                    Cash(held.all()),
                    Cash(issued)
                ));
            }
            all = sum([&all, &held].into_iter());
        }
        self.shares_put_in = Cash(each * wide(market.symbols.len())).to_string();
        self.shares_found = Cash(all.all()).to_string();
        self.shares_reserved = Cash(all.reserved).to_string();
    }

    /// Each account holds what it was given, and what its orders' executions made of that.
    fn judge_accounts(&mut self, market: &RunMarket, books: &AccountBooks, statuses: &Statuses) {
        let mut charge = Charge::default();
        for (account, name) in market.accounts.iter().enumerate() {
            let dealt = statuses.of_account(account);
            let (given, cash) = (units(market.cash_each), books.cash[account].all());
            if cash + dealt.bought.value != given + dealt.sold.value {
                charge.add(|| {
                    format!(
                        "account {name} was given {} dollars, paid {} and got {}, and has {}",
                        Cash(given),
                        Cash(dealt.bought.value),
                        Cash(dealt.sold.value),
                        Cash(cash)
                    )
                });
            }
            for (number, symbol) in market.symbols.iter().enumerate() {
                let dealt = statuses.dealt(account, number);
                let (bought, sold) = (dealt.bought.fine_shares(), dealt.sold.fine_shares());
                let (given, held) = (units(market.shares_each), &books.shares[account][number]);
                if held.all() + sold != given + bought {
                    charge.add(|| {
                        format!(
                            "account {name} was given {} shares of {symbol}, bought {} and sold \
                             {}, and has {}",
                            Cash(given),
                            Cash(bought),
                            Cash(sold),
                            Cash(held.all())
                        )
                    });
                }
            }
        }
        self.accuse(charge);
    }

    fn accuse(&mut self, charge: Charge) {
        self.violations.extend(charge.sentences());
    }
}

/// Orders that were acknowledged, and requests of any kind whose outcome is unknown.
fn acknowledged(tally: &Tally) -> (u64, u64) {
    let [order, cancel] = &tally.operations[..] else {
        panic!("the exchange workload has two operations");
    };
    (order.done, order.unknown + cancel.unknown)
}

fn sum<'a>(all: impl Iterator<Item = &'a Balance>) -> Balance {
    all.fold(Balance::default(), |sum, held| Balance {
        free: sum.free + held.free,
        reserved: sum.reserved + held.reserved,
    })
}

fn units(number: Decimal) -> u128 {
    number.at_scale(CASH_SCALE).expect("a whole number")
}

fn wide(length: usize) -> u128 {
    u128::from(count(length))
}

fn count(length: usize) -> u64 {
    u64::try_from(length).expect("a count fits 64 bits")
}

pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        other => other.as_str().map(str::to_owned),
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.unproven {
            write!(
                f,
                "{} orders acknowledged, {} requests unknown\n\
                 NOT PROVEN: the server could not be asked after the run: {why}",
                Count(self.orders),
                Count(self.unknown)
            )?;
            return Ok(());
        }
        if self.by == "accounts" {
            self.write_accounts(f)?;
        } else {
            write!(
                f,
                "proof: {} shares bought, {} sold; {} dollars paid, {} got",
                self.shares_put_in, self.shares_found, self.cash_put_in, self.cash_found
            )?;
        }
        let (statuses, orders) = (Count(self.statuses), Count(self.orders));
        write!(
            f,
            "\n       {statuses} of {orders} orders asked for their status"
        )?;
        if self.by != "accounts" {
            f.write_str("; this door tells no balance")?;
        }
        if self.unknown > 0 {
            write!(f, "\n       {} requests unknown", Count(self.unknown))?;
        }
        if self.holds() && !self.is_proof() {
            f.write_str(
                "\n       NOT PROVEN: without a RESP door every answer and every order is needed",
            )?;
        }
        for violation in &self.violations {
            write!(f, "\n       VIOLATED: {violation}")?;
        }
        Ok(())
    }
}

impl Proof {
    fn write_accounts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "proof: {} dollars put in, {} found ({} reserved) in {} accounts\n       \
             {} shares of {} symbols put in, {} found ({} reserved)\n       \
             {} orders acknowledged, {} counted, {} trades",
            self.cash_put_in,
            self.cash_found,
            self.cash_reserved,
            Count(self.accounts),
            self.shares_put_in,
            Count(self.symbols),
            self.shares_found,
            self.shares_reserved,
            Count(self.orders),
            Count(self.orders_by_server),
            Count(self.trades)
        )
    }
}
