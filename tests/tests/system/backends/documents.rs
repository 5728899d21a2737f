//! The XML door over a database: the same documents, the same answers to the byte.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use turnstile_trial::PostgresServer;
use turnstile_xml::{Framed, client::frame};

use super::exchange::served_from;
use crate::door::{Door, door};

/// Documents of one history.
const DOCUMENTS: usize = 60;

/// Items of the longest one: more than leave for a database together.
const ITEMS_MAX: usize = 700;

const ACCOUNTS: [&str; 4] = ["900000001", "900000002", "900000003", "900000004"];

/// One client of one server, and the orders that it was told of.
struct Client {
    socket: TcpStream,
    inbox: Vec<u8>,
    /// The numbers of orders, in the order in which they were opened.
    opened: Vec<String>,
}

/// An item of a document. Orders are named by when they were opened, as each server has its own
/// numbers.
enum Item {
    /// As it is sent.
    Plain(String),
    Query(usize),
    Cancel(usize),
}

#[test]
fn documents_are_answered_by_a_database_as_they_are_without() {
    let database = PostgresServer::start();
    for seed in 0..3 {
        let mut rng = StdRng::seed_from_u64(seed);
        let (embedded, tables) = (door(), served_from(&database.database()));
        let (mut one, mut two) = (Client::of(&embedded), Client::of(&tables));
        for number in 0..DOCUMENTS {
            let most = if number / 2 == DOCUMENTS / 4 {
                ITEMS_MAX
            } else {
                12
            };
            let documents: Vec<_> = (0..rng.random_range(1..=3))
                .map(|place| {
                    let has_queries = (number + place) % 2 == 0;
                    document(&mut rng, one.opened.len(), (most, has_queries))
                })
                .collect();
            let (expected, found) = (one.ask(&documents), two.ask(&documents));
            assert_eq!(found, expected, "seed {seed}, after {number} documents");
        }
        assert!(one.opened.len() > 100, "{} orders", one.opened.len());
    }
}

/// The root of a document, its items, and its end.
type Document = (String, Vec<Item>, &'static str);

/// Some have no queries, so that many commands stand side by side.
fn document(rng: &mut StdRng, opened: usize, (most, has_queries): (usize, bool)) -> Document {
    let items = 0..rng.random_range(most / 2..=most);
    if rng.random_bool(0.15) || opened == 0 {
        let items = items.map(|_| Item::Plain(creation(rng))).collect();
        return ("<create>".to_owned(), items, "</create>");
    }
    let account = if rng.random_bool(0.05) {
        "900000009"
    } else {
        pick(rng, &ACCOUNTS)
    };
    let items = items.map(|_| item(rng, opened, has_queries)).collect();
    let root = format!("<transactions id=\"{account}\">");
    (root, items, "</transactions>")
}

fn creation(rng: &mut StdRng) -> String {
    let account = pick(rng, &ACCOUNTS);
    match rng.random_range(0..8) {
        0..3 => {
            let balance = pick(rng, &["0", "100.5", "100000", "-1", "much"]);
            format!("<account id=\"{account}\" balance=\"{balance}\"/>")
        }
        3 => "<position/>".to_owned(),
        _ => {
            let (symbol, shares) = (
                pick(rng, &["X", "Y"]),
                pick(rng, &["5", "1000", "0.5", "0"]),
            );
            format!(
                "<symbol sym=\"{symbol}\"><account id=\"{account}\">{shares}</account></symbol>"
            )
        }
    }
}

fn item(rng: &mut StdRng, opened: usize, has_queries: bool) -> Item {
    match rng.random_range(0..20) {
        0..4 if has_queries => Item::Query(some_order(rng, opened)),
        8 if has_queries => Item::Plain("<query id=\"99999999\"/>".to_owned()),
        4..8 => Item::Cancel(some_order(rng, opened)),
        9 => Item::Plain("<cancel id=\"first\"/>".to_owned()),
        10 => Item::Plain("<order sym=\"X\" amount=\"0\" limit=\"&lt;\"/>".to_owned()),
        _ => {
            let symbol = pick(rng, &["X", "X", "X", "Y", "unknown"]);
            let amount = pick(rng, &["1", "-1", "7", "-7", "2.5", "-0.5", "9999"]);
            let limit = pick(rng, &["9", "9.5", "10", "10.25", "11"]);
            Item::Plain(format!(
                "<order sym=\"{symbol}\" amount=\"{amount}\" limit=\"{limit}\"/>"
            ))
        }
    }
}

/// Most often one of the last.
fn some_order(rng: &mut StdRng, opened: usize) -> usize {
    let first = if rng.random_bool(0.7) {
        opened.saturating_sub(20)
    } else {
        0
    };
    rng.random_range(first..opened)
}

fn pick<'a>(rng: &mut StdRng, of: &[&'a str]) -> &'a str {
    of.choose(rng).expect("there are some")
}

