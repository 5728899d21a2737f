//! The lock between servers of a database and a copy of it.
//!
//! Each connection of a server shares an advisory lock for as long as it lives, and a copy has that lock
//! alone. So no connection that decides anything lives beside a copy, and what a process has left that
//! was killed is gone with its connections. It costs one question for each connection that is made.

use turnstile_contract::copy::{Others, Patience, PresenceRole};

use crate::{connection::Connection, trouble::StatementFailure};

/// The first number of our locks: those that commands take have one number, which is another kind.
const SPACE: i32 = i32::from_be_bytes(*b"turn");

const SHARE: &str = "SELECT pg_try_advisory_lock_shared($1, $2)";

const TAKE: &str = "SELECT pg_try_advisory_lock($1, $2)";

/// Who has the lock, and whether alone.
const OTHERS: &str = "
    SELECT DISTINCT l.mode = 'ExclusiveLock' AS alone,
           coalesce(nullif(a.application_name, ''), 'a client')
               || coalesce(', at ' || host(a.client_addr), '') AS name
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND l.classid::bigint = $1 AND l.objid::bigint = $2 AND l.pid <> pg_backend_pid()
    ORDER BY name";

/// Comes to a schema in a role, and says who does not let it, when they do not go.
pub(crate) async fn attend(
    connection: &mut Connection,
    schema: &str,
    role: PresenceRole,
) -> Result<Option<Others>, StatementFailure> {
    let lock = number_of(schema);
    let take = match role {
        PresenceRole::Serving => SHARE,
        PresenceRole::Copying => TAKE,
    };
    let patience = Patience::begin();
    loop {
        let taken: bool = connection
            .first_row(take, &[&SPACE, &lock])
            .await?
            .try_get(0)?;
        if taken {
            return Ok(None);
        }
        if !patience.goes_on().await {
            return others(connection, lock).await.map(Some);
        }
    }
}

async fn others(connection: &mut Connection, lock: i32) -> Result<Others, StatementFailure> {
    let keys = [SPACE, lock].map(i64::from);
    let rows = connection.first_rows(OTHERS, &[&keys[0], &keys[1]]).await?;
    let mut role = PresenceRole::Serving;
    let mut names = Vec::new();
    for row in rows {
        if row.try_get("alone")? {
            role = PresenceRole::Copying;
        }
        names.push(row.try_get("name")?);
    }
    Ok(Others::named(role, names))
}

/// The second number of a schema's lock: its first letters.
fn number_of(schema: &str) -> i32 {
    let letters = schema.bytes().take(4);
    letters.fold(0, |number, letter| number << 8 | i32::from(letter))
}
