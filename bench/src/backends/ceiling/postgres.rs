//! PostgreSQL, asked by pgbench with the very statement of our server.

use anyhow::Result;
use tempfile::NamedTempFile;
use turnstile_postgres::EXECUTE_ROOMS;

use super::{Asked, Peer, Sample, front, reached};
use crate::{
    backends::home::{Databases, Home},
    driver::{pgbench, run},
    ground::Ground,
    pin,
    section::Section,
};

/// What our server sends for each booking, by the number of the parameter; the room and the seal, 8
/// and 17, are drawn. Nights are days since 1970.
const FIELDS: [(u32, &str); 15] = [
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
];

pub(in crate::backends) fn measure(ground: &Ground) -> Result<Section> {
    super::measure(
        ground,
        &Peer {
            home: Home::Postgres,
            title: "Rooms in PostgreSQL, beside pgbench",
            tool: "pgbench",
            how: "pgbench prepares the statement of our server, in which rooms and seals are drawn by the \
                  database, and sends it with the other arrays as parameters, a transaction each; as many \
                  connections as our server uses at a time, four at most",
            lanes: 4,
            ceiling,
        },
    )
}

fn ceiling(ground: &Ground, databases: &Databases, asked: Asked) -> Result<Sample> {
    let empty = databases
        .empty(Home::Postgres, ground)?
        .expect("it lies in a database");
    // Our server makes the tables and the property.
    drop(front(ground, &empty)?);
    let script = NamedTempFile::new_in(&ground.scratch)?;
    std::fs::write(script.path(), statement(asked.batch))?;
    let mut tool = pin::command(pin::CLIENT_CORE, "pgbench");
    tool.args(["-n", "-M", "prepared", "-j", "1"])
        .args(["-c", &asked.connections.to_string()])
        .args(["-T", &asked.seconds.to_string(), "-f"])
        .arg(script.path());
    for (number, value) in FIELDS {
        let values = vec![value; usize::try_from(asked.batch)?];
        tool.args(["-D", &format!("p{number}={{{}}}", values.join(","))]);
    }
    let before = empty.cpu()?;
    let (said, cpu) = run(tool.arg(empty.url()))?;
    let told = pgbench::told(&said)?;
    let commands = told.transactions * asked.batch;
    let took = std::time::Duration::from_secs_f64(f64::from(told.transactions) / told.rate);
    Ok(reached(asked, commands, took, (empty.cpu()? - before, cpu)))
}

/// The statement of our server, with variables of pgbench for its parameters.
fn statement(batch: u32) -> String {
    let drawn = |what: &str| format!("(SELECT array_agg({what}) FROM generate_series(1, {batch}))");
    let room = drawn("'room:' || (random() * 1e9)::bigint");
    let seal = drawn("(random() * 9e18)::bigint");
    let mut statement = EXECUTE_ROOMS.to_owned();
    // From the last to the first: $1 is also how $10 begins.
    for number in (1..=18).rev() {
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
    use super::{FIELDS, statement};

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
}
