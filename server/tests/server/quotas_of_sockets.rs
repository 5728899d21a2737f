//! Bytes that a WebSocket is sent, as its principal's quota counts them.

use std::io::Read as _;

use turnstile_access::SecretKey;

use super::{
    access::{is_done, key, said},
    client::{Client, Server},
    quotas_at_doors::{TOTALS, busy_server, get, is_refused},
};

/// A client of the feed that writes and reads its frames by itself.
struct FeedClient(Client);

impl FeedClient {
    fn open(server: &Server, key: &SecretKey) -> Self {
        let mut client = server.client_of("http");
        client.send(format!(
            "GET /v1/exchange/feed HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer {}\r\n\r\n",
            key.expose()
        ));
        let head = client.until("\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        Self(client)
    }

    /// Sends one text, shorter than 126 bytes, under a mask of zeros.
    fn say(&mut self, text: &str) {
        let length = u8::try_from(text.len()).unwrap();
        assert!(length < 126, "{text}");
        let mut frame = vec![0x81, 0x80 | length, 0, 0, 0, 0];
        frame.extend_from_slice(text.as_bytes());
        self.0.send(frame);
    }

    /// The next text of the server.
    fn hear(&mut self) -> String {
        loop {
            let [first, length] = self.read();
            let length = match length {
                126 => u16::from_be_bytes(self.read()).into(),
                127 => usize::try_from(u64::from_be_bytes(self.read())).unwrap(),
                short => short.into(),
            };
            let mut payload = vec![0; length];
            self.0.socket.read_exact(&mut payload).unwrap();
            match first {
                0x81 => return String::from_utf8(payload).unwrap(),
                // A ping.
                0x89 => {}
                other => panic!("frame {other:#x}"),
            }
        }
    }

    fn read<const COUNT: usize>(&mut self) -> [u8; COUNT] {
        let mut bytes = [0; COUNT];
        self.0.socket.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Pings, and returns what came before the answer.
    fn ping(&mut self) -> Vec<String> {
        self.say(r#"{"op":"ping"}"#);
        let mut before = Vec::new();
        loop {
            let told = self.hear();
            if told.contains(r#""op":"pong""#) {
                return before;
            }
            before.push(told);
        }
    }

    /// The answer to a message, behind whatever is told unasked.
    fn ask(&mut self, message: &str) -> String {
        self.say(message);
        loop {
            let told = self.hear();
            if told.contains(r#""id":7"#) {
                return told;
            }
        }
    }
}

const ORDER: &str = r#"{"op":"cancel_order","account":"ada","order":99,"id":7}"#;

const USED_UP: &str = "your quota is 1 bytes of answers a second; retry in ";

/// Has the principal of the socket in debt for almost a minute.
fn spend(server: &Server, socket: &mut FeedClient, root: &mut Client) {
    is_done(root, "ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 1");
    let mut http = server.client_of("http");
    while {
        for _ in 0..100 {
            socket.ping();
        }
        !is_refused(&get(&mut http, TOTALS, &key(2)).0)
    } {}
}

#[test]
fn what_a_socket_is_told_is_paid_for_at_every_door() {
    let (server, mut root, mut shop) = busy_server();
    let mut socket = FeedClient::open(&server, &key(2));
    let before = socket.ask(ORDER);
    assert!(!before.contains("quota_exceeded"), "{before}");
    spend(&server, &mut socket, &mut root);
    let told = said(&mut shop, "ROOMS.GET-TOTALS");
    assert!(told.starts_with(&format!("-BUSY {USED_UP}")), "{told}");
    let mut http = server.client_of("http");
    let (refused, body) = get(&mut http, TOTALS, &key(2));
    assert!(
        is_refused(&refused) && body.contains(USED_UP),
        "{refused}{body}"
    );
    // The socket stays open, and its commands are refused as everywhere.
    let refused = socket.ask(ORDER);
    assert!(
        refused.contains(r#""code":"quota_exceeded""#) && refused.contains(USED_UP),
        "{refused}"
    );
    // Another principal notices nothing.
    assert!(!is_refused(&get(&mut http, TOTALS, &key(1)).0));
    is_done(&mut root, "ACCESS.SET-QUOTA shop");
    while socket.ask(ORDER).contains("quota_exceeded") {}
    server.stop();
}

/// What a socket follows waits until it is paid for. It is not lost.
#[test]
fn a_socket_in_debt_is_told_nothing_unasked() {
    let (server, mut root, _shop) = busy_server();
    for request in [
        "EXCHANGE.CREATE-SYMBOL S",
        "EXCHANGE.CREATE-ACCOUNT ada 100000",
    ] {
        is_done(&mut root, request);
    }
    let [mut limited, mut free] = [2, 1].map(|number| FeedClient::open(&server, &key(number)));
    for socket in [&mut limited, &mut free] {
        let snapshot = socket.ask(r#"{"op":"subscribe","channel":"book","symbol":"S","id":7}"#);
        assert!(snapshot.contains(r#""op":"snapshot""#), "{snapshot}");
    }
    spend(&server, &mut limited, &mut root);
    for price in 1..=40 {
        is_done(
            &mut root,
            &format!("EXCHANGE.PLACE-ORDER ada S BUY 1 {price}"),
        );
        let told = free.hear();
        assert!(told.contains(r#""op":"delta""#), "{told}");
    }
    assert_eq!(limited.ping(), Vec::<String>::new());
    is_done(&mut root, "ACCESS.SET-QUOTA shop");
    let mut told = String::new();
    while !told.contains(r#""price":"40""#) {
        told.push_str(&limited.hear());
    }
    for price in 1..=40 {
        assert!(
            told.contains(&format!(r#""price":"{price}""#)),
            "{price} is lost: {told}"
        );
    }
    server.stop();
}
