//! What a database does by itself, asked by its own tool for what our server asks it.
//!
//! The database has the server's core for itself. Whoever asks it has the other one: its tool, or our
//! server together with the users. So both sides are told apart by what the database has to do, and by
//! what it costs to keep it busy.

pub(crate) mod mariadb;
pub(crate) mod postgres;
pub(crate) mod redis;

use std::{fmt, time::Duration};

use anyhow::{Context as _, Result};

use crate::{
    database::{Empty, Home, OwnServers},
    ground::{Ground, tell},
    load::{CLIENT_US, Measures, RATE as TOOL_RATE, fill, redis_benchmark},
    pin,
    process::us_each,
    ratio::Bound,
    section::{MeasuredRow, Section, SubjectMetric},
    server::{Kind, Server, ServerDurability},
};

const RATE: &str = "commands/s";
const DATABASE_CPU: &str = "database CPU, us/command";
const ASKING_CPU: &str = "CPU of who asks, us/command";
const BATCH: &str = "commands a transaction";

/// We cost at most a quarter more than the database by itself.
const COST_MAX: f64 = 1.25;

/// How batches of a size that no tool can send are compared.
const BETWEEN: &str = ". The mean batch of ours is no whole number: the tool sends batches of the two whole \
    numbers beside it, and the time of a transaction is interpolated between them";

const USERS: [u32; 3] = [1, 8, 80];

/// Connections over which single commands come, where there are as many users.
const SINGLE_CONNECTIONS_MAX: u32 = 8;

/// Bookings with which a server is warmed, and by which its rate is guessed.
const WARM_UP: u32 = 300;

/// Batches that differ by less than this are of one size.
const BATCH_DIFFERENCE: f64 = 0.02;

/// What is compared with what our server reaches.
struct Peer {
    home: Home,
    asking: Asking,
    title: &'static str,
    /// The tool, and what it sends.
    tool: &'static str,
    how: &'static str,
    /// Transactions that our server has under way at a time, at most.
    lanes: u32,
    /// Whether the tool is told how large its batches are; otherwise they are those that our server made.
    is_told_batches: bool,
    ceiling: fn(&Ground, &OwnServers, Asked) -> Result<RoundSample>,
}

impl RoundSample {
    /// What lies between batches of two sizes. A transaction takes a time of its own and one for each of
    /// its commands, so that its time, and not that of a command, grows in a straight line.
    fn between(low: &Self, high: &Self, batch: f64) -> Self {
        let share = (batch - low.batch) / (high.batch - low.batch);
        let of_command = |time: fn(&Self) -> f64| {
            let of_batch = |sample: &Self| time(sample) * sample.batch;
            (of_batch(low) * (1.0 - share) + of_batch(high) * share) / batch
        };
        Self {
            rate: 1.0 / of_command(|sample| 1.0 / sample.rate),
            database_us: of_command(|sample| sample.database_us),
            asking_us: of_command(|sample| sample.asking_us),
            batch,
        }
    }
}

/// What our server is asked over and over, by redis-benchmark.
#[derive(Clone, Copy, Debug)]
struct Asking {
    service: &'static str,
    command: &'static str,
    /// What must be there before.
    prepare: &'static [&'static str],
}

/// Rooms that nobody has asked for.
const BOOKINGS: Asking = Asking {
    service: "rooms",
    command: "ROOMS.BOOK bench room:__rand_int__ 2027-01-01 2027-01-02 ada 234123412346",
    prepare: &[],
};

/// What the tool is to send.
#[derive(Clone, Copy, Debug)]
struct Asked {
    home: Home,
    /// Commands a transaction.
    batch: u32,
    connections: u32,
    seconds: u32,
    /// With so many users our server makes batches of that size.
    users: u32,
}

/// One side in one round.
#[derive(Clone, Copy, Debug)]
struct RoundSample {
    rate: f64,
    database_us: f64,
    asking_us: f64,
    batch: f64,
}

