//! What a line asks for, or the error it gets.

use proptest::prelude::*;
use turnstile_exchange::{
    Command, Cursor, Order, OrderId, OrderRef, Query, SelfTrade, Side, TimeInForce,
};
use turnstile_types::{Key, Timestamp};

use super::{account, client_id, decimal, symbol};
use crate::{
    Call, Invalid,
    catalogue::{COMMANDS, Catalogue},
    exchange::{Request, parse},
    tests::{framed, syntaxes, typed_lines},
};

typed_lines!(Exchange, |call, arguments| parse(call, arguments));

fn commands<const N: usize>(rows: [(&str, Command, Option<&str>); N]) {
    for (line, command, key) in rows {
        let key = key.map(|key| Key::parse(key.as_bytes()).unwrap());
        asked(line, |found| {
            assert_eq!(found, Ok(Request::Command { command, key }), "{line}");
        });
    }
}

fn order() -> Order {
    Order {
        account: account("ada"),
        symbol: symbol("ACME"),
        side: Side::Buy,
        quantity: decimal("10"),
        limit: Some(decimal("9.5")),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::ExpireTaker,
        client_id: None,
    }
}

#[test]
fn a_line_becomes_its_order() {
    let lasting = |time_in_force| {
        Command::Order(Order {
            time_in_force,
            ..order()
        })
    };
    let until = TimeInForce::GoodTillDate(Timestamp(1_798_106_645_678));
    commands([
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.50",
            Command::Order(order()),
            None,
        ),
        (
            "exchange.place-order ada ACME buy 10 9.5 gtc",
            Command::Order(order()),
            None,
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 KEY k-1",
            Command::Order(order()),
            Some("k-1"),
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 IOC",
            lasting(TimeInForce::ImmediateOrCancel),
            None,
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 FOK",
            lasting(TimeInForce::FillOrKill),
            None,
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 Post_Only",
            lasting(TimeInForce::PostOnly),
            None,
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 UNTIL 2026-12-24T10:04:05.678Z",
            lasting(until),
            None,
        ),
    ]);
}

#[test]
fn an_order_at_the_market_does_not_wait_unless_it_says_so() {
    let sale = Order {
        side: Side::Sell,
        quantity: decimal("0.25"),
        limit: None,
        time_in_force: TimeInForce::ImmediateOrCancel,
        ..order()
    };
    let full = Order {
        time_in_force: TimeInForce::FillOrKill,
        self_trade: SelfTrade::Skip,
        client_id: Some(client_id("c-1")),
        ..sale
    };
    commands([
        (
            "EXCHANGE.PLACE-ORDER ada ACME SELL .25 MARKET",
            Command::Order(sale),
            None,
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME sell 0.25 market KEY k client_id c-1 SELF_TRADE SKIP fok",
            Command::Order(full),
            Some("k"),
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME SELL 0.25 MARKET GTC",
            Command::Order(Order {
                time_in_force: TimeInForce::GoodTillCancel,
                ..sale
            }),
            None,
        ),
    ]);
}

#[test]
fn every_mode_of_self_trade_has_its_word() {
    let modes = [
        ("allow", SelfTrade::Allow),
        ("skip", SelfTrade::Skip),
        ("expire_maker", SelfTrade::ExpireMaker),
        ("expire_taker", SelfTrade::ExpireTaker),
        ("expire_both", SelfTrade::ExpireBoth),
    ];
    for (word, self_trade) in modes {
        let line = format!("EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 SELF_TRADE {word}");
        let expected = Order {
            self_trade,
            ..order()
        };
        commands([(&line, Command::Order(expected), None)]);
    }
}

#[test]
fn a_line_about_an_order_becomes_its_command() {
    let ada = account("ada");
    let cancel = |order| Command::Cancel {
        account: ada,
        order,
    };
    let by_id = OrderRef::Id(OrderId(42));
    let by_client = OrderRef::Client(client_id("id:7"));
    let replace = |order, limit| Command::Replace {
        account: ada,
        order,
        quantity: decimal("3"),
        limit,
    };
    let all = |symbol| Command::CancelAll {
        account: ada,
        symbol,
    };
    commands([
        ("EXCHANGE.CANCEL-ORDER ada 42", cancel(by_id), None),
        (
            "EXCHANGE.CANCEL-ORDER ada id:id:7 KEY c",
            cancel(by_client),
            Some("c"),
        ),
        (
            "EXCHANGE.REPLACE-ORDER ada 42 3",
            replace(by_id, None),
            None,
        ),
        (
            "EXCHANGE.REPLACE-ORDER ada id:id:7 3 KEY r LIMIT 9.4",
            replace(by_client, Some(decimal("9.4"))),
            Some("r"),
        ),
        ("EXCHANGE.CANCEL-ORDERS ada", all(None), None),
        (
            "EXCHANGE.CANCEL-ORDERS ada SYMBOL ACME KEY k",
            all(Some(symbol("ACME"))),
            Some("k"),
        ),
    ]);
}

