//! MariaDB, asked by mariadb-slap with the very statements of our server, from the database's own log.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use turnstile_trial::MariaServer;

use super::{Asked, BOOKINGS, Peer, RoundSample, ask, front, reached};
use crate::{
    database::{Empty, Home, OwnServers},
    ground::Ground,
    pin, process,
    program::spawn,
    section::Section,
};

const TOOL: &str = "mariadb-slap";

const HOW: &str = "What our server sends is taken from the database's own log while users book, and sent \
    again to another empty database, packet by packet; as many connections as our server writes with, \
    two at most. So mariadb-slap decides nothing and reads no answer";

/// What parts the packets in a script: no statement of ours has it.
const DELIMITER: &str = "~";

/// How a transaction begins, in tables of either engine.
const BEGINNINGS: [&str; 2] = ["START TRANSACTION", "SELECT GET_LOCK"];

/// What only those who write have said.
const WRITTEN: &str = " bookings ";

pub(crate) fn innodb(ground: &Ground) -> Result<Section> {
    let title = "Rooms in MariaDB InnoDB, beside mariadb-slap";
    super::measure(ground, &peer(Home::InnoDb, title))
}

pub(crate) fn memory(ground: &Ground) -> Result<Section> {
    let title = "Rooms in MariaDB MEMORY, beside mariadb-slap";
    super::measure(ground, &peer(Home::Memory, title))
}

const fn peer(home: Home, title: &'static str) -> Peer {
    Peer {
        home,
        asking: BOOKINGS,
        title,
        tool: TOOL,
        how: HOW,
        lanes: 2,
        is_told_batches: false,
        ceiling,
    }
}

fn ceiling(ground: &Ground, databases: &OwnServers, asked: Asked) -> Result<RoundSample> {
    let commands = asked.seconds * if asked.users > 1 { 6_000 } else { 1_500 };
    let transactions = {
        let empty = databases.empty(asked.home, ground)?;
        recorded(
            ground,
            &empty.context("it lies in a database")?,
            asked,
            commands,
        )?
    };
    let empty = databases.empty(asked.home, ground)?;
    let empty = empty.context("it lies in a database")?;
    // Our server makes the tables and the property.
    drop(front(ground, &empty, BOOKINGS)?);
    let folder = TempDir::new_in(&ground.scratch)?;
    let mut scripts = vec![Vec::new(); usize::try_from(asked.connections)?];
    for (number, transaction) in transactions.iter().enumerate() {
        let script = number % scripts.len();
        scripts[script].extend(transaction.iter().map(String::as_str));
    }
    let (tool, database) = (process::cpu_of_ended_children()?, empty.cpu()?);
    let took = replay(&empty, folder.path(), &scripts)?;
    let tool = process::cpu_of_ended_children()? - tool;
    let cpu = (empty.cpu()? - database, tool);
    let count = u32::try_from(transactions.len())?;
    Ok(RoundSample {
        batch: f64::from(commands) / f64::from(count),
        ..reached(asked, commands, took, cpu)
    })
}

/// What our server says to a database while so many rooms are booked, transaction by transaction in
/// the order in which they began.
fn recorded(
    ground: &Ground,
    empty: &Empty<'_>,
    asked: Asked,
    commands: u32,
) -> Result<Vec<Vec<String>>> {
    let server = front(ground, empty, BOOKINGS)?;
    let maria = empty.maria()?;
    maria.sql(
        "SET GLOBAL log_output='TABLE'; TRUNCATE mysql.general_log; SET GLOBAL general_log=ON",
    );
    ask(&server, BOOKINGS.command, (asked.users, commands))?;
    maria.sql("SET GLOBAL general_log=OFF");
    for retries in ["serialization_retries", "deadlock_retries"] {
        let count = server.fact(&format!("rooms_backend_{retries}"))?;
        // The log does not say which tries were taken back.
        ensure!(
            count == "0",
            "what was logged cannot be replayed: {count} {retries}"
        );
    }
    let transactions = transactions(&log_of(maria))?;
    ensure!(!transactions.is_empty(), "nothing was logged");
    Ok(transactions)
}

/// A connection and a packet for each line, in the order in which they came.
fn log_of(maria: &MariaServer) -> String {
    maria.sql(
        "SELECT thread_id, argument FROM mysql.general_log \
         WHERE command_type='Query' AND user_host LIKE 'turnstile%'",
    )
}

