//! Idempotency keys under pressure.

use futures_util::future::join_all;
use turnstile_rooms::{Command, Outcome, Rooms, Wish};
use turnstile_seed::Random;
use turnstile_types::{Key, Principal};

use super::{Stand, draw, history::BEGINNING};
use crate::{Backend, Failure, Reply, Request};

pub(super) fn keyed(key: &str, command: &Command<'_>) -> Request {
    let key = Key::parse(key.as_bytes()).expect("a key of the suite");
    Request::new::<Rooms>(Principal::local(), Some(key), command)
}

pub(super) async fn furnish(backend: &impl Backend<Rooms>) -> Result<(), String> {
    let furniture: Vec<_> = draw::furniture()
        .iter()
        .map(|command| Request::new::<Rooms>(Principal::local(), None, command))
        .collect();
    for result in backend.execute(BEGINNING, &furniture).await {
        done(&result)?;
    }
    Ok(())
}

type Decided = Result<Reply<Rooms>, Failure>;

fn done(result: &Decided) -> Result<&Reply<Rooms>, String> {
    match result {
        Ok(reply) if matches!(reply.outcome, Outcome::Done(_)) => Ok(reply),
        other => Err(format!("expected something done, got {other:?}")),
    }
}

fn refused(result: &Decided) -> Result<&Reply<Rooms>, String> {
    match result {
        Ok(reply) if matches!(reply.outcome, Outcome::Refused(_)) => Ok(reply),
        other => Err(format!("expected a refusal, got {other:?}")),
    }
}

fn again(result: &Decided, first: &Reply<Rooms>) -> Result<(), String> {
    let expected = Ok(Reply::<Rooms> {
        replayed: true,
        ..first.clone()
    });
    if *result == expected {
        return Ok(());
    }
    Err(format!("expected {expected:?}, got {result:?}"))
}

/// Many callers send one command under one key through two back ends at once: it is decided once,
/// and all have the same answer.
///
/// # Errors
/// It is not.
pub async fn check_keys_in_a_crowd(stand: &impl Stand, rounds: u64) -> Result<(), String> {
    let first = stand.fresh().await;
    let second = stand.another().await;
    furnish(&first).await?;
    for round in 0..rounds {
        let hold = Command::Hold {
            property: draw::name("open-house"),
            wish: Wish::Room(draw::name(&format!("r{round}"))),
            stay: draw::stay(&mut Random::new(round)),
            ttl_ms: 1_000,
        };
        let request = [keyed(&format!("round-{round}"), &hold)];
        let results = join_all((0..16).map(|caller| {
            let backend = if caller % 2 == 0 { &first } else { &second };
            backend.execute(BEGINNING, &request)
        }))
        .await;
        let results: Vec<_> = results.into_iter().flatten().collect();
        let is_first = |result: &&Decided| result.as_ref().is_ok_and(|reply| !reply.replayed);
        let mut decided = results.iter().filter(is_first);
        let (Some(once), None) = (decided.next(), decided.next()) else {
            return Err(format!("it is not decided once: {results:?}"));
        };
        let once = done(once)?;
        for result in results.iter().filter(|result| !is_first(result)) {
            again(result, once)?;
        }
    }
    Ok(())
}

/// A refused command under a key is refused again, even when it could be done by now; and what is
/// wrong with one command of a batch is nothing to the others.
///
/// # Errors
/// It is not so.
pub async fn check_keys_of_failures(stand: &impl Stand) -> Result<(), String> {
    let backend = stand.fresh().await;
    furnish(&backend).await?;
    let hold = |room: &str| Command::Hold {
        property: draw::name("grand"),
        wish: Wish::Room(draw::name(room)),
        stay: draw::stay(&mut Random::new(1)),
        ttl_ms: 1_000,
    };
    let requests = [
        keyed("a", &hold("nowhere")),
        keyed("b", &hold("1")),
        keyed("b", &hold("2")),
        keyed("a", &hold("nowhere")),
        keyed("c", &hold("2")),
        keyed("d", &hold("2")),
    ];
    let results = backend.execute(BEGINNING, &requests).await;
    let [unknown, held, reused, unknown_again, second, sold_out] = results.as_slice() else {
        return Err(format!("{} answers to six commands", results.len()));
    };
    let first = done(held)?.position;
    if *reused != Err(Failure::KeyReused { first }) {
        return Err(format!("expected a key used again, got {reused:?}"));
    }
    again(unknown_again, refused(unknown)?)?;
    done(second)?;
    refused(sold_out)?;
    Ok(())
}
