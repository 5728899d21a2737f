//! A connection that is accepted at the moment of the stop.

use std::{net::TcpStream, sync::atomic::Ordering};

use rustls::{ServerConfig, crypto::ring, server::ResolvesServerCertUsingSni};
use tokio::{net::TcpListener, runtime, task::JoinHandle, time};

use super::{
    super::{
        Door, handshakes::serve_secured, line::Line, line::Verdict, requests::serve_line, routes,
        secured::HttpStream,
    },
    *,
};
use crate::counters::DoorName;

type Accepted = (Arc<Door>, tokio::net::TcpStream);

/// Accepts an idle client, has all who are there stop, and then serves it, to its end.
fn serve_after_stop(serve: fn(Accepted) -> JoinHandle<()>) {
    let site = Site::open_with(HttpLimits::STANDARD);
    let door = Arc::clone(&site.door.stopper.0);
    let mut runtime = runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _idle = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _peer) = listener.accept().await.unwrap();
        door.speaking.fetch_add(1, Ordering::Relaxed);
        door.counters.of(DoorName::Http).open.add(1);
        door.stopping.store(true, Ordering::Release);
        door.ending.notify_waiters();
        door.lines().judge_all(Verdict::Stop);
        let served = serve((Arc::clone(&door), stream));
        let ended = time::timeout(HttpLimits::STANDARD.farewell, served).await;
        ended.expect("it is told to stop").unwrap();
    });
    assert_eq!(door.counters.of(DoorName::Http).open.get(), 0);
    drop(door);
    site.close();
}

/// It was told nothing, and held the stop up for as long as those are waited for who do not read.
#[test]
fn a_connection_that_is_served_after_the_stop_is_told_so() {
    serve_after_stop(|(door, stream)| {
        let line = Arc::new(Line::of(&door, HttpStream::Plain(stream)));
        let router = routes::router(&door);
        tokio::spawn(serve_line(door, router, line))
    });
}

#[test]
fn a_handshake_that_begins_after_the_stop_is_ended() {
    serve_after_stop(|(door, stream)| {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(ResolvesServerCertUsingSni::new()));
        let router = routes::router(&door);
        tokio::spawn(serve_secured(door, router, (stream, Arc::new(config))))
    });
}
