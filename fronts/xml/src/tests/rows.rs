//! Well-formed requests: each decision about an item.

use turnstile_exchange::{Command, Order, OrderRef};

use super::*;
use crate::{Root, limits::ITEMS_MAX};

const CREATE: &str = "create";

/// Items of one root with their answers, side by side.
fn check(root: &str, rows: &[(&str, &str)]) {
    let name = root.split(' ').next().unwrap();
    for (item, expected) in rows {
        let found = answered(Options::default(), &format!("<{root}>{item}</{name}>"));
        assert_eq!(found, format!("<results>{expected}</results>"), "{item}");
    }
    let items: String = rows.iter().map(|(item, _)| *item).collect();
    let all = answered(Options::default(), &format!("<{root}>{items}</{name}>"));
    let count = |text: &str, word: &str| text.matches(word).count();
    for word in ["<created", "<opened", "<status", "<canceled id", "<error"] {
        let one_by_one: usize = rows.iter().map(|(_, answer)| count(answer, word)).sum();
        assert_eq!(count(&all, word), one_by_one, "{word} in {all}");
    }
}

#[test]
fn accounts_are_created_or_refused_with_their_id() {
    check(
        CREATE,
        &[
            (
                r#"<account id="1" balance="1000"/>"#,
                r#"<created id="1"/>"#,
            ),
            (
                r#"<account id="007" balance="0"/>"#,
                r#"<created id="007"/>"#,
            ),
            (
                r#"<account balance="-0.00" id="1"></account>"#,
                r#"<created id="1"/>"#,
            ),
            (
                r#"<account id="1" balance="+.5"> ignored </account>"#,
                r#"<created id="1"/>"#,
            ),
            (
                r#"<account id="1" balance="-1"/>"#,
                r#"<error id="1">balance must not be negative</error>"#,
            ),
            (
                r#"<account id="1" balance="1e3"/>"#,
                r#"<error id="1">balance: a number is digits with at most one point, character 2 is not</error>"#,
            ),
            (
                r#"<account id="1" balance="-x"/>"#,
                r#"<error id="1">balance: a number is digits with at most one point, character 2 is not</error>"#,
            ),
            (
                r#"<account id="1" balance=""/>"#,
                r#"<error id="1">balance: a number has at least one digit</error>"#,
            ),
            (
                r#"<account id="1" balance="99999999999999999999"/>"#,
                r#"<error id="1">balance: the number has more digits than can be kept</error>"#,
            ),
            (
                r#"<account id="1"/>"#,
                r#"<error id="1">the attribute balance is missing</error>"#,
            ),
            (
                r#"<account balance="1"/>"#,
                r#"<error>the attribute id is missing</error>"#,
            ),
        ],
    );
}

#[test]
fn accounts_have_ids_of_digits() {
    check(
        CREATE,
        &[
            (
                r#"<account id="bob" balance="1"/>"#,
                r#"<error id="bob">an account id is digits only</error>"#,
            ),
            (
                r#"<account id="" balance="1"/>"#,
                r#"<error id="">id: it has no character</error>"#,
            ),
            (
                r#"<account id="-1" balance="1"/>"#,
                r#"<error id="-1">an account id is digits only</error>"#,
            ),
            (
                r#"<account id="1 " balance="1"/>"#,
                r#"<error id="1 ">id: character 2 is not allowed</error>"#,
            ),
            (
                r#"<order sym="A"/>"#,
                "<error>create holds only account and symbol elements</error>",
            ),
            (
                r#"<account id="2" balance="3" x:y='no matter'/>"#,
                r#"<created id="2"/>"#,
            ),
        ],
    );
}

#[test]
fn each_account_of_a_symbol_has_its_own_answer() {
    check(
        CREATE,
        &[
            (
                r#"<symbol sym="SPY"><account id="1">100</account><account id="2">0.5</account></symbol>"#,
                r#"<created sym="SPY" id="1"/><created sym="SPY" id="2"/>"#,
            ),
            (
                r#"<symbol sym="SPY"><account id="x">1</account><account id="2">5</account></symbol>"#,
                r#"<error sym="SPY" id="x">an account id is digits only</error><created sym="SPY" id="2"/>"#,
            ),
            (
                "<symbol sym='S'>\n <account id='1'>\n 100 \n</account> <!-- none --> </symbol>",
                r#"<created sym="S" id="1"/>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1"><![CDATA[ 7]]></account></symbol>"#,
                r#"<error sym="S" id="1">shares: a number is digits with at most one point, character 1 is not</error>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1"><![CDATA[7]]></account></symbol>"#,
                r#"<created sym="S" id="1"/>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1">&#49;00</account></symbol>"#,
                r#"<created sym="S" id="1"/>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1">1<!-- -->2</account></symbol>"#,
                r#"<error sym="S" id="1">shares: a number is digits with at most one point, character 2 is not</error>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1"><![CDATA[&no;]]></account></symbol>"#,
                r#"<error sym="S" id="1">shares: a number is digits with at most one point, character 1 is not</error>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1">1<b>2</b></account></symbol>"#,
                r#"<created sym="S" id="1"/>"#,
            ),
        ],
    );
}

