//! What operators of travel see, and what they decide.

use serde_json::json;
use tokio::sync::oneshot;
use turnstile_travel::{
    Body, Command, Desk, Desks, Done, Item, Operation, Order, Outcome, Parcel, Request,
    Settings as TravelSettings, Travel, TravelRoles, Xid, limits,
};
use turnstile_types::Machine;

use super::{
    travel::{TRANSACTIONS, agency, await_waiters, begin, commit, own_door, reserve, send, xid_of},
    *,
};
use crate::core::gate::{self, Ask};

/// The transactions that are shown at a stage, or at any.
fn listed(peer: &mut Peer, parameters: &str) -> Vec<Value> {
    let listed = peer.get(&format!("{TRANSACTIONS}{parameters}"), "");
    listed.json()["transactions"].as_array().unwrap().clone()
}

fn xids(listed: &[Value]) -> Vec<u64> {
    let xids = listed.iter().map(|one| one["xid"].as_u64().unwrap());
    xids.collect()
}

#[test]
fn it_is_shown_who_has_what_and_who_waits_for_whom() {
    let site = agency(limits::WAIT_MS);
    let [mut first, mut second] = [site.peer(), site.peer()];
    let (holder, waiter) = (begin(&mut first), begin(&mut second));
    let (has, wants) = (xid_of(&holder), xid_of(&waiter));
    assert_eq!(reserve(&mut first, &holder, r#"["flight-1"]"#).status, 200);
    send(
        &mut second,
        "GET",
        &format!("{waiter}/items/flight-1"),
        "",
        "",
    );
    await_waiters(&site, 1);

    let mut all = listed(&mut first, "");
    assert_eq!(xids(&all), [has, wants]);
    assert_eq!(xids(&listed(&mut first, "?state=active")), [has]);
    assert_eq!(xids(&listed(&mut first, "?state=waiting")), [wants]);
    for none in ["prepared", "in-doubt"] {
        assert_eq!(
            listed(&mut first, &format!("?state={none}")),
            [] as [Value; 0]
        );
    }
    assert!(all[1]["until"].is_string());
    all[1]["until"].take();
    let mut wanting = json!({"desk": "flights", "prepared": false, "held": 0, "locks": []});
    wanting["wants"] = json!({"what": "flight-1", "mode": "shared"});
    assert_eq!(
        all[1],
        json!({"xid": wants, "state": "waiting", "phase": "waiting", "waits_for": has, "until": null,
            "touched": ["flights"], "awaited": ["flights"], "before": [], "branches": [wanting]})
    );
    let page = first.get(&format!("{TRANSACTIONS}?limit=1"), "");
    let link = page.header("link").unwrap();
    let next = first.get(&link[1..link.find('>').unwrap()], "").json();
    assert_eq!(next["transactions"][0]["xid"], wants);

    let shown = first.get(&holder, "").json();
    let locks = |resources: [(&str, &str); 1]| {
        let lock = |(resource, mode)| json!({"what": resource, "mode": mode});
        json!(resources.map(lock))
    };
    assert_eq!(shown["state"], "active");
    assert_eq!(shown["branches"][0]["desk"], "flights");
    assert_eq!(
        shown["branches"][0]["locks"],
        locks([("flight-1", "exclusive")])
    );
    let waiting = first.get(&waiter, "").json();
    assert_eq!(waiting["before"], json!([has]));
    commit(&mut first, &holder);
    assert_eq!(second.reply().status, 200);
    let ended = first.get(&holder, "").json();
    assert_eq!(
        ended,
        json!({"xid": has, "state": "committed", "phase": "committed", "touched": [], "awaited": [],
            "before": [], "branches": []})
    );
    site.close();
}

#[test]
fn it_is_shown_why_a_transaction_was_aborted() {
    let site = agency(travel::SHORT_MS);
    let mut peer = site.peer();
    let (holder, waiter) = (begin(&mut peer), begin(&mut peer));
    assert_eq!(reserve(&mut peer, &holder, r#"["flight-1"]"#).status, 200);
    assert_eq!(reserve(&mut peer, &waiter, r#"["flight-1"]"#).status, 409);
    let shown = peer.get(&waiter, "").json();
    assert_eq!(
        json!([shown["state"], shown["cause"], shown["holder"]]),
        json!(["aborted", "lock_timeout", xid_of(&holder)])
    );
    site.close();
}

/// The coordinator of a desk that is alone in its process.
struct Distant<'a> {
    running: &'a Running,
    sent: u64,
}

impl Distant<'_> {
    fn deliver(&mut self, body: Option<(u64, Order)>) {
        self.sent += u64::from(body.is_some());
        let number = if body.is_some() { self.sent } else { 0 };
        let request = body.map(|(xid, order)| Request {
            xid: Xid(xid),
            order,
        });
        let parcel = Parcel {
            desk: Desk::Flights,
            life: 1,
            peer_life: 1,
            number,
            received: 0,
            body: Body::Request(request),
        };
        let mut command = Vec::new();
        Travel::encode_command(&Command::Deliver(parcel), &mut command);
        let (reply, answer) = oneshot::channel();
        let request = gate::Request::Command {
            caller: crate::Caller::server(),
            key: None,
            command,
            reply,
        };
        self.running.gate().ask(Ask::Travel(request)).unwrap();
        let executed = answer.blocking_recv().unwrap().unwrap();
        assert_eq!(executed.outcome, Outcome::Done(Done::Delivered));
    }

    /// Has the desk vote for a transaction that adds a seat.
    fn prepare(&mut self, xid: u64, flight: i32) {
        let operation = Operation::Add {
            item: Item::Flight(flight),
            count: 1,
            price: 9,
        };
        let first = true;
        self.deliver(Some((xid, Order::Operate { first, operation })));
        self.deliver(Some((xid, Order::Prepare)));
    }
}

#[test]
fn an_operator_resolves_what_is_in_doubt() {
    let alone = TravelRoles {
        coordinator: false,
        desks: Desks::only(Desk::Flights),
    };
    let chosen = Settings {
        travel: Some(TravelSettings {
            roles: alone,
            ..TravelSettings::FIRST
        }),
        ..settings(Some("127.0.0.1:0".parse().unwrap()))
    };
    let site = Site::of(start(&chosen).unwrap(), HttpLimits::STANDARD);
    let running = site.running.as_ref().unwrap();
    let mut distant = Distant { running, sent: 0 };
    distant.deliver(None);
    distant.prepare(5, 1);
    distant.prepare(8, 2);

    let mut follower = events::open_stream(own_door(&site), "/v1/travel/events", "");
    let mut peer = site.peer();
    let elsewhere = peer.request("POST", TRANSACTIONS, "", "");
    assert_eq!(elsewhere.problem(), (421, "not_here".to_owned()));
    assert_eq!(xids(&listed(&mut peer, "?state=in-doubt")), [5, 8]);
    let shown = peer.get(&format!("{TRANSACTIONS}/5"), "").json();
    let lock = json!({"what": "flight-1", "mode": "exclusive"});
    assert_eq!(
        shown["branches"],
        json!([{"desk": "flights", "prepared": true, "held": 1, "locks": [lock]}])
    );
    let mut resolve = |xid: u64, decision: &str| {
        let body = format!(r#"{{"desk":"flights","decision":"{decision}"}}"#);
        peer.post(&format!("{TRANSACTIONS}/{xid}/resolve"), "", &body)
    };
    assert_eq!(resolve(5, "commit").status, 200);
    assert_eq!(resolve(8, "abort").status, 200);
    assert_eq!(
        resolve(8, "abort").problem(),
        (409, "not_in_doubt".to_owned())
    );
    assert_eq!(listed(&mut peer, "?state=in-doubt"), [] as [Value; 0]);
    let flights = peer.get("/v1/travel/items?desk=flights", "").json();
    assert_eq!(
        flights["items"],
        json!([{"item": "flight-1", "free": 1, "reserved": 0, "price": 9}])
    );
    for (xid, decision) in [(5, "commit"), (8, "abort")] {
        let told = events::block(&mut follower);
        let data: Value = serde_json::from_str(told.split("data: ").nth(1).unwrap()).unwrap();
        assert_eq!(
            json!([
                data["kind"],
                data["xid"],
                data["desk"],
                data["decision"],
                data["by"]
            ]),
            json!(["resolved", xid, "flights", decision, "local"])
        );
    }
    site.close();
}
