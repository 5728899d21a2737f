//! What ten thousand clients take who have logged in and rest.

use std::{thread, time::Duration};

use anyhow::{Context as _, Result};
use turnstile_client::descriptors;

use super::newcomer::{Newcomer, guard, trust};
use crate::{
    ground::{Ground, tell},
    process::bytes_each,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::{Kind, Server, ServerDurability},
};

/// What each may take, in KiB.
const MOST_KIB: f64 = 16.0;

const KIB: f64 = 1_024.0;

/// For so long no client says anything: long enough that the server gives back what it can.
const REST: Duration = Duration::from_secs(7);

const FIGURES: [&str; 2] = ["right after, KiB each", "at rest, KiB each"];

/// A door, what a client says there first, and the end of the answer.
#[derive(Clone, Copy)]
struct LoginWay {
    name: &'static str,
    clients: u32,
    has_tls: bool,
    kind: LoginKind,
}

#[derive(Clone, Copy)]
enum LoginKind {
    Resp,
    Http,
    Socket,
}

impl LoginWay {
    const fn new(name: &'static str, clients: u32, (kind, has_tls): (LoginKind, bool)) -> Self {
        Self {
            name,
            clients,
            has_tls,
            kind,
        }
    }
}

/// Over HTTP somewhat fewer than there are places.
const WAYS: [LoginWay; 6] = [
    LoginWay::new("RESP", 10_000, (LoginKind::Resp, false)),
    LoginWay::new("RESP, TLS", 10_000, (LoginKind::Resp, true)),
    LoginWay::new("HTTP", 4_000, (LoginKind::Http, false)),
    LoginWay::new("HTTP, TLS", 4_000, (LoginKind::Http, true)),
    LoginWay::new("WebSocket", 10_000, (LoginKind::Socket, false)),
    LoginWay::new("WebSocket, TLS", 10_000, (LoginKind::Socket, true)),
];

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    // One more for each client here; the server does the same for itself.
    descriptors::allow(10_000 + 128)?;
    let mut grown = vec![Vec::new(); WAYS.len()];
    let title = "Clients that have logged in and rest";
    let mut section = Section::between_probes(ground, title, || {
        for _ in 0..ground.rounds() {
            for (way, grown) in WAYS.iter().zip(&mut grown) {
                let kib = sample(ground, way)?;
                tell(&format!(
                    "Memory, {}: {:.2} KiB each, {:.2} KiB at rest",
                    way.name, kib[0], kib[1]
                ))?;
                grown.push(kib);
            }
        }
        let setting = format!(
            "Clients connect, log in by a key, are answered once and rest: by how much the resident memory \
             of the server has grown, for each, right after and after {} s; {} rounds",
            REST.as_secs(),
            ground.rounds()
        );
        let rows = WAYS.iter().zip(&grown).map(|(way, grown)| {
            let figures = FIGURES.iter().enumerate().map(|(at, figure)| {
                let values = grown.iter().map(|kib: &[f64; 2]| kib[at]);
                SubjectMetric::new(*figure, values.collect())
            });
            let name = format!("{}, {} clients", way.name, way.clients);
            MeasuredRow::new(name, figures.collect())
        });
        Ok((setting, rows.collect()))
    })?;
    for (way, grown) in WAYS.iter().zip(&grown) {
        let most: Vec<f64> = grown.iter().map(|kib| kib[0].max(kib[1])).collect();
        section.claim_ratio(
            &format!("{}: KiB of the server for a client that rests", way.name),
            Ratio::spread(&most),
            Bound::AtMost(MOST_KIB),
        );
    }
    Ok(section)
}

fn sample(ground: &Ground, way: &LoginWay) -> Result<[f64; 2]> {
    let kind = match way.has_tls {
        true => Kind::Encrypted,
        false => Kind::Turnstile(ServerDurability::Sync),
    };
    let server = ground.start(kind)?;
    let key = guard(&server)?;
    let key = key.expose();
    let tls = match &server.protection().ca {
        Some(certificate) => Some(trust(certificate, true)?),
        None => None,
    };
    let doors = server.doors();
    let before = server.resident_bytes()?;
    let mut clients = Vec::new();
    for number in 0..way.clients {
        let (address, request, end) = match way.kind {
            LoginKind::Resp => (doors.resp, format!("AUTH {key}\r\n"), "+OK\r\n"),
            LoginKind::Http => (doors.http, over_http("/v1/access/whoami", key, ""), "}"),
            LoginKind::Socket => {
                let path = format!("/v1/games/play?player=p{number}");
                (
                    doors.http,
                    over_http(&path, key, UPGRADE),
                    r#""op":"state""#,
                )
            }
        };
        let mut client = Newcomer::connect(address, tls.as_ref())?;
        let asked = client.ask(&request, end);
        asked.with_context(|| format!("client {number} of {}", way.name))?;
        clients.push(client);
    }
    let each = |server: &Server| -> Result<f64> {
        let grown = server.resident_bytes()?.saturating_sub(before);
        Ok(bytes_each(grown, way.clients)? / KIB)
    };
    let right_after = each(&server)?;
    thread::park_timeout(REST);
    let at_rest = each(&server)?;
    drop(clients);
    Ok([right_after, at_rest])
}

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

fn over_http(path: &str, key: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{more}\r\n")
}
