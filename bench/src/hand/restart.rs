//! A million bookings: what one takes in memory and on disk, and how long a restart takes.

use anyhow::{Result, ensure};

use crate::{
    ground::{Ground, tell},
    load::fill,
    process::bytes_each,
    section::{MeasuredRow, Section, SubjectMetric},
    server::{Kind, Server, ServerDurability},
};

const BOOKINGS: u32 = 1_000_000;

const BOOK: &str = "ROOMS.BOOK bench fill:__n__ 2027-01-01 2027-01-02 ada 234123412346";

/// A record that leaves everything as it was.
const RESUME: &str = "ROOMS.RESUME-SELL bench fill:0 2027-01-01 2027-01-02";

/// A snapshot is made after each four million records.
const UNTIL_SNAPSHOT: u32 = 3_200_000;

#[derive(Debug, Default)]
struct RestartSamples {
    start: Vec<f64>,
    memory: Vec<f64>,
    disk: Vec<f64>,
}

impl RestartSamples {
    fn add(&mut self, server: &Server, empty_bytes: u64) -> Result<()> {
        let grown = server.resident_bytes()?.saturating_sub(empty_bytes);
        self.start.push(server.start_time().as_secs_f64());
        self.memory.push(bytes_each(grown, BOOKINGS)?);
        self.disk.push(bytes_each(server.disk_bytes()?, BOOKINGS)?);
        Ok(())
    }

    fn subject(self, name: &str) -> MeasuredRow {
        let figures = vec![
            SubjectMetric::new("exec to first answer, s", self.start),
            SubjectMetric::new("memory, bytes/booking", self.memory),
            SubjectMetric::new("disk, bytes/booking", self.disk),
        ];
        MeasuredRow::new(name, figures)
    }
}

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    Section::between_probes(ground, "A million bookings", || {
        let rounds = if ground.quick { 1 } else { 3 };
        let mut filled = RestartSamples::default();
        let (mut by_journal, mut by_snapshot) =
            (RestartSamples::default(), RestartSamples::default());
        for _ in 0..rounds {
            let server = ground.start(Kind::Turnstile(ServerDurability::Sync))?;
            let empty_bytes = server.resident_bytes()?;
            fill::send(&mut server.connect()?, BOOKINGS.into(), BOOK)?;
            filled.add(&server, empty_bytes)?;
            let server = restarted(ground, server)?;
            by_journal.add(&server, empty_bytes)?;
            fill::send(&mut server.connect()?, UNTIL_SNAPSHOT.into(), RESUME)?;
            server.await_snapshot()?;
            let server = restarted(ground, server)?;
            by_snapshot.add(&server, empty_bytes)?;
        }
        let setting = format!(
            "{BOOKINGS} bookings, each of a room of its own for one night, {rounds} rounds; the snapshot \
             comes by itself, after {UNTIL_SNAPSHOT} further records that change nothing"
        );
        let subjects = vec![
            filled.subject("filled; the start is that of an empty server"),
            by_journal.subject("killed and started again, journal only"),
            by_snapshot.subject("killed and started again, snapshot and some journal"),
        ];
        Ok((setting, subjects))
    })
}

fn restarted(ground: &Ground, server: Server) -> Result<Server> {
    let server = server.restart(&ground.turnstile)?;
    let bookings = server.count("rooms_bookings")?;
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
