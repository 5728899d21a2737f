//! What the market takes for true.

use super::{
    HeldAmount, LimitOrder, OrderCancelled, OrderSide, OrderState, OrderTicket, Ordered,
    TradingModel, TradingOperation,
};
use crate::Model as _;

const ADA: u16 = 0;
const BOB: u16 = 1;

fn order(account: u16, side: OrderSide, quantity: u64, limit: u64) -> LimitOrder {
    LimitOrder {
        account,
        symbol: 0,
        side,
        quantity,
        limit,
        immediate: false,
    }
}

fn accepted(
    order: LimitOrder,
    number: u64,
    state: OrderState,
    told: (u64, u64, u64),
) -> TradingOperation {
    let (filled, value, open) = told;
    let ticket = OrderTicket {
        state,
        filled,
        value,
        open,
    };
    let answer = Ordered::Accepted {
        order: number,
        ticket,
    };
    TradingOperation::Order { order, answer }
}

fn rests(order: LimitOrder, number: u64) -> TradingOperation {
    accepted(order, number, OrderState::Open, (0, 0, order.quantity))
}

fn refused(order: LimitOrder, answer: Ordered) -> TradingOperation {
    TradingOperation::Order { order, answer }
}

fn cancel(account: u16, order: u64, answer: OrderCancelled) -> TradingOperation {
    TradingOperation::Cancel {
        account,
        order,
        answer,
    }
}

fn replay(operations: &[TradingOperation]) -> (TradingModel, Vec<String>) {
    let mut market = TradingModel::new(2, 1, 10_000, 100);
    let sentences = (1..)
        .zip(operations)
        .filter_map(|(position, operation)| market.apply(position, operation).err())
        .collect();
    (market, sentences)
}

const fn held(free: u64, reserved: u64) -> HeldAmount {
    HeldAmount { free, reserved }
}

#[test]
fn orders_trade_at_the_price_of_who_waited_longest() {
    let immediate = LimitOrder {
        immediate: true,
        ..order(BOB, OrderSide::Sell, 9, 52)
    };
    let taker = order(ADA, OrderSide::Buy, 25, 52);
    let (market, found) = replay(&[
        rests(order(BOB, OrderSide::Sell, 10, 51), 1),
        rests(order(BOB, OrderSide::Sell, 10, 50), 2),
        accepted(taker, 3, OrderState::Open, (20, 10 * 50 + 10 * 51, 5)),
        accepted(immediate, 4, OrderState::Immediate, (5, 5 * 52, 0)),
        rests(order(ADA, OrderSide::Buy, 4, 10), 5),
        accepted(
            order(ADA, OrderSide::Sell, 6, 10),
            6,
            OrderState::SelfTrade,
            (0, 0, 0),
        ),
        cancel(BOB, 1, OrderCancelled::Gone),
    ]);
    assert_eq!(found, Vec::<String>::new());
    let paid = 10 * 50 + 10 * 51 + 5 * 52;
    assert_eq!(
        market.cash(),
        [held(10_000 - paid - 40, 40), held(10_000 + paid, 0)]
    );
    assert_eq!(market.shares(), [[held(125, 0)], [held(75, 0)]]);
    assert_eq!(market.open(), 1);
    let look = |bid, ask| TradingOperation::Look {
        symbol: 0,
        bid,
        ask,
    };
    assert!(market.agrees(&look(Some((10, 4)), None)));
    assert!(!market.agrees(&look(Some((10, 4)), Some((51, 1)))));
    assert!(!market.agrees(&look(None, None)));
}

#[test]
fn each_broken_promise_has_a_sentence() {
    let buy = order(ADA, OrderSide::Buy, 10, 60);
    let first = [51, 50].map(|limit| order(BOB, OrderSide::Sell, 10, limit));
    let rows = [
        // A better price was there.
        (
            accepted(buy, 3, OrderState::Filled, (10, 510, 0)),
            "order 2 at 50 was first in line",
        ),
        (accepted(buy, 3, OrderState::Open, (9, 450, 1)), "became"),
        (
            rests(order(ADA, OrderSide::Buy, 1, 40), 2),
            "which the order of position 2 has",
        ),
        (
            rests(order(ADA, OrderSide::Buy, 300, 40), 3),
            "but needs 12000 of 10000",
        ),
        (refused(buy, Ordered::NotCovered), "but needs 600 of 10000"),
        (refused(buy, Ordered::Strange), "for no reason"),
        (
            cancel(BOB, 2, OrderCancelled::Gone),
            "10 shares of it wait since position 2: it is lost",
        ),
        (
            cancel(BOB, 2, OrderCancelled::Done(9)),
            "took 9 shares, but 10 were open",
        ),
        (
            cancel(ADA, 2, OrderCancelled::Done(10)),
            "for another account",
        ),
        (
            cancel(ADA, 7, OrderCancelled::Done(10)),
            "nothing of it was open",
        ),
        (cancel(ADA, 7, OrderCancelled::Strange), "for no reason"),
    ];
    for (operation, sentence) in rows {
        let (_, found) = replay(&[rests(first[0], 1), rests(first[1], 2), operation]);
        assert!(
            found.len() == 1 && found[0].contains(sentence),
            "{found:?}: {sentence}"
        );
    }
}

#[test]
fn what_may_have_happened_clouds_everything_after_it() {
    let mut market = TradingModel::new(2, 1, 10_000, 100);
    assert!(!market.is_clouded());
    market.suspect(&rests(order(ADA, OrderSide::Buy, 1, 1), 1));
    let nonsense = cancel(ADA, 7, OrderCancelled::Strange);
    assert_eq!(
        (market.is_clouded(), market.apply(1, &nonsense)),
        (true, Ok(()))
    );
}
