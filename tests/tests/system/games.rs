//! SIGKILL of an arena and of its scores while pairs play: every result that players were told stands,
//! and none is counted twice.

pub(crate) mod pair;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt as _, rngs::ThreadRng};
use tempfile::TempDir;
use turnstile_tests::{Turnstile, run};

use crate::{
    crash::listing::{ask, connect},
    travel::glance,
};
use pair::Pair;

const ARENA: usize = 0;
const SCORES: usize = 1;
const ROLES: [&str; 2] = ["arena", "scores"];

const PAIRS: u32 = 6;
const KILLS: u32 = 15;

/// The most games that are told between two kills.
const GAMES_MAX: u64 = 40;

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a player may be missed: short, for nobody can come back to a game on this wire.
const GRACE_MS: &str = "20";

/// Both, at an address of the loopback that is theirs alone.
struct House {
    folder: TempDir,
    host: Ipv4Addr,
    processes: [Option<Turnstile>; 2],
}

impl House {
    fn open() -> Self {
        let [high, low] = u16::try_from(process::id() % 0x4000)
            .expect("14 bits")
            .to_be_bytes();
        let mut house = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            host: Ipv4Addr::new(127, 192 + high, low, 1),
            processes: [None, None],
        };
        for role in [SCORES, ARENA] {
            house.start(role);
        }
        house
    }

    fn address(&self, role: usize) -> SocketAddr {
        (self.host, [21_282, 21_538][role]).into()
    }

    fn data(&self, role: usize) -> PathBuf {
        self.folder.path().join(ROLES[role])
    }

    fn start(&mut self, role: usize) {
        let [arena, scores] = [ARENA, SCORES].map(|role| self.address(role).to_string());
        let arguments: &[&str] = if role == ARENA {
            &["--games-arena", &arena, "--scores", &scores]
        } else {
            &["--games-scores", &scores]
        };
        let common = ["--role", ROLES[role], "--games-grace-ms", GRACE_MS];
        let arguments: Vec<String> = common
            .iter()
            .chain(arguments)
            .map(|word| (*word).to_owned())
            .collect();
        let ready = Turnstile::begin(&self.data(role), &arguments).ready();
        assert!(self.processes[role].replace(ready).is_none());
    }

    fn kill(&mut self, role: usize) {
        self.processes[role].take().expect("it runs").kill();
    }

    /// A figure of `INFO games`.
    fn figure(&self, role: usize, name: &str) -> u64 {
        let process = self.processes[role].as_ref().expect("it runs");
        let mut door = connect(process.resp()).expect("its door is open");
        let info = ask(&mut door, &["INFO", "games"]).expect("it tells of itself");
        let info = info.as_str().unwrap_or_default();
        let mut facts = info.lines().filter_map(|line| line.split_once(':'));
        let fact = facts.find_map(|(key, value)| (key == name).then_some(value));
        fact.and_then(|fact| fact.trim().parse().ok())
            .unwrap_or_else(|| panic!("no {name} in {info}"))
    }

    /// Stops both; what verification and a recount say of what they leave.
    fn stop(&mut self) -> String {
        for process in &mut self.processes {
            let status = process.take().expect("it runs").stop();
            assert!(status.success(), "{status}");
        }
        for role in [ARENA, SCORES] {
            let verdict = run(&["verify"], &self.data(role));
            assert!(verdict.status.success(), "{verdict:?}");
        }
        let recounted = run(&["games", "recount"], &self.data(SCORES));
        assert!(recounted.status.success(), "{recounted:?}");
        String::from_utf8_lossy(&recounted.stdout).into_owned()
    }
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        glance();
    }
}

#[test]
fn an_arena_and_scores_that_are_killed_under_load_keep_every_result_once() {
    let mut house = House::open();
    let (stops, told) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let pairs: Vec<_> = (0..PAIRS)
        .map(|number| {
            let (stops, told) = (Arc::clone(&stops), Arc::clone(&told));
            let arena = house.address(ARENA);
            let mut pair = Pair::new([arena; 2], [2 * number + 1, 2 * number + 2]);
            thread::spawn(move || {
                pair.play(&stops, &told);
                pair
            })
        })
        .collect();
    let mut rng = ThreadRng::default();
    for kill in 0..KILLS {
        let enough = told.load(Ordering::Relaxed) + rng.random_range(0..=GAMES_MAX);
        until("games are told", || told.load(Ordering::Relaxed) >= enough);
        // One after the other, and every third time both.
        let roles: &[usize] = match kill % 3 {
            0 => &[ARENA],
            1 => &[SCORES],
            _ => &[ARENA, SCORES],
        };
        for &role in roles {
            house.kill(role);
        }
        for &role in roles.iter().rev() {
            house.start(role);
        }
    }
    stops.store(true, Ordering::Relaxed);
    let pairs: Vec<Pair> = pairs
        .into_iter()
        .map(|pair| pair.join().expect("a pair plays well"))
        .collect();
    until("every result is delivered", || {
        house.figure(ARENA, "games_open_matches") == 0
            && house.figure(ARENA, "games_unreported") == 0
    });
    // Each pair stopped when it was told, and has begun nothing since: every match that ever began
    // came to one result, unless its players left before the first move.
    let counted: u64 = pairs.iter().map(Pair::counted).sum();
    let unmoved: u64 = pairs.iter().map(Pair::unmoved).sum();
    let begun = house.figure(ARENA, "games_matches_total");
    let (least, most) = (counted, counted + unmoved);
    assert!(
        (least..=most).contains(&begun),
        "{least} <= {begun} <= {most}"
    );
    let expected = format!("{counted} results, counted again after position 0: 0 differences\n");
    assert_eq!(house.stop(), expected);
    let told = told.load(Ordering::Relaxed);
    assert!(
        counted > told,
        "no kill fell into a game: {counted} counted, {told} told"
    );
}
