//! SIGKILL under load: what was answered is there, what was not has happened once or not at all.

use std::time::{Duration, Instant};

use rand::RngExt as _;
use turnstile_tests::{Turnstile, run};

use super::books::Books;
use super::box_office::BoxOffice;
use super::directory::{make_snapshot, with_small_segments};
use super::hotel::Hotel;
use super::ordeal::Ordeal;

/// How often the server is killed under load.
const KILLS: u32 = 50;

/// How often a server that sells seats is killed.
const SEATS_KILLS: u32 = 20;

/// The most answers before a kill.
const ANSWERS_MAX: usize = 250;

/// The server is killed before it serves at the latest after so long.
const START_MS_MAX: u64 = 40;

#[test]
fn a_killed_server_keeps_what_it_answered_and_does_nothing_twice() {
    kill_under_load::<Hotel>("a_killed_server_keeps", KILLS);
}

#[test]
fn a_killed_server_keeps_the_seats_it_sold_and_sells_none_twice() {
    kill_under_load::<BoxOffice>("a_killed_server_keeps_the_seats", SEATS_KILLS);
}

fn kill_under_load<B: Books>(test: &'static str, kills: u32) {
    let mut ordeal = Ordeal::<B>::new(test);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path();
    with_small_segments(data);
    ordeal.open(&Turnstile::serve(data, "sync"));
    while let Some(kill) = ordeal.next_crash(kills) {
        let server = Turnstile::serve(data, "sync");
        ordeal.check(&server);
        let load = ordeal.load(&server, ANSWERS_MAX);
        server.kill();
        ordeal.drain(load);
        if kill % 5 == 0 {
            let ms = ordeal.rng.random_range(0..START_MS_MAX);
            let deadline = Instant::now() + Duration::from_millis(ms);
            Turnstile::kill_while_it_starts(data, || Instant::now() >= deadline);
        }
        if kill % 10 == 7 {
            make_snapshot(data);
        }
    }
    ordeal.check(&Turnstile::serve(data, "sync"));
    let verdict = run(&["verify"], data);
    assert!(verdict.status.success(), "{verdict:?}");
    ordeal.must_have_met_both();
}
