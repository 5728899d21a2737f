//! Starts of a log: versions, configurations, warnings, and room.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, mpsc::channel},
    thread,
    time::Duration,
};

use serde_json::json;
use turnstile_brokers::{BrokersSetup, Syncing};
use turnstile_jetstream::{
    BrokerWarning, LogObstacle, LogOpening, LogSettings, OpenLogError, Sequence, SharedLog,
};

use crate::{
    Cluster,
    node::{Node, settings},
    operate,
};

/// A broker that says it has a version, and knows no more than that.
fn impostor(version: &str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let information = json!({
        "server_id": format!("impostor of {version}"),
        "server_name": "old",
        "version": version,
        "max_payload": 1 << 20,
        "headers": true,
        "jetstream": true,
    });
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let information = information.clone();
            thread::spawn(move || {
                write!(&stream, "INFO {information}\r\n").ok();
                for line in BufReader::new(&stream).lines().map_while(Result::ok) {
                    if line.starts_with("PING") {
                        write!(&stream, "PONG\r\n").ok();
                    }
                }
            });
        }
    });
    format!("nats://{address}")
}

#[test]
fn a_cluster_with_one_broker_of_a_refused_version_is_refused() {
    let cluster = Cluster::of(1);
    for (version, reason) in [
        ("2.14.3", "stops a replicated stream for good"),
        ("2.15.2", "stops a replicated stream for good"),
        ("2.10.22", "can lose a stream"),
    ] {
        let mut settings = settings(&cluster.brokers, "a");
        settings
            .servers
            .push(impostor(version).parse().expect("a URL"));
        let refused = Node::open(&settings, 0).err().expect("it is refused");
        let told = refused.to_string();
        assert!(
            told.starts_with("broker old: version ") && told.contains(reason),
            "{told}"
        );
    }
}

#[test]
fn warnings_say_what_an_operator_must_know() {
    let cluster = Cluster::with(&BrokersSetup {
        syncing: Syncing::Default,
        ..BrokersSetup::of(1)
    });
    let mut settings = settings(&cluster.brokers, "a");
    let gone = TcpListener::bind(("127.0.0.1", 0)).and_then(|one| one.local_addr());
    let gone = gone.expect("it was bound").to_string();
    settings
        .servers
        .push(format!("nats://{gone}").parse().expect("a URL"));
    let node = Node::open(&settings, 0).expect("the log opens");
    let warnings = node.log.warnings().to_vec();
    let [unreachable, lazy, few] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(
        matches!(unreachable, BrokerWarning::Unreachable { address, .. } if *address == gone),
        "{unreachable}"
    );
    let broker = "n1".to_owned();
    assert_eq!(*lazy, BrokerWarning::DoesNotSync { broker });
    assert_eq!(*few, BrokerWarning::FewReplicas { replicas: 1 });
    settings.servers.pop();
    settings.monitors.clear();
    let node = Node::open(&settings, 0).expect("the log opens");
    assert_eq!(node.log.warnings()[0], BrokerWarning::SyncUnknown);
}

#[test]
fn brokers_that_sync_are_no_warning() {
    let cluster = Cluster::of(3);
    let node = Node::of(&cluster.brokers, "a");
    assert_eq!(node.log.warnings(), []);
    let state = node.log.state();
    assert_eq!((state.lag, state.outstanding), (0, 0));
}

#[test]
fn a_stream_of_another_kind_is_refused_field_by_field() {
    let cluster = Cluster::of(1);
    let config = json!({
        "name": "LOG_main",
        "subjects": ["log.main.>"],
        "storage": "memory",
        "discard": "old",
        "num_replicas": 1,
        "max_bytes": 1 << 20,
        "max_msg_size": 1 << 20,
        "duplicate_window": 120_000_000_000_u64,
        "allow_direct": true,
    });
    let made = operate(&cluster.brokers, "STREAM.CREATE.LOG_main", &config);
    assert!(made["error"].is_null(), "{made}");
    let mut settings = settings(&cluster.brokers, "a");
    settings.stream_bytes_max = 1 << 20;
    let refused = Node::open(&settings, 0).err();
    assert_eq!(
        refused.expect("it is no log").to_string(),
        "stream LOG_main is not a log: allow_direct is true, not false; deny_delete is false, not \
         true; discard is \"old\", not \"new\"; storage is \"memory\", not \"file\""
    );
}

