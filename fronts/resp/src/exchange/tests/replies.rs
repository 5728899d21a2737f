//! Outcomes and answers, byte by byte.

use turnstile_exchange::{
    AccountView, Answer, Cash, CommandField, Cursor, DepthView, Done, EndReason, Execution,
    OrderId, OrderView, Outcome, QueuedOrder, Refusal, SelfTrade, Side, SymbolView, Ticket,
    TicketState, TimeInForce, Totals, Trade,
};
use turnstile_types::{Position, Timestamp};

use super::{account, client_id, decimal, symbol};
use crate::{
    Protocol,
    catalogue::{self, Catalogue},
    exchange::{put_answer, put_outcome},
    tests::shown,
};

/// An outcome in the older protocol and the newer.
fn outcome(outcome: Outcome, replayed: bool) -> [String; 2] {
    [Protocol::Resp2, Protocol::Resp3].map(|protocol| {
        shown(protocol, |reply| {
            put_outcome(reply, &outcome, Position(42), replayed);
        })
    })
}

fn ticket(state: TicketState) -> Ticket {
    Ticket {
        order: OrderId(7),
        state,
        filled: decimal("2.5"),
        value: Cash(2_375_000_000),
        open: decimal("7.5"),
    }
}

#[test]
fn an_accepted_order_reads_the_same_for_ever() {
    let accepted = |state, again| Done::Accepted {
        ticket: ticket(state),
        again,
    };
    let replaced = |state, kept_place| Done::Replaced {
        ticket: ticket(state),
        kept_place,
    };
    let immediate = TicketState::Ended(EndReason::Immediate);
    let rows = [
        (
            accepted(TicketState::Open, false),
            "*8|:1|:7|$4|open|$3|2.5|$5|23.75|$3|7.5|$-1|:42|",
            "%8|$7|outcome|$4|done|$5|order|:7|$5|state|$4|open|$6|filled|$3|2.5|\
             $5|value|$5|23.75|$4|open|$3|7.5|$6|reason|_|$8|position|:42|",
        ),
        (
            accepted(TicketState::Filled, true),
            "*9|:1|:7|$6|filled|$3|2.5|$5|23.75|$3|7.5|$-1|:1|:42|",
            "%9|$7|outcome|$4|done|$5|order|:7|$5|state|$6|filled|$6|filled|$3|2.5|\
             $5|value|$5|23.75|$4|open|$3|7.5|$6|reason|_|$5|again|#t|$8|position|:42|",
        ),
        (
            accepted(immediate, false),
            "*8|:1|:7|$9|cancelled|$3|2.5|$5|23.75|$3|7.5|$9|immediate|:42|",
            "%8|$7|outcome|$4|done|$5|order|:7|$5|state|$9|cancelled|$6|filled|$3|2.5|\
             $5|value|$5|23.75|$4|open|$3|7.5|$6|reason|$9|immediate|$8|position|:42|",
        ),
        (
            replaced(TicketState::Open, true),
            "*9|:1|:7|$4|open|$3|2.5|$5|23.75|$3|7.5|$-1|:1|:42|",
            "%9|$7|outcome|$4|done|$5|order|:7|$5|state|$4|open|$6|filled|$3|2.5|\
             $5|value|$5|23.75|$4|open|$3|7.5|$6|reason|_|$10|kept_place|#t|$8|position|:42|",
        ),
        (
            replaced(immediate, false),
            "*9|:1|:7|$9|cancelled|$3|2.5|$5|23.75|$3|7.5|$9|immediate|:0|:42|",
            "%9|$7|outcome|$4|done|$5|order|:7|$5|state|$9|cancelled|$6|filled|$3|2.5|\
             $5|value|$5|23.75|$4|open|$3|7.5|$6|reason|$9|immediate|$10|kept_place|#f|\
             $8|position|:42|",
        ),
    ];
    for (done, resp2, resp3) in rows {
        assert_eq!(outcome(Outcome::Done(done), false), [resp2, resp3]);
    }
}

