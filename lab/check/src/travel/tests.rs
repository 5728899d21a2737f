//! What the agency takes for true.

mod history;
mod holds;

use std::time::{Duration, Instant};

use super::{
    Agency, AgencyOperation, BillRow, CustomerBill, ItemOffer, JourneyEnd, JourneyStep,
    ReserveAnswer, TripBooked, TripCancelled, TripItems,
};
use crate::{Checker, Model as _, Seen, rooms::InlineReference, witnesses};

const ADA: u16 = 0;
const BOB: u16 = 1;

fn offer(free: i64, reserved: i64) -> ItemOffer {
    ItemOffer {
        free,
        reserved,
        price: 10,
    }
}

fn agency() -> Agency {
    Agency::new(vec![offer(2, 0); 3], 2)
}

fn locator(text: &str) -> InlineReference {
    InlineReference::parse(text.as_bytes()).unwrap()
}

fn query(item: u16, free: i64, reserved: i64) -> JourneyStep {
    priced_query(item, free, reserved, 10)
}

fn priced_query(item: u16, free: i64, reserved: i64, price: u32) -> JourneyStep {
    let found = Some(ItemOffer {
        price,
        ..offer(free, reserved)
    });
    JourneyStep::Query { item, found }
}

fn bill(customer: u16, lines: &[(u16, i64)]) -> JourneyStep {
    let lines = lines.iter().map(|&(item, count)| (item, count, 10));
    priced_bill(customer, &lines.collect::<Vec<_>>())
}

fn priced_bill(customer: u16, lines: &[(u16, i64, u32)]) -> JourneyStep {
    let lines = lines
        .iter()
        .map(|&(item, count, price)| BillRow { item, count, price });
    let lines: Vec<BillRow> = lines.collect();
    let owed = |line: &BillRow| line.count.unsigned_abs() * u64::from(line.price);
    let total = lines.iter().map(owed).sum();
    let found = Some(CustomerBill { lines, total });
    JourneyStep::Bill { customer, found }
}

fn reserve(customer: u16, items: &[u16]) -> JourneyStep {
    JourneyStep::Reserve {
        customer,
        trip: TripItems::new(items),
        answer: ReserveAnswer::Done,
    }
}

fn add(item: u16, count: i64, price: Option<u32>) -> JourneyStep {
    JourneyStep::Add { item, count, price }
}

fn ended(end: JourneyEnd, steps: &[JourneyStep]) -> AgencyOperation {
    let steps = steps.to_vec();
    AgencyOperation::Transaction { steps, end }
}

fn committed(steps: &[JourneyStep]) -> AgencyOperation {
    ended(JourneyEnd::Committed, steps)
}

fn book(customer: u16, items: &[u16], answer: TripBooked) -> AgencyOperation {
    let trip = TripItems::new(items);
    AgencyOperation::Book {
        customer,
        trip,
        answer,
    }
}

fn booked(customer: u16, items: &[u16], text: &str) -> AgencyOperation {
    let price = 10 * u64::try_from(items.len()).unwrap();
    let locator = locator(text);
    book(customer, items, TripBooked::Done { locator, price })
}

fn held_for(text: &str, price: u64, (asked, until): (u64, u64)) -> TripBooked {
    let locator = locator(text);
    TripBooked::Held {
        locator,
        price,
        asked,
        until,
    }
}

fn cancel(text: &str, answer: TripCancelled) -> AgencyOperation {
    let locator = locator(text);
    AgencyOperation::Cancel { locator, answer }
}

fn replay(agency: &mut Agency, operations: &[AgencyOperation]) -> Vec<String> {
    let replayed = (1..).zip(operations);
    replayed
        .filter_map(|(place, operation)| agency.apply(place, operation).err())
        .collect()
}

