//! Pages of open orders that would take long to fill.

use turnstile_exchange::{
    Answer, Command, Cursor, Exchange, Order, OrderId, OrderRef, Outcome, Query, Side, limits,
};
use turnstile_trial::context;
use turnstile_types::{Machine, Principal, Timestamp};

use crate::scenery::{account, decimal, limit_order, symbol};

/// More open orders than a page looks at.
const MANY: u64 = limits::ORDERS_EXAMINED_MAX as u64 + 10;

struct Market {
    exchange: Exchange,
    position: u64,
}

impl Market {
    fn new() -> Self {
        let mut market = Self {
            exchange: Exchange::empty(),
            position: 0,
        };
        for who in ["a", "b"] {
            let (account, cash) = (account(who), decimal("1000000"));
            market.apply(&Command::CreateAccount { account, cash });
        }
        market
    }

    fn apply(&mut self, command: &Command) {
        self.position += 1;
        let local = Principal::local();
        let context = context(self.position, 1_000, &local);
        let outcome = self.exchange.apply(&context, command);
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        self.exchange.drain_events(&mut |_| {});
    }

    fn order(&mut self, who: &str, name: &str) {
        let order = Order {
            symbol: symbol(name),
            ..limit_order(who, Side::Buy, "1", "1")
        };
        self.apply(&Command::Order(order));
    }

    fn cancel(&mut self, who: &str, id: u64) {
        self.apply(&Command::Cancel {
            account: account(who),
            order: OrderRef::Id(OrderId(id)),
        });
    }

    /// The ids on a page of two of a's orders, and where the next begins.
    fn page(&self, name: Option<&str>, cursor: Option<u64>) -> (Vec<u64>, Option<u64>) {
        let query = Query::Orders {
            account: account("a"),
            symbol: name.map(symbol),
            cursor: cursor.map(Cursor),
            limit: 2,
        };
        let answer = self
            .exchange
            .query(Timestamp(1_000), &Principal::local(), &query);
        let Answer::Orders { orders, next } = answer else {
            panic!("not a page: {answer:?}");
        };
        let ids = orders.iter().map(|order| order.order.0).collect();
        (ids, next.map(|Cursor(id)| id))
    }
}

#[test]
fn a_page_of_one_symbol_passes_over_so_many_orders_of_others() {
    let mut market = Market::new();
    market.order("a", "Y");
    for _ in 0..MANY {
        market.order("a", "X");
    }
    market.order("a", "Y");
    let end = limits::ORDERS_EXAMINED_MAX as u64 + 2;
    assert_eq!(market.page(Some("Y"), None), (vec![1], Some(end)));
    assert_eq!(market.page(Some("Y"), Some(end)), (vec![MANY + 2], None));
    assert_eq!(market.page(Some("X"), None), (vec![2, 3], Some(4)));
}

#[test]
fn a_page_that_began_at_an_ended_order_is_found_in_a_long_list() {
    let mut market = Market::new();
    for _ in 0..MANY {
        market.order("a", "X");
    }
    for _ in 0..MANY {
        market.order("b", "X");
    }
    market.order("a", "X");
    let last = 2 * MANY + 1;
    market.cancel("a", 7);
    assert_eq!(market.page(None, Some(7)), (vec![8, 9], Some(10)));
    market.cancel("a", MANY - 3);
    let behind = (vec![MANY - 2, MANY - 1], Some(MANY));
    assert_eq!(market.page(None, Some(MANY - 3)), behind);

    market.order("a", "X");
    market.cancel("a", MANY);
    let later = MANY + limits::ORDERS_EXAMINED_MAX as u64;
    assert_eq!(market.page(None, Some(MANY)), (vec![], Some(later)));
    assert_eq!(market.page(None, Some(later)), (vec![last, last + 1], None));
    assert_eq!(market.page(None, Some(last + 2)), (vec![], None));
    assert_eq!(market.page(None, Some(u64::MAX)), (vec![], None));
}
