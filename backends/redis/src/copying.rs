//! Copies a rooms state out of a Redis or into one.

mod keys;
mod taking;
mod telling;

use redis::cmd;
use turnstile_contract::{
    NotOpened, Tally,
    copy::{CopiedKey, Endpoint, Halt, Head, PresenceRole, Refusal, Teller},
};
use turnstile_rooms::{IdKey, Piece};
use turnstile_types::{Position, Timestamp};

use self::taking::Taken;
use crate::{
    Redis,
    answer::StrangeAnswer,
    link::{CallFailure, Dialer},
    names::{UNFINISHED, is_unfinished, key},
};

/// A Redis from which, or to which, a state is copied; nobody may serve it meanwhile.
///
/// Redis shows no snapshot of itself to others: a state that has got another position at the end is
/// refused. What is written lies under a key which says that it is not whole.
#[derive(Debug)]
pub struct RedisCopy {
    redis: Redis,
    taken: Taken,
    /// The idempotency keys, when they were counted.
    keys: Option<u64>,
}

/// The way to the server.
type ServerRoute<'a> = (&'a Dialer, &'a Tally);

/// Keys of the server that are asked for at once.
const SCAN: usize = 500;

/// Goes through all keys that begin with a prefix, beneath the one that all begin with; `each` has some of
/// them at a time, without that prefix, and may see one twice.
async fn scan<E: From<CallFailure>>(
    (link, tally): ServerRoute<'_>,
    prefix: &str,
    mut each: impl AsyncFnMut(Vec<String>) -> Result<(), E>,
) -> Result<(), E> {
    let prefix = key(prefix);
    let mut cursor = 0;
    loop {
        let mut call = cmd("SCAN");
        call.arg(cursor).arg("MATCH").arg(format!("{prefix}*"));
        let (next, found): (u64, Vec<String>) =
            link.ask(tally, call.arg("COUNT").arg(SCAN)).await?;
        let names = found.iter().filter_map(|key| key.strip_prefix(&prefix));
        each(names.map(str::to_owned).collect()).await?;
        cursor = next;
        if cursor == 0 {
            return Ok(());
        }
    }
}

/// A copy that has failed has done nothing that can be used.
impl From<CallFailure> for Halt {
    fn from(trouble: CallFailure) -> Self {
        Self::Failed(trouble.into())
    }
}

impl From<StrangeAnswer> for Halt {
    fn from(StrangeAnswer(field): StrangeAnswer) -> Self {
        CallFailure::Broken(format!("the {field} is invalid")).into()
    }
}

/// How many positions and references were given.
#[derive(Clone, Copy, PartialEq, Eq)]
struct HandedOut {
    position: u64,
    references: u64,
}

impl RedisCopy {
    /// Connects where nobody serves, and loads the functions; nobody can serve it while this lives. It
    /// takes a running tokio runtime.
    ///
    /// # Errors
    /// As [`Redis::open`], and somebody serves it, or copies it too; an unfinished copy is refused later, or thrown away.
    pub async fn open(url: &str) -> Result<Self, NotOpened> {
        Ok(Self {
            redis: Redis::open_any(url, PresenceRole::Copying).await?,
            taken: Taken::default(),
            keys: None,
        })
    }

    async fn is_unfinished(&self) -> Result<bool, CallFailure> {
        is_unfinished(&self.redis.link, &self.redis.tally).await
    }

    async fn given(&self) -> Result<HandedOut, CallFailure> {
        let asked = ["position", "reference"].map(key);
        let (link, tally) = (&self.redis.link, &self.redis.tally);
        let given: [Option<u64>; 2] = link.ask(tally, cmd("MGET").arg(&asked)).await?;
        let [position, references] = given.map(Option::unwrap_or_default);
        Ok(HandedOut {
            position,
            references,
        })
    }

    const fn way(&self) -> ServerRoute<'_> {
        (&self.redis.link, &self.redis.tally)
    }
}

