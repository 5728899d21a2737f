//! Replays a season through the RESP door, pipelined and in order.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use turnstile_client::Connection;
use turnstile_types::{Night, Stay};

use super::{GuestPlan, SeasonDeed, Step, rooms, steps};
use crate::{
    resp::{self, Answer, Outcome},
    terminal::Progress,
};

/// How many requests are under way: enough for one sync to carry many, far below what a server
/// lets one connection ask before it is told to wait.
const WINDOW: usize = 256;

/// What came of a season.
#[derive(Debug, Default)]
pub(crate) struct SeasonPlayed {
    pub(crate) rooms: u32,
    pub(crate) booked: u64,
    pub(crate) cancelled: u64,
    /// Bookings refused, by code.
    pub(crate) refused: BTreeMap<String, u64>,
    /// Cancellations refused, by code.
    pub(crate) cancellations_refused: BTreeMap<String, u64>,
    /// Cancellations that fell away, as their booking had been refused.
    pub(crate) fell_away: u64,
    /// Answers, and those of them that had been given to an earlier request with the same key.
    pub(crate) answers: u64,
    pub(crate) replayed: u64,
    /// What was acknowledged as booked, or as booked and then cancelled.
    pub(crate) acknowledged: Vec<AcknowledgedBooking>,
    pub(crate) took: Duration,
}

/// A booking as it was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AcknowledgedBooking {
    pub(crate) reference: String,
    pub(crate) property: String,
    pub(crate) room: String,
    pub(crate) arrival: Night,
    pub(crate) departure: Night,
    /// Where the server decided it, and its cancellation if there was one.
    pub(crate) position: u64,
    pub(crate) cancelled: Option<u64>,
}

impl AcknowledgedBooking {
    /// What the words of the answer say that was given for this stay.
    ///
    /// # Errors
    /// They are not those of a booking.
    pub(crate) fn of(words: &[String], property: &str, stay: Stay) -> anyhow::Result<Self> {
        let [reference, room, .., position] = words else {
            return Err(anyhow!(
                "a booking without reference, room and position: {words:?}"
            ));
        };
        Ok(Self {
            reference: reference.clone(),
            property: property.to_owned(),
            room: room.clone(),
            arrival: stay.arrival(),
            departure: stay.departure(),
            position: position.parse().context("a position")?,
            cancelled: None,
        })
    }

    /// Its property and room.
    pub(crate) fn room(&self) -> (&str, &str) {
        (&self.property, &self.room)
    }
}

/// Makes the rooms and plays the season. Every request carries its key, so that playing the same
/// season again changes nothing.
///
/// # Errors
/// The connection failed, or the server answered something that is no outcome.
pub(crate) fn play(
    door: &mut Connection,
    season: &[GuestPlan],
    fill_percent: u32,
) -> anyhow::Result<SeasonPlayed> {
    let begun = std::time::Instant::now();
    let rooms = make_rooms(door, season, fill_percent)?;
    let steps = steps(season);
    let total = u64::try_from(steps.len()).expect("a season fits 64 bits");
    let mut replay = SeasonReplay {
        door,
        season,
        asked: VecDeque::with_capacity(WINDOW),
        bookings: vec![Fate::Unknown; season.len()],
        played: SeasonPlayed {
            rooms,
            ..SeasonPlayed::default()
        },
        progress: Progress::new("replaying", total),
    };
    for step in steps {
        replay.take(step)?;
    }
    while !replay.asked.is_empty() {
        replay.hear()?;
    }
    replay.progress.finish();
    let mut played = replay.played;
    let booked = replay.bookings.into_iter().filter_map(|fate| match fate {
        Fate::Booked(booking) => Some(booking),
        Fate::Unknown | Fate::Refused => None,
    });
    played.acknowledged = booked.collect();
    played.took = begun.elapsed();
    Ok(played)
}

