//! Random histories through the machine and its naive twin: equal outcomes, events and answers
//! after every step, and a sound state.

use proptest::{
    collection::vec,
    option::{of, weighted},
    prelude::*,
    sample::select,
};
use turnstile_chassis::{Countable, Served};
use turnstile_exchange::{
    AccountId, ClientId, Command, Cursor, Decimal, Exchange, Order, OrderId, OrderRef, Outcome,
    Query, SelfTrade, Side, Symbol, TimeInForce, limits,
};
use turnstile_trial::{bytes_of, context};
use turnstile_types::{Machine, Name, Principal, Timestamp};

use crate::{
    scenery::{account, client, decimal, limit_order, symbol},
    twin::Twin,
};

#[derive(Clone, Debug)]
enum Act {
    Do(Command),
    /// An order that lives until so long after its step.
    Until(u64, Order),
    Ask(Query),
    Tick,
    Restart,
}

#[derive(Clone, Debug)]
struct Step {
    /// How long after the step before, in milliseconds.
    wait_ms: u64,
    act: Act,
}

fn accounts() -> impl Strategy<Value = AccountId> {
    let known = select(vec!["a", "b", "c"]).prop_map(account);
    prop_oneof![30 => known, 1 => Just(account("nobody"))]
}

fn symbols() -> impl Strategy<Value = Symbol> {
    prop_oneof![12 => Just(symbol("X")), 4 => Just(symbol("Y")), 1 => Just(symbol("Z"))]
}

fn clients() -> impl Strategy<Value = ClientId> {
    select(vec!["one", "two", "a-client-id-of-36-characters-exactly"]).prop_map(client)
}

fn prices() -> impl Strategy<Value = Decimal> {
    let few = select(vec!["9", "9.5", "10", "10.5", "11"]).prop_map(decimal);
    let odd = select(vec!["0", "10.00001", "10.001", "100000000001", "999999"]).prop_map(decimal);
    prop_oneof![40 => few, 1 => odd]
}

fn quantities() -> impl Strategy<Value = Decimal> {
    let few = (1..8_u64).prop_map(|units| Decimal::new(units, 0));
    let odd = select(vec!["0", "0.5", "2.5", "0.00001", "100", "100000000001"]).prop_map(decimal);
    prop_oneof![20 => few, 1 => odd]
}

fn self_trades() -> impl Strategy<Value = SelfTrade> {
    select(vec![
        SelfTrade::Allow,
        SelfTrade::Skip,
        SelfTrade::ExpireMaker,
        SelfTrade::ExpireTaker,
        SelfTrade::ExpireBoth,
    ])
}

fn times() -> impl Strategy<Value = TimeInForce> {
    prop_oneof![
        6 => Just(TimeInForce::GoodTillCancel),
        2 => Just(TimeInForce::ImmediateOrCancel),
        2 => Just(TimeInForce::FillOrKill),
        1 => Just(TimeInForce::PostOnly),
        1 => Just(TimeInForce::GoodTillDate(Timestamp(1))),
    ]
}

fn orders() -> impl Strategy<Value = Order> {
    (
        (accounts(), symbols(), select(vec![Side::Buy, Side::Sell])),
        (quantities(), weighted(0.85, prices()), times()),
        (self_trades(), weighted(0.2, clients())),
    )
        .prop_map(|(who, what, how)| Order {
            account: who.0,
            symbol: who.1,
            side: who.2,
            quantity: what.0,
            limit: what.1,
            time_in_force: what.2,
            self_trade: how.0,
            client_id: how.1,
        })
}

fn order_refs() -> impl Strategy<Value = OrderRef> {
    prop_oneof![
        5 => (0..40_u64).prop_map(|id| OrderRef::Id(OrderId(id))),
        2 => clients().prop_map(OrderRef::Client),
    ]
}

fn rules() -> impl Strategy<Value = Command> {
    let amounts = || select(vec!["0", "5", "20.5", "0.00000001", "0.000000001"]).prop_map(decimal);
    let bounds = (of(0..6_u32), of(quantities()), of(Just(decimal("50"))));
    prop_oneof![
        3 => (accounts(), symbols(), quantities()).prop_map(|(account, symbol, quantity)| {
            Command::Grant { account, symbol, quantity }
        }),
        2 => (accounts(), amounts())
            .prop_map(|(account, amount)| Command::Deposit { account, amount }),
        2 => (accounts(), amounts())
            .prop_map(|(account, amount)| Command::Withdraw { account, amount }),
        1 => (accounts(), amounts())
            .prop_map(|(account, cash)| Command::CreateAccount { account, cash }),
        1 => (symbols(), 0..6_u8, 0..6_u8).prop_map(|(symbol, price_scale, quantity_scale)| {
            Command::CreateSymbol { symbol, price_scale, quantity_scale }
        }),
        3 => (symbols(), weighted(0.3, prices()), weighted(0.3, prices()))
            .prop_map(|(symbol, low, high)| Command::SetBand { symbol, low, high }),
        2 => (symbols(), weighted(0.2, Just(())))
            .prop_map(|(symbol, halted)| Command::Halt { symbol, halted: halted.is_some() }),
        2 => (accounts(), weighted(0.5, bounds)).prop_map(|(account, bounds)| {
            let (open_orders, quantity, notional) = bounds.unwrap_or_default();
            Command::SetLimits { account, open_orders, quantity, notional }
        }),
    ]
}