#[test]
fn a_line_about_an_account_becomes_its_command() {
    let ada = account("ada");
    let limits = |open_orders, quantity: Option<&str>, notional: Option<&str>| Command::SetLimits {
        account: ada,
        open_orders,
        quantity: quantity.map(decimal),
        notional: notional.map(decimal),
    };
    commands([
        (
            "EXCHANGE.CREATE-ACCOUNT ada 1000.25",
            Command::CreateAccount {
                account: ada,
                cash: decimal("1000.25"),
            },
            None,
        ),
        (
            "EXCHANGE.GRANT ada ACME 5 KEY g",
            Command::Grant {
                account: ada,
                symbol: symbol("ACME"),
                quantity: decimal("5"),
            },
            Some("g"),
        ),
        (
            "EXCHANGE.DEPOSIT ada 7",
            Command::Deposit {
                account: ada,
                amount: decimal("7"),
            },
            None,
        ),
        (
            "EXCHANGE.WITHDRAW ada 0.00000001 key w",
            Command::Withdraw {
                account: ada,
                amount: decimal("0.00000001"),
            },
            Some("w"),
        ),
        ("EXCHANGE.SET-LIMITS ada", limits(None, None, None), None),
        (
            "EXCHANGE.SET-LIMITS ada NOTIONAL 1 QUANTITY 2 OPEN_ORDERS 3",
            limits(Some(3), Some("2"), Some("1")),
            None,
        ),
        (
            "EXCHANGE.SET-LIMITS ada OPEN_ORDERS 0 KEY l",
            limits(Some(0), None, None),
            Some("l"),
        ),
    ]);
}

#[test]
fn a_line_about_a_symbol_becomes_its_command() {
    let acme = symbol("ACME");
    let listed = |price_scale, quantity_scale| Command::CreateSymbol {
        symbol: acme,
        price_scale,
        quantity_scale,
    };
    let band = |low: Option<&str>, high: Option<&str>| Command::SetBand {
        symbol: acme,
        low: low.map(decimal),
        high: high.map(decimal),
    };
    let halt = |halted| Command::Halt {
        symbol: acme,
        halted,
    };
    commands([
        ("EXCHANGE.CREATE-SYMBOL ACME", listed(4, 4), None),
        (
            "EXCHANGE.CREATE-SYMBOL ACME PRICE_SCALE 2",
            listed(2, 4),
            None,
        ),
        (
            "EXCHANGE.CREATE-SYMBOL ACME QUANTITY_SCALE 0 PRICE_SCALE 8 KEY s",
            listed(8, 0),
            Some("s"),
        ),
        ("EXCHANGE.SET-BAND ACME", band(None, None), None),
        (
            "EXCHANGE.SET-BAND ACME LOW 1.5",
            band(Some("1.5"), None),
            None,
        ),
        (
            "EXCHANGE.SET-BAND ACME HIGH 2 KEY b LOW 1",
            band(Some("1"), Some("2")),
            Some("b"),
        ),
        ("EXCHANGE.HALT ACME", halt(true), None),
        ("EXCHANGE.RESUME ACME KEY h", halt(false), Some("h")),
    ]);
}

fn queries<const N: usize>(rows: [(&str, Query); N]) {
    for (line, expected) in rows {
        asked(line, |found| {
            assert_eq!(found, Ok(Request::Query(expected)), "{line}");
        });
    }
}

