//! The feed as its clients see it.

use std::thread;

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::{
    socket::{Flow, Kept, Market, Socket, order},
    *,
};

const S: (&str, &str) = ("symbol", "S");

#[test]
fn a_subscription_is_answered_by_a_snapshot_and_then_changes() {
    let market = Market::open(HttpLimits::STANDARD);
    market.place("bob", "sell", "5", "10.5");
    let mut socket = Socket::open(market.address);
    let asked = json!({"op": "subscribe", "channel": "book", "symbol": "S", "id": "b"});
    let snapshot = socket.ask(&asked);
    let epoch = snapshot["epoch"].clone();
    assert!(!epoch.as_str().unwrap().is_empty());
    assert_eq!(
        snapshot,
        json!({"op": "snapshot", "id": "b", "channel": "book", "symbol": "S", "epoch": epoch,
            "seq": 1, "data": {
                "bids": [], "asks": [{"price": "10.5", "quantity": "5", "orders": 1}]}})
    );
    market.place("ada", "buy", "2", "11");
    assert_eq!(
        socket.hear(),
        json!({"op": "delta", "channel": "book", "symbol": "S", "epoch": epoch, "prev_seq": 1,
            "seq": 2, "data": {"changes": [
                {"side": "sell", "price": "10.5", "quantity": "3", "orders": 1}]}})
    );
    let ended = json!({"op": "unsubscribed", "id": 7, "channel": "book", "symbol": "S"});
    let end = json!({"op": "unsubscribe", "channel": "book", "symbol": "S", "id": 7});
    assert_eq!(socket.ask(&end), ended);
    market.place("ada", "buy", "1", "9");
    assert_eq!(
        socket.ask(&json!({"op": "ping", "id": 1})),
        json!({"op": "pong", "id": 1})
    );
    let again = socket.ask(&asked);
    assert_eq!(
        (&again["op"], &again["seq"]),
        (&"snapshot".into(), &3.into())
    );
    market.close();
}

#[test]
fn trades_and_orders_are_told_to_whom_they_concern() {
    let market = Market::open(HttpLimits::STANDARD);
    market.place("bob", "sell", "5", "10");
    let mut trades = Socket::open(market.address);
    let told = trades.subscribe("trades", S);
    assert_eq!(
        (&told["seq"], &told["data"]),
        (&0.into(), &json!({"trades": []}))
    );
    let mut orders = Socket::open(market.address);
    let told = orders.subscribe("orders", ("account", "bob"));
    assert_eq!(told["data"]["orders"][0]["order"], 1);
    assert_eq!(told["account"], "bob");
    let snapshot_seq = told["seq"].clone();

    market.place("ada", "buy", "2", "10");
    let mut trade = trades.hear();
    trade["data"]["trades"][0]["at"].take();
    assert_eq!((&trade["prev_seq"], &trade["seq"]), (&0.into(), &1.into()));
    assert_eq!(
        trade["data"]["trades"],
        json!([{"trade": 1, "at": null, "price": "10", "quantity": "2", "side": "buy", "maker": 1,
            "taker": 2}])
    );
    let mut executed = orders.hear();
    assert_eq!(executed["prev_seq"], snapshot_seq);
    executed["data"]["events"][0]["at"].take();
    assert_eq!(
        executed["data"]["events"],
        json!([{"kind": "executed", "at": null, "symbol": "S", "order": 1, "side": "sell",
            "price": "10", "quantity": "2", "open": "3", "trade": 1}])
    );
    let cancel = orders.ask(&json!({"op": "cancel_order", "account": "bob", "order": 1, "id": 5}));
    let (done, told) = if cancel["op"] == "done" {
        (cancel, orders.hear())
    } else {
        (orders.hear(), cancel)
    };
    assert_eq!(
        (&done["id"], &done["data"]["quantity"]),
        (&5.into(), &"3".into())
    );
    assert_eq!(told["prev_seq"], executed["seq"]);
    assert_eq!(told["seq"], done["data"]["position"]);
    let event = &told["data"]["events"][0];
    assert_eq!(
        (&event["kind"], &event["reason"], &event["open"]),
        (&"cancelled".into(), &"cancelled".into(), &"0".into())
    );
    let again = Socket::open(market.address).subscribe("trades", S);
    assert_eq!(
        (&again["seq"], &again["data"]["trades"][0]["trade"]),
        (&1.into(), &1.into())
    );
    market.close();
}

