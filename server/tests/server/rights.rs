//! Every operation at both doors, asked by callers of every kind: each answer is as the table of rights
//! (`docs/reference/rights.md`) says.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
};

use turnstile_access::SecretKey;
use turnstile_chassis::{Kind, Need};
use turnstile_http::{Operation, Place, Success};
use turnstile_resp::catalogue;
use turnstile_trial::PostgresServer;

use super::{
    access::key,
    client::{Client, Server},
};

/// What a caller with limits may do although none of its names are meant: what the public sees, what
/// makes something new, and what is about the caller alone.
const PUBLIC: &[&str] = &[
    "ACCESS.WHO-AM-I",
    "EXCHANGE.GET-DEPTH",
    "EXCHANGE.GET-QUEUE",
    "EXCHANGE.GET-SYMBOL",
    "EXCHANGE.GET-TOTALS",
    "EXCHANGE.LIST-SYMBOLS",
    "EXCHANGE.LIST-TRADES",
    "GAMES.GET-MATCH",
    "GAMES.GET-STANDING",
    "GAMES.GET-TALLY",
    "GAMES.GET-TOTALS",
    "GAMES.LIST-AROUND",
    "GAMES.LIST-LEADERS",
    "GAMES.LIST-MATCHES",
    "GAMES.LIST-OPPONENTS",
    "GAMES.LIST-TICKETS",
    "ROOMS.GET-AVAILABILITY",
    "ROOMS.GET-TOTALS",
    "ROOMS.LIST-HOLDS",
    "ROOMS.LIST-PROPERTIES",
    "SEATS.GET-AVAILABILITY",
    "SEATS.GET-MAP",
    "SEATS.GET-TOTALS",
    "SEATS.LIST-SHOWS",
    "TRAVEL.GET-TOTALS",
    "TRAVEL.LIST-ITEMS",
    "TRAVEL.QUERY-ITEM",
    "TRAVEL.START",
    // The feed is told for each account apart.
    "/v1/exchange/feed",
    "/v1/games/matches/{match}/events",
];

/// A row of the table: the command and the path of an operation, and the right that it needs.
struct Row {
    /// Nothing: only HTTP has it.
    resp: Option<String>,
    http: (String, String),
    right: String,
}

fn table() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/rights.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, services) = text.split_once("## rooms").unwrap();
    let rows = services.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let [resp, http, right, ""] = cells[..] else {
            return None;
        };
        let plain =
            |cell: &str| Some(cell.trim_matches('`').to_owned()).filter(|it| !it.is_empty());
        let (method, path) = plain(http)?
            .split_once(' ')
            .map(|(method, path)| (method.to_owned(), path.to_owned()))?;
        let right = right
            .trim_end_matches(", held")
            .trim_matches('`')
            .to_owned();
        let (resp, http) = (plain(resp), (method, path));
        Some(Row { resp, http, right })
    });
    rows.collect()
}

/// A value that an operation takes for this parameter.
fn example(name: &str, kind: &Kind) -> String {
    let text = match kind {
        _ if matches!(name, "departure" | "to") => "2027-05-03",
        // A transaction that no caller has started.
        _ if name == "xid" => "999999",
        Kind::Cursor => "1",
        Kind::Flag => "true",
        Kind::Optional(inner) | Kind::List(inner) => return example(name, inner),
        _ => kind.example(),
    };
    text.to_owned()
}

/// A whole request of this operation over HTTP.
fn http_request(operation: &Operation, key: Option<&str>) -> String {
    let (mut target, mut mark, mut members) = (operation.path.clone(), '?', Vec::new());
    for parameter in &operation.parameters {
        let (name, kind) = (parameter.declared.name, &parameter.declared.kind);
        let example = example(name, kind);
        let is_needed = !matches!(parameter.declared.need, Need::Optional | Need::OptionalWord);
        match parameter.place {
            Place::Path => target = target.replace(&format!("{{{name}}}"), &example),
            Place::Query if is_needed => {
                target.push_str(&format!("{mark}{name}={example}"));
                mark = '&';
            }
            Place::Body if is_needed => members.push(match (kind, parameter.declared.need) {
                (_, Need::Repeated { .. }) => format!("\"{name}\":[\"{example}\"]"),
                (Kind::Number { .. } | Kind::Signed { .. } | Kind::Flag, _) => {
                    format!("\"{name}\":{example}")
                }
                _ => format!("\"{name}\":\"{example}\""),
            }),
            Place::Query | Place::Body | Place::Header => {}
        }
    }
    let body = if operation.has(Place::Body) {
        format!("{{{}}}", members.join(","))
    } else {
        String::new()
    };
    let content = if body.is_empty() {
        ""
    } else {
        "Content-Type: application/json\r\n"
    };
    let ending = match operation.success {
        Success::Protocol(_) => {
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        }
        Success::Made { .. } | Success::Json(_) | Success::Content(_) => "Connection: close\r\n",
    };
    let key = key.map_or_else(String::new, |key| {
        format!("Authorization: Bearer {key}\r\n")
    });
    format!(
        "{} {target} HTTP/1.1\r\nHost: localhost\r\n{content}{key}{ending}\
         Content-Length: {}\r\n\r\n{body}",
        operation.method.as_str(),
        body.len(),
    )
}

