//! What becomes of a session's orders when its connection ends.

use std::{net::Shutdown, time::Instant};

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::{
    socket::{Market, Socket, order},
    *,
};

fn place(socket: &mut Socket, account: &str, limit: &str) -> u64 {
    let side = if account == "ada" { "buy" } else { "sell" };
    let mut message = order(account, side, "1", limit);
    message["op"] = "place_order".into();
    let placed = socket.ask(&message);
    assert_eq!(placed["data"]["state"], "open", "{placed}");
    placed["data"]["order"].as_u64().unwrap()
}

fn choose(socket: &mut Socket, orders: &str) {
    let said = socket.ask(&json!({"op": "on_disconnect", "orders": orders}));
    assert_eq!(said, json!({"op": "on_disconnect", "orders": orders}));
}

/// Asks until exactly these orders are open, and then asserts that no other ever was cancelled.
fn await_open(market: &Market, expected: &[u64]) {
    let end = Instant::now() + PATIENCE;
    loop {
        let mut open = Vec::new();
        for account in ["ada", "bob"] {
            let listed = format!("/v1/exchange/accounts/{account}/orders");
            let listed = market.peer().get(&listed, "").json();
            let orders = listed["orders"].as_array().unwrap().iter();
            open.extend(orders.map(|order| order["order"].as_u64().unwrap()));
        }
        open.sort_unstable();
        if open == expected {
            return;
        }
        assert!(
            Instant::now() < end,
            "still open: {open:?}, not {expected:?}"
        );
    }
}

/// Two sessions and a HTTP client send orders; one session ends in some way.
fn only_its_own_orders_go(limits: HttpLimits, end: impl FnOnce(Socket)) {
    only_its_own_orders_go_on(Market::open(limits), end);
}

/// The same on a market of one's own.
pub(super) fn only_its_own_orders_go_on(market: Market, end: impl FnOnce(Socket)) {
    let mut leaving = Socket::open(market.address);
    let mut staying = Socket::open(market.address);
    let before = place(&mut leaving, "ada", "8");
    choose(&mut leaving, "cancel");
    choose(&mut staying, "cancel");
    let other = market.place("ada", "buy", "1", "8.5")["order"]
        .as_u64()
        .unwrap();
    let gone = [
        place(&mut leaving, "ada", "9"),
        place(&mut leaving, "bob", "11"),
        place(&mut leaving, "bob", "12"),
    ];
    let stays = place(&mut staying, "ada", "7");
    // One that has ended already does not keep the others from being cancelled.
    market.place("ada", "buy", "1", "11");
    await_open(&market, &[before, other, gone[0], gone[2], stays]);
    end(leaving);
    await_open(&market, &[before, other, stays]);
    let shown = market
        .peer()
        .get(&format!("/v1/exchange/orders/{}", gone[2]), "");
    assert_eq!(shown.json()["cancelled"]["reason"], "cancelled");
    assert_eq!(staying.ask(&json!({"op": "ping"})), json!({"op": "pong"}));
    market.close();
}

#[test]
fn a_goodbye_cancels_the_sessions_own_orders() {
    only_its_own_orders_go(HttpLimits::STANDARD, |mut socket| {
        socket.send(Message::Close(None));
        assert_eq!(socket.end(), None, "the goodbye is answered");
    });
}

#[test]
fn a_connection_that_just_ends_cancels_the_sessions_own_orders() {
    only_its_own_orders_go(HttpLimits::STANDARD, |socket| {
        socket.stream().shutdown(Shutdown::Both).unwrap();
    });
}

#[test]
fn a_reset_cancels_the_sessions_own_orders() {
    only_its_own_orders_go(HttpLimits::STANDARD, |mut socket| {
        // An answer that nobody has read makes the system send a reset.
        socket.say(&json!({"op": "ping"}));
        let mut byte = [0];
        assert_eq!(socket.stream().peek(&mut byte).unwrap(), 1);
        drop(socket);
    });
}

#[test]
fn a_broken_frame_cancels_the_sessions_own_orders() {
    only_its_own_orders_go(HttpLimits::STANDARD, |socket| {
        let mut stream = socket.stream();
        // A frame of a kind that does not exist.
        stream.write_all(&[0x83, 0x80, 0, 0, 0, 0]).unwrap();
        assert_eq!(socket.end(), Some(1_002));
    });
}

