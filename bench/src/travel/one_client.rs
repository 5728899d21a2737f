//! The ancestor's transaction of nine requests, by one client that waits for each answer.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use crate::{
    driver::{LinesClient, Managers, REQUESTS, World, done, put_line, started},
    ground::{Ground, tell},
    pin::{CLIENT_CORE, SERVER_CORE, pin},
    probe::{Probe, joined, median_us},
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
    server::Company,
};

/// Measured in one run.
pub(super) const TRANSACTIONS: u32 = 2_000;

/// Not measured: the first find cold caches.
const WARM_UP: u32 = 100;

/// What the ancestor took for a transaction at one manager, in microseconds.
const ANCESTOR_US: f64 = 5_020.0;

const FIGURES: [&str; 6] = [
    "transaction, us",
    "start, us",
    "query, us",
    "reserve, us",
    "commit, us",
    "syncs/transaction",
];

/// The figures of one run, in their order.
pub(super) type Run = [f64; FIGURES.len()];

/// Where the client runs. Which it is decides more than everything else: waking another core that
/// sleeps takes longer than most requests.
pub(super) const CORES: [(&str, usize); 2] = [
    ("each end on a core of its own", CLIENT_CORE),
    ("both ends on one core", SERVER_CORE),
];

/// The same two, and the first with a server that looks for the next request for longer than a client
/// takes to send it: only the client has to be woken then.
const WAYS: [(&str, usize, &[&str]); 3] = [
    (CORES[0].0, CORES[0].1, &[]),
    (
        "each end on a core of its own, --busy-poll-us 500",
        CLIENT_CORE,
        &["--busy-poll-us", "500"],
    ),
    (CORES[1].0, CORES[1].1, &[]),
];

/// Subjects of one placement: one manager, three managers, the floor.
const EACH: usize = 3;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); EACH * WAYS.len()];
    for _ in 0..ground.rounds() {
        for (place, &(_, core, more)) in WAYS.iter().enumerate() {
            let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
            let start = || ground.start_with(&more).map(Company::of_one);
            let runs = &mut runs[EACH * place..];
            let before = probe(ground, core)?;
            runs[0].push(run(&start()?, Managers::One, core)?);
            runs[1].push(run(&start()?, Managers::Three, core)?);
            runs[2].push(floor(&before, &probe(ground, core)?));
        }
    }
    let names = WAYS.iter().flat_map(|(place, ..)| {
        [
            "turnstile sync, one manager",
            "turnstile sync, three managers in one process",
            "raw sync + raw loopback round trips",
        ]
        .map(|name| format!("{name}, {place}"))
    });
    let names: Vec<String> = names.collect();
    let subjects = names.iter().zip(&runs);
    let mut section = Section {
        title: "One client, nine requests",
        setting: format!(
            "1 connection to the lines door x 1 under way, {TRANSACTIONS} transactions, {} rounds; \
             a request's time is the median, a transaction's the median of whole transactions. No \
             server that sleeps between requests is faster than the raw sync and round trips are, \
             in which two sleepers wake each other",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects.map(|(name, runs)| subject(name, runs)).collect(),
        claims: Vec::new(),
    };
    for ((place, ..), runs) in WAYS.iter().zip(runs.chunks(EACH)) {
        claim(&mut section, place, runs);
    }
    let ours = runs
        .chunks(EACH)
        .flat_map(|runs| runs[..2].iter().flatten());
    let syncs = ours.map(|run| run[5]);
    let syncs = Ratio::spread(&syncs.collect::<Vec<f64>>());
    section.claim_ratio("syncs for a transaction", syncs, Bound::AtMost(1.05));
    Ok(section)
}

pub(super) fn probe(ground: &Ground, client_core: usize) -> Result<Probe> {
    if client_core == SERVER_CORE {
        Probe::take_on_one_core(&ground.scratch)
    } else {
        ground.probe()
    }
}

pub(super) fn subject(name: &str, runs: &[Run]) -> Subject {
    let figures = FIGURES.iter().enumerate();
    Subject {
        name: name.to_owned(),
        figures: figures
            .map(|(at, name)| Figure {
                name,
                values: runs.iter().map(|run| run[at]).collect(),
            })
            .collect(),
    }
}