#[test]
fn the_top_is_whole_each_time_and_told_when_it_has_changed() {
    let market = Market::open(HttpLimits::STANDARD);
    for price in 1..=12 {
        market.place("ada", "buy", "1", &price.to_string());
    }
    let mut socket = Socket::open(market.address);
    let first = socket.subscribe("top", S);
    let bids = first["data"]["bids"].as_array().unwrap();
    assert_eq!(bids.len(), 10);
    assert_eq!(
        (&bids[0]["price"], &bids[9]["price"]),
        (&"12".into(), &"3".into())
    );
    // What happens below the tenth price is not told.
    market.place("ada", "buy", "1", "2");
    market.place("bob", "sell", "1", "13");
    let next = socket.hear();
    assert_eq!(next["op"], "snapshot");
    assert_eq!(next["data"]["bids"], first["data"]["bids"]);
    assert_eq!(
        next["data"]["asks"],
        json!([{"price": "13", "quantity": "1", "orders": 1}])
    );
    assert_eq!(next["seq"], 14);
    market.close();
}

#[test]
fn clients_keep_the_book_by_what_they_are_told() {
    keep_the_book(Market::open(HttpLimits::STANDARD));
}

#[test]
fn clients_keep_the_book_when_it_is_told_later_than_it_changes() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = settings(Some("127.0.0.1:0".parse().unwrap()));
    settings.data = Some(directory.path().to_owned());
    settings.storage = Options::with(Durability::Sync);
    keep_the_book(Market::start(&settings));
}

fn keep_the_book(market: Market) {
    let follow = |mut socket: Socket| {
        thread::spawn(move || {
            let mut kept = Kept::default();
            let mut last = None;
            while last.is_none_or(|last| kept.seq < last) {
                let message = socket.hear();
                match message["op"].as_str() {
                    Some("pong") => last = message["id"].as_u64(),
                    _ => kept.take(&message),
                }
            }
            kept
        })
    };
    let mut flow = Flow::new(7);
    let mut followers = Vec::new();
    let mut sockets = Vec::new();
    for _ in 0..40 {
        // One more joins while the market is under way.
        if followers.len() < 5 {
            let mut socket = Socket::open(market.address);
            socket.say(&json!({"op": "subscribe", "channel": "book", "symbol": "S"}));
            sockets.push(socket.stream().try_clone().unwrap());
            followers.push(follow(socket));
        }
        for answer in market.execute(&flow.commands(100)) {
            answer.unwrap();
        }
    }
    let book = market.book();
    let seq = book["seq"].as_u64().unwrap();
    assert!(seq > 2_000, "{seq}");
    // The answer to a ping tells each where the end is.
    for stream in sockets {
        let mut end = client_of(stream);
        end.send(Message::text(json!({"op": "ping", "id": seq}).to_string()))
            .unwrap();
    }
    for follower in followers {
        let kept = follower.join().unwrap();
        kept.assert_is(&book);
    }
    market.close();
}

/// A second hand on a socket, for writing.
fn client_of(stream: TcpStream) -> tokio_tungstenite::tungstenite::WebSocket<TcpStream> {
    use tokio_tungstenite::tungstenite::protocol::Role;
    tokio_tungstenite::tungstenite::WebSocket::from_raw_socket(stream, Role::Client, None)
}

#[test]
fn a_client_that_is_overtaken_is_told_so_and_gets_a_fresh_snapshot() {
    let limits = HttpLimits {
        events: 16,
        ..HttpLimits::STANDARD
    };
    let market = Market::open(limits);
    let mut socket = Socket::open(market.address);
    let mut kept = Kept::default();
    kept.take(&socket.subscribe("book", S));
    let mut flow = Flow::new(3);
    let end = std::time::Instant::now() + PATIENCE;
    // One turn of the loop tells far more than is kept; now and then the reader is too late.
    while kept.lagged < 3 {
        assert!(std::time::Instant::now() < end, "never overtaken");
        market.execute(&flow.commands(500));
        let seq = market.book()["seq"].as_u64().unwrap();
        while kept.seq < seq {
            kept.take(&socket.hear());
        }
    }
    market.execute(&flow.commands(5));
    let book = market.book();
    while kept.seq < book["seq"].as_u64().unwrap() {
        kept.take(&socket.hear());
    }
    kept.assert_is(&book);
    market.close();
}

