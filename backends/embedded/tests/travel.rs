//! Travel on the journal beside the others: what a start tells it, and what it leaves behind.

use std::path::Path;

use turnstile_embedded::{
    Durability, Embedded, ExecuteError, Options, Recovery, Slowed, UnsoundSettings, verify,
};
use turnstile_rooms::{Command as RoomsCommand, Rooms};
use turnstile_travel::{
    AbortReason, Answer, Command, Done, Event, EventKind, Item, LateAnswer, Outcome, Query,
    Refusal, Settings, Step, Totals, Travel, TravelRoles, Xid,
};
use turnstile_types::{Author, Key, Name, Position, Principal, Timestamp};

const OPTIONS: Options = Options {
    durability: Durability::Sync,
    segment_bytes: 256 * 1024,
    snapshot_records: 0,
    accept_loss: None,
    key_bytes: 1 << 20,
    slowed: Slowed::NOT,
    trouble: None,
};

const NOW: Timestamp = Timestamp(1_780_272_000_000);

const FLIGHT: Item = Item::Flight(7);

const SHORT: Settings = Settings {
    lifetime_ms: 500,
    ..Settings::FIRST
};

fn open(directory: &Path, options: Options) -> (Embedded, Recovery) {
    Embedded::open(Some(directory), options).expect("a sound directory")
}

fn tell(backend: &mut Embedded, command: &Command) -> Outcome {
    let executed = backend.execute::<Travel>(
        NOW,
        Author::unknown(&Principal::local()),
        None,
        command,
        None,
    );
    executed.expect("a working disk").outcome
}

fn within(backend: &mut Embedded, xid: u64, step: Step) -> Outcome {
    let xid = Xid(xid);
    tell(backend, &Command::Within { xid, step })
}

fn start(backend: &mut Embedded) -> Outcome {
    tell(backend, &Command::Start)
}

/// Transaction 1 has locked a flight; 2 waits for it under the ticket 4.
fn block(backend: &mut Embedded) {
    start(backend);
    let add = Step::Add {
        item: FLIGHT,
        count: 5,
        price: 100,
    };
    assert_eq!(within(backend, 1, add), Outcome::Done(Done::Added));
    start(backend);
    let waiting = within(backend, 2, Step::Query { item: FLIGHT });
    let ticket = Position(4);
    assert_eq!(waiting, Outcome::Waiting { ticket });
    backend.commit().expect("a working disk");
}

fn events(backend: &mut Embedded) -> Vec<Event> {
    let mut events = Vec::new();
    backend.drain_events::<Travel>(&mut |event| events.push(event));
    events
}

fn ask(backend: &Embedded, query: &Query) -> Answer {
    backend.query::<Travel>(NOW, &Principal::local(), query)
}

#[test]
fn a_start_aborts_what_was_open_and_answers_who_waited() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _recovery) = open(directory.path(), OPTIONS);
    block(&mut backend);
    backend.close().unwrap();

    let (mut backend, recovery) = open(directory.path(), OPTIONS);
    assert_eq!(recovery.position, Position(4));
    assert_eq!(recovery.events_after::<Travel>(), Position(0));
    assert_eq!(backend.deadline(), Some(NOW), "it is told at once");
    let early = backend.execute::<Travel>(
        NOW,
        Author::unknown(&Principal::local()),
        None,
        &Command::Start,
        None,
    );
    assert_eq!(early, Err(ExecuteError::ReadOnly));
    backend.tick(NOW).unwrap();
    assert_eq!(backend.commit().unwrap(), Position(5));

    let reason = AbortReason::Restarted;
    let (ticket, outcome) = (Position(4), Outcome::Refused(Refusal::Aborted(reason)));
    let told: Vec<_> = events(&mut backend)
        .into_iter()
        .map(|event| (event.position, event.kind))
        .collect();
    let expected = [
        EventKind::Aborted {
            xid: Xid(1),
            reason,
        },
        EventKind::Aborted {
            xid: Xid(2),
            reason,
        },
        EventKind::Answered {
            ticket,
            outcome: outcome.clone(),
        },
    ];
    assert_eq!(told, expected.map(|kind| (Position(5), kind)));
    let late = backend.machine::<Travel>().late_answer(ticket);
    assert_eq!(late, LateAnswer::Given(outcome));
    let xid = Xid(1_001);
    assert_eq!(start(&mut backend), Outcome::Done(Done::Started { xid }));
    backend.close().unwrap();
    assert!(verify(directory.path()).unwrap().holds());
}

