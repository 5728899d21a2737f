//! One connection to the database.

use std::{collections::HashMap, time::Duration};

use tokio::{
    task::AbortHandle,
    time::{Instant, timeout, timeout_at},
};
use tokio_postgres::{Client, NoTls, Row, RowStream, Statement, types::ToSql};

use crate::{place::Place, trouble::StatementFailure};

/// What each connection is told first. A statement that waits longer for a lock, or takes longer in
/// all, than any of ours ever should is given up by the database, and nothing of it done. Each is
/// planned once, for tables of any size: what a plan of empty tables would read in whole is reached
/// by its index.
const SETTINGS: &str = "
    SET lock_timeout = '5s';
    SET statement_timeout = '15s';
    SET TIME ZONE 'UTC';
    SET default_transaction_isolation = 'read committed';
    SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off;
    SET jit = off";

/// How long a new connection may take to answer each of our first questions.
const FIRST_ANSWER_MAX: Duration = Duration::from_secs(10);

/// A connection with what has been prepared on it.
pub(crate) struct Connection {
    client: Client,
    /// The task that carries its bytes.
    driver: AbortHandle,
    statements: HashMap<&'static str, Statement>,
}

impl Connection {
    /// Makes a connection, and a task that lives as long as it does. A host that takes connections and
    /// never answers is unavailable after a while: the library bounds only the reaching of it.
    pub(crate) async fn open(place: &Place) -> Result<Self, StatementFailure> {
        let end = Instant::now() + place.opening_max();
        let connected = timeout_at(end, place.config.connect(NoTls)).await;
        let connected = connected.map_err(|_elapsed| StatementFailure::silent())?;
        let (client, driver) = connected.map_err(|error| StatementFailure::connecting(&error))?;
        let shown = place.to_string();
        let driver = tokio::spawn(async move {
            if let Err(failure) = driver.await {
                tracing::warn!("a connection to {shown} ended: {failure}");
            }
        });
        let made = Self {
            client,
            driver: driver.abort_handle(),
            statements: HashMap::new(),
        };
        let Ok(settled) = timeout_at(end, made.client.batch_execute(SETTINGS)).await else {
            made.abandon();
            return Err(StatementFailure::silent());
        };
        settled.map_err(|error| StatementFailure::connecting(&error))?;
        Ok(made)
    }

    /// Ends the connection although an answer is on its way: its task would wait for that.
    pub(crate) fn abandon(&self) {
        self.driver.abort();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs a statement, which is prepared on its first use, and gives its rows.
    pub(crate) async fn rows(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StatementFailure> {
        let statement = self.prepared(sql).await?;
        Ok(self.client.query(&statement, parameters).await?)
    }

    /// Runs one of the first statements on a connection, before any command: when no answer comes, the
    /// connection ends and nothing was done.
    pub(crate) async fn first_rows(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StatementFailure> {
        match timeout(FIRST_ANSWER_MAX, self.rows(sql, parameters)).await {
            Ok(answered) => answered,
            Err(_elapsed) => {
                self.abandon();
                Err(StatementFailure::silent())
            }
        }
    }

    /// One of the first statements that gives one row.
    pub(crate) async fn first_row(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Row, StatementFailure> {
        only(self.first_rows(sql, parameters).await?)
    }

    /// Runs a statement, and gives its rows as they come: the database waits for whoever takes them.
    pub(crate) async fn stream(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<RowStream, StatementFailure> {
        let statement = self.prepared(sql).await?;
        let parameters = parameters.iter().copied();
        Ok(self.client.query_raw(&statement, parameters).await?)
    }

    async fn prepared(&mut self, sql: &'static str) -> Result<Statement, StatementFailure> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Runs a statement that gives one row.
    pub(crate) async fn row(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Row, StatementFailure> {
        only(self.rows(sql, parameters).await?)
    }

    /// Runs a statement whose one parameter is an array of rows as JSON, if there are any.
    pub(crate) async fn insert(
        &mut self,
        sql: &'static str,
        rows: Vec<serde_json::Value>,
    ) -> Result<(), StatementFailure> {
        if rows.is_empty() {
            return Ok(());
        }
        let rows = serde_json::Value::from(rows).to_string();
        self.rows(sql, &[&rows]).await.map(drop)
    }

    /// Runs statements that have neither parameters nor rows, in one transaction.
    pub(crate) async fn script(&self, sql: &str) -> Result<(), StatementFailure> {
        Ok(self.client.batch_execute(sql).await?)
    }
}

/// The first of some rows.
fn only(rows: Vec<Row>) -> Result<Row, StatementFailure> {
    let row = rows.into_iter().next();
    row.ok_or_else(|| {
        StatementFailure::Broken("the database gave no row where one must be".to_owned())
    })
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
