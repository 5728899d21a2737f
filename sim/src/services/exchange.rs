//! What simulated traders ask for.

use turnstile_exchange::{
    AccountId, ClientId, Command, Decimal, Done, Exchange, Order, OrderId, OrderRef, Outcome,
    SelfTrade, Side, Symbol, TimeInForce,
};
use turnstile_seed::Random;
use turnstile_types::Timestamp;

use crate::actors::SimulatedClients;

const ACCOUNTS: [&[u8]; 3] = [b"1", b"2", b"3"];
/// Mostly one; another has scales of its own, and the last is listed by whoever names it first.
const SYMBOLS: [&[u8]; 5] = [b"X", b"X", b"X", b"COARSE", b"LATE"];
/// So few that they are met again.
const CLIENTS: [&[u8]; 4] = [b"one", b"two", b"three", b"four"];

/// Makes commands, and remembers how many orders there are.
#[derive(Debug, Default)]
pub(crate) struct ExchangeClients {
    orders: u64,
}

impl SimulatedClients<Exchange> for ExchangeClients {
    fn opening() -> Vec<Command> {
        let mut commands = vec![Command::CreateSymbol {
            symbol: symbol(b"COARSE"),
            price_scale: 1,
            quantity_scale: 0,
        }];
        for account in ACCOUNTS.map(account) {
            let cash = Decimal::new(2_000, 0);
            commands.push(Command::CreateAccount { account, cash });
            commands.extend([b"X" as &[u8], b"COARSE"].map(|name| Command::Grant {
                account,
                symbol: symbol(name),
                quantity: Decimal::new(60, 0),
            }));
        }
        commands
    }

    fn next(&self, random: &mut Random, now: Timestamp) -> Command {
        let account = account(random.pick(&ACCOUNTS));
        match random.below(40) {
            0..=24 => Command::Order(order(random, account, now)),
            25..=29 => Command::Cancel {
                account,
                order: self.order_ref(random),
            },
            30..=34 => Command::Replace {
                account,
                order: self.order_ref(random),
                quantity: quantity(random),
                limit: random.one_in(2).then(|| price(random)),
            },
            35 => Command::CancelAll {
                account,
                symbol: random.one_in(2).then(|| symbol(random.pick(&SYMBOLS))),
            },
            36..=37 => money(random, account),
            _ => rule(random, account),
        }
    }

    fn note(&mut self, outcome: &Outcome) {
        if let Outcome::Done(Done::Accepted { ticket, .. }) = outcome {
            self.orders = self.orders.max(ticket.order.0);
        }
    }
}

impl ExchangeClients {
    fn order_ref(&self, random: &mut Random) -> OrderRef {
        if random.one_in(5) {
            return OrderRef::Client(client(random));
        }
        // Mostly one of the latest, which may be open still.
        let ago = random.below(12).min(self.orders);
        OrderRef::Id(OrderId(self.orders - ago))
    }
}

fn order(random: &mut Random, account: AccountId, now: Timestamp) -> Order {
    let time_in_force = match random.below(10) {
        0 => TimeInForce::ImmediateOrCancel,
        1 => TimeInForce::FillOrKill,
        2 => TimeInForce::PostOnly,
        3..=4 => TimeInForce::GoodTillDate(now.plus_ms(random.below(120_000))),
        _ => TimeInForce::GoodTillCancel,
    };
    Order {
        account,
        symbol: symbol(random.pick(&SYMBOLS)),
        side: random.pick(&[Side::Buy, Side::Sell]),
        quantity: quantity(random),
        limit: (!random.one_in(10)).then(|| price(random)),
        time_in_force,
        self_trade: random.pick(&[
            SelfTrade::Allow,
            SelfTrade::Skip,
            SelfTrade::ExpireMaker,
            SelfTrade::ExpireTaker,
            SelfTrade::ExpireBoth,
        ]),
        client_id: random.one_in(4).then(|| client(random)),
    }
}

fn money(random: &mut Random, account: AccountId) -> Command {
    let amount = Decimal::new(1 + random.below(1_000), 2);
    match random.below(3) {
        0 => Command::Deposit { account, amount },
        1 => Command::Withdraw { account, amount },
        _ => Command::Grant {
            account,
            symbol: symbol(random.pick(&SYMBOLS)),
            quantity: quantity(random),
        },
    }
}

fn rule(random: &mut Random, account: AccountId) -> Command {
    let symbol = symbol(random.pick(&SYMBOLS));
    match random.below(3) {
        0 => Command::SetBand {
            symbol,
            low: random.one_in(3).then_some(Decimal::new(9, 0)),
            high: random.one_in(3).then_some(Decimal::new(11, 0)),
        },
        1 => Command::Halt {
            symbol,
            halted: random.one_in(4),
        },
        _ => Command::SetLimits {
            account,
            open_orders: random.one_in(3).then_some(3),
            quantity: random.one_in(3).then_some(Decimal::new(6, 0)),
            notional: random.one_in(3).then_some(Decimal::new(70, 0)),
        },
    }
}

/// Around 10, with half a step between whole ones.
fn price(random: &mut Random) -> Decimal {
    Decimal::new(80 + 5 * random.below(9), 1)
}

/// Mostly whole, so that the coarse symbol takes it.
fn quantity(random: &mut Random) -> Decimal {
    if random.one_in(8) {
        Decimal::new(1 + random.below(40_000), 4)
    } else {
        Decimal::new(1 + random.below(8), 0)
    }
}

fn account(text: &[u8]) -> AccountId {
    AccountId::parse(text).expect("an account of the simulated world")
}

fn symbol(text: &[u8]) -> Symbol {
    Symbol::parse(text).expect("a symbol of the simulated world")
}

fn client(random: &mut Random) -> ClientId {
    ClientId::parse(random.pick(&CLIENTS)).expect("a client id of the simulated world")
}
