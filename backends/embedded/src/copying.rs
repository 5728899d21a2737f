//! Copies a rooms state out of a data directory or into one.

use std::path::{Path, PathBuf};

use turnstile_contract::{
    Failure,
    copy::{CopiedKey, Halt, Head, KeyTeller, Moving, Refusal, Source, Target, Teller},
};
use turnstile_journal::{
    Founding, OpenError, RealDisk, RealLock, inspect, snapshot, snapshot::Draft,
};
use turnstile_rooms::{Assembly, IdKey, Piece, Rooms};
use turnstile_sequencer::{First, KEY_MS, Remembered as Known, SERVICE_UNKNOWN, State};
use turnstile_types::{Machine as _, Machines as _, Malformed, Timestamp, hash_of};

use crate::{
    BackendOpenError, Options, Services, VerifyError, id_key,
    unfinished::{self, Occupied},
    verify::rebuild,
};

/// A data directory that no server uses, from which or to which a state is copied.
///
/// It is read into memory as a start does, and of what is written all lies in memory before it
/// becomes one snapshot, with an empty journal after it. Of a directory's services only rooms are
/// copied, with the idempotency keys of their commands.
#[derive(Debug)]
pub struct RoomsCopy {
    directory: PathBuf,
    /// The state that was read, while nobody else may open the directory.
    read: Option<LockedState>,
    taken: Option<Taken>,
}

#[derive(Debug)]
struct LockedState {
    state: State<Services>,
    id_key: IdKey,
    _lock: RealLock,
}

#[derive(Debug)]
struct Taken {
    assembly: Assembly,
    id_key: IdKey,
    /// The state with its keys, whose rooms are in the assembly still.
    state: State<Services>,
    /// Of the directory, from the removal of what was left there until it has its journal.
    lock: RealLock,
}

impl RoomsCopy {
    /// Of this directory, which is looked at when it is needed.
    #[must_use]
    pub const fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            read: None,
            taken: None,
        }
    }

    fn place(&self) -> String {
        self.directory.display().to_string()
    }

    fn failed(&self, cause: impl std::fmt::Display) -> Refusal {
        Refusal::Directory {
            place: self.place(),
            reason: cause.to_string(),
        }
    }

    /// The state, read when it is first asked for.
    fn state(&mut self) -> Result<&LockedState, Refusal> {
        if self.read.is_none() {
            if unfinished::is_marked(&self.directory) {
                let place = self.place();
                return Err(Refusal::Unfinished { place });
            }
            self.read_again()?;
        }
        Ok(self.read.as_ref().expect("it was read just now"))
    }

    fn read_again(&mut self) -> Result<(), Refusal> {
        let read = read(&self.directory).map_err(|cause| self.failed(cause))?;
        self.read = Some(read);
        Ok(())
    }

    /// Takes the directory, and removes what an unfinished copy has left; nothing else may be there.
    fn make_empty(&self, again: bool) -> Result<RealLock, Refusal> {
        let place = self.place();
        unfinished::clear(&self.directory, again).map_err(|occupied| match occupied {
            Occupied::Unfinished => Refusal::Unfinished { place },
            Occupied::NotEmpty => Refusal::NotEmpty { place },
            Occupied::Locked => self.failed(OpenError::Locked),
            Occupied::Io(cause) => self.failed(cause),
        })
    }

    /// Writes the whole state into the directory.
    fn write(&self, taken: Taken) -> Result<(), Refusal> {
        let rooms = taken.assembly.finish();
        let rooms = rooms.map_err(|malformed| self.failed(malformed))?;
        let mut state = taken.state;
        *state.machines_mut() = Services::of_rooms(rooms);
        if let Err(violations) = state.machines().check() {
            return Err(self.failed(violations.join("; ")));
        }
        let disk = RealDisk::open(&self.directory).map_err(|cause| self.failed(cause))?;
        let founding = Founding::begin_taken(disk.clone(), taken.lock);
        let founding = founding.map_err(|cause| self.failed(cause))?;
        let brought = id_key::bring(&self.directory, founding.journal(), &taken.id_key);
        brought.map_err(|cause| self.failed(cause))?;
        let (position, time) = (state.position(), state.time());
        let mut draft = Draft::begin(disk, founding.journal(), position, time);
        state.snapshot(&mut draft);
        let written = draft.finish(hash_of(state.machines()));
        written.map_err(|cause| self.failed(cause))?;
        let segment_bytes = Options::with(turnstile_journal::Durability::Sync).segment_bytes;
        let founded = founding.finish(segment_bytes, position, time);
        founded.map_err(|cause| self.failed(cause))
    }
}

