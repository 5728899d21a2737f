//! One refused publication of another program: harmless to the pinned version, and the end of a stream
//! in those that are refused.

use std::{env, time::Duration};

use async_nats::{HeaderMap, client::Request};
use serde_json::{Value, json};
use turnstile_brokers::{Brokers, BrokersSetup, NatsServer, PINNED_VERSION};

use crate::{cache, with_client};

/// The variable that has the tests of a night run, which build other versions of the broker.
const NIGHT: &str = "TURNSTILE_TEST_NIGHT";

/// The number of the refusal.
const WRONG_LAST_ID: u64 = 10_070;

/// How often a publication is tried after the refused one.
const TRIES: u32 = 5;

/// Whether a replicated stream goes on after one publication that the broker refuses.
fn goes_on(version: &str) -> bool {
    let folder = tempfile::tempdir().expect("a folder for brokers");
    let server = NatsServer::install_version(&cache(), version).expect("Go builds it");
    let brokers = Brokers::start(&server, folder.path(), &BrokersSetup::of(3));
    let mut brokers = brokers.expect("brokers start");
    let config = json!({
        "name": "S", "subjects": ["s"], "storage": "file", "num_replicas": 3,
    });
    let made = crate::operate(&brokers, "STREAM.CREATE.S", &config);
    assert!(made["error"].is_null(), "{made}");
    brokers.await_stream_leader("S").expect("it has a leader");
    with_client(&brokers, async |client| {
        let publish = async |expected: Option<&str>| -> Option<Value> {
            let mut headers = HeaderMap::new();
            if let Some(expected) = expected {
                headers.insert("Nats-Expected-Last-Msg-Id", expected);
            }
            let request = Request::new().headers(headers).payload("x".into());
            let request = request.timeout(Some(Duration::from_secs(2)));
            let answer = client.send_request("s", request).await.ok()?;
            serde_json::from_slice(&answer.payload).ok()
        };
        let first = publish(None).await.expect("an answer");
        assert_eq!(first["seq"], 1, "{first}");
        let refused = publish(Some("wrong")).await.expect("an answer");
        assert_eq!(refused["error"]["err_code"], WRONG_LAST_ID, "{refused}");
        for _ in 0..TRIES {
            if publish(None).await.is_some_and(|answer| answer["seq"] == 2) {
                return true;
            }
        }
        false
    })
}

#[test]
fn a_refused_publication_does_no_harm_to_the_pinned_version() {
    assert!(goes_on(PINNED_VERSION));
}

/// Once a version of these goes on, it can be trusted.
#[test]
fn a_refused_publication_ends_a_stream_in_refused_versions() {
    if env::var_os(NIGHT).is_some() {
        for version in ["2.14.0", "2.15.2"] {
            assert!(
                !goes_on(version),
                "{version} goes on: it need not be refused for this"
            );
        }
    }
}
