//! The same through a server in memory: booked and cancelled over RESP, pipelined.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use turnstile_client::{Connection, resp::Value};
use turnstile_types::Night;

use super::depth::{BATCH, BATCHES, FEW, FIRST_NIGHT, MANY, NIGHTS_BOOKED, NIGHTS_FREE, subject};
use crate::{
    dice::Draws,
    ground::{Ground, tell},
    load::fill::{is_done, reference},
    process::us_each,
    section::MeasuredRow,
    server::{Kind, Server, ServerDurability},
};

pub(super) fn measure(ground: &Ground) -> Result<Vec<MeasuredRow>> {
    let mut few = ServedCrowd::with(ground, FEW)?;
    let mut many = ServedCrowd::with(ground, MANY)?;
    let (mut few_us, mut many_us) = (Vec::new(), Vec::new());
    for _ in 0..ground.rounds() {
        few_us.push(few.sample()?);
        many_us.push(many.sample()?);
    }
    tell(&format!(
        "Bookings and cancellations served: {few_us:.3?} and {many_us:.3?} us"
    ))?;
    Ok(vec![
        subject("served", FEW, few_us),
        subject("served", MANY, many_us),
    ])
}

/// A server with bookings in it, and who books and cancels more.
struct ServedCrowd {
    server: Server,
    connection: Connection,
    rooms: u32,
    dice: Draws,
    nights: Vec<String>,
}

/// A booking that is asked for.
struct Wanted {
    room: u32,
    night: u16,
    id: String,
}

impl ServedCrowd {
    fn with(ground: &Ground, bookings: u32) -> Result<Self> {
        let server = ground.start(Kind::Turnstile(ServerDurability::Memory))?;
        let connection = server.connect()?;
        let mut crowd = Self {
            server,
            connection,
            rooms: bookings / u32::from(NIGHTS_BOOKED),
            dice: Draws::new(u64::from(bookings)),
            nights: nights(),
        };
        let batch = u32::try_from(BATCH)?;
        for night in 0..NIGHTS_BOOKED {
            for first in (0..crowd.rooms).step_by(BATCH) {
                let rooms = first..crowd.rooms.min(first + batch);
                let wanted: Vec<Wanted> = rooms.map(|room| crowd.want(room, night)).collect();
                for reference in crowd.book(&wanted)? {
                    reference.context("refused")?;
                }
            }
        }
        Ok(crowd)
    }

    fn want(&mut self, room: u32, night: u16) -> Wanted {
        let id = self.dice.throw() % 1_000_000_000_000;
        Wanted {
            room,
            night,
            id: format!("{id:012}"),
        }
    }

    /// The CPU time of the server for a booking and its cancellation, in microseconds.
    fn sample(&mut self) -> Result<f64> {
        let before = self.server.cpu()?;
        let mut booked = 0;
        for _ in 0..BATCHES {
            let wanted: Vec<Wanted> = (0..BATCH)
                .map(|_| {
                    let room = self.dice.below(self.rooms);
                    let night = self.dice.below(u32::from(NIGHTS_FREE));
                    let night = u16::try_from(night).expect("it is below a 16-bit bound");
                    self.want(room, NIGHTS_BOOKED + night)
                })
                .collect();
            let references = self.book(&wanted)?;
            booked += self.cancel(&wanted, &references)?;
        }
        let cpu: Duration = self.server.cpu()? - before;
        Ok(us_each(cpu, booked))
    }

    /// The references, where there was a room.
    fn book(&mut self, wanted: &[Wanted]) -> Result<Vec<Option<Vec<u8>>>> {
        for Wanted { room, night, id } in wanted {
            let night = usize::from(*night);
            self.connection.send(&[
                b"ROOMS.BOOK",
                b"bench",
                format!("room:{room}").as_bytes(),
                self.nights[night].as_bytes(),
                self.nights[night + 1].as_bytes(),
                b"ada",
                id.as_bytes(),
            ]);
        }
        let replies = wanted.iter().map(|_| {
            let reply = self.connection.receive()?;
            ensure!(matches!(reply, Value::Array(_)), "an error: {reply:?}");
            Ok(reference(&reply).map(<[u8]>::to_vec))
        });
        replies.collect()
    }

    fn cancel(&mut self, wanted: &[Wanted], references: &[Option<Vec<u8>>]) -> Result<u32> {
        let mut booked = 0;
        for (Wanted { id, .. }, reference) in wanted.iter().zip(references) {
            if let Some(reference) = reference {
                self.connection
                    .send(&[b"ROOMS.CANCEL", reference, id.as_bytes()]);
                booked += 1;
            }
        }
        for _ in 0..booked {
            let reply = self.connection.receive()?;
            ensure!(is_done(&reply), "refused: {reply:?}");
        }
        Ok(booked)
    }
}

/// The dates of all nights that are booked or free, and one more to depart on.
fn nights() -> Vec<String> {
    let nights = FIRST_NIGHT..=FIRST_NIGHT + NIGHTS_BOOKED + NIGHTS_FREE;
    nights
        .map(|days| Night::from_days(days).to_string())
        .collect()
}
