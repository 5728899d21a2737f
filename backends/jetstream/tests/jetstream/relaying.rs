//! Messages between nodes: requests reach one holder, answers reach who asked, and who is not there is known.

use std::{
    fs, iter,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use turnstile_jetstream::{BrokerLogin, LogSettings, NodeLine, NodeMessage, NodeName};

use crate::{
    Cluster,
    keys::{guarded, rights},
    node::settings,
};

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A line with what wakes its node.
struct Talker {
    line: NodeLine,
    bell: Receiver<()>,
}

impl Talker {
    fn open(settings: &LogSettings, run: u64, holds: &[&str]) -> Self {
        let (ring, bell) = channel();
        let holds = holds.iter().map(|name| name_of(name)).collect();
        // Nobody listens any more at the end.
        let wake = move || {
            let _unheard = ring.send(());
        };
        let line = NodeLine::open(settings, run, holds, wake).expect("a thread");
        Self { line, bell }
    }

    /// What comes next to this node. What nodes say of themselves may still come from the time when it waited for
    /// its line.
    fn next(&mut self) -> NodeMessage {
        loop {
            let mut come = iter::from_fn(|| self.line.next_message());
            if let Some(message) = come.find(|message| !is_announced(message)) {
                return message;
            }
            self.bell.recv_timeout(PATIENCE).expect("a message comes");
        }
    }

    /// All that has come, if anything comes so soon. It rings again only when all is taken.
    fn come(&mut self, patience: Duration) -> Vec<NodeMessage> {
        // What came without a ring is taken too.
        let _rung = self.bell.recv_timeout(patience);
        iter::from_fn(|| self.line.next_message()).collect()
    }

    /// Asks whoever holds the partition.
    fn ask(&mut self, number: u64, bytes: &[u8]) {
        let asked = self.line.ask(number, &name_of("b"), bytes.into());
        asked.expect("there is room");
    }
}

fn name_of(text: &str) -> NodeName {
    text.parse().expect("a name")
}

const fn is_announced(message: &NodeMessage) -> bool {
    matches!(message, NodeMessage::Announced { .. })
}

/// Waits until a line is connected: it hears what it says itself.
fn await_line(talker: &mut Talker) {
    loop {
        talker
            .line
            .announce(b"here".to_vec())
            .expect("there is room");
        if talker
            .come(Duration::from_millis(200))
            .iter()
            .any(is_announced)
        {
            return;
        }
    }
}

#[test]
fn a_request_reaches_a_holder_and_its_answer_who_asked_with_the_documented_rights() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    fs::write(&file, "sesame").expect("a file");
    let plain = Cluster::of(1);
    // The rights of a name that stands for all nodes of the test.
    let cluster = guarded(&rights(&settings(&plain.brokers, "a"), None));
    let mut of_node = settings(&cluster.brokers, "a");
    of_node.login = BrokerLogin::Password {
        user: "turnstile".to_owned(),
        file,
    };
    let mut relaying = Talker::open(&of_node, 1, &[]);
    await_line(&mut relaying);
    relaying.ask(1, b"nobody is there");
    assert_eq!(relaying.next(), NodeMessage::Missed { number: 1 });
    let mut holding = Talker::open(&of_node, 2, &["b"]);
    await_line(&mut holding);
    relaying.ask(2, b"a request");
    let NodeMessage::Asked { from, bytes } = holding.next() else {
        panic!("the request comes first");
    };
    assert_eq!(&*bytes, b"a request");
    holding
        .line
        .answer(from, b"an answer".to_vec())
        .expect("there is room");
    let answered = relaying.next();
    let NodeMessage::Answered { number: 2, bytes } = answered else {
        panic!("{answered:?}");
    };
    assert_eq!(&*bytes, b"an answer");
    holding.line.leave().expect("there is room");
    await_line(&mut holding);
    relaying.ask(3, b"too late");
    assert_eq!(relaying.next(), NodeMessage::Missed { number: 3 });
}

/// Brokers that are being given new passwords may refuse a node for a moment.
#[test]
fn a_line_that_is_refused_says_so_and_tries_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    fs::write(&file, "seseme").expect("a file");
    let cluster = guarded("authorization { user: turnstile, password: sesame }");
    let mut of_node = settings(&cluster.brokers, "a");
    of_node.login = BrokerLogin::Password {
        user: "turnstile".to_owned(),
        file: file.clone(),
    };
    let mut line = Talker::open(&of_node, 1, &[]);
    for _ in 0..2 {
        let NodeMessage::Trouble(trouble) = line.next() else {
            panic!("it is refused");
        };
        assert!(trouble.contains("authorization violation"), "{trouble}");
    }
    fs::write(&file, "sesame").expect("a file");
    await_line(&mut line);
}

#[test]
fn a_line_ends_and_says_who_was_missed_while_no_broker_is_there() {
    let mut cluster = Cluster::of(1);
    let mut relaying = Talker::open(&settings(&cluster.brokers, "a"), 1, &["b"]);
    await_line(&mut relaying);
    cluster.brokers.kill(0);
    // What is sent before the end of the connection is noticed is lost; what comes behind it is missed.
    let is_missed = |message: &NodeMessage| matches!(message, NodeMessage::Missed { .. });
    let mut number = 0;
    loop {
        number += 1;
        relaying.ask(number, b"a request");
        let come = relaying.come(Duration::from_millis(50));
        if come.iter().any(is_missed) {
            break;
        }
    }
    drop(relaying);
}