#[test]
fn what_was_done_reads_the_same_for_ever() {
    let rows = [
        (
            Done::Cancelled {
                order: OrderId(7),
                quantity: decimal("2.5"),
            },
            "*4|:1|:7|$3|2.5|:42|",
            "%4|$7|outcome|$4|done|$5|order|:7|$8|quantity|$3|2.5|$8|position|:42|",
        ),
        (
            Done::AllCancelled { orders: 3 },
            "*3|:1|:3|:42|",
            "%3|$7|outcome|$4|done|$6|orders|:3|$8|position|:42|",
        ),
        (
            Done::Granted {
                position: decimal("12"),
            },
            "*3|:1|$2|12|:42|",
            "%3|$7|outcome|$4|done|$6|shares|$2|12|$8|position|:42|",
        ),
        (
            Done::Deposited { cash: Cash(1) },
            "*3|:1|$10|0.00000001|:42|",
            "%3|$7|outcome|$4|done|$4|cash|$10|0.00000001|$8|position|:42|",
        ),
        (
            Done::Withdrawn {
                cash: Cash(u128::from(u64::MAX) + 1),
            },
            "*3|:1|$21|184467440737.09551616|:42|",
            "%3|$7|outcome|$4|done|$4|cash|$21|184467440737.09551616|$8|position|:42|",
        ),
    ];
    for (done, resp2, resp3) in rows {
        assert_eq!(outcome(Outcome::Done(done), false), [resp2, resp3]);
    }
    let bare = [
        Done::AccountCreated,
        Done::SymbolCreated,
        Done::BandSet,
        Done::Halted,
        Done::Resumed,
        Done::LimitsSet,
    ];
    for done in bare {
        assert_eq!(
            outcome(Outcome::Done(done), false),
            ["*2|:1|:42|", "%2|$7|outcome|$4|done|$8|position|:42|"]
        );
    }
}

#[test]
fn a_replayed_answer_says_so() {
    let again = Done::Accepted {
        ticket: ticket(TicketState::Open),
        again: true,
    };
    assert_eq!(
        outcome(Outcome::Done(again), true),
        [
            "*10|:1|:7|$4|open|$3|2.5|$5|23.75|$3|7.5|$-1|:1|:42|$8|replayed|",
            "%10|$7|outcome|$4|done|$5|order|:7|$5|state|$4|open|$6|filled|$3|2.5|\
             $5|value|$5|23.75|$4|open|$3|7.5|$6|reason|_|$5|again|#t|$8|position|:42|\
             $8|replayed|#t|",
        ]
    );
    assert_eq!(
        outcome(Outcome::Refused(Refusal::NotOpen), true),
        [
            "*3|:0|$8|not_open|$8|replayed|",
            "%4|$7|outcome|$7|refused|$6|reason|$8|not_open|$8|position|:42|$8|replayed|#t|",
        ]
    );
}

/// A refusal, its number of fields, and its data in the older protocol and the newer; `NIL` stands
/// for nothing.
type Row = (Refusal, usize, &'static str, &'static str);

fn refusals<const N: usize>(rows: [Row; N]) {
    for (refusal, count, values, fields) in rows {
        let code = refusal.code();
        let code = format!("${}|{code}|", code.len());
        let values = values.replace("NIL", "$-1|");
        let fields = fields.replace("NIL", "_|");
        let head = format!("$7|outcome|$7|refused|$6|reason|{code}");
        assert_eq!(
            outcome(Outcome::Refused(refusal), false),
            [
                format!("*{}|:0|{code}{values}", count + 2),
                format!("%{}|{head}{fields}$8|position|:42|", count + 3),
            ]
        );
        let answer = Answer::Refused(refusal);
        let newer = shown(Protocol::Resp3, |reply| put_answer(reply, &answer));
        assert_eq!(newer, format!("%{}|{head}{fields}", count + 2));
    }
}

