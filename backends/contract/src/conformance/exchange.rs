//! The exchange in the suite: random commands and queries that conflict often.
//!
//! Everything but the numbers of orders and trades must be equal, to the last unit of cash. What is due
//! expires in the machine at its very instant, as a server does it.

use turnstile_access::AccessRole;
use turnstile_chassis::{Cursor, Needs as _};
use turnstile_exchange::{
    AccountId, Answer, ClientId, Command, Decimal, Done, Exchange, Order, OrderId, OrderRef,
    OrderView, Outcome, Query, Refusal, SelfTrade, Side, Symbol, TimeInForce,
};
use turnstile_seed::Random;
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Machine as _, Principal, Timestamp};

use super::{
    Names, Suite,
    scopes::{self, Grants},
};
use crate::Scope;

/// What a caller may have been granted.
const GRANTS: [Grants; 5] = [
    &[(AccessRole::ExchangeUser, "*")],
    &[(AccessRole::ExchangeUser, "a")],
    &[(AccessRole::ExchangeUser, "b c")],
    &[(AccessRole::ExchangeManager, "a*")],
    &[
        (AccessRole::ExchangeUser, "a"),
        (AccessRole::ExchangeManager, "n* c"),
    ],
];

const ACCOUNTS: [&str; 3] = ["a", "b", "c"];
const SYMBOLS: [&str; 3] = ["X", "Y", "Z"];
const CLIENTS: [&str; 3] = ["one", "two", "a-client-id-of-36-characters-exactly"];
const FEW_PRICES: [&str; 5] = ["9", "9.5", "10", "10.5", "11"];
const ODD_PRICES: [&str; 5] = ["0", "10.00001", "10.001", "100000000001", "999999"];
const ODD_QUANTITIES: [&str; 6] = ["0", "0.5", "2.5", "0.00001", "100", "100000000001"];
const AMOUNTS: [&str; 5] = ["0", "5", "20.5", "0.00000001", "0.000000001"];
const WAITS_MS: [u64; 7] = [0, 0, 0, 1, 999, 1_000, 60_000];

fn account(text: &str) -> AccountId {
    AccountId::parse(text.as_bytes()).expect("an account of the suite")
}

fn symbol(text: &str) -> Symbol {
    Symbol::parse(text.as_bytes()).expect("a symbol of the suite")
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).expect("a number of the suite")
}

fn some_account(random: &mut Random) -> AccountId {
    if random.one_in(30) {
        return account("nobody");
    }
    account(random.pick(&ACCOUNTS))
}

fn some_symbol(random: &mut Random) -> Symbol {
    symbol(match random.below(17) {
        0..12 => "X",
        12..16 => "Y",
        _ => "Z",
    })
}

fn price(random: &mut Random) -> Decimal {
    let odd = random.one_in(40);
    decimal(random.pick(if odd { &ODD_PRICES } else { &FEW_PRICES }))
}

fn quantity(random: &mut Random) -> Decimal {
    if random.one_in(20) {
        return decimal(random.pick(&ODD_QUANTITIES));
    }
    Decimal::new(1 + random.below(7), 0)
}

fn client(random: &mut Random) -> ClientId {
    ClientId::parse(random.pick(&CLIENTS).as_bytes()).expect("a client id of the suite")
}

fn time_in_force(random: &mut Random, now: Timestamp) -> TimeInForce {
    match random.below(14) {
        0..7 => TimeInForce::GoodTillCancel,
        7..9 => TimeInForce::ImmediateOrCancel,
        9..11 => TimeInForce::FillOrKill,
        11 => TimeInForce::PostOnly,
        _ => TimeInForce::GoodTillDate(now.plus_ms(random.pick(&[0, 1, 1_000, 1_000, 60_000]))),
    }
}

fn order(random: &mut Random, now: Timestamp) -> Order {
    Order {
        account: some_account(random),
        symbol: some_symbol(random),
        side: random.pick(&Side::ALL),
        quantity: quantity(random),
        limit: Some(price(random)).filter(|_price| !random.one_in(7)),
        time_in_force: time_in_force(random, now),
        self_trade: random.pick(&SelfTrade::ALL),
        client_id: Some(client(random)).filter(|_client| random.one_in(5)),
    }
}

/// One of the orders that were accepted, most often a recent one.
fn order_ref(random: &mut Random, made: &[OrderId]) -> OrderRef {
    if random.one_in(4) {
        return OrderRef::Client(client(random));
    }
    if made.is_empty() || random.one_in(20) {
        return OrderRef::Id(OrderId(random.pick(&[0, u64::MAX])));
    }
    let recent = made.len().saturating_sub(12);
    OrderRef::Id(random.pick(made.get(recent..).unwrap_or(made)))
}