/// Records without a position were replayed in the order of the slots that they happened to get: a
/// cancellation came before its booking, and the booking stood in the end.
#[test]
fn what_tells_no_position_is_replayed_in_the_order_in_which_it_was_asked() {
    let begin = Instant::now();
    let (mut lines, chronicle) = witnesses(1, 1, 0);
    let mut checker = Checker::new(agency(), chronicle);
    let told = [
        committed(&[]),
        committed(&[]),
        booked(ADA, &[0], "A1"),
        cancel("A1", TripCancelled::Done),
    ];
    for (number, operation) in (0..).zip(told) {
        lines[0].at(begin + Duration::from_millis(number));
        lines[0].asks();
        lines[0].hears(Seen::Unknown, operation);
        if number == 1 {
            checker.advance();
        }
    }
    let (agency, findings) = checker.finish();
    assert_eq!(findings.unknown, 4);
    let last = agency.last(&[query(0, 2, 0), bill(ADA, &[])]);
    assert!(last.charge.is_empty(), "{last:?}");
}

/// One operation of these is wrong, and told with such a sentence.
fn caught(operations: &[AgencyOperation], sentence: &str) {
    let found = replay(&mut agency(), operations);
    assert_eq!(found.len(), 1, "{sentence}: {found:?}");
    assert!(found[0].contains(sentence), "{sentence}: {found:?}");
}

#[test]
fn whole_transactions_follow_one_another_and_what_is_aborted_leaves_nothing() {
    let mut agency = agency();
    let found = replay(
        &mut agency,
        &[
            committed(&[
                bill(ADA, &[]),
                query(0, 2, 0),
                reserve(ADA, &[0]),
                query(0, 1, 1),
            ]),
            ended(
                JourneyEnd::Aborted,
                &[
                    reserve(BOB, &[0, 1]),
                    query(0, 0, 2),
                    bill(BOB, &[(0, 1), (1, 1)]),
                ],
            ),
            booked(BOB, &[0, 1, 1], "B1"),
            book(BOB, &[2, 0], TripBooked::SoldOut(0)),
            committed(&[
                JourneyStep::Reserve {
                    customer: ADA,
                    trip: TripItems::new(&[0, 2]),
                    answer: ReserveAnswer::SoldOut(0),
                },
                add(0, 2, None),
                query(0, 2, 2),
            ]),
            cancel("B1", TripCancelled::Done),
            cancel("B1", TripCancelled::Over),
            committed(&[bill(BOB, &[]), query(1, 2, 0)]),
        ],
    );
    assert_eq!(found, Vec::<String>::new());
    let last = agency.last(&[query(0, 3, 1), query(1, 2, 0), bill(ADA, &[(0, 1)])]);
    assert!(last.charge.is_empty(), "{last:?}");
    assert_eq!((last.counts, last.clouded), (Some((1, 0)), false));
}

#[test]
fn every_broken_promise_of_isolation_is_caught() {
    let update = committed(&[query(0, 2, 0), reserve(ADA, &[0])]);
    // The second has read before the first was committed, and writes over it.
    let lost = committed(&[query(0, 2, 0), reserve(BOB, &[0])]);
    caught(&[update, lost], "item 0 was shown as ItemOffer { free: 2,");
    let dirty = committed(&[query(0, 1, 1)]);
    let undone = ended(JourneyEnd::Aborted, &[reserve(ADA, &[0])]);
    caught(&[undone, dirty], "item 0 was shown as ItemOffer { free: 1,");
    // Each reads what the other writes.
    let one = committed(&[query(0, 2, 0), query(1, 2, 0), reserve(ADA, &[0])]);
    let other = committed(&[query(0, 2, 0), query(1, 2, 0), reserve(BOB, &[1])]);
    caught(&[one, other], "step 1 of 3: item 0");
    let half = committed(&[bill(ADA, &[(0, 1)])]);
    caught(
        &[booked(ADA, &[0, 1], "A1"), half],
        "the bill of customer 0",
    );
    let unrepeatable = committed(&[query(0, 2, 0), query(0, 1, 1)]);
    caught(&[unrepeatable], "step 2 of 2");
}

