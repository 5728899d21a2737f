//! Secrets that a server was given are searched for in everything that it leaves: its log, its answers, its
//! files, and its memory.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read as _, Write as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use memchr::memmem::Finder;
use serde_json::json;
use turnstile_client::{
    AccessKey, Connection, PeerStream, ServerAddress,
    tls::{Tls, Trust},
};

use crate::process::{Server, run, turnstile, words};

/// The digits of base64.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const TIMEOUT: Duration = Duration::from_secs(60);

/// A guest's id number, and that of a stranger: no example in the documents of the server has them.
const GUEST: &str = "591738206485";
const STRANGER: &str = "736409185274";

/// A secret, and the forms in which it is searched for.
struct Canary {
    name: &'static str,
    forms: Vec<Vec<u8>>,
}

impl Canary {
    /// In clear, in hexadecimal digits, and in base64 wherever it begins in what is encoded.
    fn new(name: &'static str, secret: impl AsRef<[u8]>) -> Self {
        let secret = secret.as_ref();
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut forms = vec![
            secret.to_vec(),
            hex.to_ascii_uppercase().into_bytes(),
            hex.into_bytes(),
        ];
        forms.extend((0..3).map(|before| base64_at(secret, before)));
        Self { name, forms }
    }

    fn count_in(&self, text: &[u8]) -> usize {
        let forms = self.forms.iter();
        forms
            .map(|form| Finder::new(form).find_iter(text).count())
            .sum()
    }
}

/// What base64 makes of the bytes when so many stand before them, without what depends on the neighbours.
fn base64_at(bytes: &[u8], before: usize) -> Vec<u8> {
    let skipped = (3 - before) % 3;
    let whole = bytes.get(skipped..).unwrap_or_default();
    let triples = whole.chunks_exact(3);
    triples
        .flat_map(|three| {
            let bits = three
                .iter()
                .fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
            [18, 12, 6, 0].map(|shift| LETTERS[bits >> shift & 63])
        })
        .collect()
}

#[test]
fn a_secret_is_found_in_every_form() {
    let canary = Canary::new("test", "ts_live_secret_of_some_length");
    // `printf 'xts_live_secret_of_some_length!' | base64`
    for text in [
        "a ts_live_secret_of_some_length b",
        "74735f6c6976655f7365637265745f6f665f736f6d655f6c656e677468",
        "dHNfbGl2ZV9zZWNyZXRfb2Zfc29tZV9sZW5ndGgh",
        "eHRzX2xpdmVfc2VjcmV0X29mX3NvbWVfbGVuZ3RoIQ==",
        "eHh0c19saXZlX3NlY3JldF9vZl9zb21lX2xlbmd0aCE=",
    ] {
        assert_eq!(canary.count_in(text.as_bytes()), 1, "{text}");
    }
    assert_eq!(canary.count_in(b"ts_live_secret_of_another"), 0);
}

/// A server with keys, whose log is kept.
struct Watched {
    server: Server,
    data: PathBuf,
    /// Nothing: it is reached in clear.
    tls: Option<Tls>,
}

impl Watched {
    fn start(folder: &Path, is_secured: bool) -> Self {
        let data = folder.join("data");
        let mut command = turnstile();
        command.args(["serve", "--log", "debug", "--snapshot-records", "8"]);
        for door in ["--resp", "--http", "--xml", "--travel"] {
            command.args([door, "127.0.0.1:0"]);
        }
        command.args(["--xml-principal", "chief", "--travel-principal", "chief"]);
        command.arg("--data").arg(&data);
        let mut tls = None;
        if is_secured {
            let [certificate, key] = tls_files(&data);
            command.arg("--tls-certificate").arg(&certificate);
            command.arg("--tls-key").arg(&key);
            tls = Some(Tls::new("localhost", &Trust::File(certificate), None).unwrap());
        }
        let server = Server::start(&mut command);
        Self { server, data, tls }
    }

    fn address(&self, door: &str) -> ServerAddress {
        let address = ServerAddress::from(self.server.door(door).unwrap());
        match &self.tls {
            Some(tls) => address.with_tls(tls.clone()),
            None => address,
        }
    }

    /// A connection of the RESP door, with a key or without.
    fn resp(&self, key: Option<&str>) -> Connection {
        let address = self.address("resp");
        let address = match key {
            Some(key) => address.with_key(AccessKey::parse(key).unwrap()),
            None => address,
        };
        Connection::connect(address, TIMEOUT).unwrap()
    }

    /// Sends these bytes to a door, and reads until it has said this much, or closes.
    fn say(&self, door: &str, text: &str, until: &str) -> String {
        let mut stream = self.address(door).connect(TIMEOUT).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream.flush().unwrap();
        read_until(&mut stream, until)
    }

