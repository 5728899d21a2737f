//! Trips in PostgreSQL by pgbench: `pgbench nine -c 64 -T 4`, where each client has keys of its own.

use std::{fmt::Write as _, fs};

use anyhow::{Result, bail, ensure};
use tempfile::NamedTempFile;
use turnstile_trial::PostgresServer;

use super::{Measures, RATE, pgbench};
use crate::{
    pin::{self, CLIENT_CORE},
    program,
};

/// Customers and locations, and those of one client.
const KEYS: u32 = 64 * KEYS_EACH;
const KEYS_EACH: u32 = 16;

const BOOKS: &str = "
CREATE TABLE customers (id int PRIMARY KEY);
CREATE TABLE flights (id int PRIMARY KEY, free int, reserved int, price int);
CREATE TABLE cars (LIKE flights INCLUDING ALL);
CREATE TABLE rooms (LIKE flights INCLUDING ALL);
CREATE TABLE bills (customer int, kind int, item int, count int, price int,
  PRIMARY KEY (customer, kind, item));
CREATE FUNCTION look_customer(c int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN RETURN (SELECT coalesce(sum(b.count * b.price), 0) FROM bills b WHERE b.customer = c); END $$;
CREATE FUNCTION note(c int, k int, i int, p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO bills VALUES (c, k, i, 1, p) ON CONFLICT (customer, kind, item)
  DO UPDATE SET count = bills.count + 1, price = excluded.price;
END $$;
";

/// The functions of one resource manager; KIND is its number, and DESK its table.
const DESK: &str = "
CREATE FUNCTION look_DESK(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN RETURN (SELECT d.free FROM DESK d WHERE d.id = i); END $$;
CREATE FUNCTION reserve_DESK(c int, i int) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE p int;
BEGIN
  UPDATE DESK SET free = free - 1, reserved = reserved + 1 WHERE id = i AND free > 0
  RETURNING price INTO p;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM note(c, KIND, i, p);
  RETURN true;
END $$;
";

const TRIP: &str = "
CREATE FUNCTION book(c int, i int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  RETURN reserve_flights(c, i) AND reserve_cars(c, i) AND reserve_rooms(c, i);
END $$;
";

const DESKS: [&str; 3] = ["flights", "cars", "rooms"];

/// Makes the tables, the functions and what can be reserved, in an empty database.
pub(crate) fn prepare(server: &PostgresServer, database: &str) {
    let mut sql = BOOKS.to_owned();
    for (kind, desk) in DESKS.iter().enumerate() {
        let functions = DESK.replace("DESK", desk);
        sql += &functions.replace("KIND", &kind.to_string());
        let rows = format!("SELECT n, 100000000, 0, 100 FROM generate_series(0, {KEYS} - 1) n");
        writeln!(sql, "INSERT INTO {desk} {rows};").expect("a string takes all that is written");
    }
    sql += TRIP;
    sql += &format!("INSERT INTO customers SELECT generate_series(0, {KEYS} - 1);");
    server.sql(database, &sql);
    server.sql(database, "VACUUM ANALYZE");
}

pub(super) fn drive(words: &[&str], database: &str) -> Result<Measures> {
    let Some((&name, words)) = words.split_first() else {
        bail!("pgbench runs a script: nine, nine-plain, one or one-plain");
    };
    let file = NamedTempFile::new()?;
    fs::write(file.path(), script(name)?)?;
    let mut tool = pin::command(CLIENT_CORE, "pgbench");
    tool.args(["-n", "-M", "simple", "-j", "1"]).args(words);
    let (said, _cpu) = program::run(tool.arg("-f").arg(file.path()).arg(database))?;
    ensure!(!said.contains("aborted in command"), "{said}");
    Ok([(RATE.to_owned(), pgbench::told(&said)?.rate)].into())
}

/// One transaction: of nine requests or in one function, and committed in two phases or, plain, in one.
fn script(name: &str) -> Result<String> {
    let key = format!("\\set key :client_id * {KEYS_EACH} + random(0, {KEYS_EACH} - 1)\n");
    let steps = DESKS
        .map(|desk| format!("SELECT look_{desk}(:key);\nSELECT reserve_{desk}(:key, :key);\n"));
    let nine = format!("BEGIN;\nSELECT look_customer(:key);\n{}", steps.concat());
    let prepare = "PREPARE TRANSACTION 'bench-:client_id';";
    let commit = "COMMIT PREPARED 'bench-:client_id';\n";
    let body = match name {
        "nine" => format!("{nine}{prepare}\n{commit}"),
        "nine-plain" => format!("{nine}COMMIT;\n"),
        "one" => format!("BEGIN\\; SELECT book(:key, :key)\\; {prepare}\n{commit}"),
        "one-plain" => "SELECT book(:key, :key);\n".to_owned(),
        other => bail!("pgbench has no script `{other}`: nine, nine-plain, one or one-plain"),
    };
    Ok(key + &body)
}

#[cfg(test)]
mod tests {
    use super::script;

    #[test]
    fn each_script_has_its_requests() {
        let requests = |name| script(name).unwrap().lines().skip(1).count();
        let names = ["nine", "nine-plain", "one", "one-plain"];
        assert_eq!(names.map(requests), [10, 9, 2, 1]);
        assert!(script("ten").is_err());
    }
}
