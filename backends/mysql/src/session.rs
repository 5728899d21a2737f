//! One connection and its turn lock.

use std::{sync::Arc, time::Duration};

use mysql_async::{Conn, OptsBuilder, QueryResult, Row, TextProtocol, prelude::Queryable};
use tokio::time::timeout;
use turnstile_contract::Tally;
use turnstile_types::{Position, Timestamp};

use crate::{
    address::{Address, StorageEngine},
    fault::Fault,
    fields::ColumnReader,
    known::{COUNTERS, Known},
    rows::Rows,
    sql::{put, put_list},
    tables::CountersRow,
    wants::{Question, Wants, put_select},
};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(3);

/// How long an answer may take: a batch takes milliseconds, a lock wait seconds.
const ANSWER: Duration = Duration::from_secs(20);

/// How long a statement about a whole state may take.
const WHOLE_STATE: Duration = Duration::from_secs(4 * 60 * 60);

/// How long to wait for the turn of others.
const LOCK_SECONDS: u32 = 3;

/// After so long without a word the database ends a connection, and with it a turn that was cut off.
const IDLE_SECONDS: u32 = 20;

/// What a table in memory may hold, where the database is not told otherwise: its own default of
/// 16 MiB is full after some thousand bookings.
const MEMORY_TABLE_BYTES: u64 = 4 << 30;

/// Bytes of undo statements in one row.
const UNDO_PART_BYTES: usize = 8_000;

/// The lock of those who decide where tables have none of their own.
const TURN_LOCK: &str = "CONCAT('turnstile.', MD5(DATABASE()))";

/// Gives it back; nothing where it was not taken.
const RELEASE: &str = "DO RELEASE_LOCK(CONCAT('turnstile.', MD5(DATABASE())));\n";

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnKind {
    Decide,
    Read,
}

/// One connection.
///
/// Whoever decides takes a turn: with InnoDB by a lock on the row of counters, in a transaction; with
/// tables in memory by a named lock. Such tables cannot roll back, so a batch first writes down the
/// statements that would undo it, and then that these count; whoever has the next turn runs them where
/// the batch did not come to say that it is whole. The price is one order for all commands of a database,
/// whatever they are about; finer locks would allow more transactions at once, but many commands in
/// one cost less than many transactions do.
#[derive(Debug)]
pub(crate) struct Session {
    conn: Conn,
    engine: StorageEngine,
    /// How long an answer may take.
    patience: Duration,
    /// Statements of the last ones sent that were done.
    done: usize,
    /// Where losses are counted; not of a session that copies.
    tally: Option<Arc<Tally>>,
}

impl Session {
    pub(crate) async fn open(address: &Address) -> Result<Self, Fault> {
        let mut setup = vec![
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ".to_owned(),
            format!(
                "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', \
                 innodb_lock_wait_timeout={LOCK_SECONDS}, lock_wait_timeout={LOCK_SECONDS}, \
                 wait_timeout={IDLE_SECONDS}"
            ),
        ];
        if address.engine == StorageEngine::Memory {
            setup.push(format!(
                "SET SESSION max_heap_table_size={MEMORY_TABLE_BYTES}"
            ));
        }
        let opts = OptsBuilder::from_opts(address.opts.clone())
            .init(setup)
            .tcp_nodelay(true);
        let connected = timeout(CONNECT, Conn::new(opts)).await;
        let conn = connected.map_err(|_elapsed| Fault::timed_out("connecting"))??;
        Ok(Self {
            conn,
            engine: address.engine,
            patience: ANSWER,
            done: 0,
            tally: None,
        })
    }

    /// The same session, which counts here when the database has lost its tables.
    pub(crate) fn counting(self, tally: &Arc<Tally>) -> Self {
        let tally = Some(Arc::clone(tally));
        Self { tally, ..self }
    }

    /// Lets statements take as long as they need, and the connection rest: for a whole state.
    pub(crate) async fn take_time(&mut self) -> Result<(), Fault> {
        self.patience = WHOLE_STATE;
        let seconds = WHOLE_STATE.as_secs();
        let sql = format!(
            "SET SESSION wait_timeout={seconds}, net_read_timeout={seconds}, \
             net_write_timeout={seconds};"
        );
        self.ask(&sql).await.map(drop)
    }

