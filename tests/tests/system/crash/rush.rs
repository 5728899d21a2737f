//! SIGKILL under order flow through two doors: no acknowledged order, fill or cancellation is
//! lost, none happens twice, and no cent and no share appears or vanishes.

use rand::RngExt as _;
use turnstile_tests::{Turnstile, run};

use super::crowd::Crowd;
use super::directory::with_small_segments;
use super::floor::Floor;
use super::ordeal::Ordeal;

/// How often the server is killed under order flow.
const KILLS: u32 = 25;

/// The most answers to commands of the RESP door before a kill.
const ANSWERS_MAX: usize = 120;

/// Connections to the XML door.
const TRADERS: usize = 3;

#[test]
fn a_killed_exchange_keeps_what_it_answered_and_does_nothing_twice() {
    let mut ordeal = Ordeal::<Floor>::new("a_killed_exchange_keeps");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path();
    with_small_segments(data);
    ordeal.open(&Turnstile::serve_exchange(data, 0));
    for _ in 0..KILLS {
        let server = Turnstile::serve_exchange(data, 0);
        ordeal.check(&server);
        trade_until_killed(&mut ordeal, server);
    }
    ordeal.check(&Turnstile::serve_exchange(data, 0));
    let verdict = run(&["verify"], data);
    assert!(verdict.status.success(), "{verdict:?}");
    let (happened, forgotten) = (ordeal.happened, ordeal.forgotten);
    assert!(
        happened > 0 && forgotten > 0,
        "of what was not answered {happened} had happened and {forgotten} had not: both must be met"
    );
}

/// Loads both doors, and kills the server while requests are in flight at both.
fn trade_until_killed(ordeal: &mut Ordeal<Floor>, server: Turnstile) {
    let connected = Crowd::connect(server.xml(), TRADERS);
    let mut crowd = ordeal.must(connected);
    for _ in 0..ordeal.rng.random_range(1..4) {
        let traded = crowd.trade(&mut ordeal.recorder.books, &mut ordeal.rng);
        ordeal.must(traded);
    }
    let mut load = ordeal.load(&server, ANSWERS_MAX);
    let asked = crowd.ask(&mut ordeal.recorder.books, &mut ordeal.rng);
    ordeal.must(asked);
    let answers = ordeal.rng.random_range(1..=ANSWERS_MAX / 4);
    ordeal.go_on(&mut load, answers);
    server.kill();
    ordeal.drain(load);
    let drained = crowd.drain(&mut ordeal.recorder.books);
    ordeal.must(drained);
}
