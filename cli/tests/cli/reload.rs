//! SIGHUP: the configuration is read again, and the server never ends by it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
};

use rustix::process::Signal;

use crate::process::{Server, turnstile};

/// A configuration with these limits and this level.
fn write(path: &Path, data: &Path, connections: &str, level: &str) {
    let text = format!(
        "[storage]\ndata = {data:?}\ndurability = \"os\"\n\n[doors]\nresp = \"127.0.0.1:0\"\nhttp = \
         \"off\"\n\n[limits]\nconnections = {connections}\n\n[log]\nlevel = \"{level}\"\n"
    );
    fs::write(path, text).unwrap();
}

/// A client that says `PING`, and the first line that it hears.
fn greeted(door: SocketAddr) -> (TcpStream, String) {
    let mut socket = TcpStream::connect(door).unwrap();
    let mut line = String::new();
    // A client that is turned away may be told so before it has said anything.
    if socket.write_all(b"PING\n").is_ok() {
        BufReader::new(&socket).read_line(&mut line).ok();
    }
    (socket, line)
}

#[test]
fn a_hang_up_has_limits_and_log_level_read_again_and_a_wrong_file_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (file, data) = (
        directory.path().join("turnstile.toml"),
        directory.path().join("data"),
    );
    write(&file, &data, "1", "error");
    let server = Server::start(turnstile().args(["serve", "--config"]).arg(&file));
    let door = server.door("resp").unwrap();
    let (first, line) = greeted(door);
    assert_eq!(line, "+PONG\r\n");
    assert_ne!(greeted(door).1, "+PONG\r\n", "there is place for one");

    write(&file, &data, "2", "info");
    server.signal(Signal::HUP);
    server.await_logged("the configuration is reloaded changed=\"limits.connections, log.level\"");
    let mut second = greeted(door);
    while second.1 != "+PONG\r\n" {
        second = greeted(door);
    }

    write(&file, &data, "many", "error");
    server.signal(Signal::HUP);
    server.await_logged("the configuration is not reloaded: it is wrong");
    drop((first, second));

    write(&file, &directory.path().join("elsewhere"), "2", "info");
    server.signal(Signal::HUP);
    server.await_logged("these settings have changed and need a restart fields=\"storage.data\"");
    server.stop();
}

#[test]
fn a_hang_up_has_the_certificate_read_again_and_a_broken_one_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let [certificate, key] = ["server.pem", "server.key"].map(path);
    let renew = || {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(&certificate, own.cert.pem()).unwrap();
        fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    };
    renew();
    let mut command = turnstile();
    command.args(["serve", "--durability", "memory", "--http", "off"]);
    command.args(["--resp", "127.0.0.1:0", "--tls-certificate"]);
    command.arg(&certificate).arg("--tls-key").arg(&key);
    let server = Server::start(&mut command);
    renew();
    server.signal(Signal::HUP);
    server.await_logged("new connections get the new certificate");

    fs::write(&certificate, "no certificate").unwrap();
    server.signal(Signal::HUP);
    server.await_logged(&format!(
        "the certificate is not reloaded: the old one stays failure=\"tls.certificate `{}`: the file \
         holds no certificate in PEM\"",
        certificate.display()
    ));
    server.stop();
}
