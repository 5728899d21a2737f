//! What a crash test knows of the service that it asks.

use std::fmt::Debug;

use rand::rngs::StdRng;
use turnstile_client::Connection;

use super::answer::Answer;

/// What clients ask of one service, and the books that it must keep.
///
/// Contract: requests are entered in the order of their positions, each once. What was learned
/// decides what is asked for next, and nothing else.
pub(crate) trait Books: Clone + Debug + Default {
    /// One request that may change something.
    type Request: Clone + Debug;

    /// Before the number of a request in its idempotency key: the services share the keys.
    const KEYS: &str;

    /// What is sent to a new directory before anything else.
    fn opening() -> Vec<Vec<String>>;

    /// The next request, made from a seed.
    fn next(&mut self, rng: &mut StdRng) -> Self::Request;

    /// A request's words, with its idempotency key.
    fn words(request: &Self::Request, key: &str) -> Vec<String>;

    /// Learns what can be asked about from now on.
    fn learn(&mut self, request: &Self::Request, answer: &Answer);

    /// Enters a request with the answer that it was given, which must be a right one.
    fn enter(&mut self, request: &Self::Request, answer: &Answer) -> Result<(), String>;

    /// Compares what a server lists with what was entered.
    fn compare(&mut self, connection: &mut Connection) -> Result<(), String>;
}
