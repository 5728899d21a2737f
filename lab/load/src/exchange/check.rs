//! Traders who deal in the same few books, under keys, so that every answer is known in the end; all
//! checked.

use std::sync::Arc;

use turnstile_check::{Charge, exchange as model, witnesses};
use turnstile_client::{Connection, ServerAddress, resp::Value};

use crate::check::{
    Config, CountComparison, Proof, Report, Watch, compare_counts, drive_keyed, speak_resp3,
};
use crate::{
    Error,
    door::{self, field},
    error::unfit,
    exchange::{self as workload, AccountBooks, Balance, CENTS, Door, RunMarket, WHOLE},
};

/// The server's own counts at one instant.
#[derive(Clone, Copy, Debug)]
struct OrderCounters {
    orders: u64,
    open: u64,
}

/// Makes accounts and so many symbols, runs traders against the server, and checks all that they are told.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not tell positions. What
/// the server did wrong is in the report's proof.
pub fn run(config: &Config, symbols: usize, watch: &mut dyn Watch) -> Result<Report, Error> {
    let workload = workload::Config {
        door: Door::Resp,
        pace: config.pace.clone(),
        proof: Some(config.pace.address.clone()),
        users: config.users,
        symbols,
        one_shot: None,
    };
    let market = Arc::new(workload.open_market()?);
    let mut door = door::connect(&config.pace.address)?;
    tells_positions(&mut door, &market)?;
    let facts = door::facts(&mut door, "exchange")?;
    let (server, position) = (facts.server()?, facts.count("position")?);
    let before = OrderCounters::ask(&config.pace.address)?;
    let (witnesses, chronicle) = witnesses(config.users, config.pace.pipeline, position);
    let traders = workload::checked(&workload, &market, position, witnesses);
    let model = model::TradingModel::new(
        market.accounts.len(),
        market.symbols.len(),
        RunMarket::cents_each(),
        RunMarket::shares_each(),
    );
    let checked = (model, chronicle);
    let driven = drive_keyed(config, traders, checked, watch)?;
    let mut charge = Charge::default();
    let replayed = &driven.model;
    if !replayed.is_clouded() {
        compare_books(&mut charge, &config.pace.address, &market, replayed)?;
        let after = OrderCounters::ask(&config.pace.address)?;
        compare_counts(&mut charge, &counted(before, after, replayed));
    }
    let rule = "in the end every account holds, free and reserved, the cash and the shares that the \
                replay leaves, which are those that were put in, and the server's counters say so";
    let end = (rule, charge);
    let proof = Proof::new(driven.findings, driven.cost, end, replayed.is_clouded());
    let totals = &driven.totals;
    Ok(Report::new("exchange", server, &config.pace, totals, proof))
}

/// An order that cannot be covered is refused, and that refusal must tell its position.
fn tells_positions(door: &mut Connection, market: &RunMarket) -> Result<(), Error> {
    speak_resp3(door)?;
    let (account, symbol) = (market.accounts[0].as_bytes(), market.symbols[0].as_bytes());
    let refused = door.command(&[
        b"EXCHANGE.PLACE-ORDER",
        account,
        symbol,
        b"SELL",
        b"1000000000",
        b"1",
    ])?;
    let said = field(&refused, "reason").and_then(Value::as_str);
    if said != Some("insufficient_shares") || field(&refused, "position").is_none() {
        return Err(unfit("EXCHANGE.PLACE-ORDER", &refused));
    }
    Ok(())
}

/// Every account, as the server and as the replay has it.
fn compare_books(
    charge: &mut Charge,
    address: &ServerAddress,
    market: &RunMarket,
    replayed: &model::TradingModel,
) -> Result<(), Error> {
    let books = AccountBooks::read(address, market)?;
    for sentence in books.charge.sentences() {
        charge.add(|| sentence);
    }
    let is = |found: &Balance, known: &model::HeldAmount, unit: u128| {
        (found.free, found.reserved)
            == (
                unit * u128::from(known.free),
                unit * u128::from(known.reserved),
            )
    };
    for (number, account) in market.accounts.iter().enumerate() {
        let (found, known) = (&books.cash[number], &replayed.cash()[number]);
        if !is(found, known, CENTS) {
            charge.add(|| format!("account {account} holds {found:?} of cash (in 10^-8), by the replay {known:?} (in cents)"));
        }
        for (place, symbol) in market.symbols.iter().enumerate() {
            let (found, known) = (
                &books.shares[number][place],
                &replayed.shares()[number][place],
            );
            if !is(found, known, WHOLE) {
                charge.add(|| format!("account {account} holds {found:?} of {symbol} (in 10^-8), by the replay {known:?} (whole)"));
            }
        }
    }
    let put_in = u128::from(RunMarket::shares_each()) * WHOLE;
    for (symbol, issued) in market.symbols.iter().zip(&books.issued) {
        let accounts = u128::try_from(market.accounts.len()).expect("accounts are bounded");
        if *issued != put_in * accounts {
            charge.add(|| {
                format!(
                    "{issued} (10^-8) of {symbol} were issued, not {}",
                    put_in * accounts
                )
            });
        }
    }
    Ok(())
}

impl OrderCounters {
    fn ask(address: &ServerAddress) -> Result<Self, Error> {
        let facts = door::facts(&mut door::connect_again(address)?, "exchange")?;
        Ok(Self {
            orders: facts.count("exchange_orders_total")?,
            open: facts.count("exchange_open_orders")?,
        })
    }
}

fn counted(
    before: OrderCounters,
    after: OrderCounters,
    replayed: &model::TradingModel,
) -> [CountComparison; 2] {
    let open = u64::try_from(replayed.open()).expect("a count fits 64 bits");
    [
        ("orders", before.orders, after.orders, replayed.accepted()),
        ("open orders", before.open, after.open, open),
    ]
}
