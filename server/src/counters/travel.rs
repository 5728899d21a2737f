//! How requests to travel are counted.

use turnstile_exchange::Exchange;
use turnstile_travel::{Command, Done, Outcome, Query, Refusal, Step, Travel};
use turnstile_types::Position;

use super::{Counted, Counters, MachineCounters};

impl Counted for Travel {
    const OPERATIONS: &'static [&'static str] = &OPERATIONS;
    const FIRST_OPERATION: usize = Exchange::FIRST_OPERATION + Exchange::OPERATIONS.len();
    const OUTCOMES: &'static [&'static str] = &OUTCOMES;

    fn command_place(command: &Command) -> usize {
        match command {
            Command::Start => 0,
            Command::Within { step, .. } => step_place(step),
            Command::Abort { .. } => 10,
            Command::Book { .. } => 11,
            Command::Confirm { .. } => 12,
            Command::Cancel { .. } => 13,
            Command::Configure(_) => 14,
            Command::Recover | Command::RecoverUnstaged => 15,
            Command::Resolve { .. } => 16,
            Command::Deliver(_) => 17,
            Command::Evict { .. } => 25,
        }
    }

    fn query_place(query: &Query) -> usize {
        match query {
            Query::Transaction { .. } => 18,
            Query::Transactions { .. } => 19,
            Query::Answered { .. } => 20,
            Query::Itinerary { .. } => 21,
            Query::Items { .. } => 22,
            Query::Customer { .. } => 23,
            Query::Totals => 24,
        }
    }

    fn outcome_place(outcome: &Outcome) -> usize {
        match outcome {
            Outcome::Done(_) => 0,
            Outcome::Waiting { .. } => 1,
            Outcome::Refused(refusal) => refusal_place(refusal),
        }
    }

    fn counters(all: &Counters) -> &MachineCounters {
        &all.travel
    }

    fn late_ticket(outcome: &Outcome) -> Option<Position> {
        match outcome {
            Outcome::Waiting { ticket } => Some(*ticket),
            Outcome::Done(_) | Outcome::Refused(_) => None,
        }
    }

    fn commits(outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Done(Done::Committed))
    }
}

/// What can be asked of travel.
const OPERATIONS: [&str; 26] = [
    "start",
    "add",
    "delete",
    "query",
    "add_customer",
    "delete_customer",
    "query_customer",
    "reserve",
    "summary",
    "commit",
    "abort",
    "book",
    "confirm",
    "cancel",
    "configure",
    "recover",
    "resolve",
    "deliver",
    "transaction",
    "transactions",
    "answered",
    "itinerary",
    "items",
    "customer",
    "totals",
    "evict",
];

const fn step_place(step: &Step) -> usize {
    match step {
        Step::Add { .. } => 1,
        Step::Delete { .. } => 2,
        Step::Query { .. } => 3,
        Step::AddCustomer { .. } => 4,
        Step::DeleteCustomer { .. } => 5,
        Step::QueryCustomer { .. } => 6,
        Step::Reserve { .. } => 7,
        Step::Summary => 8,
        Step::Commit => 9,
    }
}

/// The outcomes: done, told to wait, and each refusal by its code. What was told to wait is counted
/// again when it is answered.
const OUTCOMES: [&str; 23] = [
    "done",
    "waiting",
    "no_such_item",
    "sold_out",
    "item_reserved",
    "not_reserved",
    "no_such_customer",
    "customer_exists",
    "full",
    "unknown_transaction",
    "already_committed",
    "aborted",
    "busy",
    "in_doubt",
    "not_in_doubt",
    "no_such_itinerary",
    "itinerary_over",
    "not_held",
    "hold_too_long",
    "summary_too_long",
    "not_here",
    "unsound_settings",
    "may_be_committed",
];

const fn refusal_place(refusal: &Refusal) -> usize {
    match refusal {
        Refusal::NoSuchItem(_) => 2,
        Refusal::SoldOut(_) => 3,
        Refusal::ItemReserved(_) => 4,
        Refusal::NotReserved(_) => 5,
        Refusal::NoSuchCustomer(_) => 6,
        Refusal::CustomerExists(_) => 7,
        Refusal::Full { .. } => 8,
        Refusal::UnknownTransaction => 9,
        Refusal::AlreadyCommitted => 10,
        Refusal::Aborted(_) => 11,
        Refusal::Busy => 12,
        Refusal::InDoubt(_) => 13,
        Refusal::NotInDoubt => 14,
        Refusal::NoSuchItinerary => 15,
        Refusal::ItineraryOver => 16,
        Refusal::NotHeld => 17,
        Refusal::HoldTooLong { .. } => 18,
        Refusal::SummaryTooLong { .. } => 19,
        Refusal::NotHere => 20,
        Refusal::UnsoundSettings => 21,
        Refusal::MayBeCommitted => 22,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use turnstile_types::{Machine, Position};

    use super::*;

    /// Bytes for fields: zeros, or those of an item or a reason, whose first is not zero.
    fn fields() -> impl Iterator<Item = Vec<u8>> {
        let zeros = || (0..16).map(|length| vec![0; length]);
        zeros().chain(zeros().map(|zeros| [vec![1], zeros].concat()))
    }

    /// Reads an outcome of every kind, and looks where it is counted.
    #[test]
    fn an_outcome_is_counted_under_its_code() {
        let ticket = Position(0);
        let mut places = BTreeSet::new();
        let mut count = |outcome: &Outcome| {
            let place = Travel::outcome_place(outcome);
            assert_eq!(OUTCOMES.get(place).copied(), Some(outcome.code()));
            places.insert(place);
        };
        count(&Outcome::Waiting { ticket });
        for kind in 0..=u8::MAX {
            for form in [1, 2] {
                let bytes = |fields| [vec![form, kind], fields].concat();
                let read = |fields| Travel::decode_outcome(&bytes(fields)).ok();
                if let Some(outcome) = fields().find_map(read) {
                    count(&outcome);
                }
            }
        }
        assert_eq!(places, (0..OUTCOMES.len()).collect());
    }
}