#[test]
fn every_wrong_answer_is_caught() {
    let all = booked(ADA, &[0, 0], "A1");
    caught(&[all.clone(), booked(BOB, &[0], "B1")], "it is sold twice");
    caught(
        &[all.clone(), committed(&[reserve(BOB, &[0])])],
        "it is sold twice",
    );
    caught(
        &[book(ADA, &[0, 1], TripBooked::SoldOut(0))],
        "but 2 are free",
    );
    let price = 11;
    let dear = TripBooked::Done {
        locator: locator("A1"),
        price,
    };
    caught(&[book(ADA, &[0], dear)], "was booked for 11, but costs 10");
    caught(&[all.clone(), booked(BOB, &[1], "A1")], "was given before");
    caught(&[all, cancel("A1", TripCancelled::Over)], "it is lost");
    caught(&[cancel("A1", TripCancelled::Done)], "was never booked");
    caught(&[committed(&[JourneyStep::Strange])], "for no reason");
    caught(&[book(ADA, &[0], TripBooked::Strange)], "for no reason");
    let nobody = JourneyStep::Bill {
        customer: ADA,
        found: None,
    };
    caught(&[committed(&[nobody])], "was shown as nothing");
}

#[test]
fn a_price_holds_from_the_transaction_that_set_it_and_on_a_bill_from_the_last_that_was_reserved() {
    let dearer = committed(&[add(0, 1, Some(12)), priced_query(0, 3, 0, 12)]);
    let bill_of_two = |price| committed(&[priced_bill(ADA, &[(0, 2, price)])]);
    let first = booked(ADA, &[0], "A1");
    let at = |price, text| {
        let locator = locator(text);
        book(ADA, &[0], TripBooked::Done { locator, price })
    };
    let dearer_then = committed(&[add(0, 1, Some(12)), priced_query(0, 2, 1, 12)]);
    let right = [
        first.clone(),
        dearer_then.clone(),
        committed(&[bill(ADA, &[(0, 1)])]),
        at(12, "A2"),
        bill_of_two(12),
        cancel("A2", TripCancelled::Done),
        committed(&[priced_bill(ADA, &[(0, 1, 12)])]),
    ];
    assert_eq!(replay(&mut agency(), &right), [""; 0]);
    caught(
        &[dearer.clone(), at(10, "A1")],
        "was booked for 10, but costs 12",
    );
    let old = [first, dearer_then, at(12, "A2"), bill_of_two(10)];
    caught(&old, "the bill of customer 0 was shown as");
    caught(
        &[dearer, committed(&[priced_query(0, 3, 0, 10)])],
        "item 0 was shown as",
    );
    let aborted = ended(JourneyEnd::Aborted, &[add(0, 1, Some(12))]);
    caught(
        &[aborted, committed(&[priced_query(0, 2, 0, 12)])],
        "item 0 was shown as",
    );
    // Of a total that is not that of its lines nothing else is known.
    let wrong_total = JourneyStep::Bill {
        customer: ADA,
        found: Some(CustomerBill {
            lines: Vec::new(),
            total: 1,
        }),
    };
    caught(&[committed(&[wrong_total])], "the bill of customer 0");
}

#[test]
fn a_price_that_may_have_been_set_is_believed_and_no_other() {
    let mut agency = agency();
    agency.suspect(&ended(JourneyEnd::Unknown, &[add(0, 1, Some(12))]));
    let reads = [
        committed(&[priced_query(0, 2, 0, 12)]),
        committed(&[priced_query(0, 2, 0, 10)]),
        committed(&[priced_query(1, 2, 0, 12)]),
    ];
    let found = replay(&mut agency, &reads);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("item 1 was shown as"), "{found:?}");
}

#[test]
fn what_was_never_answered_may_have_been_carried_out_whole_or_not_at_all() {
    let unknown = ended(JourneyEnd::Unknown, &[reserve(ADA, &[0, 1])]);
    for (read, whole) in [
        ([query(0, 1, 1), query(1, 1, 1)], true),
        ([query(0, 2, 0), query(1, 2, 0)], true),
        ([query(0, 1, 1), query(1, 2, 0)], false),
    ] {
        let mut agency = agency();
        agency.suspect(&unknown);
        let found = replay(&mut agency, &[committed(&read)]);
        assert_eq!(found.is_empty(), whole, "{read:?}: {found:?}");
    }
    // What was seen once was carried out, and stays.
    let mut agency = agency();
    agency.suspect(&unknown);
    let seen = [committed(&[query(0, 1, 1)]), committed(&[query(0, 2, 0)])];
    let found = replay(&mut agency, &seen);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("item 0 was shown as ItemOffer { free: 2"));
}

