//! The seam between the doors and a database.

use std::{fmt, pin::Pin};

use turnstile_chassis::SubjectOf;
use turnstile_types::{Machine, Principal, Timestamp};

use crate::{Facts, Failure, Request, Scope, Tally};

/// Something that will be there: a future that any thread may wait for.
pub type Future<'a, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// What became of a command of a machine. The position is the back end's own: it grows from each
/// command to those that saw its effect.
pub type Reply<M> = turnstile_sequencer::Reply<<M as Machine>::Outcome>;

/// What is answered to a query.
pub type Answered<M> = Result<<M as Machine>::Answer, Failure>;

/// A machine whose words may travel between threads.
pub trait Service:
    Machine<
        Outcome: Send + Sync + 'static,
        Answer: Send + Sync + 'static,
        Query: Clone + Send + Sync + 'static,
    > + SubjectOf
    + 'static
{
}

impl<M> Service for M where
    M: Machine<
            Outcome: Send + Sync + 'static,
            Answer: Send + Sync + 'static,
            Query: Clone + Send + Sync + 'static,
        > + SubjectOf
        + 'static
{
}

/// A service whose state lies in a database.
///
/// Contract. Whatever order the commands of all callers, of this server and of others on the same
/// database, are decided in, the outcomes are those of the machine `M` in that order: what conflicts
/// is told apart by the database itself. A command is done whole or not at all, and answered only
/// when the database has committed it. Under an idempotency key it is decided once, whoever asks
/// again and however often the connection was lost meanwhile; the key, the effect and the answer are
/// one transaction.
///
/// A command that names a booking or hold outside of its [`Scope`](crate::Scope) is refused as
/// [`Failure::Forbidden`], does nothing and leaves no key. That is judged together with the decision:
/// by what is there when the command is decided. A retry under a known key gets its first answer,
/// whatever has become since of what it names.
pub trait Backend<M: Service>: fmt::Debug + Send + Sync {
    /// Decides commands, each on its own, in their order, with as few round trips as the database
    /// allows; the answers come in the same order, one for each. `now` is the caller's clock, by
    /// which holds expire; it may have gone back.
    fn execute<'a>(
        &'a self,
        now: Timestamp,
        requests: &'a [Request],
    ) -> Future<'a, Vec<Result<Reply<M>, Failure>>>;

    /// Answers a query from what is committed.
    fn query<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a M::Query,
    ) -> Future<'a, Answered<M>>;

    /// The same for a caller that may see this only, if it names something by a reference. A query that is
    /// outside is refused as [`Failure::Forbidden`].
    fn query_within<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        (query, scope): (&'a M::Query, &'a Scope),
    ) -> Future<'a, Answered<M>> {
        Box::pin(async move {
            let answer = self.query(now, principal, query).await?;
            scope.admit_answer::<M>(principal, (query, &answer))?;
            Ok(answer)
        })
    }

    /// Does what is due at `now`, as far as it is not done when somebody asks, and forgets what may
    /// be forgotten; called about once a second. An outcome never depends on it.
    fn tick(&self, now: Timestamp) -> Future<'_, Result<(), Failure>>;

    /// What the database is and how safely it keeps what it is told, as it says itself.
    fn facts(&self) -> Future<'_, Result<Facts, Failure>>;

    /// The operations of `M` that it does not offer, by their names in `docs/backends.md`. Whoever
    /// asks for one is refused as [`Failure::Unsupported`].
    fn unsupported(&self) -> &'static [&'static str] {
        &[]
    }

    /// How many batches it works on at the same time; what comes meanwhile goes together in the next.
    fn lanes(&self) -> usize {
        4
    }

    /// What has been counted since the start.
    fn tally(&self) -> &Tally;
}