#[test]
fn a_line_about_orders_or_accounts_becomes_its_query() {
    let ada = account("ada");
    let order = |account, order| Query::Order { account, order };
    let orders = |symbol, cursor, limit| Query::Orders {
        account: ada,
        symbol,
        cursor,
        limit,
    };
    let balance = |cursor, limit| Query::Account {
        account: ada,
        cursor,
        limit,
    };
    let accounts = |cursor, limit| Query::Accounts { cursor, limit };
    let mine = OrderRef::Client(client_id("c"));
    let seven = OrderRef::Id(OrderId(7));
    queries([
        ("EXCHANGE.GET-ORDER 7", order(None, seven)),
        ("EXCHANGE.GET-ORDER 7 ACCOUNT ada", order(Some(ada), seven)),
        (
            "EXCHANGE.GET-ORDER id:c account ada",
            order(Some(ada), mine),
        ),
        ("EXCHANGE.LIST-ORDERS ada", orders(None, None, 100)),
        (
            "EXCHANGE.LIST-ORDERS ada cursor 8 limit 7 symbol ACME",
            orders(Some(symbol("ACME")), Some(Cursor(8)), 7),
        ),
        ("EXCHANGE.GET-ACCOUNT ada", balance(None, 100)),
        (
            "EXCHANGE.GET-ACCOUNT ada LIMIT 1000 CURSOR 0",
            balance(Some(Cursor(0)), 1_000),
        ),
        ("EXCHANGE.LIST-ACCOUNTS", accounts(None, 100)),
        ("EXCHANGE.LIST-ACCOUNTS LIMIT 1", accounts(None, 1)),
    ]);
}

#[test]
fn a_line_about_a_market_becomes_its_query() {
    let acme = symbol("ACME");
    let symbols = |cursor, limit| Query::Symbols { cursor, limit };
    let trades = |cursor, limit| Query::Trades {
        symbol: acme,
        cursor,
        limit,
    };
    let depth = |levels| Query::Depth {
        symbol: acme,
        levels,
    };
    let queue = |limit| Query::Queue {
        symbol: acme,
        limit,
    };
    queries([
        ("EXCHANGE.LIST-SYMBOLS", symbols(None, 100)),
        (
            "EXCHANGE.LIST-SYMBOLS CURSOR 18446744073709551615",
            symbols(Some(Cursor(u64::MAX)), 100),
        ),
        ("EXCHANGE.GET-SYMBOL ACME", Query::Symbol { symbol: acme }),
        ("EXCHANGE.GET-DEPTH ACME", depth(10)),
        ("EXCHANGE.GET-DEPTH ACME LEVELS 25", depth(25)),
        ("EXCHANGE.GET-QUEUE ACME", queue(100)),
        ("EXCHANGE.GET-QUEUE ACME LIMIT 3", queue(3)),
        ("EXCHANGE.LIST-TRADES ACME", trades(None, 100)),
        (
            "EXCHANGE.LIST-TRADES ACME CURSOR 9 LIMIT 2",
            trades(Some(Cursor(9)), 2),
        ),
        ("EXCHANGE.GET-TOTALS", Query::Totals),
    ]);
}

fn errors(rows: &[(&str, &str)]) {
    for (line, expected) in rows {
        asked(line, |found| {
            assert_eq!(found, Err((*expected).to_owned()), "{line}")
        });
    }
}

#[test]
fn an_error_says_which_argument_of_an_order_is_wrong_and_why() {
    errors(&[
        (
            "EXCHANGE.PLACE-ORDER a/a ACME BUY 10 9.5",
            "EXCHANGE.PLACE-ORDER account: character 2 is not allowed",
        ),
        (
            "EXCHANGE.PLACE-ORDER '' ACME BUY 10 9.5",
            "EXCHANGE.PLACE-ORDER account: it has no character",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME-ACME-ACME-A BUYS 10 9.5",
            "EXCHANGE.PLACE-ORDER side: one of buy, sell",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME-ACME-ACME-AC BUY 10 9.5",
            "EXCHANGE.PLACE-ORDER symbol: it has at most 16 characters, not 17",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY -1 9.5",
            "EXCHANGE.PLACE-ORDER quantity: a number is digits with at most one point, character 1 is not",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 1e3",
            "EXCHANGE.PLACE-ORDER limit: a number is digits with at most one point, character 2 is not; \
             or market",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 18446744073709551616",
            "EXCHANGE.PLACE-ORDER limit: the number has more digits than can be kept; or market",
        ),
    ]);
}

