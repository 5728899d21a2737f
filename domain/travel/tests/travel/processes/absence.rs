//! A process that is away: everybody gets an answer in time, nobody guesses, and when it is back,
//! all agree.

use turnstile_travel::{
    AbortReason, BranchView, Command, Desk, Desks, Done, EventKind, LockMode, Outcome, Refusal,
    Resource, Step, TransactionState, TransactionView, Xid, limits,
};

use super::world::World;
use crate::scenery::{add, item, query, reserve, within};

const NOBODY: usize = 9;
const COORDINATOR: usize = 0;
const FLIGHTS: usize = 1;
const CARS: usize = 2;

/// A client that has done these steps in transaction 2, with everybody there.
fn world(steps: &[Step]) -> World {
    let mut world = World::new(0, false);
    world.set_out();
    for step in [&[Step::Commit], steps].concat() {
        world.try_step(step, NOBODY);
    }
    world
}

fn aborted(reason: AbortReason) -> Option<Outcome> {
    Some(Outcome::Refused(Refusal::Aborted(reason)))
}

fn check_end(mut world: World) {
    world.heal();
    world.assert_agreement();
    world.assert_serializable();
}

#[test]
fn an_operation_at_a_desk_that_is_away_is_answered_in_time() {
    let mut world = world(&[reserve(0, &["car-rome"])]);
    world.try_step(query("flight-1"), FLIGHTS);
    world.wait(999, FLIGHTS);
    assert_eq!(world.last_told(), None);
    world.wait(1, FLIGHTS);
    assert_eq!(
        world.last_told().cloned(),
        aborted(AbortReason::DeskAway(Desk::Flights))
    );
    check_end(world);
}

#[test]
fn a_missing_vote_is_a_no() {
    let mut world = world(&[reserve(0, &["flight-1", "car-rome"])]);
    world.try_step(Step::Commit, CARS);
    assert_eq!(world.in_doubt(Desk::Flights), [Xid(2)]);
    let gathers = world.view(COORDINATOR, Xid(2)).unwrap();
    assert_eq!(gathers.state, TransactionState::Preparing);
    assert_eq!(gathers.awaited.sole(), Some(Desk::Cars));
    let waits = world.view(FLIGHTS, Xid(2)).unwrap();
    let flight = Resource::Item(item("flight-1"));
    assert_eq!(
        waits,
        TransactionView {
            xid: Xid(2),
            state: TransactionState::InDoubt,
            touched: Desks::only(Desk::Flights),
            awaited: Desks::NONE,
            holder: None,
            before: Vec::new(),
            deadline: None,
            branches: vec![BranchView {
                desk: Desk::Flights,
                prepared: true,
                held: 1,
                locks: vec![(flight, LockMode::Exclusive)],
                wanted: None,
            }],
        }
    );
    world.wait(1_000, CARS);
    assert_eq!(
        world.last_told().cloned(),
        aborted(AbortReason::DeskAway(Desk::Cars))
    );
    assert_eq!(world.in_doubt(Desk::Flights), []);
    check_end(world);
}

#[test]
fn a_commit_that_was_left_to_a_desk_is_in_doubt_until_the_desk_is_back() {
    let mut world = world(&[add("flight-1", 1, 0)]);
    world.try_step(Step::Commit, FLIGHTS);
    let state = |world: &World| world.view(COORDINATOR, Xid(2)).map(|view| view.state);
    assert_eq!(state(&world), Some(TransactionState::Delegated));
    world.wait(1_000, FLIGHTS);
    assert_eq!(state(&world), Some(TransactionState::InDoubt));
    let told = world.last_told().cloned();
    assert_eq!(
        told,
        Some(Outcome::Refused(Refusal::InDoubt(Desk::Flights)))
    );
    check_end(world);
}

#[test]
fn without_the_coordinator_only_who_voted_yes_waits() {
    let mut world = world(&[reserve(0, &["flight-1", "car-rome"])]);
    world.try_step(Step::Commit, CARS);
    world.wait(60_000, COORDINATOR);
    assert_eq!(world.in_doubt(Desk::Flights), [Xid(2)]);
    let (cars, _) = world.node(CARS);
    assert!(
        cars.travel.is_idle(Desk::Cars),
        "what was not voted for is undone"
    );
    world.restart(COORDINATOR);
    check_end(world);
}

#[test]
fn a_desk_keeps_what_is_open_as_long_as_it_hears_of_the_coordinator() {
    let mut world = world(&[add("flight-1", 1, 0)]);
    for _ in 0..6 {
        world.wait(1_500, NOBODY);
        world.try_step(query("car-rome"), NOBODY);
    }
    world.try_step(query("flight-1"), NOBODY);
    world.try_step(Step::Commit, NOBODY);
    assert_eq!(world.last_told(), Some(&Outcome::Done(Done::Committed)));
    check_end(world);
}

#[test]
fn what_a_desk_gave_up_is_gone_though_the_coordinator_has_more_of_it() {
    let mut world = world(&[add("flight-1", 1, 0)]);
    for _ in 0..4 {
        world.wait(1_500, FLIGHTS);
        world.try_step(query("car-rome"), FLIGHTS);
    }
    let (flights, now) = world.node(FLIGHTS);
    flights.tick(now);
    world.try_step(query("flight-1"), NOBODY);
    assert_eq!(
        world.last_told().cloned(),
        aborted(AbortReason::DeskLost(Desk::Flights))
    );
    check_end(world);
}

#[test]
fn what_an_operator_decides_otherwise_than_the_coordinator_is_told() {
    let mut world = world(&[reserve(0, &["flight-1", "car-rome"])]);
    world.try_step(Step::Commit, CARS);
    let resolve = |xid| Command::Resolve {
        desk: Desk::Flights,
        xid,
        commit: true,
    };
    let (flights, now) = world.node(FLIGHTS);
    let outcome = flights.apply(now, &resolve(Xid(3)));
    assert_eq!(outcome, Outcome::Refused(Refusal::NotInDoubt));
    let outcome = flights.apply(now, &resolve(Xid(2)));
    assert_eq!(outcome, Outcome::Done(Done::Resolved));
    world.calm(CARS);
    world.wait(1_000, CARS);
    world.heal();
    world.assert_agreement();
    let (desk, xid) = (Desk::Flights, Xid(2));
    let (coordinator, _) = world.node(COORDINATOR);
    let told = coordinator.events.iter().map(|event| &event.kind);
    let told: Vec<_> = told
        .filter(|kind| matches!(kind, EventKind::Disagreed { .. }))
        .collect();
    assert_eq!(told, [&EventKind::Disagreed { desk, xid }]);
}

#[test]
fn a_line_to_a_desk_that_is_away_for_long_does_not_grow_without_end() {
    let mut world = world(&[]);
    let (coordinator, now) = world.node(COORDINATOR);
    let life = coordinator.travel.greeting(Desk::Flights).life;
    let rounds = u64::try_from(limits::PARCELS_MAX).unwrap() * 3 / 4;
    for round in 0..rounds {
        coordinator.apply(now, &Command::Start);
        let xid = 2 + round + 1;
        coordinator.apply(now, &within(xid, query("flight-1")));
        coordinator.apply(now, &Command::Abort { xid: Xid(xid) });
    }
    coordinator.sync();
    let queued = coordinator.travel.unacknowledged(Desk::Flights);
    assert!(queued < limits::PARCELS_MAX, "{queued} parcels wait");
    assert_eq!(coordinator.travel.greeting(Desk::Flights).life, life + 1);
    check_end(world);
}