fn rule(random: &mut Random) -> Command {
    let account = some_account(random);
    let symbol = some_symbol(random);
    match random.below(16) {
        0..3 => Command::Grant {
            account,
            symbol,
            quantity: quantity(random),
        },
        3..5 => Command::Deposit {
            account,
            amount: decimal(random.pick(&AMOUNTS)),
        },
        5..7 => Command::Withdraw {
            account,
            amount: decimal(random.pick(&AMOUNTS)),
        },
        7 => Command::CreateAccount {
            account,
            cash: decimal(random.pick(&AMOUNTS)),
        },
        8 => Command::CreateSymbol {
            symbol,
            price_scale: random.pick(&[0, 2, 4, 5]),
            quantity_scale: random.pick(&[0, 2, 3, 5]),
        },
        9..12 => Command::SetBand {
            symbol,
            low: Some(price(random)).filter(|_price| random.one_in(3)),
            high: Some(price(random)).filter(|_price| random.one_in(3)),
        },
        12..14 => Command::Halt {
            symbol,
            halted: random.one_in(5),
        },
        _ => Command::SetLimits {
            account,
            open_orders: random.pick(&[None, None, Some(0), Some(3)]),
            quantity: Some(quantity(random)).filter(|_quantity| random.one_in(4)),
            notional: Some(decimal("50")).filter(|_notional| random.one_in(4)),
        },
    }
}

impl Suite for Exchange {
    type Made = OrderId;

    const NOBODYS: OrderId = OrderId(u64::MAX);

    const TICKS_FIRST: bool = true;

    const COMPARED_EVERY: u32 = 8;

    /// It ends before orders that have ended would be forgotten: the machine does that by and by,
    /// which an answer may show.
    const LONGEST_MS: u64 = 6 * KEY_MS;

    /// Orders wait on the books by then, some of them are due, and whoever is first expires them.
    const BEFORE_CROWD: (u64, u64) = (10, 1_000);

    const TOTALS: Query = Query::Totals;

    fn principals() -> Vec<Principal> {
        vec![Principal::local()]
    }

    /// Three accounts with some cash, and what they hold.
    fn furniture() -> Vec<Command> {
        let mut commands = Vec::new();
        for (who, cash) in [("a", "300"), ("b", "100"), ("c", "0.5")] {
            let (account, cash) = (account(who), decimal(cash));
            commands.push(Command::CreateAccount { account, cash });
        }
        for (who, name, quantity) in [("a", "X", "20"), ("b", "X", "12"), ("c", "Y", "9")] {
            commands.push(Command::Grant {
                account: account(who),
                symbol: symbol(name),
                quantity: decimal(quantity),
            });
        }
        commands
    }

    /// Now and then a day, after which keys are forgotten.
    fn wait_ms(random: &mut Random) -> u64 {
        if random.one_in(60) {
            KEY_MS
        } else {
            random.pick(&WAITS_MS)
        }
    }

    fn draw_command(random: &mut Random, now: Timestamp, made: &[OrderId]) -> Command {
        match random.below(52) {
            0..35 => Command::Order(order(random, now)),
            35..39 => Command::Cancel {
                account: some_account(random),
                order: order_ref(random, made),
            },
            39..45 => Command::Replace {
                account: some_account(random),
                order: order_ref(random, made),
                quantity: quantity(random),
                limit: Some(price(random)).filter(|_price| random.one_in(2)),
            },
            45 => Command::CancelAll {
                account: some_account(random),
                symbol: Some(some_symbol(random)).filter(|_symbol| random.one_in(2)),
            },
            _ => rule(random),
        }
    }

    fn draw_scope(_random: &mut Random, _command: &Self::Command<'_>) -> Scope {
        Scope::EVERYTHING
    }

    fn draw_query_scope(random: &mut Random, query: &Query) -> Scope {
        if !matches!(query, Query::Order { .. }) {
            return Scope::EVERYTHING;
        }
        scopes::draw(random, &GRANTS, (Self::SERVICE, query.needed()))
    }

    fn is_refused(answer: &Answer) -> bool {
        matches!(answer, Answer::Refused(_))
    }

    fn draw_query(random: &mut Random, made: &[OrderId]) -> Query {
        let (cursor, limit) = (None, u16::try_from(1 + random.below(3)).expect("below 4"));
        let account = some_account(random);
        let symbol = some_symbol(random);
        match random.below(9) {
            0 => Query::Account {
                account,
                cursor,
                limit,
            },
            1 => Query::Accounts { cursor, limit },
            2 => Query::Symbols { cursor, limit },
            3 => Query::Symbol { symbol },
            4 => Query::Order {
                account: Some(account).filter(|_account| random.one_in(2)),
                order: order_ref(random, made),
            },
            5 => Query::Orders {
                account,
                symbol: Some(symbol).filter(|_symbol| random.one_in(2)),
                cursor,
                limit,
            },
            6 => Query::Depth {
                symbol,
                levels: limit,
            },
            7 => Query::Queue { symbol, limit },
            _ => Query::Trades {
                symbol,
                cursor,
                limit,
            },
        }
    }

    fn done_in(_round: u32) -> Command {
        Command::Order(Order {
            account: account("a"),
            symbol: symbol("X"),
            side: Side::Buy,
            quantity: decimal("1"),
            limit: Some(decimal("2")),
            time_in_force: TimeInForce::GoodTillCancel,
            self_trade: SelfTrade::Skip,
            client_id: None,
        })
    }

