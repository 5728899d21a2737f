//! Whether any order explains a history: tries all of them.

use turnstile_check::{
    Seen,
    rooms::{Booked, Cancelled, InlineReference, Operation},
};

use crate::history::{BEGINNING, Bookings, Told, who_has};

/// Whether the operations with positions, in that order, and some of the unknown ones somewhere among
/// them, give all answers; and all readings are true in between.
pub(crate) fn is_possible(operations: &[Told]) -> bool {
    let mut fixed: Vec<&Told> = operations
        .iter()
        .filter(|one| matches!(one.seen, Seen::At(_)))
        .collect();
    fixed.sort_by_key(|one| position(one));
    let twice = fixed
        .windows(2)
        .any(|pair| position(pair[0]) == position(pair[1]));
    let before = fixed.iter().any(|one| position(one) <= BEGINNING);
    let unknown: Vec<&Told> = operations
        .iter()
        .filter(|one| one.seen == Seen::Unknown)
        .collect();
    !twice && !before && try_all(operations, &fixed, &unknown, &mut Vec::new())
}

fn position(told: &Told) -> u64 {
    match told.seen {
        Seen::At(position) => position,
        Seen::Reading | Seen::Unknown => 0,
    }
}

/// Extends an order by every operation that may come next.
fn try_all<'a>(
    all: &[Told],
    fixed: &[&'a Told],
    unknown: &[&'a Told],
    order: &mut Vec<&'a Told>,
) -> bool {
    if fixed.is_empty() && is_explained(all, order) {
        return true;
    }
    if let Some((next, rest)) = fixed.split_first() {
        order.push(next);
        if try_all(all, rest, unknown, order) {
            return true;
        }
        order.pop();
    }
    for place in 0..unknown.len() {
        let mut rest = unknown.to_vec();
        order.push(rest.remove(place));
        if try_all(all, fixed, &rest, order) {
            return true;
        }
        order.pop();
    }
    false
}

/// Whether the order respects real time and gives every answer, and every reading has an instant.
fn is_explained(all: &[Told], order: &[&Told]) -> bool {
    let known = |told: &Told| told.seen != Seen::Unknown;
    for (place, later) in order.iter().enumerate() {
        // Somebody who is before it in the order must not have asked after it was done.
        let inverted = |earlier: &&&Told| known(later) && later.done < earlier.asked;
        if order[..place].iter().any(|earlier| inverted(&earlier)) {
            return false;
        }
    }
    let mut states = vec![Bookings::new()];
    let mut anonymous = 0;
    for told in order {
        let mut bookings = states.last().unwrap().clone();
        if !carry_out(&mut bookings, told, &mut anonymous) {
            return false;
        }
        states.push(bookings);
    }
    all.iter()
        .filter(|told| told.seen == Seen::Reading)
        .all(|reading| is_seen(reading, order, &states))
}

/// Changes the state; whether the answer is what it must be.
fn carry_out(bookings: &mut Bookings, told: &Told, anonymous: &mut u32) -> bool {
    let known = told.seen != Seen::Unknown;
    match told.operation {
        Operation::Book { place, answer, .. } => {
            let taken = (0..).zip(place.each());
            let taken = taken.filter(|(_, night)| who_has(bookings, *night).is_some());
            let bits = taken.fold(0, |bits, (bit, _)| bits | 1_u64 << bit);
            match answer {
                Booked::Done(reference) => bits == 0 && bookings.insert(reference, place).is_none(),
                Booked::SoldOut(nights) => nights == bits && bits != 0,
                Booked::Unknown | Booked::Strange if bits != 0 => !known,
                Booked::Unknown | Booked::Strange => {
                    *anonymous += 1;
                    let text = format!("?{anonymous}");
                    let reference = InlineReference::parse(text.as_bytes()).unwrap();
                    bookings.insert(reference, place);
                    !known
                }
            }
        }
        Operation::Cancel {
            reference, answer, ..
        } => match (answer, bookings.remove(&reference)) {
            (Cancelled::Done(place), Some(booked)) => place == booked,
            (Cancelled::Gone, None) => true,
            (Cancelled::Unknown, _) => !known,
            _ => false,
        },
        _ => false,
    }
}

fn is_seen(reading: &Told, order: &[&Told], states: &[Bookings]) -> bool {
    let Operation::Look { place, found } = reading.operation else {
        return false;
    };
    states.iter().enumerate().any(|(after, bookings)| {
        let too_early = order[after..]
            .iter()
            .any(|told| told.seen != Seen::Unknown && told.done < reading.asked);
        let too_late = order[..after].iter().any(|told| told.asked > reading.done);
        let has = who_has(bookings, place.night);
        let same = match (has, found) {
            (Some((real, place)), Some((seen, looked))) => {
                let nameless = real.bytes()[0] == b'?' && seen.bytes()[0] == b'R';
                place == looked && (real == seen || nameless)
            }
            (has, found) => has.is_none() && found.is_none(),
        };
        !too_early && !too_late && same
    })
}