    /// Sends one statement, whose rows are then taken one by one: the database waits for whoever
    /// takes them.
    pub(crate) async fn stream(
        &mut self,
        sql: &str,
    ) -> Result<QueryResult<'_, 'static, TextProtocol>, Fault> {
        let asked = timeout(self.patience, self.conn.query_iter(sql.to_owned())).await;
        Ok(asked.map_err(|_elapsed| Fault::timed_out("an answer"))??)
    }

    /// Sends statements in one go, and returns the rows of each that has a result.
    pub(crate) async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Row>>, Fault> {
        self.done = 0;
        let collected = collect(&mut self.conn, sql, &mut self.done);
        let asked = timeout(self.patience, collected).await;
        asked.map_err(|_elapsed| Fault::timed_out("an answer"))?
    }

    /// Asks for one row; `what` says what is broken where there is none.
    pub(crate) async fn row(&mut self, sql: &str, what: &str) -> Result<Row, Fault> {
        let answers = self.ask(sql).await?;
        let row = answers.into_iter().flatten().next();
        row.ok_or_else(|| Fault::Broken(what.to_owned()))
    }

    /// Takes a turn, and reads what is wanted.
    pub(crate) async fn begin(
        &mut self,
        turn: TurnKind,
        now: Timestamp,
        wants: Wants,
    ) -> Result<Known, Fault> {
        let mut known = Known::new(now);
        let mut sql = String::new();
        let mut asked = vec![Question::Counters];
        asked.extend(wants.ask(now, &mut sql));
        known.wanted = wants;
        let answers = self.take_turn(turn, &sql).await?;
        known.learn(asked, &answers)?;
        Ok(known)
    }

    /// Reads what a decision missed.
    pub(crate) async fn learn(&mut self, known: &mut Known) -> Result<(), Fault> {
        let mut sql = String::new();
        let asked = known.wanted.ask(known.now, &mut sql);
        assert!(!asked.is_empty(), "what is unknown is wanted");
        let answers = self.ask(&sql).await?;
        Ok(known.learn(asked, &answers)?)
    }

    /// Reads in a turn of its own, in one go.
    pub(crate) async fn read(&mut self, sql: &str) -> Result<Vec<Vec<Row>>, Fault> {
        let sql = format!("{sql}{}", self.end());
        let mut answers = self.take_turn(TurnKind::Read, &sql).await?;
        answers.remove(0);
        Ok(answers)
    }

    /// Asks the rest of a turn, and ends it.
    pub(crate) async fn finish(&mut self, sql: &str) -> Result<Vec<Vec<Row>>, Fault> {
        let sql = format!("{sql}{}", self.end());
        self.ask(&sql).await
    }

    /// Ends a turn that changed nothing.
    pub(crate) async fn leave(&mut self) -> Result<(), Fault> {
        let end = self.end();
        self.ask(end).await.map(drop)
    }

    /// Writes what a turn changed, and ends it.
    pub(crate) async fn commit(&mut self, known: &Known) -> Result<(), Uncommitted> {
        let mut sql = String::new();
        if self.engine == StorageEngine::Memory {
            let mut undo = String::new();
            known.put_undo(&mut undo);
            put_undo_parts(&mut sql, &undo);
        }
        known.put_writes(&mut sql);
        if self.engine == StorageEngine::Memory {
            sql.push_str(WHOLE);
        }
        let writes = sql.matches(END).count();
        sql.push_str(self.end());
        let fault = match self.ask(&sql).await {
            Ok(_no_rows) => return Ok(()),
            Err(fault) => fault,
        };
        // What follows a statement that was answered with an error is not done.
        let is_refused = !matches!(fault, Fault::Lost(_)) && self.done < writes;
        if self.engine == StorageEngine::InnoDb && is_refused {
            return Err(Uncommitted::Refused(fault));
        }
        Err(Uncommitted::InDoubt(fault))
    }