    fn whole() -> Vec<Query> {
        let (cursor, limit) = (None, u16::MAX);
        let mut queries = vec![
            Query::Totals,
            Query::Accounts { cursor, limit },
            Query::Symbols { cursor, limit },
        ];
        for name in ACCOUNTS {
            let (account, symbol) = (account(name), None);
            queries.push(Query::Account {
                account,
                cursor,
                limit,
            });
            queries.push(Query::Orders {
                account,
                symbol,
                cursor,
                limit,
            });
        }
        for name in SYMBOLS {
            let symbol = symbol(name);
            let levels = limit;
            queries.push(Query::Depth { symbol, levels });
            queries.push(Query::Queue { symbol, limit });
            queries.push(Query::Trades {
                symbol,
                cursor,
                limit,
            });
        }
        queries
    }

    fn look_up(order: OrderId) -> Query {
        let (account, order) = (None, OrderRef::Id(order));
        Query::Order { account, order }
    }

    fn offers(unsupported: &[&str], command: &Command) -> bool {
        !unsupported.contains(&command.code())
    }

    fn answers(unsupported: &[&str], query: &Query) -> bool {
        !unsupported.contains(&query.code())
    }

    fn made(outcome: &Outcome) -> Option<OrderId> {
        match outcome {
            Outcome::Done(Done::Accepted { ticket, .. }) => Some(ticket.order),
            _ => None,
        }
    }

    fn ask_ours(command: &mut Command, names: &Names<Self>) {
        if let Command::Cancel {
            order: OrderRef::Id(id),
            ..
        }
        | Command::Replace {
            order: OrderRef::Id(id),
            ..
        } = command
        {
            names.our(id);
        }
    }

    fn query_ours(query: &mut Query, names: &Names<Self>) {
        if let Query::Order {
            order: OrderRef::Id(id),
            ..
        } = query
        {
            names.our(id);
        }
    }

    fn tell_theirs(outcome: &mut Outcome, names: &Names<Self>) {
        match outcome {
            Outcome::Done(Done::Accepted { ticket, .. } | Done::Replaced { ticket, .. }) => {
                names.their(&mut ticket.order);
            }
            Outcome::Done(Done::Cancelled { order, .. })
            | Outcome::Refused(Refusal::ClientIdReused { order }) => names.their(order),
            Outcome::Done(_) | Outcome::Refused(_) => {}
        }
    }

    fn answer_theirs(answer: &mut Answer, names: &Names<Self>) {
        match answer {
            Answer::Order(order) => order_theirs(order, names),
            Answer::Orders { orders, .. } => {
                for order in orders {
                    order_theirs(order, names);
                }
            }
            Answer::Queue { bids, asks, .. } => {
                for queued in bids.iter_mut().chain(asks) {
                    names.their(&mut queued.order);
                }
            }
            Answer::Trades { trades, .. } => {
                for trade in trades {
                    names.their(&mut trade.maker);
                    names.their(&mut trade.taker);
                }
            }
            _ => {}
        }
    }

    /// The numbers of trades.
    fn forget_own(answer: &mut Answer) {
        if let Answer::Trades { trades, .. } = answer {
            for trade in trades {
                trade.trade = 0;
            }
        }
    }

    fn next_page(answer: &mut Answer) -> Option<Cursor> {
        match answer {
            Answer::Account(account) => account.next.take(),
            Answer::Accounts { next, .. }
            | Answer::Symbols { next, .. }
            | Answer::Orders { next, .. }
            | Answer::Trades { next, .. } => next.take(),
            _ => None,
        }
    }

    fn cursor(query: &mut Query) -> Option<&mut Option<Cursor>> {
        match query {
            Query::Account { cursor, .. }
            | Query::Accounts { cursor, .. }
            | Query::Symbols { cursor, .. }
            | Query::Orders { cursor, .. }
            | Query::Trades { cursor, .. } => Some(cursor),
            _ => None,
        }
    }

    fn append(answer: &mut Answer, page: Answer) {
        macro_rules! append {
            ($all:expr, $page:expr, $($listing:ident { $items:ident })|+) => {
                match ($all, $page) {
                    (Answer::Account(all), Answer::Account(page)) => {
                        all.positions.extend(page.positions);
                        all.next = page.next;
                    }
                    $((
                        Answer::$listing { $items, next, .. },
                        Answer::$listing { $items: more, next: last, .. },
                    ) => {
                        $items.extend(more);
                        *next = last;
                    })+
                    (answer, page) => *answer = page,
                }
            };
        }
        append!(
            answer,
            page,
            Accounts { accounts } | Symbols { symbols } | Orders { orders } | Trades { trades }
        );
    }
}

fn order_theirs(order: &mut OrderView, names: &Names<Exchange>) {
    names.their(&mut order.order);
    for execution in &mut order.executions {
        names.their(&mut execution.counterparty);
    }
}