#[test]
fn a_refused_number_comes_with_its_field_or_what_it_is_compared_with() {
    let digits = Refusal::TooManyDigits {
        field: CommandField::Price,
        scale: 2,
    };
    let large = Refusal::TooLarge {
        field: CommandField::Quantity,
    };
    let zero = Refusal::Zero {
        field: CommandField::Cash,
    };
    let funds = Refusal::InsufficientFunds {
        needed: Cash(150_000_000),
        free: Cash(0),
    };
    let shares = Refusal::InsufficientShares {
        needed: decimal("5"),
        free: decimal("0.5"),
    };
    refusals([
        (digits, 2, "$5|price|:2|", "$5|field|$5|price|$5|scale|:2|"),
        (large, 1, "$8|quantity|", "$5|field|$8|quantity|"),
        (zero, 1, "$4|cash|", "$5|field|$4|cash|"),
        (funds, 2, "$3|1.5|$1|0|", "$6|needed|$3|1.5|$4|free|$1|0|"),
        (shares, 2, "$1|5|$3|0.5|", "$6|needed|$1|5|$4|free|$3|0.5|"),
    ]);
}

#[test]
fn a_refusal_by_a_bound_comes_with_the_bound() {
    let (price, low, high) = (decimal("9.5"), None, None);
    let floor = Refusal::OutsideBand {
        low: Some(price),
        high,
    };
    let ceiling = Refusal::OutsideBand {
        low,
        high: Some(price),
    };
    let orders = Refusal::TooManyOpenOrders { limit: 9 };
    let quantity = Refusal::QuantityLimit { limit: price };
    let notional = Refusal::NotionalLimit {
        limit: Cash(950_000_000),
    };
    let reused = Refusal::ClientIdReused { order: OrderId(7) };
    refusals([
        (floor, 2, "$3|9.5|NIL", "$3|low|$3|9.5|$4|high|NIL"),
        (ceiling, 2, "NIL$3|9.5|", "$3|low|NIL$4|high|$3|9.5|"),
        (orders, 1, ":9|", "$5|limit|:9|"),
        (Refusal::Full { limit: 8 }, 1, ":8|", "$5|limit|:8|"),
        (quantity, 1, "$3|9.5|", "$5|limit|$3|9.5|"),
        (notional, 1, "$3|9.5|", "$5|limit|$3|9.5|"),
        (reused, 1, ":7|", "$5|order|:7|"),
        (Refusal::EmptyBand, 0, "", ""),
    ]);
}

#[test]
fn a_refusal_without_data_is_its_code() {
    let refusals = [
        Refusal::UnknownAccount,
        Refusal::AccountExists,
        Refusal::UnknownSymbol,
        Refusal::SymbolExists,
        Refusal::ScaleTooLarge,
        Refusal::MarketMustNotWait,
        Refusal::NoMarket,
        Refusal::NotFillable,
        Refusal::WouldMatch,
        Refusal::DateOver,
        Refusal::SymbolHalted,
        Refusal::NotFound,
        Refusal::NotYours,
        Refusal::NotOpen,
    ];
    for refusal in refusals {
        let [found, _] = outcome(Outcome::Refused(refusal), false);
        let code = refusal.code();
        assert_eq!(found, format!("*2|:0|${}|{code}|", code.len()));
    }
}

/// Compares an answer with its fields in both protocols. `M3|` stands for the head of a map of
/// three, `T` and `F` for booleans, `NIL` for nothing.
fn answers(answer: &Answer, expected: &str) {
    let rows = [
        (Protocol::Resp2, "$-1|", ":1|", ":0|"),
        (Protocol::Resp3, "_|", "#t|", "#f|"),
    ];
    for (protocol, nothing, yes, no) in rows {
        let mut line = expected
            .replace("NIL", nothing)
            .replace("YES", yes)
            .replace("NO", no);
        for length in (1..=20_usize).rev() {
            let head = match protocol {
                Protocol::Resp2 => format!("*{}|", length * 2),
                Protocol::Resp3 => format!("%{length}|"),
            };
            line = line.replace(&format!("M{length}|"), &head);
        }
        assert_eq!(shown(protocol, |reply| put_answer(reply, answer)), line);
    }
}

