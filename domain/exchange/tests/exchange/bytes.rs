//! The bytes of commands and outcomes: each kind as it is written in journals, and nothing else
//! read.

use proptest::prelude::*;
use turnstile_exchange::{
    Cash, Command, CommandField, Done, EndReason, Exchange, Order, OrderId, OrderRef, Outcome,
    Refusal, SelfTrade, Side, Ticket, TicketState, TimeInForce,
};
use turnstile_trial::{check_canonical, check_command, check_only_whole, check_outcome, unhex};
use turnstile_types::{Machine, Malformed, Timestamp};

use crate::scenery::{account, client, decimal, symbol};

/// Every kind of command, with its bytes.
fn commands() -> Vec<(Command, &'static str)> {
    [first_commands(), orders(), later_commands()].concat()
}

fn first_commands() -> Vec<(Command, &'static str)> {
    let (account, symbol) = (account("a"), symbol("X"));
    let (quantity, amount) = (decimal("2.5"), decimal("7"));
    vec![
        (
            Command::CreateAccount {
                account,
                cash: decimal("145.67"),
            },
            "01 0161 e738000000000000 02",
        ),
        (
            Command::CreateSymbol {
                symbol,
                price_scale: 2,
                quantity_scale: 6,
            },
            "02 0158 02 06",
        ),
        (
            Command::Grant {
                account,
                symbol,
                quantity,
            },
            "03 0161 0158 1900000000000000 01",
        ),
        (
            Command::Deposit { account, amount },
            "04 0161 0700000000000000 00",
        ),
        (
            Command::Withdraw { account, amount },
            "05 0161 0700000000000000 00",
        ),
    ]
}

fn orders() -> Vec<(Command, &'static str)> {
    let order = Order {
        account: account("a"),
        symbol: symbol("X"),
        side: Side::Buy,
        quantity: decimal("2.5"),
        limit: Some(decimal("7")),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::Allow,
        client_id: None,
    };
    let date = TimeInForce::GoodTillDate(Timestamp(0x0102));
    let with = |time_in_force, self_trade| {
        Command::Order(Order {
            time_in_force,
            self_trade,
            ..order
        })
    };
    vec![
        (
            Command::Order(order),
            "06 0161 0158 00 1900000000000000 01 01 0700000000000000 00 00 00 00",
        ),
        (
            with(date, SelfTrade::Skip),
            "06 0161 0158 00 1900000000000000 01 01 0700000000000000 00 01 0201000000000000 01 00",
        ),
        (
            Command::Order(Order {
                side: Side::Sell,
                limit: None,
                time_in_force: TimeInForce::ImmediateOrCancel,
                self_trade: SelfTrade::ExpireMaker,
                client_id: Some(client("id")),
                ..order
            }),
            "06 0161 0158 01 1900000000000000 01 00 02 02 01 026964",
        ),
        (
            with(TimeInForce::FillOrKill, SelfTrade::ExpireTaker),
            "06 0161 0158 00 1900000000000000 01 01 0700000000000000 00 03 03 00",
        ),
        (
            with(TimeInForce::PostOnly, SelfTrade::ExpireBoth),
            "06 0161 0158 00 1900000000000000 01 01 0700000000000000 00 04 04 00",
        ),
    ]
}

fn later_commands() -> Vec<(Command, &'static str)> {
    let (account, symbol) = (account("a"), symbol("X"));
    let id = OrderRef::Id(OrderId(0x0102));
    vec![
        (
            Command::Cancel { account, order: id },
            "07 0161 00 0201000000000000",
        ),
        (
            Command::Replace {
                account,
                order: OrderRef::Client(client("id")),
                quantity: decimal("2.5"),
                limit: Some(decimal("7")),
            },
            "08 0161 01 026964 1900000000000000 01 01 0700000000000000 00",
        ),
        (
            Command::CancelAll {
                account,
                symbol: Some(symbol),
            },
            "09 0161 01 0158",
        ),
        (
            Command::SetBand {
                symbol,
                low: Some(decimal("7")),
                high: None,
            },
            "0a 0158 01 0700000000000000 00 00",
        ),
        (
            Command::Halt {
                symbol,
                halted: true,
            },
            "0b 0158 01",
        ),
        (
            Command::SetLimits {
                account,
                open_orders: Some(9),
                quantity: None,
                notional: Some(decimal("7")),
            },
            "0c 0161 01 09000000 00 01 0700000000000000 00",
        ),
    ]
}

/// Every kind of outcome, with its bytes.
fn outcomes() -> Vec<(Outcome, &'static str)> {
    let done = done().into_iter();
    let refused = refusals().into_iter();
    done.map(|(done, bytes)| (Outcome::Done(done), bytes))
        .chain(refused.map(|(refusal, bytes)| (Outcome::Refused(refusal), bytes)))
        .collect()
}

