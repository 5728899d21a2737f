//! Both of the ancestor's workloads on every back end, for one user and for many.

use std::{collections::BTreeSet, fmt, thread, time::Duration};

use anyhow::{Context as _, Result, ensure};
use turnstile_load::{
    pace::{self, Pace, Totals},
    rooms::{Config, Guest, Mix},
};

use super::{
    home::{Databases, Home},
    visit::{self, RATE, Sample, Seen, Visit},
};
use crate::{
    ground::{Ground, tell},
    pin,
    probe::joined,
    process::Neighbours,
    ratio::Bound,
    section::{Section, Subject},
    server::{Persistence, Server},
};

const HOMES: [Home; 6] = [
    Home::Embedded,
    Home::Postgres,
    Home::InnoDb,
    Home::Memory,
    Home::Redis(Persistence::None),
    Home::Redis(Persistence::Always),
];

/// Shares of books and cancels.
const MIXES: [(&str, u16, u16); 2] = [("book only", 1, 0), ("70/30 book/cancel", 70, 30)];

const USERS: [usize; 5] = [1, 8, 25, 80, 300];

/// Each sample takes a second beside what is measured: fewer rounds than elsewhere, for many rows.
const ROUNDS: usize = 2;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
struct Row {
    home: Home,
    mix: (&'static str, u16, u16),
    users: usize,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { home, mix, users } = self;
        let user = if *users == 1 { "user" } else { "users" };
        write!(f, "{}, {users} {user}, {home}", mix.0)
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for mix in MIXES {
        for users in USERS {
            rows.extend(HOMES.map(|home| Row { home, mix, users }));
        }
    }
    rows
}

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let (rounds, warm_up, window) = if ground.quick {
        (1, Duration::from_millis(100), Duration::from_millis(400))
    } else {
        (ROUNDS, Duration::from_millis(200), Duration::from_secs(1))
    };
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let databases = Databases::default();
    let (rows, mut settings) = (rows(), BTreeSet::new());
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); rows.len()];
    for round in 0..rounds {
        for turn in 0..rows.len() {
            let at = (turn + round) % rows.len();
            let row = rows[at];
            let visit = Visit::begin(ground, &databases, row.home, "rooms")?;
            let sample = sample(&visit, row, (warm_up, window))?;
            tell(&format!("{row}: {sample}"))?;
            settings.insert(visit.durability()?);
            samples[at].push(sample);
        }
    }
    drop(databases);
    let settings: Vec<String> = settings.into_iter().collect();
    let subjects = rows.iter().zip(&samples).map(|(row, samples)| Subject {
        name: row.to_string(),
        figures: visit::figures(samples),
    });
    let mut section = Section {
        title: "Rooms on every back end",
        setting: format!(
            "Users over RESP, each asks again when it is answered, for {window:?} after {warm_up:?}, \
             {rounds} rounds; each sample has a new server of ours and an empty database. Turnstile \
             and the database share a core, the users have the other. Rooms nobody has: every \
             request is done. CPU of the database is that of all its processes; a batch is what was \
             committed together (the journal's groups, the database's transactions or calls). \
             As each says of itself: {}",
            settings.join("; ")
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects.collect(),
        claims: Vec::new(),
    };
    compare(&mut section, &rows);
    Ok(section)
}

fn sample(visit: &Visit<'_>, row: Row, (warm_up, window): (Duration, Duration)) -> Result<Sample> {
    drive(&visit.server, row, warm_up, 0)?;
    let before = visit.read()?;
    let last_words = || visit.server.last_words().unwrap_or_default();
    let totals = drive(&visit.server, row, window, 1);
    let totals = totals.with_context(|| format!("{row}: {}", last_words()))?;
    let seen = Seen {
        requests: answered(&totals)?,
        rate: totals.figures().throughput,
        mean_ms: totals.times().summary().mean / 1e6,
    };
    visit.sample(before, seen)
}

/// Has users ask for so long. The number makes what they ask for another than that of other times.
fn drive(server: &Server, row: Row, length: Duration, number: u64) -> Result<Totals<Guest>> {
    let (_, book, cancel) = row.mix;
    let config = Config {
        pace: Pace::closed(server.resp(), Duration::ZERO, length),
        users: row.users,
        mix: Mix::new(book, cancel)?,
        property: "bench".to_owned(),
    };
    joined(thread::spawn(move || {
        pin::pin(pin::CLIENT_CORE)?;
        let guests = (0..config.users).map(|user| Guest::new(&config, user, number));
        Ok(pace::run(&config.pace, guests.collect(), &mut |_| {})?)
    }))
}

/// How many requests were answered. Users ask for what nobody has: anything but `done` is wrong.
fn answered(totals: &Totals<Guest>) -> Result<u32> {
    let mut done = 0;
    for operation in &totals.tally.operations {
        let (refused, errors) = (operation.refused.by_word(), operation.errors.by_word());
        let fine = refused.is_empty() && errors.is_empty() && operation.unknown == 0;
        ensure!(
            fine,
            "{}: refused {refused:?}, errors {errors:?}",
            operation.name
        );
        done += operation.done;
    }
    ensure!(done > 0, "nothing was done");
    Ok(u32::try_from(done)?)
}

/// The journal beside each database, at the users with which the ancestor's MySQL was at its end.
fn compare(section: &mut Section, rows: &[Row]) {
    const MANY: usize = 300;
    for mix in MIXES {
        let at = |home| {
            let row = |row: &Row| row.home == home && row.mix == mix && row.users == MANY;
            rows.iter().position(row).expect("each home has all rows")
        };
        for home in HOMES.into_iter().skip(1) {
            let target = format!("{}, {MANY} users: rate of the journal / {home}", mix.0);
            let pair = (at(Home::Embedded), at(home));
            section.claim(&target, RATE, pair, Bound::None);
        }
    }
}
