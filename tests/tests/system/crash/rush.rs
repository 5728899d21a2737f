//! SIGKILL under order flow through two doors: no acknowledged order, fill or cancellation is
//! lost, none happens twice, and no cent and no share appears or vanishes.

use std::path::Path;

use rand::RngExt as _;
use turnstile_tests::{Turnstile, run};

use super::crowd::Crowd;
use super::directory::with_small_segments;
use super::floor::Floor;
use super::hotel::Hotel;
use super::load::Load;
use super::ordeal::Ordeal;

/// How often the server is killed under order flow.
const KILLS: u32 = 25;

/// The most answers to commands of the RESP door before a kill.
const ANSWERS_MAX: usize = 120;

/// How often a server is killed that makes a snapshot after each few records.
const SNAPSHOT_KILLS: u32 = 15;
const SNAPSHOT_RECORDS: u64 = 10;

/// Connections to the XML door.
const TRADERS: usize = 3;

#[test]
fn a_killed_exchange_keeps_what_it_answered_and_does_nothing_twice() {
    let mut ordeal = Ordeal::<Floor>::new("a_killed_exchange_keeps");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path();
    with_small_segments(data);
    ordeal.open(&Turnstile::serve_exchange(data, 0));
    while ordeal.next_crash(KILLS).is_some() {
        let server = Turnstile::serve_exchange(data, 0);
        ordeal.check(&server);
        trade(&mut ordeal, &server).kill(server, &mut ordeal);
    }
    ordeal.check(&Turnstile::serve_exchange(data, 0));
    let verdict = run(&["verify"], data);
    assert!(verdict.status.success(), "{verdict:?}");
    ordeal.must_have_met_both();
}

/// A server under load makes one snapshot after the other, and is killed while it makes them.
#[test]
fn a_server_killed_in_a_snapshot_keeps_what_it_answered() {
    let mut exchange = Ordeal::<Floor>::new("a_server_killed_in_a_snapshot");
    let mut rooms = Ordeal::<Hotel>::new("a_server_killed_in_a_snapshot");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path();
    with_small_segments(data);
    let server = Turnstile::serve_exchange(data, SNAPSHOT_RECORDS);
    exchange.open(&server);
    rooms.open(&server);
    server.kill();
    let (mut halfway, mut whole) = (0, 0);
    for _ in 0..SNAPSHOT_KILLS {
        let server = Turnstile::serve_exchange(data, SNAPSHOT_RECORDS);
        exchange.check(&server);
        rooms.check(&server);
        let guests = rooms.load(&server, ANSWERS_MAX);
        trade(&mut exchange, &server).kill(server, &mut exchange);
        rooms.drain(guests);
        let snapshots = snapshots(data);
        let is_draft = |name: &&String| name.ends_with(".new");
        let drafts = snapshots.iter().filter(is_draft).count();
        halfway += u32::from(drafts > 0);
        whole += u32::from(snapshots.len() > drafts);
        let verdict = run(&["verify"], data);
        assert!(verdict.status.success(), "{verdict:?}");
    }
    let server = Turnstile::serve_exchange(data, SNAPSHOT_RECORDS);
    exchange.check(&server);
    rooms.check(&server);
    assert!(
        halfway > 0 && whole > 0,
        "{halfway} kills fell into a snapshot, {whole} came after one: both must be met"
    );
}

/// The names of all snapshots, drafts included.
fn snapshots(data: &Path) -> Vec<String> {
    let files = std::fs::read_dir(data).expect("the directory is there");
    let names = files.map(|file| file.expect("it can be read").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("snapshot-")).collect()
}

/// Requests in flight at both doors.
struct Flow {
    load: Load,
    crowd: Crowd,
}

/// Loads both doors, and leaves requests in flight.
fn trade(ordeal: &mut Ordeal<Floor>, server: &Turnstile) -> Flow {
    let connected = Crowd::connect(server.xml(), TRADERS);
    let mut crowd = ordeal.must(connected);
    for _ in 0..ordeal.rng.random_range(1..4) {
        let traded = crowd.trade(&mut ordeal.recorder.books, &mut ordeal.rng);
        ordeal.must(traded);
    }
    let mut load = ordeal.load(server, ANSWERS_MAX);
    let asked = crowd.ask(&mut ordeal.recorder.books, &mut ordeal.rng);
    ordeal.must(asked);
    let answers = ordeal.rng.random_range(1..=ANSWERS_MAX / 4);
    ordeal.go_on(&mut load, answers);
    Flow { load, crowd }
}

impl Flow {
    /// Kills the server, and listens to what it had sent before.
    fn kill(self, server: Turnstile, ordeal: &mut Ordeal<Floor>) {
        server.kill();
        ordeal.drain(self.load);
        let drained = self.crowd.drain(&mut ordeal.recorder.books);
        ordeal.must(drained);
    }
}
