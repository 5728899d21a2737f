//! Copies a rooms state out of a database or into one.

mod keys;
mod taking;
mod telling;

use turnstile_contract::{
    Failure, NotOpened, Unready,
    copy::{CopiedKey, Endpoint, Halt, Head, PresenceRole, Refusal, Teller},
};
use turnstile_rooms::{IdKey, Piece, Rooms};
use turnstile_types::{Position, Timestamp};

use self::taking::Taken;
use super::values::{column, count};
use crate::{
    connection::Connection, kept::DatabaseMachine, migrations::migrate, place::Place,
    presence::attend, trouble::StatementFailure,
};

/// A copy reads and writes for as long as it takes; what waits for a lock still gives up, and so does the
/// database, in the midst of a statement, when the copy has ended.
const UNHURRIED: &str = "
    SET statement_timeout = 0;
    SET client_connection_check_interval = '1s';
    SET idle_in_transaction_session_timeout = 0";

/// A database of rooms from which, or to which, a state is copied.
///
/// All of it is one transaction. Whoever reads sees the database as it was at the first statement,
/// whatever its servers do meanwhile. What is written is committed at the end; before, it is gone
/// when the connection is, and a server that writes to the same tables waits and gives up.
#[derive(Debug)]
pub struct PostgresCopy {
    connection: Connection,
    place: String,
    /// Whether the transaction has begun.
    is_open: bool,
    taken: Taken,
}

impl PostgresCopy {
    /// Connects to a database that nobody serves, and makes or renews the tables of rooms there. Nobody
    /// can serve it while this lives.
    ///
    /// # Errors
    /// As [`Postgres::open`](crate::Postgres::open), and somebody serves it, or copies it too.
    pub async fn open(url: &str) -> Result<Self, NotOpened> {
        let place = Place::parse(url).map_err(|invalid| Unready::from(invalid).at(""))?;
        let shown = place.to_string();
        let opened = prepared(&place).await;
        let connection = opened.map_err(|unready| unready.at(&shown))?;
        Ok(Self {
            connection,
            place: shown,
            is_open: false,
            taken: Taken::default(),
        })
    }
}

async fn prepared(place: &Place) -> Result<Connection, Unready> {
    let mut connection = Connection::open(place).await?;
    if let Some(others) = attend(&mut connection, Rooms::SCHEMA, PresenceRole::Copying).await? {
        return Err(others.into());
    }
    migrate(&mut connection, Rooms::SCHEMA, Rooms::MIGRATIONS).await?;
    connection.script(UNHURRIED).await?;
    Ok(connection)
}

/// Nothing of a copy is committed before its end.
impl From<StatementFailure> for Halt {
    fn from(trouble: StatementFailure) -> Self {
        Self::Failed(match trouble {
            StatementFailure::Lost(reason) => Failure::Unavailable { reason },
            other => Failure::from(other),
        })
    }
}

/// A number that is never negative, as the database has it.
fn signed(number: u64) -> Result<i64, StatementFailure> {
    let signed = i64::try_from(number);
    signed.map_err(|_large| {
        StatementFailure::Broken(format!("{number} is more than a database counts"))
    })
}

impl Endpoint for PostgresCopy {
    fn place(&self) -> &str {
        &self.place
    }

    async fn read_head(&mut self) -> Result<Head, Halt> {
        if !self.is_open {
            let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
            self.connection.script(begin).await?;
            self.is_open = true;
        }
        let row = self.connection.row(telling::HEAD, &[]).await?;
        let secret = <[u8; 16]>::try_from(column::<&[u8]>(&row, 0)?);
        let secret = secret.map_err(|_length| StatementFailure::Broken("no secret".to_owned()))?;
        let (position, slots, parts): (i64, i64, i64) =
            (column(&row, 1)?, column(&row, 2)?, column(&row, 3)?);
        Ok(Head {
            id_key: IdKey::new(secret),
            position: Position(count(position)?),
            slots: count(slots)?,
            parts: count::<u64>(parts)? + count::<u64>(slots)?,
        })
    }

    async fn tell_all(&mut self, now: Timestamp, teller: Teller) -> Result<(), Halt> {
        let slots = self.read_head().await?.slots;
        telling::tell(&mut self.connection, now, (teller, slots)).await
    }

    async fn begin_copy(&mut self, head: &Head, _again: bool) -> Result<(), Halt> {
        let begun = taking::begin(&mut self.connection, head).await;
        self.is_open = true;
        if begun? {
            return Ok(());
        }
        let place = self.place.clone();
        Err(Refusal::NotEmpty { place }.into())
    }

    async fn write(&mut self, pieces: Vec<Piece>) -> Result<(), Halt> {
        Ok(self.taken.take(&mut self.connection, &pieces).await?)
    }

    async fn write_keys(&mut self, keys: Vec<CopiedKey>) -> Result<(), Halt> {
        Ok(keys::take(&mut self.connection, &keys).await?)
    }

    async fn write_rest(&mut self) -> Result<(), Halt> {
        Ok(self.taken.settle(&mut self.connection).await?)
    }

    async fn end_copy(&mut self) -> Result<(), Halt> {
        // Of this alone it is not known whether it was done.
        let committed = self.connection.script("COMMIT").await;
        Ok(committed.map_err(Failure::from)?)
    }
}