#[test]
fn where_several_explain_an_answer_none_is_taken_for_the_one() {
    let mut agency = agency();
    for customer in [ADA, BOB] {
        agency.suspect(&book(customer, &[0], TripBooked::Unknown));
    }
    let one_of_them = committed(&[query(0, 1, 1)]);
    for customer in [BOB, ADA] {
        let mut found = replay(&mut agency, std::slice::from_ref(&one_of_them));
        let has = committed(&[bill(customer, &[(0, 1)]), bill(1 - customer, &[])]);
        found.extend(replay(&mut agency, &[has]));
        assert_eq!(found.is_empty(), customer == BOB, "{found:?}");
    }
}

#[test]
fn what_was_done_at_a_place_that_nobody_knows_must_be_there_in_the_end() {
    let done = |text| booked(ADA, &[0], text);
    for (read, sound) in [(query(0, 1, 1), true), (query(0, 2, 0), false)] {
        let mut agency = agency();
        agency.suspect(&done("A1"));
        let last = agency.last(&[read]);
        assert_eq!(last.charge.is_empty(), sound);
        assert_eq!(last.counts, Some((1, 1)));
    }
    let mut one = agency();
    one.suspect(&done("A1"));
    assert_eq!(
        replay(&mut one, &[cancel("A1", TripCancelled::Done)]),
        [""; 0]
    );
    let last = one.last(&[query(0, 2, 0), bill(ADA, &[])]);
    assert!(last.charge.is_empty(), "{last:?}");
    // Of a cancellation without an answer nobody knows whether the itinerary stands.
    let mut other = agency();
    assert_eq!(replay(&mut other, &[done("A1")]), [""; 0]);
    other.suspect(&cancel("A1", TripCancelled::Unknown));
    assert_eq!(
        replay(&mut other, &[cancel("A1", TripCancelled::Over)]),
        [""; 0]
    );
    assert_eq!(other.last(&[query(0, 2, 0)]).counts, Some((1, 0)));
}

#[test]
fn a_trip_that_was_refused_after_it_waited_is_a_reading() {
    let reading = book(BOB, &[0, 0], TripBooked::SoldOut(0));
    let mut agency = agency();
    assert!(!agency.agrees(&reading));
    assert!(agency.shown(&reading).contains("2 of item 0 are free"));
    assert_eq!(replay(&mut agency, &[booked(ADA, &[0], "A1")]), [""; 0]);
    assert!(agency.agrees(&reading));
    assert!(!agency.agrees(&book(BOB, &[1], TripBooked::SoldOut(1))));
    agency.suspect(&book(ADA, &[1], TripBooked::Unknown));
    assert!(agency.agrees(&book(BOB, &[1], TripBooked::SoldOut(1))));
}

#[test]
fn many_transactions_without_an_answer_are_told_apart_by_the_bills_of_their_customers() {
    let customers: u16 = 40;
    let names = |word: &str| {
        (0..customers)
            .map(|number| format!("{word}-{number}"))
            .collect()
    };
    let rows = [
        // Of every other customer it was carried out.
        (980, 0, ""),
        (979, 0, "in the end item 0 was shown as"),
        (980, 1, "the bill of customer 0 was shown as"),
    ];
    for (free, more, expected) in rows {
        let mut agency = Agency::new(vec![offer(1_000, 0)], usize::from(customers))
            .with_names(names("item"), names("customer"));
        let mut read = vec![query(0, free, 1_000 - free)];
        for customer in 0..customers {
            agency.suspect(&ended(JourneyEnd::Unknown, &[reserve(customer, &[0])]));
            let count = i64::from(customer % 2) + if customer == 0 { 2 * more } else { 0 };
            let lines: &[(u16, i64)] = if count > 0 { &[(0, count)] } else { &[] };
            read.push(bill(customer, lines));
        }
        let last = agency.last(&read);
        assert!(!last.clouded && last.counts.is_none());
        let told = last.charge.sentences().join("\n");
        assert!(
            told.contains(expected) && told.is_empty() == expected.is_empty(),
            "{told}"
        );
        let named = ["item 0 is item-0", "customer 0 is customer-0"];
        assert!(
            told.is_empty() || named.iter().any(|name| told.contains(name)),
            "{told}"
        );
    }
}
