//! A thousand new TLS connections a second: what they cost the server, and what other clients notice.

use std::{
    net::SocketAddr,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use hdrhistogram::Histogram;
use rustls::ClientConfig;
use turnstile_client::{Connection, ServerAddress};

use super::newcomer::{Newcomer, trust};
use crate::{
    ground::{Ground, tell},
    pin::{CLIENT_CORE, pin},
    process::us_each,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::{Kind, Server},
};

/// New connections a second, and the threads that make them in turn.
const CONNECTIONS_PER_SECOND: u32 = 1_000;
const CONNECTING: u32 = 8;

/// Bookings a second of the others, each by a connection of its own that stays.
const BOOKINGS_PER_SECOND: u32 = 1_000;
const OTHERS: u32 = 4;

/// How long the others may wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Those who connect give way to the others on the core of both: what the others wait for is the server.
const NICE: i32 = 15;

const FIGURES: [&str; 4] = [
    "new connections/s",
    "resumed, %",
    "server CPU, us/connection",
    "p99 of bookings, us",
];

/// What newcomers do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NewcomerWay {
    None,
    Resp { resumes: bool },
    Http { resumes: bool },
}

const WAYS: [(&str, NewcomerWay); 5] = [
    ("no new connections", NewcomerWay::None),
    (
        "RESP, full handshakes",
        NewcomerWay::Resp { resumes: false },
    ),
    ("RESP, resumed", NewcomerWay::Resp { resumes: true }),
    (
        "HTTP, full handshakes",
        NewcomerWay::Http { resumes: false },
    ),
    ("HTTP, resumed", NewcomerWay::Http { resumes: true }),
];

/// What was measured in one way in one round.
struct HandshakePhase {
    per_second: f64,
    resumed_percent: f64,
    cpu: Duration,
    connections: u32,
    p99_us: f64,
}

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let time = Duration::from_secs(if ground.quick { 2 } else { 10 });
    let mut values = vec![vec![Vec::new(); FIGURES.len()]; WAYS.len()];
    let title = "A thousand new TLS connections a second";
    let mut section = Section::between_probes(ground, title, || {
        for _ in 0..ground.rounds() {
            round(ground, time, &mut values)?;
        }
        let setting = format!(
            "{CONNECTIONS_PER_SECOND} connections a second begin, each with a TLS handshake, one answer and \
             its end, while {OTHERS} others book {BOOKINGS_PER_SECOND} rooms a second over TLS at fixed \
             times, durably: the server has one core; {} s in each of {} rounds. The CPU of a connection \
             is what the server uses more than without new ones",
            time.as_secs(),
            ground.rounds()
        );
        let rows = WAYS.iter().zip(&values).map(|((name, _), values)| {
            let figures = FIGURES.iter().zip(values);
            let figures =
                figures.map(|(figure, values)| SubjectMetric::new(*figure, values.clone()));
            MeasuredRow::new(*name, figures.collect())
        });
        Ok((setting, rows.collect()))
    })?;
    for (number, (name, way)) in WAYS.iter().enumerate().skip(1) {
        let [rate, resumed, _, p99] = FIGURES;
        let rates = Ratio::spread(section.subjects[number].values(rate));
        section.claim_ratio(
            &format!("{name}: new connections a second"),
            rates,
            Bound::AtLeast(0.99 * f64::from(CONNECTIONS_PER_SECOND)),
        );
        let target = format!("{name}: p99 of the others, with new connections / without");
        section.claim(&target, p99, (number, 0), Bound::AtMost(2.0));
        if matches!(
            way,
            NewcomerWay::Resp { resumes: true } | NewcomerWay::Http { resumes: true }
        ) {
            let shares = Ratio::spread(section.subjects[number].values(resumed));
            let target = format!("{name}: resumed sessions, % of those of earlier clients");
            section.claim_ratio(&target, shares, Bound::AtLeast(99.0));
        }
    }
    Ok(section)
}

fn round(ground: &Ground, time: Duration, values: &mut [Vec<Vec<f64>>]) -> Result<()> {
    let server = ground.start(Kind::Encrypted)?;
    let mut alone = Duration::ZERO;
    for ((name, way), values) in WAYS.iter().zip(values) {
        let phase = measured(&server, *way, time)?;
        if *way == NewcomerWay::None {
            alone = phase.cpu;
        }
        let more = phase.cpu.saturating_sub(alone);
        let figures = [
            phase.per_second,
            phase.resumed_percent,
            us_each(more, phase.connections.max(1)),
            phase.p99_us,
        ];
        tell(&format!("{name}: {figures:.1?}"))?;
        for ((values, value), figure) in values.iter_mut().zip(figures).zip(FIGURES) {
            if *way != NewcomerWay::None || figure == "p99 of bookings, us" {
                values.push(value);
            }
        }
    }
    Ok(())
}

