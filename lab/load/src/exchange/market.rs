//! The accounts and symbols of a run, made before it.

use std::time::Duration;

use turnstile_client::{ServerAddress, xml};
use turnstile_exchange::{AccountId, Decimal, Symbol};
use turnstile_xml::client::{Outgoing, Replies, ReplyKind};

use super::{Config, Door};
use crate::{
    Error,
    door::{self, refusal},
    error::unfit,
};

/// Accounts of each trader; so a single trader, too, has somebody to trade with.
pub(crate) const ACCOUNTS_EACH: usize = 4;

/// The most accounts of a run: more traders share them.
const ACCOUNTS_MAX: usize = 1_000;

/// What each account begins with: dollars, and shares of each symbol. An order is about 5,000
/// dollars, so nobody runs out in a run of minutes.
const CASH: u64 = 100_000_000;
const SHARES: u64 = 1_000_000;

/// How many runs one server sees at most.
const STEMS_MAX: u64 = 100_000;

/// How many questions are under way at once.
const BATCH: usize = 64;

/// How long the server may take for any one answer outside the load.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// What a run trades in: names that no run before it has used on this server.
#[derive(Debug)]
pub struct RunMarket {
    pub(crate) accounts: Vec<AccountId>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) cash_each: Decimal,
    pub(crate) shares_each: Decimal,
}

impl RunMarket {
    /// Makes accounts and symbols through the door that will be driven.
    ///
    /// # Errors
    /// The connection failed, or the server refused.
    pub(crate) fn open(config: &Config) -> Result<Self, Error> {
        match config.door {
            Door::Resp => Self::open_resp(config),
            Door::Xml => Self::open_xml(config),
        }
    }

    /// The accounts of a trader, by their number: other traders may share them where there are many.
    pub(crate) fn accounts_of(&self, trader: usize) -> Vec<usize> {
        let first = trader * ACCOUNTS_EACH;
        (first..first + ACCOUNTS_EACH)
            .map(|account| account % self.accounts.len())
            .collect()
    }

    /// The cents that each account begins with.
    pub(crate) const fn cents_each() -> u64 {
        CASH * 100
    }

    /// The shares of each symbol that each account begins with.
    pub(crate) const fn shares_each() -> u64 {
        SHARES
    }

    /// The market with this number.
    pub(crate) fn named(config: &Config, stem: u64) -> Self {
        let accounts = (config.users * ACCOUNTS_EACH).clamp(ACCOUNTS_EACH, ACCOUNTS_MAX);
        let account = |number| {
            let id = format!("{}", 10_000 * stem + number);
            AccountId::parse(id.as_bytes()).expect("digits are an account")
        };
        let symbol = |number| {
            let name = format!("L{stem}S{number}");
            Symbol::parse(name.as_bytes()).expect("letters and digits are a symbol")
        };
        Self {
            accounts: (0..10_000).take(accounts).map(account).collect(),
            symbols: (0..config.symbols).map(symbol).collect(),
            cash_each: Decimal::new(CASH, 0),
            shares_each: Decimal::new(SHARES, 0),
        }
    }

    /// The first market whose first account does not exist yet.
    fn free(
        config: &Config,
        mut make: impl FnMut(&Self) -> Result<bool, Error>,
    ) -> Result<Self, Error> {
        for stem in 1..=STEMS_MAX {
            let market = Self::named(config, stem);
            if make(&market)? {
                return Ok(market);
            }
        }
        Err(Error::Preparation {
            command: "finding accounts that no run has used",
            answer: format!("nothing among {STEMS_MAX}"),
        })
    }

    fn open_resp(config: &Config) -> Result<Self, Error> {
        let mut door = door::connect(&config.pace.address)?;
        let market = Self::free(config, |market| {
            let cash = market.cash_each.to_string();
            let account = market.accounts[0].as_bytes();
            let answer = door.command(&[b"EXCHANGE.CREATE-ACCOUNT", account, cash.as_bytes()])?;
            match refusal(&answer) {
                None => done("EXCHANGE.CREATE-ACCOUNT", &answer).map(|()| true),
                Some("account_exists") => Ok(false),
                Some(_) => Err(refused("EXCHANGE.CREATE-ACCOUNT", &answer)),
            }
        })?;
        let (cash, shares) = (market.cash_each.to_string(), market.shares_each.to_string());
        let mut wanted: Vec<(&'static str, Vec<&[u8]>)> = Vec::new();
        for symbol in &market.symbols {
            wanted.push(("EXCHANGE.CREATE-SYMBOL", vec![symbol.as_bytes()]));
        }
        for (number, account) in market.accounts.iter().enumerate() {
            if number > 0 {
                let words = vec![account.as_bytes(), cash.as_bytes()];
                wanted.push(("EXCHANGE.CREATE-ACCOUNT", words));
            }
            for symbol in &market.symbols {
                let words = vec![account.as_bytes(), symbol.as_bytes(), shares.as_bytes()];
                wanted.push(("EXCHANGE.GRANT", words));
            }
        }
        for batch in wanted.chunks(BATCH) {
            for (command, words) in batch {
                let mut request = vec![command.as_bytes()];
                request.extend(words);
                door.send(&request);
            }
            for (command, _) in batch {
                done(command, &door.receive()?)?;
            }
        }
        Ok(market)
    }

    fn open_xml(config: &Config) -> Result<Self, Error> {
        let mut door = connect_xml(&config.pace.address)?;
        let market = Self::free(config, |market| {
            let mut request = Outgoing::create(door.outbox());
            request.account(&market.accounts[0], market.cash_each);
            request.finish();
            let answer = door.receive()?;
            let exists = String::from_utf8_lossy(answer).contains("the account exists");
            if !exists {
                created(answer)?;
            }
            Ok(!exists)
        })?;
        for account in market.accounts.iter().skip(1) {
            let mut request = Outgoing::create(door.outbox());
            request.account(account, market.cash_each);
            request.finish();
            created(door.receive()?)?;
        }
        for symbol in &market.symbols {
            let shares = |account: &AccountId| (*account, market.shares_each);
            let accounts: Vec<(AccountId, Decimal)> = market.accounts.iter().map(shares).collect();
            let mut request = Outgoing::create(door.outbox());
            request.shares(symbol, &accounts);
            request.finish();
            created(door.receive()?)?;
        }
        Ok(market)
    }
}

pub(crate) fn connect_xml(address: &ServerAddress) -> Result<xml::Connection, Error> {
    Ok(xml::Connection::connect(address, TIMEOUT)?)
}

fn done(command: &'static str, answer: &turnstile_client::resp::Value) -> Result<(), Error> {
    let first = answer.as_array().and_then(|elements| elements.first());
    match first.and_then(turnstile_client::resp::Value::as_integer) {
        Some(1) => Ok(()),
        _ => Err(refused(command, answer)),
    }
}

fn refused(command: &'static str, answer: &turnstile_client::resp::Value) -> Error {
    unfit(command, answer)
}

/// Everything in the answer was created.
fn created(answer: &[u8]) -> Result<(), Error> {
    let fine = Replies::new(answer).is_ok_and(|mut replies| {
        replies.all(|reply| reply.is_ok_and(|reply| reply.kind == ReplyKind::Created))
    });
    if fine {
        return Ok(());
    }
    Err(Error::Preparation {
        command: "create",
        answer: String::from_utf8_lossy(answer).into_owned(),
    })
}
