//! Bookings through the back end of PostgreSQL, beside pgbench with the same function.

use std::{fs, path::PathBuf, sync::Arc, time::Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::{runtime, task::JoinSet};
use turnstile_contract::{Backend as _, Request};
use turnstile_postgres::Postgres;
use turnstile_rooms::{Command, GuestName, IdNumber, Outcome, Rooms, Wish};
use turnstile_seed::Random;
use turnstile_trial::PostgresServer;
use turnstile_types::{Name, Night, Principal, Stay, Timestamp};

use crate::{
    driver::run,
    ground::{Ground, tell},
    pin,
    process::Neighbours,
    ratio::Bound,
    section::{Figure, Section, Subject},
};

const RATE: &str = "bookings/s";

/// We may take a quarter more than the database by itself.
const SHARE_MIN: f64 = 0.8;

/// Connections of pgbench at most: as many as the back end has.
const CONNECTIONS_MAX: u32 = 8;

/// Rooms among which the bookings fall, each for one of so many nights: refusals are rare.
const ROOMS: u64 = 1_000_000;
const NIGHTS: u64 = 300;
const FIRST_NIGHT: u64 = 20_000;

/// Callers, and how many bookings each sends at a time.
const POINTS: [(&str, u32, u32); 4] = [
    ("1 caller x 1", 1, 1),
    ("64 callers x 1", 64, 1),
    ("1 caller x 128", 1, 128),
    ("8 callers x 128", 8, 128),
];

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    pin::pin(pin::CLIENT_CORE)?;
    let mut subjects = Vec::new();
    for (name, callers, batch) in POINTS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ground.rounds() {
            let our = sample(ground, callers, batch)?;
            let their = ceiling(ground, callers.min(CONNECTIONS_MAX), batch)?;
            tell(&format!("{name}: {our:.0}/s, pgbench {their:.0}/s"))?;
            ours.push(our);
            theirs.push(their);
        }
        for (whose, values) in [("our back end", ours), ("pgbench", theirs)] {
            let figures = vec![Figure { name: RATE, values }];
            subjects.push(Subject {
                name: format!("{whose}, {name}"),
                figures,
            });
        }
    }
    let mut section = Section {
        title: "Rooms in PostgreSQL, beside pgbench",
        setting: format!(
            "{} rounds of {} s, each with a new server as it comes (fsync and synchronous_commit \
             on), on a core of its own. Bookings of one night among a million rooms; pgbench calls \
             the same function with the same commands, over at most {CONNECTIONS_MAX} connections",
            ground.rounds(),
            seconds(ground)
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects,
        claims: Vec::new(),
    };
    for (number, (name, ..)) in POINTS.iter().enumerate() {
        let target = format!("{name}: rate of our back end / pgbench");
        let pair = (2 * number, 2 * number + 1);
        section.claim(&target, RATE, pair, Bound::AtLeast(SHARE_MIN));
    }
    Ok(section)
}

const fn seconds(ground: &Ground) -> u32 {
    if ground.quick { 2 } else { 5 }
}

/// A server on the server's core, and the address of a database with the property `bench`.
fn start() -> Result<(PostgresServer, String)> {
    let server = PostgresServer::start();
    let mut taskset = std::process::Command::new("taskset");
    taskset.args(["-a", "-p", "-c", &pin::SERVER_CORE.to_string()]);
    run(taskset.arg(server.pid().to_string()))?;
    let url = server.database();
    Ok((server, url))
}

fn name(text: &str) -> Result<Name> {
    Ok(Name::parse(text.as_bytes())?)
}

fn now() -> Result<Timestamp> {
    let since = std::time::UNIX_EPOCH
        .elapsed()
        .context("the clock is before 1970")?;
    Ok(Timestamp(u64::try_from(since.as_millis())?))
}

async fn open(url: &str) -> Result<Postgres<Rooms>> {
    let backend = Postgres::open(url).await?;
    let add = Command::AddProperty {
        property: name("bench")?,
        open: true,
    };
    let add = Request::new::<Rooms>(Principal::local(), None, &add);
    for result in backend.execute(now()?, &[add]).await {
        ensure!(
            matches!(result?.outcome, Outcome::Done(_)),
            "no property is made"
        );
    }
    Ok(backend)
}

/// Bookings a second through our back end.
fn sample(ground: &Ground, callers: u32, batch: u32) -> Result<f64> {
    let (_server, url) = start()?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let backend = Arc::new(open(&url).await?);
        let begin = Instant::now();
        let end = begin + std::time::Duration::from_secs(seconds(ground).into());
        let mut tasks = JoinSet::new();
        for caller in 0..callers {
            let backend = Arc::clone(&backend);
            tasks.spawn(async move {
                let mut random = Random::new(caller.into());
                let mut done = 0_u32;
                while Instant::now() < end {
                    let bookings: Result<Vec<Request>> =
                        (0..batch).map(|_| booking(&backend, &mut random)).collect();
                    for result in backend.execute(now()?, &bookings?).await {
                        result?;
                        done += 1;
                    }
                }
                anyhow::Ok(done)
            });
        }
        let mut done = 0;
        while let Some(of_one) = tasks.join_next().await {
            done += of_one??;
        }
        Ok(f64::from(done) / begin.elapsed().as_secs_f64())
    })
}

fn booking(backend: &Postgres<Rooms>, random: &mut Random) -> Result<Request> {
    let arrival = u16::try_from(FIRST_NIGHT + random.below(NIGHTS))?;
    let night = Night::from_days;
    let command = Command::Book {
        property: name("bench")?,
        wish: Wish::Room(name(&format!("room:{}", random.below(ROOMS)))?),
        stay: Stay::new(night(arrival), night(arrival + 1))?,
        guest: GuestName::parse(b"ada")?,
        id: backend
            .id_key()
            .seal(IdNumber::parse(b"234123412346", false)?),
    };
    Ok(Request::new::<Rooms>(Principal::local(), None, &command))
}

/// Bookings a second of the database by itself.
fn ceiling(ground: &Ground, connections: u32, batch: u32) -> Result<f64> {
    let (_server, url) = start()?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    drop(runtime.block_on(open(&url))?);
    let script: PathBuf = ground.scratch.join(format!("turnstile-bench-{batch}.sql"));
    fs::write(&script, script_of(batch))?;
    let mut pgbench = pin::command(pin::CLIENT_CORE, "/usr/lib/postgresql/15/bin/pgbench");
    pgbench.args([
        "-n",
        "-M",
        "prepared",
        "-j",
        "1",
        "-c",
        &connections.to_string(),
    ]);
    pgbench
        .args(["-T", &seconds(ground).to_string(), "-f"])
        .arg(&script)
        .arg(&url);
    let ran = run(&mut pgbench);
    fs::remove_file(&script)?;
    let (said, _cpu) = ran?;
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "));
    let rate = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<f64>().ok());
    let rate = rate.with_context(|| format!("pgbench said: {said}"))?;
    Ok(rate * f64::from(batch))
}

/// One transaction of so many bookings.
fn script_of(batch: u32) -> String {
    format!(
        "SELECT position, (outcome).answer, (outcome).reference FROM rooms.execute(now(), ( \
         SELECT array_agg(ROW('book', 'local', NULL, NULL, 'bench', 'room', \
         'room:' || floor(random() * {ROOMS})::int, night, night + 1, NULL, NULL, NULL, NULL, \
         NULL, 'ada', 1, 2346)::rooms.command) \
         FROM (SELECT {FIRST_NIGHT} + floor(random() * {NIGHTS})::int AS night \
         FROM generate_series(1, {batch})) one));\n"
    )
}