#[test]
fn without_brokers_a_start_says_so() {
    let cluster = Cluster::of(1);
    let mut settings = settings(&cluster.brokers, "a");
    drop(cluster);
    settings.timeouts.open = Duration::from_secs(3);
    let refused = Node::open(&settings, 0)
        .err()
        .expect("there are no brokers");
    assert!(matches!(refused, OpenLogError::Unavailable(_)), "{refused}");
}

/// A node may be started before its brokers.
#[test]
fn a_start_waits_for_brokers() {
    let mut cluster = Cluster::of(1);
    let mut settings = settings(&cluster.brokers, "a");
    cluster.brokers.kill(0);
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    settings
        .servers
        .push(format!("nats://{address}").parse().expect("a URL"));
    let node = thread::spawn(move || Node::open(&settings, 0).map(drop));
    // Each of these ends a try in vain.
    for _ in 0..4 {
        drop(listener.accept().expect("the node tries"));
    }
    drop(listener);
    cluster.brokers.restart(0).expect("it starts");
    let opened = node.join().expect("it has no way to fail");
    opened.expect("the log opens");
}

/// Starts a log that waits as long as there is hope, until it has told what it waits for; then ends it. Says no
/// when the log opened instead.
fn told_by_a_patient_start(settings: &LogSettings, is_it: fn(&LogObstacle) -> bool) -> bool {
    let (tell, told) = channel();
    let opening = Arc::new(LogOpening::telling(move |obstacle| {
        tell.send(obstacle.clone()).ok();
    }));
    let watched = Arc::clone(&opening);
    let settings = settings.clone();
    let start = thread::spawn(move || {
        let opened = SharedLog::open_patiently(&settings, Sequence(0), None, watched, || {});
        opened.map(drop)
    });
    while !start.is_finished() {
        let told = told.recv_timeout(Duration::from_millis(100));
        if told.is_ok_and(|obstacle| is_it(&obstacle)) {
            assert!(opening.obstacle().is_some_and(|obstacle| is_it(&obstacle)));
            opening.end();
        }
    }
    let ended = start.join().expect("it has no way to fail");
    let is_told = matches!(ended, Err(OpenLogError::Ended));
    assert!(is_told || ended.is_ok(), "{ended:?}");
    is_told
}

#[test]
fn a_patient_start_tells_what_is_missing_and_ends_when_it_is_told_to() {
    let mut cluster = Cluster::of(3);
    let mut large = settings(&cluster.brokers, "a");
    large.stream_bytes_max = 1 << 40;
    large.timeouts.open = Duration::from_millis(1);
    assert!(told_by_a_patient_start(&large, |obstacle| {
        matches!(obstacle, LogObstacle::NoStorage { .. })
    }));
    let settings = settings(&cluster.brokers, "a");
    drop(Node::open(&settings, 0).expect("the log opens"));
    cluster.brokers.kill(1);
    cluster.brokers.kill(2);
    // A leader that is left alone may serve until it notices.
    while !told_by_a_patient_start(&settings, |obstacle| {
        matches!(obstacle, LogObstacle::NoLeader)
    }) {}
    cluster.brokers.kill(0);
    assert!(told_by_a_patient_start(&settings, |obstacle| {
        matches!(obstacle, LogObstacle::NoBroker(_))
    }));
}

#[test]
fn a_full_stream_refuses_and_takes_again_after_a_purge() {
    let cluster = Cluster::of(3);
    let mut settings = settings(&cluster.brokers, "a");
    settings.stream_bytes_max = 20_000;
    let mut node = Node::open(&settings, 0).expect("the log opens");
    while node.refused.is_empty() {
        node.propose();
        let before = node.entries.len() + node.refused.len();
        node.until("told", |node| {
            node.entries.len() + node.refused.len() > before
        });
    }
    assert!(
        node.refused[0].starts_with("the broker has no room: "),
        "{:?}",
        node.refused
    );
    let count = node.entries.len();
    assert!(count > 50, "{count} entries are in 20,000 bytes");
    let below = Sequence(count as u64);
    node.log
        .purge_below(below)
        .expect("the thread takes orders");
    while operate(&cluster.brokers, "STREAM.INFO.LOG_main", &json!(null))["state"]["first_seq"]
        != below.0
    {}
    node.propose();
    node.until_entries(count + 1);
    node.check();
}
