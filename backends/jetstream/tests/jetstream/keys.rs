//! Who a node is to the brokers: passwords, tokens, keys, certificates, and the rights that it needs.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use turnstile_brokers::BrokersSetup;
use turnstile_jetstream::{BrokerLogin, BrokerTls, LogSettings, SnapshotStore};

use crate::{
    Cluster,
    node::{Node, settings},
};

/// The example key of the documents of NATS.
const SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
const PUBLIC: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

pub(crate) fn guarded(configuration: &str) -> Cluster {
    Cluster::with(&BrokersSetup {
        configuration: configuration.to_owned(),
        ..BrokersSetup::of(1)
    })
}

/// Proposes, reads, purges and stores a snapshot.
fn work(settings: &LogSettings) {
    let mut node = Node::open(settings, 0).expect("the log opens");
    for _ in 0..5 {
        node.propose();
    }
    node.until_entries(5);
    node.check();
    let store = SnapshotStore::open(settings).expect("the store opens");
    let metadata = BTreeMap::new();
    store
        .put("s", &metadata, &mut &b"state"[..])
        .expect("it is stored");
    let mut taken = Vec::new();
    store.get("s", &mut taken).expect("it is there");
    assert_eq!(taken, b"state");
    assert_eq!(store.list().expect("a list").len(), 1);
    assert!(store.delete("s").expect("it goes"));
    let below = turnstile_jetstream::Sequence(4);
    node.log
        .purge_below(below)
        .expect("the thread takes orders");
    // A log from the start finds out whether the purge was done.
    let is_purged = || Node::open(settings, 0).is_err();
    while !is_purged() {}
}

/// Asserts that a start with a wrong secret says so, and does not say the secret.
fn check_refused(settings: &LogSettings, secret: &str) {
    let mut settings = settings.clone();
    settings.timeouts.open = Duration::from_secs(5);
    let refused = Node::open(&settings, 0).err().expect("it is refused");
    let told = format!("{refused} {refused:?} {settings:?}");
    assert!(told.contains("authorization violation"), "{told}");
    assert!(!told.contains(secret), "{told}");
}

#[test]
fn a_node_logs_in_with_what_its_files_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let (good, bad) = (file("good", "sesame\n"), file("bad", "seseme\n"));
    let user = "turnstile".to_owned();
    let password = |file: &Path| BrokerLogin::Password {
        user: user.clone(),
        file: file.to_owned(),
    };
    let token = |file: &Path| BrokerLogin::Token {
        file: file.to_owned(),
    };
    let cluster = guarded("authorization { user: turnstile, password: sesame }");
    let mut settings = settings(&cluster.brokers, "a");
    settings.login = password(&good);
    work(&settings);
    settings.login = password(&bad);
    check_refused(&settings, "seseme");
    settings.login = BrokerLogin::None;
    check_refused(&settings, "sesame");
    let cluster = guarded("authorization { token: sesame }");
    settings = self::settings(&cluster.brokers, "a");
    settings.login = token(&good);
    work(&settings);
    settings.login = token(&bad);
    check_refused(&settings, "seseme");
    let cluster = guarded(&format!(
        "authorization {{ users: [ {{ nkey: {PUBLIC} }} ] }}"
    ));
    settings = self::settings(&cluster.brokers, "a");
    settings.login = BrokerLogin::Key {
        file: file("seed", SEED),
    };
    work(&settings);
}

#[test]
fn files_that_hold_no_secret_are_named() {
    let cluster = Cluster::of(1);
    let folder = tempfile::tempdir().expect("a folder");
    let (missing, empty) = (folder.path().join("missing"), folder.path().join("empty"));
    fs::write(&empty, "\n").expect("a file");
    let wrong = folder.path().join("wrong");
    fs::write(&wrong, "sesame").expect("a file");
    for (login, expected) in [
        (
            BrokerLogin::Token { file: missing },
            "missing: No such file",
        ),
        (
            BrokerLogin::Token { file: empty },
            "empty: the file is empty",
        ),
        (
            BrokerLogin::Credentials { file: wrong },
            "wrong: these are no credentials of NATS",
        ),
    ] {
        let mut settings = settings(&cluster.brokers, "a");
        settings.login = login;
        let refused = Node::open(&settings, 0).err().expect("it is refused");
        let told = refused.to_string();
        assert!(
            told.contains(expected) && !told.contains("sesame"),
            "{told}"
        );
    }
}

