//! Redis, asked by redis-benchmark with the very call of our server.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use turnstile_client::{Connection, resp::Value};

use super::{Asked, BOOKINGS, Peer, RoundSample, WARM_UP, front, nearest, reached};
use crate::{
    database::{Empty, Home, OwnServers},
    ground::Ground,
    load::{CLIENT_US, RATE, fill::is_done, redis_benchmark},
    section::Section,
    server::Persistence,
};

const TOOL: &str = "redis-benchmark";

const HOW: &str = "The call of our server is taken from what MONITOR shows of one booking, and sent again, each \
    time for other rooms; a batch of ours is one call with as many bookings. Our server has four calls \
    under way at most, on one connection; redis-benchmark has as many connections";

/// The room of the booking that is looked at.
const SHOWN: &str = "room:shown";

/// In its place redis-benchmark puts another number each time.
const DRAWN: &str = "room:__rand_int__";

/// The function's call is so many words before the first command: its name, that of the function, one
/// key, the instant and the limits.
const WORDS_BEFORE: usize = 6;

pub(crate) fn none(ground: &Ground) -> Result<Section> {
    let title = "Rooms in Redis without persistence, beside redis-benchmark";
    super::measure(ground, &peer(Home::Redis(Persistence::None), title))
}

pub(crate) fn always(ground: &Ground) -> Result<Section> {
    let title = "Rooms in Redis with appendfsync always, beside redis-benchmark";
    super::measure(ground, &peer(Home::Redis(Persistence::Always), title))
}

const fn peer(home: Home, title: &'static str) -> Peer {
    Peer {
        home,
        asking: BOOKINGS,
        title,
        tool: TOOL,
        how: HOW,
        lanes: 4,
        is_told_batches: true,
        ceiling,
    }
}

fn ceiling(ground: &Ground, databases: &OwnServers, asked: Asked) -> Result<RoundSample> {
    let empty = databases.empty(asked.home, ground)?;
    let empty = empty.context("it lies in a database")?;
    let one = shown(ground, &empty)?;
    let words = call(&one, usize::try_from(asked.batch)?);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let drive = |requests: u32| {
        let options = format!("-c {} -n {requests}", asked.connections);
        let options: Vec<&str> = options.split(' ').collect();
        let line = [options.as_slice(), &words].concat();
        let server = empty.redis()?;
        redis_benchmark::drive(&line, server.resp(), server.protection())
    };
    let warm = drive(WARM_UP)?;
    let requests = nearest(warm[RATE] * f64::from(asked.seconds));
    let before = empty.cpu()?;
    let tally = drive(requests)?;
    let database = empty.cpu()? - before;
    let took = Duration::from_secs_f64(f64::from(requests) / tally[RATE]);
    let tool = Duration::from_secs_f64(tally[CLIENT_US] * f64::from(requests) / 1e6);
    Ok(reached(
        asked,
        requests * asked.batch,
        took,
        (database, tool),
    ))
}

/// The words with which our server has one room booked.
fn shown(ground: &Ground, empty: &Empty<'_>) -> Result<Vec<String>> {
    let server = front(ground, empty, BOOKINGS)?;
    let mut monitor = empty.redis()?.connect()?;
    monitor.command(&[b"MONITOR"])?;
    let command = BOOKINGS.command.replace(DRAWN, SHOWN);
    let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
    let reply = server.connect()?.command(&words)?;
    ensure!(is_done(&reply), "refused: {reply:?}");
    loop {
        let line = next_line(&mut monitor)?;
        let words = words_of(&line);
        if words.first().is_some_and(|word| word == "FCALL")
            && words.iter().any(|word| word == SHOWN)
        {
            return Ok(words);
        }
    }
}

fn next_line(monitor: &mut Connection) -> Result<String> {
    match monitor.receive()? {
        Value::Simple(line) => Ok(line),
        other => anyhow::bail!("MONITOR shows {other:?}"),
    }
}

/// The quoted words of a line of MONITOR. Ours have no bytes that it would write as escapes but
/// quotation marks and backslashes.
fn words_of(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, &mut word) {
            ('"', None) => word = Some(String::new()),
            ('"', Some(_)) => words.extend(word.take()),
            ('\\', Some(word)) => word.extend(characters.next()),
            (other, Some(word)) => word.push(other),
            (_, None) => {}
        }
    }
    words
}

/// The call with so many commands in place of one, each for a room that is drawn.
fn call(one: &[String], batch: usize) -> Vec<String> {
    let drawn = |word: &String| {
        let word = if word == SHOWN { DRAWN } else { word };
        word.to_owned()
    };
    let (before, command) = one.split_at(WORDS_BEFORE.min(one.len()));
    let mut words = before.to_vec();
    for _ in 0..batch {
        words.extend(command.iter().map(drawn));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{call, words_of};

    #[test]
    fn a_line_of_monitor_is_the_words_in_quotation_marks() {
        let line =
            r#"1339518083.107412 [0 127.0.0.1:60866] "FCALL" "f" "1" "{rooms}/" "a\"b\\c" """#;
        let expected = ["FCALL", "f", "1", "{rooms}/", "a\"b\\c", ""];
        assert_eq!(words_of(line), expected);
        assert_eq!(words_of("OK"), Vec::<String>::new());
    }

    #[test]
    fn a_batch_is_one_call_with_the_command_again_and_again() {
        let one = [
            "FCALL",
            "f",
            "1",
            "{rooms}/",
            "17",
            "9 9",
            "local",
            "",
            "room:shown",
        ];
        let words = call(&one.map(str::to_owned), 2).join(",");
        let expected =
            "FCALL,f,1,{rooms}/,17,9 9,local,,room:__rand_int__,local,,room:__rand_int__";
        assert_eq!(words, expected);
    }
}
