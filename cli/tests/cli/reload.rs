//! SIGHUP and an administrator have the configuration read again, and the server never ends by it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
};

use rustix::process::Signal;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::process::{Server, run, turnstile};

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
    server.await_logged("the configuration is not reloaded: nothing has changed");

    // One setting needs a restart: the others stay as they are, too.
    write(&file, &directory.path().join("elsewhere"), "3", "error");
    server.signal(Signal::HUP);
    server.await_logged("restart the server for these settings: storage.data");
    assert_ne!(greeted(door).1, "+PONG\r\n", "there is place for two");
    write(&file, &data, "3", "info");
    server.signal(Signal::HUP);
    server.await_logged("the configuration is reloaded changed=\"limits.connections\"");
    drop((first, second));
    server.stop();
}

/// A server with keys that is configured by a file.
struct Configured {
    folder: TempDir,
    server: Server,
}

impl Configured {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut init = turnstile();
        init.arg("init").arg(path("data")).arg("--key-file");
        assert_eq!(run(init.arg(path("admin"))).code, Some(0));
        let file = path("turnstile.toml");
        configure(&file, &path("data"), "");
        let server = Server::start(turnstile().args(["serve", "--config"]).arg(&file));
        let configured = Self { folder, server };
        let mut create = turnstile();
        create.args(["key", "create", "watcher", "--role", "operator", "-o"]);
        create.arg(configured.path("watcher"));
        let resp = configured.server.door("resp").unwrap();
        create.arg("--resp").arg(resp.to_string()).arg("--key-file");
        let made = run(create.arg(configured.path("admin")));
        assert_eq!(made.code, Some(0), "{made:?}");
        configured
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configure(&self, more: &str) {
        configure(&self.path("turnstile.toml"), &self.path("data"), more);
    }

    /// Asks with the key of this name, and with this header; answers the status and the body.
    fn ask(&self, request: &str, key: &str, header: &str) -> (u16, Json) {
        let key = fs::read_to_string(self.path(key)).unwrap();
        let head = format!("{header}Authorization: Bearer {}\r\n", key.trim());
        asked(self.server.door("http").unwrap(), request, &head)
    }

    fn reload(&self) -> (u16, Json) {
        self.ask("POST /v1/admin/reload", "admin", "")
    }

    /// The status of a change that a page of this origin asks for.
    fn status_of_page(&self, origin: &str) -> u16 {
        let header = format!("Origin: {origin}\r\n");
        self.ask("POST /v1/travel/transactions", "admin", &header).0
    }
}

fn configure(file: &Path, data: &Path, more: &str) {
    let text = format!(
        "[storage]\ndata = {data:?}\ndurability = \"os\"\n\n[doors]\nresp = \"127.0.0.1:0\"\nhttp = \
         \"127.0.0.1:0\"\n\n{more}"
    );
    fs::write(file, text).unwrap();
}

/// The status and the JSON of an answer.
pub(crate) fn asked(door: SocketAddr, request: &str, head: &str) -> (u16, Json) {
    let mut socket = TcpStream::connect(door).unwrap();
    let head = format!("Host: {door}\r\nConnection: close\r\nContent-Length: 0\r\n{head}");
    write!(socket, "{request} HTTP/1.1\r\n{head}\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}

#[test]
fn an_administrator_reloads_over_http_and_nothing_is_taken_over_by_half() {
    let scene = Configured::start();
    let page = "https://console.example";
    assert_eq!(scene.status_of_page(page), 403);
    let done = |changed: &[&str]| (200, json!({"changed": changed, "certificate": false}));
    assert_eq!(scene.reload(), done(&[]));

    let origins = format!("[http]\norigins = [\"{page}\"]\n");
    scene.configure(&format!("{origins}[limits]\nslow_command_us = 0\n"));
    assert_eq!(
        scene.reload(),
        done(&["http.origins", "limits.slow_command_us"])
    );
    assert_eq!(scene.status_of_page(page), 201);
    scene.server.await_logged("by=\"admin\"");

    // The origin would go, but another setting needs a restart: both stay.
    scene.configure("[audit]\naddresses = \"none\"\n");
    let (status, problem) = scene.reload();
    assert_eq!((status, &problem["code"]), (409, &json!("needs_restart")));
    let detail = "restart the server for these settings: audit.addresses";
    assert_eq!(problem["detail"], detail);
    assert_eq!(scene.status_of_page(page), 201);

    scene.configure("[limits]\nconections = 7\n");
    let (status, problem) = scene.reload();
    let wrong = (409, &json!("invalid_configuration"));
    assert_eq!((status, &problem["code"]), wrong);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("did you mean"), "{detail}");
    assert_eq!(scene.status_of_page(page), 201);

    scene.configure("");
    let gone = done(&["http.origins", "limits.slow_command_us"]);
    assert_eq!(scene.reload(), gone);
    assert_eq!(scene.status_of_page(page), 403);
    scene.server.stop();
}

#[test]
fn a_reload_is_for_administrators_and_an_error_repeats_no_password() {
    let scene = Configured::start();
    let request = "POST /v1/admin/reload";
    assert_eq!(scene.ask(request, "watcher", "").0, 403);
    let door = scene.server.door("http").unwrap();
    assert_eq!(asked(door, request, "").0, 401);
    let url = "postgres://turnstile:CANARY-7F3A@[/rooms";
    scene.configure(&format!("[rooms]\nbackend = \"{url}\"\n"));
    let (status, problem) = scene.reload();
    assert_eq!(status, 409);
    let told = problem.to_string();
    assert!(told.contains("rooms.backend"), "{told}");
    assert!(!told.contains("CANARY"), "{told}");
    let log = scene.server.stop();
    assert!(!log.contains("CANARY"), "{log}");
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
    server.await_logged("the configuration is reloaded changed=\"\" certificate=");
    // A server looks at the files by itself too, and may have been a moment faster.
    let by_hand = "changed=\"\" certificate=true";
    let by_itself = "the files of TLS have changed and are reloaded";
    let logged = server.logged();
    assert!(
        [by_hand, by_itself]
            .iter()
            .any(|text| logged.contains(text)),
        "{logged}"
    );

    fs::write(&certificate, "no certificate").unwrap();
    server.signal(Signal::HUP);
    server.await_logged(&format!(
        "nothing has changed refused=tls.certificate `{}`: the file holds no certificate in PEM",
        certificate.display()
    ));
    server.stop();
}
