//! Bookings a second: `cargo run --release -p turnstile-mysql --example pace [URL]`.
//!
//! One caller and many, each of whom books two nights of a room that nobody else wants. The URL names
//! an empty database; without one, a private MariaDB is started and tried with tables of both engines.

#![expect(clippy::print_stdout, reason = "its table is what it is for")]

use std::{sync::Arc, time::Instant};

use tokio::{runtime::Builder, time::Duration};
use turnstile_contract::{Backend, Request};
use turnstile_mysql::{Address, Mysql};
use turnstile_rooms::{Command, GuestId, GuestName, Rooms, Wish};
use turnstile_trial::MariaServer;
use turnstile_types::{Name, Night, Principal, Stay, Timestamp};

const NOW: Timestamp = Timestamp(1_798_761_600_000);

/// How long each row of the table is measured.
const SPAN: Duration = Duration::from_secs(5);

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a name")
}

fn booking(room: &str) -> Request {
    let night = Night::from_days;
    let command = Command::Book {
        property: name("hotel"),
        wish: Wish::Room(name(room)),
        stay: Stay::new(night(20_500), night(20_502)).expect("two nights"),
        guest: GuestName::parse(b"Ada Lovelace").expect("a guest"),
        id: GuestId {
            seal: 77,
            last_four: 2346,
        },
    };
    Request::new::<Rooms>(Principal::local(), None, &command)
}

async fn call(backend: Arc<Mysql>, caller: usize, callers: usize) -> u64 {
    let begun = Instant::now();
    let mut done = 0;
    while begun.elapsed() < SPAN {
        let room = format!("{callers}-{caller}-{done}");
        let replies = backend.execute(NOW, &[booking(&room)]).await;
        assert!(replies.iter().all(Result::is_ok), "{replies:?}");
        done += 1;
    }
    done
}

async fn measure(url: &str) {
    let address = Address::parse(url).expect("an address");
    let engine = address.engine().word();
    let backend = Arc::new(Mysql::open(&address).await.expect("a database"));
    let property = Command::AddProperty {
        property: name("hotel"),
        open: true,
    };
    let request = Request::new::<Rooms>(Principal::local(), None, &property);
    backend.execute(NOW, &[request]).await;
    for callers in [1, 8, 64, 300] {
        let before = backend.tally().batches.get();
        let all: Vec<_> = (0..callers)
            .map(|caller| tokio::spawn(call(Arc::clone(&backend), caller, callers)))
            .collect();
        let mut done = 0;
        for caller in all {
            done += caller.await.expect("it did not panic");
        }
        let batches = backend.tally().batches.get() - before;
        println!(
            "{engine:7} {callers:3} callers: {:6} bookings/s, {} in a batch",
            done / SPAN.as_secs(),
            done / batches.max(1)
        );
    }
}

fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    if let Some(url) = std::env::args().nth(1) {
        return runtime.block_on(measure(&url));
    }
    let server = MariaServer::start();
    for engine in ["innodb", "memory"] {
        let url = format!("{}?engine={engine}", server.database());
        runtime.block_on(measure(&url));
    }
}