fn done() -> Vec<(Done, &'static str)> {
    let ticket = |state| Ticket {
        order: OrderId(3),
        state,
        filled: decimal("2.5"),
        value: Cash(0x0102),
        open: decimal("7"),
    };
    let accepted = |state| Done::Accepted {
        ticket: ticket(state),
        again: false,
    };
    let ended = |reason| accepted(TicketState::Ended(reason));
    vec![
        (Done::AccountCreated, "01"),
        (Done::SymbolCreated, "02"),
        (
            Done::Granted {
                position: decimal("2.5"),
            },
            "03 1900000000000000 01",
        ),
        (
            Done::Deposited { cash: Cash(1) },
            "04 01000000000000000000000000000000",
        ),
        (
            Done::Withdrawn {
                cash: Cash(1 << 64),
            },
            "05 00000000000000000100000000000000",
        ),
        (
            accepted(TicketState::Open),
            "06 0300000000000000 00 1900000000000000 01 02010000000000000000000000000000 0700000000000000 00 00",
        ),
        (
            Done::Replaced {
                ticket: ticket(TicketState::Filled),
                kept_place: true,
            },
            "08 0300000000000000 01 1900000000000000 01 02010000000000000000000000000000 0700000000000000 00 01",
        ),
        (
            ended(EndReason::Cancelled),
            "06 0300000000000000 10 1900000000000000 01 02010000000000000000000000000000 0700000000000000 00 00",
        ),
        (
            ended(EndReason::SelfTrade),
            "06 0300000000000000 14 1900000000000000 01 02010000000000000000000000000000 0700000000000000 00 00",
        ),
        (
            Done::Cancelled {
                order: OrderId(3),
                quantity: decimal("7"),
            },
            "07 0300000000000000 0700000000000000 00",
        ),
        (Done::AllCancelled { orders: 9 }, "09 09000000"),
        (Done::BandSet, "0a"),
        (Done::Halted, "0b"),
        (Done::Resumed, "0c"),
        (Done::LimitsSet, "0d"),
    ]
}

fn refusals() -> Vec<(Refusal, &'static str)> {
    let (needed, free) = (Cash(2), Cash(1));
    [
        plain_refusals(),
        vec![
            (
                Refusal::TooManyDigits {
                    field: CommandField::Price,
                    scale: 4,
                },
                "86 00 04",
            ),
            (
                Refusal::TooLarge {
                    field: CommandField::Quantity,
                },
                "87 01",
            ),
            (
                Refusal::Zero {
                    field: CommandField::Cash,
                },
                "88 02",
            ),
            (
                Refusal::InsufficientFunds { needed, free },
                "89 02000000000000000000000000000000 01000000000000000000000000000000",
            ),
            (
                Refusal::InsufficientShares {
                    needed: decimal("2.5"),
                    free: decimal("0"),
                },
                "8a 1900000000000000 01 0000000000000000 00",
            ),
            (
                Refusal::OutsideBand {
                    low: None,
                    high: Some(decimal("7")),
                },
                "90 00 01 0700000000000000 00",
            ),
            (Refusal::TooManyOpenOrders { limit: 9 }, "93 09000000"),
            (
                Refusal::QuantityLimit {
                    limit: decimal("7"),
                },
                "94 0700000000000000 00",
            ),
            (
                Refusal::NotionalLimit { limit: Cash(1) },
                "95 01000000000000000000000000000000",
            ),
            (
                Refusal::ClientIdReused { order: OrderId(3) },
                "96 0300000000000000",
            ),
            (Refusal::Full { limit: 9 }, "9a 09000000"),
        ],
    ]
    .concat()
}

fn plain_refusals() -> Vec<(Refusal, &'static str)> {
    vec![
        (Refusal::UnknownAccount, "81"),
        (Refusal::AccountExists, "82"),
        (Refusal::UnknownSymbol, "83"),
        (Refusal::SymbolExists, "84"),
        (Refusal::ScaleTooLarge, "85"),
        (Refusal::MarketMustNotWait, "8b"),
        (Refusal::NoMarket, "8c"),
        (Refusal::NotFillable, "8d"),
        (Refusal::WouldMatch, "8e"),
        (Refusal::DateOver, "8f"),
        (Refusal::EmptyBand, "91"),
        (Refusal::SymbolHalted, "92"),
        (Refusal::NotFound, "97"),
        (Refusal::NotYours, "98"),
        (Refusal::NotOpen, "99"),
    ]
}

#[test]
fn every_command_has_its_bytes_and_reads_back_from_them() {
    for (command, golden) in commands() {
        check_command::<Exchange>(&command, &unhex(golden));
    }
}

#[test]
fn every_outcome_has_its_bytes_and_reads_back_from_them() {
    for (outcome, golden) in outcomes() {
        check_outcome::<Exchange>(&outcome, &unhex(golden));
    }
}

#[test]
fn bytes_that_are_cut_or_continued_are_refused() {
    for (_, golden) in commands() {
        let read = |bytes: &[u8]| Exchange::decode_command(bytes).map(drop);
        check_only_whole(&unhex(golden), "command", read);
    }
    for (_, golden) in outcomes() {
        check_only_whole(&unhex(golden), "outcome", Exchange::decode_outcome);
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let rows = [
        ("00", "command"),
        ("0d", "command"),
        ("04 00 0700000000000000 00", "account"),
        ("04 0120 0700000000000000 00", "account"),
        ("04 0161 0700000000000000 13", "amount"),
        ("04 0161 0a00000000000000 01", "amount"),
        ("0b 0158 02", "halted"),
        ("0b 0120 00", "symbol"),
        ("07 0161 02", "order"),
        ("07 0161 01 0120", "order"),
        ("06 0161 0158 02", "side"),
        ("06 0161 0158 00 1900000000000000 01 00 05", "time in force"),
        ("06 0161 0158 00 1900000000000000 01 00 00 05", "self trade"),
    ];
    for (text, field) in rows {
        let found = Exchange::decode_command(&unhex(text));
        assert_eq!(found, Err(Malformed { field }), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// What is read from any bytes at all is written back as the same bytes: there is one form.
    #[test]
    fn hostile_bytes_never_panic_and_are_canonical(
        kind in 0_u8..0xa0,
        rest in proptest::collection::vec(any::<u8>(), 0..60),
        row in 0_usize..16,
        at in 0_usize..60,
        byte in any::<u8>(),
    ) {
        let mut random = vec![kind];
        random.extend(rest);
        let mut flipped = unhex(commands()[row].1);
        let at = at % flipped.len();
        flipped[at] = byte;
        for bytes in [random, flipped] {
            check_canonical::<Exchange>(&bytes);
        }
    }
}
