//! A steady load for the console to show: every command of it is an event of its service.

mod market;
mod matches;
mod sale;
mod trips;

use std::{
    net::SocketAddr,
    sync::mpsc::{self, RecvTimeoutError, SyncSender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, ensure};
use turnstile_client::{Connection, resp::Value};

pub(super) use market::Market;
pub(super) use matches::MatchFlow;
pub(super) use sale::{Sale, SaleSlot, Wares};
pub(super) use trips::Trips;

/// Between two batches: short enough that a page sees a flow.
const TICK: Duration = Duration::from_millis(20);

/// Commands of one batch: a load that was held up makes up for it slowly.
const BATCH_MAX: u64 = 100;

/// Commands under way while a world is filled.
const FILL_BATCH: usize = 500;

/// The longest silence of a server.
const TIMEOUT: Duration = Duration::from_secs(120);

/// First and last names of guests, buyers and players.
const FIRST: [&str; 20] = [
    "Ada",
    "Grace",
    "Alan",
    "Edsger",
    "Barbara",
    "Donald",
    "Frances",
    "John",
    "Radia",
    "Leslie",
    "Margaret",
    "Tony",
    "Shafi",
    "Niklaus",
    "Sophie",
    "Ken",
    "Hedy",
    "Dennis",
    "Katherine",
    "Jim",
];
const LAST: [&str; 20] = [
    "Byron", "Novak", "Okafor", "Lindgren", "Silva", "Moreau", "Tanaka", "Weber", "Rossi", "Khan",
    "Jensen", "Murphy", "Costa", "Meyer", "Petrov", "Garcia", "Dubois", "Nielsen", "Horvat", "Lee",
];

/// What clients of one service send.
pub(super) trait CommandSource: Send {
    /// The next command, in words. Answers of the same batch may not have come yet.
    fn next(&mut self) -> Vec<String>;
    /// The answer to the oldest command that has none yet.
    fn heed(&mut self, answer: &Value) -> Result<()>;
}

/// A load that runs until it is stopped.
#[derive(Debug)]
pub(super) struct SteadyLoad {
    stop: SyncSender<()>,
    thread: JoinHandle<Result<u64>>,
}

impl SteadyLoad {
    /// Sends so many commands a second of each source.
    pub(super) fn start(
        address: SocketAddr,
        mut sources: Vec<(u64, Box<dyn CommandSource>)>,
    ) -> Result<Self> {
        let mut connection = connect(address)?;
        let (stop, stopped) = mpsc::sync_channel(0);
        let work = move || {
            let begun = Instant::now();
            let mut sent = vec![0; sources.len()];
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let elapsed_ms = u64::try_from(begun.elapsed().as_millis())?;
                for ((rate, source), sent) in sources.iter_mut().zip(&mut sent) {
                    let due = (*rate * elapsed_ms / 1_000).saturating_sub(*sent);
                    let batch = due.min(BATCH_MAX);
                    send(&mut connection, source.as_mut(), batch)?;
                    *sent += batch;
                }
            }
            Ok(sent.iter().sum())
        };
        let thread = thread::Builder::new().spawn(work)?;
        Ok(Self { stop, thread })
    }

    /// How many commands it has sent.
    pub(super) fn stop(self) -> Result<u64> {
        drop(self.stop);
        let ended = self.thread.join();
        ended.map_err(|_panic| anyhow!("the load has panicked"))?
    }
}

/// A connection whose answers name their fields.
pub(super) fn connect(address: SocketAddr) -> Result<Connection> {
    let mut connection = Connection::connect(address, TIMEOUT)?;
    connection.command(&[b"HELLO", b"3"])?;
    Ok(connection)
}

/// Sends some commands of a source at once, and has it heed the answers.
fn send(connection: &mut Connection, source: &mut dyn CommandSource, count: u64) -> Result<()> {
    for _ in 0..count {
        put(connection, &source.next());
    }
    for _ in 0..count {
        source.heed(&connection.receive()?)?;
    }
    Ok(())
}

fn put(connection: &mut Connection, words: &[String]) {
    let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
    connection.send(&words);
}

/// Sends some commands of a source, as fast as they are answered.
pub(super) fn rush(
    connection: &mut Connection,
    source: &mut dyn CommandSource,
    count: u64,
) -> Result<()> {
    for _ in 0..count / BATCH_MAX {
        send(connection, source, BATCH_MAX)?;
    }
    send(connection, source, count % BATCH_MAX)
}

/// Sends commands that all have to be done.
pub(super) fn fill(connection: &mut Connection, commands: &[Vec<String>]) -> Result<()> {
    for batch in commands.chunks(FILL_BATCH) {
        for words in batch {
            put(connection, words);
        }
        for words in batch {
            let answer = connection.receive()?;
            ensure!(is_done(&answer), "{}: {answer}", words.join(" "));
        }
    }
    Ok(())
}

/// The words of a command in which no word has a space.
pub(super) fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn is_done(answer: &Value) -> bool {
    answer.at("outcome").and_then(Value::as_str) == Some("done")
}

/// A text that an answer must have.
fn text(answer: &Value, field: &str) -> Result<String> {
    let found = answer.at(field).and_then(Value::as_str);
    let found = found.with_context(|| format!("{answer} has no {field}"))?;
    Ok(found.to_owned())
}

/// A number that an answer must have.
fn number(answer: &Value, field: &str) -> Result<i64> {
    let found = answer.at(field).and_then(Value::as_integer);
    found.with_context(|| format!("{answer} has no {field}"))
}

/// A person's name, the same for the same number.
pub(super) fn person(number: usize) -> String {
    let first = FIRST[number % FIRST.len()];
    let last = LAST[(number / FIRST.len() + number) % LAST.len()];
    format!("{first} {last}")
}
