//! Expiry of holds.

use turnstile_rooms::limits;
use turnstile_types::{Position, Stay};

use super::nights;
use crate::{
    known::{Attempt, Known},
    tables::{HoldState, RoomKey},
};

/// The holds that are over and still have nights of a stay in a room.
pub(super) fn holders(known: &mut Known, room: &RoomKey, stay: Stay) -> Attempt<Vec<u64>> {
    known.in_the_way(room, stay)?;
    let mut over = Vec::new();
    for night in stay.iter() {
        let taken = known.taken.get(&(room.0, night, room.1)).flatten();
        if let Some(taken) = taken.filter(|taken| !taken.stands(known.now)) {
            over.push(taken.reference);
        }
    }
    over.sort_unstable();
    over.dedup();
    let mut all = Ok(over.clone());
    for reference in over {
        if known.holds.get(&reference).is_none() {
            all = Err(known.want_entry(reference));
        }
    }
    all
}

/// Notes that a hold is over, and takes its nights from it.
pub(super) fn expire(known: &mut Known, reference: u64, position: Position) {
    let hold = known.holds.get(&reference).flatten().cloned();
    let mut hold = hold.expect("a night is held by a hold");
    nights::leave(known, &hold.placed, reference, Some(hold.until));
    hold.state = HoldState::Expired;
    hold.position = position;
    known.holds.set(&reference, hold);
    known.count(|counters| counters.expired_total += 1);
}

/// Notes what is due of the holds that were read, and says how many there were.
pub(crate) fn clean_up(known: &mut Known, position: Position) -> usize {
    let now = known.now;
    let holds = known.holds.iter();
    let due: Vec<(u64, HoldState)> = holds
        .filter(|(_, hold)| hold.until <= now)
        .map(|(&reference, hold)| (reference, hold.state))
        .collect();
    for &(reference, state) in &due {
        if state == HoldState::Held {
            expire(known, reference, position);
        }
        let hold = known.holds.get(&reference).flatten().cloned();
        let mut hold = hold.expect("it was there just now");
        if hold.until.plus_ms(limits::LATE_CONFIRM_MS) <= now {
            hold.state = HoldState::Forgotten;
            known.holds.set(&reference, hold);
        }
    }
    due.len()
}