fn later() -> impl Strategy<Value = Command> {
    prop_oneof![
        4 => (accounts(), order_refs())
            .prop_map(|(account, order)| Command::Cancel { account, order }),
        6 => (accounts(), order_refs(), quantities(), of(prices())).prop_map(
            |(account, order, quantity, limit)| Command::Replace { account, order, quantity, limit }
        ),
        1 => (accounts(), of(symbols()))
            .prop_map(|(account, symbol)| Command::CancelAll { account, symbol }),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    let cursors = || {
        let cursor = prop_oneof![8 => 0..20_u64, 1 => Just(u64::MAX)];
        of(cursor.prop_map(Cursor))
    };
    let limits = || 1..4_u16;
    prop_oneof![
        (accounts(), cursors(), limits()).prop_map(|(account, cursor, limit)| Query::Account {
            account,
            cursor,
            limit
        }),
        (cursors(), limits()).prop_map(|(cursor, limit)| Query::Accounts { cursor, limit }),
        (cursors(), limits()).prop_map(|(cursor, limit)| Query::Symbols { cursor, limit }),
        symbols().prop_map(|symbol| Query::Symbol { symbol }),
        (of(accounts()), order_refs()).prop_map(|(account, order)| Query::Order { account, order }),
        (accounts(), of(symbols()), cursors(), limits()).prop_map(
            |(account, symbol, cursor, limit)| Query::Orders {
                account,
                symbol,
                cursor,
                limit
            }
        ),
        (symbols(), limits()).prop_map(|(symbol, levels)| Query::Depth { symbol, levels }),
        (symbols(), limits()).prop_map(|(symbol, limit)| Query::Queue { symbol, limit }),
        (symbols(), cursors(), limits()).prop_map(|(symbol, cursor, limit)| Query::Trades {
            symbol,
            cursor,
            limit
        }),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        30 => orders().prop_map(|order| Act::Do(Command::Order(order))),
        5 => (select(vec![0, 1, 1_000, 60_000]), orders())
            .prop_map(|(ms, order)| Act::Until(ms, order)),
        12 => later().prop_map(Act::Do),
        5 => rules().prop_map(Act::Do),
        6 => queries().prop_map(Act::Ask),
        1 => Just(Act::Tick),
        1 => Just(Act::Restart),
    ];
    let waits = prop_oneof![
        30 => select(vec![0, 1, 999, 1_000]),
        2 => Just(60_000),
        1 => Just(limits::ENDED_MS),
    ];
    (waits, act).prop_map(|(wait_ms, act)| Step { wait_ms, act })
}

/// The machine and its twin, and where they are in their history.
struct Pair {
    fast: Exchange,
    slow: Twin,
    position: u64,
    now: u64,
}

impl Pair {
    /// Three accounts with some cash, two of them with shares.
    fn new() -> Self {
        let mut pair = Self {
            fast: Exchange::empty(),
            slow: Twin::default(),
            position: 0,
            now: 1_000_000,
        };
        for (who, cash) in [("a", "300"), ("b", "100"), ("c", "0.5")] {
            let (account, cash) = (account(who), decimal(cash));
            pair.apply(&Command::CreateAccount { account, cash });
        }
        for (who, name, quantity) in [("a", "X", "20"), ("b", "X", "12"), ("c", "Y", "9")] {
            pair.apply(&Command::Grant {
                account: account(who),
                symbol: symbol(name),
                quantity: decimal(quantity),
            });
        }
        pair
    }

    fn step(&mut self, step: &Step) {
        self.now += step.wait_ms;
        match step.act {
            Act::Do(ref command) => self.apply(command),
            Act::Until(ms, mut order) => {
                order.time_in_force = TimeInForce::GoodTillDate(Timestamp(self.now + ms));
                self.apply(&Command::Order(order));
            }
            Act::Ask(ref query) => self.ask(query),
            Act::Tick => {
                self.position += 1;
                let local = Principal::local();
                let context = context(self.position, self.now, &local);
                self.fast.tick(&context);
                self.slow.tick(&context);
            }
            Act::Restart => {
                let bytes = bytes_of(&self.fast);
                self.fast = Exchange::restore(&bytes).unwrap();
                assert_eq!(bytes_of(&self.fast), bytes);
            }
        }
        self.compare();
    }

    fn apply(&mut self, command: &Command) {
        self.position += 1;
        let [local, ada, bob] = senders();
        let sender = match self.position % 3 {
            0 => local,
            1 => ada,
            _ => bob,
        };
        let context = context(self.position, self.now, &sender);
        self.fast.prefetch(command);
        // What is due is done whatever becomes of the command.
        let mut due = Exchange::restore(&bytes_of(&self.fast)).unwrap();
        due.tick(&context);
        let outcome = self.fast.apply(&context, command);
        assert_eq!(outcome, self.slow.apply(&context, command), "{command:?}");
        if let Outcome::Refused(_) = outcome {
            let state = bytes_of(&due);
            assert_eq!(bytes_of(&self.fast), state, "a refusal changes nothing");
        }
    }

    fn ask(&self, query: &Query) {
        let now = Timestamp(self.now);
        let answer = self.fast.query(now, &Principal::local(), query);
        assert_eq!(answer, self.slow.query(query), "{query:?}");
    }

    /// The same state, as far as anybody can ask for it.
    fn compare(&mut self) {
        assert_eq!(self.fast.check(), Ok(()));
        assert_eq!(self.fast.next_deadline(), self.slow.next_deadline());
        let mut events = Vec::new();
        self.fast.drain_events(&mut |event| events.push(event));
        assert_eq!(events, std::mem::take(&mut self.slow.events));
        self.ask(&Query::Totals);
        for sender in senders() {
            let open = self.fast.open_of(&sender, Countable::Orders);
            assert_eq!(
                open as usize,
                self.slow.open_orders_of(&sender),
                "{sender:?}"
            );
        }
        for who in ["a", "b", "c"] {
            self.ask(&Query::Account {
                account: account(who),
                cursor: None,
                limit: 9,
            });
        }
        for name in ["X", "Y", "Z"].map(symbol) {
            self.ask(&Query::Queue {
                symbol: name,
                limit: u16::MAX,
            });
            self.ask(&Query::Depth {
                symbol: name,
                levels: u16::MAX,
            });
        }
    }

    /// Every order that there ever was.
    fn compare_orders(&self) {
        for id in 0..200 {
            self.ask(&Query::Order {
                account: None,
                order: OrderRef::Id(OrderId(id)),
            });
        }
    }
}

/// Whose orders they are, by turns.
fn senders() -> [Principal; 3] {
    let named = |text: &[u8]| Principal(Name::parse(text).unwrap());
    [Principal::local(), named(b"ada"), named(b"bob")]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_machine_and_its_twin_agree_on_every_step(steps in vec(steps(), 1..100)) {
        let mut pair = Pair::new();
        pair.compare();
        for step in &steps {
            pair.step(step);
        }
        pair.compare_orders();
    }
}

/// Orders of both sides, at few prices, more than are looked at one by one for a quote. A few are
/// those of an account that cannot pay for all others.
fn deepen(pair: &mut Pair) {
    let quantity = decimal("2000");
    for who in ["a", "b"] {
        pair.apply(&Command::Grant {
            account: account(who),
            symbol: symbol("X"),
            quantity,
        });
    }
    pair.apply(&Command::Deposit {
        account: account("b"),
        amount: quantity,
    });
    for number in 0..160 {
        let who = if number % 7 == 3 { "a" } else { "b" };
        let (side, limit) = match number % 8 {
            0 | 2 => (Side::Sell, "10"),
            4 => (Side::Sell, "10.5"),
            6 => (Side::Sell, "11"),
            1 | 3 => (Side::Buy, "9"),
            5 => (Side::Buy, "8.5"),
            _ => (Side::Buy, "8"),
        };
        let order = limit_order(who, side, "1", limit);
        pair.apply(&Command::Order(order));
    }
    // The first step may be a restart, and a machine that starts has no events of before.
    pair.compare();
}

/// Orders that do not wait, about as large as all there is.
fn deep_orders() -> impl Strategy<Value = Step> {
    let size = (60..90_u64).prop_map(|units| Decimal::new(units, 0));
    let at_once = select(vec![
        TimeInForce::ImmediateOrCancel,
        TimeInForce::FillOrKill,
        TimeInForce::FillOrKill,
    ]);
    (orders(), size, at_once, any::<bool>()).prop_map(|(order, quantity, time, is_market)| Step {
        wait_ms: 1,
        act: Act::Do(Command::Order(Order {
            quantity,
            time_in_force: time,
            limit: order.limit.filter(|_| !is_market),
            ..order
        })),
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn orders_that_go_deep_are_answered_like_the_twin_does(
        steps in vec(prop_oneof![3 => deep_orders(), 1 => steps()], 1..12),
    ) {
        let mut pair = Pair::new();
        deepen(&mut pair);
        for step in &steps {
            pair.step(step);
        }
    }
}
