//! What clients of several nodes were told, judged by us and by an outside checker: some order explains all of it.

mod fault;
mod faults;
mod guest;
mod history;
mod trades;
mod wired;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use rand::{SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use turnstile_brokers::{Brokers, BrokersSetup};
use turnstile_tests::Turnstile;

use self::{
    fault::Fault,
    faults::Trial,
    guest::{Guest, open},
    history::{PLANTED, judge, outside, told},
};
use crate::{
    cluster::{NodePlace, server, start_all},
    cluster_scene::{self, ClusterScene},
    crash::books::Books as _,
};

/// Answers before, during and after the kills.
const ANSWERS: usize = 600;

/// A round ends before its holds do.
const ROUND: Duration = Duration::from_secs(540);

/// Names the night run. A value other than `1` names kinds of faults, such as `ClockJumps,PowerCut`, to
/// try those alone.
const NIGHT: &str = "TURNSTILE_TEST_NIGHT";

/// Faults of a night run.
const FAULTS: usize = 200;

/// Faults of a run, the last one first: by day a few that last short, and by night everything again and
/// again.
fn faults() -> Vec<Fault> {
    let Some(night) = std::env::var_os(NIGHT) else {
        return vec![Fault::NodePaused, Fault::NodeCutOff, Fault::FollowerPaused];
    };
    let named: Vec<String> = night
        .to_string_lossy()
        .split(',')
        .map(str::to_owned)
        .collect();
    let is_named = |fault: &Fault| named.contains(&format!("{fault:?}"));
    let wanted: Vec<Fault> = Fault::ALL.into_iter().filter(is_named).collect();
    if !wanted.is_empty() {
        return wanted;
    }
    let mut faults = Vec::new();
    while faults.len() < FAULTS {
        let mut all = Fault::ALL;
        all.shuffle(&mut StdRng::seed_from_u64(faults.len() as u64));
        faults.extend(all);
    }
    faults
}

/// What was seen of each kind of fault.
type Seen = BTreeMap<Fault, Vec<Duration>>;

/// New nodes and brokers, to which as many of the faults happen as fit in a round; how many requests were
/// answered.
#[expect(
    clippy::print_stdout,
    reason = "whoever runs a night sees where it stands"
)]
fn round(seed: u64, faults: &mut Vec<Fault>, seen: &mut Seen) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scene = ClusterScene::new(3, seed);
    let rng = StdRng::seed_from_u64(seed);
    let mut trial = Trial::start(folder.path(), &scene, (&server(), rng));
    let begin = Instant::now();
    let history = scene.while_clients_ask::<Guest>(|| {
        while begin.elapsed() < ROUND
            && let Some(fault) = faults.pop()
        {
            if trial.can(fault) {
                println!("round {seed}, {} s: {fault}", begin.elapsed().as_secs());
                let gap = trial.strike(fault);
                println!("    longest without an answer: {:.2} s", gap.as_secs_f64());
                seen.entry(fault).or_default().push(gap);
                keep(seen);
            }
        }
    });
    let mut books = judge(&history);
    assert_eq!(outside(&told(&history)), "ok\n", "seed {seed}");
    trial.compare(&history, &mut books);
    history.len()
}

/// Keeps what was seen where a night run can be read in the morning.
fn keep(seen: &Seen) {
    let mut page = "| fault | times | longest without an answer to anybody, s: median | worst |\n\
                    | --- | ---: | ---: | ---: |\n"
        .to_owned();
    for (fault, gaps) in seen {
        let mut gaps = gaps.clone();
        gaps.sort();
        let (median, worst) = (gaps[gaps.len() / 2], gaps[gaps.len() - 1]);
        let row = format!(
            "| {fault} | {} | {:.2} | {:.2} |",
            gaps.len(),
            median.as_secs_f64(),
            worst.as_secs_f64()
        );
        writeln!(page, "{row}").expect("a text grows");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cluster-faults.md");
    fs::write(file, page).expect("the folder of tests");
}

#[test]
fn nothing_is_lost_or_sold_twice_whatever_fails() {
    let (mut faults, mut answers, mut seen) = (faults(), 0, Seen::new());
    let all = faults.len();
    for seed in 1.. {
        answers += round(seed, &mut faults, &mut seen);
        if faults.is_empty() {
            break;
        }
    }
    assert!(answers > 100 * all, "{answers} answers, {all} faults");
}

#[test]
fn an_outside_judge_explains_what_clients_of_three_nodes_were_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let started = Brokers::start(&server(), folder.path(), &BrokersSetup::of(3));
    let mut brokers = started.expect("brokers start");
    let scene = ClusterScene::new(3, 1);
    let places = [0, 1, 2].map(|number| NodePlace::of(folder.path(), &brokers, number));
    let mut nodes = start_all(&places);
    for (number, node) in nodes.iter().enumerate() {
        scene.set(number, Some(node.resp()));
    }
    open(nodes[0].resp());
    let history = scene.while_clients_ask::<Guest>(|| {
        scene.must_see(ANSWERS);
        // What was under way at this node is asked again at the others.
        scene.set(2, None);
        nodes.pop().expect("three run").kill();
        brokers.kill(1);
        scene.must_see(ANSWERS);
        brokers.restart(1).expect("a broker starts again");
        let node = places[2].start();
        scene.set(2, Some(node.resp()));
        nodes.push(node);
        scene.must_see(ANSWERS);
    });
    let mut books = judge(&history);
    assert_eq!(outside(&told(&history)), "ok\n");
    for node in &nodes {
        let mut connection = cluster_scene::connect(node.resp()).expect("a node");
        let compared = books.compare(&mut connection);
        compared.unwrap_or_else(|why| panic!("{why}"));
    }
}

/// The outside judge finds what a faulty server would do: its word is worth something.
#[test]
fn faults_that_are_planted_in_a_history_are_found_by_the_outside_judge() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let alone = Turnstile::serve(folder.path(), "sync");
    open(alone.resp());
    let scene = ClusterScene::new(1, 7);
    scene.set(0, Some(alone.resp()));
    let history = scene.while_clients_ask::<Guest>(|| scene.must_see(4_000));
    judge(&history);
    let right = told(&history);
    assert_eq!(outside(&right), "ok\n");
    for (fault, plant) in PLANTED {
        let mut wrong = right.clone();
        assert!(plant(&mut wrong), "there is no place for: {fault}");
        let verdict = outside(&wrong);
        assert!(
            verdict.starts_with("not linearizable"),
            "{fault}: {verdict}"
        );
    }
}
