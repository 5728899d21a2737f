//! Idempotency keys under pressure.

use futures_util::future::join_all;
use turnstile_rooms::{Command, Outcome, Rooms, Wish};
use turnstile_seed::Random;

use super::{
    BEGINNING, Stand, Suite,
    history::{CheckedHistory, again, keyed},
    rooms,
};
use crate::{Backend, Failure, Reply};

/// Many callers send one command under one key through two back ends at once: it is decided once, all
/// have the same answer, and it has its effect once.
///
/// # Errors
/// It is not so.
pub async fn check_keys_in_a_crowd<M: Suite>(
    stand: &impl Stand<M>,
    rounds: u32,
) -> Result<(), String> {
    let first = stand.fresh().await;
    let second = stand.another().await;
    let mut course = CheckedHistory::new(&first);
    course.furnish().await?;
    for round in 0..rounds {
        let request = [keyed::<M>(&format!("round-{round}"), &M::done_in(round))];
        let results = join_all((0..16).map(|caller| {
            let backend = if caller % 2 == 0 { &first } else { &second };
            backend.execute(BEGINNING, &request)
        }))
        .await;
        let results: Vec<_> = results.into_iter().flatten().collect();
        let is_first =
            |result: &&Result<Reply<M>, _>| result.as_ref().is_ok_and(|reply| !reply.replayed);
        let mut decided = results.iter().filter(is_first);
        let (Some(Ok(once)), None) = (decided.next(), decided.next()) else {
            return Err(format!("it is not decided once: {results:?}"));
        };
        for result in results.iter().filter(|result| !is_first(result)) {
            answered_again::<M>(result, once)?;
        }
        course.check(&request[0], Ok(once.clone()))?;
    }
    course.compare_all().await
}

fn answered_again<M: Suite>(
    result: &Result<Reply<M>, Failure>,
    first: &Reply<M>,
) -> Result<(), String> {
    let expected = Ok(again::<M>(first));
    if *result == expected {
        return Ok(());
    }
    Err(format!("expected {expected:?}, got {result:?}"))
}

/// A refused command under a key is refused again, even when it could be done by now; and what is
/// wrong with one command of a batch is nothing to the others.
///
/// # Errors
/// It is not so.
pub async fn check_keys_of_failures(stand: &impl Stand) -> Result<(), String> {
    let backend = stand.fresh().await;
    CheckedHistory::new(&backend).furnish().await?;
    let hold = |room: &str| Command::Hold {
        property: rooms::name("grand"),
        wish: Wish::Room(rooms::name(room)),
        stay: rooms::stay(&mut Random::new(1)),
        ttl_ms: 1_000,
    };
    let requests = [
        ("a", "nowhere"),
        ("b", "1"),
        ("b", "2"),
        ("a", "nowhere"),
        ("c", "2"),
        ("d", "2"),
    ];
    let requests = requests.map(|(key, room)| keyed::<Rooms>(key, &hold(room)));
    let results = backend.execute(BEGINNING, &requests).await;
    let [unknown, held, reused, unknown_again, second, sold_out] = results.as_slice() else {
        return Err(format!("{} answers to six commands", results.len()));
    };
    let first = decided(held, true)?.position;
    if *reused != Err(Failure::KeyReused { first }) {
        return Err(format!("expected a key used again, got {reused:?}"));
    }
    answered_again::<Rooms>(unknown_again, decided(unknown, false)?)?;
    decided(second, true)?;
    decided(sold_out, false)?;
    Ok(())
}

/// The reply that says that something was done, or refused.
fn decided(result: &Result<Reply<Rooms>, Failure>, is_done: bool) -> Result<&Reply<Rooms>, String> {
    match result {
        Ok(reply) if matches!(reply.outcome, Outcome::Done(_)) == is_done => Ok(reply),
        other => Err(format!(
            "expected that it is done: {is_done}, got {other:?}"
        )),
    }
}
