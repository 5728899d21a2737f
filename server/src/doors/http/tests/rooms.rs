//! The rooms service through the door.

use super::*;

const BOOK: &str = "/v1/rooms/bookings";
const ID: &str = r#"{"id_number":"234123412346"}"#;

#[test]
fn a_key_gets_its_first_answer_again_and_no_other_content() {
    let site = Site::open();
    let mut peer = site.peer();
    let body = booking("1", "2027-01-01", "2027-01-03");
    let first = peer.post(BOOK, "Idempotency-Key: \"k-1\"\r\n", &body);
    assert_eq!(
        (first.status, first.header("idempotent-replayed")),
        (201, None)
    );
    let again = peer.post(BOOK, "Idempotency-Key: k-1\r\n", &body);
    assert_eq!(again.status, 200);
    assert_eq!(again.header("idempotent-replayed").as_deref(), Some("true"));
    let mut expected = first.json();
    expected["replayed"] = true.into();
    assert_eq!(again.json(), expected);
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(
        again.header("turnstile-position"),
        first.header("turnstile-position")
    );

    let other = booking("2", "2027-01-01", "2027-01-03");
    let reused = peer.post(BOOK, "Idempotency-Key: k-1\r\n", &other);
    assert_eq!(reused.problem(), (422, "idempotency_key_reused".to_owned()));

    let refused = peer.post(BOOK, "Idempotency-Key: k-2\r\n", &body);
    assert_eq!(refused.problem(), (409, "sold_out".to_owned()));
    assert_eq!(
        refused.json()["nights"],
        serde_json::json!(["2027-01-01", "2027-01-02"])
    );
    let again = peer.post(BOOK, "Idempotency-Key: k-2\r\n", &body);
    assert_eq!(again.problem(), refused.problem());
    assert_eq!(again.json()["replayed"], true);
    assert_eq!(again.json()["position"], refused.json()["position"]);

    for wrong in ["\"k", "two words", ""] {
        let header = format!("Idempotency-Key: {wrong}\r\n");
        let reply = peer.post(BOOK, &header, &body);
        assert_eq!(
            reply.problem(),
            (400, "invalid_idempotency_key".to_owned()),
            "{wrong}"
        );
    }
    site.close();
}