/// The rights of a user, as a broker's configuration says them.
pub(crate) fn rights(settings: &LogSettings, without: Option<&str>) -> String {
    let rights = settings.rights();
    let list = |subjects: &[String]| {
        let quoted = subjects
            .iter()
            .filter(|subject| Some(subject.as_str()) != without)
            .map(|subject| format!("{subject:?}"));
        quoted.collect::<Vec<_>>().join(", ")
    };
    format!(
        "authorization {{ users: [ {{ user: turnstile, password: sesame, permissions: {{ \
         publish: [{}], subscribe: [{}] }} }} ] }}",
        list(&rights.publish),
        list(&rights.subscribe)
    )
}

#[test]
fn a_node_needs_the_rights_that_are_documented_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    fs::write(&file, "sesame").expect("a file");
    let login = BrokerLogin::Password {
        user: "turnstile".to_owned(),
        file,
    };
    let plain = Cluster::of(1);
    let example = settings(&plain.brokers, "a");
    let cluster = guarded(&rights(&example, None));
    let mut settings = settings(&cluster.brokers, "a");
    settings.login = login.clone();
    work(&settings);
    let cluster = guarded(&rights(&example, Some("$JS.API.STREAM.CREATE.LOG_main")));
    settings = self::settings(&cluster.brokers, "a");
    settings.login = login;
    settings.timeouts.open = Duration::from_secs(6);
    let refused = Node::open(&settings, 0)
        .err()
        .expect("it may not make a stream");
    let told = refused.to_string().to_lowercase();
    assert!(told.contains("permissions violation for publish"), "{told}");
}

/// A node that cannot ask for descriptions any more has its chunks on the brokers by then.
#[test]
fn a_snapshot_that_cannot_be_described_leaves_no_chunks() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    fs::write(&file, "sesame").expect("a file");
    let plain = Cluster::of(1);
    let mut example = settings(&plain.brokers, "a");
    let without = "$JS.API.STREAM.MSG.GET.OBJ_SNAPSHOTS_main";
    let cluster = guarded(&rights(&example, Some(without)));
    example = settings(&cluster.brokers, "a");
    example.login = BrokerLogin::Password {
        user: "turnstile".to_owned(),
        file,
    };
    example.snapshot_bytes_max = 1 << 20;
    example.timeouts.open = Duration::from_secs(3);
    let store = SnapshotStore::open(&example).expect("the store opens");
    // Each takes most of the room.
    for _ in 0..3 {
        let mut bytes = &vec![7; 700_000][..];
        let refused = store.put("s", &BTreeMap::new(), &mut bytes);
        let told = refused.expect_err("it cannot look").to_string();
        assert!(!told.contains("maximum bytes"), "{told}");
    }
}

#[test]
fn nodes_and_brokers_show_each_other_certificates() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let write = |name: &str, text: String| fs::write(place(name), text).expect("a file");
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).expect("an authority");
    write("ca.pem", authority.pem());
    let issuer = Issuer::new(params, key);
    for name in ["broker", "node"] {
        let key = KeyPair::generate().expect("a key");
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let params = CertificateParams::new(names).expect("names");
        let signed = params.signed_by(&key, &issuer).expect("a certificate");
        write(&format!("{name}.pem"), signed.pem());
        write(&format!("{name}.key"), key.serialize_pem());
    }
    let cluster = guarded(&format!(
        "tls {{ cert_file: {:?}, key_file: {:?}, ca_file: {:?}, verify: true }}",
        place("broker.pem"),
        place("broker.key"),
        place("ca.pem")
    ));
    let mut settings = settings(&cluster.brokers, "a");
    settings.tls = Some(BrokerTls {
        authorities: Some(place("ca.pem")),
        certificate: Some((place("node.pem"), place("node.key"))),
    });
    work(&settings);
    settings.timeouts.open = Duration::from_secs(5);
    settings.tls = Some(BrokerTls {
        authorities: None,
        certificate: Some((place("node.pem"), place("node.key"))),
    });
    Node::open(&settings, 0)
        .err()
        .expect("the broker's authority is not trusted");
    settings.tls = Some(BrokerTls {
        authorities: Some(place("ca.pem")),
        certificate: None,
    });
    Node::open(&settings, 0)
        .err()
        .expect("the broker asks for a certificate");
}
