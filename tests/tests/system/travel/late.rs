//! The late answer to a trip under a key, behind more later answers than the machine keeps without keys.

use turnstile_client::{Connection, resp::Value};
use turnstile_travel::limits::LATE_ANSWERS_MAX;

use super::{
    company::{Company, MIDDLEWARE},
    faults::book_keyed,
    ledger::{Ledger, Sale, Told, Trip},
};
use crate::crash::listing::connect;

/// Clients that ask at the same time, so that one sync serves many of them.
const CROWD: usize = 64;

/// It once was forgotten after 4,096 later ones: whoever had bought the trip could not learn its locator.
#[test]
fn a_trip_is_told_again_to_its_key_behind_thousands_of_later_answers() {
    let mut company = Company::separate();
    let mut ledger = Ledger::open(&company);
    let (customer, trip) = (1, Trip::of(0));
    let mut clerk = company.clerk();
    let xid = clerk.starts().expect("the server lives");
    clerk.says(&format!("AddCustomerID,{xid},{customer}"));
    assert!(clerk.says(&format!("Commit,{xid}")).ends_with("committed"));
    let locator = |company: &Company| {
        let told = book_keyed(company, customer, trip).expect("the server lives");
        let locator = told.at("locator").and_then(Value::as_str);
        locator.unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    let first = locator(&company);

    let unknown = ["TRAVEL.BOOK", "1", "flight-9", "car-lima", "room-lima"].map(str::as_bytes);
    let resp = company.process(MIDDLEWARE).resp();
    let mut crowd: Vec<Connection> = (0..CROWD)
        .map(|_| connect(resp).expect("its door is open"))
        .collect();
    for _ in 0..=LATE_ANSWERS_MAX / CROWD {
        for connection in &mut crowd {
            connection.send(&unknown);
            connection.flush().expect("the server lives");
        }
        for connection in &mut crowd {
            let told = connection.receive().expect("the server lives");
            assert_eq!(told.at("outcome").and_then(Value::as_str), Some("refused"));
        }
    }
    assert_eq!(locator(&company), first);
    company.kill(MIDDLEWARE);
    company.start(MIDDLEWARE);
    assert_eq!(locator(&company), first);

    ledger.enter(Sale {
        customer,
        trip,
        told: Told::Committed,
    });
    assert_eq!(ledger.audit(&company).committed, 1);
    company.stop_and_verify();
    Ledger::compare_directories(&company, 1);
}
