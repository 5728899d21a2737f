//! SIGKILL where PostgreSQL keeps the exchange: of servers that share a database, and of the database
//! under a server. No acknowledged order, fill or cancellation is lost, none happens twice, and no
//! cent and no share appears or vanishes.

use std::collections::VecDeque;

use rand::RngExt as _;
use tempfile::TempDir;
use turnstile_client::resp::Value;
use turnstile_tests::Turnstile;
use turnstile_trial::PostgresServer;

use super::crowd::Crowd;
use super::floor::Floor;
use super::listing::connect;
use super::load::Load;
use super::ordeal::Ordeal;

/// How often one of two servers is killed.
const SERVER_KILLS: u32 = 12;

/// How often the database is killed.
const DATABASE_KILLS: usize = 8;

/// The most answers to commands of the RESP door before a kill.
const ANSWERS_MAX: usize = 100;

/// Connections to each XML door.
const TRADERS: usize = 3;

/// A database with an exchange, and what its servers were asked.
struct Exchange {
    database: PostgresServer,
    name: String,
    url: String,
    /// The journals of its servers, which know nothing of the exchange.
    journals: TempDir,
    served: u32,
    ordeal: Ordeal<Floor>,
}

/// Requests in flight at the doors of some servers.
struct Flow {
    load: Load,
    crowds: Vec<Crowd>,
}

#[test]
fn killed_servers_leave_every_cent_and_share_in_their_database() {
    let mut exchange = Exchange::open("killed_servers_leave");
    let mut servers = VecDeque::from([exchange.serve(), exchange.serve()]);
    exchange.ordeal.open(&servers[0]);
    while exchange.ordeal.next_crash(SERVER_KILLS).is_some() {
        let flow = exchange.trade(servers.make_contiguous());
        if let Some(server) = servers.pop_front() {
            server.kill();
        }
        exchange.drain(flow);
        servers.push_back(exchange.serve());
        let asked = exchange.ordeal.rng.random_range(0..servers.len());
        exchange.check(&servers[asked]);
    }
    let recorder = &exchange.ordeal.recorder;
    let failures = recorder.failures + recorder.books.failures;
    assert_eq!(failures, 0, "the database was there all the time");
    exchange.ordeal.must_have_met_both();
}

#[test]
fn a_killed_database_comes_back_with_every_cent_and_share() {
    let mut exchange = Exchange::open("a_killed_database_comes_back");
    exchange.ordeal.recorder.may_replay = true;
    let server = exchange.serve();
    exchange.ordeal.open(&server);
    for _ in 0..DATABASE_KILLS {
        let mut flow = exchange.trade(std::slice::from_ref(&server));
        exchange.database.kill();
        // What comes meanwhile is told that it is away.
        let Ordeal { recorder, rng, .. } = &mut exchange.ordeal;
        let asked = flow.load.ask(recorder, rng);
        exchange.ordeal.must(asked);
        exchange.database.restart();
        exchange.drain(flow);
        await_database(&server);
        exchange.check(&server);
    }
    let recorder = &exchange.ordeal.recorder;
    assert!(recorder.failures > 0, "no request met the database away");
    assert!(recorder.books.failures > 0, "no document did");
}

impl Exchange {
    fn open(test: &'static str) -> Self {
        let database = PostgresServer::start();
        let url = database.database();
        let name = url.rsplit('/').next().unwrap_or_default().to_owned();
        Self {
            database,
            name,
            url,
            journals: tempfile::tempdir().expect("a temporary folder"),
            served: 0,
            ordeal: Ordeal::new(test),
        }
    }

    /// One server more.
    fn serve(&mut self) -> Turnstile {
        self.served += 1;
        let journal = self.journals.path().join(self.served.to_string());
        Turnstile::serve_exchange_from(&journal, &self.url)
    }

