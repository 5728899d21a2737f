//! The sample market of `dev`: three symbols with open books, and an account to trade with.

use std::net::SocketAddr;

use anyhow::{Context as _, bail, ensure};
use turnstile_client::{Connection, ServerAddress, resp::Value};

use super::pasted::PastedTools;
use crate::resp;

/// The account that is left to whoever tries things: with cash, with shares, and without orders.
const YOURS: &str = "1003";

const SYMBOL: &str = "ACME";

/// What stands where in the answer to an order, in RESP2.
const ORDERED: &str =
    "      answers 1 for done, order, state, filled, value, open, reason, position in the journal";

/// Everything that is made, in words of the RESP door. Accounts are digits: the XML door takes no
/// others. The first two have put the books together and may be traded with.
const COMMANDS: [&str; 36] = [
    "CREATE-ACCOUNT 1001 1000000",
    "CREATE-ACCOUNT 1002 1000000",
    "CREATE-SYMBOL ACME",
    "CREATE-SYMBOL BOLT",
    "CREATE-SYMBOL CORN",
    "GRANT 1002 ACME 1000",
    "GRANT 1002 BOLT 1000",
    "GRANT 1002 CORN 1000",
    "PLACE-ORDER 1001 ACME BUY 100 99.5",
    "PLACE-ORDER 1001 ACME BUY 50 99.75",
    "PLACE-ORDER 1001 ACME BUY 20 99.9",
    "PLACE-ORDER 1002 ACME SELL 20 100.1",
    "PLACE-ORDER 1002 ACME SELL 50 100.25",
    "PLACE-ORDER 1002 ACME SELL 100 100.5",
    "PLACE-ORDER 1001 BOLT BUY 200 24.8",
    "PLACE-ORDER 1001 BOLT BUY 80 24.9",
    "PLACE-ORDER 1001 BOLT BUY 40 24.95",
    "PLACE-ORDER 1002 BOLT SELL 40 25.05",
    "PLACE-ORDER 1002 BOLT SELL 80 25.1",
    "PLACE-ORDER 1002 BOLT SELL 200 25.2",
    "PLACE-ORDER 1001 CORN BUY 300 4.1",
    "PLACE-ORDER 1001 CORN BUY 200 4.12",
    "PLACE-ORDER 1001 CORN BUY 100 4.14",
    "PLACE-ORDER 1002 CORN SELL 100 4.16",
    "PLACE-ORDER 1002 CORN SELL 200 4.18",
    "PLACE-ORDER 1002 CORN SELL 300 4.2",
    // One trade of each has been made, so that there is a last price.
    "PLACE-ORDER 1001 ACME BUY 5 100.1",
    "PLACE-ORDER 1002 ACME SELL 5 99.9",
    "PLACE-ORDER 1001 BOLT BUY 5 25.05",
    "PLACE-ORDER 1002 BOLT SELL 5 24.95",
    "PLACE-ORDER 1001 CORN BUY 5 4.16",
    "PLACE-ORDER 1002 CORN SELL 5 4.14",
    // This account comes last: where it is, the market is made.
    "CREATE-ACCOUNT 1003 100000",
    "GRANT 1003 ACME 100",
    "GRANT 1003 BOLT 100",
    "GRANT 1003 CORN 100",
];

/// Makes the market unless an earlier start has made it: whole or not at all; where a database decides
/// the exchange, a start that comes after a crash makes what is missing.
pub(super) fn open(door: ServerAddress, in_database: bool) -> anyhow::Result<()> {
    let mut door = resp::connect(door)?;
    let known = door.command(&[b"EXCHANGE.GET-ACCOUNT", YOURS.as_bytes()])?;
    if resp::field(&known, "account").is_some() {
        return Ok(());
    }
    let answers = if in_database {
        one_by_one(&mut door)?
    } else {
        as_one(&mut door)?
    };
    for (line, answer) in COMMANDS.iter().zip(&answers) {
        if let resp::Outcome::Refused(code) = resp::answer(answer)?.outcome {
            bail!("{line} is refused: {code}");
        }
    }
    Ok(())
}

/// Sends one batch.
fn as_one(door: &mut Connection) -> anyhow::Result<Vec<Value>> {
    door.send(&[b"MULTI"]);
    for line in COMMANDS {
        send(door, &format!("EXCHANGE.{line}"));
    }
    door.send(&[b"EXEC"]);
    for _queued in 0..=COMMANDS.len() {
        let answer = door.receive()?;
        ensure!(!matches!(answer, Value::Error(_)), "{answer}");
    }
    let answers = door.receive()?;
    let answers = answers.as_array().with_context(|| format!("{answers}"))?;
    Ok(answers.to_vec())
}

/// Sends each command under a key, by which one that was done before a crash is not done again.
fn one_by_one(door: &mut Connection) -> anyhow::Result<Vec<Value>> {
    for (number, line) in COMMANDS.iter().enumerate() {
        send(door, &format!("EXCHANGE.{line} KEY sample-market-{number}"));
    }
    let answers = COMMANDS.iter().map(|_| Ok(door.receive()?));
    answers.collect()
}

fn send(door: &mut Connection, line: &str) {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    door.send(&words);
}

/// Lines that a newcomer can paste, as far as their doors are open.
pub(super) fn lines_to_paste(
    tools: &PastedTools,
    resp: Option<SocketAddr>,
    xml: Option<SocketAddr>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(resp) = resp else {
        return lines;
    };
    let redis_cli = format!("try   {}", tools.redis_cli(resp));
    lines.push(format!("{redis_cli} EXCHANGE.GET-DEPTH {SYMBOL}"));
    lines.push(format!(
        "{redis_cli} EXCHANGE.PLACE-ORDER {YOURS} {SYMBOL} BUY 10 100.1"
    ));
    lines.push(ORDERED.to_owned());
    if let Some(xml) = xml {
        let request = format!(
            "<transactions id=\"{YOURS}\"><order sym=\"{SYMBOL}\" amount=\"-10\" limit=\"99.9\"/>\
             </transactions>"
        );
        lines.push(format!(
            "try   printf '{}\\n{request}' | {}",
            request.len(),
            tools.lines(xml)
        ));
    }
    lines
}
