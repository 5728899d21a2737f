//! Ordering and cancelling allocates nothing, once the machine has its size.

use turnstile_exchange::{
    Command, Done, Exchange, Order, OrderRef, Outcome, SelfTrade, Side, TimeInForce, limits,
};
use turnstile_trial::{Counting, Tally, context};
use turnstile_types::{Machine, Principal};

use crate::scenery::{account, client, decimal, limit_order, symbol};

#[global_allocator]
static COUNTING: Counting = Counting;

struct Market {
    exchange: Exchange,
    position: u64,
    now: u64,
    local: Principal,
}

impl Market {
    fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        self.exchange.prefetch(command);
        let context = context(self.position, self.now, &self.local);
        self.exchange.apply(&context, command)
    }

    /// A day of orders that rest, match, are moved and cancelled, in a pipeline with prefetching;
    /// then a week goes by.
    fn season(&mut self, orders: &[Order]) {
        for (number, order) in orders.iter().enumerate() {
            let Outcome::Done(Done::Accepted { ticket, .. }) = self.apply(&Command::Order(*order))
            else {
                panic!("an order of the season is accepted");
            };
            let (account, order) = (order.account, OrderRef::Id(ticket.order));
            if number % 3 == 0 {
                self.apply(&Command::Replace {
                    account,
                    order,
                    quantity: decimal("2"),
                    limit: Some(decimal("10")),
                });
            }
            if number % 2 == 0 {
                self.apply(&Command::Cancel { account, order });
            }
            self.exchange.drain_events(&mut |_| {});
        }
        for who in ["a", "b"] {
            self.apply(&Command::CancelAll {
                account: account(who),
                symbol: None,
            });
        }
        self.exchange.drain_events(&mut |_| {});
        self.now += limits::ENDED_MS;
        for _ in 0..orders.len() {
            self.position += 1;
            self.exchange
                .tick(&context(self.position, self.now, &self.local));
        }
        assert_eq!(self.exchange.totals().remembered, 0);
    }
}

fn season_orders() -> Vec<Order> {
    let prices = ["9.5", "9.8", "10", "10.1", "10.4"];
    (0..1_500_usize)
        .map(|number| {
            let (who, side) = if number % 2 == 0 {
                ("a", Side::Buy)
            } else {
                ("b", Side::Sell)
            };
            Order {
                time_in_force: if number % 7 == 0 {
                    TimeInForce::ImmediateOrCancel
                } else {
                    TimeInForce::GoodTillCancel
                },
                self_trade: SelfTrade::ExpireMaker,
                client_id: (number % 5 == 0).then(|| client(&format!("order-{number}"))),
                ..limit_order(who, side, "3", prices[number * 7 % 5])
            }
        })
        .collect()
}

#[test]
fn ordering_and_cancelling_allocates_nothing_in_the_steady_state() {
    let mut market = Market {
        exchange: Exchange::empty(),
        position: 0,
        now: 1_000,
        local: Principal::local(),
    };
    for who in ["a", "b"] {
        let (account, cash) = (account(who), decimal("100000000"));
        market.apply(&Command::CreateAccount { account, cash });
        market.apply(&Command::Grant {
            account,
            symbol: symbol("X"),
            quantity: decimal("1000000"),
        });
    }
    let orders = season_orders();
    for _ in 0..3 {
        market.season(&orders);
    }
    let before = Tally::now();
    market.season(&orders);
    assert_eq!(Tally::now().calls_since(before), 0);
    drop(Box::new(1));
    assert_eq!(
        Tally::now().calls_since(before),
        1,
        "allocations are counted"
    );
    assert!(market.exchange.totals().trades > 1_000);
    assert_eq!(market.exchange.check(), Ok(()));
}
