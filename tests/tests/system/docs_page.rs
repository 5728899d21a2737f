//! The page of the documentation in a real browser: an operation is found, tried and answered.

use serde_json::{Value, json};
use turnstile_trial::Chromium;

use crate::door::{Door, door};

/// The operations that the contents show.
const SHOWN: &str = "[...document.querySelectorAll('nav li:not([hidden])')]\
                     .map(one => one.textContent)";

/// Types the words of a search.
fn search(browser: &mut Chromium, words: &str) -> Value {
    browser.value(&format!(
        "search.value = {words:?}, search.dispatchEvent(new Event('input')), {SHOWN}"
    ))
}

/// Opens an operation as a link to it does, fills its fields, sends the form, and gives what is shown
/// below it: the request and its answer.
fn send(browser: &mut Chromium, operation: &str, fields: &[(&str, &str)]) -> String {
    let fields: Vec<Value> = fields
        .iter()
        .map(|(name, value)| json!([name, value]))
        .collect();
    let shown = browser.value(&format!(
        "new Promise(done => {{ \
             location.hash = '{operation}'; \
             const form = document.querySelector('#{operation} form'); \
             for (const [name, value] of {fields}) form.elements[name].value = value; \
             const output = form.querySelector('output'); \
             new MutationObserver(() => done(output.textContent)) \
                 .observe(output, {{childList: true}}); \
             form.querySelector('button').click(); \
         }})",
        fields = Value::from(fields),
    ));
    shown.as_str().expect("the output is text").to_owned()
}

/// A server, and its page in a browser.
fn page() -> (Door, Chromium) {
    let door = door();
    let mut browser = Chromium::start();
    browser.open(&format!("{}/docs", door.url));
    (door, browser)
}

#[test]
fn an_operation_is_found_by_its_words() {
    let (_door, mut browser) = page();
    let all = search(&mut browser, "");
    assert!(all.as_array().map_or(0, Vec::len) > 80, "{all}");
    assert_eq!(
        search(&mut browser, "ROOMS hold post"),
        json!(["roomsHold", "roomsExtend", "roomsConfirm", "roomsRelease"])
    );
    assert_eq!(search(&mut browser, "no such words"), json!([]));
}

#[test]
fn a_form_sends_its_fields_and_shows_the_answer() {
    let (_door, mut browser) = page();
    let stay = [("arrival", "2027-03-01"), ("departure", "2027-03-03")];
    let book = [
        &[("property", "bench"), ("wish", "r1"), ("guest", "ada")][..],
        &stay,
        &[("id_number", "234123412346"), ("Idempotency-Key", "once")],
    ]
    .concat();
    let booked = send(&mut browser, "roomsBook", &book);
    assert!(booked.starts_with("POST /v1/rooms/bookings\n{"), "{booked}");
    assert!(booked.contains("\n201 Created\n"), "{booked}");
    assert!(booked.contains("\"room\": \"r1\""), "{booked}");
    let again = send(&mut browser, "roomsBook", &book);
    assert!(again.contains("\"replayed\": true"), "{again}");

    // A problem is shown as it is, and a field of the path and the query is sent there.
    let held = [
        &[("property", "bench"), ("wish", "r1"), ("ttl_seconds", "60")][..],
        &stay,
    ]
    .concat();
    let taken = send(&mut browser, "roomsHold", &held);
    assert!(taken.contains("\"ttl_seconds\":60"), "{taken}");
    assert!(taken.contains("\"code\": \"sold_out\""), "{taken}");
    let list = [
        ("property", "bench"),
        ("from", "2027-03-01"),
        ("to", "2027-04-01"),
    ];
    let listed = send(&mut browser, "roomsListBookings", &list);
    let path = "GET /v1/rooms/properties/bench/bookings?from=2027-03-01&to=2027-04-01\n";
    assert!(listed.starts_with(path), "{listed}");
    assert!(listed.contains("\"guest\": \"ada\""), "{listed}");
}

#[test]
fn a_list_has_a_line_for_each_value_and_a_field_shows_its_default() {
    let (_door, mut browser) = page();
    let trip = [("customer", "42"), ("items", "flight-7\ncar-new york")];
    let booked = send(&mut browser, "travelBook", &trip);
    let body = r#"{"customer":42,"items":["flight-7","car-new york"]}"#;
    assert!(booked.contains(body), "{booked}");
    let limit = browser.value(
        "document.querySelector('#roomsListBookings [name=limit]').closest('tr').textContent",
    );
    assert_eq!(limit, "limit optional1 to 1000; 100 by default");
}
