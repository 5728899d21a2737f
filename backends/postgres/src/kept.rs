//! What a service provides in order to run in a database.

use turnstile_contract::{Failure, Future, Reply, Request, Service};
use turnstile_types::{Principal, Timestamp};

use crate::{connection::Connection, trouble::StatementFailure};

/// What became of each command of a batch.
pub(crate) type BatchAnswers<M> = Vec<Result<Reply<M>, Failure>>;

/// A service with tables and statements of its own. Connections, retries, lost connections and
/// pages of commands are no concern of it.
pub(crate) trait DatabaseMachine: Service {
    /// The schema of its tables.
    const SCHEMA: &'static str;

    /// The scripts that made its tables, with numbers from 1 on. A released one never changes.
    const MIGRATIONS: &'static [&'static str];

    /// Decides commands in their order, in one transaction; one answer for each.
    fn decide<'a>(
        connection: &'a mut Connection,
        now: Timestamp,
        requests: &'a [&'a Request],
    ) -> Future<'a, Result<BatchAnswers<Self>, StatementFailure>>;

    fn answer<'a>(
        connection: &'a mut Connection,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a Self::Query,
    ) -> Future<'a, Result<Self::Answer, StatementFailure>>;

    /// Does some of what is due, and says whether more is.
    fn tidy(
        connection: &mut Connection,
        now: Timestamp,
    ) -> Future<'_, Result<bool, StatementFailure>>;
}
