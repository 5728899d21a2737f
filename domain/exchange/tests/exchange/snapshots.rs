//! Snapshots: the same state from the same bytes, and nothing from others.

use turnstile_chassis::{Countable, Served};
use turnstile_exchange::{
    Command, Exchange, Order, OrderId, OrderRef, SelfTrade, Side, TimeInForce,
};
use turnstile_trial::{
    check_changed, check_cut_or_continued, check_restored, check_watched, context,
};
use turnstile_types::{Machine, Name, Principal, Timestamp, hash_of};

use crate::scenery::{account, client, decimal, limit_order, symbol};

/// A small state with something of everything.
fn lived_in() -> Exchange {
    sent_by(&[Principal::local()])
}

/// The same of orders that these have sent by turns.
fn sent_by(senders: &[Principal]) -> Exchange {
    let mut exchange = Exchange::empty();
    let commands = beginnings().into_iter().chain(trading());
    for ((position, command), sender) in (1..).zip(commands).zip(senders.iter().cycle()) {
        exchange.apply(&context(position, 1_000 + position, sender), &command);
    }
    exchange.drain_events(&mut |_| {});
    exchange
}

fn beginnings() -> Vec<Command> {
    let grant = |who, name, quantity| Command::Grant {
        account: account(who),
        symbol: symbol(name),
        quantity: decimal(quantity),
    };
    vec![
        Command::CreateAccount {
            account: account("a"),
            cash: decimal("1000"),
        },
        Command::CreateAccount {
            account: account("b"),
            cash: decimal("0.5"),
        },
        Command::CreateSymbol {
            symbol: symbol("Y"),
            price_scale: 2,
            quantity_scale: 0,
        },
        grant("b", "X", "50"),
        grant("b", "Y", "7"),
        Command::SetBand {
            symbol: symbol("Y"),
            low: Some(decimal("1")),
            high: Some(decimal("2.5")),
        },
        Command::Halt {
            symbol: symbol("Y"),
            halted: true,
        },
        Command::SetLimits {
            account: account("a"),
            open_orders: Some(9),
            quantity: Some(decimal("20")),
            notional: Some(decimal("900.5")),
        },
    ]
}

fn trading() -> Vec<Command> {
    let buy = |quantity, limit| limit_order("a", Side::Buy, quantity, limit);
    let sell = |quantity, limit| limit_order("b", Side::Sell, quantity, limit);
    let named = |name, order| Order {
        client_id: Some(client(name)),
        ..order
    };
    let orders = vec![
        buy("10", "10"),
        named("one", buy("5", "10.5")),
        sell("7", "9.5"),
        named("two", sell("9", "12")),
        Order {
            time_in_force: TimeInForce::GoodTillDate(Timestamp(9_000)),
            self_trade: SelfTrade::Skip,
            ..sell("3", "12")
        },
        named(
            "three",
            Order {
                limit: None,
                time_in_force: TimeInForce::ImmediateOrCancel,
                ..buy("20", "1")
            },
        ),
        sell("2", "13"),
        buy("1", "9"),
    ];
    let mut commands: Vec<Command> = orders.into_iter().map(Command::Order).collect();
    commands.push(Command::Cancel {
        account: account("a"),
        order: OrderRef::Id(OrderId(8)),
    });
    commands
}

#[test]
fn a_restored_machine_has_the_same_hash_and_is_sound() {
    let exchange = lived_in();
    let totals = exchange.totals();
    assert_eq!((totals.open_orders, totals.remembered), (2, 6));
    assert_eq!((totals.orders, totals.trades), (8, 4));
    let restored = check_restored(&exchange);
    assert_eq!(restored.totals(), totals);
}

#[test]
fn the_form_of_a_snapshot_does_not_change_in_silence() {
    assert_eq!(
        format!("{:032x}", hash_of(&lived_in())),
        "8eb8b2576b584a85f1237179e018ff59",
        "old snapshots must be read for ever: give a new form a new version"
    );
}

#[test]
fn a_restored_machine_knows_who_has_sent_its_open_orders() {
    let [ada, _, bob, _] = senders();
    let exchange = sent_by(&senders());
    let restored = check_restored(&exchange);
    let all = [ada, bob, Principal::local()];
    let open = all.map(|one| restored.open_of(&one, Countable::Orders));
    assert_eq!(open, [1, 1, 0]);
    assert_eq!(
        format!("{:032x}", hash_of(&exchange)),
        "602d8380beabb969d39bfbf60e2c6495",
        "old snapshots must be read for ever: give a new form a new version"
    );
}

fn senders() -> [Principal; 4] {
    ["ada", "ada", "bob", "bob"].map(|text| Principal(Name::parse(text.as_bytes()).unwrap()))
}

#[test]
fn a_cut_or_continued_snapshot_is_refused() {
    check_cut_or_continued(&lived_in());
    check_cut_or_continued(&sent_by(&senders()));
}

#[test]
fn the_reading_of_a_snapshot_can_be_watched_and_stopped() {
    check_watched(&lived_in());
}

#[test]
fn a_changed_snapshot_is_refused_or_sound() {
    for exchange in [lived_in(), sent_by(&senders())] {
        let (refused, bytes) = check_changed(&exchange);
        assert!(refused > bytes * 3, "{refused} bits of {bytes} bytes");
    }
}
