//! A connection over a network that takes and brings what it likes: everything arrives once and in order.

use std::{collections::VecDeque, fs};

use proptest::prelude::*;
use rcgen::{CertificateParams, CertifiedIssuer, DnType, KeyPair};
use rustls::{
    ClientConnection, RootCertStore,
    crypto::ring,
    version::{TLS12, TLS13},
};

use super::*;
use crate::{ListenerPrincipals, TlsFiles, core::tls::DoorTls, doors::resp::RESP};

/// The server's end of a network: it brings and takes at most so many bytes at a time, and then none
/// until it is asked again.
#[derive(Default)]
struct Network {
    to_server: VecDeque<u8>,
    to_client: VecDeque<u8>,
    brings: usize,
    takes: usize,
}

impl Read for Network {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = room.len().min(self.brings).min(self.to_server.len());
        self.brings = 0;
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        for (place, byte) in room.iter_mut().zip(self.to_server.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }
}

impl Write for Network {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.takes);
        self.takes -= count;
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.to_client.extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What doors accept by, which says who the client must be, and a client with a certificate.
fn parties() -> (DoorTls, [ClientConfig; 2]) {
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params
        .distinguished_name
        .push(DnType::CommonName, "front desk");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params
        .distinguished_name
        .push(DnType::CommonName, "front desk");
    let key = KeyPair::generate().unwrap();
    let own = params.signed_by(&key, &issuer).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let [ca, certificate, secret] =
        ["ca", "certificate", "key"].map(|name| directory.path().join(name));
    fs::write(&ca, issuer.pem()).unwrap();
    fs::write(&certificate, own.pem()).unwrap();
    fs::write(&secret, key.serialize_pem()).unwrap();
    let files = TlsFiles {
        certificate,
        key: secret,
        client_ca: Some(ca),
    };
    let mut roots = RootCertStore::empty();
    roots.add(issuer.der().clone()).unwrap();
    let configs = [&TLS12, &TLS13].map(|version| {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots.clone())
            .with_client_auth_cert(
                vec![own.der().clone()],
                rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap()
    });
    let tls = DoorTls::open(&files, &ListenerPrincipals::default()).unwrap();
    (tls, configs)
}

/// Lets the client send what it has to say, and hear what has come.
fn let_client_talk(client: &mut ClientConnection, network: &mut Network, heard: &mut Vec<u8>) {
    let (front, back) = network.to_client.as_slices();
    let mut came = [front, back].concat();
    network.to_client.clear();
    let mut rest = &came[..];
    while !rest.is_empty() {
        client.read_tls(&mut rest).unwrap();
        client.process_new_packets().unwrap();
        let mut plain = vec![0; 64 * 1_024];
        while let Ok(count @ 1..) = client.reader().read(&mut plain) {
            heard.extend_from_slice(&plain[..count]);
        }
    }
    came.clear();
    while client.wants_write() {
        client.write_tls(&mut came).unwrap();
    }
    network.to_server.extend(came);
}

fn check(version: usize, steps: &[(usize, usize)], said: &[Vec<u8>]) {
    let (tls, configs) = parties();
    let mut server = tls.accept(&RESP, (1, 0)).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(Arc::new(configs[version].clone()), name).unwrap();
    client.set_buffer_limit(None);
    let (mut network, mut output) = (Network::default(), Output::default());
    let (mut input, mut heard) = (Input::default(), Vec::new());
    let mut steps = steps.iter().copied().cycle();
    let mut names = None;
    let mut answers = said.iter();
    let mut owed = said.len();
    // Each piece is said once the one before has come back from the server.
    let mut whole = Vec::new();
    while heard.len() < whole.len() || owed > 0 {
        if heard.len() == whole.len()
            && let Some(piece) = answers.next()
        {
            client.writer().write_all(piece).unwrap();
            whole.extend_from_slice(piece);
            owed -= 1;
        }
        let_client_talk(&mut client, &mut network, &mut heard);
        let (brings, takes) = steps.next().unwrap();
        (network.brings, network.takes) = (brings, takes);
        let filled = server.fill(&mut input, &mut network).unwrap();
        assert_ne!(filled, Filled::Broken);
        names = names.or_else(|| server.take_names());
        output.tail().extend_from_slice(input.pending());
        input.consume(input.pending().len());
        output.release();
        server.flush(&mut output, &mut network, false).unwrap();
    }
    assert_eq!(heard, whole);
    assert_eq!(names.unwrap(), ["front desk", "localhost"]);
    assert!(server.is_open() && !server.is_partial());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn everything_comes_back_over_any_network(
        version in 0..2_usize,
        steps in prop::collection::vec((100..40_000_usize, 100..40_000_usize), 1..12),
        sizes in prop::collection::vec(1..100_000_usize, 1..4),
    ) {
        let said: Vec<Vec<u8>> = sizes
            .iter()
            .map(|&size| (0..=u8::MAX).cycle().take(size).collect())
            .collect();
        check(version, &steps, &said);
    }
}

#[test]
fn everything_comes_back_byte_by_byte() {
    for version in 0..2 {
        check(version, &[(1, 1)], &[b"PING\r\n".to_vec(), vec![7; 20_000]]);
    }
}
