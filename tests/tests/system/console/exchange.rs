//! The exchange: a book that is alive, and orders.

use serde_json::json;

use super::{assert_accessible, console, fill, press, shows, until};
use crate::door::{door, redis_cli};

#[test]
fn an_order_waits_is_filled_by_another_and_the_rest_is_cancelled() {
    let door = door();
    let mut browser = console(&door, "exchange?symbol=ACME&account=1001");
    shows(&mut browser, "live");
    press(&mut browser, "sell");
    fill(&mut browser, "Quantity", "10");
    fill(&mut browser, "Limit", "100.05");
    press(&mut browser, "Sell ACME");
    shows(&mut browser, "is open: 0 filled, 10 open");
    until(
        &mut browser,
        "[...document.querySelectorAll('.ladder .ask')].some(row => \
             row.innerText.includes('100.05') && row.innerText.includes('10'))",
    );

    // Somebody else buys a part of it.
    let bought = redis_cli(
        &door,
        &["EXCHANGE.PLACE-ORDER", "1003", "ACME", "BUY", "4", "100.05"],
        "",
    );
    assert!(bought.starts_with("1\n"), "{bought}");
    until(
        &mut browser,
        "document.querySelector('section[aria-labelledby=fills]').innerText.includes('100.05')",
    );
    until(
        &mut browser,
        "[...document.querySelectorAll('section[aria-labelledby=orders] tbody tr')].some(row => \
             row.cells[4].innerText === '100.05' && row.cells[3].innerText === '6')",
    );
    assert_accessible(&mut browser);

    press(&mut browser, "Cancel all");
    press(&mut browser, "Cancel all");
    until(
        &mut browser,
        "document.querySelector('section[aria-labelledby=orders]').innerText.includes('None')",
    );
    let account = redis_cli(&door, &["EXCHANGE.GET-ACCOUNT", "1001"], "");
    assert!(account.contains("open_orders\n0\n"), "{account}");
}

#[test]
fn a_manager_halts_the_trade_and_a_refusal_is_shown() {
    let door = door();
    let mut browser = console(&door, "exchange?symbol=ACME&account=1003");
    shows(&mut browser, "live");
    press(&mut browser, "Halt");
    press(&mut browser, "Halt");
    shows(&mut browser, "The trade of ACME is halted");
    fill(&mut browser, "Quantity", "1");
    press(&mut browser, "Buy ACME");
    shows(&mut browser, "symbol_halted");
    press(&mut browser, "Resume trade");
    shows(&mut browser, "goes on");
    press(&mut browser, "Buy ACME");
    shows(&mut browser, "is filled: 1 filled");
    let symbol = redis_cli(&door, &["EXCHANGE.GET-SYMBOL", "ACME"], "");
    assert!(symbol.contains("last_price\n100.1\n"), "{symbol}");
}

/// The page draws once a frame, however many messages come.
#[test]
fn a_busy_book_ends_where_the_server_is() {
    let door = door();
    let mut browser = console(&door, "exchange?symbol=BOLT");
    shows(&mut browser, "live");
    browser.value(
        "globalThis.long = 0, new PerformanceObserver(list => { \
             for (const one of list.getEntries()) long = Math.max(long, one.duration); \
         }).observe({type: 'longtask'}), true",
    );
    let mut orders = String::new();
    for number in 0..1_000 {
        let price = 20 + number % 4;
        orders += &format!("EXCHANGE.PLACE-ORDER 1001 BOLT BUY 1 {price}.5\n");
    }
    orders += "EXCHANGE.PLACE-ORDER 1001 BOLT BUY 7 24.99\n";
    redis_cli(&door, &[], &orders);
    until(
        &mut browser,
        "[...document.querySelectorAll('.ladder .bid')].some(row => \
             row.innerText.includes('24.99') && row.innerText.includes('7'))",
    );
    let depth = redis_cli(&door, &["EXCHANGE.GET-DEPTH", "BOLT", "LEVELS", "12"], "");
    let shown = browser.value(
        "[...document.querySelectorAll('.ladder .bid')].map(row => \
             row.cells[2].innerText.trim()).filter(price => price !== '')",
    );
    for price in shown.as_array().unwrap() {
        assert!(depth.contains(price.as_str().unwrap()), "{price}: {depth}");
    }
    let longest = browser.value("long");
    super::report(&format!(
        "the longest task of a busy book took {longest} ms"
    ));
    assert_ne!(shown, json!([]));
}
