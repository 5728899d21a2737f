//! What is known of rooms and of keys at each position: who may book, and who has booked.

use turnstile_check::{
    Compact, Model,
    rooms::{Operation, Table},
};

use super::PRINCIPALS;
use crate::crash::witness::Witness;

/// One operation with its answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// Asked with one of these keys: where an answer was lost, the request was sent again with another.
    Rooms {
        keys: u64,
        operation: Operation,
    },
    Added(u8),
    Revoked(u8),
    Granted(u8),
    Withdrawn(u8),
    /// A request with this key was answered, or refused for want of a right.
    Permitted(u8),
    Denied(u8),
}

impl Compact for Told {
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, number) = match self {
            Self::Rooms { keys, operation } => {
                out.push(0);
                keys.put(out);
                return operation.put(out);
            }
            Self::Added(key) => (1, key),
            Self::Revoked(key) => (2, key),
            Self::Granted(principal) => (3, principal),
            Self::Withdrawn(principal) => (4, principal),
            Self::Permitted(key) => (5, key),
            Self::Denied(key) => (6, key),
        };
        out.extend([kind, *number]);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        Some(match u8::take(bytes)? {
            0 => Self::Rooms {
                keys: u64::take(bytes)?,
                operation: Operation::take(bytes)?,
            },
            1 => Self::Added(u8::take(bytes)?),
            2 => Self::Revoked(u8::take(bytes)?),
            3 => Self::Granted(u8::take(bytes)?),
            4 => Self::Withdrawn(u8::take(bytes)?),
            5 => Self::Permitted(u8::take(bytes)?),
            6 => Self::Denied(u8::take(bytes)?),
            _ => return None,
        })
    }
}

/// Rooms, and who may book them: one bit for each key that is good, and for each principal with a right.
#[derive(Debug)]
pub(super) struct GuardedTable {
    pub(super) rooms: Table,
    live: u64,
    granted: u64,
}

impl GuardedTable {
    /// Each principal has one key and its right.
    pub(super) fn new() -> Self {
        let all = (1 << PRINCIPALS) - 1;
        Self {
            rooms: Witness::default().0,
            live: all,
            granted: all,
        }
    }

    fn permits(&self, key: u8) -> bool {
        self.live >> key & 1 == 1 && self.granted >> (key % PRINCIPALS) & 1 == 1
    }
}

impl Model for GuardedTable {
    type Operation = Told;

    fn apply(&mut self, position: u64, told: &Told) -> Result<(), String> {
        match told {
            Told::Rooms { keys, operation } => {
                let mut asked = (0..64).filter(|key| keys >> key & 1 == 1);
                if !asked.any(|key| self.permits(key)) {
                    return Err(format!("was done with keys {keys:b}, {}", self.shown(told)));
                }
                self.rooms.apply(position, operation)?;
            }
            Told::Added(key) => self.live |= 1 << key,
            Told::Revoked(key) => self.live &= !(1 << key),
            Told::Granted(principal) => self.granted |= 1 << principal,
            Told::Withdrawn(principal) => self.granted &= !(1 << principal),
            Told::Permitted(_) | Told::Denied(_) => {
                return Err("a reading has no position".to_owned());
            }
        }
        Ok(())
    }

    fn agrees(&self, reading: &Told) -> bool {
        match reading {
            Told::Permitted(key) => self.permits(*key),
            Told::Denied(key) => !self.permits(*key),
            _ => false,
        }
    }

    fn shown(&self, _reading: &Told) -> String {
        let Self { live, granted, .. } = self;
        format!("live keys {live:b}, principals with rights {granted:b}")
    }

    fn suspect(&mut self, told: &Told) {
        if let Told::Rooms { operation, .. } = told {
            self.rooms.suspect(operation);
        }
    }

    fn time_of(&self, told: &Told) -> Option<u64> {
        match told {
            Told::Rooms { operation, .. } => self.rooms.time_of(operation),
            _ => None,
        }
    }
}
