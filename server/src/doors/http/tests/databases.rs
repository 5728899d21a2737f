//! Sockets of an exchange that a database decides.

use std::thread;

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use turnstile_trial::PostgresServer;

use super::{
    super::courier::FEW,
    disconnect::{are_cancelled_on_their_way, only_its_own_orders_go_on},
    socket::{Market, Socket, order},
    *,
};

/// A market in a database of its own.
fn market(database: &PostgresServer) -> Market {
    let mut settings = settings(Some("127.0.0.1:0".parse().unwrap()));
    settings.databases.exchange = Some(database.database().parse().unwrap());
    Market::start(&settings)
}

/// Adds the symbol that [`lock_symbol`] locks.
fn add_symbol(market: &Market) {
    let added = market
        .peer()
        .post("/v1/exchange/symbols", "", r#"{"symbol":"T"}"#);
    assert_eq!(added.status, 201, "{added:?}");
}

/// Has somebody else lock the symbol until some SQL that sleeps has ended; returns when it sleeps.
fn lock_symbol<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    database: &'scope PostgresServer,
    sleep: &str,
) {
    let locks =
        format!("BEGIN; SELECT FROM exchange.symbol WHERE name = 'T' FOR UPDATE; {sleep}; COMMIT");
    scope.spawn(move || database.sql("test_0", &locks));
    let sleeps = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while database.sql("test_0", sleeps).is_empty() {}
}

#[test]
fn a_socket_of_a_market_in_a_database_takes_orders_and_tells_no_channel() {
    let database = PostgresServer::start();
    let market = market(&database);
    let mut socket = Socket::open(market.address);
    for channel in ["book", "trades", "top"] {
        let refused = socket.subscribe(channel, ("symbol", "S"));
        assert_eq!(
            (&refused["op"], &refused["code"]),
            (&json!("error"), &json!("unsupported"))
        );
    }
    let placed = socket.ask(&to_buy("S"));
    assert_eq!(placed["data"]["state"], "open", "{placed}");
    drop(socket);
    market.close();
}

/// An order of a socket.
fn to_buy(symbol: &str) -> Value {
    let mut buy = order("ada", "buy", "1", "9");
    buy["op"] = "place_order".into();
    buy["symbol"] = symbol.into();
    buy
}

#[test]
fn orders_of_a_socket_are_decided_in_the_order_in_which_they_were_sent() {
    let database = PostgresServer::start();
    let market = market(&database);
    add_symbol(&market);
    let mut socket = Socket::open(market.address);
    thread::scope(|scope| {
        // Somebody keeps the first from being decided for a while, but not the second.
        lock_symbol(scope, &database, "SELECT pg_sleep(0.5)");
        socket.say(&to_buy("T"));
        socket.say(&to_buy("S"));
        let [first, second] = [socket.hear(), socket.hear()];
        let position = |placed: &Value| placed["data"]["position"].as_u64().unwrap();
        assert!(position(&first) < position(&second), "{first} {second}");
    });
    drop(socket);
    market.close();
}

#[test]
fn a_goodbye_cancels_the_sessions_own_orders_in_a_database() {
    let database = PostgresServer::start();
    only_its_own_orders_go_on(market(&database), |mut socket| {
        socket.send(Message::Close(None));
        assert_eq!(socket.end(), None, "the goodbye is answered");
    });
}

#[test]
fn orders_on_their_way_to_a_database_when_the_connection_ends_are_cancelled_too() {
    let database = PostgresServer::start();
    let market = market(&database);
    are_cancelled_on_their_way(&market, (3, 90));
    market.close();
}

/// With so many requests at the database, nothing else was answered, not even whether the server is ready.
#[test]
fn requests_that_wait_for_a_database_hold_up_no_others() {
    let database = PostgresServer::start();
    let market = market(&database);
    add_symbol(&market);
    thread::scope(|scope| {
        // It lets go when there is a table of that name.
        let wait = "DO $$ BEGIN FOR look IN 1..2000 LOOP
                    EXIT WHEN EXISTS (SELECT FROM pg_tables WHERE tablename = 'let_go');
                    PERFORM pg_sleep(0.01); END LOOP; END $$";
        lock_symbol(scope, &database, wait);
        let mut buy = order("ada", "buy", "1", "9");
        buy["symbol"] = "T".into();
        let buy = buy.to_string();
        let head = format!(
            "POST /v1/exchange/orders HTTP/1.1\r\nHost: localhost\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            buy.len()
        );
        let mut waiting: Vec<Peer> = (0..FEW).map(|_| market.peer()).collect();
        for peer in &mut waiting {
            peer.send(format!("{head}{buy}").as_bytes());
            assert_eq!(market.peer().get("/readyz", "").status, 200);
        }
        for peer in &waiting {
            peer.stream.set_nonblocking(true).unwrap();
            let nothing = peer.stream.peek(&mut [0; 1]).unwrap_err();
            assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
            peer.stream.set_nonblocking(false).unwrap();
        }
        database.sql("test_0", "CREATE TABLE let_go ()");
        for peer in &mut waiting {
            assert_eq!(peer.reply().status, 201);
        }
    });
    market.close();
}
