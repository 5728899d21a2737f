//! The access log: who asked for what, at which door, and what it came to.

use std::{fs, path::Path, time::Duration};

use serde_json::Value;
use turnstile_server::{
    AccessLog, Databases, Durability, Limits, LineFormat, LogPlace, Options, Settings,
};
use turnstile_trial::PostgresServer;

use super::client::{Client, Server, book};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A server with these doors whose access log is this file.
fn server(path: &Path) -> Server {
    server_over(path, Databases::default())
}

fn server_over(path: &Path, databases: Databases) -> Server {
    let anywhere = Some(([127, 0, 0, 1], 0).into());
    let server = Server::started(&Settings {
        resp: anywhere,
        http: anywhere,
        xml: anywhere,
        access_log: Some(AccessLog {
            place: LogPlace::File(path.to_owned()),
            format: LineFormat::Json,
        }),
        databases,
        ..Settings::closed(Options::with(Durability::Memory))
    });
    let mut client = server.client();
    client.exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
    server
}

/// The lines, once the server has ended.
fn lines(server: Server, path: &Path) -> Vec<Value> {
    server.stop();
    let text = fs::read_to_string(path).unwrap();
    assert!(
        !text.contains("234123412346"),
        "an id number is shown: {text}"
    );
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// These fields of the lines behind the first, which made the property.
fn told(lines: &[Value], fields: &[&str]) -> Vec<String> {
    let field = |line: &Value, name: &&str| match &line[*name] {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        number => number.to_string(),
    };
    let told = lines.iter().skip(1);
    told.map(|line| {
        let fields: Vec<_> = fields.iter().map(|name| field(line, name)).collect();
        fields.join(" ")
    })
    .collect()
}

fn get(client: &mut Client, path: &str, headers: &str) -> String {
    client.send(format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
    ));
    client.rest()
}

#[test]
fn each_request_over_resp_has_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let server = server(&path);
    let mut client = server.client();
    client.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    client.send(format!("PING\n{}client Id\nGET 234123412346\n", book("r1")));
    client.until("unknown command 'GET'\r\n");
    client.exchange(
        "MULTI\nROOMS.AVAILABLE\n",
        "+OK|-ERR unknown command 'ROOMS.AVAILABLE'|",
    );
    client.exchange(
        "EXEC\n",
        "-EXECABORT Transaction discarded because of previous errors.|",
    );
    client.exchange("CLIENT TRACEPARENT 00-1\n", "-ERR a traceparent is 00-TRACE-PARENT-FLAGS in 32, 16 and 2 small hexadecimal digits, where neither TRACE nor PARENT is zero|");
    client.exchange(&format!("CLIENT TRACEPARENT {TRACEPARENT}\n"), "+OK|");
    client.exchange("PING\n", "+PONG|");
    client.send(book("r2"));
    client.until("r2\r\n:4\r\n");
    client.send(book("r3"));
    client.until("r3\r\n:5\r\n");
    let address = client.socket.local_addr().unwrap().to_string();
    drop(client);

    let lines = lines(server, &path);
    let fields = ["door", "operation", "outcome", "position", "traceparent"];
    let traced = format!("resp rooms.book done 4 {TRACEPARENT}");
    let expected = [
        "resp rooms.book done 2 -",
        "resp ping ok - -",
        "resp rooms.book sold_out 3 -",
        "resp client|id ok - -",
        "resp unknown err - -",
        "resp multi ok - -",
        "resp unknown err - -",
        "resp exec execabort - -",
        "resp client|traceparent err - -",
        "resp client|traceparent ok - -",
        "resp ping ok - -",
        &traced,
        "resp rooms.book done 5 -",
    ];
    assert_eq!(told(&lines, &fields), expected);
    let mut ids = Vec::new();
    for line in lines.iter().skip(1) {
        assert_eq!(
            (&line["peer"], &line["principal"]),
            (&address.as_str().into(), &"local".into())
        );
        let parts = ["queue_us", "decide_us", "sync_us", "send_us"]
            .map(|name| line[name].as_u64().unwrap());
        // Each is cut to whole microseconds.
        let (sum, total) = (parts.iter().sum::<u64>(), line["us"].as_u64().unwrap());
        assert!(sum <= total && total <= sum + 4, "{line}");
        ids.push(line["request_id"].as_str().unwrap());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(
        ids.len(),
        expected.len(),
        "each request has an id of its own"
    );
}

