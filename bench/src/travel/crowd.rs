//! 64 clients, beside `PREPARE TRANSACTION` and `COMMIT PREPARED` of Postgres.

use anyhow::Result;

use crate::{
    contest::{self, Contender},
    driver::{Journey, Load, Managers, Places, REQUESTS, Speech, Work, World, travel},
    ground::{Ground, tell},
    process::Neighbours,
    ratio::Bound,
    section::{Figure, Section, Subject},
    server::{Durability, Kind},
};

use super::postgres::{self, Postgres};

const CLIENTS: u32 = 64;

/// Not measured: a new server still prepares its first segments, and finds cold caches.
const WARM_UP: u32 = 5_000;

const RATE: &str = "transactions/s";

/// What all clients do at once.
#[derive(Clone, Copy, Debug)]
enum Way {
    Nine(Managers),
    OneCommand,
    Postgres(postgres::Script),
}

const WAYS: [(&str, Way); 6] = [
    (
        "turnstile sync, nine requests, three managers",
        Way::Nine(Managers::Three),
    ),
    ("turnstile sync, TRAVEL.BOOK", Way::OneCommand),
    (
        "postgres, nine requests, prepared and committed",
        Way::Postgres(postgres::Script::Nine),
    ),
    (
        "postgres, one function, prepared and committed",
        Way::Postgres(postgres::Script::One),
    ),
    (
        "postgres, nine requests, plain commit",
        Way::Postgres(postgres::Script::NinePlain),
    ),
    (
        "postgres, one function, plain commit",
        Way::Postgres(postgres::Script::OnePlain),
    ),
];

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let postgres = Postgres::start(&ground.scratch, World::KEYS)?;
    let mut rates = vec![Vec::new(); WAYS.len()];
    for round in 0..ground.rounds() {
        for turn in 0..WAYS.len() {
            let at = (turn + round) % WAYS.len();
            let rate = sample(ground, &postgres, WAYS[at].1)?;
            tell(&format!("{CLIENTS} clients, {}: {rate:.0}/s", WAYS[at].0))?;
            rates[at].push(rate);
        }
    }
    drop(postgres);
    let subjects = WAYS.iter().zip(rates);
    let mut section = Section {
        title: "64 clients, beside Postgres",
        setting: format!(
            "{CLIENTS} connections x 1 under way, {} rounds, everybody with places of their own. \
             Postgres as it comes, but for max_prepared_transactions; its statements are calls of \
             functions whose plans are kept, sent by pgbench",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects
            .map(|((name, _), values)| Subject {
                name: (*name).to_owned(),
                figures: vec![Figure { name: RATE, values }],
            })
            .collect(),
        claims: Vec::new(),
    };
    for (target, pair, bound) in [
        (
            "nine requests: rate / Postgres, prepared",
            (0, 2),
            Bound::AtLeast(10.0),
        ),
        (
            "one command: rate / Postgres, one function, prepared",
            (1, 3),
            Bound::AtLeast(10.0),
        ),
        (
            "one command: rate / nine requests of Postgres, prepared",
            (1, 2),
            Bound::None,
        ),
        (
            "nine requests: rate / Postgres, plain commit",
            (0, 4),
            Bound::None,
        ),
        (
            "one command: rate / Postgres, one function, plain commit",
            (1, 5),
            Bound::None,
        ),
    ] {
        section.claim(&format!("64 clients, {target}"), RATE, pair, bound);
    }
    Ok(section)
}

fn sample(ground: &Ground, postgres: &Postgres, way: Way) -> Result<f64> {
    let kind = Kind::Turnstile(Durability::Sync);
    let transactions: u32 = if ground.quick { 40_000 } else { 100_000 };
    let load = |requests| Load {
        connections: CLIENTS,
        depth: 1,
        requests,
        seconds: 0,
    };
    match way {
        Way::Nine(managers) => {
            let server = ground.start(kind)?;
            World::make(server.lines())?;
            let journey = Journey {
                managers,
                places: Places::Own,
            };
            let requests = u32::try_from(REQUESTS)?;
            travel(journey, &server, load(WARM_UP * requests))?;
            Ok(travel(journey, &server, load(transactions * requests))?.rate())
        }
        Way::OneCommand => {
            let contender = Contender {
                kind,
                work: Work::Speech(Speech::Itineraries(Places::Own)),
            };
            Ok(contest::sample(ground, contender, load(4 * transactions))?.rate)
        }
        Way::Postgres(script) => {
            let seconds = if ground.quick { 2 } else { 5 };
            postgres.drive(script, CLIENTS, seconds)
        }
    }
}