impl Client {
    /// Connects, with one order opened by which accounts and symbols are there.
    fn of(door: &Door) -> Self {
        let socket = TcpStream::connect(door.xml).expect("the XML door is open");
        let mut client = Self {
            socket,
            inbox: Vec::new(),
            opened: Vec::new(),
        };
        let accounts =
            ACCOUNTS.map(|id| Item::Plain(format!("<account id=\"{id}\" balance=\"5000\"/>")));
        let grants = ACCOUNTS.map(|id| {
            let grant = format!("<symbol sym=\"X\"><account id=\"{id}\">200</account></symbol>");
            Item::Plain(grant)
        });
        let items = accounts.into_iter().chain(grants).collect();
        let order = Item::Plain("<order sym=\"X\" amount=\"1\" limit=\"1\"/>".to_owned());
        let root = format!("<transactions id=\"{}\">", ACCOUNTS[0]);
        client.ask(&[
            ("<create>".to_owned(), items, "</create>"),
            (root, vec![order], "</transactions>"),
        ]);
        assert_eq!(client.opened.len(), 1);
        client
    }

    /// Sends documents in one piece. Their answers are told with orders by when they were opened, and
    /// without times.
    fn ask(&mut self, documents: &[Document]) -> Vec<String> {
        let mut bytes = Vec::new();
        for (root, items, end) in documents {
            let mut xml = root.clone();
            for item in items {
                match item {
                    Item::Plain(text) => xml.push_str(text),
                    Item::Query(at) => {
                        xml.push_str(&format!("<query id=\"{}\"/>", self.opened[*at]))
                    }
                    Item::Cancel(at) => {
                        xml.push_str(&format!("<cancel id=\"{}\"/>", self.opened[*at]));
                    }
                }
            }
            xml.push_str(end);
            bytes.extend(format!("{}\n{xml}", xml.len()).into_bytes());
        }
        self.socket.write_all(&bytes).expect("the door reads");
        documents.iter().map(|_| self.answer()).collect()
    }

    fn answer(&mut self) -> String {
        let (xml, consumed) = loop {
            match frame(&self.inbox) {
                Framed::Frame { xml, consumed } => break (xml, consumed),
                Framed::Incomplete { .. } => {}
                Framed::Broken(fault) => panic!("a garbled answer: {fault}"),
            }
            let mut bytes = [0; 16 * 1024];
            let count = self.socket.read(&mut bytes).expect("the door answers");
            assert!(count > 0, "the door closed");
            self.inbox.extend_from_slice(&bytes[..count]);
        };
        let text = String::from_utf8(self.inbox[xml].to_vec()).expect("it is UTF-8");
        self.inbox.drain(..consumed);
        self.told(&text)
    }

    /// An answer as both servers should give it.
    fn told(&mut self, answer: &str) -> String {
        let mut told = String::new();
        for element in answer.split_inclusive('>') {
            if element.starts_with("<opened ")
                && let Some(number) = attribute(element, "id")
            {
                self.opened.push(number.to_owned());
            }
            let mut element = element.to_owned();
            if let Some(time) = attribute(&element, "time") {
                element = element.replace(&format!("time=\"{time}\""), "time=\"\"");
            }
            let number = attribute(&element, "id");
            let known = number.and_then(|number| self.opened.iter().position(|id| id == number));
            if let (Some(number), Some(known)) = (number, known) {
                element = element.replace(&format!("id=\"{number}\""), &format!("id=\"#{known}\""));
            }
            told.push_str(&element);
        }
        told
    }
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    Some(rest.split_once('"')?.0)
}
