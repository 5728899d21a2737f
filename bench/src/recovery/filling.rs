//! The journals that are recovered: a state with as many records as things in it.

use std::{fmt, time::SystemTime};

use anyhow::{Result, ensure};
use turnstile_embedded::Embedded;
use turnstile_exchange::Exchange;
use turnstile_rooms::{Command, GuestId, GuestName, Rooms, Wish};
use turnstile_types::{Author, Effect, Key, Machine, Name, Night, Principal, Stay, Timestamp};

use crate::orders;

/// Commands that become durable together.
const GROUP: u32 = 256;

/// What a journal is full of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fill {
    /// Each of a room of its own, in no order.
    Bookings,
    /// The same, each under an idempotency key.
    KeyedBookings,
    /// Which rest.
    Orders,
}

impl Fill {
    pub(super) const ALL: [Self; 3] = [Self::Bookings, Self::KeyedBookings, Self::Orders];

    /// Writes so many records in groups.
    pub(super) fn run(self, backend: &mut Embedded, records: u32) -> Result<()> {
        let now = wall_clock();
        match self {
            Self::Bookings | Self::KeyedBookings => open_property(backend, now)?,
            Self::Orders => open_account(backend, now)?,
        }
        for number in 0..records {
            match self {
                Self::Bookings => book(backend, now, number, None)?,
                Self::KeyedBookings => {
                    let key = format!("client-{:02}-request-{number:08}", number % 50);
                    book(backend, now, number, Some(Key::parse(key.as_bytes())?))?;
                }
                Self::Orders => {
                    done::<Exchange>(backend, now, None, &orders::order(number, None)?)?;
                }
            }
            if number % GROUP == GROUP - 1 {
                backend.commit()?;
                backend.move_events::<Rooms>(&mut Vec::new());
                backend.drain_events::<Exchange>(&mut drop);
            }
        }
        backend.commit()?;
        Ok(())
    }
}

/// One record that changes nothing.
pub(super) fn nudge(backend: &mut Embedded, now: Timestamp) -> Result<()> {
    let command = Command::AddProperty {
        property: Name::parse(b"bench")?,
        open: true,
    };
    backend.execute::<Rooms>(
        now,
        Author::unknown(&Principal::local()),
        None,
        &command,
        None,
    )?;
    backend.commit()?;
    Ok(())
}

pub(super) fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let ms = since.unwrap_or_default().as_millis();
    Timestamp(u64::try_from(ms).unwrap_or(u64::MAX))
}

fn open_property(backend: &mut Embedded, now: Timestamp) -> Result<()> {
    let property = Name::parse(b"bench")?;
    let open = Command::AddProperty {
        property,
        open: true,
    };
    done::<Rooms>(backend, now, None, &open)
}

fn book(backend: &mut Embedded, now: Timestamp, number: u32, key: Option<Key<'_>>) -> Result<()> {
    // A number that has no factor in common with the modulus: every room once, far from the last.
    let room = u64::from(number) * 618_033_988_751 % 1_000_000_000_000;
    let arrival = Night::from_days(20_820);
    let departure = arrival.checked_add(1).expect("within the calendar");
    let booking = Command::Book {
        property: Name::parse(b"bench")?,
        wish: Wish::Room(Name::parse(format!("room:{room:012}").as_bytes())?),
        stay: Stay::new(arrival, departure)?,
        guest: GuestName::parse(b"Ada Lovelace")?,
        id: GuestId {
            seal: room.rotate_left(17) ^ u64::from(number),
            last_four: 1_234,
        },
    };
    done::<Rooms>(backend, now, key, &booking)
}

fn open_account(backend: &mut Embedded, now: Timestamp) -> Result<()> {
    for command in orders::setup()? {
        done::<Exchange>(backend, now, None, &command)?;
    }
    Ok(())
}

fn done<M>(
    backend: &mut Embedded,
    now: Timestamp,
    key: Option<Key<'_>>,
    command: &M::Command<'_>,
) -> Result<()>
where
    M: Machine,
    turnstile_embedded::Services: turnstile_types::Hosts<M>,
{
    let reply = backend.execute::<M>(
        now,
        Author::unknown(&Principal::local()),
        key,
        command,
        None,
    )?;
    let is_done = M::effect_of(&reply.outcome) == Effect::Done;
    ensure!(is_done, "refused: {:?}", reply.outcome);
    Ok(())
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bookings => "bookings",
            Self::KeyedBookings => "bookings with keys",
            Self::Orders => "resting orders",
        })
    }
}
