//! Idempotency keys under pressure.

use futures_util::future::join_all;
use turnstile_exchange::{
    AccountView, Answer, Command, Exchange, Order, Query, SelfTrade, Side, TimeInForce,
};
use turnstile_types::{Key, Principal};

use super::{
    draw,
    history::{BEGINNING, Pair},
};
use crate::{Backend, Failure, Reply, Request, conformance::Stand};

type Decided = Result<Reply<Exchange>, Failure>;

/// Many callers send one order under one key through two back ends at once: it is decided once, all
/// have the same answer, and it is paid for once.
///
/// # Errors
/// It is not so.
pub async fn check_keys_in_a_crowd(
    stand: &impl Stand<Exchange>,
    rounds: u32,
) -> Result<(), String> {
    let first = stand.fresh().await;
    let second = stand.another().await;
    Pair::new(&first).furnish().await?;
    for round in 0..rounds {
        let buy = Command::Order(Order {
            account: draw::account("a"),
            symbol: draw::symbol("X"),
            side: Side::Buy,
            quantity: draw::decimal("1"),
            limit: Some(draw::decimal("2")),
            time_in_force: TimeInForce::GoodTillCancel,
            self_trade: SelfTrade::Skip,
            client_id: None,
        });
        let key = format!("round-{round}");
        let key = Key::parse(key.as_bytes()).expect("a key of the suite");
        let request = [Request::new::<Exchange>(
            Principal::local(),
            Some(key),
            &buy,
        )];
        let results = join_all((0..16).map(|caller| {
            let backend = if caller % 2 == 0 { &first } else { &second };
            backend.execute(BEGINNING, &request)
        }))
        .await;
        once(&results.into_iter().flatten().collect::<Vec<_>>())?;
        let open = open_orders(&first).await?;
        if open != round + 1 {
            return Err(format!(
                "{open} orders are open after {} were sent",
                round + 1
            ));
        }
    }
    Ok(())
}

/// One first answer, and the others the same again.
fn once(results: &[Decided]) -> Result<(), String> {
    let is_first = |result: &&Decided| result.as_ref().is_ok_and(|reply| !reply.replayed);
    let mut decided = results.iter().filter(is_first);
    let (Some(Ok(once)), None) = (decided.next(), decided.next()) else {
        return Err(format!("it is not decided once: {results:?}"));
    };
    let again = Ok(Reply::<Exchange> {
        replayed: true,
        ..once.clone()
    });
    let other = results
        .iter()
        .find(|&result| !is_first(&result) && *result != again);
    other.map_or(Ok(()), |other| {
        Err(format!("expected {again:?}, got {other:?}"))
    })
}

async fn open_orders(backend: &impl Backend<Exchange>) -> Result<u32, String> {
    let query = Query::Account {
        account: draw::account("a"),
        cursor: None,
        limit: 1,
    };
    match backend.query(BEGINNING, &Principal::local(), &query).await {
        Ok(Answer::Account(AccountView { open_orders, .. })) => Ok(open_orders),
        other => Err(format!("expected the account, got {other:?}")),
    }
}