    /// Loads all doors of all servers, and leaves requests in flight.
    fn trade(&mut self, servers: &[Turnstile]) -> Flow {
        let ordeal = &mut self.ordeal;
        let mut crowds = Vec::new();
        for server in servers {
            let connected = Crowd::connect(server.xml(), TRADERS);
            let mut crowd = ordeal.must(connected);
            for _ in 0..ordeal.rng.random_range(1..4) {
                let traded = crowd.trade(&mut ordeal.recorder.books, &mut ordeal.rng);
                ordeal.must(traded);
            }
            crowds.push(crowd);
        }
        let doors: Vec<_> = servers.iter().map(Turnstile::resp).collect();
        let mut load = ordeal.load_all(&doors, ANSWERS_MAX);
        for crowd in &mut crowds {
            let asked = crowd.ask(&mut ordeal.recorder.books, &mut ordeal.rng);
            ordeal.must(asked);
        }
        let answers = ordeal.rng.random_range(1..=ANSWERS_MAX / 4);
        ordeal.go_on(&mut load, answers);
        Flow { load, crowds }
    }

    /// Listens to all answers that still come.
    fn drain(&mut self, flow: Flow) {
        self.ordeal.drain(flow.load);
        for crowd in flow.crowds {
            let drained = crowd.drain(&mut self.ordeal.recorder.books);
            self.ordeal.must(drained);
        }
    }

    /// Compares what the database has with what its servers had answered.
    fn check(&mut self, server: &Turnstile) {
        self.await_silence();
        let last = self.ask("SELECT coalesce(max(id), 0) FROM exchange.open_order");
        let last = last.parse().expect("it is a number");
        self.ordeal.recorder.books.last_order = Some(last);
        self.ordeal.check_database(server);
        for (rule, sql) in RULES {
            assert_eq!(self.ask(sql), "", "{rule}");
        }
    }

    /// Waits for the end of what a killed server has left under way.
    fn await_silence(&self) {
        let busy = "SELECT pid, query FROM pg_stat_activity
            WHERE application_name LIKE 'turnstile%' AND state <> 'idle'";
        while !self.ask(busy).is_empty() {}
    }

    fn ask(&self, sql: &str) -> String {
        self.database.sql(&self.name, sql).trim().to_owned()
    }
}

/// What never is in the tables: each of these finds nothing.
const RULES: [(&str, &str); 5] = [
    (
        "the cash of all is what was put in",
        "SELECT sum(free + reserved), (SELECT sum(amount) FROM exchange.cash_put_in)
         FROM exchange.account
         HAVING sum(free + reserved) <> (SELECT sum(amount) FROM exchange.cash_put_in)",
    ),
    (
        "the shares of all are those that were granted",
        "SELECT s.name FROM exchange.symbol s JOIN exchange.position p ON p.symbol = s.number
         GROUP BY s.number HAVING sum(p.free + p.reserved) <> s.issued",
    ),
    (
        "an order is open, executed and cancelled for all of its quantity",
        "SELECT o.id FROM exchange.open_order o
         WHERE o.quantity <> o.open
             + (SELECT coalesce(sum(quantity), 0) FROM exchange.exec WHERE o.id IN (maker, taker))
             + (SELECT coalesce(sum(quantity), 0) FROM exchange.cancel WHERE order_id = o.id)",
    ),
    (
        "what is reserved of shares is what open orders sell",
        "SELECT p.account, p.symbol FROM exchange.position p WHERE p.reserved <>
             (SELECT coalesce(sum(o.open), 0) FROM exchange.open_order o WHERE o.side = 'sell'
              AND (o.account, o.symbol) = (p.account, p.symbol))",
    ),
    (
        "what is reserved of cash is what open orders may cost",
        "SELECT a.id FROM exchange.account a WHERE a.reserved <>
             (SELECT coalesce(sum(o.open * o.price * s.worth), 0) FROM exchange.open_order o
              JOIN exchange.symbol s ON s.number = o.symbol
              WHERE o.side = 'buy' AND o.account = a.number)",
    ),
];

/// Waits until a server has found its database again.
fn await_database(server: &Turnstile) {
    let mut door = connect(server.resp()).expect("the server is there");
    loop {
        match door.command(&[b"EXCHANGE.GET-ACCOUNT", b"1"]) {
            Ok(Value::Error(error)) if error.starts_with("UNAVAILABLE ") => {}
            Ok(Value::Error(error)) => panic!("not unavailable, but: {error}"),
            Ok(_) => return,
            Err(error) => panic!("the server ended: {error}"),
        }
    }
}
