//! The log on real brokers: order, faults, refusals, keys, snapshots, and messages between nodes.

mod damage;
mod ends;
mod faults;
mod hazard;
mod keys;
mod node;
mod opening;
mod order;
mod power;
mod relaying;
mod snapshots;

use std::{
    path::{Path, PathBuf},
    thread,
};

use turnstile_brokers::{Brokers, BrokersSetup, NatsServer};

/// How often brokers are asked the same: each time takes 10 s if they do not answer.
const ASKS_MAX: u32 = 10;

/// Where the tests of this house keep the brokers that were built.
fn cache() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    target.expect("it is in the target folder").join("nats")
}

/// The server that all tests share, built once.
fn server() -> NatsServer {
    NatsServer::install(&cache()).expect("`cargo xtask test` installs Go")
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

/// Does something with a client of the brokers that is no node, on a thread of its own: the caller
/// may be at work for a store.
fn with_client<T: Send>(
    brokers: &Brokers,
    work: impl AsyncFnOnce(async_nats::Client) -> T + Send,
) -> T {
    let urls = brokers.urls();
    let on_its_thread = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let client = async_nats::connect(urls).await;
            work(client.expect("a broker")).await
        })
    };
    thread::scope(|scope| {
        scope
            .spawn(on_its_thread)
            .join()
            .expect("it has no way to fail")
    })
}

/// Asks the brokers something about streams, as an operator does.
fn operate(brokers: &Brokers, what: &str, body: &serde_json::Value) -> serde_json::Value {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    with_client(brokers, async |client| {
        // Brokers that have just started or lost their leader do not answer.
        for _ in 0..ASKS_MAX {
            let asked = client.request(format!("$JS.API.{what}"), body.clone().into());
            if let Ok(answer) = asked.await {
                return serde_json::from_slice(&answer.payload).expect("JSON");
            }
        }
        panic!("no broker answers {what}");
    })
}
