//! TLS handshakes in the loop: how many steps a turn does, and how long one may take.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream as StdStream,
};

use rcgen::{CertificateParams, CertifiedIssuer, DnType, KeyPair};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, crypto::ring, pki_types::ServerName,
    version::TLS13,
};

use super::*;
use crate::{
    ListenerPrincipals, TlsFiles, core::conversation::FastDoor, counters::DoorCounters,
    doors::resp::RESP, limits::HANDSHAKES,
};

/// A loop that speaks TLS at the RESP door, and what its clients begin with.
struct SecureBench {
    workbench: Workbench,
    trusted: Arc<ClientConfig>,
}

impl SecureBench {
    fn new() -> Self {
        let mut workbench = Workbench::new();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "server");
        let own = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let [certificate, key] = ["pem", "key"].map(|name| directory.path().join(name));
        fs::write(&certificate, own.pem()).unwrap();
        fs::write(&key, own.key().serialize_pem()).unwrap();
        let files = TlsFiles {
            certificate,
            key,
            client_ca: None,
        };
        workbench.fast_loop.tls = Some(Arc::new(
            DoorTls::open(&files, &ListenerPrincipals::default()).unwrap(),
        ));
        let mut roots = RootCertStore::empty();
        roots.add(own.der().clone()).unwrap();
        let trusted = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            workbench,
            trusted: Arc::new(trusted),
        }
    }

    /// A client that the loop has accepted, and that has sent the start of a handshake.
    fn client(&mut self) -> StdStream {
        let mut client = self.workbench.connected(&RESP);
        let name = ServerName::try_from("localhost").unwrap();
        let mut session = ClientConnection::new(Arc::clone(&self.trusted), name).unwrap();
        let mut hello = Vec::new();
        session.write_tls(&mut hello).unwrap();
        client.write_all(&hello).unwrap();
        client.set_nonblocking(true).unwrap();
        client
    }

    fn turn(&mut self) {
        self.workbench.await_turn();
    }

    fn at(&self, door: DoorName) -> &DoorCounters {
        self.workbench.fast_loop.engine.counters.of(door)
    }

    fn open(&self) -> u64 {
        self.at(DoorName::Resp).open.get()
    }
}

/// Whether the server has sent something.
fn is_answered(client: &mut StdStream) -> bool {
    match client.read(&mut [0; 16 * 1_024]) {
        Ok(count) => count > 0,
        Err(failure) => {
            assert_eq!(failure.kind(), ErrorKind::WouldBlock);
            false
        }
    }
}

#[test]
fn a_turn_does_a_few_steps_of_many_handshakes() {
    let mut bench = SecureBench::new();
    let mut clients: Vec<_> = (0..3 * HANDSHAKES).map(|_| bench.client()).collect();
    // Whether the poll tells of all at once is its own affair: no turn does more, and all get theirs.
    let mut answered = 0;
    while answered < clients.len() {
        bench.turn();
        let now = clients.iter_mut().map(is_answered);
        let fresh = now.filter(|&is_answered| is_answered).count();
        assert!(fresh <= HANDSHAKES, "{fresh} in one turn");
        answered += fresh;
    }
    assert_eq!(bench.open(), clients.len() as u64);
}

#[test]
fn a_handshake_that_is_not_done_in_its_time_ends() {
    let mut bench = SecureBench::new();
    let begin = Timestamp(1_780_272_000_000);
    set(begin, 0);
    bench.workbench.fast_loop.engine.set_clock(told);
    bench.workbench.fast_loop.turn().unwrap();
    let mut client = bench.client();
    while !is_answered(&mut client) {
        bench.turn();
    }
    // What trickles in meanwhile, a record of 100 bytes, wins no time.
    for (second, byte) in (1..=11_u64).zip([22, 3, 3, 0, 100, 0, 0, 0, 0, 0, 0]) {
        assert_eq!(bench.open(), 1, "before {second} s");
        client.set_nonblocking(false).unwrap();
        client.write_all(&[byte]).unwrap();
        client.set_nonblocking(true).unwrap();
        set(begin.plus_ms(second * 1_000), second * 1_000);
        bench.turn();
    }
    assert_eq!(bench.open(), 0);
    assert!(bench.workbench.fast_loop.handshakes.is_empty());
}

#[test]
fn the_oldest_of_too_many_handshakes_gives_way() {
    let mut bench = SecureBench::new();
    bench.workbench.fast_loop.limits.handshakes = 2;
    let clients: Vec<_> = (0..5).map(|_| bench.client()).collect();
    assert_eq!(bench.open(), 2);
    let rest = |mut client: &StdStream| {
        client.set_nonblocking(false).unwrap();
        client.read(&mut [0; 1]).map_or(0, |count| count)
    };
    let gone: Vec<usize> = clients[..3].iter().map(rest).collect();
    assert_eq!(gone, [0, 0, 0]);
    bench.turn();
    assert_eq!(bench.open(), 2);
}

/// Each newcomer ended a handshake of some other door, and was served over the bound of its own.
#[test]
fn a_full_door_with_places_of_its_own_ends_no_handshakes_of_other_doors() {
    let mut bench = SecureBench::new();
    let mut early = bench.client();
    let bounded = FastDoor {
        name: DoorName::Xml,
        most: Some(2),
        ..RESP
    };
    let mut peers = [(); 3].map(|()| bench.workbench.connected(&bounded));
    assert_eq!(bench.at(DoorName::Xml).open.get(), 2);
    assert_eq!(peers[0].read(&mut [0; 1]).unwrap(), 0, "it was the oldest");
    // Nobody who has done its handshake gives way.
    drop(peers);
    while bench.at(DoorName::Xml).open.get() > 0 {
        bench.turn();
    }
    bench.at(DoorName::Xml).open.add(2);
    drop(bench.workbench.connected(&bounded));
    assert_eq!(bench.at(DoorName::Xml).refused.get(), 1);
    assert_eq!(bench.open(), 1);
    while !is_answered(&mut early) {
        bench.turn();
    }
}