#[test]
fn a_version_is_compared_on_look_up_and_cancel() {
    let site = Site::open();
    let mut peer = site.peer();
    let made = peer.post(BOOK, "", &booking("1", "2027-01-01", "2027-01-03"));
    let path = made.header("location").unwrap();
    let found = peer.get(&path, "");
    let etag = found.header("etag").unwrap();
    assert_eq!(etag, format!("\"{}\"", made.json()["position"]));
    let entry = found.json();
    assert_eq!(entry["state"], "booked");
    assert_eq!(entry["id_number"], "********2346");
    let unchanged = peer.get(&path, &format!("If-None-Match: \"0\", W/{etag}\r\n"));
    assert_eq!((unchanged.status, unchanged.body.as_str()), (304, ""));
    assert_eq!(unchanged.header("etag"), Some(etag.clone()));
    assert_eq!(peer.get(&path, "If-None-Match: \"0\"\r\n").status, 200);

    let cancel = format!("{path}/cancel");
    let stale = peer.post(&cancel, "If-Match: \"0\"\r\n", ID);
    assert_eq!(stale.problem(), (412, "precondition_failed".to_owned()));
    let wrong = peer.post(&cancel, "", r#"{"id_number":"000000000000"}"#);
    assert_eq!(wrong.problem(), (403, "wrong_guest".to_owned()));
    let headers = format!("If-Match: {etag}\r\nIdempotency-Key: c\r\n");
    let cancelled = peer.post(&cancel, &headers, ID);
    assert_eq!(cancelled.status, 200);
    assert_eq!(cancelled.json()["departure"], "2027-01-03");
    let again = peer.post(&cancel, &headers, ID);
    assert_eq!(
        (again.status, again.json()["replayed"].clone()),
        (200, true.into())
    );
    let ended = peer.post(&cancel, &format!("If-Match: {etag}\r\n"), ID);
    assert_eq!(ended.problem(), (410, "ended".to_owned()));
    assert_eq!(peer.get(&path, "").problem(), (410, "ended".to_owned()));
    site.close();
}

/// The first line alone was read, and one that was no ASCII counted as none: a booking was cancelled
/// whose version the client had not named.
#[test]
fn every_line_of_a_condition_counts_whatever_is_in_it() {
    let site = Site::open();
    let mut peer = site.peer();
    let made = peer.post(BOOK, "", &booking("1", "2027-01-01", "2027-01-03"));
    let path = made.header("location").unwrap();
    let cancel = format!("{path}/cancel");
    for stale in [
        "If-Match: \"\u{e9}\"\r\n",
        "If-Match: \u{e9}\r\n",
        "If-Match: \"0\"\r\nIf-Match: \"\u{e9}\"\r\n",
        "If-Match: *\r\nIf-Match: \"0\"\r\n",
    ] {
        let reply = peer.post(&cancel, stale, ID);
        let expected = (412, "precondition_failed".to_owned());
        assert_eq!(reply.problem(), expected, "{stale}");
    }
    let etag = peer.get(&path, "").header("etag").unwrap();
    let second = format!("If-None-Match: \"0\"\r\nIf-None-Match: {etag}\r\n");
    assert_eq!(peer.get(&path, &second).status, 304);
    let second = format!("If-Match: \"0\"\r\nIf-Match: {etag}\r\n");
    assert_eq!(peer.post(&cancel, &second, ID).status, 200);
    site.close();
}

#[test]
fn a_booking_moves_under_its_reference_and_a_refusal_leaves_it() {
    let site = Site::open();
    let mut peer = site.peer();
    let made = peer.post(BOOK, "", &booking("1", "2027-01-01", "2027-01-03"));
    let path = made.header("location").unwrap();
    peer.post(BOOK, "", &booking("2", "2027-01-04", "2027-01-05"));
    let body = |wish: &str, departure: &str| {
        format!(
            r#"{{"wish":"{wish}","arrival":"2027-01-02","departure":"{departure}","id_number":"234123412346"}}"#
        )
    };
    let moves = format!("{path}/move");
    // A retry with its key would find the version that the first attempt made: there is no condition.
    let conditional = peer.post(&moves, "If-Match: \"0\"\r\n", &body("2", "2027-01-04"));
    assert_eq!(conditional.problem(), (400, "invalid_request".to_owned()));
    let sold = peer.post(&moves, "", &body("2", "2027-01-05"));
    assert_eq!(sold.problem(), (409, "sold_out".to_owned()));
    assert_eq!(peer.get(&path, "").json()["room"], "1");
    for replayed in [false, true] {
        let moved = peer.post(&moves, "Idempotency-Key: m\r\n", &body("2", "2027-01-04"));
        assert_eq!(
            (moved.status, moved.json()["replayed"] == true),
            (200, replayed)
        );
        assert_eq!(moved.json()["room"], "2");
        assert_eq!(moved.json()["from_room"], "1");
        assert_eq!(moved.json()["from_departure"], "2027-01-03");
    }
    let entry = peer.get(&path, "").json();
    let place = ["room", "arrival", "departure"].map(|field| entry[field].clone());
    assert_eq!(place, ["2", "2027-01-02", "2027-01-04"]);
    site.close();
}

#[test]
fn a_manager_cancels_without_the_id_number_and_with_a_reason() {
    const WHY: &str = r#"{"reason":"the house is closed"}"#;
    let site = Site::open();
    let mut peer = site.peer();
    let made = peer.post(BOOK, "", &booking("1", "2027-01-01", "2027-01-03"));
    let path = made.header("location").unwrap();
    let cancel = format!("{path}/cancel-for-guest");
    for (body, field) in [("{}", "reason"), (r#"{"reason":""}"#, "reason")] {
        let answer = peer.post(&cancel, "", body);
        assert_eq!(answer.problem(), (400, "invalid_request".to_owned()));
        assert!(answer.body.contains(field), "{}", answer.body);
    }
    let stale = peer.post(&cancel, "If-Match: \"0\"\r\n", WHY);
    assert_eq!(stale.problem(), (412, "precondition_failed".to_owned()));
    let cancelled = peer.post(&cancel, "Idempotency-Key: c\r\n", WHY);
    assert_eq!(cancelled.status, 200);
    assert_eq!(cancelled.json()["departure"], "2027-01-03");
    let again = peer.post(&cancel, "Idempotency-Key: c\r\n", WHY);
    assert_eq!(
        (again.status, again.json()["replayed"].clone()),
        (200, true.into())
    );
    let ended = peer.post(&cancel, "", WHY);
    assert_eq!(ended.problem(), (410, "ended".to_owned()));
    site.close();
}

#[test]
fn listings_go_on_at_their_cursor() {
    let site = Site::open();
    let mut peer = site.peer();
    for room in ["1", "2", "3"] {
        let made = peer.post(BOOK, "", &booking(room, "2027-01-01", "2027-01-02"));
        assert_eq!(made.status, 201);
    }
    let mut target =
        "/v1/rooms/properties/bench/bookings?from=2027-01-01&to=2027-02-01&limit=2".to_owned();
    let mut rooms = Vec::new();
    loop {
        let page = peer.get(&target, "");
        let entries = page.json()["entries"].as_array().unwrap().clone();
        rooms.extend(
            entries
                .iter()
                .map(|entry| entry["room"].as_str().unwrap().to_owned()),
        );
        let Some(link) = page.header("link") else {
            assert_eq!(page.json()["next"], Value::Null);
            break;
        };
        let cursor = page.json()["next"].as_str().unwrap().to_owned();
        assert!(
            link.ends_with(&format!("cursor={cursor}>; rel=\"next\"")),
            "{link}"
        );
        target = link[1..link.find('>').unwrap()].to_owned();
    }
    assert_eq!(rooms, ["1", "2", "3"]);
    let search = r#"{"id_number":"234123412346","limit":2}"#;
    let found = peer.post("/v1/rooms/guests/search", "", search).json();
    assert_eq!(found["entries"].as_array().unwrap().len(), 2);
    let cursor = found["next"].as_str().unwrap();
    let search = search.replace('}', &format!(",\"cursor\":\"{cursor}\"}}"));
    let rest = peer.post("/v1/rooms/guests/search", "", &search).json();
    assert_eq!(rest["entries"].as_array().unwrap().len(), 1);
    site.close();
}

#[test]
fn a_hold_is_extended_confirmed_or_released() {
    let site = Site::open();
    let mut peer = site.peer();
    let hold = |room: &str| {
        format!(
            r#"{{"property":"bench","wish":"{room}","arrival":"2027-01-01","departure":"2027-01-02","ttl_seconds":60}}"#
        )
    };
    let held = peer.post("/v1/rooms/holds", "", &hold("1"));
    assert_eq!(held.status, 201);
    let reference = held.json()["reference"].as_str().unwrap().to_owned();
    let path = format!("/v1/rooms/holds/{reference}");
    let extended = peer
        .post(&format!("{path}/extend"), "", r#"{"ttl_seconds":120}"#)
        .json();
    assert!(
        extended["until"].as_str() > held.json()["until"].as_str(),
        "{extended}"
    );
    let listed = peer.get("/v1/rooms/holds", "").json();
    assert_eq!(listed["entries"][0]["reference"], *reference);
    let early = peer.post(&format!("{BOOK}/{reference}/cancel"), "If-Match: *\r\n", ID);
    assert_eq!(early.problem(), (409, "not_confirmed".to_owned()));
    let confirm = r#"{"guest":"ada","id_number":"234123412346"}"#;
    let confirmed = peer.post(&format!("{path}/confirm"), "", confirm).json();
    assert_eq!(
        (&confirmed["room"], &confirmed["late"]),
        (&"1".into(), &false.into())
    );
    let late = peer.request("POST", &format!("{path}/release"), "", "");
    assert_eq!(late.problem(), (409, "already_confirmed".to_owned()));
    let other = peer.post("/v1/rooms/holds", "", &hold("2")).json();
    let other = format!("/v1/rooms/holds/{}", other["reference"].as_str().unwrap());
    assert_eq!(
        peer.request("POST", &format!("{other}/release"), "", "")
            .status,
        200
    );
    let gone = peer.request("POST", &format!("{other}/release"), "", "");
    assert_eq!(gone.problem(), (410, "ended".to_owned()));
    site.close();
}

#[test]
fn a_property_has_rooms_that_are_stopped_explained_and_withdrawn() {
    let site = Site::open();
    let mut peer = site.peer();
    let properties = "/v1/rooms/properties";
    assert_eq!(
        peer.post(properties, "", r#"{"property":"grand"}"#).status,
        201
    );
    let twice = peer.post(properties, "", r#"{"property":"grand"}"#);
    assert_eq!(twice.problem(), (409, "property_exists".to_owned()));
    let grand = "/v1/rooms/properties/grand";
    for room in ["101", "102"] {
        let room = format!(r#"{{"room":"{room}","type":"double"}}"#);
        assert_eq!(peer.post(&format!("{grand}/rooms"), "", &room).status, 201);
    }
    let stay = "arrival=2027-01-01&departure=2027-01-03";
    let stop = format!("{grand}/rooms/101/stop-sell");
    let nights = r#"{"arrival":"2027-01-01","departure":"2027-01-03"}"#;
    let json = "Content-Type: application/json\r\n";
    assert_eq!(peer.request("PUT", &stop, json, nights).status, 200);
    let free = peer
        .get(&format!("{grand}/availability?{stay}&type=double"), "")
        .json();
    let types = serde_json::json!([
        {"type": "double", "rooms": 2, "free": [1, 1], "free_throughout": 1}
    ]);
    assert_eq!(free["types"], types);
    let why = peer
        .get(&format!("{grand}/explain?{stay}&wish=101"), "")
        .json();
    assert_eq!(why["would_get"], Value::Null);
    assert_eq!(why["blocks"][0]["kind"], "stop_sell");
    let resume = format!("{stop}?{stay}");
    assert_eq!(peer.request("DELETE", &resume, "", "").status, 200);
    let withdrawn = peer.request("DELETE", &format!("{grand}/rooms/101"), "", "");
    assert_eq!(withdrawn.status, 200);
    let listed = peer.get(&format!("{properties}?limit=1"), "");
    assert_eq!(listed.json()["properties"][0]["property"], "bench");
    assert!(listed.header("link").is_some());
    site.close();
}
