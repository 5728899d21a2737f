//! An independent model: what the hotel's books must say, and what each request is to be answered.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::answer::Answer;
use super::request::{Guest, Request, Stay, Wish, date};

/// The books after some requests, in the order of their positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<String, Entry>,
    /// Property, room and day of what is sold or held.
    sold: BTreeSet<(&'static str, String, u8)>,
    /// References that are of no more use.
    ended: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    property: &'static str,
    room: String,
    stay: Stay,
    /// A hold has none.
    guest: Option<Guest>,
    /// Of the request that last changed it.
    position: u64,
}

type Fields = BTreeMap<String, String>;

impl Ledger {
    /// Enters a request with the answer that it was given, which must be the right one.
    pub(crate) fn enter(&mut self, request: &Request, answer: &Answer) -> Result<(), String> {
        let expected = match request {
            Request::Book { wish, stay, guest } => self.sell((*wish, *stay), Some(*guest), answer),
            Request::Hold { wish, stay } => self.sell((*wish, *stay), None, answer),
            Request::Confirm { hold, guest } => self.confirm(hold, *guest, answer.position),
            Request::Release { hold } => self.release(hold),
            Request::Cancel { booking, guest } => self.cancel(booking, *guest),
        };
        if expected == answer.fields {
            return Ok(());
        }
        Err(format!(
            "{request:?} at position {} was answered {:?}; by the order of positions it is {expected:?}",
            answer.position, answer.fields
        ))
    }

    /// Which room is free, and under which reference it is sold, only the server knows; that it is
    /// the right room and a new reference can be told.
    fn sell(
        &mut self,
        (wish, stay): (Wish, Stay),
        guest: Option<Guest>,
        answer: &Answer,
    ) -> Fields {
        let property = wish.property();
        let rooms = wish.rooms();
        let is_free = |room: &String, day| !self.sold.contains(&(property, room.clone(), day));
        let free = rooms
            .iter()
            .find(|room| stay.days().all(|day| is_free(room, day)));
        let Some(room) = free.cloned() else {
            let none = |&day: &u8| !rooms.iter().any(|room| is_free(room, day));
            let nights: Vec<String> = stay.days().filter(none).map(date).collect();
            return refused("sold_out", &[("nights", &nights.join(","))]);
        };
        let reference = answer.fields.get("reference").cloned().unwrap_or_default();
        if self.entries.contains_key(&reference) || self.ended.contains(&reference) {
            return done(&[("reference", "one that was never given before")]);
        }
        let mut expected = done(&[("reference", &reference), ("room", &room)]);
        if guest.is_none() {
            let until = answer.fields.get("until").cloned();
            expected.insert("until".to_owned(), until.unwrap_or_default());
        }
        let sold = stay.days().map(|day| (property, room.clone(), day));
        self.sold.extend(sold);
        let position = answer.position;
        let entry = Entry {
            property,
            room,
            stay,
            guest,
            position,
        };
        self.entries.insert(reference, entry);
        expected
    }

    fn confirm(&mut self, hold: &str, guest: Guest, position: u64) -> Fields {
        match self.entries.get_mut(hold) {
            None => refused("ended", &[]),
            Some(entry) if entry.guest.is_some() => refused("already_confirmed", &[]),
            Some(entry) => {
                entry.guest = Some(guest);
                entry.position = position;
                done(&[
                    ("reference", hold),
                    ("room", &entry.room),
                    ("late", "false"),
                ])
            }
        }
    }

    fn release(&mut self, hold: &str) -> Fields {
        match self.entries.get(hold) {
            None => refused("ended", &[]),
            Some(entry) if entry.guest.is_some() => refused("already_confirmed", &[]),
            Some(_) => {
                self.end(hold);
                done(&[])
            }
        }
    }

    fn cancel(&mut self, booking: &str, guest: Guest) -> Fields {
        match self.entries.get(booking) {
            None => refused("ended", &[]),
            Some(entry) if entry.guest.is_none() => refused("not_confirmed", &[]),
            Some(entry) if entry.guest != Some(guest) => refused("wrong_guest", &[]),
            Some(_) => {
                let Entry { room, stay, .. } = self.end(booking);
                let (arrival, departure) = (date(stay.arrival), date(stay.departure()));
                done(&[
                    ("room", &room),
                    ("arrival", &arrival),
                    ("departure", &departure),
                ])
            }
        }
    }

    fn end(&mut self, reference: &str) -> Entry {
        let entry = self.entries.remove(reference).expect("it was just seen");
        self.ended.insert(reference.to_owned());
        for day in entry.stay.days() {
            self.sold.remove(&(entry.property, entry.room.clone(), day));
        }
        entry
    }

    /// Everything that stands, as a listing shows it.
    pub(crate) fn standing(&self) -> BTreeMap<String, String> {
        let line = |entry: &Entry| {
            let guest = entry.guest.map(Guest::name);
            format!(
                "{} {} {} {} {} {} {}",
                if guest.is_some() { "booked" } else { "held" },
                entry.property,
                entry.room,
                date(entry.stay.arrival),
                date(entry.stay.departure()),
                guest.unwrap_or_default(),
                entry.position
            )
        };
        let lines = self.entries.iter();
        lines
            .map(|(reference, entry)| (reference.clone(), line(entry)))
            .collect()
    }
}

fn done(fields: &[(&str, &str)]) -> Fields {
    outcome(&[&[("outcome", "done")], fields].concat())
}

fn refused(reason: &str, fields: &[(&str, &str)]) -> Fields {
    outcome(&[&[("outcome", "refused"), ("reason", reason)], fields].concat())
}

fn outcome(fields: &[(&str, &str)]) -> Fields {
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    fields.iter().map(owned).collect()
}

/// Says which nights a listing sells twice.
pub(crate) fn sold_twice(listing: &[BTreeMap<String, String>]) -> Vec<String> {
    let mut sold: HashMap<(&str, &str, u8), &str> = HashMap::new();
    let mut twice = Vec::new();
    for entry in listing {
        let day = |field: &str| {
            entry[field]
                .rsplit('-')
                .next()
                .and_then(|day| day.parse().ok())
        };
        let (Some(arrival), Some(departure)) = (day("arrival"), day("departure")) else {
            twice.push(format!("{entry:?} has no dates"));
            continue;
        };
        for night in arrival..departure {
            let place = (entry["property"].as_str(), entry["room"].as_str(), night);
            if let Some(other) = sold.insert(place, &entry["reference"]) {
                twice.push(format!(
                    "{place:?} is sold to {other} and {}",
                    entry["reference"]
                ));
            }
        }
    }
    twice
}
