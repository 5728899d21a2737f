//! The ancestor's transaction of nine requests over five processes, by one client that waits for
//! each answer.

use anyhow::Result;

use crate::{
    driver::{Managers, REQUESTS},
    ground::Ground,
    pin::SERVER_CORE,
    probe::Probe,
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::Section,
};

use super::one_client::{CORES, Run, TRANSACTIONS, probe, run, subject};

/// What the ancestor took for a transaction over separate processes, in microseconds, and the part
/// of it that we promise.
const ANCESTOR_US: f64 = 9_430.0;
const PART: f64 = 0.2;

/// Round trips between the middleware and a desk, one after the other: a query of the customer,
/// three queries, three reservations with the bill of each, and the votes.
const LINE_ROUND_TRIPS: f64 = 11.0;

/// Syncs one after the other: the votes of all desks, then the decision.
pub(super) const SYNCS: f64 = 2.0;

/// Subjects of one placement: one manager, three managers, the floor.
const EACH: usize = 3;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); EACH * CORES.len()];
    for _ in 0..ground.rounds() {
        for (place, &(_, core)) in CORES.iter().enumerate() {
            let runs = &mut runs[EACH * place..];
            let raw = Raw::around(ground, core, || {
                runs[0].push(run(&ground.start_travel(true)?, Managers::One, core)?);
                runs[1].push(run(&ground.start_travel(true)?, Managers::Three, core)?);
                Ok(())
            })?;
            runs[2].push(floor(&raw));
        }
    }
    let names = CORES.iter().flat_map(|(place, _)| {
        [
            "turnstile sync, one manager and customers",
            "turnstile sync, three managers and customers",
            "raw syncs + raw loopback round trips",
        ]
        .map(|name| format!("{name}, {place}"))
    });
    let subjects = names.zip(&runs);
    let mut section = Section {
        title: "One client, nine requests, five processes",
        setting: format!(
            "A middleware and four desks, each a process with a journal of its own, all on the \
             servers' core; 1 connection to the lines door x 1 under way, {TRANSACTIONS} \
             transactions, {} rounds. The floor: {REQUESTS} loopback round trips to the client, \
             {LINE_ROUND_TRIPS} on one core between middleware and desks, {SYNCS} syncs in series; \
             syncs are those of all five together, the votes' at once",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects.map(|(name, runs)| subject(&name, runs)).collect(),
        claims: Vec::new(),
    };
    for ((place, _), runs) in CORES.iter().zip(runs.chunks(EACH)) {
        claim(&mut section, place, runs);
    }
    Ok(section)
}

fn claim(section: &mut Section, place: &str, runs: &[Vec<Run>]) {
    let times = |runs: &Vec<Run>| runs.iter().map(|run| run[0]).collect::<Vec<f64>>();
    let floor = times(&runs[2]);
    let ancestor = vec![ANCESTOR_US; floor.len()];
    for (who, runs) in ["one manager", "three managers"].iter().zip(runs) {
        let target =
            format!("five processes, {who}, {place}: a transaction / the ancestor's 9.43 ms");
        let ratio = Ratio::of(&times(runs), &ancestor);
        section.claim_ratio(&target, ratio, Bound::AtMost(PART));
        let target = format!("five processes, {who}, {place}: a transaction / floor");
        let ratio = Ratio::of(&times(runs), &floor);
        section.claim_ratio(&target, ratio, Bound::None);
    }
}

/// What a transaction costs that does nothing but travel and be made durable.
fn floor(raw: &Raw) -> Run {
    let Raw { client, line, sync } = raw;
    let requests = f64::from(u32::try_from(REQUESTS).expect("nine"));
    [
        requests * client + LINE_ROUND_TRIPS * line + SYNCS * sync,
        *client,
        client + line,
        client + 2.0 * line,
        client + line + SYNCS * sync,
        SYNCS,
    ]
}

/// What the bare machine does, in microseconds: the middle of what it did before and after.
pub(super) struct Raw {
    /// A round trip to the client.
    pub(super) client: f64,
    /// A round trip between two processes on the servers' core.
    pub(super) line: f64,
    pub(super) sync: f64,
}

impl Raw {
    /// Has this measured between two probes, with the client on that core.
    pub(super) fn around(
        ground: &Ground,
        client_core: usize,
        measure: impl FnOnce() -> Result<()>,
    ) -> Result<Self> {
        let probes = || anyhow::Ok([probe(ground, client_core)?, probe(ground, SERVER_CORE)?]);
        let before = probes()?;
        measure()?;
        let after = probes()?;
        let middle =
            |at: usize, what: fn(&Probe) -> f64| f64::midpoint(what(&before[at]), what(&after[at]));
        Ok(Self {
            client: middle(0, |probe| probe.loopback_p50_us),
            line: middle(1, |probe| probe.loopback_p50_us),
            sync: middle(0, |probe| probe.sync_p50_us),
        })
    }
}
