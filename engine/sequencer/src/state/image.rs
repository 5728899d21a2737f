//! The state as bytes, as a snapshot holds it.

use std::thread;

use turnstile_types::{
    Effect, Machines, Malformed, Position, Reader, Sink, Timestamp, Unapplied, put_flag,
};

use super::State;
use crate::{
    founding::{put_founding, read_founding},
    keys::{Keys, REFUSED_BYTES_MAX},
    remembered::{RememberedField, SERVICE_UNKNOWN},
    shared::SharedPlace,
};

/// The highest version of [`State`]'s own part of a snapshot: of one of several partitions.
pub const SNAPSHOT_VERSION: u8 = 5;

/// The version of a state with a place in a shared log, whose cluster has one partition.
const OF_ONE_PARTITION: u8 = 4;

/// The version of a state with a place before announcements and snapshots in the store.
const WITHOUT_ANNOUNCEMENTS: u8 = 3;

/// The version of a state without one.
const OF_ONE_SERVER: u8 = 2;

/// The field that [`State::restore`] finds malformed in a snapshot of a newer version.
pub const SNAPSHOT_VERSION_FIELD: &str = "snapshot version";

/// The version in which keys did not say what service they are for.
const WITHOUT_SERVICES: u8 = 1;

/// The version of the next snapshot of a state that was read from one of this version.
#[must_use]
pub const fn version_after(version: u8) -> u8 {
    match version {
        WITHOUT_SERVICES => OF_ONE_SERVER,
        WITHOUT_ANNOUNCEMENTS => OF_ONE_PARTITION,
        version => version,
    }
}

impl<S: Machines> State<S> {
    /// Writes the whole state in its canonical form.
    pub fn snapshot(&self, out: &mut dyn Sink) {
        let version = match (&self.shared, &self.partition) {
            (_, Some(_)) => SNAPSHOT_VERSION,
            (Some(_), None) => OF_ONE_PARTITION,
            (None, None) => OF_ONE_SERVER,
        };
        out.put(&[version]);
        out.put(&self.position.0.to_le_bytes());
        out.put(&self.time.0.to_le_bytes());
        if let Some(founding) = &self.partition {
            let mut bytes = Vec::new();
            put_founding(founding, &mut bytes);
            put_flag(&mut bytes, self.shared.is_some());
            out.put(&bytes);
        }
        if let Some(shared) = &self.shared {
            out.put(&shared.bytes());
        }
        self.keys.snapshot(out);
        self.machines.snapshot(out);
    }

    /// Reads what [`Self::snapshot`] wrote.
    ///
    /// # Errors
    /// The bytes are no such snapshot.
    pub fn restore(mut reader: Reader<'_>) -> Result<Self, Malformed> {
        let version = reader.u8(SNAPSHOT_VERSION_FIELD)?;
        let services = match version {
            OF_ONE_SERVER | WITHOUT_ANNOUNCEMENTS | OF_ONE_PARTITION | SNAPSHOT_VERSION => {
                RememberedField::Noted
            }
            WITHOUT_SERVICES => RememberedField::NotNoted,
            _ => {
                return Err(Malformed {
                    field: SNAPSHOT_VERSION_FIELD,
                });
            }
        };
        let position = Position(reader.u64("snapshot position")?);
        let time = Timestamp(reader.u64("snapshot time")?);
        let partition = match version {
            SNAPSHOT_VERSION => Some(read_founding(&mut reader)?),
            _ => None,
        };
        let announces_nothing = (version == WITHOUT_ANNOUNCEMENTS).then_some(time);
        let has_place = match version {
            SNAPSHOT_VERSION => reader.flag("place in a shared log")?,
            _ => matches!(version, OF_ONE_PARTITION | WITHOUT_ANNOUNCEMENTS),
        };
        let shared = match has_place {
            true => Some(SharedPlace::read(&mut reader, announces_nothing)?),
            false => None,
        };
        let mut keys = reader.clone();
        Keys::pass(&mut reader, services)?;
        // Neither needs the other, and each takes seconds where there are millions.
        let (keys, machines) = thread::scope(|scope| {
            let keys = scope
                .spawn(|| Keys::restore(&mut keys, REFUSED_BYTES_MAX, services, effect_of::<S>));
            let machines = S::restore(reader);
            let keys = keys.join().expect("keys are restored without a panic");
            (keys, machines)
        });
        let mut machines = machines?;
        if let Some(founding) = &partition {
            machines.found_in(founding);
        }
        Ok(Self {
            keys: keys?,
            machines,
            position,
            time,
            shared,
            entry_of: None,
            partition,
            outcome_bytes: Vec::new(),
        })
    }
}

/// What a remembered command came to. Of one that nobody knows the service of, it counts as done.
fn effect_of<S: Machines>(service: u8, outcome: &[u8]) -> Result<Effect, Malformed> {
    if service == SERVICE_UNKNOWN {
        return Ok(Effect::Done);
    }
    S::effect_of_outcome(service, outcome).map_err(|cause| match cause {
        Unapplied::UnknownService => Malformed {
            field: "service of a key",
        },
        Unapplied::Malformed(cause) => cause,
    })
}