fn measured(server: &Server, way: NewcomerWay, time: Duration) -> Result<HandshakePhase> {
    let (address, resumes) = match way {
        NewcomerWay::None => (None, false),
        NewcomerWay::Resp { resumes } => (Some(server.doors().resp), resumes),
        NewcomerWay::Http { resumes } => (Some(server.doors().http), resumes),
    };
    let certificate = server.protection().ca.as_deref();
    let certificate = certificate.context("the server has a certificate")?;
    let others = server.protection().address(server.resp())?;
    let cpu = server.cpu()?;
    let begin = Instant::now();
    let (connected, latency) = thread::scope(|scope| {
        let mut booking = Vec::new();
        for number in 0..OTHERS {
            let others = &others;
            booking.push(scope.spawn(move || book(others, number, (begin, time))));
        }
        let mut connecting = Vec::new();
        for number in 0..if address.is_some() { CONNECTING } else { 0 } {
            let config = trust(certificate, resumes)?;
            connecting
                .push(scope.spawn(move || connect(way, (address, &config), number, (begin, time))));
        }
        let mut connected = (0, 0);
        for thread in connecting {
            let (all, resumed) = thread.join().expect("it does not panic")?;
            connected = (connected.0 + all, connected.1 + resumed);
        }
        let mut latency = Histogram::<u64>::new(3)?;
        for thread in booking {
            latency.add(thread.join().expect("it does not panic")?)?;
        }
        anyhow::Ok((connected, latency))
    })?;
    let elapsed = begin.elapsed();
    let (connections, resumed) = connected;
    let p99 = u32::try_from(latency.value_at_quantile(0.99))?;
    Ok(HandshakePhase {
        per_second: f64::from(connections) / elapsed.as_secs_f64(),
        // The first of each thread has no session to go on with.
        resumed_percent: 100.0 * f64::from(resumed)
            / f64::from(connections.saturating_sub(CONNECTING).max(1)),
        cpu: server.cpu()?.saturating_sub(cpu),
        connections,
        p99_us: f64::from(p99),
    })
}

/// Does something at fixed times, this thread being one of so many that take turns.
fn at_times(
    (begin, time): (Instant, Duration),
    (number, of, per_second): (u32, u32, u32),
    mut act: impl FnMut(Instant) -> Result<()>,
) -> Result<()> {
    let interval = Duration::from_secs(1) / per_second;
    let mut due = begin + interval * number;
    while due < begin + time {
        while let wait = due.saturating_duration_since(Instant::now())
            && !wait.is_zero()
        {
            thread::park_timeout(wait);
        }
        act(due)?;
        due += interval * of;
    }
    Ok(())
}

/// Books at fixed times; how long each took from then, in microseconds.
fn book(
    address: &ServerAddress,
    number: u32,
    times: (Instant, Duration),
) -> Result<Histogram<u64>> {
    pin(CLIENT_CORE)?;
    let mut connection = Connection::connect(address.clone(), PATIENCE)?;
    let mut latency = Histogram::new(3)?;
    let mut room = 0_u32;
    at_times(times, (number, OTHERS, BOOKINGS_PER_SECOND), |due| {
        room += 1;
        let room = format!("room:{number}-{room}");
        let words = [
            "ROOMS.BOOK",
            "bench",
            &room,
            "2027-01-01",
            "2027-01-02",
            "ada",
            "234123412346",
        ];
        // Booked in an earlier phase or now: both are decided and durable.
        connection.command(&words.map(str::as_bytes))?;
        latency.record(u64::try_from(due.elapsed().as_micros())?)?;
        Ok(())
    })?;
    Ok(latency)
}

/// Connects at fixed times; how many did, and how many of them went on with an earlier session.
fn connect(
    way: NewcomerWay,
    (address, config): (Option<SocketAddr>, &Arc<ClientConfig>),
    number: u32,
    times: (Instant, Duration),
) -> Result<(u32, u32)> {
    pin(CLIENT_CORE)?;
    rustix::process::nice(NICE)?;
    let address = address.context("there is a door")?;
    let (request, end) = match way {
        NewcomerWay::Http { .. } => (
            "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "}",
        ),
        _ => ("PING\r\n", "+PONG\r\n"),
    };
    let mut counts = (0, 0);
    let turn = (number, CONNECTING, CONNECTIONS_PER_SECOND);
    at_times(times, turn, |_due| {
        let mut newcomer = Newcomer::connect(address, Some(config))?;
        newcomer.ask(request, end)?;
        counts = (counts.0 + 1, counts.1 + u32::from(newcomer.is_resumed()));
        Ok(())
    })?;
    ensure!(counts.0 > 0, "no connection was made");
    Ok(counts)
}
