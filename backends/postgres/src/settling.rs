//! Retries a batch of commands until each has one answer, also after a lost connection.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use turnstile_contract::{Failure, Request, Tally};
use turnstile_types::Timestamp;

use crate::{
    connection::Connection,
    kept::{BatchAnswers, DatabaseMachine},
    pool::ConnectionPool,
    trouble::StatementFailure,
};

/// How often a batch is tried again after conflicts with others. Ours take nearly all their locks in one
/// order and meet few, so this is for strangers' transactions too.
const TRIES_MAX: u32 = 10;

/// How long we try to find out, after a connection was lost, what became of the commands on it.
const RESOLVE_MAX: Duration = Duration::from_secs(10);

/// How long we wait for an answer. The database gives up before, unless it is cut off.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// Decides a batch.
pub(crate) async fn settle<M: DatabaseMachine>(
    (pool, tally): (&ConnectionPool, &Tally),
    now: Timestamp,
    requests: &[&Request],
) -> BatchAnswers<M> {
    match decide::<M>((pool, tally), now, requests).await {
        Ok(decided) => decided,
        Err(StatementFailure::Lost(reason)) => {
            resolve::<M>((pool, tally), now, (requests, &reason)).await
        }
        Err(StatementFailure::Broken(_)) if requests.len() > 1 => {
            // One of them is not to its taste, and took the others with it.
            let mut decided = Vec::with_capacity(requests.len());
            for request in requests {
                decided.extend(Box::pin(settle::<M>((pool, tally), now, &[request])).await);
            }
            decided
        }
        Err(trouble) => {
            let failure = Failure::from(trouble);
            requests.iter().map(|_| Err(failure.clone())).collect()
        }
    }
}

/// Finds out what became of commands whose answers were lost: those with a key are sent again, and
/// answered what they were answered first.
async fn resolve<M: DatabaseMachine>(
    (pool, tally): (&ConnectionPool, &Tally),
    now: Timestamp,
    (requests, reason): (&[&Request], &str),
) -> BatchAnswers<M> {
    let keyed: Vec<&Request> = requests
        .iter()
        .copied()
        .filter(|request| request.key().is_some())
        .collect();
    let until = Instant::now() + RESOLVE_MAX;
    let mut found = Vec::new();
    while !keyed.is_empty() {
        match decide::<M>((pool, tally), now, &keyed).await {
            Ok(decided) => {
                tally.resolved.add(decided.len() as u64);
                found = decided;
                break;
            }
            Err(_) if Instant::now() < until => pool.wait_for_pause().await,
            Err(_) => break,
        }
    }
    let mut found = found.into_iter();
    let unknown = || Failure::Unknown {
        reason: reason.to_owned(),
    };
    let answer = |request: &&Request| {
        let keyed = request.key().map(|_key| found.next());
        keyed.flatten().unwrap_or_else(|| Err(unknown()))
    };
    requests.iter().map(answer).collect()
}

/// Tries until no other transaction comes first.
async fn decide<M: DatabaseMachine>(
    (pool, tally): (&ConnectionPool, &Tally),
    now: Timestamp,
    requests: &[&Request],
) -> Result<BatchAnswers<M>, StatementFailure> {
    let mut tries = 0;
    loop {
        let trouble = match decide_once::<M>((pool, tally), now, requests).await {
            Ok(decided) => {
                tally.batches.add(1);
                tally.commands.add(requests.len() as u64);
                return Ok(decided);
            }
            Err(trouble) => trouble,
        };
        tries += 1;
        match trouble {
            StatementFailure::Conflict | StatementFailure::Deadlock if tries == TRIES_MAX => {
                tally.given_up.add(requests.len() as u64);
                return Err(trouble);
            }
            StatementFailure::Conflict => tally.serialization_retries.add(1),
            StatementFailure::Deadlock => tally.deadlock_retries.add(1),
            StatementFailure::Unavailable(_)
            | StatementFailure::Lost(_)
            | StatementFailure::Broken(_) => return Err(trouble),
        }
    }
}

async fn decide_once<M: DatabaseMachine>(
    (pool, tally): (&ConnectionPool, &Tally),
    now: Timestamp,
    requests: &[&Request],
) -> Result<BatchAnswers<M>, StatementFailure> {
    let mut lease = pool.lease(tally).await?;
    tally.round_trips.add(1);
    let deciding = M::decide(&mut lease, now, requests);
    let Ok(decided) = timeout(ANSWER_MAX, deciding).await else {
        lease.abandon();
        return Err(StatementFailure::silent_later());
    };
    let mut decided = decided?;
    // All has been committed by now: what is missing must not be tried again.
    let unanswered = || {
        let reason = "the database did not answer every command".to_owned();
        Err(Failure::Broken { reason })
    };
    decided.resize_with(requests.len(), unanswered);
    Ok(decided)
}

/// Something that changes nothing, or that may be done twice.
pub(crate) trait RepeatableTask: Sync {
    type Outcome: Send;

    fn run<'a>(
        &'a self,
        connection: &'a mut Connection,
    ) -> turnstile_contract::Future<'a, Result<Self::Outcome, StatementFailure>>;
}

/// Runs an errand, again on another connection when one was lost.
pub(crate) async fn run<E: RepeatableTask>(
    (pool, tally): (&ConnectionPool, &Tally),
    errand: &E,
) -> Result<E::Outcome, Failure> {
    let mut tries = 0;
    loop {
        let mut lease = pool.lease(tally).await?;
        tally.round_trips.add(1);
        let ran = timeout(ANSWER_MAX, errand.run(&mut lease)).await;
        let trouble = match ran {
            Ok(Ok(outcome)) => return Ok(outcome),
            Ok(Err(trouble)) => trouble,
            Err(_timeout) => {
                lease.abandon();
                StatementFailure::silent()
            }
        };
        tries += 1;
        match trouble {
            StatementFailure::Lost(_) | StatementFailure::Conflict | StatementFailure::Deadlock
                if tries < TRIES_MAX => {}
            StatementFailure::Lost(reason) => return Err(Failure::Unavailable { reason }),
            trouble => return Err(trouble.into()),
        }
    }
}
