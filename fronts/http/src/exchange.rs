//! The exchange in HTTP: its routes, and what its operations answer.

mod event;
pub mod feed;

use turnstile_exchange::{Answer, Done};

use crate::{
    code::Code,
    operation::{OperationRoute, delete, get, post, put},
    served::serve,
};

pub use event::{Interest, concerns};

/// What its declaration cannot say.
pub(crate) const ROUTES: &[OperationRoute] = &[
    post("place_order", "/orders").makes(&["/orders/{order}"]),
    get("get_order", "/orders/{order}").versioned(),
    post("cancel_order", "/orders/{order}/cancel"),
    post("replace_order", "/orders/{order}/replace"),
    post("cancel_orders", "/orders/cancel"),
    get("get_depth", "/books/{symbol}").versioned(),
    get("get_queue", "/books/{symbol}/queue").versioned(),
    get("list_trades", "/symbols/{symbol}/trades"),
    post("create_account", "/accounts").makes(&[]),
    get("list_accounts", "/accounts"),
    get("get_account", "/accounts/{account}"),
    post("deposit", "/accounts/{account}/deposits"),
    post("withdraw", "/accounts/{account}/withdrawals"),
    put("set_limits", "/accounts/{account}/limits"),
    get("list_orders", "/accounts/{account}/orders"),
    post("create_symbol", "/symbols").makes(&[]),
    get("list_symbols", "/symbols"),
    get("get_symbol", "/symbols/{symbol}"),
    post("grant", "/symbols/{symbol}/grants"),
    put("set_band", "/symbols/{symbol}/band"),
    put("halt", "/symbols/{symbol}/halt"),
    delete("resume", "/symbols/{symbol}/halt"),
    get("get_totals", "/totals"),
];

serve! {
    turnstile_exchange::Exchange, |_door| (),
    { Answer::Refused(refusal) => Code::from(*refusal) }

    fn version(answer: &Answer) -> Option<u64> {
        match answer {
            Answer::Depth(depth) => Some(depth.seq),
            Answer::Queue { seq, .. } => Some(*seq),
            _ => None,
        }
    }

    /// The same order under the same client id makes no other.
    fn is_new(done: &Done) -> bool {
        !matches!(done, Done::Accepted { again: true, .. })
    }
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{
        Cash, Decimal, EndReason, Exchange, OrderId, Outcome, Ticket, TicketState,
    };

    use super::*;
    use crate::served::answer_of;

    fn told(path: &str, done: Done, replayed: bool) -> (u16, Option<String>, String) {
        let path = format!("/v1/exchange{path}");
        answer_of::<Exchange>(&path, (), replayed, &Outcome::Done(done)).unwrap()
    }

    #[test]
    fn an_order_is_told_with_what_became_of_it() {
        let ticket = Ticket {
            order: OrderId(17),
            state: TicketState::Ended(EndReason::Immediate),
            filled: Decimal::new(25, 1),
            value: Cash(250_000_000),
            open: Decimal::ZERO,
        };
        let accepted = |again| Done::Accepted { ticket, again };
        let location = Some("/v1/exchange/orders/17".to_owned());
        let whole = r#"{"order":17,"state":"cancelled","filled":"2.5","value":"2.5","open":"0","reason":"immediate","position":9}"#;
        assert_eq!(
            told("/orders", accepted(false), false),
            (201, location.clone(), whole.to_owned())
        );
        let again = whole.replace(r#","position""#, r#","again":true,"position""#);
        assert_eq!(
            told("/orders", accepted(true), false),
            (200, location.clone(), again)
        );
        let replayed = whole.replace('}', r#","replayed":true}"#);
        assert_eq!(
            told("/orders", accepted(false), true),
            (200, location, replayed)
        );
        let ticket = Ticket {
            state: TicketState::Open,
            open: Decimal::new(5, 0),
            filled: Decimal::ZERO,
            value: Cash(0),
            ..ticket
        };
        let replaced = Done::Replaced {
            ticket,
            kept_place: true,
        };
        assert_eq!(
            told("/orders/17/replace", replaced, false).2,
            r#"{"order":17,"state":"open","filled":"0","value":"0","open":"5","kept_place":true,"position":9}"#
        );
    }
}