#[test]
fn a_server_that_never_used_travel_writes_nothing_for_it() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let (mut backend, recovery) = open(directory.path(), OPTIONS);
        backend.tick(NOW).unwrap();
        assert_eq!(recovery.position, Position(0));
        assert_eq!(backend.deadline(), None);
        backend.close().unwrap();
    }
}

#[test]
fn settings_are_written_when_they_differ_and_every_start_is() {
    let directory = tempfile::tempdir().unwrap();
    for (settings, position) in [(SHORT, 2), (SHORT, 3), (Settings::FIRST, 5)] {
        let (mut backend, _recovery) = open(directory.path(), OPTIONS);
        backend.configure_travel(settings).unwrap();
        backend.tick(NOW).unwrap();
        assert_eq!(backend.status().position, Position(position));
        backend.close().unwrap();
    }
}

#[test]
fn roles_of_a_directory_that_was_used_stay_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _recovery) = open(directory.path(), OPTIONS);
    start(&mut backend);
    backend.close().unwrap();
    let (mut backend, _recovery) = open(directory.path(), OPTIONS);
    let alone = Settings {
        roles: TravelRoles {
            coordinator: false,
            ..TravelRoles::ALL
        },
        ..Settings::FIRST
    };
    assert_eq!(
        backend.configure_travel(alone),
        Err(UnsoundSettings::Travel)
    );
    backend.tick(NOW).unwrap();
    assert_eq!(
        backend.status().position,
        Position(2),
        "only the start is written"
    );
}

/// Rooms are told a thousand things, so that a snapshot is due.
fn fill(backend: &mut Embedded, prefix: &str) {
    for number in 0..1_000 {
        let name = format!("{prefix}{number}");
        let command = RoomsCommand::AddProperty {
            property: Name::parse(name.as_bytes()).expect("a name of the test"),
            open: true,
        };
        let executed = backend.execute::<Rooms>(
            NOW,
            Author::unknown(&Principal::local()),
            None,
            &command,
            None,
        );
        executed.expect("a working disk");
    }
    backend.commit().expect("a working disk");
}

#[test]
fn a_snapshot_keeps_travel_also_where_the_exchange_was_never_used() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        snapshot_records: 500,
        ..OPTIONS
    };
    let (mut backend, _recovery) = open(directory.path(), options);
    fill(&mut backend, "a");
    backend.await_snapshot();
    backend.close().unwrap();
    let (mut backend, recovery) = open(directory.path(), options);
    assert!(recovery.snapshot > Position(0), "without travel");
    start(&mut backend);
    let add = Step::AddCustomer { customer: None };
    within(&mut backend, 1, add);
    within(&mut backend, 1, Step::Commit);
    fill(&mut backend, "b");
    backend.await_snapshot();
    backend.close().unwrap();

    let (backend, recovery) = open(directory.path(), options);
    assert!(recovery.snapshot > Position(1_003), "{recovery:?}");
    let totals = Totals {
        xids: 1,
        customers: 1,
        ..Totals::default()
    };
    assert_eq!(ask(&backend, &Query::Totals), Answer::Totals(totals));
    backend.close().unwrap();
    let verdict = verify(directory.path()).unwrap();
    assert!(verdict.holds(), "{verdict:?}");
    let standing = [
        "bookings stand",
        "itineraries stand",
        "transactions are open",
    ];
    let standing = standing.map(|words| (0, words.to_owned()));
    assert_eq!(verdict.standing, standing);
}

/// Has a command of travel decided under a key, and answers its position, whether that was replayed,
/// and the outcome.
fn keyed(backend: &mut Embedded, key: &str, command: &Command) -> (Position, bool, Outcome) {
    let key = Key::parse(key.as_bytes()).expect("a key of the test");
    let executed = backend.execute::<Travel>(
        NOW,
        Author::unknown(&Principal::local()),
        Some(key),
        command,
        None,
    );
    let reply = executed.expect("there is room for it");
    (reply.position, reply.replayed, reply.outcome)
}

