//! How requests to the exchange are counted.

use turnstile_exchange::{Command, Exchange, Outcome, Query};
use turnstile_rooms::Rooms;

use super::{Counted, Counters, MachineCounters, place_of};

impl Counted for Exchange {
    const OPERATIONS: &'static [&'static str] = &OPERATIONS;
    const FIRST_OPERATION: usize = Rooms::FIRST_OPERATION + Rooms::OPERATIONS.len();
    const OUTCOMES: &'static [&'static str] = &OUTCOMES;

    fn command_place(command: &Command) -> usize {
        match command {
            Command::CreateAccount { .. } => 0,
            Command::CreateSymbol { .. } => 1,
            Command::Grant { .. } => 2,
            Command::Deposit { .. } => 3,
            Command::Withdraw { .. } => 4,
            Command::Order(_) => 5,
            Command::Cancel { .. } => 6,
            Command::Replace { .. } => 7,
            Command::CancelAll { .. } => 8,
            Command::SetBand { .. } => 9,
            Command::Halt { .. } => 10,
            Command::SetLimits { .. } => 11,
        }
    }

    fn query_place(query: &Query) -> usize {
        match query {
            Query::Account { .. } => 12,
            Query::Accounts { .. } => 13,
            Query::Symbols { .. } => 14,
            Query::Symbol { .. } => 15,
            Query::Order { .. } => 16,
            Query::Orders { .. } => 17,
            Query::Depth { .. } => 18,
            Query::Queue { .. } => 19,
            Query::Trades { .. } => 20,
            Query::Totals => 21,
        }
    }

    fn outcome_place(outcome: &Outcome) -> usize {
        match outcome {
            Outcome::Done(_) => 0,
            Outcome::Refused(refusal) => place_of(refusal.kind()),
        }
    }

    fn counters(all: &Counters) -> &MachineCounters {
        &all.exchange
    }
}

/// What can be asked of the exchange.
const OPERATIONS: [&str; 22] = [
    "create_account",
    "create_symbol",
    "grant",
    "deposit",
    "withdraw",
    "order",
    "cancel",
    "replace",
    "cancel_all",
    "set_band",
    "halt",
    "set_limits",
    "account",
    "accounts",
    "symbols",
    "symbol",
    "status",
    "orders",
    "depth",
    "queue",
    "trades",
    "totals",
];

/// The outcomes: done, and each refusal by its code, in order of their kinds.
const OUTCOMES: [&str; 27] = [
    "done",
    "unknown_account",
    "account_exists",
    "unknown_symbol",
    "symbol_exists",
    "scale_too_large",
    "too_many_digits",
    "too_large",
    "zero",
    "insufficient_funds",
    "insufficient_shares",
    "market_must_not_wait",
    "no_market",
    "not_fillable",
    "would_match",
    "date_over",
    "outside_band",
    "empty_band",
    "symbol_halted",
    "too_many_open_orders",
    "quantity_limit",
    "notional_limit",
    "client_id_reused",
    "not_found",
    "not_yours",
    "not_open",
    "full",
];