#[test]
fn an_error_says_which_option_of_an_order_is_wrong_and_why() {
    errors(&[
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 GTC GTC",
            "EXCHANGE.PLACE-ORDER time_in_force: given twice",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 IOC UNTIL 2026-12-24T10:04:05Z",
            "EXCHANGE.PLACE-ORDER until: an order has a date or a word for its time in force, not both",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 UNTIL tomorrow",
            "EXCHANGE.PLACE-ORDER until: an instant has the form YYYY-MM-DDThh:mm:ssZ",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 UNTIL 2026-02-30T10:04:05Z",
            "EXCHANGE.PLACE-ORDER until: there is no such day in the calendar",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 UNTIL",
            "EXCHANGE.PLACE-ORDER until: the value is missing",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 SELF_TRADE never",
            "EXCHANGE.PLACE-ORDER self_trade: one of allow, skip, expire_maker, expire_taker, expire_both",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 CLIENT_ID 'a b'",
            "EXCHANGE.PLACE-ORDER client_id: character 2 is not allowed",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 CLIENT_ID a CLIENT_ID b",
            "EXCHANGE.PLACE-ORDER client_id: given twice",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 KEY ''",
            "EXCHANGE.PLACE-ORDER key: an idempotency key has at least one character",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 CLIENT_ID a DAY",
            "EXCHANGE.PLACE-ORDER option: argument 8 is no option of this command",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 ''",
            "EXCHANGE.PLACE-ORDER option: argument 6 is no option of this command",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 SELFTRADE-SELF_TRADE",
            "EXCHANGE.PLACE-ORDER option: argument 6 is no option of this command",
        ),
    ]);
}

#[test]
fn an_error_says_which_argument_is_wrong_and_why() {
    errors(&[
        (
            "EXCHANGE.CANCEL-ORDER ada x7",
            "EXCHANGE.CANCEL-ORDER order: an order's number, or id: and the client's id for it",
        ),
        (
            "EXCHANGE.CANCEL-ORDER ada id:",
            "EXCHANGE.CANCEL-ORDER order: it has no character",
        ),
        (
            "EXCHANGE.CANCEL-ORDER ada 18446744073709551616",
            "EXCHANGE.CANCEL-ORDER order: an order's number, or id: and the client's id for it",
        ),
        (
            "EXCHANGE.CANCEL-ORDER ada 7 SYMBOL ACME",
            "EXCHANGE.CANCEL-ORDER option: argument 3 is no option of this command",
        ),
        (
            "EXCHANGE.REPLACE-ORDER ada 7 3 LIMIT 1 LIMIT 1",
            "EXCHANGE.REPLACE-ORDER limit: given twice",
        ),
        (
            "EXCHANGE.REPLACE-ORDER ada 7 3 LIMIT MARKET",
            "EXCHANGE.REPLACE-ORDER limit: a number is digits with at most one point, character 1 is not",
        ),
        (
            "EXCHANGE.GET-ORDER id:c",
            "EXCHANGE.GET-ORDER account: needed with a client's id, which is unique for its account \
             only",
        ),
        (
            "EXCHANGE.CREATE-SYMBOL ACME PRICE_SCALE 9",
            "EXCHANGE.CREATE-SYMBOL price_scale: a whole number from 0 to 8",
        ),
        (
            "EXCHANGE.SET-LIMITS ada OPEN_ORDERS 4294967296",
            "EXCHANGE.SET-LIMITS open_orders: a whole number from 0 to 4294967295",
        ),
        (
            "EXCHANGE.GET-DEPTH ACME LEVELS 0",
            "EXCHANGE.GET-DEPTH levels: a whole number from 1 to 1000",
        ),
        (
            "EXCHANGE.GET-QUEUE ACME LEVELS 1",
            "EXCHANGE.GET-QUEUE option: argument 2 is no option of this command",
        ),
        (
            "EXCHANGE.LIST-TRADES ACME LIMIT 1001",
            "EXCHANGE.LIST-TRADES limit: a whole number from 1 to 1000",
        ),
        (
            "EXCHANGE.LIST-ACCOUNTS CURSOR -1",
            "EXCHANGE.LIST-ACCOUNTS cursor: a whole number from 0 to 18446744073709551615",
        ),
        (
            "EXCHANGE.GET-SYMBOL ACME 1",
            "Err(Arity(\"exchange.get-symbol\"))",
        ),
        (
            "EXCHANGE.PLACE-ORDER ada ACME BUY 10",
            "Err(Arity(\"exchange.place-order\"))",
        ),
    ]);
}

#[test]
fn arity_counts_the_words_that_must_stand() {
    let rows = [
        ("create-account", -3),
        ("create-symbol", -2),
        ("grant", -4),
        ("deposit", -3),
        ("withdraw", -3),
        ("place-order", -6),
        ("cancel-order", -3),
        ("replace-order", -4),
        ("cancel-orders", -2),
        ("set-band", -2),
        ("halt", -2),
        ("resume", -2),
        ("set-limits", -2),
        ("get-order", -2),
        ("list-orders", -2),
        ("get-account", -2),
        ("list-accounts", -1),
        ("list-symbols", -1),
        ("get-symbol", 2),
        ("get-depth", -2),
        ("get-queue", -2),
        ("list-trades", -2),
        ("get-totals", 1),
    ];
    let catalogue = Catalogue::new();
    for (word, arity) in rows {
        let found = catalogue.find(format!("exchange.{word}").as_bytes());
        assert_eq!(
            found.map(|syntax| (syntax.arity(), syntax.group)),
            Some((arity, "exchange"))
        );
    }
    let every = COMMANDS.iter().filter(|syntax| syntax.group == "exchange");
    assert_eq!(every.count(), rows.len());
}

