//! The exchange through the door.

use serde_json::json;

use super::*;

const ORDERS: &str = "/v1/exchange/orders";

/// A door behind which `ada` has cash, `bob` has 100 shares of `S`, and both some of the other.
fn market() -> Site {
    let site = Site::open_with(HttpLimits::STANDARD);
    let mut peer = site.peer();
    for account in ["ada", "bob"] {
        let body = format!(r#"{{"account":"{account}","cash":"1000"}}"#);
        assert_eq!(peer.post("/v1/exchange/accounts", "", &body).status, 201);
    }
    let listed = peer.post("/v1/exchange/symbols", "", r#"{"symbol":"S"}"#);
    assert_eq!(listed.status, 201);
    let granted = peer.post(
        "/v1/exchange/symbols/S/grants",
        "",
        r#"{"account":"bob","quantity":"100"}"#,
    );
    assert_eq!(
        (granted.status, granted.json()["shares"].clone()),
        (200, "100".into())
    );
    site
}

fn order(account: &str, side: &str, quantity: &str, more: &str) -> String {
    format!(
        r#"{{"account":"{account}","symbol":"S","side":"{side}","quantity":"{quantity}"{more}}}"#
    )
}

/// The fields that do not tell where and when.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for hidden in ["position", "at", "since"] {
                fields.remove(hidden);
            }
            for field in fields.values_mut() {
                *field = timeless(field.take());
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                *entry = timeless(entry.take());
            }
        }
        _ => {}
    }
    value
}