impl Endpoint for RedisCopy {
    fn place(&self) -> &str {
        &self.redis.place
    }

    async fn read_head(&mut self) -> Result<Head, Halt> {
        if !self.taken.has_begun() && self.is_unfinished().await? {
            let place = self.redis.place.clone();
            return Err(Refusal::Unfinished { place }.into());
        }
        let keys = match self.keys {
            Some(keys) => keys,
            None => keys::count(self.way()).await?,
        };
        self.keys = Some(keys);
        let (link, tally) = self.way();
        let given = self.given().await?;
        let slots = u32::try_from(given.references).map_err(|_large| StrangeAnswer("reference"))?;
        let secret: String = link.ask(tally, cmd("GET").arg(key("id_key"))).await?;
        let secret = u128::from_str_radix(&secret, 16).map_err(|_text| StrangeAnswer("secret"))?;
        let totals = key("totals");
        let rooms: Option<u64> = link
            .ask(tally, cmd("HGET").arg(totals).arg("rooms"))
            .await?;
        Ok(Head {
            id_key: IdKey::new(secret.to_be_bytes()),
            position: Position(given.position),
            slots,
            parts: rooms.unwrap_or_default() + u64::from(slots) + keys,
        })
    }

    async fn tell_all(&mut self, now: Timestamp, teller: Teller) -> Result<(), Halt> {
        let before = self.given().await?;
        let slots = self.read_head().await?.slots;
        let telling = telling::Telling {
            link: &self.redis.link,
            tally: &self.redis.tally,
            now,
        };
        let mut teller = telling.tell(teller, slots).await?;
        telling.tell_keys(&mut teller).await?;
        teller.end().await?;
        if self.given().await? == before {
            return Ok(());
        }
        let place = self.redis.place.clone();
        Err(Refusal::Changed { place }.into())
    }

    async fn begin_copy(&mut self, head: &Head, again: bool) -> Result<(), Halt> {
        let place = self.redis.place.clone();
        let is_unfinished = self.is_unfinished().await?;
        let (link, tally) = (&self.redis.link, &self.redis.tally);
        if is_unfinished && !again {
            return Err(Refusal::Unfinished { place }.into());
        } else if is_unfinished {
            taking::wipe((link, tally)).await?;
        } else if !taking::is_empty((link, tally)).await? || keys::count(self.way()).await? > 0 {
            return Err(Refusal::NotEmpty { place }.into());
        }
        link.ask::<()>(tally, cmd("SET").arg(key(UNFINISHED)).arg(1))
            .await?;
        let given = self.given().await?;
        Ok(self
            .taken
            .begin((link, tally), head, given.position)
            .await?)
    }

    fn lacking(&self, piece: &Piece) -> Option<&'static str> {
        match piece {
            Piece::Room {
                withdrawn: true, ..
            } => Some("withdraw_room"),
            Piece::Stopped { .. } => Some("stop_sell"),
            Piece::Property { .. }
            | Piece::Room { .. }
            | Piece::Standing(_)
            | Piece::Over { .. }
            | Piece::Totals(_) => None,
        }
    }

    const IS_CHOOSY: bool = true;

    async fn write(&mut self, pieces: Vec<Piece>) -> Result<(), Halt> {
        let way = (&self.redis.link, &self.redis.tally);
        Ok(self.taken.take(way, &pieces).await?)
    }

    async fn write_keys(&mut self, keys: Vec<CopiedKey>) -> Result<(), Halt> {
        Ok(keys::take(self.way(), &keys).await?)
    }

    async fn write_rest(&mut self) -> Result<(), Halt> {
        Ok(self.taken.settle(self.way()).await?)
    }

    async fn end_copy(&mut self) -> Result<(), Halt> {
        let (link, tally) = self.way();
        Ok(link.ask(tally, cmd("DEL").arg(key(UNFINISHED))).await?)
    }
}
