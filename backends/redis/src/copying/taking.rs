//! Writes the items of a copy as keys.

use redis::{Pipeline, cmd, pipe};
use turnstile_contract::{copy::Head, natural_key};
use turnstile_rooms::{Counted, EntryState, Piece, Standing, limits};
use turnstile_types::Name;

use super::{ServerRoute, scan};
use crate::{
    link::CallFailure,
    names::{BASE, UNFINISHED, key},
    order::sealed,
};

/// Names of rooms that one call looks at, while nobody else is served.
const NUMBERS_PER_CALL: u32 = 10_000;

/// What stays when an unfinished copy is thrown away: the mark goes last of all.
const KEPT: [&str; 3] = ["schema", "id_key", UNFINISHED];

/// What was taken so far.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// The property whose rooms come now, and how many loose ones it has.
    property: Option<Name>,
    loose: u64,
    open: Vec<Name>,
    counted: Counted,
    has_begun: bool,
}

/// Commands, and what each must answer.
#[derive(Default)]
struct CommandBatch {
    calls: Pipeline,
    expected: Vec<i64>,
    rooms: i64,
    holds: i64,
}

pub(super) async fn is_empty((link, tally): ServerRoute<'_>) -> Result<bool, CallFailure> {
    let keys = ["properties", "reference", "ended", "totals"].map(key);
    let found: u32 = link.ask(tally, cmd("EXISTS").arg(&keys)).await?;
    Ok(found == 0)
}

/// Removes what an unfinished copy has left.
pub(super) async fn wipe((link, tally): ServerRoute<'_>) -> Result<(), CallFailure> {
    let wiped = scan((link, tally), "", async |mut names: Vec<String>| {
        names.retain(|name| !KEPT.contains(&name.as_str()));
        if names.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = names.iter().map(|name| key(name)).collect();
        link.ask(tally, cmd("UNLINK").arg(&keys)).await
    });
    wiped.await
}

impl Taken {
    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Writes what the state has beside its pieces; `position` is the last one that was given here.
    pub(super) async fn begin(
        &mut self,
        (link, tally): ServerRoute<'_>,
        head: &Head,
        position: u64,
    ) -> Result<(), CallFailure> {
        self.has_begun = true;
        let secret = u128::from_be_bytes(head.id_key.secret());
        let mut calls = pipe();
        calls
            .cmd("SET")
            .arg(key("id_key"))
            .arg(format!("{secret:032x}"));
        let position = position.max(head.position.0);
        calls.cmd("SET").arg(key("position")).arg(position);
        calls.cmd("SET").arg(key("reference")).arg(head.slots);
        link.ask_all(tally, &calls).await
    }

    pub(super) async fn take(
        &mut self,
        (link, tally): ServerRoute<'_>,
        pieces: &[Piece],
    ) -> Result<(), CallFailure> {
        let mut batch = CommandBatch::default();
        for piece in pieces {
            self.put(&mut batch, piece)?;
        }
        if batch.expected.is_empty() {
            return Ok(());
        }
        let (rooms, holds) = (batch.rooms, batch.holds);
        let answered: Vec<i64> = link.ask_all(tally, &batch.calls).await?;
        if answered != batch.expected {
            let reason = "something of the state would be there twice, such as a night of a room";
            return Err(CallFailure::Broken(reason.to_owned()));
        }
        let mut calls = pipe();
        for (what, by) in [("rooms", rooms), ("holds", holds)] {
            calls.cmd("HINCRBY").arg(key("totals")).arg(what).arg(by);
        }
        link.ask_all(tally, &calls).await
    }

    fn put(&mut self, batch: &mut CommandBatch, piece: &Piece) -> Result<(), CallFailure> {
        match piece {
            Piece::Property { name, open } => {
                if *open {
                    self.open.push(*name);
                }
                let kind = if *open { "open" } else { "closed" };
                let call = batch.add("HSET", &key("properties"), 1);
                call.arg(name.as_bytes()).arg(kind);
            }
            Piece::Room {
                property,
                name,
                room_type,
                loose,
                ..
            } => {
                if self.property.replace(*property) != Some(*property) {
                    self.loose = 0;
                }
                batch.put_room(property, (name, room_type), loose.then_some(self.loose));
                self.loose += u64::from(*loose);
            }
            Piece::Standing(standing) => {
                let reference = standing.entry.reference;
                if reference.generation > 1 {
                    batch.put_ended(reference.slot, reference.generation - 1);
                }
                batch.put_standing(standing);
            }
            // The first reference of a slot has ended when it was given and is not there.
            Piece::Over { next: Some(1), .. } => {}
            Piece::Over { slot, next } => {
                let last = next.map_or(u32::MAX, |next| next.saturating_sub(1));
                batch.put_ended(*slot, last);
            }
            Piece::Totals(counted) => self.counted = *counted,
            Piece::Stopped { .. } => {
                return Err(CallFailure::Broken("stop-sells are not offered".to_owned()));
            }
        }
        Ok(())
    }

