//! Clients of RESP at a loop that is turned by hand.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream as StdStream},
};

use mio::net::TcpStream;
use turnstile_access::SecretKey;
use turnstile_travel::{Command, Item, Step, Xid};

use super::*;
use crate::{core::conversation::FastDoor, doors::resp::RESP};

/// No client waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(20);

const FLIGHT: Item = Item::Flight(7);

impl Workbench {
    /// A socket that the loop has accepted at a door.
    pub(super) fn connected(&mut self, door: &FastDoor) -> StdStream {
        let doorway = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = StdStream::connect(doorway.local_addr().unwrap()).unwrap();
        let (socket, peer) = doorway.accept().unwrap();
        socket.set_nonblocking(true).unwrap();
        let socket = TcpStream::from_std(socket);
        let refusal = |_why: &str| Vec::new();
        self.fast_loop.welcome((door, refusal), socket, peer);
        client
    }

    pub(super) fn client(&mut self) -> RespClient {
        let socket = self.connected(&RESP);
        socket.set_nonblocking(true).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        RespClient {
            socket,
            seen: String::new(),
            has_ended: false,
        }
    }

    /// Waits and turns as the loop does.
    pub(super) fn await_turn(&mut self) {
        let mut events = Events::with_capacity(EVENTS);
        self.fast_loop.wait(&mut events).unwrap();
        self.fast_loop.turn().unwrap();
    }

    /// Turns until this has come, and answers with all that came before it, and it.
    pub(super) fn until(&mut self, client: &mut RespClient, mark: &str) -> String {
        loop {
            client.read();
            if let Some(at) = client.seen.find(mark) {
                let rest = client.seen.split_off(at + mark.len());
                return std::mem::replace(&mut client.seen, rest);
            }
            assert!(!client.has_ended, "{:?} and no {mark:?}", client.seen);
            self.await_turn();
        }
    }

    /// Has requests done of which each is answered in one array.
    fn does(&mut self, client: &mut RespClient, requests: &[&str]) {
        for request in requests {
            client.send(&format!("{request}\nECHO done\n"));
            let told = self.until(client, "$4\r\ndone\r\n");
            assert!(!told.starts_with('-'), "{request}: {told}");
        }
    }

    /// A client with a key, of an administrator with this name.
    fn administrator(&mut self, by: &mut RespClient, (name, number): (&str, u8)) -> RespClient {
        let key = SecretKey::new("test", [number; 8], [number; 32]).unwrap();
        let (id, digest) = (key.id(), key.digest().hex());
        self.does(
            by,
            &[
                &format!("ACCESS.ADD-PRINCIPAL {name}"),
                &format!("ACCESS.GRANT {name} admin *"),
            ],
        );
        // The first key makes a stranger of everybody who has shown none.
        by.send(&format!("ACCESS.ADD-KEY {name} {id} {digest}\n"));
        self.until(by, "*2\r\n");
        let mut client = self.client();
        client.send(&format!("AUTH {}\n", key.expose()));
        self.until(&mut client, "+OK\r\n");
        client
    }

    /// Turns until all connections are closed.
    pub(super) fn await_departures(&mut self) {
        while self.fast_loop.connections.open() > 0 {
            self.await_turn();
        }
    }

    /// Bytes that connections keep of requests, as they are counted.
    fn held(&self) -> usize {
        crate::core::conversation::OtherConnections::held(&self.fast_loop.connections)
    }
}

/// One client, and what it has read.
pub(super) struct RespClient {
    pub(super) socket: StdStream,
    seen: String,
    has_ended: bool,
}

impl RespClient {
    pub(super) fn send(&mut self, requests: &str) {
        self.socket.write_all(requests.as_bytes()).unwrap();
    }

    /// Asserts that this is there next, without another turn.
    #[track_caller]
    pub(super) fn expect(&mut self, answers: &str) {
        let mut bytes = vec![0; answers.len()];
        self.socket.set_nonblocking(false).unwrap();
        self.socket.read_exact(&mut bytes).unwrap();
        self.socket.set_nonblocking(true).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), answers);
    }

    /// Asserts that nothing more comes.
    #[track_caller]
    pub(super) fn expect_end(&mut self) {
        self.socket.set_nonblocking(false).unwrap();
        assert_eq!(self.socket.read(&mut [0; 1]).unwrap(), 0);
    }

    /// Reads what is there.
    fn read(&mut self) {
        let mut bytes = [0; 4_096];
        loop {
            match self.socket.read(&mut bytes) {
                Ok(0) => self.has_ended = true,
                Ok(count) => {
                    let text = std::str::from_utf8(&bytes[..count]).unwrap();
                    self.seen.push_str(text);
                    continue;
                }
                Err(failure) => assert_eq!(failure.kind(), ErrorKind::WouldBlock),
            }
            return;
        }
    }
}

