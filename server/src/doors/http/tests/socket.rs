//! A client of the feed, and a whole server before it.

use std::{collections::BTreeMap, net::TcpStream};

use serde_json::json;
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client::client};
use turnstile_exchange::{Command, Exchange};
use turnstile_types::Machine;

use super::*;
use crate::core::gate::{Ask, Executed, Request};

/// A server that keeps everything in memory, with a market in `S`: `ada` has cash, `bob` shares.
pub(super) struct Market {
    running: Running,
    pub(super) address: SocketAddr,
}

impl Market {
    pub(super) fn open(limits: HttpLimits) -> Self {
        let mut settings = settings(Some("127.0.0.1:0".parse().unwrap()));
        settings.limits.http = limits;
        Self::start(&settings)
    }

    pub(super) fn start(settings: &Settings) -> Self {
        let running = start(settings).unwrap();
        let [("http", address)] = *running.doors() else {
            panic!("one door: {:?}", running.doors());
        };
        let market = Self { running, address };
        let mut peer = market.peer();
        for account in ["ada", "bob"] {
            let body = json!({"account": account, "cash": "1000000"}).to_string();
            peer.post("/v1/exchange/accounts", "", &body);
        }
        peer.post("/v1/exchange/symbols", "", r#"{"symbol":"S"}"#);
        let grant = r#"{"account":"bob","quantity":"1000000"}"#;
        let granted = peer.post("/v1/exchange/symbols/S/grants", "", grant);
        assert_eq!(granted.status, 200);
        market
    }

    pub(super) fn peer(&self) -> Peer {
        Peer::connect(self.address)
    }

    /// Sends commands in one go, so that one turn of the loop takes them all, and waits.
    pub(super) fn execute(&self, commands: &[Command]) -> Vec<Executed<Exchange>> {
        let gate = self.running.gate();
        let ask = |command: &Command| {
            let mut bytes = Vec::new();
            Exchange::encode_command(command, &mut bytes);
            let (reply, answer) = oneshot::channel();
            let request = Request::Command {
                caller: crate::Caller::server(),
                key: None,
                command: bytes,
                reply,
            };
            gate.put(Ask::Exchange(request)).unwrap();
            answer
        };
        let answers: Vec<_> = commands.iter().map(ask).collect();
        gate.wake();
        answers
            .into_iter()
            .map(|answer| answer.blocking_recv().unwrap())
            .collect()
    }

    pub(super) fn book(&self) -> Value {
        self.peer()
            .get("/v1/exchange/books/S?levels=1000", "")
            .json()
    }

    pub(super) fn place(&self, account: &str, side: &str, quantity: &str, limit: &str) -> Value {
        let body = order(account, side, quantity, limit).to_string();
        let placed = self.peer().post("/v1/exchange/orders", "", &body);
        assert_eq!(placed.status, 201, "{placed:?}");
        placed.json()
    }

    pub(super) fn close(self) {
        self.running.stopper().stop();
        self.running.join().unwrap();
    }
}

pub(super) fn order(account: &str, side: &str, quantity: &str, limit: &str) -> Value {
    json!({"account": account, "symbol": "S", "side": side, "quantity": quantity, "limit": limit})
}

/// The client's end of a WebSocket, by a library of its own.
pub(super) struct Socket {
    inner: WebSocket<TcpStream>,
}

impl Socket {
    pub(super) fn open(address: SocketAddr) -> Self {
        Self::at(address, "/v1/exchange/feed")
    }

    pub(super) fn at(address: SocketAddr, target: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let url = format!("ws://{address}{target}");
        let (inner, response) = client(url, stream).unwrap();
        assert_eq!(response.status(), 101);
        Self { inner }
    }

    pub(super) fn stream(&self) -> &TcpStream {
        self.inner.get_ref()
    }

    pub(super) fn say(&mut self, message: &Value) {
        self.send(Message::text(message.to_string()));
    }

    pub(super) fn send(&mut self, message: Message) {
        self.inner.send(message).unwrap();
    }

    /// The next message of the server.
    pub(super) fn hear(&mut self) -> Value {
        loop {
            match self.inner.read().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("no message: {other:?}"),
            }
        }
    }

    pub(super) fn ask(&mut self, message: &Value) -> Value {
        self.say(message);
        self.hear()
    }