const EPOCH: &str = "$24|1970-01-01T00:00:00.000Z|";

#[test]
fn accounts_are_fields_and_values() {
    let view = AccountView {
        account: account("ada"),
        free: Cash(150_000_000),
        reserved: Cash(0),
        open_orders: 2,
        limit_open_orders: Some(5),
        limit_quantity: None,
        limit_notional: Some(Cash(100_000_000)),
        positions: vec![(symbol("ACME"), decimal("3"), decimal("0.5"))],
        next: Some(Cursor(4)),
    };
    let fields = "$7|account|$3|ada|$4|free|$3|1.5|$8|reserved|$1|0|$11|open_orders|:2|\
                  $17|limit_open_orders|:5|$14|limit_quantity|NIL$14|limit_notional|$1|1|";
    answers(
        &Answer::Account(view.clone()),
        &format!(
            "M9|{fields}$9|positions|*1|M3|$6|symbol|$4|ACME|$4|free|$1|3|$8|reserved|$3|0.5|\
             $4|next|$1|4|"
        ),
    );
    answers(
        &Answer::Accounts {
            accounts: vec![view],
            next: None,
        },
        &format!("M2|$8|accounts|*1|M7|{fields}$4|next|NIL"),
    );
}

#[test]
fn symbols_are_fields_and_values() {
    let view = SymbolView {
        symbol: symbol("ACME"),
        price_scale: 2,
        quantity_scale: 0,
        halted: true,
        low: Some(decimal("1")),
        high: None,
        issued: decimal("100"),
        open_orders: 3,
        seq: 9,
        last_price: None,
    };
    let fields = "M10|$6|symbol|$4|ACME|$11|price_scale|:2|$14|quantity_scale|:0|$6|halted|YES\
                  $3|low|$1|1|$4|high|NIL$6|issued|$3|100|$11|open_orders|:3|$3|seq|:9|\
                  $10|last_price|NIL";
    answers(&Answer::Symbol(view), fields);
    let open = SymbolView {
        halted: false,
        ..view
    };
    answers(
        &Answer::Symbols {
            symbols: vec![view, open],
            next: Some(Cursor(8)),
        },
        &format!(
            "M2|$7|symbols|*2|{fields}{}$4|next|$1|8|",
            fields.replace("YES", "NO")
        ),
    );
}

fn resting() -> OrderView {
    OrderView {
        order: OrderId(7),
        client_id: None,
        account: account("ada"),
        symbol: symbol("ACME"),
        side: Side::Sell,
        quantity: decimal("10"),
        limit: Some(decimal("9.5")),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::ExpireTaker,
        since: Timestamp(0),
        open: decimal("10"),
        cancelled: None,
        executions: Vec::new(),
    }
}

