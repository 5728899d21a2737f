//! How requests to rooms are counted.

use turnstile_rooms::{Command, Outcome, Query, Refusal, Rooms};

use super::{Counted, Counters, MachineCounters};

impl Counted for Rooms {
    const OPERATIONS: &'static [&'static str] = &OPERATIONS;
    const OUTCOMES: &'static [&'static str] = &OUTCOMES;

    fn command_place(command: &Command<'_>) -> usize {
        command_place(command)
    }

    fn query_place(query: &Query) -> usize {
        query_place(query)
    }

    fn outcome_place(outcome: &Outcome) -> usize {
        match outcome {
            Outcome::Done(_) => 0,
            Outcome::Refused(refusal) => refusal_place(refusal),
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

const fn command_place(command: &Command<'_>) -> usize {
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

const fn query_place(query: &Query) -> usize {
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

/// The outcomes: done, and each refusal by its code.
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

const fn refusal_place(refusal: &Refusal) -> usize {
    match refusal {
        Refusal::UnknownProperty => 1,
        Refusal::UnknownRoom => 2,
        Refusal::UnknownType => 3,
        Refusal::PropertyExists => 4,
        Refusal::RoomExists => 5,
        Refusal::RoomInUse { .. } => 6,
        Refusal::TooManyRooms { .. } => 7,
        Refusal::SoldOut { .. } => 8,
        Refusal::StopSell { .. } => 9,
        Refusal::NotFound => 10,
        Refusal::WrongGuest => 11,
        Refusal::Ended => 12,
        Refusal::HoldExpired => 13,
        Refusal::AlreadyConfirmed => 14,
        Refusal::NotConfirmed => 15,
        Refusal::TooManyHolds { .. } => 16,
        Refusal::HoldTooLong { .. } => 17,
        Refusal::HoldCeiling { .. } => 18,
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Night;

    use super::*;

    #[test]
    fn a_refusal_is_counted_under_its_code() {
        let night = Night::from_days(1);
        let nights = turnstile_rooms::Nights {
            first: night,
            bits: 1,
        };
        let until_max = turnstile_types::Timestamp(1);
        let refusals = [
            Refusal::UnknownProperty,
            Refusal::UnknownRoom,
            Refusal::UnknownType,
            Refusal::PropertyExists,
            Refusal::RoomExists,
            Refusal::RoomInUse { night },
            Refusal::TooManyRooms { limit: 1 },
            Refusal::SoldOut { nights },
            Refusal::StopSell { nights },
            Refusal::NotFound,
            Refusal::WrongGuest,
            Refusal::Ended,
            Refusal::HoldExpired,
            Refusal::AlreadyConfirmed,
            Refusal::NotConfirmed,
            Refusal::TooManyHolds { limit: 1 },
            Refusal::HoldTooLong { ttl_ms_max: 1 },
            Refusal::HoldCeiling { until_max },
        ];
        for refusal in refusals {
            assert_eq!(OUTCOMES.get(refusal_place(&refusal)), Some(&refusal.code()));
        }
    }
}