    /// Asks over HTTP, on a connection of its own.
    fn http(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let content = if body.is_empty() {
            String::new()
        } else {
            format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            )
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}{content}\r\n{body}"
        );
        self.say("http", &request, "never")
    }
}

fn read_until(stream: &mut PeerStream<std::net::TcpStream>, until: &str) -> String {
    let mut said = Vec::new();
    let mut room = [0; 16 * 1_024];
    while !String::from_utf8_lossy(&said).contains(until) {
        match stream.read(&mut room) {
            Ok(0) | Err(_) => break,
            Ok(count) => said.extend_from_slice(&room[..count]),
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// Keys of a directory, and one of another.
struct Keys {
    chief: String,
    desk: String,
    wrong: String,
}

impl Keys {
    fn make(folder: &Path) -> Self {
        let init = |name: &str| {
            let made = run(turnstile()
                .arg("init")
                .arg(folder.join(name))
                .arg("--self-signed"));
            assert_eq!(made.code, Some(0), "{made:?}");
            let key = made.out.lines().find(|line| line.starts_with("ts_"));
            key.unwrap_or_else(|| panic!("{made:?}")).to_owned()
        };
        let (chief, wrong) = (init("data"), init("other"));
        let words = ["key", "create", "desk", "--role", "rooms.user", "--data"];
        let made = run(turnstile().args(words).arg(folder.join("data")));
        let desk = made.out.trim_end().to_owned();
        Self { chief, desk, wrong }
    }

    fn canaries(&self) -> Vec<Canary> {
        vec![
            Canary::new("key of the administrator", secret(&self.chief)),
            Canary::new("key of the user", secret(&self.desk)),
            Canary::new("wrong key", secret(&self.wrong)),
            Canary::new("id number", GUEST),
            Canary::new("id number of a stranger", STRANGER),
        ]
    }
}

/// What a key does not show: the rest of its text stands in lists.
fn secret(key: &str) -> &str {
    key.rsplit('_').next().unwrap()
}

fn bearer(key: &str) -> String {
    format!("Authorization: Bearer {key}\r\n")
}

/// The files of the certificate that `init` has made, and of its private key.
fn tls_files(data: &Path) -> [PathBuf; 2] {
    ["certificate.pem", "key.pem"].map(|file| data.join("tls").join(file))
}

/// The secret number of a private key in the form that `init` writes, which is on the curve P-256.
fn private_number(file: &Path) -> Vec<u8> {
    let pem = fs::read_to_string(file).unwrap();
    let body: String = pem
        .lines()
        .filter(|line| !line.starts_with("---"))
        .collect();
    let digits = body
        .bytes()
        .filter_map(|letter| LETTERS.iter().position(|one| *one == letter));
    let digits: Vec<usize> = digits.collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit);
        let bits = bits << (6 * (4 - four.len()));
        [16, 8, 0].map(|shift| u8::try_from(bits >> shift & 0xff).unwrap())
    });
    let der: Vec<u8> = bytes.collect();
    // An octet string of 32 bytes, within the structure of the key.
    let at = der.windows(2).position(|part| part == [4, 32]).unwrap();
    der[at + 2..at + 34].to_vec()
}

/// The value that JSON has under this name, which is a text.
fn member(text: &str, name: &str) -> String {
    let (_, rest) = text
        .split_once(&format!("\"{name}\":\""))
        .unwrap_or_else(|| panic!("{text}"));
    rest.split('"').next().unwrap().to_owned()
}

/// What clients said and heard, in one text. Answers that hand out a secret are not in it.
#[derive(Default)]
struct Heard(String);

impl Heard {
    fn hear(&mut self, text: impl AsRef<str>) {
        self.0.push_str(text.as_ref());
        self.0.push('\n');
    }

    fn ask(&mut self, door: &mut Connection, asked: &[&str]) {
        let asked: Vec<&[u8]> = asked.iter().map(|word| word.as_bytes()).collect();
        let answer = door.command(&asked).unwrap();
        self.hear(words(&answer));
    }
}

