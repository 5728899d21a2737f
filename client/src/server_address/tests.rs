//! Connections through TLS and with a key, to servers that are a thread each.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::WebPkiClientVerifier,
};
use tempfile::TempDir;

use super::ServerAddress;
use crate::{
    AccessKey, Connection, ConnectionError, Denied,
    resp::Value,
    tls::{ClientCertificate, Tls, Trust},
};

const TIMEOUT: Duration = Duration::from_secs(20);
const KEY: &str = "ts_test_abc_secret";

/// An authority, and what it has signed, as files.
struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    /// Trusts what this has signed.
    fn trust(&self) -> Trust {
        Trust::File(self.folder.path().join("ca.pem"))
    }

    /// Trusts the server that this made last, and no other.
    fn trust_server(&self) -> Trust {
        Trust::Only(self.folder.path().join("server.pem"))
    }

    fn sign(&self, name: &str) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let (certificate, key) = self.signed(name);
        fs::write(self.folder.path().join("server.pem"), certificate.pem()).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        (certificate.der().clone(), key)
    }

    fn signed(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    fn client(&self) -> ClientCertificate {
        let (certificate, key) = self.signed("client");
        let shown = ClientCertificate {
            certificate: self.folder.path().join("client.pem"),
            key: self.folder.path().join("client.key"),
        };
        fs::write(&shown.certificate, certificate.pem()).unwrap();
        fs::write(&shown.key, key.serialize_pem()).unwrap();
        shown
    }

    /// How a server for `localhost` encrypts; `asks`: for a certificate of this authority, too.
    fn server(&self, asks: bool) -> Arc<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let (certificate, key) = self.sign("localhost");
        let builder = if asks {
            let mut roots = RootCertStore::empty();
            roots.add(self.issuer.der().clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        } else {
            builder.with_no_client_auth()
        };
        Arc::new(builder.with_single_cert(vec![certificate], key).unwrap())
    }
}

/// Serves each connection: a PING is a PONG, and the answer to the right key comes together with that
/// to the request behind it.
fn serve(tls: Option<Arc<ServerConfig>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            match &tls {
                None => answer(stream),
                Some(config) => {
                    let tls = ServerConnection::new(Arc::clone(config)).unwrap();
                    answer(StreamOwned::new(tls, stream));
                }
            }
        }
    });
    address
}

fn answer(stream: impl Read + Write) {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
        let said = match line.trim_end() {
            "PING" => "+PONG\r\n",
            KEY => "+OK\r\n",
            "ts_test_abc_wrong" => "-WRONGPASS no such key\r\n",
            "ts_test_abc_early" => "-LOADING the server is loading\r\n",
            "" | "*1" | "*3" | "AUTH" | "default" => "",
            length if length.starts_with('$') => "",
            _ => "-ERR what is this?\r\n",
        };
        line.clear();
        if lines.get_mut().write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}

fn ping(address: ServerAddress) -> Result<Value, ConnectionError> {
    Connection::connect(address, TIMEOUT)?.command(&[b"PING"])
}

fn key(text: &str) -> AccessKey {
    AccessKey::parse(text).unwrap()
}

#[track_caller]
fn fails(address: ServerAddress, told: &str) {
    let error = ping(address).unwrap_err();
    assert!(error.to_string().contains(told), "{error}");
}

#[test]
fn a_connection_begins_with_its_key() {
    let address = ServerAddress::from(serve(None));
    let pong = Value::Simple("PONG".to_owned());
    assert_eq!(ping(address.clone()).unwrap(), pong);
    assert_eq!(ping(address.clone().with_key(key(KEY))).unwrap(), pong);
    let error = ping(address.clone().with_key(key("ts_test_abc_wrong"))).unwrap_err();
    assert!(
        matches!(error, ConnectionError::Denied(Denied::WrongKey)),
        "{error:?}"
    );
    let error = ping(address.with_key(key("ts_test_abc_odd"))).unwrap_err();
    assert!(error.to_string().contains("ERR what is this?"), "{error}");
    let told = format!("{error} {error:?}");
    assert!(!told.contains("ts_test_abc_odd"), "{told}");
    let early = ping(ServerAddress::from(serve(None)).with_key(key("ts_test_abc_early")));
    assert!(early.is_err_and(|error| error.is_loading()));
}

