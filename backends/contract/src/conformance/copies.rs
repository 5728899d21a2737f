//! Histories that start on one back end and continue on a copy of it.

use turnstile_seed::Random;
use turnstile_types::Timestamp;

use super::{
    Stand,
    history::{Pair, go_on, play},
};
use crate::Backend;

/// Plays a history on one back end, has `copy` move its state to another, which is empty, as it is
/// at an instant, and goes on there: all that can be asked has the machine's answers, what is sent
/// again under a key has its first answer, and no reference is given again.
///
/// # Errors
/// An answer is not the machine's, or the state was not copied.
pub async fn check_copy<A: Stand, B: Stand>(
    (from, to): (&A, &B),
    seed: u64,
    steps: u32,
    copy: impl AsyncFnOnce(Timestamp) -> Result<(), String>,
) -> Result<(), String> {
    let mut random = Random::new(seed);
    let empty = to.fresh().await;
    let first = from.fresh().await;
    let mut pair = Pair::new(&first);
    pair.not_asked = empty.unsupported();
    drop(empty);
    let played = play(&mut pair, &mut random, steps).await;
    played.map_err(|difference| pair.told("the history before", &difference))?;
    let now = pair.now;
    // Its own back end lets go of the state, and only the history is kept.
    let pair = pair.moved_to(&());
    drop(first);
    copy(now).await?;
    let second = to.another().await;
    let mut pair = pair.moved_to(&second);
    let compared = pair.compare().await;
    compared.map_err(|difference| pair.told("the copy", &difference))?;
    let mut retried = pair.retry().await;
    if random.one_in(2) && retried.is_ok() {
        retried = pair.retry_at_the_end().await;
    }
    retried.map_err(|difference| pair.told("a retry after the copy", &difference))?;
    let played = go_on(&mut pair, &mut random, steps).await;
    played.map_err(|difference| pair.told("the history after", &difference))
}