/// Requests of every kind over RESP, right ones and wrong ones.
fn use_resp(watched: &Watched, keys: &Keys, heard: &mut Heard) {
    let mut chief = watched.resp(Some(&keys.chief));
    for words in [
        &["ROOMS.ADD-PROPERTY", "inn", "OPEN"][..],
        &["ROOMS.ADD-PROPERTY", "inn", "OPEN"],
        &["NO-SUCH-COMMAND", &keys.chief],
        &["ROOMS.ADD-PROPERTY", &keys.chief, &keys.chief, &keys.chief],
        &["CONFIG", "GET", &keys.chief],
        &["SET", "key", &keys.chief],
        &["AUTH", &keys.wrong],
        &["AUTH", "chief", &keys.wrong],
        &["AUTH", "chief", &keys.desk],
        &["AUTH", "a", "b", &keys.chief],
        &["HELLO", "3", "AUTH", "default", &keys.wrong],
        &["HELLO", "3", "AUTH", "default", &keys.chief, "EXTRA"],
        &["HELLO", "3", "AUTH", "default", &keys.chief],
    ] {
        heard.ask(&mut chief, words);
    }
    let mut desk = watched.resp(Some(&keys.desk));
    let book = |room, number| {
        let (from, to) = ("2027-01-01", "2027-01-03");
        ["ROOMS.BOOK", "inn", room, from, to, "ada", number]
    };
    heard.ask(&mut desk, &book("7", GUEST));
    heard.ask(&mut desk, &book("7", STRANGER));
    heard.ask(&mut desk, &book("8", &GUEST[1..]));
    heard.ask(&mut desk, &[&book("8", GUEST)[..], &[STRANGER]].concat());
    heard.ask(&mut desk, &["ROOMS.CANCEL", "R00", STRANGER]);
    heard.ask(&mut desk, &["ROOMS.CANCEL", "R1", GUEST]);
    for words in [
        &["MULTI"][..],
        &book("9", GUEST),
        &book("9", STRANGER),
        &["EXEC"],
    ] {
        heard.ask(&mut desk, words);
    }
    // A request whose rest never comes.
    let unfinished = format!("*2\r\n$4\r\nAUTH\r\n$99\r\n{}", keys.chief);
    let mut stream = watched.address("resp").connect(TIMEOUT).unwrap();
    stream.write_all(unfinished.as_bytes()).unwrap();
    drop(stream);
    for door in ["xml", "travel"] {
        let text = format!("{}\nStart,{}\n", keys.desk, keys.desk);
        heard.hear(watched.say(door, &text, "xception"));
    }
}

/// The same over HTTP. Answers the secrets that the server has made.
fn use_http(watched: &Watched, keys: &Keys, heard: &mut Heard) -> [String; 3] {
    let (chief, desk, wrong) = (bearer(&keys.chief), bearer(&keys.desk), bearer(&keys.wrong));
    let booking = |room: &str, number: &str| {
        json!({
            "property": "inn", "wish": room, "arrival": "2027-02-01", "departure": "2027-02-03",
            "guest": "ada", "id_number": number,
        })
        .to_string()
    };
    let bookings = "/v1/rooms/bookings";
    let broken = booking("9", GUEST).replace("2027-02-03", "soon");
    let in_query = format!("/v1/rooms/totals?key={}", keys.chief);
    for (method, path, headers, body) in [
        ("POST", bookings, &desk, &booking("9", GUEST)),
        ("POST", bookings, &desk, &booking("9", STRANGER)),
        ("POST", bookings, &wrong, &booking("9", STRANGER)),
        ("POST", bookings, &desk, &broken),
        (
            "POST",
            bookings,
            &desk,
            &broken[..broken.len() / 2].to_owned(),
        ),
        ("GET", "/v1/rooms/totals", &wrong, &String::new()),
        ("GET", "/v1/access/keys", &chief, &String::new()),
        ("GET", &in_query, &chief, &String::new()),
        ("PATCH", "/v1/rooms/totals", &chief, &String::new()),
    ] {
        heard.hear(watched.http(method, path, headers, body));
    }
    let opened = watched.http("POST", "/v1/session", &chief, "");
    let cookie = opened.split_once("turnstile_session=").unwrap().1;
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let csrf = member(&opened, "csrf_token");
    let session = format!("Cookie: turnstile_session={cookie}\r\nX-CSRF-Token: {csrf}\r\n");
    let ticket = member(&watched.http("POST", "/v1/tickets", &session, ""), "ticket");
    heard.hear(watched.http("GET", "/v1/sessions", &session, ""));
    heard.hear(watched.http("GET", "/v1/rooms/totals", &session, ""));
    // It is used up, and then it is worth nothing.
    let stream = format!("/v1/access/events?ticket={ticket}");
    let request = format!("GET {stream} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    heard.hear(watched.say("http", &request, ":\n\n"));
    heard.hear(watched.http("GET", &stream, "", ""));
    [cookie, csrf, ticket]
}

/// What the server says of itself and of what has happened.
fn look_around(watched: &Watched, keys: &Keys, heard: &mut Heard) {
    let mut chief = watched.resp(Some(&keys.chief));
    for words in [
        &["INFO"][..],
        &["SLOWLOG", "GET", "-1"],
        &["CLIENT", "LIST"],
        &["CLIENT", "INFO"],
        &["ACL", "LIST"],
        &["ACL", "WHOAMI"],
        &["ACCESS.LIST-KEYS"],
        &["ACCESS.LIST-PRINCIPALS"],
    ] {
        heard.ask(&mut chief, words);
    }
    let chief = bearer(&keys.chief);
    for path in [
        "/metrics",
        "/v1/audit?limit=1000",
        "/v1/access/keys",
        "/v1/sessions",
        "/readyz",
    ] {
        heard.hear(watched.http("GET", path, &chief, ""));
    }
    let address = format!(
        "https://localhost:{}",
        watched.server.door("http").unwrap().port()
    );
    let ca = watched.data.join("tls/certificate.pem");
    let mut command = turnstile();
    command.args(["audit", "--http", &address, "--ca"]).arg(ca);
    let audit = run(command.env("TURNSTILE_KEY", &keys.chief));
    assert_eq!(audit.code, Some(0), "{audit:?}");
    heard.hear(audit.out);
}

/// All files of a folder and of those in it, but for the keys that it keeps.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.ends_with("id.key") && !path.ends_with("tls/key.pem") {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found
}