    /// Ends a turn in which whole tables were written.
    pub(crate) fn end(&self) -> &'static str {
        match self.engine {
            StorageEngine::InnoDb => "COMMIT;\n",
            StorageEngine::Memory => RELEASE,
        }
    }

    /// Whether a turn may find what another has committed and the database has not flushed yet. InnoDB gives
    /// locks back before it waits for its log, and a commit that changes nothing waits for nothing. So an
    /// answer that repeats what was found leaves with a commit of its own that writes something: the log is
    /// flushed in its order.
    pub(crate) fn finds_unflushed(&self) -> bool {
        self.engine == StorageEngine::InnoDb
    }

    /// Begins a turn with some statements; the counters are the first answer.
    async fn take_turn(&mut self, turn: TurnKind, sql: &str) -> Result<Vec<Vec<Row>>, Fault> {
        let sql = format!("{}{sql}", self.beginning(turn));
        let mut answers = self.ask(&sql).await?;
        if self.engine == StorageEngine::Memory {
            let lock = answers.remove(0);
            if first_number(&lock)? != Some(1) {
                return Err(Fault::Contended("the turn of others took too long".into()));
            }
            let undo = first_number(&answers.remove(0))?;
            let is_empty = answers.first().is_none_or(Vec::is_empty);
            if undo != Some(0) || is_empty {
                self.mend().await?;
                answers = self.ask(&sql).await?;
                answers.drain(..2);
            }
        }
        if answers.first().is_none_or(Vec::is_empty) {
            return Err(Fault::Broken("the table counters has no row".into()));
        }
        Ok(answers)
    }

    fn beginning(&self, turn: TurnKind) -> String {
        let mut sql = match (self.engine, turn) {
            (StorageEngine::InnoDb, TurnKind::Decide) => "START TRANSACTION;\n".to_owned(),
            (StorageEngine::InnoDb, TurnKind::Read) => {
                "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;\n".to_owned()
            }
            (StorageEngine::Memory, _) => format!(
                "SELECT GET_LOCK({TURN_LOCK}, {LOCK_SECONDS});\nSELECT parts FROM undo_head;\n"
            ),
        };
        put_select::<CountersRow>(&mut sql);
        put!(sql, "WHERE id={COUNTERS}");
        if (self.engine, turn) == (StorageEngine::InnoDb, TurnKind::Decide) {
            sql.push_str(" FOR UPDATE");
        }
        sql.push_str(";\n");
        sql
    }

    /// Brings tables in memory to where a turn may begin: takes back a batch that was cut off, or
    /// begins anew when the database has, with references that were never given. What is to be done is
    /// looked for under the lock: others may have done it since.
    async fn mend(&mut self) -> Result<(), Fault> {
        let sql = format!(
            "{RELEASE}SELECT GET_LOCK({TURN_LOCK}, {LOCK_SECONDS});\n\
             SELECT parts FROM undo_head;\nSELECT COUNT(*) FROM counters;\n"
        );
        let answers = self.ask(&sql).await?;
        let [lock, undo, counters] = answers.as_slice() else {
            return Err(Fault::Broken("no state of the tables".into()));
        };
        if first_number(lock)? != Some(1) {
            return Err(Fault::Contended("the turn of others took too long".into()));
        }
        let undo = first_number(undo)?;
        let is_empty = first_number(counters)? == Some(0);
        if let Some(parts) = undo.filter(|&parts| parts > 0) {
            let sql = format!("SELECT sql_text FROM undo_parts WHERE part<={parts} ORDER BY part;");
            let found = self.ask(&sql).await?;
            let mut undo = String::new();
            for row in found.iter().flatten() {
                undo.push_str(ColumnReader::of(row).text("sql_text")?);
            }
            undo.push_str(WHOLE);
            self.ask(&undo).await?;
        } else if is_empty {
            let incarnation = self.begin_anew().await?;
            self.note_loss(incarnation);
        } else if undo.is_none() {
            return Err(Fault::Broken("the table undo_head has no row".into()));
        }
        self.leave().await
    }

    /// Begins anew in tables in memory that the database's end has emptied. Their references have a
    /// generation of their own, so that what was given before names nothing. Answers how often they have
    /// begun, the first time included.
    pub(crate) async fn begin_anew(&mut self) -> Result<u64, Fault> {
        let sql = "UPDATE turnstile SET incarnation=incarnation+1 WHERE id=1;\n\
                   SELECT incarnation FROM turnstile WHERE id=1;\n";
        let row = self.row(sql, "the table turnstile has no row").await?;
        let incarnation: u64 = ColumnReader::of(&row).number("incarnation")?;
        let mut sql = String::new();
        for table in [
            "properties",
            "rooms",
            "bookings",
            "holds",
            "nights",
            "stops",
            "ended",
            "cancellations",
            "idempotency_keys",
            "counters",
            "writers",
            "undo_parts",
            "undo_head",
        ] {
            put!(sql, "TRUNCATE TABLE {table};\n");
        }
        sql.push_str("INSERT INTO undo_head (id, parts) VALUES (1, 0);\n");
        let generation = incarnation.saturating_sub(1);
        sql.push_str(&Self::first_counters(generation << 32 | 1));
        self.ask(&sql).await?;
        Ok(incarnation)
    }

    /// Says that tables in memory came back empty, unless they never held anything.
    fn note_loss(&self, incarnation: u64) {
        if incarnation <= 1 {
            return;
        }
        tracing::error!(
            incarnation,
            "the database server has ended and its tables in memory are lost: every property, room, \
             booking and key is gone, and requests are refused with unknown_property until the \
             properties are added again"
        );
        if let Some(tally) = &self.tally {
            tally.losses.add(1);
        }
    }

    /// The row with which counters begin.
    pub(crate) fn first_counters(next_reference: u64) -> String {
        let mut counters = Rows::default();
        counters.know(COUNTERS, None);
        let first = CountersRow {
            position: Position(0),
            next_reference,
            ..CountersRow::default()
        };
        counters.set(&COUNTERS, first);
        let mut sql = String::new();
        counters.put_writes(&mut sql);
        sql
    }
}

