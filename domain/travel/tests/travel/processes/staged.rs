//! A trip that is staged: booked by the votes of its desks alone, and what becomes of it when somebody
//! is away before the decision is on the disk.

use turnstile_travel::{
    AbortReason, Answer, Command, CustomerId, Desk, Done, ItineraryState, LateAnswer, Locator,
    Outcome, Query, Refusal, TransactionState, Travel, Xid,
};
use turnstile_types::{Effect, Machine, Position, Principal, Timestamp};

use super::world::World;
use crate::scenery::{Office, add, add_customer, query, trip, within};

const NOBODY: usize = 9;
const COORDINATOR: usize = 0;
const FLIGHTS: usize = 1;
const CARS: usize = 2;

const TRIP: &[&str] = &["flight-1", "car-rome"];

const XID: Xid = Xid(2);

fn booked() -> Outcome {
    Outcome::Done(Done::Booked {
        locator: locator(),
        price: 200,
        until: None,
    })
}

/// The first that is given, wherever.
fn locator() -> Locator {
    let mut office = Office::new();
    office.committed([add_customer(0), add("flight-1", 1, 0)]);
    let outcome = office.apply(&Command::Book {
        customer: CustomerId(0),
        trip: trip(&["flight-1"]),
        hold_ms: None,
    });
    match outcome {
        Outcome::Done(Done::Booked { locator, .. }) => locator,
        other => panic!("not booked: {other:?}"),
    }
}

/// A world in which somebody books a trip and the coordinator has come so far with it, and the ticket.
fn world(state: TransactionState) -> (World, Position) {
    let mut world = World::new(0, false);
    world.set_out();
    let (coordinator, _) = world.node(COORDINATOR);
    let ticket = Position(coordinator.position() + 1);
    world.book_until(TRIP, state);
    (world, ticket)
}

/// The same, told to be booked; then all is lost that is not on the disk.
fn restarted() -> (World, Position) {
    let (mut world, ticket) = world(TransactionState::Committing);
    assert_eq!(world.told_to_bookers(), [Some(&booked())]);
    let (coordinator, _) = world.node(COORDINATOR);
    assert!(!coordinator.must_sync(), "told though nothing is decided");
    world.restart_without_unsynced(COORDINATOR);
    (world, ticket)
}

fn state(world: &World) -> Option<TransactionState> {
    world.view(COORDINATOR, XID).map(|view| view.state)
}

fn ask(world: &mut World, query: &Query) -> Answer {
    let (coordinator, now) = world.node(COORDINATOR);
    let now = Timestamp(now);
    coordinator.travel.query(now, &Principal::local(), query)
}

fn late(world: &mut World, ticket: Position) -> LateAnswer {
    world.node(COORDINATOR).0.travel.late_answer(ticket)
}

fn itinerary(world: &mut World) -> Option<ItineraryState> {
    let locator = locator();
    match ask(world, &Query::Itinerary { locator }) {
        Answer::Itinerary(view) => view.map(|view| view.state),
        other => panic!("another answer: {other:?}"),
    }
}

fn check_end(mut world: World) {
    world.heal();
    world.assert_agreement();
    world.assert_serializable();
}

#[test]
fn whoever_is_told_before_the_decision_is_on_the_disk_has_the_trip_after_a_restart() {
    let (mut world, ticket) = restarted();
    assert_eq!(state(&world), Some(TransactionState::InDoubt));
    assert_eq!(itinerary(&mut world), Some(ItineraryState::Booking));
    assert_eq!(late(&mut world, ticket), LateAnswer::Pending);
    let rows = [
        (Command::Cancel { locator: locator() }, Refusal::Busy),
        (Command::Confirm { locator: locator() }, Refusal::Busy),
        (Command::Abort { xid: XID }, Refusal::InDoubt(Desk::Flights)),
    ];
    for (command, refusal) in rows {
        let (coordinator, now) = world.node(COORDINATOR);
        let outcome = coordinator.apply(now, &command);
        assert_eq!(outcome, Outcome::Refused(refusal), "{command:?}");
    }
    world.heal();
    assert_eq!(itinerary(&mut world), Some(ItineraryState::Booked));
    assert_eq!(late(&mut world, ticket), LateAnswer::Given(booked()));
    check_end(world);
}