#[test]
fn an_answer_to_a_key_may_come_in_one_piece_with_the_next() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = ServerAddress::from(listener.local_addr().unwrap()).with_key(key("k"));
    let peer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; b"*3\r\n$4\r\nAUTH\r\n$7\r\ndefault\r\n$1\r\nk\r\nPING".len()];
        stream.read_exact(&mut asked).unwrap();
        stream.write_all(b"+OK\r\n+PONG\r\n").unwrap();
        asked
    });
    // As a load generator does it: the request does not wait for the login.
    let socket = TcpStream::connect(address.socket()).unwrap();
    let mut stream = address.begin(socket).unwrap();
    stream.write_all(b"PING").unwrap();
    let mut answer = [0; 7];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+PONG\r\n");
    assert_eq!(
        &peer.join().unwrap(),
        b"*3\r\n$4\r\nAUTH\r\n$7\r\ndefault\r\n$1\r\nk\r\nPING"
    );
}

#[test]
fn both_directions_go_on_by_themselves() {
    const PINGS: usize = 100_000;
    let authority = Authority::new();
    let tls = || Tls::new("localhost", &authority.trust(), None).unwrap();
    let clear = ServerAddress::from(serve(None));
    let encrypted = ServerAddress::from(serve(Some(authority.server(false)))).with_tls(tls());
    for address in [clear, encrypted] {
        let stream = address.with_key(key(KEY)).connect(TIMEOUT).unwrap();
        let (mut from, mut to) = stream.split();
        // Neither the server nor its client takes so much before it is read from.
        let writing = thread::spawn(move || {
            to.write_all(&b"PING\n".repeat(PINGS)).unwrap();
            to
        });
        let mut answers = vec![0; b"+PONG\r\n".len() * PINGS];
        from.read_exact(&mut answers).unwrap();
        assert!(answers == b"+PONG\r\n".repeat(PINGS));
        let to = writing.join().unwrap();
        to.socket.shutdown(std::net::Shutdown::Both).unwrap();
        assert_eq!(from.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn a_server_is_trusted_by_its_authority_and_its_name() {
    let authority = Authority::new();
    let address = ServerAddress::from(serve(Some(authority.server(false))));
    let through = |name: &str, trust: &Trust| {
        let tls = Tls::new(name, trust, None).unwrap();
        address.clone().with_tls(tls).with_key(key(KEY))
    };
    let pong = Value::Simple("PONG".to_owned());
    assert_eq!(
        ping(through("localhost", &authority.trust())).unwrap(),
        pong
    );
    assert_eq!(ping(through("elsewhere", &Trust::Anybody)).unwrap(), pong);
    let only = authority.trust_server();
    assert_eq!(ping(through("127.0.0.1", &only)).unwrap(), pong);
    // Another of the same name and authority.
    authority.server(false);
    fails(through("127.0.0.1", &only), "certificate is refused");
    fails(
        through("localhost", &Authority::new().trust()),
        "no authority that is trusted here has signed",
    );
    fails(through("elsewhere", &authority.trust()), "for another name");
    let wrong = through("localhost", &authority.trust()).with_key(key("ts_test_abc_wrong"));
    let error = ping(wrong).unwrap_err();
    assert!(
        matches!(error, ConnectionError::Denied(Denied::WrongKey)),
        "{error:?}"
    );
}

#[test]
fn a_server_may_ask_for_a_certificate() {
    let authority = Authority::new();
    let address = ServerAddress::from(serve(Some(authority.server(true))));
    let shows = |shown: Option<&ClientCertificate>| {
        let tls = Tls::new("localhost", &authority.trust(), shown).unwrap();
        address.clone().with_tls(tls)
    };
    let own = authority.client();
    let pong = Value::Simple("PONG".to_owned());
    assert_eq!(ping(shows(Some(&own))).unwrap(), pong);
    fails(shows(None), "the server asks for a certificate");
    let missing = ClientCertificate {
        key: own.certificate.clone(),
        ..own
    };
    let told = Tls::new("localhost", &authority.trust(), Some(&missing)).unwrap_err();
    assert!(told.contains("client.pem"), "{told}");
}

#[test]
fn a_server_without_tls_is_told_apart() {
    let address = ServerAddress::from(serve(None));
    let tls = Tls::new("localhost", &Trust::Anybody, None).unwrap();
    fails(address.with_tls(tls), "does not speak TLS here");
    let authority = Authority::new();
    let address = ServerAddress::from(serve(Some(authority.server(false))));
    fails(address, "it may speak TLS");
}