fn measure(ground: &Ground, peer: &Peer) -> Result<Section> {
    let (rounds, seconds) = if ground.quick { (1, 1) } else { (3, 2) };
    let mut section = Section::between_probes(ground, peer.title, || {
        let databases = OwnServers::default();
        let names = names(peer);
        let mut samples: Vec<Vec<RoundSample>> = vec![Vec::new(); names.len()];
        for _ in 0..rounds {
            let mut taken = Vec::new();
            for users in USERS {
                taken.extend(round(ground, &databases, (peer, users, seconds))?);
            }
            for ((name, samples), sample) in names.iter().zip(&mut samples).zip(taken) {
                tell(&format!("{name}: {sample}"))?;
                samples.push(sample);
            }
        }
        let setting = format!(
            "{} over and over, {rounds} rounds of {seconds} s. The database has a core for itself; {} has \
             the other, or our server and redis-benchmark as its users. {}{}",
            peer.asking.command,
            peer.tool,
            peer.how,
            if peer.is_told_batches { BETWEEN } else { "" }
        );
        let subjects = names.into_iter().zip(&samples);
        let subjects = subjects.map(|(name, samples)| MeasuredRow::new(name, figures(samples)));
        Ok((setting, subjects.collect()))
    })?;
    claim(&mut section, peer.tool);
    Ok(section)
}

/// Our server and the tool with so many users; the tool also with single commands, where these are
/// not what our server sends anyway.
fn round(
    ground: &Ground,
    databases: &OwnServers,
    (peer, users, seconds): (&Peer, u32, u32),
) -> Result<Vec<RoundSample>> {
    let ours = through(ground, databases, (peer, users, seconds))?;
    let asked = Asked {
        home: peer.home,
        batch: nearest(ours.batch),
        connections: users.min(peer.lanes),
        seconds,
        users,
    };
    let ceiling = |asked| (peer.ceiling)(ground, databases, asked);
    let theirs = if peer.is_told_batches {
        at_batch(ours.batch, |batch| ceiling(Asked { batch, ..asked }))?
    } else {
        ceiling(asked)?
    };
    let mut samples = vec![ours, theirs];
    if users > 1 {
        let single = Asked {
            batch: 1,
            connections: users.min(SINGLE_CONNECTIONS_MAX),
            users: 1,
            ..asked
        };
        samples.push(ceiling(single)?);
    }
    Ok(samples)
}

/// What a tool reaches with batches of a size that may lie between two whole ones: then it is asked for
/// both.
fn at_batch(
    batch: f64,
    mut ceiling: impl FnMut(u32) -> Result<RoundSample>,
) -> Result<RoundSample> {
    let near = nearest(batch);
    if (batch - f64::from(near)).abs() < BATCH_DIFFERENCE {
        return ceiling(near);
    }
    let low = nearest(batch.floor());
    Ok(RoundSample::between(
        &ceiling(low)?,
        &ceiling(low + 1)?,
        batch,
    ))
}

fn names(peer: &Peer) -> Vec<String> {
    let (tool, lanes) = (peer.tool, peer.lanes);
    let mut names = Vec::new();
    for users in USERS {
        names.push(format!("{users} users: our server"));
        let connections = users.min(lanes);
        names.push(format!(
            "{users} users: {tool}, batches as ours, {connections} connections"
        ));
        if users > 1 {
            let connections = users.min(SINGLE_CONNECTIONS_MAX);
            names.push(format!(
                "{users} users: {tool}, single commands, {connections} connections"
            ));
        }
    }
    names
}

fn claim(section: &mut Section, tool: &str) {
    let mut at = 0;
    for users in USERS {
        let (ours, theirs) = (at, at + 1);
        at += if users > 1 { 3 } else { 2 };
        let target = format!("{users} users: rate of {tool} / our server");
        section.claim(&target, RATE, (theirs, ours), Bound::AtMost(COST_MAX));
        let target = format!("{users} users: database CPU a command, our server / {tool}");
        section.claim(
            &target,
            DATABASE_CPU,
            (ours, theirs),
            Bound::AtMost(COST_MAX),
        );
        if users > 1 {
            let target = format!("{users} users: rate of our server / {tool} with single commands");
            section.claim(&target, RATE, (ours, at - 1), Bound::None);
        }
    }
}