/// Whoever had bought a journey could not learn its locator any more when 4,096 others had been
/// answered late.
#[test]
fn a_final_answer_under_a_key_stays_however_many_are_answered_late_after_it() {
    let options = Options {
        durability: Durability::Memory,
        ..OPTIONS
    };
    let (mut backend, _recovery) = Embedded::open(None, options).unwrap();
    block(&mut backend);
    start(&mut backend);
    let step = || Step::Query { item: FLIGHT };
    let waits = Command::Within {
        xid: Xid(3),
        step: step(),
    };
    let (ticket, ..) = keyed(&mut backend, "waits", &waits);
    tell(&mut backend, &Command::Abort { xid: Xid(1) });
    tell(&mut backend, &Command::Abort { xid: Xid(2) });
    tell(&mut backend, &Command::Abort { xid: Xid(3) });
    for holder in (4..8_204).step_by(2) {
        start(&mut backend);
        start(&mut backend);
        let add = Step::Add {
            item: FLIGHT,
            count: 5,
            price: 100,
        };
        within(&mut backend, holder, add);
        within(&mut backend, holder + 1, step());
        for xid in [holder, holder + 1] {
            tell(&mut backend, &Command::Abort { xid: Xid(xid) });
        }
        events(&mut backend);
    }
    let late = backend.machine::<Travel>().late_answer(ticket);
    assert_eq!(late, LateAnswer::Unknown);
    let answer = (ticket, true, Outcome::Done(Done::Stock(None)));
    assert_eq!(keyed(&mut backend, "waits", &waits), answer);
}

#[test]
fn a_final_answer_is_remembered_under_the_key_of_the_command_that_waited() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        snapshot_records: 1,
        ..OPTIONS
    };
    let (mut backend, _recovery) = open(directory.path(), options);
    block(&mut backend);
    let step = || Step::Query { item: FLIGHT };
    let read = Command::Within {
        xid: Xid(2),
        step: step(),
    };
    assert_eq!(
        keyed(&mut backend, "busy", &read).2,
        Outcome::Refused(Refusal::Busy)
    );
    start(&mut backend);
    let waits = Command::Within {
        xid: Xid(3),
        step: step(),
    };
    let (ticket, _, outcome) = keyed(&mut backend, "waits", &waits);
    assert_eq!(outcome, Outcome::Waiting { ticket });
    let waiting = (ticket, true, Outcome::Waiting { ticket });
    assert_eq!(keyed(&mut backend, "waits", &waits), waiting);
    backend.commit().unwrap();
    tell(&mut backend, &Command::Abort { xid: Xid(1) });
    assert!(
        backend.sequencer().has_promised(),
        "that it will be answered so again"
    );
    let last = backend.commit().unwrap();
    let answer = (ticket, true, Outcome::Done(Done::Stock(None)));
    assert_eq!(keyed(&mut backend, "waits", &waits), answer);
    assert_eq!(backend.status().position, last, "nothing was decided again");
    backend.close().unwrap();
    // A replay of the journal, and the snapshots that were made meanwhile, say the same.
    for _ in 0..2 {
        let (mut backend, _recovery) = open(directory.path(), options);
        backend.tick(NOW).unwrap();
        assert_eq!(keyed(&mut backend, "waits", &waits), answer);
        start(&mut backend);
        backend.commit().unwrap();
        backend.close().unwrap();
    }
}

/// The server ended when the answer to a command under a key was longer than 4 KiB.
#[test]
fn a_long_answer_is_remembered_and_the_longest_is_read_again() {
    let mut options = Options::with(Durability::Memory);
    options.key_bytes = 1 << 30;
    let (mut backend, _recovery) = Embedded::open(None, options).unwrap();
    start(&mut backend);
    let customers = 8;
    for number in 0..400 {
        let item = Item::Flight(number);
        let add = Step::Add {
            item,
            count: 10,
            price: 100,
        };
        within(&mut backend, 1, add);
    }
    for customer in 1..=customers {
        let customer = turnstile_travel::CustomerId(customer);
        within(
            &mut backend,
            1,
            Step::AddCustomer {
                customer: Some(customer),
            },
        );
        for first in (0..400).step_by(40) {
            let items = (first..first + 40).map(Item::Flight);
            let trip = turnstile_travel::Trip::new(items.collect()).unwrap();
            let reserved = within(&mut backend, 1, Step::Reserve { customer, trip });
            assert_eq!(reserved, Outcome::Done(Done::Reserved));
        }
    }
    let customer = turnstile_travel::CustomerId(1);
    for (key, step, replays) in [
        ("bill", Step::QueryCustomer { customer }, true),
        ("summary", Step::Summary, false),
    ] {
        let command = Command::Within { xid: Xid(1), step };
        let first = keyed(&mut backend, key, &command);
        let again = keyed(&mut backend, key, &command);
        assert_eq!((first.1, again.1), (false, replays), "{key}");
        assert_eq!(first.2, again.2);
    }
}