#[test]
fn a_desk_that_does_not_say_how_it_voted_leaves_the_trip_in_doubt_until_it_is_back() {
    let (mut world, ticket) = restarted();
    let away = 4;
    world.wait(10, away);
    world.wait(1_000, away);
    let in_doubt = Outcome::Refused(Refusal::InDoubt(Desk::Customers));
    assert_eq!(Travel::effect_of(&in_doubt), Effect::Pending);
    assert_eq!(late(&mut world, ticket), LateAnswer::Given(in_doubt));
    assert_eq!(state(&world), Some(TransactionState::InDoubt));
    world.wait(60_000, away);
    assert_eq!(state(&world), Some(TransactionState::InDoubt));
    world.heal();
    assert_eq!(itinerary(&mut world), Some(ItineraryState::Booked));
    assert_eq!(late(&mut world, ticket), LateAnswer::Given(booked()));
    check_end(world);
}

#[test]
fn an_operator_may_commit_at_a_desk_what_is_in_doubt_and_not_abort_it() {
    let (mut world, ticket) = restarted();
    let resolve = |commit| Command::Resolve {
        desk: Desk::Cars,
        xid: XID,
        commit,
    };
    let (cars, now) = world.node(CARS);
    let outcome = cars.apply(now, &resolve(false));
    assert_eq!(outcome, Outcome::Refused(Refusal::MayBeCommitted));
    let outcome = cars.apply(now, &resolve(true));
    assert_eq!(outcome, Outcome::Done(Done::Resolved));
    world.heal();
    assert_eq!(late(&mut world, ticket), LateAnswer::Given(booked()));
    check_end(world);
}

#[test]
fn a_staged_trip_whose_vote_is_lost_is_aborted_and_its_locator_is_not_given_again() {
    let (mut world, _) = world(TransactionState::Preparing);
    let away = 4;
    world.restart_without_unsynced(away);
    world.wait(10, NOBODY);
    let lost = Refusal::Aborted(AbortReason::DeskLost(Desk::Customers));
    let refused = Outcome::Refused(lost);
    assert_eq!(world.told_to_bookers(), [Some(&refused)]);
    assert_eq!(itinerary(&mut world), Some(ItineraryState::Over));
    let answer = ask(&mut world, &Query::Totals);
    assert!(
        matches!(answer, Answer::Totals(totals) if totals.booked == 0),
        "{answer:?}"
    );
    check_end(world);
}

#[test]
fn nobody_hears_that_a_staged_trip_is_given_up_before_that_is_on_the_disk() {
    let (mut world, _) = world(TransactionState::Preparing);
    let (coordinator, now) = world.node(COORDINATOR);
    coordinator.sync();
    coordinator.flush();
    let outcome = coordinator.apply(now, &Command::Abort { xid: XID });
    assert_eq!(outcome, Outcome::Done(Done::Aborted));
    assert!(coordinator.flush().is_empty(), "it is not on the disk");
    // So a crash may forget it, and the votes decide.
    world.restart_without_unsynced(COORDINATOR);
    world.heal();
    assert_eq!(itinerary(&mut world), Some(ItineraryState::Booked));
    check_end(world);
}

#[test]
fn whoever_waits_for_what_a_staged_trip_has_gets_it_at_once() {
    let (mut world, _) = world(TransactionState::Committing);
    let (coordinator, now) = world.node(COORDINATOR);
    assert!(!coordinator.must_sync());
    coordinator.apply(now, &Command::Start);
    coordinator.apply(now, &within(3, query("flight-1")));
    world.deliver_requests(FLIGHTS);
    let (coordinator, _) = world.node(COORDINATOR);
    assert!(coordinator.must_sync(), "the decision goes to the disk");
    check_end(world);
}