/// How often each secret stands in the memory of a process, as a core file would keep it.
fn count_in_memory(pid: u32, canaries: &[Canary]) -> BTreeMap<&'static str, usize> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut counts: BTreeMap<_, _> = canaries.iter().map(|one| (one.name, 0)).collect();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next().unwrap(), words.next().unwrap());
        if !rights.starts_with("rw") {
            continue;
        }
        let (begin, end) = range.split_once('-').unwrap();
        let [begin, end] = [begin, end].map(|text| u64::from_str_radix(text, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(end - begin).unwrap()];
        // Pages of devices cannot be read, and are in no core file.
        if memory.read_exact_at(&mut bytes, begin).is_err() {
            continue;
        }
        for canary in canaries {
            *counts.get_mut(canary.name).unwrap() += canary.count_in(&bytes);
        }
    }
    counts
}

/// Asserts that nothing that clients heard, no file and no line of the log has one of these.
fn assert_silent(canaries: &[Canary], (heard, log): (&Heard, &str), data: &Path) {
    assert!(heard.0.len() > 10_000, "much was heard");
    assert!(log.contains("a login was refused"), "{log}");
    let mut places = vec![("answers".to_owned(), heard.0.clone().into_bytes())];
    places.push(("log".to_owned(), log.as_bytes().to_vec()));
    for (path, bytes) in files(data) {
        places.push((path.display().to_string(), bytes));
    }
    assert!(
        places.iter().any(|(name, _)| name.contains("snapshot")),
        "one was made"
    );
    for (place, bytes) in &places {
        for canary in canaries {
            assert_eq!(canary.count_in(bytes), 0, "the {} in {place}", canary.name);
        }
    }
}

/// The doors of the fast loop overwrite what they have read.
#[test]
fn a_server_that_is_reached_in_clear_keeps_no_key_and_no_id_number_in_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::make(folder.path());
    let watched = Watched::start(folder.path(), false);
    let mut heard = Heard::default();
    use_resp(&watched, &keys, &mut heard);
    let canaries = keys.canaries();
    let counts = count_in_memory(watched.server.pid(), &canaries);
    let none: BTreeMap<_, _> = canaries.iter().map(|one| (one.name, 0)).collect();
    assert_eq!(counts, none);
    watched.server.stop();
}

/// The libraries of HTTP and TLS do not overwrite their buffers, so some hold what came last. But no copy is
/// kept of what was read before, so their number does not grow with that of the requests.
const COPIES_MAX: usize = 48;

#[test]
fn a_server_leaves_no_secret_in_its_log_its_answers_and_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::make(folder.path());
    let watched = Watched::start(folder.path(), true);
    let mut heard = Heard::default();
    let mut follower = watched.resp(Some(&keys.chief));
    heard.ask(&mut follower, &["PSUBSCRIBE", "*"]);
    use_resp(&watched, &keys, &mut heard);
    let made = use_http(&watched, &keys, &mut heard);
    look_around(&watched, &keys, &mut heard);
    for told in ["property_added", "login_failed", "booked"] {
        while !heard.0.contains(told) {
            heard.hear(words(&follower.receive().unwrap()));
        }
    }
    for _ in 0..2 * COPIES_MAX {
        watched.http("GET", "/v1/rooms/totals", &bearer(&keys.desk), "");
    }
    let mut canaries = keys.canaries();
    canaries.push(Canary::new("cookie", &made[0]));
    canaries.push(Canary::new("token against forged requests", &made[1]));
    canaries.push(Canary::new("ticket", &made[2]));
    let counts = count_in_memory(watched.server.pid(), &canaries);
    let most = counts.values().max();
    assert!(most < Some(&COPIES_MAX), "{counts:?}");
    let [_, key] = tls_files(&watched.data);
    canaries.push(Canary::new("private key", private_number(&key)));
    let sealing = fs::read(watched.data.join("id.key")).unwrap();
    canaries.push(Canary::new("key of id numbers", sealing.trim_ascii()));
    let (data, log) = (watched.data.clone(), watched.server.stop());
    assert_silent(&canaries, (&heard, &log), &data);
}
