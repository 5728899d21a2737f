//! Travel through the door.

use serde_json::json;
use tokio::sync::oneshot;
use turnstile_embedded::Reply as Executed;
use turnstile_travel::{
    AbortReason, Done, Outcome, Refusal, Settings as TravelSettings, Travel, limits,
};

use super::{limits::next_ask, *};
use crate::core::gate::{Ask, Request};

pub(super) const TRANSACTIONS: &str = "/v1/travel/transactions";

/// How long a lock is waited for where a test wants to see the end of the wait.
pub(super) const SHORT_MS: u64 = 100;

/// A door behind which there are two seats on flight 1, one car and five rooms in Montreal, and
/// customer 7.
pub(super) fn agency(wait_ms: u64) -> Site {
    let chosen = Settings {
        travel: Some(TravelSettings {
            wait_ms,
            ..TravelSettings::FIRST
        }),
        ..settings(Some("127.0.0.1:0".parse().unwrap()))
    };
    let site = Site::of(start(&chosen).unwrap(), HttpLimits::STANDARD);
    let mut peer = site.peer();
    let tx = begin(&mut peer);
    for (item, count, price) in [
        ("flight-1", 2, 100),
        ("car-montreal", 1, 30),
        ("room-Montreal", 5, 80),
    ] {
        let body = format!(r#"{{"item":"{item}","count":{count},"price":{price}}}"#);
        assert_eq!(peer.post(&format!("{tx}/items"), "", &body).status, 200);
    }
    let made = peer.post(&format!("{tx}/customers"), "", r#"{"customer":7}"#);
    assert_eq!((made.status, &made.json()["customer"]), (201, &7.into()));
    commit(&mut peer, &tx);
    site
}

/// A client of the door that the server opened itself, which has the feed of the loop.
pub(super) fn own_door(site: &Site) -> Peer {
    let running = site.running.as_ref().unwrap();
    let [("http", address)] = *running.doors() else {
        panic!("one door: {:?}", running.doors());
    };
    Peer::connect(address)
}

/// Starts a transaction; its path.
pub(super) fn begin(peer: &mut Peer) -> String {
    let started = peer.request("POST", TRANSACTIONS, "", "");
    assert_eq!(started.status, 201, "{started:?}");
    let path = started.header("location").unwrap();
    assert_eq!(path, format!("{TRANSACTIONS}/{}", started.json()["xid"]));
    path
}

pub(super) fn commit(peer: &mut Peer, tx: &str) {
    let committed = peer.request("POST", &format!("{tx}/commit"), "", "");
    assert_eq!(committed.status, 200, "{committed:?}");
}

pub(super) fn reserve(peer: &mut Peer, tx: &str, items: &str) -> Reply {
    let body = format!(r#"{{"customer":7,"items":{items}}}"#);
    peer.post(&format!("{tx}/reservations"), "", &body)
}

/// Sends a request without waiting for its answer.
pub(super) fn send(peer: &mut Peer, method: &str, target: &str, headers: &str, body: &str) {
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    peer.send(request.as_bytes());
}

/// Waits until so many wait for a late answer.
pub(super) fn await_waiters(site: &Site, waiters: u64) {
    let counters = site.running.as_ref().unwrap().counters();
    let end = std::time::Instant::now() + PATIENCE;
    while counters.late_waiters.get() != waiters {
        assert!(std::time::Instant::now() < end, "nobody waits");
        std::thread::yield_now();
    }
}

pub(super) fn xid_of(tx: &str) -> u64 {
    tx.rsplit('/').next().unwrap().parse().unwrap()
}

#[test]
fn a_transaction_sees_its_own_changes_and_others_see_them_committed() {
    let site = agency(limits::WAIT_MS);
    let mut peer = site.peer();
    let tx = begin(&mut peer);
    let both = r#"["flight-1","room-montreal"]"#;
    assert_eq!(reserve(&mut peer, &tx, both).status, 200);
    let inside = peer.get(&format!("{tx}/items/flight-1"), "").json();
    assert_eq!(
        inside,
        json!({"item": "flight-1", "free": 1, "reserved": 1, "price": 100})
    );
    let bill = json!({"customer": 7, "total": 180, "lines": [
        {"item": "flight-1", "count": 1, "price": 100},
        {"item": "room-montreal", "count": 1, "price": 80}]});
    assert_eq!(peer.get(&format!("{tx}/customers/7"), "").json(), bill);
    let summary = peer.get(&format!("{tx}/customers"), "").json();
    assert_eq!(summary, json!({"customers": [bill]}));

    let outside = peer.get("/v1/travel/items?desk=flights", "").json();
    let untouched = json!({"items": [
        {"item": "flight-1", "free": 2, "reserved": 0, "price": 100}]});
    assert_eq!(outside, untouched);
    let before = peer.get("/v1/travel/customers/7", "");
    assert_eq!(before.json()["lines"], json!([]));
    let known = format!("If-None-Match: {}\r\n", before.header("etag").unwrap());
    assert_eq!(peer.get("/v1/travel/customers/7", &known).status, 304);
    commit(&mut peer, &tx);
    let after = peer.get("/v1/travel/customers/7", &known);
    assert_eq!((after.status, after.json()), (200, bill));
    let twice = peer.request("POST", &format!("{tx}/commit"), "", "");
    assert_eq!(twice.problem(), (409, "already_committed".to_owned()));
    site.close();
}

#[test]
fn what_a_transaction_deletes_is_gone_and_what_it_aborts_is_not() {
    let site = agency(limits::WAIT_MS);
    let mut peer = site.peer();
    let tx = begin(&mut peer);
    let car = format!("{tx}/items/car-montreal");
    assert_eq!(peer.request("DELETE", &car, "", "").status, 200);
    let gone = peer.get(&car, "");
    assert_eq!(gone.problem(), (404, "no_such_item".to_owned()));
    assert_eq!(gone.json()["item"], "car-montreal");
    let picked = peer.post(&format!("{tx}/customers"), "", "{}");
    assert_eq!(picked.status, 201);
    let picked = format!("{tx}/customers/{}", picked.json()["customer"]);
    assert_eq!(peer.get(&picked, "").json()["lines"], json!([]));
    assert_eq!(peer.request("DELETE", &picked, "", "").status, 200);
    let gone = peer.get(&picked, "");
    assert_eq!(gone.problem(), (404, "no_such_customer".to_owned()));
    let aborted = peer.request("POST", &format!("{tx}/abort"), "", "");
    assert_eq!(aborted.status, 200);
    let over = peer.get(&car, "");
    assert_eq!(over.problem(), (409, "aborted".to_owned()));
    assert_eq!(
        (&over.json()["cause"], &over.json()["retryable"]),
        (&"asked".into(), &false.into())
    );
    let cars = peer.get("/v1/travel/items?desk=cars", "").json();
    assert_eq!(cars["items"][0]["item"], "car-montreal");
    let totals = peer.get("/v1/travel/totals", "").json();
    assert_eq!(
        totals,
        json!({"xids_total": 2, "open_transactions": 0, "itineraries": 0, "booked_total": 0, "items": 3,
            "customers": 1})
    );
    site.close();
}

#[test]
fn a_listing_goes_on_where_its_page_ends() {
    let site = agency(limits::WAIT_MS);
    let mut peer = site.peer();
    let tx = begin(&mut peer);
    for item in ["room-new york", "room-albany"] {
        let body = format!(r#"{{"item":"{item}","count":1,"price":0}}"#);
        assert_eq!(peer.post(&format!("{tx}/items"), "", &body).status, 200);
    }
    commit(&mut peer, &tx);
    let mut found = Vec::new();
    let mut target = "/v1/travel/items?desk=rooms&limit=2".to_owned();
    loop {
        let page = peer.get(&target, "");
        let shown = page.json()["items"].as_array().unwrap().clone();
        found.extend(shown.into_iter().map(|item| item["item"].clone()));
        let Some(link) = page.header("link") else {
            assert_eq!(page.json()["next"], Value::Null);
            break;
        };
        target = link[1..link.find('>').unwrap()].to_owned();
    }
    assert_eq!(found, ["room-albany", "room-montreal", "room-new york"]);
    site.close();
}

#[test]
fn an_itinerary_is_booked_whole_or_not_at_all() {
    let site = agency(limits::WAIT_MS);
    let mut peer = site.peer();
    let book = |peer: &mut Peer, key: &str, items: &str, more: &str| {
        let body = format!(r#"{{"customer":7,"items":{items}{more}}}"#);
        let key = format!("Idempotency-Key: {key}\r\n");
        peer.post("/v1/travel/itineraries", &key, &body)
    };
    let trip = r#"["flight-1","car-montreal","room-montreal"]"#;
    let booked = book(&mut peer, "k-1", trip, "");
    let again = book(&mut peer, "k-1", trip, "");
    assert_eq!((booked.status, again.status), (201, 200));
    assert_eq!(booked.json()["price"], 210);
    assert_eq!(again.json()["locator"], booked.json()["locator"]);
    assert_eq!(again.header("idempotent-replayed").unwrap(), "true");
    let path = booked.header("location").unwrap();
    let shown = peer.get(&path, "");
    let items = json!([{"item": "car-montreal", "price": 30}, {"item": "flight-1", "price": 100},
        {"item": "room-montreal", "price": 80}]);
    let mut told = shown.json();
    told["items"]
        .as_array_mut()
        .unwrap()
        .sort_by_key(Value::to_string);
    assert_eq!(
        told,
        json!({"locator": booked.json()["locator"], "state": "booked", "customer": 7,
            "items": items, "price": 210})
    );
    let known = format!("If-None-Match: {}\r\n", shown.header("etag").unwrap());
    assert_eq!(peer.get(&path, &known).status, 304);

    let sold_out = book(&mut peer, "k-2", trip, "");
    assert_eq!(sold_out.problem(), (409, "sold_out".to_owned()));
    assert_eq!(sold_out.json()["item"], "car-montreal");
    let other = book(&mut peer, "k-2", r#"["flight-1"]"#, "");
    assert_eq!(other.problem(), (422, "idempotency_key_reused".to_owned()));
    let nobody = r#"{"customer":8,"items":["flight-1"]}"#;
    let nobody = peer.post("/v1/travel/itineraries", "", nobody);
    assert_eq!(nobody.problem(), (404, "no_such_customer".to_owned()));
    let flights = peer.get("/v1/travel/items?desk=flights", "").json();
    assert_eq!(flights["items"][0]["free"], 1, "nothing of it was taken");

    let unheld = peer.request("POST", &format!("{path}/confirm"), "", "");
    assert_eq!(unheld.problem(), (409, "not_held".to_owned()));
    let cancelled = peer.request("POST", &format!("{path}/cancel"), "", "");
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    let twice = peer.request("POST", &format!("{path}/cancel"), "", "");
    assert_eq!(twice.problem(), (410, "itinerary_over".to_owned()));
    assert_eq!(peer.get(&path, &known).json()["state"], "over");
    assert_eq!(peer.get("/v1/travel/customers/7", "").json()["total"], 0);
    site.close();
}

#[test]
fn a_held_itinerary_is_confirmed_in_time_or_given_back() {
    let site = agency(limits::WAIT_MS);
    let mut peer = site.peer();
    let hold = |peer: &mut Peer, seconds: u32| {
        let body = format!(r#"{{"customer":7,"items":["flight-1"],"hold_ms":{seconds}000}}"#);
        peer.post("/v1/travel/itineraries", "", &body)
    };
    let held = hold(&mut peer, 3_600);
    assert_eq!(held.status, 201, "{held:?}");
    let path = held.header("location").unwrap();
    let shown = peer.get(&path, "").json();
    assert_eq!(
        (&shown["state"], &shown["until"]),
        (&"held".into(), &held.json()["until"])
    );
    let confirmed = peer.request("POST", &format!("{path}/confirm"), "", "");
    assert_eq!(confirmed.status, 200);
    assert_eq!(peer.get(&path, "").json()["state"], "booked");
    let long = hold(&mut peer, 2_592_001);
    assert_eq!(long.problem(), (400, "hold_too_long".to_owned()));
    assert_eq!(long.json()["ttl_seconds_max"], 2_592_000);

    let mut follower = events::open_stream(own_door(&site), "/v1/travel/events", "");
    let brief = hold(&mut peer, 1).header("location").unwrap();
    let kinds: Vec<String> = (0..4).map(|_| kind(&mut follower)).collect();
    assert_eq!(kinds, ["committed", "held", "committed", "expired"]);
    assert_eq!(peer.get(&brief, "").json()["state"], "over");
    site.close();
}

fn kind(follower: &mut Peer) -> String {
    let block = events::block(follower);
    let line = block.lines().find_map(|line| line.strip_prefix("event: "));
    line.unwrap().to_owned()
}

#[test]
fn whoever_waits_for_a_lock_is_answered_when_it_is_free() {
    let site = agency(limits::WAIT_MS);
    let [mut first, mut second] = [site.peer(), site.peer()];
    let (holder, waiter) = (begin(&mut first), begin(&mut second));
    assert_eq!(
        reserve(&mut first, &holder, r#"["car-montreal"]"#).status,
        200
    );
    let car = format!("{waiter}/items/car-montreal");
    send(&mut second, "GET", &car, "", "");
    await_waiters(&site, 1);
    let busy = first.get(&car, "");
    assert_eq!(busy.problem(), (409, "busy".to_owned()));
    commit(&mut first, &holder);
    let answer = second.reply();
    assert_eq!(
        answer.json(),
        json!({"item": "car-montreal", "free": 0, "reserved": 1, "price": 30})
    );
    await_waiters(&site, 0);
    site.close();
}

#[test]
fn whoever_waits_too_long_is_told_who_was_in_the_way() {
    let site = agency(SHORT_MS);
    let [mut first, mut second] = [site.peer(), site.peer()];
    let (holder, waiter) = (begin(&mut first), begin(&mut second));
    assert_eq!(reserve(&mut first, &holder, r#"["flight-1"]"#).status, 200);
    let late = reserve(&mut second, &waiter, r#"["flight-1"]"#);
    assert_eq!(late.problem(), (409, "aborted".to_owned()));
    let told = late.json();
    assert_eq!(told["cause"], "lock_timeout");
    assert_eq!(told["holder"], xid_of(&holder));
    assert_eq!(told["retryable"], true);
    let sentence = format!(
        "it waited too long for a lock of transaction {}",
        xid_of(&holder)
    );
    assert_eq!(told["detail"], sentence);
    let over = second.get(&format!("{waiter}/items/flight-1"), "");
    assert_eq!(over.problem(), (409, "aborted".to_owned()));
    commit(&mut first, &holder);
    site.close();
}

#[test]
fn of_two_who_wait_for_each_other_one_is_aborted_at_once() {
    let site = agency(limits::SETTING_MS_MAX);
    let [mut first, mut second] = [site.peer(), site.peer()];
    let (one, other) = (begin(&mut first), begin(&mut second));
    assert_eq!(reserve(&mut first, &one, r#"["flight-1"]"#).status, 200);
    let cars = r#"{"item":"car-montreal","count":1,"price":0}"#;
    assert_eq!(second.post(&format!("{other}/items"), "", cars).status, 200);
    send(
        &mut first,
        "GET",
        &format!("{one}/items/car-montreal"),
        "",
        "",
    );
    await_waiters(&site, 1);
    let victim = second.get(&format!("{other}/items/flight-1"), "");
    assert_eq!(victim.problem(), (409, "aborted".to_owned()));
    assert_eq!(
        (&victim.json()["cause"], &victim.json()["holder"]),
        (&"deadlock".into(), &xid_of(&one).into())
    );
    assert_eq!(first.reply().json()["free"], 1);
    site.close();
}

#[test]
fn a_command_whose_client_goes_away_is_answered_to_its_key() {
    let site = agency(limits::WAIT_MS);
    let mut first = site.peer();
    let holder = begin(&mut first);
    assert_eq!(reserve(&mut first, &holder, r#"["flight-1"]"#).status, 200);
    let body = r#"{"customer":7,"items":["flight-1"]}"#;
    let key = "Idempotency-Key: trip\r\n";
    let mut leaving = site.peer();
    send(&mut leaving, "POST", "/v1/travel/itineraries", key, body);
    await_waiters(&site, 1);
    drop(leaving);
    // The first answer, that it waits, is replayed, and so whoever asks again waits for the same.
    let mut patient = site.peer();
    send(&mut patient, "POST", "/v1/travel/itineraries", key, body);
    await_waiters(&site, 2);
    commit(&mut first, &holder);
    let booked = patient.reply();
    assert_eq!(
        (booked.status, &booked.json()["replayed"]),
        (200, &true.into())
    );
    let again = first.post("/v1/travel/itineraries", key, body);
    assert_eq!(again.json(), booked.json());
    let totals = first.get("/v1/travel/totals", "").json();
    assert_eq!(
        (&totals["booked_total"], &totals["open_transactions"]),
        (&1.into(), &0.into())
    );
    site.close();
}

#[test]
fn a_late_answer_may_be_forgotten_or_never_come() {
    let (site, inbox, mut poll) = Site::with_inbox(HttpLimits::STANDARD);
    let mut peer = site.peer();
    let ticket = Position(9);
    let restarted = Outcome::Refused(Refusal::Aborted(AbortReason::Restarted));
    for (late, expected) in [
        (Some(Some(restarted)), (409, "aborted")),
        (Some(None), (410, "answer_forgotten")),
        (None, (503, "unavailable")),
    ] {
        send(
            &mut peer,
            "POST",
            &format!("{TRANSACTIONS}/7/commit"),
            "",
            "",
        );
        let Ask::Travel(Request::Command { reply, .. }) = next_ask(&inbox, &mut poll) else {
            panic!("a commit is a command");
        };
        let waiting = Executed::<Travel> {
            position: ticket,
            outcome: Outcome::Waiting { ticket },
            replayed: true,
        };
        reply.send(Ok(waiting)).unwrap();
        inbox.note_answered();
        let Ask::Late { ticket: of, reply } = next_ask(&inbox, &mut poll) else {
            panic!("its late answer is asked for");
        };
        assert_eq!(of, ticket);
        match late {
            Some(late) => reply.send(late).unwrap(),
            None => drop(reply),
        }
        let answer = peer.reply();
        let (status, code) = expected;
        assert_eq!(answer.problem(), (status, code.to_owned()));
        let place = (&answer.json()["position"], &answer.json()["replayed"]);
        assert_eq!(place, (&9.into(), &true.into()));
    }
    site.close();
}

#[test]
fn a_late_answer_is_asked_for_until_the_loop_has_room() {
    let (site, inbox, mut poll) = Site::with_inbox(HttpLimits::STANDARD);
    let gate = site.door.stopper().0.gate.clone();
    let mut peer = site.peer();
    send(
        &mut peer,
        "POST",
        &format!("{TRANSACTIONS}/7/commit"),
        "",
        "",
    );
    let Ask::Travel(Request::Command { reply, .. }) = next_ask(&inbox, &mut poll) else {
        panic!("a commit is a command");
    };
    let status = || Ask::Status {
        reply: oneshot::channel().0,
    };
    while gate.ask(status()).is_ok() {}
    let ticket = Position(9);
    let waiting = Executed::<Travel> {
        position: ticket,
        outcome: Outcome::Waiting { ticket },
        replayed: false,
    };
    reply.send(Ok(waiting)).unwrap();
    inbox.note_answered();
    // The door has one thread: when this is answered, it has asked in vain.
    assert_eq!(site.peer().get("/livez", "").status, 200);
    let reply = loop {
        if let Ask::Late { reply, .. } = next_ask(&inbox, &mut poll) {
            break reply;
        }
    };
    let committed = Outcome::Done(Done::Committed);
    reply.send(Some(committed)).unwrap();
    assert_eq!(peer.reply().json(), json!({"position": 9}));
    site.close();
}

#[test]
fn a_stop_answers_those_who_wait() {
    let site = agency(limits::SETTING_MS_MAX);
    let [mut first, mut second] = [site.peer(), site.peer()];
    let (holder, waiter) = (begin(&mut first), begin(&mut second));
    assert_eq!(reserve(&mut first, &holder, r#"["flight-1"]"#).status, 200);
    send(
        &mut second,
        "GET",
        &format!("{waiter}/items/flight-1"),
        "",
        "",
    );
    await_waiters(&site, 1);
    site.door.stopper().stop();
    let told = second.reply();
    assert_eq!(told.problem(), (503, "unavailable".to_owned()));
    let why = "the server stops, and whatever is open will be aborted";
    assert_eq!(told.json()["detail"], why);
    site.close();
}

/// A commit is answered before it is told to those who follow: whoever followed from the end on after
/// that answer heard of the agency's own commit sometimes.
#[test]
fn events_are_told_and_resumed() {
    let site = agency(SHORT_MS);
    let mut follower = events::open_stream(own_door(&site), "/v1/travel/events?since=0", "");
    let opened = events::block(&mut follower);
    assert!(
        opened.contains(r#""kind":"committed","xid":1}"#),
        "{opened}"
    );
    let mut peer = site.peer();
    let (holder, waiter) = (begin(&mut peer), begin(&mut peer));
    assert_eq!(reserve(&mut peer, &holder, r#"["flight-1"]"#).status, 200);
    assert_eq!(reserve(&mut peer, &waiter, r#"["flight-1"]"#).status, 409);
    commit(&mut peer, &holder);
    let aborted = events::block(&mut follower);
    let data: Value = serde_json::from_str(aborted.split("data: ").nth(1).unwrap()).unwrap();
    assert_eq!(
        json!([data["kind"], data["xid"], data["cause"], data["holder"]]),
        json!(["aborted", xid_of(&waiter), "lock_timeout", xid_of(&holder)])
    );
    let committed = events::block(&mut follower);
    assert!(committed.contains("event: committed\n"), "{committed}");
    let id = aborted
        .lines()
        .next()
        .unwrap()
        .strip_prefix("id: ")
        .unwrap();
    let header = format!("Last-Event-ID: {id}\r\n");
    let mut resumed = events::open_stream(own_door(&site), "/v1/travel/events", &header);
    assert_eq!(events::block(&mut resumed), committed);
    site.close();
}

#[test]
fn events_are_told_again_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let chosen = Settings {
        data: Some(directory.path().to_owned()),
        storage: Options::with(Durability::Sync),
        ..settings(Some("127.0.0.1:0".parse().unwrap()))
    };
    let all = "/v1/travel/events?since=0";
    let site = Site::of(start(&chosen).unwrap(), HttpLimits::STANDARD);
    let mut peer = site.peer();
    let tx = begin(&mut peer);
    commit(&mut peer, &tx);
    let left_open = begin(&mut peer);
    let mut follower = events::open_stream(own_door(&site), all, "");
    let committed = events::block(&mut follower);
    assert!(
        committed.contains(r#""kind":"committed","xid":1}"#),
        "{committed}"
    );
    site.close();

    let site = Site::of(start(&chosen).unwrap(), HttpLimits::STANDARD);
    let mut follower = events::open_stream(own_door(&site), all, "");
    assert_eq!(events::block(&mut follower), committed);
    let aborted = events::block(&mut follower);
    assert!(aborted.contains(r#""cause":"restarted"}"#), "{aborted}");
    let over = site.peer().get(&left_open, "").json();
    assert_eq!(
        json!([over["state"], over["cause"]]),
        json!(["aborted", "restarted"])
    );
    site.close();
}