/// Has a request of these words read.
fn read<T>(
    call: &'static Call,
    words: &[Vec<u8>],
    check: impl FnOnce(Result<Request<'_>, Box<Invalid>>) -> T,
) -> T {
    framed(call.name(), words, |arguments| {
        check(parse(call, arguments))
    })
}

fn label(alphabet: &'static str) -> impl Strategy<Value = String> {
    proptest::string::string_regex(alphabet).unwrap()
}

fn any_order() -> impl Strategy<Value = Order> {
    let number = (any::<u64>(), 0_u8..=18);
    let number = number.prop_map(|(units, scale)| turnstile_exchange::Decimal::new(units, scale));
    let time_in_force = prop_oneof![
        Just(TimeInForce::GoodTillCancel),
        Just(TimeInForce::ImmediateOrCancel),
        Just(TimeInForce::FillOrKill),
        Just(TimeInForce::PostOnly),
        (0_u64..5_000_000_000_000).prop_map(|ms| TimeInForce::GoodTillDate(Timestamp(ms))),
    ];
    let self_trade = proptest::sample::select(vec![
        SelfTrade::Allow,
        SelfTrade::Skip,
        SelfTrade::ExpireMaker,
        SelfTrade::ExpireTaker,
        SelfTrade::ExpireBoth,
    ]);
    (
        (
            label("[A-Za-z0-9._:-]{1,40}"),
            label("[A-Za-z0-9._:-]{1,16}"),
        ),
        any::<bool>(),
        (number.clone(), proptest::option::of(number)),
        (time_in_force, self_trade),
        proptest::option::of(label("[!-~]{1,36}")),
    )
        .prop_map(
            |((owner, traded), buys, (quantity, limit), how, id)| Order {
                account: account(&owner),
                symbol: symbol(&traded),
                side: if buys { Side::Buy } else { Side::Sell },
                quantity,
                limit,
                time_in_force: how.0,
                self_trade: how.1,
                client_id: id.as_deref().map(client_id),
            },
        )
}

/// The words of an order, every option spelt out.
fn spelt(order: &Order) -> Vec<Vec<u8>> {
    let mut words = vec![
        order.account.to_string(),
        order.symbol.to_string(),
        format!("{:?}", order.side),
        order.quantity.to_string(),
        order
            .limit
            .map_or_else(|| "MARKET".to_owned(), |limit| limit.to_string()),
    ];
    if let Some(id) = order.client_id {
        words.extend(["CLIENT_ID".to_owned(), id.to_string()]);
    }
    match order.time_in_force {
        TimeInForce::GoodTillCancel => words.push("GTC".to_owned()),
        TimeInForce::ImmediateOrCancel => words.push("IOC".to_owned()),
        TimeInForce::FillOrKill => words.push("FOK".to_owned()),
        TimeInForce::PostOnly => words.push("POST_ONLY".to_owned()),
        TimeInForce::GoodTillDate(until) => words.extend(["UNTIL".to_owned(), until.to_string()]),
    }
    let mode = match order.self_trade {
        SelfTrade::Allow => "ALLOW",
        SelfTrade::Skip => "SKIP",
        SelfTrade::ExpireMaker => "EXPIRE_MAKER",
        SelfTrade::ExpireTaker => "EXPIRE_TAKER",
        SelfTrade::ExpireBoth => "EXPIRE_BOTH",
    };
    words.extend(["SELF_TRADE".to_owned(), mode.to_owned()]);
    words.into_iter().map(String::into_bytes).collect()
}

fn place_order() -> &'static Call {
    let mut all = syntaxes().map(|(_, call, _)| call);
    let found = all.find(|call| call.name() == "exchange.place-order");
    found.expect("the exchange takes orders")
}

proptest! {
    #[test]
    fn an_order_is_read_as_it_is_spelt(order in any_order()) {
        read(place_order(), &spelt(&order), |found| {
            let command = Command::Order(order);
            prop_assert_eq!(found, Ok(Request::Command { command, key: None }));
            Ok(())
        })?;
    }
}
