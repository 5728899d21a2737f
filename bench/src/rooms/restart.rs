//! A million bookings: what one takes in memory and on disk, and how long a restart takes.

use anyhow::{Result, ensure};
use turnstile_client::Connection;

use crate::{
    booking::{is_done, request},
    driver::{self, Load, Work},
    ground::{Ground, tell},
    process::Neighbours,
    section::{Figure, Section, Subject},
    server::{Durability, Kind, Server},
};

const BOOKINGS: u32 = 1_000_000;

/// Bookings under way while the server is filled.
const BATCH: u32 = 500;

/// A record that leaves everything as it was.
const RESUME: Work = Work::Command(&[
    "ROOMS.STOPSELL",
    "bench",
    "fill:0",
    "2027-01-01",
    "2027-01-02",
    "RESUME",
]);

/// A snapshot is made after each four million records.
const UNTIL_SNAPSHOT: Load = Load {
    connections: 50,
    depth: 64,
    requests: 3_200_000,
    seconds: 0,
};

#[derive(Debug, Default)]
struct Measured {
    start: Vec<f64>,
    memory: Vec<f64>,
    disk: Vec<f64>,
}

impl Measured {
    fn add(&mut self, server: &Server, empty_bytes: u64) -> Result<()> {
        let grown = server.resident_bytes()?.saturating_sub(empty_bytes);
        self.start.push(server.start_time().as_secs_f64());
        self.memory.push(each(grown));
        self.disk.push(each(server.disk_bytes()?));
        Ok(())
    }

    fn subject(self, name: &str) -> Subject {
        let figure = |name, values| Figure { name, values };
        Subject {
            name: name.to_owned(),
            figures: vec![
                figure("exec to first answer, s", self.start),
                figure("memory, bytes/booking", self.memory),
                figure("disk, bytes/booking", self.disk),
            ],
        }
    }
}

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let rounds = if ground.quick { 1 } else { 3 };
    let mut filled = Measured::default();
    let (mut by_journal, mut by_snapshot) = (Measured::default(), Measured::default());
    for _ in 0..rounds {
        let server = ground.start(Kind::Turnstile(Durability::Sync))?;
        let empty_bytes = server.resident_bytes()?;
        fill(&mut server.connect()?)?;
        filled.add(&server, empty_bytes)?;
        let server = restarted(ground, server)?;
        by_journal.add(&server, empty_bytes)?;
        driver::drive(RESUME, &server, UNTIL_SNAPSHOT, &ground.turnstile)?;
        server.await_snapshot()?;
        let server = restarted(ground, server)?;
        by_snapshot.add(&server, empty_bytes)?;
    }
    Ok(Section {
        title: "A million bookings",
        setting: format!(
            "{BOOKINGS} bookings, each of a room of its own for one night, {rounds} rounds; \
             the snapshot comes by itself, after {} further records that change nothing",
            UNTIL_SNAPSHOT.requests
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: vec![
            filled.subject("filled; the start is that of an empty server"),
            by_journal.subject("killed and started again, journal only"),
            by_snapshot.subject("killed and started again, snapshot and some journal"),
        ],
        claims: Vec::new(),
    })
}

fn fill(connection: &mut Connection) -> Result<()> {
    for first in (0..BOOKINGS).step_by(usize::try_from(BATCH)?) {
        for number in first..first + BATCH {
            connection.send(&request(format!("fill:{number}").as_bytes()));
        }
        for _ in 0..BATCH {
            let reply = connection.receive()?;
            ensure!(is_done(&reply), "refused: {reply:?}");
        }
    }
    Ok(())
}

fn restarted(ground: &Ground, server: Server) -> Result<Server> {
    let server = server.restart(&ground.turnstile)?;
    let bookings = server.bookings()?;
    ensure!(
        bookings == u64::from(BOOKINGS),
        "{bookings} bookings after the restart"
    );
    tell(&format!(
        "A million bookings: answers after {:.2} s",
        server.start_time().as_secs_f64()
    ))?;
    Ok(server)
}

fn each(bytes: u64) -> f64 {
    let kib = u32::try_from(bytes / 1_024).expect("a bench server has less than 4 TiB");
    f64::from(kib) * 1_024.0 / f64::from(BOOKINGS)
}
