//! What is said about outcomes, orders and refusals.

use turnstile_exchange::{CommandField, Refusal};

use super::*;
use crate::{Echo, limits::ANSWER_BYTES_MAX};

const QUERY: Echo<'_> = Echo::Query { id: Some("7") };

/// What `put` puts into one answer.
fn put(put: impl FnOnce(&Answers, &mut Vec<u8>)) -> String {
    let mut out = b"before".to_vec();
    let answers = Answers::begin(&mut out, &Options::default());
    put(&answers, &mut out);
    answers.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    let inner = text.strip_prefix("before<results>");
    inner
        .and_then(|inner| inner.strip_suffix("</results>"))
        .unwrap()
        .to_owned()
}

fn executed(rows: &[(&str, &str)]) -> Vec<Execution> {
    let execution = |&(quantity, price): &(&str, &str)| Execution {
        quantity: decimal(quantity),
        price: decimal(price),
        at: Timestamp(1_519_348_326_000),
        counterparty: OrderId(1),
    };
    rows.iter().map(execution).collect()
}

/// The queries of the worked example of the course: orders 1 and 7 after the seventh order, then a
/// cancel of the first.
#[test]
fn an_order_is_told_with_what_is_open_cancelled_and_executed() {
    let first = OrderView {
        open: decimal("100"),
        cancelled: None,
        executions: executed(&[("200", "125")]),
        ..view(OrderId(1))
    };
    let seventh = OrderView {
        open: Decimal::ZERO,
        cancelled: None,
        executions: executed(&[("200", "127"), ("200", "125")]),
        ..view(OrderId(7))
    };
    let cancelled = OrderView {
        open: Decimal::ZERO,
        cancelled: Some((
            decimal("100"),
            Timestamp(1_519_348_400_000),
            EndReason::Cancelled,
        )),
        ..first.clone()
    };
    let untouched = OrderView {
        open: decimal("0.25"),
        cancelled: None,
        executions: Vec::new(),
        ..view(OrderId(2))
    };
    let text = put(|answers, out| {
        for order in [first, seventh, cancelled.clone(), untouched] {
            let id = order.order.to_string();
            answers.status(out, &Echo::Query { id: Some(&id) }, &Answer::Order(order));
        }
        let order = Answer::Order(cancelled);
        answers.cancelled(out, &Echo::Cancel { id: Some("1") }, &order);
    });
    assert_eq!(
        text,
        concat!(
            r#"<status id="1"><open shares="100"/>"#,
            r#"<executed shares="200" price="125" time="1519348326"/></status>"#,
            r#"<status id="7"><executed shares="200" price="127" time="1519348326"/>"#,
            r#"<executed shares="200" price="125" time="1519348326"/></status>"#,
            r#"<status id="1"><canceled shares="100" time="1519348400"/>"#,
            r#"<executed shares="200" price="125" time="1519348326"/></status>"#,
            r#"<status id="2"><open shares="0.25"/></status>"#,
            r#"<canceled id="1"><canceled shares="100" time="1519348400"/>"#,
            r#"<executed shares="200" price="125" time="1519348326"/></canceled>"#,
        )
    );
}

#[test]
fn a_refusal_names_what_was_wrong_with_the_figures() {
    let cash = |units: u128| Cash(units * 1_000_000);
    let rows = [
        (Refusal::UnknownAccount, "there is no such account"),
        (Refusal::AccountExists, "the account exists"),
        (
            Refusal::InsufficientFunds {
                needed: cash(3_750_050),
                free: cash(1_000),
            },
            "Insufficient funds: 37500.5 needed, 10 free",
        ),
        (
            Refusal::InsufficientShares {
                needed: decimal("400"),
                free: decimal("0.5"),
            },
            "Insufficient shares: 400 needed, 0.5 free",
        ),
        (
            Refusal::TooManyDigits {
                field: CommandField::Price,
                scale: 4,
            },
            "the limit has more than 4 digits after the point",
        ),
        (
            Refusal::TooLarge {
                field: CommandField::Quantity,
            },
            "the number of shares is too large",
        ),
        (
            Refusal::OutsideBand {
                low: Some(decimal("1.5")),
                high: Some(decimal("2")),
            },
            "the limit is outside the price band, from 1.5, up to 2",
        ),
        (Refusal::SymbolHalted, "trading in the symbol is halted"),
        (
            Refusal::NotFound,
            "there never was such an order, or it is forgotten",
        ),
        (Refusal::NotYours, "it is another account's order"),
        (Refusal::NotOpen, "nothing of the order is open"),
    ];
    let echo = Echo::Order {
        sym: Some("SPY"),
        amount: Some("20"),
        limit: Some("0.10"),
    };
    for (refusal, sentence) in rows {
        let errors = put(|answers, out| {
            answers.outcome(out, &echo, &Outcome::Refused(refusal));
            answers.status(out, &QUERY, &Answer::Refused(refusal));
        });
        assert_eq!(
            errors,
            format!(
                r#"<error sym="SPY" amount="20" limit="0.10">{sentence}</error><error id="7">{sentence}</error>"#
            )
        );
    }
}

#[test]
fn a_sentence_is_escaped_whatever_it_holds() {
    let text = put(|answers, out| answers.error(out, &QUERY, "a < b > c & \"d\""));
    assert_eq!(text, r#"<error id="7">a &lt; b &gt; c &amp; "d"</error>"#);
}

#[test]
fn an_answer_stops_listing_executions_when_it_is_too_long() {
    let order = OrderView {
        executions: vec![executed(&[("1", "1")])[0]; 20_000],
        ..view(OrderId(7))
    };
    let order = Answer::Order(order);
    let mut out = Vec::new();
    let answers = Answers::begin(&mut out, &Options::default());
    let mut longest = 0;
    while longest == 0 {
        let before = out.len();
        answers.status(&mut out, &QUERY, &order);
        if out.len() - before < 1_000 {
            longest = before;
        }
    }
    let refused =
        r#"<error id="7">the answer is too long; query fewer orders in one request</error>"#;
    assert!(out.ends_with(refused.as_bytes()));
    assert!(
        (ANSWER_BYTES_MAX..ANSWER_BYTES_MAX + 2_000_000).contains(&longest),
        "{longest}"
    );
    // An order is cancelled whether there is room to say so or not.
    let begins = out.len();
    answers.cancelled(&mut out, &QUERY, &order);
    answers.cancelled(&mut out, &QUERY, &Answer::Refused(Refusal::NotFound));
    assert_eq!(
        String::from_utf8_lossy(&out[begins..]),
        "<error id=\"7\">the order was cancelled, query it to learn what of it: the answer is too \
         long; query fewer orders in one request</error>\
         <error id=\"7\">the order was cancelled, query it to learn what of it: there never was such \
         an order, or it is forgotten</error>"
    );
    // The orders of a request are answered all the same.
    let echo = Echo::Account { id: Some("1") };
    answers.outcome(&mut out, &echo, &Outcome::Done(Done::AccountCreated));
    assert!(out.ends_with(br#"</error><created id="1"/>"#));
}