/// A whole request of this command over RESP.
fn resp_request(name: &str, kinds: &BTreeMap<&str, &Kind>) -> String {
    let mut syntaxes = catalogue::operations();
    let syntax = syntaxes.find(|syntax| syntax.name.eq_ignore_ascii_case(name));
    let syntax = syntax.unwrap_or_else(|| panic!("there is no command {name}"));
    let fields = syntax.fields();
    let needed = fields.iter().filter(|field| field.is_required);
    let arguments = needed.map(|field| {
        let kind = kinds.get(&*field.name);
        let kind = kind.unwrap_or_else(|| panic!("{name}: HTTP has no {}", field.name));
        example(&field.name, kind)
    });
    let words: Vec<_> = [name.to_owned()].into_iter().chain(arguments).collect();
    let bulks = words
        .iter()
        .map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", words.len(), bulks.collect::<String>())
}

/// How a door has taken a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// It wants to know who asks.
    WhoAsks,
    /// The caller has not the right.
    Denied,
    /// Whatever came of it.
    Looked,
}

fn taken_by_resp(client: &mut Client, request: &str) -> Taken {
    client.send(format!("{request}ECHO marker\r\n"));
    let first = client.until("\r\n");
    if first.starts_with("-NOAUTH ") {
        assert!(client.until("\r\n").starts_with("-NOAUTH "), "{request}");
        return Taken::WhoAsks;
    }
    let answer = first + &client.until("marker\r\n");
    match answer.split(' ').next().unwrap_or_default() {
        "-NOPERM" => Taken::Denied,
        _ => {
            assert!(!answer.starts_with("-ERR"), "{request}: {answer}");
            Taken::Looked
        }
    }
}

/// The body of an answer behind its status line, by its declared length: a connection may stay open.
fn body(reader: &mut BufReader<TcpStream>) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

fn taken_by_http(server: &Server, request: &str) -> Taken {
    let mut doors = server.running().doors().iter();
    let (_, address) = doors.find(|(name, _)| *name == "http").unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_default().to_owned();
    match &*status {
        // After many failed logins from one address, the server says so instead.
        "401" | "429" => Taken::WhoAsks,
        "403" => {
            let rest = body(&mut reader);
            assert!(
                rest.contains("\"code\":\"missing_right\""),
                "{request}: {rest}"
            );
            Taken::Denied
        }
        "400" => {
            let rest = body(&mut reader);
            let is_understood = !rest.contains("invalid_request") && !rest.contains("malformed");
            assert!(is_understood, "{request}: {rest}");
            Taken::Looked
        }
        _ => Taken::Looked,
    }
}

/// A kind of caller.
struct CallerKind {
    name: &'static str,
    /// The number of its key, where it shows one.
    key: Option<u8>,
    /// Whether it may do what needs this right, and is public or not.
    may: fn(right: &str, is_public: bool) -> bool,
}

/// What every caller with a key may do.
fn is_for_all(right: &str, is_public: bool) -> bool {
    matches!(right, "none" | "any key") || (right == "access.read" && is_public)
}

fn is_business(right: &str) -> bool {
    right.contains('.') && !right.starts_with("access.")
}

fn is_for_users(right: &str) -> bool {
    is_business(right) && !right.ends_with(".manage")
}

const CALLERS: [CallerKind; 10] = [
    CallerKind {
        name: "no key",
        key: None,
        may: |right, _| right == "none",
    },
    CallerKind {
        name: "wrong key",
        key: Some(99),
        may: |right, _| right == "none",
    },
    CallerKind {
        name: "revoked key",
        key: Some(7),
        may: |right, _| right == "none",
    },
    CallerKind {
        name: "expired key",
        key: Some(8),
        may: |right, _| right == "none",
    },
    CallerKind {
        name: "reader",
        key: Some(2),
        may: |right, is_public| {
            is_for_all(right, is_public) || (is_business(right) && right.ends_with(".read"))
        },
    },
    CallerKind {
        name: "operator",
        key: Some(3),
        may: |right, is_public| is_for_all(right, is_public) || right == "operate",
    },
    CallerKind {
        name: "user of other names",
        key: Some(4),
        may: |right, is_public| is_for_all(right, is_public) || (is_for_users(right) && is_public),
    },
    CallerKind {
        name: "user",
        key: Some(5),
        may: |right, is_public| is_for_all(right, is_public) || is_for_users(right),
    },
    CallerKind {
        name: "manager",
        key: Some(6),
        may: |right, is_public| is_for_all(right, is_public) || is_business(right),
    },
    CallerKind {
        name: "admin",
        key: Some(1),
        may: |_, _| true,
    },
];

