//! What requests need of their callers, and which accounts they are about.

use turnstile_chassis::{Needed, Needs as _, Right, Subject, SubjectOf as _};
use turnstile_exchange::{Command, Done, Exchange, OrderId, OrderRef, Outcome, Query, Side};
use turnstile_trial::context;
use turnstile_types::{Machine, Name, Principal};

use crate::scenery::{account, client, decimal, limit_order, symbol};

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

fn check_command(command: &Command, right: Right, subject: Subject) {
    let exchange = Exchange::empty();
    let found = (command.needed(), exchange.subject_of(command));
    assert_eq!(found, (Needed::only(right), subject), "{command:?}");
}

fn check_query(exchange: &Exchange, query: &Query, subject: Subject) {
    let found = (query.needed(), exchange.subject_of_query(query));
    assert_eq!(found, (Needed::only(Right::Read), subject), "{query:?}");
}

#[test]
fn an_account_trades_by_its_user_and_gets_money_from_a_manager() {
    let (ada, one) = (account("ada"), decimal("1"));
    let manage = [
        Command::CreateAccount {
            account: ada,
            cash: one,
        },
        Command::Grant {
            account: ada,
            symbol: symbol("X"),
            quantity: one,
        },
        Command::Deposit {
            account: ada,
            amount: one,
        },
        Command::Withdraw {
            account: ada,
            amount: one,
        },
        Command::SetLimits {
            account: ada,
            open_orders: None,
            quantity: None,
            notional: None,
        },
    ];
    for command in manage {
        check_command(&command, Right::Manage, Subject::of(name("ada")));
    }
    let order = OrderRef::Id(OrderId(1));
    let own = [
        Command::Order(limit_order("ada", Side::Buy, "1", "1")),
        Command::Cancel {
            account: ada,
            order,
        },
        Command::Replace {
            account: ada,
            order,
            quantity: one,
            limit: None,
        },
        Command::CancelAll {
            account: ada,
            symbol: None,
        },
    ];
    for command in own {
        check_command(&command, Right::Use, Subject::of(name("ada")));
    }
}

#[test]
fn a_symbol_is_managed_for_all_accounts() {
    let symbols = [
        Command::CreateSymbol {
            symbol: symbol("X"),
            price_scale: 2,
            quantity_scale: 2,
        },
        Command::SetBand {
            symbol: symbol("X"),
            low: None,
            high: None,
        },
        Command::Halt {
            symbol: symbol("X"),
            halted: true,
        },
        Command::Halt {
            symbol: symbol("X"),
            halted: false,
        },
    ];
    for command in symbols {
        check_command(&command, Right::Manage, Subject::All);
    }
}

#[test]
fn an_order_is_about_the_account_that_sent_it_whichever_is_named() {
    let mut exchange = Exchange::empty();
    let local = Principal::local();
    let mut apply = |command| exchange.apply(&context(1, 0, &local), &command);
    for account in ["ada", "bob"].map(account) {
        let cash = decimal("100");
        apply(Command::CreateAccount { account, cash });
    }
    let accepted = apply(Command::Order(limit_order("ada", Side::Buy, "1", "1")));
    let Outcome::Done(Done::Accepted { ticket, .. }) = accepted else {
        panic!("not accepted: {accepted:?}");
    };
    let order = OrderRef::Id(ticket.order);
    let asked = |account, order| Query::Order { account, order };
    let both = |sender: &str, named: Option<&str>| Subject::Things {
        names: [Some(name(sender)), named.map(name)],
        holder: None,
    };
    check_query(&exchange, &asked(None, order), both("ada", None));
    let by_bob = asked(Some(account("bob")), order);
    check_query(&exchange, &by_bob, both("ada", Some("bob")));
    let own_id = asked(Some(account("bob")), OrderRef::Client(client("1")));
    check_query(&exchange, &own_id, Subject::of(name("bob")));
    let absent = asked(Some(account("bob")), OrderRef::Id(OrderId(99)));
    check_query(&exchange, &absent, Subject::Unknown);
    check_query(&Exchange::empty(), &by_bob, Subject::Unknown);
}

#[test]
fn books_are_public_and_accounts_are_not() {
    let exchange = Exchange::empty();
    let (cursor, limit) = (None, 1);
    let own = [
        Query::Account {
            account: account("ada"),
            cursor,
            limit,
        },
        Query::Orders {
            account: account("ada"),
            symbol: None,
            cursor,
            limit,
        },
    ];
    for query in own {
        check_query(&exchange, &query, Subject::of(name("ada")));
    }
    check_query(&exchange, &Query::Accounts { cursor, limit }, Subject::All);
    let symbol = symbol("X");
    let public = [
        Query::Symbols { cursor, limit },
        Query::Symbol { symbol },
        Query::Depth { symbol, levels: 1 },
        Query::Queue { symbol, limit },
        Query::Trades {
            symbol,
            cursor,
            limit,
        },
        Query::Totals,
    ];
    for query in public {
        check_query(&exchange, &query, Subject::Public);
    }
}
