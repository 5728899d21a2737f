//! Copies a rooms state out of a database or into one.

mod taking;
mod telling;

use turnstile_contract::{
    NotOpened, Unready,
    copy::{CopiedKey, Endpoint, Halt, Head, Refusal, Teller},
};
use turnstile_rooms::{IdKey, Piece};
use turnstile_types::Timestamp;

use self::taking::Taken;
use crate::{
    address::{Address, StorageEngine},
    fault::Fault,
    fields::{ColumnReader, Strange},
    presence, schema,
    session::{Session, TurnKind},
    wants::Wants,
};

/// A database of rooms from which, or to which, a state is copied.
///
/// With InnoDB all of it is one transaction: whoever reads sees one snapshot, and what is written is
/// gone with the connection unless it is committed at the end. Tables in memory have no transactions:
/// the copy has the turn from beginning to end, and a table on disk says that it is not whole.
#[derive(Debug)]
pub struct MysqlCopy {
    session: Session,
    engine: StorageEngine,
    place: String,
    /// Whether the turn has begun.
    is_open: bool,
    taken: Taken,
}

impl MysqlCopy {
    /// Connects to a database that nobody serves, and brings its tables up to date. Nobody can serve it
    /// while this lives.
    ///
    /// # Errors
    /// As [`Mysql::open`](crate::Mysql::open), and somebody serves it, or copies it too; an unfinished copy is refused later, or thrown away.
    pub async fn open(address: &Address) -> Result<Self, NotOpened> {
        let opened = Self::try_open(address).await;
        opened.map_err(|unready| unready.at(&address.place()))
    }

    async fn try_open(address: &Address) -> Result<Self, Unready> {
        let mut session = Session::open(address).await?;
        if let Some(others) = presence::copy(&mut session).await? {
            return Err(others.into());
        }
        schema::prepare(&mut session, address).await?;
        session.take_time().await?;
        Ok(Self {
            session,
            engine: address.engine(),
            place: address.place(),
            is_open: false,
            taken: Taken::default(),
        })
    }

    async fn take_turn(&mut self, turn: TurnKind) -> Result<(), Fault> {
        if !self.is_open {
            let nothing = Wants::default();
            self.session.begin(turn, Timestamp(0), nothing).await?;
            self.is_open = true;
        }
        Ok(())
    }
}

/// The secret, the last position, the slots, and how many rows there are beside them.
const HEAD: &str = "\
SELECT secret, position, next_reference & 4294967295,
       (SELECT COUNT(*) FROM properties) + (SELECT COUNT(*) FROM rooms) +
       (SELECT COUNT(*) FROM idempotency_keys)
FROM turnstile, counters WHERE turnstile.id=1 AND counters.id=1;";

/// A copy that has failed has done nothing.
impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.undone())
    }
}

impl From<Strange> for Halt {
    fn from(strange: Strange) -> Self {
        Fault::from(strange).into()
    }
}

impl Endpoint for MysqlCopy {
    fn place(&self) -> &str {
        &self.place
    }

    async fn read_head(&mut self) -> Result<Head, Halt> {
        if !self.is_open && schema::is_unfinished(&mut self.session).await? {
            let place = self.place.clone();
            return Err(Refusal::Unfinished { place }.into());
        }
        self.take_turn(TurnKind::Read).await?;
        let row = self.session.row(HEAD, "no row of counters").await?;
        let mut fields = ColumnReader::of(&row);
        let secret = fields.bytes("secret")?.try_into();
        let secret = secret.map_err(|_length| Strange { field: "secret" })?;
        let (position, slots) = (fields.position("position")?, fields.number("slots")?);
        Ok(Head {
            id_key: IdKey::new(secret),
            position,
            slots,
            parts: fields.number::<u64>("parts")? + u64::from(slots),
        })
    }

    async fn tell_all(&mut self, now: Timestamp, teller: Teller) -> Result<(), Halt> {
        let slots = self.read_head().await?.slots;
        telling::tell(&mut self.session, now, (teller, slots)).await
    }

    /// Makes sure that nothing is here, and marks what is to come as unfinished where it cannot be
    /// taken back.
    async fn begin_copy(&mut self, head: &Head, again: bool) -> Result<(), Halt> {
        let place = self.place.clone();
        let is_unfinished = schema::is_unfinished(&mut self.session).await?;
        if is_unfinished && !again {
            return Err(Refusal::Unfinished { place }.into());
        }
        self.take_turn(TurnKind::Decide).await?;
        if is_unfinished {
            self.session.begin_anew().await?;
        } else if !taking::is_empty(&mut self.session).await? {
            return Err(Refusal::NotEmpty { place }.into());
        } else if self.engine == StorageEngine::Memory {
            schema::mark_unfinished(&mut self.session).await?;
        }
        Ok(self
            .taken
            .begin(&mut self.session, head, self.engine)
            .await?)
    }

    async fn write(&mut self, pieces: Vec<Piece>) -> Result<(), Halt> {
        Ok(self.taken.take(&mut self.session, pieces).await?)
    }

    async fn write_keys(&mut self, keys: Vec<CopiedKey>) -> Result<(), Halt> {
        Ok(taking::take_keys(&mut self.session, keys).await?)
    }

    async fn write_rest(&mut self) -> Result<(), Halt> {
        Ok(self.taken.settle(&mut self.session).await?)
    }

    async fn end_copy(&mut self) -> Result<(), Halt> {
        if self.engine == StorageEngine::Memory {
            schema::mark_finished(&mut self.session).await?;
        }
        Ok(self.session.leave().await?)
    }
}