impl CallerKind {
    fn secret(&self) -> Option<SecretKey> {
        let number = self.key?;
        Some(key(number))
    }

    fn expected(&self, right: &str, is_public: bool) -> Taken {
        if (self.may)(right, is_public) {
            Taken::Looked
        } else if matches!(self.key, None | Some(7..)) {
            Taken::WhoAsks
        } else {
            Taken::Denied
        }
    }
}

/// The principals, each with the number of its key and its grants; that of the administrator is the first.
const PRINCIPALS: [(&str, u8, &[&str]); 8] = [
    ("root", 1, &["admin *"]),
    ("reader", 2, &["reader *"]),
    ("operator", 3, &["operator *"]),
    ("tenant", 4, &["SERVICE.user nothing-*"]),
    ("user", 5, &["SERVICE.user *"]),
    ("manager", 6, &["SERVICE.manager *"]),
    ("revoked", 7, &["admin *"]),
    ("expired", 8, &["admin *"]),
];

/// A server with a principal for each kind of caller, which keeps rooms there.
fn guarded(rooms: Option<&str>) -> Server {
    let server = Server::over_http_from(rooms);
    let mut root = server.client();
    let mut say = |line: &str| {
        root.send(format!("{line}\r\n"));
        let mut answer = root.until("\r\n");
        assert!(!answer.starts_with('-'), "{line}: {answer}");
        // The answer is a list with the position, whether it is a repeat, and its data.
        if let Some(values) = answer.strip_prefix('*') {
            for _ in 0..values.trim_end().parse::<usize>().unwrap() {
                answer = root.until("\r\n");
                if answer.starts_with('$') {
                    root.until("\r\n");
                }
            }
        }
    };
    for (name, number, grants) in PRINCIPALS {
        say(&format!("ACCESS.ADD-PRINCIPAL {name}"));
        for grant in grants {
            for service in ["rooms", "exchange", "travel", "games", "seats"] {
                let grant = grant.replace("SERVICE", service);
                say(&format!("ACCESS.GRANT {name} {grant}"));
            }
        }
        let secret = key(number);
        let (id, digest) = (secret.id(), secret.digest().hex());
        say(&format!("ACCESS.ADD-KEY {name} {id} {digest}"));
        match name {
            "root" => say(&format!("AUTH {}", secret.expose())),
            "revoked" => say(&format!("ACCESS.REVOKE-KEY {id}")),
            "expired" => say(&format!("ACCESS.EXPIRE-KEY {id} 2020-01-01T00:00:00Z")),
            _ => {}
        }
    }
    server
}

/// The operation of HTTP that a row names.
fn operation_of((method, path): &(String, String)) -> &'static Operation {
    let mut operations = turnstile_http::operations().iter();
    let found = operations.find(|one| one.path == *path && one.method.as_str() == method);
    found.unwrap_or_else(|| panic!("there is no {method} {path}"))
}

#[test]
fn every_operation_at_every_door_takes_every_caller_as_the_table_of_rights_says() {
    check(None);
}

#[test]
fn with_rooms_in_a_database_the_table_of_rights_is_the_same() {
    let server = PostgresServer::start();
    check(Some(&server.database()));
}

fn check(rooms: Option<&str>) {
    let server = guarded(rooms);
    let rows = table();
    assert!(rows.len() > 100, "the table has {} rows", rows.len());
    let mut wrong = Vec::new();
    for caller in &CALLERS {
        let secret = caller.secret();
        let mut client = server.client();
        if let Some(secret) = &secret {
            client.send(format!("AUTH {}\r\n", secret.expose()));
            client.until("\r\n");
        }
        for row in &rows {
            let operation = operation_of(&row.http);
            let names = [row.resp.as_deref(), Some(&*row.http.1)];
            let is_public = PUBLIC.iter().any(|name| names.contains(&Some(*name)));
            let expected = caller.expected(&row.right, is_public);
            let request = http_request(operation, secret.as_ref().map(SecretKey::expose));
            let mut taken = vec![taken_by_http(&server, &request)];
            if let Some(name) = &row.resp {
                let kinds = operation.parameters.iter();
                let kinds = kinds.map(|one| (one.declared.name, &one.declared.kind));
                let request = resp_request(name, &kinds.collect());
                taken.push(taken_by_resp(&mut client, &request));
            }
            if taken.iter().any(|taken| *taken != expected) {
                let name = caller.name;
                wrong.push(format!("{name}, {names:?}: {taken:?}, not {expected:?}"));
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0], "{}", wrong.len());
    server.stop();
}