/// The difference stayed in the count for ever, until every large request was refused.
#[test]
fn a_reply_that_was_held_back_is_counted_no_more_when_it_was_given() {
    let mut workbench = Workbench::new();
    let (item, count, price) = (FLIGHT, 5, 100);
    drop(workbench.travel(&Command::Start));
    drop(workbench.within(1, Step::Add { item, count, price }));
    drop(workbench.travel(&Command::Start));
    workbench.turn();
    let mut client = workbench.client();
    client.send("MULTI\nPING\nTRAVEL.QUERY-ITEM 2 flight-7\nEXEC\n");
    workbench.until(&mut client, "+QUEUED\r\n+QUEUED\r\n");
    assert!(workbench.held() > 0, "it waits");
    drop(workbench.travel(&Command::Abort { xid: Xid(1) }));
    workbench.until(&mut client, "*2\r\n+PONG\r\n");
    client.socket.shutdown(Shutdown::Write).unwrap();
    workbench.await_departures();
    assert_eq!(workbench.held(), 0);
    workbench.stop();
}

#[test]
fn a_batch_whose_next_request_comes_too_late_is_counted_no_more() {
    let mut workbench = Workbench::new();
    let begin = Timestamp(1_780_272_000_000);
    set(begin, 0);
    workbench.fast_loop.engine.set_clock(told);
    workbench.fast_loop.limits.request = Duration::from_secs(2);
    workbench.turn();
    let mut client = workbench.client();
    client.send("MULTI\nPING\n*1\r\n$4\r\nEX");
    workbench.until(&mut client, "+OK\r\n+QUEUED\r\n");
    assert!(workbench.held() > 0);
    for second in 1..=4 {
        set(begin.plus_ms(second * 1_000), second * 1_000);
        workbench.turn();
    }
    let told = workbench.until(&mut client, "\r\n");
    assert!(
        told.starts_with("-ERR the request did not arrive"),
        "{told}"
    );
    drop(client);
    workbench.await_departures();
    assert_eq!(workbench.held(), 0);
    workbench.stop();
}

/// It was neither sent the rest nor closed, for as long as it was in debt.
#[test]
fn a_follower_in_debt_that_has_read_everything_is_closed_with_its_key() {
    let mut workbench = Workbench::new();
    let mut first = workbench.client();
    let mut root = workbench.administrator(&mut first, ("root", 1));
    let mut shop = workbench.administrator(&mut root, ("shop", 2));
    workbench.does(&mut root, &["ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 1"]);
    shop.send("SUBSCRIBE rooms.events\n");
    workbench.until(&mut shop, ":1\r\n");
    let id = SecretKey::new("test", [2; 8], [2; 32]).unwrap().id();
    root.send(&format!("ACCESS.REVOKE-KEY {id}\n"));
    workbench.until(&mut root, "*2\r\n");
    let begun = workbench.fast_loop.sweep;
    while !shop.has_ended {
        assert!(workbench.fast_loop.sweep < begun + 3, "it stays open");
        workbench.await_turn();
        shop.read();
    }
    workbench.stop();
}

/// What was queued was done, although who queued it might not ask for it any more.
#[test]
fn a_batch_is_refused_what_its_client_may_not_ask_for_any_more() {
    let mut workbench = Workbench::new();
    let mut first = workbench.client();
    let mut root = workbench.administrator(&mut first, ("root", 1));
    let mut boss = workbench.administrator(&mut root, ("boss", 2));
    boss.send("MULTI\nPING\nACL LIST\nCLIENT KILL ID 1\nECHO rest\n");
    workbench.until(
        &mut boss,
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n",
    );
    workbench.does(&mut root, &["ACCESS.WITHDRAW-GRANT boss admin"]);
    boss.send("EXEC\n");
    let told = workbench.until(&mut boss, "$4\r\nrest\r\n");
    let lines: Vec<&str> = told.split_terminator("\r\n").collect();
    assert_eq!(lines[..2], ["*4", "+PONG"]);
    assert!(
        lines[2..4].iter().all(|line| line.starts_with("-NOPERM ")),
        "{told}"
    );
    assert_eq!(lines[4..], ["$4", "rest"]);
    workbench.stop();
}