#[test]
fn a_line_over_http_has_the_template_of_the_path_and_the_id_that_is_echoed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let server = server(&path);
    let asked = "/v1/rooms/properties/nowhere/availability?type=suite&arrival=2027-12-24&departure=2027-12-27";
    let rows = [
        (asked, "X-Request-Id: mine-1\r\n".to_owned(), "mine-1"),
        ("/readyz", format!("traceparent: {TRACEPARENT}\r\n"), TRACE),
        (
            "/readyz",
            format!("Traceparent: {TRACEPARENT}\r\nX-Request-Id: mine-2\r\n"),
            "mine-2",
        ),
        (
            "/234123412346?guest=234123412346",
            "X-Request-Id: mine-3\r\n".to_owned(),
            "mine-3",
        ),
    ];
    for (path, headers, id) in &rows {
        let answer = get(&mut server.client_of("http"), path, headers);
        assert!(
            answer.contains(&format!("|x-request-id: {id}|")),
            "{answer}"
        );
    }
    let lines = lines(server, &path);
    let fields = [
        "door",
        "operation",
        "outcome",
        "status",
        "request_id",
        "traceparent",
    ];
    let template = "GET /v1/rooms/properties/{property}/availability";
    let expected = [
        format!("http {template} unknown_property 404 mine-1 -"),
        format!("http GET /readyz ok 200 {TRACE} {TRACEPARENT}"),
        format!("http GET /readyz ok 200 mine-2 {TRACEPARENT}"),
        "http unknown unknown_path 404 mine-3 -".to_owned(),
    ];
    assert_eq!(told(&lines, &fields), expected);
    assert!(
        lines
            .iter()
            .skip(1)
            .all(|line| line["bytes"].as_u64().is_some()),
        "{lines:?}"
    );
}

#[test]
fn each_item_of_a_document_of_xml_has_a_line_wherever_it_is_decided() {
    let postgres = PostgresServer::start();
    let in_postgres = Databases {
        exchange: Some(postgres.database().parse().unwrap()),
        ..Databases::default()
    };
    // The property of rooms is a record of the journal.
    for (databases, before) in [(Databases::default(), 1), (in_postgres, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let server = server_over(&path, databases);
        let mut client = server.client_of("xml");
        for xml in [
            "<create><account id=\"1\" balance=\"1000\"/><account id=\"1\" balance=\"1\"/></create>",
            "<transactions id=\"1\"><order sym=\"X\" amount=\"2\" limit=\"5\"/>\
             <query id=\"1\"/><cancel id=\"1\"/></transactions>",
        ] {
            client.send(format!("{}\n{xml}", xml.len()));
            client.until("</results>");
        }
        let address = client.socket.local_addr().unwrap();
        drop(client);
        let lines = lines(server, &path);
        let fields = ["operation", "outcome", "position"];
        assert_eq!(
            told(&lines, &fields),
            [
                format!("exchange.create_account done {}", before + 1),
                format!("exchange.create_account account_exists {}", before + 2),
                format!("exchange.place_order done {}", before + 3),
                "exchange.get_order ok -".to_owned(),
                format!("exchange.cancel_order done {}", before + 4),
                "exchange.get_order ok -".to_owned(),
            ]
        );
        let who = told(&lines, &["door", "peer", "principal"]);
        let expected = format!("xml {address} local");
        assert!(who.iter().all(|who| *who == expected), "{who:?}");
    }
}

#[test]
fn nothing_is_written_without_an_access_log() {
    let limits = Limits {
        slow_request: Duration::from_micros(1),
        ..Limits::STANDARD
    };
    let server = Server::with(&limits);
    let mut client = server.client();
    client.exchange("PING\n", "+PONG|");
    let written = server.running().counters().access_lines.get();
    assert_eq!(written, 0);
    server.stop();
}