/// What our server, which shares the core of so many users, does for them.
fn through(
    ground: &Ground,
    databases: &OwnServers,
    (peer, users, seconds): (&Peer, u32, u32),
) -> Result<RoundSample> {
    let service = peer.asking.service;
    let empty = databases.empty(peer.home, ground)?;
    let empty = empty.context("only databases are compared with themselves")?;
    let server = front(ground, &empty, peer.asking)?;
    let ask = |requests| ask(&server, peer.asking.command, (users, requests));
    let warm = ask(WARM_UP.max(10 * users))?;
    let requests = nearest(warm[TOOL_RATE] * f64::from(seconds));
    let count = |name: &str| server.count(name);
    let (batches, commands) = (
        &format!("{service}_backend_batches"),
        &format!("{service}_backend_commands"),
    );
    let before = (
        empty.cpu()?,
        server.cpu()?,
        count(batches)?,
        count(commands)?,
    );
    let tally = ask(requests)?;
    let after = (
        empty.cpu()?,
        server.cpu()?,
        count(batches)?,
        count(commands)?,
    );
    let counted = |before, after| -> Result<f64> { Ok(f64::from(u32::try_from(after - before)?)) };
    Ok(RoundSample {
        rate: tally[TOOL_RATE],
        database_us: us_each(after.0 - before.0, requests),
        asking_us: us_each(after.1 - before.1, requests) + tally[CLIENT_US],
        batch: counted(before.3, after.3)? / counted(before.2, after.2)?,
    })
}

/// Asks with redis-benchmark, so many users with one request each at a time.
fn ask(server: &Server, command: &str, (users, requests): (u32, u32)) -> Result<Measures> {
    let line = format!("-c {users} -n {requests} {command}");
    let words: Vec<&str> = line.split(' ').collect();
    redis_benchmark::drive(&words, server.resp(), server.protection())
}

/// The nearest count to what was computed, at least 1.
fn nearest(value: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what fits"
    )]
    let nearest = value.round().clamp(1.0, 1e9) as u32;
    nearest
}

/// Our server before a database, on the users' core, with what will be asked for.
fn front(ground: &Ground, empty: &Empty<'_>, asking: Asking) -> Result<Server> {
    let there = [
        format!("--{}-backend", asking.service),
        empty.url().to_owned(),
    ];
    let server = ground.start_with(Kind::Turnstile(ServerDurability::Sync), &there)?;
    for command in asking.prepare {
        fill::send(&mut server.connect()?, 1, command)?;
    }
    server.move_to(pin::CLIENT_CORE)?;
    Ok(server)
}

/// What a tool reached, of so many commands in so long.
fn reached(
    asked: Asked,
    commands: u32,
    took: Duration,
    (database, tool): (Duration, Duration),
) -> RoundSample {
    RoundSample {
        rate: f64::from(commands) / took.as_secs_f64(),
        database_us: us_each(database, commands),
        asking_us: us_each(tool, commands),
        batch: f64::from(asked.batch),
    }
}

fn figures(samples: &[RoundSample]) -> Vec<SubjectMetric> {
    let figure = |name, value: fn(&RoundSample) -> f64| {
        SubjectMetric::new(name, samples.iter().map(value).collect())
    };
    vec![
        figure(RATE, |sample| sample.rate),
        figure(DATABASE_CPU, |sample| sample.database_us),
        figure(ASKING_CPU, |sample| sample.asking_us),
        figure(BATCH, |sample| sample.batch),
    ]
}

impl fmt::Display for RoundSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} commands/s, CPU {:.1} us database, {:.1} us who asks, {:.1} a transaction",
            self.rate, self.database_us, self.asking_us, self.batch
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{RoundSample, at_batch};

    /// A tool that takes 10 us for a transaction and 20 us for each of its commands.
    fn sample(batch: u32) -> RoundSample {
        let batch = f64::from(batch);
        let us = 20.0 + 10.0 / batch;
        RoundSample {
            rate: 1e6 / us,
            database_us: us,
            asking_us: us,
            batch,
        }
    }

    fn asked_for(batch: f64) -> (Vec<u32>, RoundSample) {
        let mut asked = Vec::new();
        let found = at_batch(batch, |whole| {
            asked.push(whole);
            Ok(sample(whole))
        });
        (asked, found.unwrap())
    }

    #[test]
    fn a_batch_between_two_whole_ones_is_between_what_both_take() {
        let (asked, found) = asked_for(2.5);
        assert_eq!(asked, [2, 3]);
        let us = [1e6 / found.rate, found.database_us, found.asking_us];
        assert!(us.iter().all(|us| (us - 24.0).abs() < 1e-9), "{us:?}");
        assert!((found.batch - 2.5).abs() < 1e-9, "{}", found.batch);
    }

    #[test]
    fn a_whole_batch_is_asked_for_once() {
        for (batch, whole) in [(1.0, 1), (0.999, 1), (3.01, 3)] {
            let (asked, found) = asked_for(batch);
            assert_eq!(asked, [whole], "{batch}");
            assert!((found.rate - sample(whole).rate).abs() < 1e-9, "{batch}");
        }
    }
}