#[test]
fn shares_are_given_above_zero_to_accounts_and_of_symbols_that_are_named() {
    check(
        CREATE,
        &[
            (
                r#"<symbol sym="S"><account id="1">0</account></symbol>"#,
                r#"<error sym="S" id="1">shares must be above zero</error>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1">-5</account></symbol>"#,
                r#"<error sym="S" id="1">shares must be above zero</error>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1"> </account></symbol>"#,
                r#"<error sym="S" id="1">the number of shares is missing</error>"#,
            ),
            (
                r#"<symbol sym="S"><account id="1"/></symbol>"#,
                r#"<error sym="S" id="1">the number of shares is missing</error>"#,
            ),
            (
                r#"<symbol sym="S"><account>5</account></symbol>"#,
                r#"<error sym="S">the attribute id is missing</error>"#,
            ),
            (
                r#"<symbol><account id="1">5</account></symbol>"#,
                r#"<error id="1">the attribute sym is missing</error>"#,
            ),
            (
                r#"<symbol sym="A B"><account id="1">5</account></symbol>"#,
                r#"<error sym="A B" id="1">sym: character 2 is not allowed</error>"#,
            ),
            (
                r#"<symbol sym="ABCDEFGHIJKLMNOPQ"><account id="1">5</account></symbol>"#,
                r#"<error sym="ABCDEFGHIJKLMNOPQ" id="1">sym: it has at most 16 characters, not 17</error>"#,
            ),
            (
                r#"<symbol sym="S"/>"#,
                r#"<error sym="S">symbol holds no account element</error>"#,
            ),
            (
                "<symbol> </symbol>",
                "<error>symbol holds no account element</error>",
            ),
            (
                r#"<symbol sym="S"><order id="4"/></symbol>"#,
                r#"<error sym="S" id="4">symbol holds only account elements</error>"#,
            ),
        ],
    );
}

#[test]
fn orders_are_repeated_to_the_letter() {
    check(
        r#"transactions id="1""#,
        &[
            (
                r#"<order sym="SPY" amount="300" limit="125"/>"#,
                r#"<opened sym="SPY" amount="300" limit="125" id="1"/>"#,
            ),
            (
                r#"<order limit = '0125.500' amount="-20" sym='SPY' />"#,
                r#"<opened sym="SPY" amount="-20" limit="0125.500" id="1"/>"#,
            ),
            (
                r#"<order sym="SPY" amount="+5" limit="1"></order>"#,
                r#"<opened sym="SPY" amount="+5" limit="1" id="1"/>"#,
            ),
            (
                r#"<order sym="S&#80;Y" amount="&#x35;" limit="1"/>"#,
                r#"<opened sym="S&#80;Y" amount="&#x35;" limit="1" id="1"/>"#,
            ),
            (
                r#"<order sym='A"&amp;&apos;' amount="1" limit="1"/>"#,
                r#"<error sym="A&quot;&amp;&apos;" amount="1" limit="1">sym: character 2 is not allowed</error>"#,
            ),
            (
                r#"<account id="1" balance="1"/>"#,
                "<error>transactions holds only order, query and cancel elements</error>",
            ),
        ],
    );
}

