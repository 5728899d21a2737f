//! Histories that start on one back end and continue on a copy of it.

use turnstile_rooms::{Command, Rooms};
use turnstile_seed::Random;
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Key, Timestamp};

use super::{Stand, history::CheckedHistory, rooms};
use crate::{Backend, Request};

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
    let mut course = CheckedHistory::new(&first);
    course.not_asked = empty.unsupported();
    drop(empty);
    let played = course.play(&mut random, steps).await;
    played.map_err(|difference| course.told("the history before", &difference))?;
    let now = course.now;
    // Its own back end lets go of the state, and only the history is kept.
    let course = course.moved_to(&());
    drop(first);
    copy(now).await?;
    let second = to.another().await;
    let mut course = course.moved_to(&second);
    let compared = course.compare_all().await;
    compared.map_err(|difference| course.told("the copy", &difference))?;
    let mut retried = course.retry().await;
    if random.one_in(2) && retried.is_ok() {
        retried = course.retry_at_the_end().await;
    }
    retried.map_err(|difference| course.told("a retry after the copy", &difference))?;
    let played = course.go_on(&mut random, steps).await;
    played.map_err(|difference| course.told("the history after", &difference))
}

impl<B: Backend<Rooms>> CheckedHistory<'_, Rooms, B> {
    /// Sends all that has a key again when the oldest key has its last moment, and in the next.
    async fn retry_at_the_end(&mut self) -> Result<(), String> {
        let young = self.keys.values().map(|first| first.at);
        let oldest = young.filter(|&at| self.now.ms_since(at) < KEY_MS).min();
        let Some(at) = oldest else {
            return Ok(());
        };
        self.now = self.now.max(Timestamp(at.0 + KEY_MS - 1));
        self.retry().await?;
        self.now = self.now.max(Timestamp(at.0 + KEY_MS));
        self.retry().await
    }

    /// Sends all that has a key again, and other commands under the same keys: who is remembered has its
    /// first answer or is refused, who is forgotten is decided anew.
    async fn retry(&mut self) -> Result<(), String> {
        let firsts = self.keys.values().map(|first| first.request.clone());
        for request in firsts.collect::<Vec<_>>() {
            let property = rooms::name(&format!("anew-{}", self.last));
            let open = false;
            let command = Command::AddProperty { property, open };
            let key = request.key().map(|key| Key::parse(key.as_bytes()));
            let key = key.transpose().expect("a key of the suite");
            let other = Request::new::<Rooms>(request.principal, key, &command);
            self.execute(vec![request, other]).await?;
        }
        Ok(())
    }
}
