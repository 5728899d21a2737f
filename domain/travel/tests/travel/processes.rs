//! Five processes, or fewer, a network that loses, doubles and reorders, crashes of any of them that take
//! what was not synced: whatever happens, all agree, and what was committed could have been done
//! one after the other.

mod absence;
mod bookings;
mod clients;
mod node;
mod serial;
mod staged;
mod world;

use turnstile_travel::Step;

use crate::scenery::{add, query, reserve};
use world::{Play, World};

/// Steps of one history.
const STEPS: usize = 800;

/// One history; how many transactions were committed in it.
fn check(world: World) -> usize {
    let world = play(world);
    world.assert_agreement();
    world.assert_serializable()
}

fn play(mut world: World) -> World {
    world.set_out();
    for _ in 0..STEPS {
        world.step();
    }
    world.heal();
    world
}

#[test]
fn whatever_is_lost_doubled_or_crashed_all_agree_and_the_committed_could_have_been_serial() {
    let committed: usize = (1..=300).map(|seed| check(World::new(seed, true))).sum();
    assert!(
        committed > 500,
        "only {committed} transactions were committed"
    );
}

#[test]
fn trips_that_were_told_to_be_booked_or_cancelled_are_found_again_after_crashes() {
    let (mut committed, mut found_again, mut cancelled) = (0, 0, 0);
    for seed in 1..=300 {
        let world = play(World::of_bookers(seed));
        world.assert_agreement();
        committed += world.assert_serializable();
        found_again += world.found_again();
        cancelled += world.cancelled();
    }
    assert!(
        committed > 300,
        "only {committed} transactions were committed"
    );
    assert!(
        found_again > 10,
        "only {found_again} trips were decided twice"
    );
    assert!(cancelled > 20, "only {cancelled} trips were cancelled");
}

#[test]
fn one_process_that_crashes_keeps_what_it_told_and_the_rest_could_have_been_serial() {
    let committed: usize = (1..=100)
        .map(|seed| check(World::one_process(seed, true)))
        .sum();
    assert!(
        committed > 500,
        "only {committed} transactions were committed"
    );
}

#[test]
fn three_processes_of_which_one_plays_several_roles_agree() {
    let committed: usize = (1..=200)
        .map(|seed| check(World::three_processes(seed, true)))
        .sum();
    assert!(
        committed > 500,
        "only {committed} transactions were committed"
    );
}

#[test]
fn without_faults_more_transactions_commit() {
    let committed: usize = (1..=30).map(|seed| check(World::new(seed, false))).sum();
    assert!(
        committed > 200,
        "only {committed} transactions were committed"
    );
}

/// Crashes each process before each event of a transaction; what had been written and not synced
/// is kept or lost. Returns how many events there were.
fn check_crashes(what: &Play) -> usize {
    let play = |event, node, kept| {
        let mut world = World::new(0, false);
        world.set_out();
        if !world.play_to_crash(what, (event, node, kept)) {
            return false;
        }
        world.heal();
        world.assert_agreement();
        world.assert_serializable();
        true
    };
    (0..)
        .take_while(|&event| {
            (0..5).all(|node| {
                [false, true]
                    .into_iter()
                    .all(|kept| play(event, node, kept))
            })
        })
        .count()
}

#[test]
fn whoever_crashes_at_whatever_point_of_a_commit_all_agree() {
    let read = query("room-rome");
    let one_desk = Play::Steps(vec![add("flight-1", 1, 0), Step::Commit]);
    let trip = reserve(0, &["flight-1", "car-rome"]);
    let three_desks = Play::Steps(vec![trip, read, Step::Commit]);
    let counts = [one_desk, three_desks].map(|play| check_crashes(&play));
    assert_eq!(counts, [20, 40]);
}

#[test]
fn whoever_crashes_at_whatever_point_of_a_booking_in_one_command_all_agree() {
    let trip = &["flight-1", "car-rome", "room-rome"];
    let counts = [&trip[..2], trip].map(|trip| check_crashes(&Play::Booking(trip)));
    assert_eq!(counts, [33, 38]);
}

#[test]
fn the_same_seed_is_the_same_history() {
    let play = |seed| play(World::new(seed, true)).hashes();
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(8));
}