#[test]
fn an_order_is_fields_and_values_with_its_executions() {
    let fields = format!(
        "M14|$5|order|:7|$5|state|$4|open|$7|account|$3|ada|$9|client_id|NIL$6|symbol|$4|ACME|\
         $4|side|$4|sell|$8|quantity|$2|10|$5|limit|$3|9.5|$4|open|$2|10|\
         $13|time_in_force|$3|gtc|$10|self_trade|$12|expire_taker|$5|since|{EPOCH}\
         $9|cancelled|NIL$10|executions|*0|"
    );
    answers(&Answer::Order(resting()), &fields);
    answers(
        &Answer::Orders {
            orders: vec![resting()],
            next: None,
        },
        &format!("M2|$6|orders|*1|{fields}$4|next|NIL"),
    );
    let ended = OrderView {
        client_id: Some(client_id("c-1")),
        side: Side::Buy,
        limit: None,
        time_in_force: TimeInForce::GoodTillDate(Timestamp(0)),
        open: decimal("0"),
        cancelled: Some((decimal("9"), Timestamp(0), EndReason::Expired)),
        executions: vec![Execution {
            quantity: decimal("1"),
            price: decimal("9.5"),
            at: Timestamp(0),
            counterparty: OrderId(6),
        }],
        ..resting()
    };
    answers(
        &Answer::Order(ended),
        &format!(
            "M15|$5|order|:7|$5|state|$9|cancelled|$7|account|$3|ada|$9|client_id|$3|c-1|\
             $6|symbol|$4|ACME|$4|side|$3|buy|$8|quantity|$2|10|$5|limit|NIL$4|open|$1|0|\
             $13|time_in_force|$3|gtd|$5|until|{EPOCH}$10|self_trade|$12|expire_taker|\
             $5|since|{EPOCH}$9|cancelled|M3|$8|quantity|$1|9|$2|at|{EPOCH}$6|reason|$7|expired|\
             $10|executions|*1|M4|$8|quantity|$1|1|$5|price|$3|9.5|$2|at|{EPOCH}\
             $12|counterparty|:6|"
        ),
    );
}

#[test]
fn an_order_that_is_neither_open_nor_cancelled_is_filled() {
    let cancelled = Some((decimal("3"), Timestamp(0), EndReason::SelfTrade));
    let rows = [
        ("10", None, "$4|open|"),
        ("1", cancelled, "$4|open|"),
        ("0", None, "$6|filled|"),
        ("0", cancelled, "$9|cancelled|"),
    ];
    for (open, cancelled, expected) in rows {
        let order = OrderView {
            open: decimal(open),
            cancelled,
            ..resting()
        };
        let found = shown(Protocol::Resp3, |reply| {
            put_answer(reply, &Answer::Order(order))
        });
        let state = found.split("$5|state|").nth(1).unwrap_or_default();
        assert!(state.starts_with(expected), "{found}");
    }
}

#[test]
fn every_time_in_force_has_its_word() {
    let rows = [
        (TimeInForce::ImmediateOrCancel, "$3|ioc|"),
        (TimeInForce::FillOrKill, "$3|fok|"),
        (TimeInForce::PostOnly, "$9|post_only|"),
    ];
    for (time_in_force, expected) in rows {
        let order = OrderView {
            time_in_force,
            ..resting()
        };
        let found = shown(Protocol::Resp3, |reply| {
            put_answer(reply, &Answer::Order(order))
        });
        assert!(
            found.contains(&format!("$13|time_in_force|{expected}$10|self_trade|")),
            "{found}"
        );
    }
}

#[test]
fn a_book_is_fields_and_values() {
    let depth = DepthView {
        symbol: symbol("ACME"),
        seq: 9,
        bids: vec![(decimal("9.5"), decimal("10"), 2)],
        asks: Vec::new(),
    };
    answers(
        &Answer::Depth(depth),
        "M4|$6|symbol|$4|ACME|$3|seq|:9|\
         $4|bids|*1|M3|$5|price|$3|9.5|$8|quantity|$2|10|$6|orders|:2|$4|asks|*0|",
    );
    answers(
        &Answer::Queue {
            symbol: symbol("ACME"),
            seq: 9,
            bids: Vec::new(),
            asks: vec![QueuedOrder {
                order: OrderId(7),
                price: decimal("9.5"),
                quantity: decimal("10"),
            }],
        },
        "M4|$6|symbol|$4|ACME|$3|seq|:9|\
         $4|bids|*0|$4|asks|*1|M3|$5|order|:7|$5|price|$3|9.5|$8|quantity|$2|10|",
    );
}

