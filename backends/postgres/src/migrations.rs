//! Schema migrations: numbered scripts, each run once.

use turnstile_contract::Unready;

use crate::{connection::Connection, trouble::StatementFailure};

/// The tables that all services share.
const SHARED: &[&str] = &[include_str!("../migrations/turnstile/0001_secret.sql")];

const SHARED_SCHEMA: &str = "turnstile";

/// Where the numbers of those that ran are kept.
const LIST: &str = "
    CREATE SCHEMA IF NOT EXISTS turnstile;
    COMMENT ON SCHEMA turnstile IS 'What all services of Turnstile share';
    CREATE TABLE IF NOT EXISTS turnstile.migration (
        schema text NOT NULL,
        number integer NOT NULL,
        applied timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (schema, number)
    );
    COMMENT ON TABLE turnstile.migration IS 'The scripts that made the tables of each schema'";

/// Held while migrations run, so that of several servers one runs them. Any number would do that
/// others do not use: these are the letters of `turnstil`.
const LOCK: i64 = i64::from_be_bytes(*b"turnstil");

/// Brings the tables of a schema, and those that are shared, up to what we know.
pub(crate) async fn migrate(
    connection: &mut Connection,
    schema: &str,
    migrations: &[&str],
) -> Result<(), Unready> {
    connection
        .first_row("SELECT pg_advisory_lock($1)", &[&LOCK])
        .await?;
    let outcome = run_missing(connection, schema, migrations).await;
    connection
        .first_row("SELECT pg_advisory_unlock($1)", &[&LOCK])
        .await?;
    outcome
}

async fn run_missing(
    connection: &mut Connection,
    schema: &str,
    migrations: &[&str],
) -> Result<(), Unready> {
    let list = "SELECT to_regclass('turnstile.migration') IS NOT NULL";
    let has_list: bool = connection
        .first_row(list, &[])
        .await?
        .try_get(0)
        .map_err(StatementFailure::from)?;
    if !has_list {
        connection.script(LIST).await?;
    }
    run(connection, SHARED_SCHEMA, SHARED).await?;
    run(connection, schema, migrations).await
}

async fn run(
    connection: &mut Connection,
    schema: &str,
    migrations: &[&str],
) -> Result<(), Unready> {
    let found = newest(connection, schema).await?;
    let known = u32::try_from(migrations.len()).expect("migrations are few");
    if found > known {
        return Err(Unready::Newer { found, known });
    }
    for (number, sql) in (1..).zip(migrations).filter(|&(number, _)| number > found) {
        let script = format!(
            "BEGIN;\n{sql};\nINSERT INTO turnstile.migration VALUES ('{schema}', {number});\nCOMMIT"
        );
        if let Err(trouble) = connection.script(&script).await {
            connection.script("ROLLBACK").await?;
            return Err(trouble.into());
        }
    }
    Ok(())
}

/// The number of the newest script that ran; 0 when none did.
pub(crate) async fn newest(
    connection: &mut Connection,
    schema: &str,
) -> Result<u32, StatementFailure> {
    let sql = "SELECT coalesce(max(number), 0) FROM turnstile.migration WHERE schema = $1";
    let newest: i32 = connection.first_row(sql, &[&schema]).await?.try_get(0)?;
    let negative = |_| StatementFailure::Broken("a migration has a negative number".to_owned());
    u32::try_from(newest).map_err(negative)
}
