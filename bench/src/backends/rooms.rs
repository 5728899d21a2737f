//! Both of the ancestor's workloads on every back end, for one user and for many.

use std::{collections::BTreeSet, time::Duration};

use anyhow::Result;
use turnstile_load::rooms::Mix;

use super::{
    home::{Databases, Home},
    visit::{self, RATE, Sample, Visit},
};
use crate::{
    ground::{Ground, tell},
    process::Neighbours,
    ratio::Bound,
    section::{Section, Subject},
    server::Persistence,
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
        (
            ROUNDS,
            Duration::from_millis(300),
            Duration::from_millis(1_200),
        )
    };
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let databases = Databases::default();
    let (rows, mut settings) = (rows(), BTreeSet::new());
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); rows.len()];
    for round in 0..rounds {
        for turn in 0..rows.len() {
            let at = (turn + round) % rows.len();
            let Row { home, mix, users } = rows[at];
            let visit = Visit {
                mix: Mix::new(mix.1, mix.2)?,
                users,
                warm_up,
                window,
            };
            let (sample, durability) = visit::sample(ground, &databases, home, visit)?;
            tell(&format!("{}, {users} users, {home}: {sample}", mix.0))?;
            settings.insert(durability);
            samples[at].push(sample);
        }
    }
    drop(databases);
    let settings: Vec<String> = settings.into_iter().collect();
    let subjects = rows.iter().zip(&samples).map(|(row, samples)| Subject {
        name: format!("{}, {} users, {}", row.mix.0, row.users, row.home),
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