#[test]
fn silence_cancels_the_sessions_own_orders() {
    let limits = HttpLimits {
        idle: Duration::from_millis(1_500),
        heartbeat: Duration::from_millis(100),
        ..HttpLimits::STANDARD
    };
    let market = Market::open(limits);
    let mut silent = Socket::open(market.address);
    choose(&mut silent, "cancel");
    place(&mut silent, "ada", "9");
    let mut alive = Socket::open(market.address);
    choose(&mut alive, "cancel");
    let stays = place(&mut alive, "ada", "8");
    // The one that lives answers pings as it reads; it is asked once in a while by `ping` here.
    let end = Instant::now() + PATIENCE;
    loop {
        assert_eq!(alive.ask(&json!({"op": "ping"})), json!({"op": "pong"}));
        let listed = market
            .peer()
            .get("/v1/exchange/accounts/ada/orders", "")
            .json();
        if listed["orders"].as_array().unwrap().len() == 1 {
            break;
        }
        assert!(Instant::now() < end, "the silent session never ended");
    }
    await_open(&market, &[stays]);
    market.close();
}

#[test]
fn orders_stay_unless_it_was_asked_for() {
    let market = Market::open(HttpLimits::STANDARD);
    let mut plain = Socket::open(market.address);
    let first = place(&mut plain, "ada", "9");
    plain.send(Message::Close(None));
    assert_eq!(plain.end(), None);
    let mut changed = Socket::open(market.address);
    choose(&mut changed, "cancel");
    let second = place(&mut changed, "ada", "8");
    choose(&mut changed, "keep");
    changed.send(Message::Close(None));
    assert_eq!(changed.end(), None);
    let mut third = Socket::open(market.address);
    choose(&mut third, "cancel");
    place(&mut third, "ada", "7");
    drop(third);
    await_open(&market, &[first, second]);
    market.close();
}

#[test]
fn orders_that_are_on_their_way_when_the_connection_ends_are_cancelled_too() {
    let market = Market::open(HttpLimits::STANDARD);
    are_cancelled_on_their_way(&market, (20, 30));
    market.close();
}

/// So many sessions end before any of so many orders is answered.
pub(super) fn are_cancelled_on_their_way(market: &Market, (sessions, orders): (u32, u32)) {
    let kept = market.place("bob", "sell", "1", "20")["order"]
        .as_u64()
        .unwrap();
    for _ in 0..sessions {
        let mut socket = Socket::open(market.address);
        choose(&mut socket, "cancel");
        for number in 0..orders {
            let mut message = order("ada", "buy", "1", "9");
            message["op"] = "place_order".into();
            message["id"] = number.into();
            socket.say(&message);
        }
        drop(socket);
    }
    await_open(market, &[kept]);
}

#[test]
fn a_stop_cancels_them_before_the_server_ends_and_a_restart_finds_them_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = settings(Some("127.0.0.1:0".parse().unwrap()));
    settings.data = Some(directory.path().to_owned());
    settings.storage = Options::with(Durability::Os);
    let market = Market::start(&settings);
    let kept = market.place("ada", "buy", "1", "7")["order"]
        .as_u64()
        .unwrap();
    let mut socket = Socket::open(market.address);
    choose(&mut socket, "cancel");
    place(&mut socket, "ada", "9");
    market.close();
    assert_eq!(socket.end(), Some(1_001));
    let market = Market::start(&settings);
    await_open(&market, &[kept]);
    market.close();
}

#[test]
fn a_session_takes_no_more_orders_than_it_can_cancel() {
    let limits = HttpLimits {
        session_orders: 2,
        ..HttpLimits::STANDARD
    };
    let market = Market::open(limits);
    let mut socket = Socket::open(market.address);
    choose(&mut socket, "cancel");
    let first = place(&mut socket, "ada", "9");
    place(&mut socket, "bob", "11");
    let mut third = order("ada", "buy", "1", "8");
    third["op"] = "place_order".into();
    let full = socket.ask(&third);
    assert_eq!(
        (&full["op"], &full["code"]),
        (&"error".into(), &"session_full".into())
    );
    // One that has ended makes room, wherever it was ended.
    let path = format!("/v1/exchange/orders/{first}/cancel");
    let cancelled = market.peer().post(&path, "", r#"{"account":"ada"}"#);
    assert_eq!(cancelled.status, 200);
    place(&mut socket, "ada", "8");
    drop(socket);
    await_open(&market, &[]);
    market.close();
}
