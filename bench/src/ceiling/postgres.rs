//! PostgreSQL, asked by pgbench with the very statement of our server.

use std::{fs, time::Duration};

use anyhow::{Context as _, Result, ensure};
use tempfile::NamedTempFile;
use turnstile_postgres::{EXECUTE_EXCHANGE, EXECUTE_ROOMS};

use super::{Asked, Asking, BOOKINGS, Peer, RoundSample, front, reached};
use crate::{
    database::{Home, OwnServers},
    ground::Ground,
    load::pgbench,
    pin,
    program::run,
    section::Section,
};

/// What our server sends for each booking, by the number of the parameter; the room and the seal, 8
/// and 17, are drawn. Nights are days since 1970.
const FIELDS: [(u32, &str); 18] = [
    (2, "book"),
    (3, "local"),
    (4, "NULL"),
    (5, "NULL"),
    (6, "bench"),
    (7, "room"),
    (9, "20819"),
    (10, "20820"),
    (11, "NULL"),
    (12, "NULL"),
    (13, "NULL"),
    (14, "NULL"),
    (15, "NULL"),
    (16, "ada"),
    (18, "2346"),
    (19, "NULL"),
    (20, "*"),
    (21, "*"),
];

/// An order that rests: nobody sells. As our server sends it.
const ORDER: &str = r#"{"do":"order","account":"bench","symbol":"REST","side":"buy","amount":"1","price":"1","patience":"gtc","self_trade":"skip"}"#;

/// The account has cash for all of them, and the symbol exists.
const ORDERS: Asking = Asking {
    service: "exchange",
    command: "EXCHANGE.PLACE-ORDER bench REST BUY 1 1",
    prepare: &[
        "EXCHANGE.CREATE-ACCOUNT bench 100000000000",
        "EXCHANGE.GRANT bench REST 1",
    ],
};

pub(crate) fn rooms(ground: &Ground) -> Result<Section> {
    super::measure(
        ground,
        &Peer {
            home: Home::Postgres,
            asking: BOOKINGS,
            title: "Rooms in PostgreSQL, beside pgbench",
            tool: "pgbench",
            how: "pgbench prepares the statement of our server, in which rooms and seals are drawn by the \
                  database, and sends it with the other arrays as parameters, a transaction each; as many \
                  connections as our server uses at a time, four at most",
            lanes: 4,
            is_told_batches: true,
            ceiling: |ground, databases, asked| {
                let script = bookings(asked.batch);
                ceiling(ground, databases, (asked, BOOKINGS, &script))
            },
        },
    )
}

pub(crate) fn exchange(ground: &Ground) -> Result<Section> {
    super::measure(
        ground,
        &Peer {
            home: Home::Postgres,
            asking: ORDERS,
            title: "The exchange in PostgreSQL, beside pgbench",
            tool: "pgbench",
            how: "Orders of one account that rest in one book, so that each batch waits for the one before; \
                  pgbench prepares the statement of our server and sends it with the same batch, a \
                  transaction each; as many connections as our server uses at a time, four at most",
            lanes: 4,
            is_told_batches: true,
            ceiling: |ground, databases, asked| {
                let script = orders(asked.batch);
                ceiling(ground, databases, (asked, ORDERS, &script))
            },
        },
    )
}

/// How often a transaction is tried that conflicts with another.
const TRIES_MAX: &str = "10";

/// What pgbench is told: a statement, and its variables.
struct Script {
    statement: String,
    variables: Vec<(String, String)>,
}

fn ceiling(
    ground: &Ground,
    databases: &OwnServers,
    (asked, asking, script): (Asked, Asking, &Script),
) -> Result<RoundSample> {
    let empty = databases.empty(Home::Postgres, ground)?;
    let empty = empty.context("it lies in a database")?;
    // Our server makes the tables and what is asked for.
    drop(front(ground, &empty, asking)?);
    let file = NamedTempFile::new_in(&ground.scratch)?;
    fs::write(file.path(), &script.statement)?;
    let mut tool = pin::command(pin::CLIENT_CORE, "pgbench");
    tool.args(["-n", "-M", "prepared", "-j", "1"])
        .args(["-c", &asked.connections.to_string()])
        // Our server, too, tries again what met somebody else's transaction.
        .args(["--max-tries", TRIES_MAX])
        .args(["-T", &asked.seconds.to_string(), "-f"])
        .arg(file.path());
    for (name, value) in &script.variables {
        tool.args(["-D", &format!("{name}={value}")]);
    }
    let before = empty.cpu()?;
    let (said, cpu) = run(tool.arg(empty.url()))?;
    let told = pgbench::told(&said)?;
    ensure!(!said.contains("aborted"), "{said}");
    let commands = told.transactions * asked.batch;
    let took = Duration::from_secs_f64(f64::from(told.transactions) / told.rate);
    Ok(reached(asked, commands, took, (empty.cpu()? - before, cpu)))
}

/// So many bookings in each transaction.
fn bookings(batch: u32) -> Script {
    let array = |value: &str| format!("{{{}}}", repeated(value, batch));
    let variable = |(number, value): (u32, &str)| (format!("p{number}"), array(value));
    Script {
        statement: statement(batch),
        variables: FIELDS.map(variable).to_vec(),
    }
}

/// So many orders in each transaction.
fn orders(batch: u32) -> Script {
    let now = "(extract(epoch FROM now()) * 1000)::bigint";
    let statement = EXECUTE_EXCHANGE.replace("$1", now).replace("$2", ":batch");
    let batch = format!("[{}]", repeated(ORDER, batch));
    Script {
        statement: statement + ";\n",
        variables: vec![("batch".to_owned(), batch)],
    }
}

fn repeated(value: &str, times: u32) -> String {
    let all: Vec<&str> = (0..times).map(|_| value).collect();
    all.join(",")
}

/// The statement of our server, with variables of pgbench for its parameters.
fn statement(batch: u32) -> String {
    let drawn = |what: &str| format!("(SELECT array_agg({what}) FROM generate_series(1, {batch}))");
    let room = drawn("'room:' || (random() * 1e9)::bigint");
    let seal = drawn("(random() * 9e18)::bigint");
    let mut statement = EXECUTE_ROOMS.to_owned();
    // From the last to the first: $1 is also how $10 begins.
    for number in (1..=21).rev() {
        let value = match number {
            1 => "now()".to_owned(),
            8 => room.clone(),
            17 => seal.clone(),
            _ => format!(":p{number}"),
        };
        statement = statement.replace(&format!("${number}"), &value);
    }
    statement + ";\n"
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, orders, statement};

    #[test]
    fn every_parameter_of_the_statement_has_a_value() {
        let statement = statement(7);
        assert!(!statement.contains('$'), "{statement}");
        assert!(statement.contains("rooms.execute(now(), ("), "{statement}");
        for (number, _) in FIELDS {
            let place = format!(":p{number}::");
            assert_eq!(statement.matches(&place).count(), 1, "{place}");
        }
        assert_eq!(statement.matches("generate_series(1, 7)").count(), 2);
    }

    #[test]
    fn a_batch_of_orders_is_one_parameter() {
        let script = orders(2);
        let expected = "SELECT decided, replayed, outcome FROM exchange.execute(\
                        (extract(epoch FROM now()) * 1000)::bigint, :batch::text::jsonb);\n";
        assert_eq!(script.statement, expected);
        let (_, batch) = &script.variables[0];
        let orders: Vec<serde_json::Value> = serde_json::from_str(batch).unwrap();
        assert_eq!(orders.len(), 2);
        assert_eq!(orders[1]["patience"], "gtc");
    }
}
