//! Faults of a machine, planted in what it answers and announces: the twin contradicts each.

use turnstile_exchange::{
    Command, Done, Event, EventKind, Exchange, Order, OrderId, OrderRef, Outcome, Side,
};
use turnstile_trial::context;
use turnstile_types::{Machine, Principal};

use crate::{
    scenery::{account, client, decimal, limit_order, symbol},
    twin::Twin,
};

/// One record with all that it caused.
type Told = (Command, Outcome, Vec<Event>);

/// Two sellers at one price, one below them, a buyer that meets the best and the earlier of the others,
/// and a cancellation.
fn honest() -> Vec<Told> {
    let mut commands = Vec::new();
    for who in ["a", "b", "c"].map(account) {
        commands.push(Command::CreateAccount {
            account: who,
            cash: decimal("1000"),
        });
        commands.push(Command::Grant {
            account: who,
            symbol: symbol("X"),
            quantity: decimal("50"),
        });
    }
    let buy = Order {
        client_id: Some(client("one")),
        ..limit_order("c", Side::Buy, "4", "12")
    };
    commands.extend([
        Command::Order(limit_order("a", Side::Sell, "5", "11")),
        Command::Order(limit_order("b", Side::Sell, "5", "11")),
        Command::Order(limit_order("b", Side::Sell, "1", "10")),
        Command::Order(buy),
        Command::Order(buy),
        Command::Cancel {
            account: account("a"),
            order: OrderRef::Id(OrderId(1)),
        },
    ]);
    let mut exchange = Exchange::empty();
    let local = Principal::local();
    let told = (1..).zip(commands).map(|(position, command)| {
        let outcome = exchange.apply(&context(position, 0, &local), &command);
        let mut events = Vec::new();
        exchange.drain_events(&mut |event| events.push(event));
        (command, outcome, events)
    });
    told.collect()
}

/// Says something else than what has happened.
type Lie = fn(&mut Vec<Told>);

/// Whether the twin answers and announces all of it.
fn is_believed(told: &[Told]) -> bool {
    let mut twin = Twin::default();
    let local = Principal::local();
    (1..)
        .zip(told)
        .all(|(position, (command, outcome, events))| {
            let expected = twin.apply(&context(position, 0, &local), command);
            *outcome == expected && *events == std::mem::take(&mut twin.events)
        })
}

/// Changes the first or the second trade of the buyer: with this order, whose account has so much left.
fn retell(
    told: &mut [Told],
    which: usize,
    (order, who, left): (u64, &str, &str),
    worth: [&str; 2],
) {
    if let EventKind::Traded {
        price,
        quantity,
        maker,
        ..
    } = &mut told[9].2[which].kind
    {
        [*price, *quantity] = worth.map(decimal);
        (maker.order, maker.account) = (OrderId(order), account(who));
        maker.open = decimal(left);
    }
}

#[test]
fn the_twin_believes_what_the_machine_says_and_no_lie() {
    let mut as_it_was = honest();
    retell(&mut as_it_was, 0, (3, "b", "0"), ["10", "1"]);
    retell(&mut as_it_was, 1, (1, "a", "2"), ["11", "3"]);
    assert_eq!(as_it_was, honest());
    assert!(is_believed(&honest()));
    let lies: [(&str, Lie); 10] = [
        ("a trade is not told", |told| told[9].2.truncate(1)),
        ("a trade is told twice", |told| {
            let trade = told[9].2[0];
            told[9].2.insert(0, trade);
        }),
        ("another price", |told| {
            retell(told, 0, (3, "b", "0"), ["11", "1"]);
        }),
        ("another quantity", |told| {
            retell(told, 1, (1, "a", "3"), ["11", "2"]);
        }),
        ("a worse price before a better one", |told| {
            retell(told, 0, (1, "a", "4"), ["11", "1"]);
        }),
        ("the later order before the earlier one", |told| {
            retell(told, 1, (2, "b", "2"), ["11", "3"]);
        }),
        ("another cost", |told| {
            if let Outcome::Done(Done::Accepted { ticket, .. }) = &mut told[9].1 {
                ticket.value.0 += 1;
            }
        }),
        ("a client id that opens two orders", |told| {
            if let Outcome::Done(Done::Accepted { again, .. }) = &mut told[10].1 {
                *again = false;
            }
        }),
        ("another's order is cancelled", |told| {
            told[11].0 = Command::Cancel {
                account: account("b"),
                order: OrderRef::Id(OrderId(1)),
            };
        }),
        ("cash that nobody has", |told| {
            told[4].0 = Command::CreateAccount {
                account: account("c"),
                cash: decimal("42"),
            };
        }),
    ];
    for (lie, tell) in lies {
        let mut told = honest();
        tell(&mut told);
        assert!(!is_believed(&told), "{lie}");
    }
}
