//! Finds the room for a wish.

use std::collections::BTreeSet;

use turnstile_contract::natural_key;
use turnstile_rooms::{Nights, Refusal, Wish, limits};
use turnstile_types::{Name, Night, Stay};

use super::OPEN_TYPE;
use crate::{
    known::{Attempt, Known, NotDecided},
    rows::Change,
    tables::{NightRow, PropertyRow, RoomKey},
    wants::StayQuery,
};

/// Room numbers that are looked up at once in search of an unused one.
const NUMBERS_AT_ONCE: u32 = 16;

/// Where a stay will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Room(Name),
    /// A room that begins to exist with this stay; with its number, when it was given one.
    New(Name, Option<u32>),
}

pub(crate) fn target(
    known: &mut Known,
    (name, property): (Name, &PropertyRow),
    wish: &Wish,
    stay: Stay,
) -> Attempt<Target> {
    let room_type = match wish {
        Wish::Room(room) => return named(known, (name, property), *room, stay),
        Wish::Type(room_type) => Some(*room_type),
        Wish::Any => None,
    };
    let is_open_type = |room_type: &Name| &**room_type == OPEN_TYPE;
    let search = StayQuery::new(name, room_type, stay);
    if !(property.open && room_type.as_ref().is_some_and(is_open_type))
        && let Some(room) = first_free(known, &search, stay)?
    {
        return Ok(Target::Room(room));
    }
    if property.open && room_type.as_ref().is_none_or(is_open_type) {
        refuse_full(property)?;
        let number = lowest_number(known, name, property.lowest_number)?;
        return Ok(Target::New(number_name(number), Some(number)));
    }
    Err(refusal(known, &search, stay)?)
}

fn named(
    known: &mut Known,
    (name, property): (Name, &PropertyRow),
    room: Name,
    stay: Stay,
) -> Attempt<Target> {
    let key = (name, room);
    if known.room(&key)?.is_none() {
        refuse_full(property)?;
        return Ok(Target::New(room, None));
    }
    let (stopped, taken) = known.in_the_way(&key, stay)?;
    if stopped | taken == 0 {
        return Ok(Target::Room(room));
    }
    Err(refused(stay.arrival(), stopped, taken))
}

/// Refuses one more room in a property that has as many as it may have.
pub(super) fn refuse_full(property: &PropertyRow) -> Attempt<()> {
    let limit = if property.open {
        limits::ROOMS_PER_OPEN_PROPERTY_MAX
    } else {
        limits::ROOMS_PER_PROPERTY_MAX
    };
    if property.rooms_known >= limit {
        return Err(Refusal::TooManyRooms { limit }.into());
    }
    Ok(())
}

fn refused(first: Night, stopped: u128, in_the_way: u128) -> NotDecided {
    let refusal = if stopped != 0 {
        let bits = stopped;
        Refusal::StopSell {
            nights: Nights { first, bits },
        }
    } else {
        let bits = in_the_way;
        Refusal::SoldOut {
            nights: Nights { first, bits },
        }
    };
    NotDecided::Refused(refusal)
}

/// The first free room of a search by now: of those that the transaction found free and that
/// nothing has taken since, and those that were left since.
fn first_free(known: &mut Known, search: &StayQuery, stay: Stay) -> Attempt<Option<Name>> {
    let now = known.now;
    let stands = |taken: Option<&NightRow>| taken.is_some_and(|taken| taken.stands(now));
    let mut filled = BTreeSet::new();
    let mut left = BTreeSet::new();
    for change in changes_of(known, search) {
        match (stands(change.before), stands(change.after)) {
            (false, true) => filled.insert(change.key.2),
            (true, false) => left.insert(change.key.2),
            _ => continue,
        };
    }
    let found = known.free(search, filled.len() + 1)?;
    let untouched = found.rooms.iter().find(|(room, _)| !filled.contains(room));
    let mut best = untouched.map(|&(room, _)| room);
    for room in rooms_known(known, search, &left)? {
        let (stopped, taken) = known.in_the_way(&(search.property, room), stay)?;
        if stopped | taken == 0 && best.is_none_or(|best| comes_before(&room, &best)) {
            best = Some(room);
        }
    }
    if let Some((room, false)) = untouched
        && best == Some(*room)
    {
        for night in stay.iter() {
            known.taken.know((search.property, night, *room), None);
        }
    }
    Ok(best)
}

fn comes_before(left: &Name, right: &Name) -> bool {
    natural_key(left.as_bytes()) < natural_key(right.as_bytes())
}

/// What this transaction has changed so far in the nights of a search.
fn changes_of<'a>(
    known: &'a Known,
    search: &'a StayQuery,
) -> impl Iterator<Item = Change<'a, NightRow>> {
    known.taken.changes().filter(|change| {
        let (property, night, _) = change.key;
        *property == search.property && (search.arrival..search.departure).contains(night)
    })
}

/// Those of some rooms that a search is about; with all nights of the search in them known.
fn rooms_known(
    known: &mut Known,
    search: &StayQuery,
    rooms: &BTreeSet<Name>,
) -> Attempt<Vec<Name>> {
    let mut of_search = Ok(Vec::new());
    let stay = Stay::new(search.arrival, search.departure).expect("a search is for a stay");
    for &name in rooms {
        let key: RoomKey = (search.property, name);
        let room = known.room(&key);
        let nights = known.in_the_way(&key, stay);
        match (room, nights, &mut of_search) {
            (Ok(Some(room)), Ok(_), Ok(of_search)) => {
                let fits = search
                    .room_type
                    .is_none_or(|wanted| wanted == room.room_type);
                if fits && !room.withdrawn && !room.loose {
                    of_search.push(name);
                }
            }
            (Err(halt), ..) | (_, Err(halt), _) => of_search = Err(halt),
            _ => {}
        }
    }
    of_search
}

/// Why no room of a search is free.
fn refusal(known: &mut Known, search: &StayQuery, stay: Stay) -> Attempt<NotDecided> {
    let touched: BTreeSet<Name> = changes_of(known, search)
        .map(|change| change.key.2)
        .collect();
    let ways = known.ways(search, &touched)?;
    let all = (1 << stay.nights()) - 1;
    let (mut in_all, mut stopped_only) = (ways.in_all & all, ways.stopped & all);
    for room in rooms_known(known, search, &ways.but)? {
        let (stopped, taken) = known.in_the_way(&(search.property, room), stay)?;
        in_all &= stopped | taken;
        if taken == 0 {
            stopped_only |= stopped;
        }
    }
    Ok(refused(stay.arrival(), stopped_only, in_all))
}

fn number_name(number: u32) -> Name {
    Name::parse(number.to_string().as_bytes()).expect("a number is a name")
}

/// The lowest number, from one on, that is no room's name yet.
fn lowest_number(known: &mut Known, property: Name, from: u32) -> Attempt<u32> {
    let mut number = from;
    loop {
        match known.room(&(property, number_name(number))) {
            Ok(None) => return Ok(number),
            Ok(Some(_)) => number += 1,
            Err(halt) => {
                let at_once = NUMBERS_AT_ONCE.max(number - from);
                for number in number..number.saturating_add(at_once) {
                    known.wanted.rooms.insert((property, number_name(number)));
                }
                return Err(halt);
            }
        }
    }
}