#[test]
fn one_who_reads_nothing_is_dropped_and_holds_up_nobody() {
    let limits = HttpLimits {
        stall: Duration::from_millis(200),
        ..HttpLimits::STANDARD
    };
    let market = Market::open(limits);
    market.execute(&Flow::new(5).commands(1_000));
    let deaf = Socket::open(market.address);
    let subscribe = json!({"op": "subscribe", "channel": "book", "symbol": "S"}).to_string();
    // Snapshots that nobody reads fill the sockets' buffers, until the server gives up.
    let refused = loop {
        let mut writer = client_of(deaf.stream().try_clone().unwrap());
        if let Err(failure) = writer.send(Message::text(subscribe.clone())) {
            break failure;
        }
    };
    assert!(
        matches!(refused, tokio_tungstenite::tungstenite::Error::Io(_)),
        "{refused}"
    );
    drop(deaf);
    let mut other = Socket::open(market.address);
    assert_eq!(other.subscribe("book", S)["op"], "snapshot");
    market.close();
}

/// A message, the code of what is wrong with it, and words that the answer holds.
const WRONG: &str = r#"
hello -> malformed_json not a JSON object
{"op":"subscribe" -> malformed_json line 1 column 17
{"op":"dance","id":3} -> invalid_request one of ping, subscribe, unsubscribe
{"op":"subscribe","channel":"book","symbol":"a b"} -> invalid_request "field":"symbol"
{"op":"subscribe","channel":"book","symbol":"T"} -> unknown_symbol no such symbol
{"op":"subscribe","channel":"orders","account":"eve"} -> unknown_account no such account
{"op":"unsubscribe","channel":"book","symbol":"S"} -> invalid_request not subscribed
{"op":"place_order","account":"ada","symbol":"S","side":"buy"} -> invalid_request quantity: missing
{"op":"place_order","account":"eve","symbol":"S","side":"buy","quantity":"1","limit":"1"} -> unknown_account no such account
{"op":"place_order","account":"ada","symbol":"S","side":"buy","quantity":"1"} -> no_market other side
{"op":"cancel_order","account":"ada","order":99} -> not_found never was
"#;

#[test]
fn a_wrong_message_is_answered_and_the_socket_stays() {
    let market = Market::open(HttpLimits::STANDARD);
    let mut socket = Socket::open(market.address);
    for row in WRONG.lines().skip(1) {
        let (message, expected) = row.split_once(" -> ").unwrap();
        let (code, words) = expected.split_once(' ').unwrap();
        socket.send(Message::text(message));
        let answer = socket.hear();
        assert_eq!(answer["code"], code, "{row}: {answer}");
        let is_refusal = answer["position"].is_u64();
        assert_eq!(answer["op"], if is_refusal { "refused" } else { "error" });
        assert!(answer.to_string().contains(words), "{row}: {answer}");
    }
    socket.send(Message::binary(vec![1]));
    assert_eq!(socket.hear()["detail"], "a message is text, not bytes");
    let tagged = socket.ask(&json!({"op": "dance", "id": "x"}));
    assert_eq!(tagged["id"], "x");
    let long = format!(r#"{{"op":"{}"}}"#, "x".repeat(64 * 1_024));
    socket.send(Message::text(long));
    assert_eq!(socket.end(), Some(1_009));
    market.close();
}

#[test]
fn subscriptions_and_sockets_are_counted() {
    let limits = HttpLimits {
        streams: 1,
        ..HttpLimits::STANDARD
    };
    let market = Market::open(limits);
    let mut socket = Socket::open(market.address);
    for number in 0..64 {
        let body = json!({"symbol": format!("S{number}")}).to_string();
        market.peer().post("/v1/exchange/symbols", "", &body);
        let told = socket.subscribe("book", ("symbol", &format!("S{number}")));
        assert_eq!(told["op"], "snapshot");
    }
    let full = socket.subscribe("book", S);
    assert_eq!(
        full["errors"][0]["message"],
        "a connection has at most 64 subscriptions"
    );
    let told = market.peer().get("/v1/exchange/events", "");
    assert_eq!(told.problem(), (503, "too_many_streams".to_owned()));
    let metrics = market.peer().get("/metrics", "").body;
    assert!(
        metrics.contains("\nturnstile_connections{door=\"http\"} 2\n"),
        "{metrics}"
    );
    market.close();
    assert_eq!(socket.end(), Some(1_001), "a stop says goodbye");
}

#[test]
fn a_handshake_is_one_or_the_answer_says_what_is_missing() {
    let market = Market::open(HttpLimits::STANDARD);
    let whole = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let port = market.address.port();
    let ours = format!("{whole}Origin: http://localhost:{port}\r\n");
    for headers in [whole, &ours] {
        let reply = market.peer().get("/v1/exchange/feed", headers);
        assert_eq!(reply.status, 101);
        let accept = reply.header("sec-websocket-accept");
        assert_eq!(accept.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    }
    for missing in [
        "Upgrade: websocket\r\n",
        "Connection: keep-alive, Upgrade\r\n",
        "13",
    ] {
        let reply = market
            .peer()
            .get("/v1/exchange/feed", &whole.replace(missing, ""));
        assert_eq!(
            reply.problem(),
            (426, "upgrade_required".to_owned()),
            "{missing}"
        );
        assert_eq!(reply.header("sec-websocket-version").as_deref(), Some("13"));
        assert_eq!(reply.header("upgrade").as_deref(), Some("websocket"));
    }
    for key in [
        "x",
        "dGhlIHNhbXBsZSBub25jZ===",
        "dGhlIHNhbXBsZSBub25jZQ",
        "",
    ] {
        let headers = whole.replace("dGhlIHNhbXBsZSBub25jZQ==", key);
        let reply = market.peer().get("/v1/exchange/feed", &headers);
        assert_eq!(
            reply.problem(),
            (400, "invalid_request".to_owned()),
            "{key}"
        );
    }
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
    ] {
        let headers = format!("{whole}Origin: {origin}\r\n");
        let reply = market.peer().get("/v1/exchange/feed", &headers);
        assert_eq!(
            reply.problem(),
            (403, "foreign_origin".to_owned()),
            "{origin}"
        );
    }
    market.close();
}

#[test]
fn an_epoch_is_of_one_run() {
    let epoch = || {
        let market = Market::open(HttpLimits::STANDARD);
        let snapshot = Socket::open(market.address).subscribe("book", S);
        market.close();
        snapshot["epoch"].as_str().unwrap().to_owned()
    };
    assert_ne!(epoch(), epoch());
}

#[test]
fn commands_of_one_socket_are_executed_and_answered_in_their_order() {
    let market = Market::open(HttpLimits::STANDARD);
    let mut socket = Socket::open(market.address);
    for number in 0..200 {
        let mut message = order("ada", "buy", "1", "9");
        message["op"] = "place_order".into();
        message["id"] = number.into();
        message["client_id"] = format!("c-{number}").into();
        socket.say(&message);
        let client_id = format!("c-{number}");
        socket.say(
            &json!({"op": "cancel_order", "account": "ada", "order": format!("id:{client_id}")}),
        );
    }
    for number in 0..200 {
        let placed = socket.hear();
        assert_eq!(
            (&placed["op"], &placed["id"]),
            (&"done".into(), &number.into())
        );
        let cancelled = socket.hear();
        assert_eq!(cancelled["op"], "done", "{cancelled}");
        assert_eq!(cancelled["data"]["order"], placed["data"]["order"]);
    }
    market.close();
}

#[test]
fn an_event_stream_tells_what_it_is_asked_for() {
    let market = Market::open(HttpLimits::STANDARD);
    let first = market.place("bob", "sell", "5", "10");
    let mut all = events::open_stream(market.peer(), "/v1/exchange/events", "");
    let mut ada = events::open_stream(market.peer(), "/v1/exchange/events?account=ada", "");
    let late = format!("/v1/exchange/events?since={}", first["position"]);
    let mut late = events::open_stream(market.peer(), &late, "");
    market.place("bob", "sell", "1", "11");
    let traded = market.place("ada", "buy", "2", "10");
    let id = format!("id: {}.0\nevent: traded\n", traded["position"]);
    for stream in [&mut all, &mut late] {
        let opened = events::block(stream);
        assert!(
            opened.contains(r#""symbol":"S","seq":2,"#) && opened.contains(r#""kind":"opened""#),
            "{opened}"
        );
        let told = events::block(stream);
        assert!(told.starts_with(&id), "{told}");
    }
    let told = events::block(&mut ada);
    assert!(
        told.starts_with(&id),
        "only what is about the account: {told}"
    );
    let (_, data) = told.split_once("data: ").unwrap();
    let event: Value = serde_json::from_str(data).unwrap();
    assert_eq!(
        event["maker"],
        json!({"order": 1, "account": "bob", "open": "3"})
    );
    // Nobody followed when the first order came: it cannot be told.
    let begin = events::open_stream(market.peer(), "/v1/exchange/events?since=1", "");
    let mut begin = begin;
    assert!(events::block(&mut begin).starts_with("event: reset\n"));
    market.close();
}