/// What a turn's writes may end in.
#[derive(Debug)]
pub(crate) enum Uncommitted {
    /// The database did not come to the commit: it takes back what it had done of the transaction, however long
    /// that takes.
    Refused(Fault),
    /// Nobody knows whether it did.
    InDoubt(Fault),
}

impl Uncommitted {
    pub(crate) fn into_fault(self) -> Fault {
        let (Self::Refused(fault) | Self::InDoubt(fault)) = self;
        fault
    }
}

/// The end of a statement: no literal has it.
const END: &str = ";\n";

/// Says that a batch in memory is whole: what was kept to undo it does not count any more.
const WHOLE: &str = "UPDATE undo_head SET parts=0;\nDELETE FROM undo_parts;\n";

/// Writes down how to undo what follows, and then that it counts.
fn put_undo_parts(sql: &mut String, undo: &str) {
    let parts: Vec<&[u8]> = undo.as_bytes().chunks(UNDO_PART_BYTES).collect();
    sql.push_str("REPLACE INTO undo_parts (part, sql_text) VALUES ");
    put_list(sql, ",", parts.iter().enumerate(), |sql, (number, part)| {
        let text = str::from_utf8(part).expect("statements are ASCII");
        put!(sql, "({},'{}')", number + 1, text.replace('\'', "''"));
    });
    put!(sql, ";\nUPDATE undo_head SET parts={};\n", parts.len());
}

/// Sends statements, takes the rows of each that has a result, and counts those that were done.
async fn collect(conn: &mut Conn, sql: &str, done: &mut usize) -> Result<Vec<Vec<Row>>, Fault> {
    let mut result = conn.query_iter(sql).await?;
    let mut answers = Vec::new();
    loop {
        let has_rows = !result.columns_ref().is_empty();
        let rows = result.collect::<Row>().await?;
        if has_rows {
            answers.push(rows);
        }
        *done += 1;
        if result.is_empty() {
            // The library keeps the error of a later statement until somebody asks for its rows.
            result.drop_result().await?;
            return Ok(answers);
        }
    }
}

fn first_number(rows: &[Row]) -> Result<Option<u64>, Fault> {
    let first = rows
        .first()
        .map(|row| ColumnReader::of(row).number_or_zero("number"));
    Ok(first.transpose()?)
}
