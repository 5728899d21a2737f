//! Any bytes: nothing panics, and what is taken is XML to another reader too.

use proptest::prelude::*;

use super::*;
use crate::{
    Batch, MalformedRequest,
    client::{self, Outgoing, Part, Replies, ReplyKind},
};

const SAMPLE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<create><!-- one --><account id="1" balance="1000.50"/><symbol sym="SPY"><account id='1'>100</account>
<account id="2"><![CDATA[5]]></account></symbol></create>"#;

const TRANSACTIONS: &str = r#"<transactions id="1"><order sym="S&amp;P" amount="-5" limit="12.5"/>
 text &#65; <query id="1"></query><cancel id="2" /><other a='b"c'><deep/></other></transactions>"#;

/// Pieces that a mutation puts in: what XML is made of.
const PIECES: [&str; 20] = [
    "<",
    ">",
    "/",
    "\"",
    "'",
    "&",
    ";",
    "=",
    " ",
    "<a>",
    "</a>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "<?xml version='1.0'?>",
    "\0",
    "\u{e4}",
    "id='1'",
];

#[derive(Clone, Debug)]
enum Mutation {
    Insert(usize, usize),
    Remove(usize, usize),
    Change(usize, u8),
    Repeat(usize, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = 0..400_usize;
    prop_oneof![
        (place.clone(), 0..PIECES.len()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (place.clone(), 1..20_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (place.clone(), any::<u8>()).prop_map(|(at, byte)| Mutation::Change(at, byte)),
        (place, 1..40_usize).prop_map(|(at, length)| Mutation::Repeat(at, length)),
    ]
}

fn mutate(xml: &str, mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = xml.as_bytes().to_vec();
    for mutation in mutations {
        let within = |at: usize| at % (bytes.len() + 1);
        match *mutation {
            Mutation::Insert(at, piece) => {
                let at = within(at);
                bytes.splice(at..at, PIECES[piece].bytes());
            }
            Mutation::Remove(at, length) => {
                let at = within(at);
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Mutation::Change(at, byte) => {
                let at = within(at);
                if let Some(changed) = bytes.get_mut(at) {
                    *changed = byte;
                }
            }
            Mutation::Repeat(at, length) => {
                let at = within(at);
                let copy = bytes[at..(at + length).min(bytes.len())].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
    bytes
}

/// Whether another reader takes this for well-formed XML. A prefix that stands for nothing is not
/// our business, so colons are made letters.
fn is_xml(xml: &[u8]) -> bool {
    let text = str::from_utf8(xml)
        .unwrap()
        .replace(':', "c")
        .replace("xmlns", "other");
    roxmltree::Document::parse(&text).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_mutated_request_is_refused_or_is_xml_and_its_answer_is(
        transactions in any::<bool>(),
        mutations in prop::collection::vec(mutation(), 0..4),
        marks in 0..3_usize,
    ) {
        let xml = mutate(if transactions { TRANSACTIONS } else { SAMPLE }, &mutations);
        let xml = ["\u{feff}".repeat(marks).into_bytes(), xml].concat();
        let mut requests = Requests::new(Options::default());
        let read = requests.read(&xml).map(|batch| batch.len());
        if read.is_ok() {
            prop_assert!(is_xml(&xml), "{}", xml.escape_ascii());
        }
        let mut stream = format!("{}\n", xml.len()).into_bytes();
        stream.extend_from_slice(&xml);
        let (answer, asked) = serve(Options::default(), &stream);
        let tree = roxmltree::Document::parse(&answer).unwrap();
        let replies = tree.root_element().children().count();
        match read {
            Ok(items) => prop_assert_eq!((replies, asked.len()), (items, items)),
            Err(_) => prop_assert_eq!((replies, asked.len()), (1, 0)),
        }
        let read_back: Result<Vec<_>, _> = Replies::new(answer.as_bytes()).unwrap().collect();
        prop_assert_eq!(read_back.unwrap().len(), replies);
    }

    #[test]
    fn any_bytes_are_frames_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (answer, _) = serve(Options::default(), &bytes);
        prop_assert!(answer.is_empty() || answer.ends_with("</results>"));
        let mut requests = Requests::new(Options::default());
        let read: Result<Batch<'_>, MalformedRequest> = requests.read(&bytes);
        if let Ok(batch) = read {
            prop_assert!(is_xml(&bytes) && batch.items().count() == batch.len());
        }
        // The client's side takes any bytes too.
        if let Framed::Frame { xml, consumed } = client::frame(&bytes) {
            prop_assert!(xml.end <= consumed && consumed <= bytes.len());
        }
        if let Ok(replies) = Replies::new(&bytes) {
            prop_assert!(replies.count() <= bytes.len().max(1));
        }
    }

    #[test]
    fn what_a_client_sends_is_what_is_asked(
        orders in prop::collection::vec((any::<bool>(), 1..1_000_000_u64, 0..5_u8, 1..1_000_000_u64), 1..20),
        lines in any::<bool>(),
    ) {
        let options = Options { reply_length_line: lines, ..Options::default() };
        let account = AccountId::parse(b"42").unwrap();
        let symbol = Symbol::parse(b"BRK.B").unwrap();
        let mut stream = Vec::new();
        let mut request = Outgoing::transactions(&mut stream, &account);
        let mut sent = Vec::new();
        for (buys, units, scale, limit) in orders {
            let side = if buys { Side::Buy } else { Side::Sell };
            let (quantity, limit) = (Decimal::new(units, scale), Decimal::new(limit, 4));
            request.order(&symbol, side, quantity, limit);
            sent.push((account, symbol, side, quantity, Some(limit)));
        }
        request.cancel(OrderId(9));
        request.finish();
        let (answer, asked) = serve(options, &stream);
        let mut found = Vec::new();
        for ask in &asked {
            if let Ask::Command(Command::Order(order)) = ask {
                found.push((order.account, order.symbol, order.side, order.quantity, order.limit));
            }
        }
        prop_assert_eq!(&found, &sent);
        let answer = answer.as_bytes();
        let Framed::Frame { xml, consumed } = client::frame(answer) else {
            panic!("an answer is whole");
        };
        prop_assert_eq!((consumed, answer[0] != b'<'), (answer.len(), lines));
        let replies: Result<Vec<_>, _> = Replies::new(&answer[xml]).unwrap().collect();
        let mut replies = replies.unwrap();
        let last = replies.pop().unwrap();
        prop_assert_eq!((last.kind, last.order()), (ReplyKind::Cancelled, Some(OrderId(9))));
        let executed = Part::Executed {
            shares: decimal("200"),
            price: decimal("127"),
            time: 1_519_348_326,
        };
        let cancelled = Part::Cancelled { shares: decimal("0.5"), time: 1_519_348_400 };
        prop_assert_eq!(last.parts, vec![cancelled, executed]);
        for (number, (reply, sent)) in (1..).zip(replies.iter().zip(&sent)) {
            prop_assert_eq!((reply.kind, reply.order()), (ReplyKind::Opened, Some(OrderId(number))));
            let minus = if sent.2 == Side::Sell { "-" } else { "" };
            let amount = format!("{minus}{}", sent.3);
            prop_assert_eq!((reply.sym, reply.amount), (Some("BRK.B"), Some(amount.as_str())));
        }
    }
}

#[test]
fn errors_and_created_accounts_are_read_back() {
    let account = |id: &str| AccountId::parse(id.as_bytes()).unwrap();
    let mut stream = Vec::new();
    let mut request = Outgoing::create(&mut stream);
    request.account(&account("1"), decimal("10.5"));
    request.account(&account("bob"), decimal("1"));
    let shares = [(account("1"), decimal("0.5")), (account("2"), decimal("7"))];
    request.shares(&Symbol::parse(b"SPY").unwrap(), &shares);
    request.finish();
    let (answer, _) = serve(Options::default(), &stream);
    let replies: Result<Vec<_>, _> = Replies::new(answer.as_bytes()).unwrap().collect();
    let found: Vec<_> = replies
        .unwrap()
        .into_iter()
        .map(|reply| (reply.kind, reply.sym, reply.id, reply.text))
        .collect();
    let expected = [
        (ReplyKind::Created, None, Some("1"), ""),
        (
            ReplyKind::Error,
            None,
            Some("bob"),
            "an account id is digits only",
        ),
        (ReplyKind::Created, Some("SPY"), Some("1"), ""),
        (ReplyKind::Created, Some("SPY"), Some("2"), ""),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_byte_order_mark_before_an_answer_changes_nothing() {
    let xml = "<results><error id='1'>caf\u{e9}</error></results>";
    for marks in 0..3 {
        let marked = "\u{feff}".repeat(marks) + xml;
        let replies: Result<Vec<_>, _> = Replies::new(marked.as_bytes()).unwrap().collect();
        let found = replies.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].id, found[0].text), (Some("1"), "caf\u{e9}"));
    }
}

#[test]
fn garbled_answers_are_told_from_answers() {
    let rows = [
        "<results",
        "<results><what/></results>",
        "<results><created id=1/></results>",
        "<other/>",
        "<results>text</results>",
        "<results><status id='1'><open/></status></results>",
        "<results><status id='1'><executed shares='1' price='x' time='1'/></status></results>",
        "<results><status id='1'>",
    ];
    for xml in rows {
        let read: Result<Vec<_>, _> = Replies::new(xml.as_bytes()).unwrap().collect();
        assert_eq!(
            read.err().map(|garbled| garbled.at <= xml.len()),
            Some(true),
            "{xml}"
        );
    }
}