/// Rooms are named by their type and a number: `A1`, `A2`. Those that are there already stay.
fn make_rooms(
    door: &mut Connection,
    season: &[GuestPlan],
    fill_percent: u32,
) -> anyhow::Result<u32> {
    let mut made = 0;
    for ((property, room_type), count) in rooms(season, fill_percent) {
        let room_type = room_type.to_string();
        door.send(&[b"ROOMS.ADD-PROPERTY", property.as_bytes()]);
        resp::made(&door.receive()?, "property_exists")?;
        let numbers: Vec<u32> = (1..=count).collect();
        for batch in numbers.chunks(WINDOW) {
            for number in batch {
                let room = format!("{room_type}{number}");
                door.send(&[
                    b"ROOMS.ADD-ROOM",
                    property.as_bytes(),
                    room.as_bytes(),
                    room_type.as_bytes(),
                ]);
            }
            for _ in batch {
                resp::made(&door.receive()?, "room_exists")?;
            }
        }
        made += count;
    }
    Ok(made)
}

/// What is known of a booking so far.
#[derive(Clone, Debug)]
enum Fate {
    Unknown,
    Booked(AcknowledgedBooking),
    Refused,
}

/// A season on its way. Requests go out in order and are answered in order; `asked` holds those
/// that are not answered yet.
struct SeasonReplay<'a> {
    door: &'a mut Connection,
    season: &'a [GuestPlan],
    asked: VecDeque<Step>,
    bookings: Vec<Fate>,
    played: SeasonPlayed,
    progress: Progress,
}

impl SeasonReplay<'_> {
    fn take(&mut self, step: Step) -> anyhow::Result<()> {
        match step.deed() {
            SeasonDeed::Book => self.book(step),
            SeasonDeed::Cancel => self.cancel(step)?,
        }
        if self.asked.len() >= WINDOW {
            // Half of the window at a time, so that answers come and requests go in batches.
            while self.asked.len() > WINDOW / 2 {
                self.hear()?;
            }
        }
        Ok(())
    }

    fn book(&mut self, step: Step) {
        let plan = &self.season[step.booking];
        let wish = format!("type:{}", plan.room_type);
        let (arrival, departure) = (
            plan.stay.arrival().to_string(),
            plan.stay.departure().to_string(),
        );
        self.door.send(&[
            b"ROOMS.BOOK",
            plan.property.as_bytes(),
            wish.as_bytes(),
            arrival.as_bytes(),
            departure.as_bytes(),
            plan.guest_name().as_bytes(),
            plan.id_number().as_bytes(),
            b"KEY",
            plan.key.as_bytes(),
        ]);
        self.asked.push_back(step);
    }

    /// Needs the reference, so it first waits until the booking has been answered.
    fn cancel(&mut self, step: Step) -> anyhow::Result<()> {
        while matches!(self.bookings[step.booking], Fate::Unknown) {
            self.hear()?;
        }
        let Fate::Booked(booking) = &self.bookings[step.booking] else {
            self.played.fell_away += 1;
            self.progress.step();
            return Ok(());
        };
        let plan = &self.season[step.booking];
        let key = format!("{}:cancel", plan.key);
        self.door.send(&[
            b"ROOMS.CANCEL",
            booking.reference.as_bytes(),
            plan.id_number().as_bytes(),
            b"KEY",
            key.as_bytes(),
        ]);
        self.asked.push_back(step);
        Ok(())
    }

    /// Takes the answer to the oldest request.
    fn hear(&mut self) -> anyhow::Result<()> {
        let step = self
            .asked
            .pop_front()
            .expect("an answer is waited for only when one is owed");
        let Answer { outcome, replayed } = resp::answer(&self.door.receive()?)?;
        self.played.answers += 1;
        self.played.replayed += u64::from(replayed);
        self.progress.step();
        let fate = &mut self.bookings[step.booking];
        match (step.deed(), outcome) {
            (SeasonDeed::Book, Outcome::Done(words)) => {
                let plan = &self.season[step.booking];
                self.played.booked += 1;
                *fate = Fate::Booked(AcknowledgedBooking::of(&words, plan.property, plan.stay)?);
            }
            (SeasonDeed::Book, Outcome::Refused(code)) => {
                *self.played.refused.entry(code).or_default() += 1;
                *fate = Fate::Refused;
            }
            (SeasonDeed::Cancel, Outcome::Done(words)) => {
                self.played.cancelled += 1;
                if let Fate::Booked(booking) = fate {
                    let position = words.last().context("a cancellation has a position")?;
                    booking.cancelled = Some(position.parse().context("a position")?);
                }
            }
            (SeasonDeed::Cancel, Outcome::Refused(code)) => {
                *self.played.cancellations_refused.entry(code).or_default() += 1;
            }
        }
        Ok(())
    }
}
