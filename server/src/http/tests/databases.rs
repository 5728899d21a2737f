//! Sockets of an exchange that a database decides.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use turnstile_trial::PostgresServer;

use super::{
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
    // They are done in the order in which they were sent.
    for number in 0..40 {
        let client = format!("c{number}");
        let mut buy = order("ada", "buy", "1", "9");
        buy["op"] = "order".into();
        buy["client_id"] = client.as_str().into();
        socket.say(&buy);
        socket.say(&json!({"op": "cancel", "account": "ada", "client_id": client}));
        socket.say(&json!({"op": "cancel", "account": "ada", "client_id": client}));
    }
    for number in 0..40 {
        let (placed, cancelled, again) = (socket.hear(), socket.hear(), socket.hear());
        assert_eq!(placed["data"]["state"], "open", "{number}: {placed}");
        assert_eq!(cancelled["data"]["quantity"], "1", "{number}: {cancelled}");
        assert_eq!(again["code"], "not_open", "{number}: {again}");
    }
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
