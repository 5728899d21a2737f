//! Measures orders through this back end beside the database's own ceiling: `pgbench` with the same
//! function, the same load and as many clients. Needs PostgreSQL installed and nothing running.

#![expect(
    clippy::print_stdout,
    reason = "a table on the terminal is what it is for"
)]

use std::{
    io::{Error, Write},
    process::Command as Process,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use turnstile_contract::{Backend, Request};
use turnstile_exchange::{
    AccountId, Command, Decimal, Exchange, Order, SelfTrade, Side, Symbol, TimeInForce,
};
use turnstile_postgres::Postgres;
use turnstile_trial::PostgresServer;
use turnstile_types::{Principal, Timestamp};

const ACCOUNTS: u64 = 1_000;
const SYMBOLS: u64 = 16;
const CALLERS: [u64; 5] = [1, 4, 8, 16, 64];
const ROUNDS: usize = 3;
const RUN: Duration = Duration::from_secs(3);
const NOW: Timestamp = Timestamp(1_000);

/// The same order as [`order`] draws, as `pgbench` draws it.
const SCRIPT: &str = r#"
\set a random(0, 999)
\set s random(0, 15)
\set p random(90, 110)
\set b random(1, 2)
SELECT * FROM exchange.execute(1000, format('[{"do":"order","account":"a%s","symbol":"S%s","side":"%s","amount":"10","price":"%s","patience":"gtc","self_trade":"skip"}]', :a::int, :s::int, (array['buy','sell'])[:b::int], :p::int)::jsonb);
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = PostgresServer::start();
    let url = server.database();
    let backend = Postgres::<Exchange>::open(&url).await?;
    furnish(&backend).await?;
    let mut script = tempfile::NamedTempFile::new()?;
    script.write_all(SCRIPT.as_bytes())?;
    let script = script.path().display().to_string();
    println!("orders a second, medians of {ROUNDS} runs of {RUN:?}");
    println!("| callers | here | pgbench | pgbench / here |");
    println!("| ---: | ---: | ---: | ---: |");
    for callers in CALLERS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(rate(&backend, callers).await?);
            theirs.push(pgbench(&url, &script, callers)?);
        }
        let (ours, theirs) = (median(ours), median(theirs));
        println!(
            "| {callers} | {ours:.0} | {theirs:.0} | {:.2} |",
            theirs / ours
        );
    }
    println!("{:?}", backend.tally());
    Ok(())
}

/// Accounts with cash and shares of every symbol.
async fn furnish(backend: &Postgres<Exchange>) -> Result<(), Box<dyn std::error::Error>> {
    let mut commands = Vec::new();
    for number in 0..ACCOUNTS {
        commands.push(Command::CreateAccount {
            account: account(number),
            cash: Decimal::new(1_000_000_000, 0),
        });
        commands.extend((0..SYMBOLS).map(|listed| Command::Grant {
            account: account(number),
            symbol: symbol(listed),
            quantity: Decimal::new(1_000_000, 0),
        }));
    }
    let requests: Vec<Request> = commands.iter().map(request).collect();
    for result in backend.execute(NOW, &requests).await {
        result?;
    }
    Ok(())
}

fn account(number: u64) -> AccountId {
    AccountId::parse(format!("a{number}").as_bytes()).expect("a short name")
}

fn symbol(number: u64) -> Symbol {
    Symbol::parse(format!("S{number}").as_bytes()).expect("a short name")
}

fn request(command: &Command) -> Request {
    Request::new::<Exchange>(Principal::local(), None, command)
}

/// An order somewhere around a price of 100, so that many match.
fn order(number: u64) -> Command {
    // The bits of a product with a large odd number: no two callers walk in step.
    let bits = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    Command::Order(Order {
        account: account(bits % ACCOUNTS),
        symbol: symbol((bits >> 12) % SYMBOLS),
        side: if bits >> 20 & 1 == 0 {
            Side::Buy
        } else {
            Side::Sell
        },
        quantity: Decimal::new(10, 0),
        limit: Some(Decimal::new(90 + (bits >> 24) % 21, 0)),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::Skip,
        client_id: None,
    })
}

/// Orders a second by so many callers, each of whom waits for its answer.
async fn rate(backend: &Postgres<Exchange>, callers: u64) -> Result<f64, Error> {
    let begun = Instant::now();
    let orders = join_all((0..callers).map(|caller| async move {
        let mut orders = 0_u32;
        while begun.elapsed() < RUN {
            let number = u64::from(orders) * callers + caller;
            let request = [request(&order(number))];
            for result in backend.execute(NOW, &request).await {
                result.map_err(Error::other)?;
            }
            orders += 1;
        }
        Ok::<_, Error>(orders)
    }));
    let orders: u32 = orders.await.into_iter().sum::<Result<_, _>>()?;
    Ok(f64::from(orders) / begun.elapsed().as_secs_f64())
}

fn pgbench(url: &str, script: &str, clients: u64) -> Result<f64, Box<dyn std::error::Error>> {
    let program = std::env::var("PGBENCH");
    let program = program.unwrap_or_else(|_unset| "/usr/lib/postgresql/15/bin/pgbench".to_owned());
    let (clients, seconds) = (clients.to_string(), RUN.as_secs().to_string());
    let mut process = Process::new(program);
    process.args([
        "-n", "-M", "prepared", "-c", &clients, "-T", &seconds, "-f", script, url,
    ]);
    let said = String::from_utf8(process.output()?.stdout)?;
    let figure = said
        .lines()
        .filter_map(|line| line.strip_prefix("tps = "))
        .filter_map(|rest| rest.split(' ').next())
        .next();
    Ok(figure.ok_or("pgbench gave no figure")?.parse()?)
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