    pub(super) fn subscribe(&mut self, channel: &str, of: (&str, &str)) -> Value {
        let (kind, name) = of;
        self.ask(&json!({"op": "subscribe", "channel": channel, kind: name}))
    }

    /// Reads until the server closes; the code of its goodbye, if there is one.
    pub(super) fn end(mut self) -> Option<u16> {
        loop {
            match self.inner.read() {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(failure) => panic!("no goodbye: {failure}"),
            }
        }
    }
}

/// A book as a client keeps it: nothing but snapshots and changes make it.
#[derive(Debug, Default)]
pub(super) struct Kept {
    levels: BTreeMap<(String, String), (String, u64)>,
    pub(super) seq: u64,
    epoch: String,
    pub(super) lagged: u32,
}

impl Kept {
    /// Takes a message of channel `book`, and asserts that it fits what came before.
    pub(super) fn take(&mut self, message: &Value) {
        assert_eq!(
            (&message["channel"], &message["symbol"]),
            (&"book".into(), &"S".into())
        );
        let epoch = message["epoch"].as_str().unwrap();
        let data = &message["data"];
        match message["op"].as_str().unwrap() {
            "lagged" => {
                assert!(message["missed"].as_u64().unwrap() > 0);
                self.lagged += 1;
            }
            "snapshot" => {
                epoch.clone_into(&mut self.epoch);
                self.levels.clear();
                self.put("buy", &data["bids"]);
                self.put("sell", &data["asks"]);
                let seq = message["seq"].as_u64().unwrap();
                assert!(seq >= self.seq, "{message}");
                self.seq = seq;
            }
            "delta" => {
                assert_eq!(self.epoch, epoch);
                assert_eq!(message["prev_seq"], self.seq, "no gap and no overlap");
                for change in data["changes"].as_array().unwrap() {
                    let side = change["side"].as_str().unwrap();
                    self.put(side, &json!([change]));
                }
                self.seq = message["seq"].as_u64().unwrap();
            }
            other => panic!("{other}: {message}"),
        }
    }

    fn put(&mut self, side: &str, levels: &Value) {
        for level in levels.as_array().unwrap() {
            let price = level["price"].as_str().unwrap().to_owned();
            let quantity = level["quantity"].as_str().unwrap().to_owned();
            let orders = level["orders"].as_u64().unwrap();
            let key = (side.to_owned(), price);
            if quantity == "0" {
                self.levels.remove(&key);
            } else {
                self.levels.insert(key, (quantity, orders));
            }
        }
    }

    /// Asserts that it is the server's book.
    pub(super) fn assert_is(&self, book: &Value) {
        let mut other = Self::default();
        other.put("buy", &book["bids"]);
        other.put("sell", &book["asks"]);
        assert_eq!(self.seq, book["seq"].as_u64().unwrap());
        assert!(!self.levels.is_empty());
        assert_eq!(self.levels, other.levels);
    }
}

/// The same orders and cancellations in every run: enough of them match to keep the book small.
pub(super) struct Flow {
    state: u64,
    orders: u64,
}

impl Flow {
    pub(super) const fn new(seed: u64) -> Self {
        Self {
            state: seed,
            orders: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound
    }

    pub(super) fn commands(&mut self, count: usize) -> Vec<Command> {
        (0..count).map(|_| self.command()).collect()
    }

    fn command(&mut self) -> Command {
        use turnstile_exchange::{
            AccountId, Decimal, Order, OrderId, OrderRef, SelfTrade, Side, Symbol, TimeInForce,
        };
        let (side, name) = match self.below(2) {
            0 => (Side::Buy, b"ada"),
            _ => (Side::Sell, b"bob"),
        };
        let account = AccountId::parse(name).unwrap();
        if self.orders > 0 && self.below(3) == 0 {
            let order = OrderRef::Id(OrderId(1 + self.below(self.orders)));
            return Command::Cancel { account, order };
        }
        self.orders += 1;
        Command::Order(Order {
            account,
            symbol: Symbol::parse(b"S").unwrap(),
            side,
            quantity: Decimal::new(1 + self.below(9), 0),
            limit: Some(Decimal::new(950 + self.below(100), 1)),
            time_in_force: TimeInForce::GoodTillCancel,
            self_trade: SelfTrade::ExpireTaker,
            client_id: None,
        })
    }
}