#[test]
fn an_order_that_makes_no_sense_is_refused_with_its_attributes() {
    let number = "a number is digits with at most one point, character";
    let rows = [
        (
            r#" sym="S" amount="0" limit="1""#,
            "amount must not be zero",
        ),
        (
            r#" sym="S" amount="-0.0" limit="1""#,
            "amount must not be zero",
        ),
        (
            r#" sym="S" amount="1" limit="0""#,
            "limit must be above zero",
        ),
        (
            r#" sym="S" amount="1" limit="-3""#,
            "limit must be above zero",
        ),
        (
            r#" sym="S" amount="ten" limit="1""#,
            &format!("amount: {number} 1 is not"),
        ),
        (
            r#" sym="S" amount="--1" limit="1""#,
            &format!("amount: {number} 2 is not"),
        ),
        (
            r#" sym="S" amount=" 1" limit="1""#,
            &format!("amount: {number} 1 is not"),
        ),
        (
            r#" sym="S" amount="1" limit="NaN""#,
            &format!("limit: {number} 1 is not"),
        ),
        (r#" sym="S" amount="1""#, "the attribute limit is missing"),
        (r#" sym="S" limit="1""#, "the attribute amount is missing"),
        (r#" amount="1" limit="1""#, "the attribute sym is missing"),
        ("", "the attribute sym is missing"),
    ];
    for (attributes, why) in rows {
        let item = format!("<order{attributes}/>");
        let error = format!("<error{attributes}>{why}</error>");
        check(r#"transactions id="1""#, &[(&item, &error)]);
    }
}

#[test]
fn queries_and_cancels_name_an_order() {
    let executed = r#"<executed shares="200" price="127" time="1519348326"/>"#;
    let canceled = r#"<canceled shares="0.5" time="1519348400"/>"#;
    check(
        r#"transactions id="1""#,
        &[
            (
                r#"<query id="7"/>"#,
                &format!(r#"<status id="7">{canceled}{executed}</status>"#),
            ),
            (
                r#"<query id="007"></query>"#,
                &format!(r#"<status id="007">{canceled}{executed}</status>"#),
            ),
            (
                r#"<cancel id="7"/>"#,
                &format!(r#"<canceled id="7">{canceled}{executed}</canceled>"#),
            ),
            (
                r#"<query id="x"/>"#,
                r#"<error id="x">an order id is digits only</error>"#,
            ),
            (
                r#"<query id=""/>"#,
                r#"<error id="">an order id is digits only</error>"#,
            ),
            (
                r#"<cancel id="-7"/>"#,
                r#"<error id="-7">an order id is digits only</error>"#,
            ),
            ("<query/>", "<error>the attribute id is missing</error>"),
            (
                r#"<cancel ID="7"/>"#,
                "<error>the attribute id is missing</error>",
            ),
        ],
    );
}

#[test]
fn transactions_of_nobody_have_one_error_for_each_item() {
    let items = r#"<order sym="S" amount="1" limit="2"/><query id="3"/><cancel id="4"/>"#;
    let errors = |why: &str| {
        format!(
            "<results>{}{}{}</results>",
            format_args!(r#"<error sym="S" amount="1" limit="2">{why}</error>"#),
            format_args!(r#"<error id="3">{why}</error>"#),
            format_args!(r#"<error id="4">{why}</error>"#)
        )
    };
    let rows = [
        (
            "transactions",
            "the attribute id of transactions is missing",
        ),
        (r#"transactions id="bob""#, "an account id is digits only"),
        (r#"transactions id="""#, "id: it has no character"),
    ];
    for (root, why) in rows {
        let found = answered(
            Options::default(),
            &format!("<{root}>{items}</transactions>"),
        );
        assert_eq!(found, errors(why), "{root}");
    }
}

#[test]
fn a_request_without_items_has_an_empty_answer_with_its_closing_tag() {
    let rows = [
        r#"<transactions id="1"></transactions>"#,
        r#"<transactions id="1"/>"#,
        "<transactions> nothing </transactions>",
        "<create/>",
        "\u{feff}<?xml version='1.0' encoding=\"utf-8\" standalone='no' ?>\n<!-- a --><create>\n</create > \n<!-- b -->",
        "<?xml version=\"1.0\"?><create>\u{e4}&lt;&#228;<![CDATA[<&]]></create>",
    ];
    for xml in rows {
        assert_eq!(
            answered(Options::default(), xml),
            "<results></results>",
            "{xml}"
        );
    }
}

#[test]
fn switches_change_accounts_self_trades_and_answers() {
    let xml = r#"<transactions id="bob"><order sym="S" amount="-2" limit="1.50"/></transactions>"#;
    let options = Options {
        lenient_accounts: true,
        reply_length_line: true,
        ..Options::default()
    };
    let (found, asked) = serve(options, framed(xml).as_bytes());
    assert_eq!(
        found,
        "74\n<results><opened sym=\"S\" amount=\"-2\" limit=\"1.50\" id=\"1\"/></results>"
            .replace("74", &(found.len() - 3).to_string())
    );
    let expected = |self_trade| {
        Ask::Command(Command::Order(Order {
            account: AccountId::parse(b"bob").unwrap(),
            symbol: Symbol::parse(b"S").unwrap(),
            side: Side::Sell,
            quantity: decimal("2"),
            limit: Some(decimal("1.5")),
            time_in_force: TimeInForce::GoodTillCancel,
            self_trade,
            client_id: None,
        }))
    };
    assert_eq!(asked, [expected(SelfTrade::Skip)]);
    let options = Options {
        self_match: true,
        ..options
    };
    let (_, asked) = serve(options, framed(xml).as_bytes());
    assert_eq!(asked, [expected(SelfTrade::Allow)]);
}

#[test]
fn what_is_asked_is_what_was_sent() {
    let create = r#"<create><account id="1" balance="9.75"/>
        <symbol sym="SPY"><account id="1">40</account></symbol></create>"#;
    let transactions =
        r#"<transactions id="1"><cancel id="5"/><query id="18446744073709551616"/></transactions>"#;
    let account = AccountId::parse(b"1").unwrap();
    let (_, asked) = serve(
        Options::default(),
        format!("{}{}", framed(create), framed(transactions)).as_bytes(),
    );
    let order = OrderRef::Id(OrderId(5));
    let query = |order| Query::Order {
        account: Some(account),
        order,
    };
    let expected = [
        Ask::Command(Command::CreateAccount {
            account,
            cash: decimal("9.75"),
        }),
        Ask::Command(Command::Grant {
            account,
            symbol: Symbol::parse(b"SPY").unwrap(),
            quantity: decimal("40"),
        }),
        Ask::Cancel {
            command: Command::Cancel { account, order },
            then: query(order),
        },
        // A number that no order can have.
        Ask::Query(query(OrderRef::Id(OrderId(u64::MAX)))),
    ];
    assert_eq!(asked, expected);
}

#[test]
fn a_batch_can_be_left_and_taken_up_again() {
    let xml =
        br#"<transactions id="1"><query id="1"/><query id="2"/><query id="3"/></transactions>"#;
    let mut requests = Requests::new(Options::default());
    requests.read(xml).unwrap();
    let mut another = Requests::new(Options::default());
    let whole: Vec<_> = another.read(xml).unwrap().items().collect();
    let batch = requests.batch(xml);
    assert_eq!(
        batch.root(),
        Root::Transactions(Ok(AccountId::parse(b"1").unwrap()))
    );
    assert_eq!((batch.len(), batch.items().count()), (3, 3));
    let later: Vec<_> = (0..).map_while(|place| batch.get(place)).collect();
    assert_eq!(later, whole);
}

#[test]
fn ten_thousand_orders_fit_one_request_and_items_have_a_bound() {
    let items = r#"<order sym="SPY" amount="-100.25" limit="145.67"/>"#.repeat(10_000);
    let xml = format!(r#"<transactions id="1">{items}</transactions>"#);
    let found = answered(Options::default(), &xml);
    assert_eq!(found.matches("<opened ").count(), 10_000);
    assert!(
        found.ends_with(
            r#"<opened sym="SPY" amount="-100.25" limit="145.67" id="10000"/></results>"#
        )
    );

    let most = format!("<create>{}</create>", "<a/>".repeat(ITEMS_MAX));
    assert_eq!(
        answered(Options::default(), &most)
            .matches("<error>")
            .count(),
        ITEMS_MAX
    );
    let more = format!("<create>{}</create>", "<a/>".repeat(ITEMS_MAX + 1));
    let (found, asked) = serve(Options::default(), framed(&more).as_bytes());
    assert!(found.starts_with("<results><error>the request holds more than 100000 items"));
    assert_eq!(asked, []);
}

#[test]
fn the_memory_of_a_large_request_is_given_back() {
    let mut requests = Requests::new(Options::default());
    let xml = format!("<create>{}</create>", "<account/>".repeat(10_000));
    assert_eq!(requests.read(xml.as_bytes()).unwrap().len(), 10_000);
    let large = requests.size();
    requests.forget();
    let kept = requests.size();
    assert!(kept < 16 * 1_024 && kept < large / 10, "{kept} of {large}");
}
