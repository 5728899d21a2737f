//! Load from several connections, and a SIGKILL in the middle of it.
//!
//! Two connections of a pair ask for the same rooms, so that every room is wanted twice. What was
//! acknowledged is kept, and so is what was under way when the server died: whoever asks that
//! again with the same key must get one booking, not two.

use std::{
    sync::mpsc::{self, SyncSender},
    thread,
};

use anyhow::{Context as _, anyhow};
use turnstile_client::Connection;
use turnstile_stats::units::Count;
use turnstile_types::{Night, Stay};

use crate::{
    child::Server,
    exit::Coded,
    resp::{self, Outcome},
    season::AcknowledgedBooking,
};

/// The open property of `dev`, in which every room name exists.
pub(super) const PROPERTY: &str = "bench";

/// Connections, in pairs.
const CONNECTIONS: u32 = 8;

/// Requests that each connection has under way.
const PIPELINE: u32 = 32;

/// Batches of acknowledgements that may wait for the killer to count them.
const COUNTED_MAX: usize = 1_024;

/// The nights are those of one year, one after the other.
const NIGHTS: u32 = 365;

/// What the clients of a server that was killed know.
#[derive(Debug, Default)]
pub(super) struct CrashDemo {
    pub(super) acknowledged: Vec<AcknowledgedBooking>,
    /// Sent, and not answered.
    under_way: Vec<Wish>,
    refused: u64,
}

/// What became of the requests that were under way.
#[derive(Debug, Default)]
pub(super) struct SettledBookings {
    /// Had been booked before the crash, without anybody being told, or were booked only now.
    pub(super) acknowledged: Vec<AcknowledgedBooking>,
    /// How many of them only now.
    booked_now: usize,
    refused: usize,
}

/// One request: the n-th of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) connection: u32,
    pub(super) number: u32,
}

impl CrashDemo {
    /// Puts load on the server, and kills it after so many acknowledged bookings.
    pub(super) fn cause(server: Server, after: u64) -> anyhow::Result<Self> {
        let (count, counted) = mpsc::sync_channel(COUNTED_MAX);
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|connection| {
                let door = resp::connect(server.resp())?;
                let count = count.clone();
                Ok(thread::spawn(move || {
                    LoadConnection::new(door, connection).ask_until_it_dies(&count)
                }))
            })
            .collect::<anyhow::Result<_>>()?;
        drop(count);
        let mut acknowledged = 0;
        while acknowledged < after {
            let batch: u64 = counted
                .recv()
                .context("the clients lost the server before it was killed")?;
            acknowledged += batch;
        }
        server.kill().context("SIGKILL")?;
        drop(counted);
        let mut crash = Self::default();
        for client in clients {
            let client = client
                .join()
                .map_err(|_panic| anyhow!("a client panicked"))??;
            crash.acknowledged.extend(client.acknowledged);
            crash.under_way.extend(client.under_way);
            crash.refused += client.refused;
        }
        Ok(crash)
    }

    pub(super) fn summary(&self) -> String {
        format!(
            "after {} acknowledged bookings ({} refused: every room was wanted twice), {} under way",
            Count(self.acknowledged.len().try_into().unwrap_or(u64::MAX)),
            Count(self.refused),
            self.under_way.len()
        )
    }

    /// Asks everything that was under way again, with the same keys.
    pub(super) fn settle(&self, door: &mut Connection) -> anyhow::Result<SettledBookings> {
        let mut settled = SettledBookings::default();
        for wish in &self.under_way {
            wish.send(door);
        }
        for wish in &self.under_way {
            let answer = resp::answer(&door.receive()?)?;
            match (&answer.outcome, answer.replayed) {
                (Outcome::Done(words), replayed) => {
                    settled.booked_now += usize::from(!replayed);
                    settled.acknowledged.push(wish.booked(words)?);
                }
                (Outcome::Refused(code), _) if code == "sold_out" => settled.refused += 1,
                (Outcome::Refused(code), _) => {
                    let room = wish.room();
                    return Err(Coded::violation(format!("{room} is refused as {code}")).into());
                }
            }
        }
        Ok(settled)
    }
}

impl SettledBookings {
    pub(super) fn summary(&self) -> String {
        format!(
            "what was under way: {} had been booked already, {} are booked now, {} refused",
            self.acknowledged.len() - self.booked_now,
            self.booked_now,
            self.refused
        )
    }
}

impl Wish {
    /// The same for both connections of a pair.
    fn room(self) -> String {
        format!("crash-{}-{}", self.connection / 2, self.number / NIGHTS)
    }

    fn stay(self) -> Stay {
        let first = Night::parse(b"2028-01-01").expect("a date");
        let later = u16::try_from(self.number % NIGHTS).expect("a year has 365 nights");
        let arrival = first.checked_add(later).expect("within the calendar");
        let departure = arrival.checked_add(1).expect("within the calendar");
        Stay::new(arrival, departure).expect("one night is a stay")
    }

    pub(super) fn send(self, door: &mut Connection) {
        let stay = self.stay();
        let (arrival, departure) = (stay.arrival().to_string(), stay.departure().to_string());
        let guest = format!("guest {}", self.connection);
        let id = format!("{:012}", 300_000_000_000 + u64::from(self.connection));
        let key = format!("crash:{}:{}", self.connection, self.number);
        door.send(&[
            b"ROOMS.BOOK",
            PROPERTY.as_bytes(),
            self.room().as_bytes(),
            arrival.as_bytes(),
            departure.as_bytes(),
            guest.as_bytes(),
            id.as_bytes(),
            b"KEY",
            key.as_bytes(),
        ]);
    }

    /// The booking that was made of it.
    pub(super) fn booked(self, words: &[String]) -> anyhow::Result<AcknowledgedBooking> {
        Ok(AcknowledgedBooking {
            room: self.room(),
            ..AcknowledgedBooking::of(words, PROPERTY, self.stay())?
        })
    }
}

/// A connection that asks until the server is gone.
struct LoadConnection {
    door: Connection,
    connection: u32,
    acknowledged: Vec<AcknowledgedBooking>,
    under_way: Vec<Wish>,
    refused: u64,
}

impl LoadConnection {
    const fn new(door: Connection, connection: u32) -> Self {
        Self {
            door,
            connection,
            acknowledged: Vec::new(),
            under_way: Vec::new(),
            refused: 0,
        }
    }

    /// # Errors
    /// The server answered something that is no outcome. That it is gone is what we wait for.
    fn ask_until_it_dies(mut self, count: &SyncSender<u64>) -> anyhow::Result<Self> {
        for first in (0..).step_by(usize::try_from(PIPELINE)?) {
            self.under_way = (first..first + PIPELINE)
                .map(|number| Wish {
                    connection: self.connection,
                    number,
                })
                .collect();
            for wish in &self.under_way {
                wish.send(&mut self.door);
            }
            let before = self.acknowledged.len();
            while !self.under_way.is_empty() {
                let Ok(value) = self.door.receive() else {
                    return Ok(self);
                };
                self.heard(&resp::answer(&value)?.outcome)?;
            }
            let batch = u64::try_from(self.acknowledged.len() - before)?;
            // Nobody counts any more once the server has been killed.
            count.send(batch).ok();
        }
        Ok(self)
    }

    /// Takes the answer to the oldest request under way.
    fn heard(&mut self, outcome: &Outcome) -> anyhow::Result<()> {
        let wish = self.under_way.remove(0);
        match outcome {
            Outcome::Refused(_) => self.refused += 1,
            Outcome::Done(words) => self.acknowledged.push(wish.booked(words)?),
        }
        Ok(())
    }
}