    /// Writes what is known when all is there.
    pub(super) async fn settle(&self, (link, tally): ServerRoute<'_>) -> Result<(), CallFailure> {
        let counted = self.counted;
        let mut totals = cmd("HSET");
        totals.arg(key("totals"));
        for (what, count) in [
            ("booked_total", counted.booked),
            ("cancelled_total", counted.cancelled),
            ("held_total", counted.held),
            ("expired_total", counted.expired),
        ] {
            totals.arg(what).arg(count);
        }
        link.ask::<()>(tally, &totals).await?;
        for property in &self.open {
            let mut call = cmd("FCALL");
            call.arg("turnstile_rooms_number").arg(1).arg(BASE);
            call.arg(property.as_bytes()).arg(NUMBERS_PER_CALL);
            while !link.ask::<bool>(tally, &call).await? {}
        }
        Ok(())
    }
}

impl CommandBatch {
    /// A command that must answer a number.
    fn add(&mut self, command: &str, key: &str, expected: i64) -> &mut Pipeline {
        self.expected.push(expected);
        self.calls.cmd(command).arg(key)
    }

    fn put_room(&mut self, property: &Name, (name, room_type): (&Name, &Name), loose: Option<u64>) {
        let of_property = |what: &str| key(&format!("{what}/{}", property.as_str()));
        let call = self.add("HSET", &of_property("rooms"), 1);
        call.arg(name.as_bytes()).arg(room_type.as_bytes());
        match loose {
            Some(number) => {
                let call = self.add("ZADD", &of_property("loose"), 1);
                call.arg(number).arg(name.as_bytes());
            }
            None => {
                let call = self.add("ZADD", &of_property("order"), 1);
                call.arg(0).arg(natural_key(name.as_bytes()));
            }
        }
        // How many rooms of the type there are by now is not known here.
        let call = self.calls.cmd("HINCRBY").arg(of_property("types"));
        call.arg(room_type.as_bytes()).arg(1).ignore();
        self.rooms += 1;
    }

    fn put_ended(&mut self, slot: u32, last: u32) {
        let call = self.add("HSET", &key("ended"), 1);
        call.arg(slot).arg(last);
    }

    fn put_standing(&mut self, Standing { entry, made }: &Standing) {
        let number = entry.reference.number();
        let (state, until) = match entry.state {
            EntryState::Booked => ("booked", None),
            EntryState::Held { until } => ("held", Some(until)),
            EntryState::Expired { at } => ("expired", Some(at)),
        };
        let (arrival, departure) = (entry.stay.arrival(), entry.stay.departure());
        let mut fields: Vec<(&str, Vec<u8>)> = vec![
            ("state", state.into()),
            ("property", entry.property.as_bytes().to_vec()),
            ("room_number", entry.room.as_bytes().to_vec()),
            ("arrival", arrival.days().to_string().into()),
            ("departure", departure.days().to_string().into()),
            ("date", arrival.to_string().into()),
            ("principal", entry.principal.0.as_bytes().to_vec()),
            ("since", entry.since.0.to_string().into()),
            ("position", entry.position.0.to_string().into()),
        ];
        if let (Some(guest), Some(id)) = (&entry.guest, &entry.id) {
            let [masked, seal] = sealed(id);
            fields.push(("name", guest.as_bytes().to_vec()));
            fields.extend([("id_number", masked), ("seal", seal)]);
        }
        if let Some(until) = until {
            fields.push(("until", until.0.to_string().into()));
        }
        if let Some(made) = made {
            fields.push(("made", made.0.to_string().into()));
        }
        let count = i64::try_from(fields.len()).expect("a handful of fields");
        let call = self.add("HSET", &key(&format!("booking/{number}")), count);
        for (field, value) in fields {
            call.arg(field).arg(value);
        }
        if state != "expired" {
            let (property, room) = (entry.property.as_str(), entry.room.as_str());
            let nights = key(&format!("nights/{property}/{room}"));
            let call = self.add("HSET", &nights, entry.stay.nights().into());
            for night in entry.stay.iter() {
                call.arg(night.days()).arg(number);
            }
        }
        match entry.state {
            EntryState::Booked => {}
            EntryState::Held { until } => {
                self.holds += 1;
                let holds = key(&format!("holds/{}", entry.principal.0.as_str()));
                self.add("ZADD", &holds, 1).arg(until.0).arg(number);
                let deadlines = self.add("ZADD", &key("deadlines"), 1);
                deadlines.arg(until.0).arg(number);
            }
            EntryState::Expired { at } => {
                let forgotten = at.plus_ms(limits::LATE_CONFIRM_MS);
                let deadlines = self.add("ZADD", &key("deadlines"), 1);
                deadlines.arg(forgotten.0).arg(number);
            }
        }
    }
}