fn claim(section: &mut Section, place: &str, runs: &[Vec<Run>]) {
    let times = |runs: &Vec<Run>| runs.iter().map(|run| run[0]).collect::<Vec<f64>>();
    let floor = times(&runs[2]);
    let ancestor = vec![ANCESTOR_US; floor.len()];
    for (who, runs) in ["one manager", "three managers in one process"]
        .iter()
        .zip(runs)
    {
        let target = format!("{who}, {place}: a transaction / the ancestor's 5.02 ms");
        let ratio = Ratio::of(&times(runs), &ancestor);
        section.claim_ratio(&target, ratio, Bound::AtMost(0.1));
        let target = format!("{who}, {place}: a transaction / (raw sync + 9 raw loopback)");
        let ratio = Ratio::of(&times(runs), &floor);
        section.claim_ratio(&target, ratio, Bound::None);
    }
    let target = format!("{place}: (raw sync + 9 raw loopback) / the ancestor's 5.02 ms");
    section.claim_ratio(&target, Ratio::of(&floor, &ancestor), Bound::None);
}

/// What a transaction costs that does nothing but travel and be made durable once.
fn floor(before: &Probe, after: &Probe) -> Run {
    let loopback = f64::midpoint(before.loopback_p50_us, after.loopback_p50_us);
    let sync = f64::midpoint(before.sync_p50_us, after.sync_p50_us);
    let requests = f64::from(u32::try_from(REQUESTS).expect("nine"));
    [
        requests * loopback + sync,
        loopback,
        loopback,
        loopback,
        loopback + sync,
        1.0,
    ]
}

/// What each request takes at servers that have nothing in them yet.
pub(super) fn run(company: &Company, managers: Managers, client_core: usize) -> Result<Run> {
    let lines = company.lines();
    World::make(lines)?;
    let mut client = LinesClient::connect(lines)?;
    transactions(&mut client, managers, WARM_UP)?;
    let groups = company.groups()?;
    let client = thread::spawn(move || {
        pin(client_core)?;
        transactions(&mut client, managers, TRANSACTIONS)
    });
    let times = joined(client)?;
    let syncs = syncs(company, groups)?;
    let steps = |steps: &[usize]| {
        let times = steps
            .iter()
            .flat_map(|&step| times.iter().map(move |one| one[step]));
        median_us(times.collect())
    };
    let whole = times.iter().map(|one| one.iter().sum());
    let run = [
        median_us(whole.collect()),
        steps(&[0]),
        steps(&[1, 2, 4, 6]),
        steps(&[3, 5, 7]),
        steps(&[8]),
        syncs,
    ];
    tell(&format!(
        "One client on core {client_core}, {managers}: {:.1} us",
        run[0]
    ))?;
    Ok(run)
}

/// How often the servers have synced for each transaction.
fn syncs(company: &Company, before: u64) -> Result<f64> {
    let groups = u32::try_from(company.groups()? - before)?;
    Ok(f64::from(groups) / f64::from(TRANSACTIONS))
}

/// The times of all requests of so many transactions.
fn transactions(
    client: &mut LinesClient,
    managers: Managers,
    count: u32,
) -> Result<Vec<[Duration; REQUESTS]>> {
    (0..count)
        .map(|number| transaction(client, managers, number % World::KEYS))
        .collect()
}

fn transaction(
    client: &mut LinesClient,
    managers: Managers,
    key: u32,
) -> Result<[Duration; REQUESTS]> {
    let mut times = [Duration::ZERO; REQUESTS];
    let (mut xid, mut line) = (0, Vec::new());
    for (step, time) in times.iter_mut().enumerate() {
        line.clear();
        put_line(
            &mut line,
            managers,
            (step, xid),
            (World::customer(key), [key; 3]),
        );
        let begin = Instant::now();
        let answer = client.ask_bytes(&line)?;
        *time = begin.elapsed();
        let is_done = answer.starts_with(done(step)) && !answer.contains("could not");
        ensure!(is_done, "step {step}: {answer}");
        if step == 0 {
            xid = started(&answer)?;
        }
    }
    Ok(times)
}
