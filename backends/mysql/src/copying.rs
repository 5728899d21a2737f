//! Copies a rooms state out of a database or into one.

mod taking;
mod telling;

use turnstile_contract::copy::{Halt, Head, Moving, Refusal, Remembered, Source, Target, Teller};
use turnstile_rooms::{IdKey, Piece};
use turnstile_types::Timestamp;

use self::taking::Taken;
use crate::{
    address::{Address, Engine},
    fault::Fault,
    fields::{Fields, Strange},
    presence,
    schema::{self, OpenError},
    session::{Session, Turn},
    wants::Wants,
};

/// A database of rooms from which, or to which, a state is copied.
///
/// With InnoDB all of it is one transaction: whoever reads sees one snapshot, and what is written is
/// gone with the connection unless it is committed at the end. Tables in memory have no transactions:
/// the copy has the turn from beginning to end, and a table on disk says that it is not whole.
#[derive(Debug)]
pub struct RoomsCopy {
    session: Session,
    engine: Engine,
    place: String,
    /// Whether the turn has begun.
    is_open: bool,
    taken: Taken,
}

impl RoomsCopy {
    /// Connects to a database that nobody serves, and brings its tables up to date. Nobody can serve it
    /// while this lives.
    ///
    /// # Errors
    /// As [`Mysql::open`](crate::Mysql::open), and somebody serves it, or copies it too; an unfinished copy is refused later, or thrown away.
    pub async fn open(address: &Address) -> Result<Self, OpenError> {
        let mut session = Session::open(address).await?;
        if let Some(others) = presence::copy(&mut session).await? {
            let place = address.place();
            return Err(OpenError::Occupied { place, others });
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

    async fn take_turn(&mut self, turn: Turn) -> Result<(), Fault> {
        if !self.is_open {
            let nothing = Wants::default();
            self.session.begin(turn, Timestamp(0), nothing).await?;
            self.is_open = true;
        }
        Ok(())
    }

    async fn read_head(&mut self) -> Result<Head, Halt> {
        if !self.is_open && schema::is_unfinished(&mut self.session).await? {
            let place = self.place.clone();
            return Err(Refusal::Unfinished { place }.into());
        }
        self.take_turn(Turn::Read).await?;
        let answers = self.session.ask(HEAD).await?;
        let row = answers.first().and_then(|rows| rows.first());
        let row = row.ok_or_else(|| Fault::Broken("no row of counters".into()))?;
        let mut fields = Fields::of(row);
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

    /// Makes sure that nothing is here, and marks what is to come as unfinished where it cannot be
    /// taken back.
    async fn begin_copy(&mut self, head: &Head, again: bool) -> Result<(), Halt> {
        let place = self.place.clone();
        let is_unfinished = schema::is_unfinished(&mut self.session).await?;
        if is_unfinished && !again {
            return Err(Refusal::Unfinished { place }.into());
        }
        self.take_turn(Turn::Decide).await?;
        if is_unfinished {
            self.session.begin_anew().await?;
        } else if !taking::is_empty(&mut self.session).await? {
            return Err(Refusal::NotEmpty { place }.into());
        } else if self.engine == Engine::Memory {
            schema::mark_unfinished(&mut self.session).await?;
        }
        Ok(self
            .taken
            .begin(&mut self.session, head, self.engine)
            .await?)
    }

    async fn end_copy(&mut self) -> Result<(), Fault> {
        if self.engine == Engine::Memory {
            schema::mark_finished(&mut self.session).await?;
        }
        self.session.leave().await
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

impl Source for RoomsCopy {
    fn head(&mut self) -> Moving<'_, Result<Head, Refusal>> {
        Box::pin(async move {
            let head = self.read_head().await;
            head.map_err(|halt| halt.at(&self.place))
        })
    }

    fn tell(&mut self, now: Timestamp, teller: Teller) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let slots = self.head().await?.slots;
            let told = telling::tell(&mut self.session, now, (teller, slots)).await;
            told.map_err(|halt| halt.at(&self.place))
        })
    }
}

impl Target for RoomsCopy {
    fn begin<'a>(
        &'a mut self,
        head: &'a Head,
        _now: Timestamp,
        again: bool,
    ) -> Moving<'a, Result<(), Refusal>> {
        Box::pin(async move {
            let begun = self.begin_copy(head, again).await;
            begun.map_err(|halt| halt.at(&self.place))
        })
    }

    fn take(&mut self, pieces: Vec<Piece>) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let taken = self.taken.take(&mut self.session, pieces).await;
            taken.map_err(|fault| Halt::from(fault).at(&self.place))
        })
    }

    fn take_keys(&mut self, keys: Vec<Remembered>) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let taken = taking::take_keys(&mut self.session, keys).await;
            taken.map_err(|fault| Halt::from(fault).at(&self.place))
        })
    }

    fn settle(&mut self) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let settled = self.taken.settle(&mut self.session).await;
            settled.map_err(|fault| Halt::from(fault).at(&self.place))
        })
    }

    fn finish(&mut self) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let ended = self.end_copy().await;
            ended.map_err(|fault| Halt::from(fault).at(&self.place))
        })
    }
}