fn read(directory: &Path) -> Result<LockedState, VerifyError> {
    if !directory.is_dir() {
        return Err(VerifyError::NoJournal);
    }
    let unreadable = |cause| BackendOpenError::Directory {
        path: directory.to_owned(),
        cause,
    };
    let disk = RealDisk::open(directory).map_err(unreadable)?;
    let (inspected, lock) = inspect(&disk)
        .map_err(BackendOpenError::Journal)?
        .ok_or(VerifyError::NoJournal)?;
    let positions = snapshot::positions(&disk).map_err(BackendOpenError::Snapshot)?;
    let newest = positions.first().copied();
    let last = inspected.report.last;
    let (_, state) = rebuild(&disk, inspected.journal, newest, last)?;
    let found = id_key::read(directory, inspected.journal).map_err(BackendOpenError::IdKey)?;
    Ok(LockedState {
        state,
        id_key: found.key,
        _lock: lock,
    })
}

impl LockedState {
    const fn rooms(&self) -> &Rooms {
        self.state.machines().rooms()
    }

    /// Tells the keys of rooms; those of other services stay.
    async fn tell_keys(&self, now: Timestamp, teller: &mut KeyTeller) -> Result<(), Halt> {
        for known in self.state.remembered(now) {
            let First {
                position,
                content,
                service,
                outcome,
            } = known.first;
            if service == SERVICE_UNKNOWN {
                return Err(Halt::from(Refusal::EarlierKey {
                    principal: known.principal,
                    key: known.key.as_str().into(),
                    forgotten: known.time.plus_ms(KEY_MS),
                }));
            }
            if service == Rooms::SERVICE {
                let name = (known.principal, known.key.as_str());
                let decided = (known.time, position);
                let outcome = Rooms::decode_outcome(outcome).map_err(strange)?;
                let key = CopiedKey::new(name, content, decided, outcome).map_err(strange)?;
                teller.put(key).await?;
            }
        }
        Ok(())
    }
}

fn strange(malformed: Malformed) -> Halt {
    let reason = malformed.to_string();
    Halt::from(Failure::Broken { reason })
}

impl Taken {
    /// Takes a key, however many there are: a server that has no room for others says so until some are
    /// forgotten.
    fn remember(&mut self, moved: &CopiedKey) {
        let known = Known {
            time: moved.at,
            principal: moved.principal,
            key: moved.key(),
            first: First {
                position: moved.position,
                content: moved.content,
                service: Rooms::SERVICE,
                outcome: &moved.outcome_bytes(),
            },
            is_late: false,
        };
        self.state.remember(&known, moved.outcome.effect());
    }
}

impl Source for RoomsCopy {
    fn head(&mut self) -> Moving<'_, Result<Head, Refusal>> {
        Box::pin(async move {
            let read = self.state()?;
            let totals = read.rooms().totals();
            let slots = read.rooms().slots_used();
            let keys = read.state.key_figures().kept as u64;
            Ok(Head {
                id_key: read.id_key.clone(),
                position: read.state.position(),
                slots,
                parts: totals.properties + totals.rooms + u64::from(slots) + keys,
            })
        })
    }

    fn tell(&mut self, now: Timestamp, mut teller: Teller) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let place = self.place();
            let read = self.state()?;
            for piece in read.rooms().pieces(now) {
                teller.put(piece).await?;
            }
            let mut teller = teller.end().await?;
            let told = read.tell_keys(now, &mut teller).await;
            told.map_err(|halt| halt.at(&place))?;
            Ok(teller.end().await?)
        })
    }
}

impl Target for RoomsCopy {
    fn begin<'a>(
        &'a mut self,
        head: &'a Head,
        now: Timestamp,
        again: bool,
    ) -> Moving<'a, Result<(), Refusal>> {
        Box::pin(async move {
            // One that was begun before and broke off has the lock.
            self.taken = None;
            let lock = self.make_empty(again)?;
            unfinished::mark(&self.directory, "rooms copy").map_err(|cause| self.failed(cause))?;
            self.taken = Some(Taken {
                assembly: Assembly::new(),
                id_key: head.id_key.clone(),
                state: State::of(Services::empty(), head.position, now),
                lock,
            });
            Ok(())
        })
    }

    fn take(&mut self, pieces: Vec<Piece>) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let taken = self.taken.as_mut().expect("the copy has begun");
            for piece in pieces {
                taken.assembly.add(piece)?;
            }
            Ok(())
        })
    }

    fn take_keys(&mut self, keys: Vec<CopiedKey>) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let taken = self.taken.as_mut().expect("the copy has begun");
            keys.iter().for_each(|key| taken.remember(key));
            Ok(())
        })
    }

    fn settle(&mut self) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let taken = self.taken.take().expect("the copy has begun");
            self.write(taken)?;
            // What is compared is what the disk has.
            self.read_again()
        })
    }

    fn finish(&mut self) -> Moving<'_, Result<(), Refusal>> {
        Box::pin(
            async move { unfinished::unmark(&self.directory).map_err(|cause| self.failed(cause)) },
        )
    }
}
