//! `turnstile tx`: what operators see of a running server.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use turnstile_embedded::{Durability, Embedded, Options};
use turnstile_travel::{
    Body, Command, Desk, Desks, Done, Item, Operation, Order, Outcome, Parcel, Request, Settings,
    Travel, TravelRoles, Xid,
};
use turnstile_types::{Author, Principal, Timestamp};

use crate::process::{Ended, Server, ask, run, turnstile, words};

fn tx(server: &Server, arguments: &[&str]) -> Ended {
    let resp = server.door("resp").unwrap().to_string();
    run(turnstile()
        .arg("tx")
        .args(arguments)
        .args(["--resp", &resp]))
}

/// What `tx` prints with `--json`.
fn shown(server: &Server, arguments: &[&str]) -> Value {
    let ended = tx(server, &[arguments, &["--json"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

fn xids(listed: &Value) -> Vec<u64> {
    let listed = listed.as_array().unwrap().iter();
    listed.map(|one| one["xid"].as_u64().unwrap()).collect()
}

/// The transactions that wait, once there are any.
pub(crate) fn await_waiting(server: &Server) -> Value {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let waiting = shown(server, &["list", "--state", "waiting"]);
        if waiting != json!([]) {
            return waiting;
        }
        assert!(Instant::now() < end, "nobody waits");
    }
}

#[test]
fn it_is_told_who_waits_for_whom_and_what_each_has() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(directory.path());
    assert_eq!(shown(&server, &["list"]), json!([]));
    let [mut first, mut second] = [server.connect(), server.connect()];
    for line in [
        "TRAVEL.START",
        "TRAVEL.START",
        "TRAVEL.ADD-ITEM 3 flight-7 2 100",
        "TRAVEL.ADD-ITEM 4 car-rome 1 30",
    ] {
        let answer = words(&ask(&mut first, line));
        assert!(answer.starts_with('1'), "{line}: {answer}");
    }
    second.send(&[b"TRAVEL.QUERY-ITEM", b"4", b"flight-7"]);
    second.flush().unwrap();
    let waiting = await_waiting(&server);
    assert_eq!(xids(&waiting), [4]);
    assert_eq!(waiting[0]["waits_for"], 3);
    assert_eq!(xids(&shown(&server, &["list"])), [3, 4]);
    assert_eq!(xids(&shown(&server, &["list", "--state", "active"])), [3]);
    let listed = tx(&server, &["list", "--state", "waiting"]);
    assert!(
        listed.out.starts_with("4  waiting for 3, until "),
        "{listed:?}"
    );

    let whole = shown(&server, &["show", "4"]);
    let wanted = json!({"what": "flight-7", "mode": "shared"});
    assert_eq!(whole["branches"][0]["wants"], wanted);
    let table = tx(&server, &["show", "4"]);
    for (label, value) in [
        ("transaction", "4"),
        ("waits for", "3"),
        ("desks", "flights,cars"),
        ("  car-rome", "exclusive"),
    ] {
        assert_eq!(table.row(label), value, "{table:?}");
    }

    let committed = words(&ask(&mut first, "TRAVEL.COMMIT 3"));
    assert!(committed.starts_with('1'), "{committed}");
    assert!(words(&second.receive().unwrap()).starts_with("1 2 0 100"));
    assert_eq!(shown(&server, &["show", "3"])["state"], "committed");
    server.stop();
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(directory.path());
    let unknown = tx(&server, &["show", "9"]);
    assert_eq!(
        (unknown.code, unknown.err.trim()),
        (Some(1), "error: refused: unknown_transaction")
    );
    let started = words(&ask(&mut server.connect(), "TRAVEL.START"));
    assert!(started.starts_with("1 3"), "{started}");
    let open = tx(&server, &["resolve", "3", "--desk", "flights", "--commit"]);
    assert_eq!(
        (open.code, open.err.trim()),
        (Some(1), "error: refused: not_in_doubt")
    );
    for wrong in [
        &["resolve", "3", "--desk", "flights"][..],
        &["resolve", "3", "--desk", "flights", "--commit", "--abort"],
        &["resolve", "3", "--desk", "lobby", "--commit"],
        &["list", "--state", "over"],
    ] {
        assert_eq!(tx(&server, wrong).code, Some(2), "{wrong:?}");
    }
    server.stop();
}

/// A directory of a server that plays the desk of flights only, at which transactions 5 and 8 wait
/// for the decision of a coordinator elsewhere.
fn in_doubt(directory: &Path) {
    let options = Options::with(Durability::Sync);
    let (mut backend, _recovery) = Embedded::open(Some(directory), options).unwrap();
    let roles = TravelRoles {
        coordinator: false,
        desks: Desks::only(Desk::Flights),
    };
    let settings = Settings {
        roles,
        ..Settings::FIRST
    };
    backend.configure_travel(settings).unwrap();
    let now = Timestamp(1_780_272_000_000);
    backend.tick(now).unwrap();
    let add = |flight| Order::Operate {
        first: true,
        operation: Operation::Add {
            item: Item::Flight(flight),
            count: 1,
            price: 9,
        },
    };
    let said = [
        (5, add(1)),
        (5, Order::Prepare),
        (8, add(2)),
        (8, Order::Prepare),
    ];
    let said = said.map(|(xid, order)| Request {
        xid: Xid(xid),
        order,
    });
    // The first parcel is a greeting: it tells the coordinator's life.
    for (number, request) in (0..).zip([None].into_iter().chain(said.map(Some))) {
        let parcel = Parcel {
            desk: Desk::Flights,
            life: 1,
            peer_life: 1,
            number,
            received: 0,
            body: Body::Request(request),
        };
        let command = Command::Deliver(parcel);
        let executed = backend.execute::<Travel>(
            now,
            Author::unknown(&Principal::local()),
            None,
            &command,
            None,
        );
        assert_eq!(executed.unwrap().outcome, Outcome::Done(Done::Delivered));
    }
    backend.close().unwrap();
}

#[test]
fn what_is_in_doubt_after_a_restart_is_decided_by_hand() {
    let directory = tempfile::tempdir().unwrap();
    in_doubt(directory.path());
    let mut serve = turnstile();
    serve.args(["serve", "--http", "off", "--resp", "127.0.0.1:0"]);
    serve.args(["--role", "flights", "--desk", "127.0.0.1:0", "--data"]);
    let server = Server::start(serve.arg(directory.path()));
    let doubtful = shown(&server, &["list", "--state", "in-doubt"]);
    assert_eq!(xids(&doubtful), [5, 8]);
    assert_eq!(doubtful[0]["branches"][0]["prepared"], true);
    let committed = tx(&server, &["resolve", "5", "--desk", "flights", "--commit"]);
    let told = "transaction 5 is committed at the desk of flights";
    assert_eq!((committed.code, committed.out.trim()), (Some(0), told));
    let aborted = shown(&server, &["resolve", "8", "--desk", "flights", "--abort"]);
    assert_eq!(aborted["outcome"], "done");
    let empty = tx(&server, &["list"]);
    assert_eq!(
        (empty.code, &*empty.out, empty.err.trim()),
        (Some(0), "", "none")
    );
    let stock = words(&ask(&mut server.connect(), "TRAVEL.LIST-ITEMS flights"));
    let free = "items item flight-1 free 1 reserved 0 price 9 next";
    assert_eq!(stock.trim_end(), free);
    server.stop();
}
