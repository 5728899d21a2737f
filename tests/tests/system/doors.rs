//! The doors lead into one house.

use serde_json::{Value, json};

use crate::door::{Door, door, redis_cli};
use crate::program::output;

fn curl(door: &Door, path: &str, more: &[&str]) -> Value {
    let url = format!("{}{path}", door.url);
    let answer = output(
        "curl",
        &[&["--silent", "--show-error", &url], more].concat(),
        b"",
    );
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn what_is_booked_at_one_door_is_known_and_cancelled_at_the_other() {
    let door = door();
    let book = "ROOMS.BOOK bench 101 2027-03-01 2027-03-03 ada 234123412346";
    let booked = redis_cli(&door, &book.split(' ').collect::<Vec<_>>(), "");
    let ["1", reference, "101", position] = booked.lines().collect::<Vec<_>>()[..] else {
        panic!("not booked: {booked}");
    };

    let path = format!("/v1/rooms/bookings/{reference}");
    let mut entry = curl(&door, &path, &[]);
    let fields = entry.as_object_mut().expect("an entry is an object");
    assert!(fields.remove("since").is_some() && fields.remove("principal").is_some());
    let expected = json!({
        "reference": reference,
        "state": "booked",
        "property": "bench",
        "room": "101",
        "arrival": "2027-03-01",
        "departure": "2027-03-03",
        "guest": "ada",
        "id_number": "********2346",
        "position": position.parse::<u64>().expect("a position is a number"),
    });
    assert_eq!(entry, expected);

    let body = ["--json", r#"{"id_number":"234123412346"}"#];
    let mut cancelled = curl(&door, &format!("{path}/cancel"), &body);
    cancelled
        .as_object_mut()
        .expect("an answer is an object")
        .remove("position");
    let stay = json!({"room": "101", "arrival": "2027-03-01", "departure": "2027-03-03"});
    assert_eq!(cancelled, stay);
    assert_eq!(
        redis_cli(&door, &["ROOMS.LOOK-UP", reference], ""),
        "0\nended\n"
    );
}

#[test]
fn a_transaction_that_one_door_has_open_keeps_another_waiting() {
    let door = door();
    let post = ["--request", "POST"];
    let started = curl(&door, "/v1/travel/transactions", &post);
    let xid = started["xid"].as_u64().expect("a transaction has a number");
    let tx = format!("/v1/travel/transactions/{xid}");
    let seats = ["--json", r#"{"item":"flight-8","count":2,"price":70}"#];
    assert!(curl(&door, &format!("{tx}/items"), &seats)["position"].is_u64());
    let customer = ["--json", r#"{"customer":41}"#];
    assert_eq!(
        curl(&door, &format!("{tx}/customers"), &customer)["customer"],
        41
    );

    let started = redis_cli(&door, &["TRAVEL.START"], "");
    let ["1", other, _] = started.lines().collect::<Vec<_>>()[..] else {
        panic!("not started: {started}");
    };
    let words = ["TRAVEL.RESERVE", other, "41", "flight-8"];
    let sold = std::thread::scope(|scope| {
        let sold = scope.spawn(|| redis_cli(&door, &words, ""));
        let waiting = "/v1/travel/transactions?state=waiting";
        while curl(&door, waiting, &[])["transactions"][0]["waits_for"] != xid {
            assert!(!sold.is_finished(), "nothing keeps it from being done");
        }
        assert!(curl(&door, &format!("{tx}/commit"), &post)["position"].is_u64());
        sold.join().expect("redis-cli ends")
    });
    assert!(sold.starts_with("1\n"), "{sold}");
    assert!(redis_cli(&door, &["TRAVEL.COMMIT", other], "").starts_with("1\n"));
    let bill = json!({"customer": 41, "total": 70,
        "lines": [{"item": "flight-8", "count": 1, "price": 70}]});
    assert_eq!(curl(&door, "/v1/travel/customers/41", &[]), bill);
}