#[test]
fn trades_and_totals_are_fields_and_values() {
    let trade = Trade {
        trade: 3,
        at: Timestamp(0),
        price: decimal("9.5"),
        quantity: decimal("10"),
        side: Side::Buy,
        maker: OrderId(7),
        taker: OrderId(8),
    };
    answers(
        &Answer::Trades {
            trades: vec![trade],
            next: Some(Cursor(2)),
        },
        &format!(
            "M2|$6|trades|*1|M7|$5|trade|:3|$2|at|{EPOCH}$5|price|$3|9.5|$8|quantity|$2|10|\
             $4|side|$3|buy|$5|maker|:7|$5|taker|:8|$4|next|$1|2|"
        ),
    );
    let totals = Totals {
        accounts: 1,
        symbols: 2,
        open_orders: 3,
        orders: 4,
        trades: 5,
        remembered: 6,
        cash: Cash(700_000_000),
    };
    answers(
        &Answer::Totals(totals),
        "M7|$8|accounts|:1|$7|symbols|:2|$11|open_orders|:3|$12|orders_total|:4|\
         $12|trades_total|:5|$10|remembered|:6|$4|cash|$1|7|",
    );
}

/// A request of 12 KB that repeated one name had 8 MB for an answer.
#[test]
fn the_catalogue_tells_no_more_than_all_of_itself() {
    let catalogue = Catalogue::new();
    let docs = |count: usize| {
        shown(Protocol::Resp3, |reply| {
            catalogue::docs(
                reply,
                &catalogue,
                std::iter::repeat_n(&b"client"[..], count),
            );
        })
    };
    let info = |count: usize| {
        shown(Protocol::Resp3, |reply| {
            catalogue::info(
                reply,
                &catalogue,
                std::iter::repeat_n(&b"client"[..], count),
            );
        })
    };
    let commands = catalogue::COMMANDS.iter();
    let most: usize = commands.map(|one| 1 + one.subcommands.len()).sum();
    let refused = format!("-ERR at most {most} names: there are no more commands|");
    assert_eq!(docs(most), docs(1));
    assert_eq!(docs(most + 1), refused);
    assert!(info(most).starts_with(&format!("*{most}|")));
    assert_eq!(info(most + 1), refused);
}

#[test]
fn the_catalogue_tells_a_command_without_keys_and_how_it_is_written() {
    let catalogue = Catalogue::new();
    let asked = |names: &'static [&str]| names.iter().map(|name| name.as_bytes());
    let found = shown(Protocol::Resp2, |reply| {
        catalogue::info(
            reply,
            &catalogue,
            asked(&[
                "exchange.place-order",
                "EXCHANGE.GET-TOTALS",
                "exchange.resume",
            ]),
        );
    });
    assert_eq!(
        found,
        "*3|*10|$20|exchange.place-order|:-6|*3|+write|+denyoom|+fast|:0|:0|:0|*1|+@write|*0|*0|*0|\
         *10|$19|exchange.get-totals|:1|*2|+readonly|+fast|:0|:0|:0|*1|+@read|*0|*0|*0|\
         *10|$15|exchange.resume|:-2|*3|+write|+denyoom|+fast|:0|:0|:0|*2|+@write|+@manage|*0|*0|*0|"
    );
    let found = shown(Protocol::Resp3, |reply| {
        catalogue::docs(reply, &catalogue, asked(&["exchange.get-queue"]));
    });
    let since = env!("CARGO_PKG_VERSION");
    assert_eq!(
        found,
        format!(
            "%1|$18|exchange.get-queue|%4|$7|summary|$83|Shows the first orders of each side of a book in \
             the order in which they match (L3)|$5|since|${}|{since}|$5|group|$8|exchange|\
             $9|arguments|*2|\
             %3|$4|name|$6|symbol|$12|display_text|$6|symbol|$4|type|$6|string|\
             %5|$4|name|$5|limit|$12|display_text|$5|limit|$4|type|$7|integer|\
             $5|token|$5|LIMIT|$5|flags|*1|+optional|",
            since.len()
        )
    );
}
