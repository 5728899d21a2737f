//! How requests to rooms are counted.

use turnstile_rooms::{Command, Outcome, Query, Rooms};

use super::{Counted, Counters, MachineCounters, place_of};

impl Counted for Rooms {
    const OPERATIONS: &'static [&'static str] = &OPERATIONS;
    const FIRST_OPERATION: usize = 0;
    const OUTCOMES: &'static [&'static str] = &OUTCOMES;

    fn command_place(command: &Command<'_>) -> usize {
        match command {
            Command::AddProperty { .. } => 0,
            Command::AddRoom { .. } => 1,
            Command::WithdrawRoom { .. } => 2,
            Command::StopSell { .. } => 3,
            Command::Book { .. } => 4,
            Command::Hold { .. } => 5,
            Command::Extend { .. } => 6,
            Command::Confirm { .. } => 7,
            Command::Release { .. } => 8,
            Command::Cancel { .. } => 9,
        }
    }

    fn query_place(query: &Query) -> usize {
        match query {
            Query::LookUp { .. } => 10,
            Query::List { .. } => 11,
            Query::Guest { .. } => 12,
            Query::Holds { .. } => 13,
            Query::Availability { .. } => 14,
            Query::Explain { .. } => 15,
            Query::Properties { .. } => 16,
            Query::Totals => 17,
        }
    }

    fn outcome_place(outcome: &Outcome) -> usize {
        match outcome {
            Outcome::Done(_) => 0,
            Outcome::Refused(refusal) => place_of(refusal.kind()),
        }
    }

    fn counters(all: &Counters) -> &MachineCounters {
        &all.rooms
    }
}

/// What can be asked of rooms.
const OPERATIONS: [&str; 18] = [
    "add_property",
    "add_room",
    "withdraw_room",
    "stop_sell",
    "book",
    "hold",
    "extend",
    "confirm",
    "release",
    "cancel",
    "look_up",
    "list",
    "guest",
    "holds",
    "availability",
    "explain",
    "properties",
    "totals",
];

/// The outcomes: done, and each refusal by its code, in order of their kinds.
const OUTCOMES: [&str; 19] = [
    "done",
    "unknown_property",
    "unknown_room",
    "unknown_type",
    "property_exists",
    "room_exists",
    "room_in_use",
    "too_many_rooms",
    "sold_out",
    "stop_sell",
    "not_found",
    "wrong_guest",
    "ended",
    "hold_expired",
    "already_confirmed",
    "not_confirmed",
    "too_many_holds",
    "hold_too_long",
    "hold_ceiling",
];