/// The transactions of those who write, in what the client printed of the log.
fn transactions(log: &str) -> Result<Vec<Vec<String>>> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for line in log.lines() {
        let (connection, packet) = line.split_once('\t').context("a line of the log")?;
        let packet = unescaped(packet);
        ensure!(!packet.contains(DELIMITER), "no script can say {packet}");
        if BEGINNINGS.iter().any(|begin| packet.starts_with(begin)) {
            all.push((connection, vec![packet]));
            continue;
        }
        // Of a transaction that began before the log there is only the end.
        let open = all.iter_mut().rev().find(|(of, _)| *of == connection);
        if let Some((_, packets)) = open {
            packets.push(packet);
        }
    }
    all.retain(|(_, packets)| {
        let writes = |packet: &String| packet.contains("INTO") && packet.contains(WRITTEN);
        packets.iter().any(writes)
    });
    Ok(all.into_iter().map(|(_, packets)| packets).collect())
}

/// A field as it was before the client escaped it.
fn unescaped(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('0') => text.push('\0'),
                other => text.extend(other),
            },
            other => text.push(other),
        }
    }
    text
}

/// Sends scripts, each over a connection of its own; how long the longest took.
fn replay(empty: &Empty<'_>, folder: &Path, scripts: &[Vec<&str>]) -> Result<Duration> {
    let mut running = Vec::new();
    for (number, script) in scripts.iter().enumerate() {
        let file = folder.join(number.to_string());
        fs::write(&file, script.join(DELIMITER))?;
        let tool = spawn(&mut slap(empty, &file)?)?;
        running.push(tool);
    }
    let mut longest = 0.0_f64;
    for tool in running {
        let output = tool.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{TOOL}: {said}{complaint}");
        let took = seconds(&said).with_context(|| format!("{TOOL}: {said}{complaint}"))?;
        longest = longest.max(took);
    }
    Ok(Duration::from_secs_f64(longest))
}

fn slap(empty: &Empty<'_>, script: &Path) -> Result<Command> {
    let mut tool = pin::command(pin::CLIENT_CORE, TOOL);
    tool.args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1"])
        .arg(format!("--port={}", empty.maria()?.port()))
        .args(["--user=turnstile", "--password=secret", "--no-drop"])
        .args(["--concurrency=1", "--iterations=1"])
        .arg(format!("--create-schema={}", empty.name()))
        .arg(format!("--delimiter={DELIMITER}"))
        .arg(format!("--query={}", script.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(tool)
}

/// How long it took, in what mariadb-slap says at its end.
fn seconds(said: &str) -> Option<f64> {
    let name = "Average number of seconds to run all queries: ";
    let rest = said
        .lines()
        .find_map(|line| line.trim().strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{seconds, transactions, unescaped};

    #[test]
    fn a_transaction_is_what_one_connection_says_from_its_beginning_to_the_next() {
        let log = "3\tINSERT INTO bookings (a) VALUES (0);\\nCOMMIT\n\
                   4\tSTART TRANSACTION;\\nSELECT a\n\
                   5\tSTART TRANSACTION;\\nSELECT b\n\
                   4\tINSERT INTO bookings (a) VALUES (1);\\nCOMMIT\n\
                   6\tSTART TRANSACTION;\\nSELECT of a reader FROM bookings WHERE\n\
                   5\tREPLACE INTO bookings (a) VALUES ('it\\\\s');\\nCOMMIT\n";
        let expected = [
            [
                "START TRANSACTION;\nSELECT a",
                "INSERT INTO bookings (a) VALUES (1);\nCOMMIT",
            ],
            [
                "START TRANSACTION;\nSELECT b",
                "REPLACE INTO bookings (a) VALUES ('it\\s');\nCOMMIT",
            ],
        ];
        assert_eq!(transactions(log).unwrap(), expected);
        assert!(transactions("4\tSELECT '~'\n").is_err());
        assert!(transactions("nonsense\n").is_err());
    }

    #[test]
    fn what_the_client_escaped_is_what_it_was() {
        assert_eq!(unescaped(r"a\nb\tc\\d\0"), "a\nb\tc\\d\0");
    }

    #[test]
    fn the_time_is_read_from_what_the_tool_says() {
        let said = "Benchmark\n\tAverage number of seconds to run all queries: 0.092 seconds\n";
        assert_eq!(seconds(said), Some(0.092));
        assert_eq!(seconds("Error"), None);
    }
}
