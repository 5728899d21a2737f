//! The log on real brokers: order, faults, refusals, keys and snapshots.

mod ends;
mod node;
mod opening;
mod order;

use std::path::Path;

use turnstile_brokers::{Brokers, BrokersSetup, NatsServer};

/// The server that all tests of this house share, built once.
fn server() -> NatsServer {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let cache = target.expect("it is in the target folder").join("nats");
    NatsServer::install(&cache).expect("`cargo xtask test` installs Go")
}

/// Brokers of one test, with a folder that goes with them.
struct Cluster {
    brokers: Brokers,
    _folder: tempfile::TempDir,
}

impl Cluster {
    fn of(count: usize) -> Self {
        Self::with(&BrokersSetup::of(count))
    }

    fn with(setup: &BrokersSetup) -> Self {
        let folder = tempfile::tempdir().expect("a folder for brokers");
        let brokers = Brokers::start(&server(), folder.path(), setup).expect("brokers start");
        Self {
            brokers,
            _folder: folder,
        }
    }
}

/// Asks the brokers of a cluster something about streams, as an operator does.
fn operate(brokers: &Brokers, what: &str, body: &serde_json::Value) -> serde_json::Value {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let client = async_nats::connect(brokers.urls()).await.expect("a broker");
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = client.request(format!("$JS.API.{what}"), body.into()).await;
        let answer = answer.expect("an answer");
        serde_json::from_slice(&answer.payload).expect("JSON")
    })
}
