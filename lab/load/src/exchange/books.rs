//! What every account of a run holds, and what its symbols issued: read over RESP.

use std::collections::BTreeMap;

use turnstile_check::Charge;
use turnstile_client::{Connection, ServerAddress, resp::Value};
use turnstile_exchange::{CASH_SCALE, Decimal};

use super::{RunMarket, proof::text};
use crate::{
    Error,
    door::{self, field, refusal},
};

/// Entries of a page: the most that a server gives.
const PAGE: &[u8] = b"1000";

/// A cent of cash and a whole share, in units of 10^-8.
pub(crate) const CENTS: u128 = 1_000_000;
pub(crate) const WHOLE: u128 = 100_000_000;

/// Free and reserved, in units of 10^-8: shares have at most so many digits, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Balance {
    pub(crate) free: u128,
    pub(crate) reserved: u128,
}

/// What the accounts and symbols of a market hold, in the market's order.
#[derive(Debug, Default)]
pub(crate) struct AccountBooks {
    pub(crate) cash: Vec<Balance>,
    /// By account, and within it by symbol.
    pub(crate) shares: Vec<Vec<Balance>>,
    /// By symbol.
    pub(crate) issued: Vec<u128>,
    /// Accounts and symbols that are not there, or are listed as something else.
    pub(crate) charge: Charge,
}

impl AccountBooks {
    /// Reads every account and every symbol. What is not there counts as empty, and is told.
    ///
    /// # Errors
    /// The connection failed, or the server answered something else.
    pub(crate) fn read(address: &ServerAddress, market: &RunMarket) -> Result<Self, Error> {
        // A new connection: the server may have been killed and started again meanwhile.
        let mut door = door::connect_again(address)?;
        let listed = listed_cash(&mut door)?;
        let numbers: BTreeMap<&[u8], usize> = market
            .symbols
            .iter()
            .enumerate()
            .map(|(number, symbol)| (symbol.as_bytes(), number))
            .collect();
        let mut books = Self::default();
        for account in &market.accounts {
            let found = books.balance(&mut door, account.as_bytes(), &numbers)?;
            if let Some((cash, _)) = &found
                && listed.get(account.as_bytes()) != Some(cash)
            {
                books
                    .charge
                    .add(|| format!("account {account} is not listed with the cash that it has"));
            }
            let nothing = || (Balance::default(), vec![Balance::default(); numbers.len()]);
            let (cash, shares) = found.unwrap_or_else(nothing);
            books.cash.push(cash);
            books.shares.push(shares);
        }
        for symbol in &market.symbols {
            let answer = door.command(&[b"EXCHANGE.GET-SYMBOL", symbol.as_bytes()])?;
            let issued = if refusal(&answer).is_some() {
                books
                    .charge
                    .add(|| format!("symbol {symbol} is gone: {answer}"));
                0
            } else {
                let issued = field(&answer, "issued").and_then(units);
                issued.ok_or_else(|| unusable("EXCHANGE.GET-SYMBOL", &answer))?
            };
            books.issued.push(issued);
        }
        Ok(books)
    }

    /// An account's cash and its shares of each symbol; none when it is gone.
    fn balance(
        &mut self,
        door: &mut Connection,
        account: &[u8],
        numbers: &BTreeMap<&[u8], usize>,
    ) -> Result<Option<(Balance, Vec<Balance>)>, Error> {
        let answer = door.command(&[b"EXCHANGE.GET-ACCOUNT", account, b"LIMIT", PAGE])?;
        if refusal(&answer).is_some() {
            self.charge.add(|| {
                let account = String::from_utf8_lossy(account);
                format!("account {account} is gone: {answer}")
            });
            return Ok(None);
        }
        let mut shares = vec![Balance::default(); numbers.len()];
        let unusable = || unusable("EXCHANGE.GET-ACCOUNT", &answer);
        let positions = field(&answer, "positions").and_then(Value::as_array);
        for position in positions.ok_or_else(unusable)? {
            let name = field(position, "symbol").and_then(Value::as_bytes);
            let number = name.and_then(|name| numbers.get(name));
            shares[*number.ok_or_else(unusable)?] = held(position).ok_or_else(unusable)?;
        }
        let cash = held(&answer).ok_or_else(unusable)?;
        Ok(Some((cash, shares)))
    }
}

impl Balance {
    pub(crate) const fn all(&self) -> u128 {
        self.free + self.reserved
    }
}

/// The cash of all accounts by their listing.
fn listed_cash(door: &mut Connection) -> Result<BTreeMap<Vec<u8>, Balance>, Error> {
    let mut listed = BTreeMap::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut request: Vec<&[u8]> = vec![b"EXCHANGE.LIST-ACCOUNTS", b"LIMIT", PAGE];
        if let Some(cursor) = &cursor {
            request.extend([&b"CURSOR"[..], cursor.as_bytes()]);
        }
        let answer = door.command(&request)?;
        let unusable = || unusable("EXCHANGE.LIST-ACCOUNTS", &answer);
        let accounts = field(&answer, "accounts").and_then(Value::as_array);
        for account in accounts.ok_or_else(unusable)? {
            let name = field(account, "account").and_then(Value::as_bytes);
            let held = held(account).ok_or_else(unusable)?;
            listed.insert(name.ok_or_else(unusable)?.to_vec(), held);
        }
        match field(&answer, "next").ok_or_else(unusable)? {
            Value::Null => return Ok(listed),
            next => cursor = Some(text(next).ok_or_else(unusable)?),
        }
    }
}

fn held(entry: &Value) -> Option<Balance> {
    Some(Balance {
        free: units(field(entry, "free")?)?,
        reserved: units(field(entry, "reserved")?)?,
    })
}

fn units(amount: &Value) -> Option<u128> {
    Decimal::parse(text(amount)?.as_bytes())
        .ok()?
        .at_scale(CASH_SCALE)
}

fn unusable(command: &'static str, answer: &Value) -> Error {
    Error::Preparation {
        command,
        answer: answer.to_string(),
    }
}