#[test]
fn an_order_is_placed_matched_and_shown_with_its_executions() {
    let site = market();
    let mut peer = site.peer();
    let sell = order("bob", "sell", "5", r#","limit":"10.50","client_id":"b-1""#);
    let placed = peer.post(ORDERS, "", &sell);
    assert_eq!(placed.status, 201);
    assert_eq!(
        placed.header("location").as_deref(),
        Some("/v1/exchange/orders/1")
    );
    assert_eq!(
        timeless(placed.json()),
        json!({"order": 1, "state": "open", "filled": "0", "value": "0", "open": "5"})
    );
    let bought = peer.post(ORDERS, "", &order("ada", "buy", "2", "")).json();
    assert_eq!(
        timeless(bought),
        json!({"order": 2, "state": "filled", "filled": "2", "value": "21", "open": "0"})
    );

    let expected = json!({
        "order": 1, "state": "open", "account": "bob", "client_id": "b-1", "symbol": "S",
        "side": "sell", "quantity": "5", "limit": "10.5", "open": "3", "time_in_force": "gtc",
        "self_trade": "expire_taker",
        "executions": [{"quantity": "2", "price": "10.5", "counterparty": 2}],
    });
    for path in ["/1", "/id:b-1?account=bob"] {
        let found = peer.get(&format!("{ORDERS}{path}"), "");
        assert_eq!(timeless(found.json()), expected, "{path}");
        assert!(found.header("turnstile-position").is_some());
    }
    let trades = peer.get("/v1/exchange/symbols/S/trades", "").json();
    assert_eq!(
        timeless(trades),
        json!({"trades": [
            {"trade": 1, "price": "10.5", "quantity": "2", "side": "buy", "maker": 1, "taker": 2}
        ]})
    );
    let ada = peer.get("/v1/exchange/accounts/ada", "").json();
    assert_eq!(
        ada,
        json!({"account": "ada", "free": "979", "reserved": "0", "open_orders": 0,
            "positions": [{"symbol": "S", "free": "2", "reserved": "0"}]})
    );
    site.close();
}

#[test]
fn an_order_sent_again_opens_nothing() {
    let site = market();
    let mut peer = site.peer();
    let sell = order("bob", "sell", "5", r#","limit":"10","client_id":"b-1""#);
    let first = peer.post(ORDERS, "", &sell);
    let again = peer.post(ORDERS, "", &sell);
    assert_eq!((first.status, again.status), (201, 200));
    let mut expected = timeless(first.json());
    expected["again"] = true.into();
    assert_eq!(timeless(again.json()), expected);
    let other = sell.replace(r#""5""#, r#""6""#);
    let reused = peer.post(ORDERS, "", &other);
    assert_eq!(reused.problem(), (409, "client_id_reused".to_owned()));
    assert_eq!(reused.json()["order"], 1);

    let keyed = peer.post(
        ORDERS,
        "Idempotency-Key: \"k\"\r\n",
        &order("bob", "sell", "1", ""),
    );
    assert_eq!(keyed.problem(), (409, "no_market".to_owned()));
    let again = peer.post(
        ORDERS,
        "Idempotency-Key: k\r\n",
        &order("bob", "sell", "1", ""),
    );
    assert_eq!(again.json()["replayed"], true);
    assert_eq!(again.json()["position"], keyed.json()["position"]);
    let other = peer.post(
        ORDERS,
        "Idempotency-Key: k\r\n",
        &order("bob", "sell", "2", ""),
    );
    assert_eq!(other.problem(), (422, "idempotency_key_reused".to_owned()));
    // A key belongs to the caller, not to one service.
    let room = peer.post(
        "/v1/rooms/properties",
        "Idempotency-Key: k\r\n",
        r#"{"property":"inn"}"#,
    );
    assert_eq!(room.problem(), (422, "idempotency_key_reused".to_owned()));
    site.close();
}

#[test]
fn orders_are_replaced_and_cancelled_by_their_account() {
    let site = market();
    let mut peer = site.peer();
    for (quantity, limit) in [("5", "10"), ("5", "11"), ("5", "12")] {
        let body = order("bob", "sell", quantity, &format!(r#","limit":"{limit}""#));
        assert_eq!(peer.post(ORDERS, "", &body).status, 201);
    }
    let reduced = peer.post(
        &format!("{ORDERS}/1/replace"),
        "",
        r#"{"account":"bob","quantity":"3"}"#,
    );
    assert_eq!(
        timeless(reduced.json()),
        json!({"kept_place": true, "order": 1, "state": "open", "filled": "0", "value": "0",
            "open": "3"})
    );
    let path = format!("{ORDERS}/1/cancel");
    let foreign = peer.post(&path, "", r#"{"account":"ada"}"#);
    assert_eq!(foreign.problem(), (403, "not_yours".to_owned()));
    let cancelled = peer.post(&path, "", r#"{"account":"bob"}"#);
    assert_eq!(
        timeless(cancelled.json()),
        json!({"order": 1, "quantity": "3"})
    );
    let twice = peer.post(&path, "", r#"{"account":"bob"}"#);
    assert_eq!(twice.problem(), (409, "not_open".to_owned()));
    let shown = peer.get(&format!("{ORDERS}/1"), "").json();
    assert_eq!(shown["cancelled"]["reason"], "cancelled");
    let listed = peer.get("/v1/exchange/accounts/bob/orders?symbol=S&limit=1", "");
    assert_eq!(listed.json()["orders"][0]["order"], 2);
    let link = listed.header("link").unwrap();
    let next = peer.get(&link[1..link.find('>').unwrap()], "").json();
    assert_eq!(next["orders"][0]["order"], 3);
    assert_eq!(next["next"], Value::Null);
    let all = peer.post(
        &format!("{ORDERS}/cancel"),
        "",
        r#"{"account":"bob","symbol":"S"}"#,
    );
    assert_eq!(timeless(all.json()), json!({"orders": 2}));
    site.close();
}

#[test]
fn a_book_is_shown_at_three_depths_and_only_when_it_has_changed() {
    let site = market();
    let mut peer = site.peer();
    for (side, account, limit) in [
        ("sell", "bob", "11"),
        ("sell", "bob", "12"),
        ("sell", "bob", "11"),
        ("buy", "ada", "9"),
    ] {
        let body = order(account, side, "2", &format!(r#","limit":"{limit}""#));
        assert_eq!(peer.post(ORDERS, "", &body).status, 201);
    }
    let level = |price: &str, quantity: &str, orders: u32| json!({"price": price, "quantity": quantity, "orders": orders});
    let deep = peer.get("/v1/exchange/books/S", "");
    let expected = json!({"symbol": "S", "seq": 4, "bids": [level("9", "2", 1)],
        "asks": [level("11", "4", 2), level("12", "2", 1)]});
    assert_eq!(deep.json(), expected);
    let top = peer.get("/v1/exchange/books/S?levels=1", "").json();
    assert_eq!(top["asks"], json!([level("11", "4", 2)]));
    let queue = peer.get("/v1/exchange/books/S/queue", "").json();
    let queued = |order: u32, price: &str| json!({"order": order, "price": price, "quantity": "2"});
    assert_eq!(
        queue["asks"],
        json!([queued(1, "11"), queued(3, "11"), queued(2, "12")])
    );
    let etag = deep.header("etag").unwrap();
    assert_eq!(etag, "\"4\"");
    let known = format!("If-None-Match: {etag}\r\n");
    let unchanged = peer.get("/v1/exchange/books/S", &known);
    assert_eq!((unchanged.status, unchanged.body.as_str()), (304, ""));
    let shown = peer.get(&format!("{ORDERS}/4"), "");
    let order_known = format!("If-None-Match: {}\r\n", shown.header("etag").unwrap());
    assert_eq!(peer.get(&format!("{ORDERS}/4"), &order_known).status, 304);
    let cancel = format!("{ORDERS}/4/cancel");
    assert_eq!(peer.post(&cancel, "", r#"{"account":"ada"}"#).status, 200);
    assert_eq!(peer.get("/v1/exchange/books/S", &known).status, 200);
    assert_eq!(peer.get(&format!("{ORDERS}/4"), &order_known).status, 200);
    site.close();
}

/// RFC 9110, 8.8.1: a strong tag stands for the bytes as they are sent.
#[test]
fn a_compressed_book_has_a_weak_tag_that_matches_later() {
    let site = market();
    let mut peer = site.peer();
    for limit in 11..61 {
        let body = order("bob", "sell", "2", &format!(r#","limit":"{limit}""#));
        assert_eq!(peer.post(ORDERS, "", &body).status, 201);
    }
    let coding = "Accept-Encoding: gzip\r\n";
    let mut packed = site.peer();
    let book = "/v1/exchange/books/S?levels=50";
    packed.send(format!("GET {book} HTTP/1.1\r\nHost: localhost\r\n{coding}\r\n").as_bytes());
    let head = packed.read_to("\r\n\r\n").unwrap();
    assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
    assert!(head.contains("etag: W/\"50\"\r\n"), "{head}");
    let known = format!("{coding}If-None-Match: W/\"50\"\r\n");
    assert_eq!(peer.get(book, &known).status, 304);
    let plain = peer.get(book, "");
    assert_eq!(plain.header("etag").as_deref(), Some("\"50\""));
    site.close();
}

#[test]
fn accounts_and_symbols_are_listed_and_bounded() {
    let site = market();
    let mut peer = site.peer();
    let ada = "/v1/exchange/accounts/ada";
    let paid = peer.post(&format!("{ada}/deposits"), "", r#"{"amount":"0.5"}"#);
    assert_eq!(timeless(paid.json()), json!({"cash": "1000.5"}));
    let taken = peer.post(&format!("{ada}/withdrawals"), "", r#"{"amount":"2000"}"#);
    assert_eq!(taken.problem(), (409, "insufficient_funds".to_owned()));
    assert_eq!(
        (&taken.json()["needed"], &taken.json()["free"]),
        (&"2000".into(), &"1000.5".into())
    );
    let limits = r#"{"open_orders":0,"notional":"50.25"}"#;
    let json = "Content-Type: application/json\r\n";
    assert_eq!(
        peer.request("PUT", &format!("{ada}/limits"), json, limits)
            .status,
        200
    );
    let refused = peer.post(ORDERS, "", &order("ada", "buy", "1", r#","limit":"1""#));
    assert_eq!(refused.problem(), (409, "too_many_open_orders".to_owned()));
    let accounts = peer.get("/v1/exchange/accounts?limit=1", "");
    assert_eq!(
        accounts.json()["accounts"],
        json!([{"account": "ada", "free": "1000.5", "reserved": "0", "open_orders": 0,
            "limit_open_orders": 0, "limit_notional": "50.25"}])
    );
    assert!(accounts.header("link").is_some());

    let symbol = "/v1/exchange/symbols/S";
    let band = peer.request("PUT", &format!("{symbol}/band"), json, r#"{"low":"2"}"#);
    assert_eq!(band.status, 200);
    let outside = peer.post(ORDERS, "", &order("bob", "sell", "1", r#","limit":"1""#));
    assert_eq!(outside.problem(), (409, "outside_band".to_owned()));
    assert_eq!(outside.json()["low"], "2");
    assert_eq!(
        peer.request("PUT", &format!("{symbol}/halt"), "", "")
            .status,
        200
    );
    let shown = peer.get(symbol, "").json();
    assert_eq!(
        shown,
        json!({"symbol": "S", "price_scale": 4, "quantity_scale": 4, "halted": true, "low": "2",
            "issued": "100", "open_orders": 0, "seq": 0})
    );
    let halted = peer.post(ORDERS, "", &order("bob", "sell", "1", r#","limit":"3""#));
    assert_eq!(halted.problem(), (409, "symbol_halted".to_owned()));
    assert_eq!(
        peer.request("DELETE", &format!("{symbol}/halt"), "", "")
            .status,
        200
    );
    let open = peer.post(ORDERS, "", &order("bob", "sell", "1", r#","limit":"3""#));
    assert_eq!(open.status, 201);
    let listed = peer.get("/v1/exchange/symbols", "").json();
    assert_eq!(listed["symbols"][0]["open_orders"], 1);
    site.close();
}
