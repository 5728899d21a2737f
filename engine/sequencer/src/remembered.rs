//! One remembered key: who used it, when, and what was first answered, in its stable bytes.

use turnstile_types::{
    Key, Malformed, Position, Principal, Reader, Timestamp, put_bytes, put_u8, put_u64,
};

/// Where the snapshot of an earlier version does not say what service a key was for.
pub const SERVICE_UNKNOWN: u8 = 0;

/// The longest outcome that is remembered, in bytes. Only a summary of travel is longer; it changes
/// nothing, so a retry reads it again.
pub const OUTCOME_BYTES_MAX: usize = 32 * 1_024;

/// No entry is longer: the fixed fields, the longest principal and key, the longest outcome.
pub(crate) const ENTRY_BYTES_MAX: usize = 1_024 + OUTCOME_BYTES_MAX;

/// The mark beside a service that the answer came later than its command.
const LATE: u8 = 0x80;

/// Bytes of the fields of fixed width, and of the lengths of the others.
const FIXED_BYTES: usize = 8 + 8 + 8 + 1 + 2 + 2 + 2;

/// What was first answered under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First<'a> {
    pub position: Position,
    /// The hash of the command's bytes, by which a retry is told from another command
    /// ([`content_of`](crate::content_of)).
    pub content: u64,
    /// The machine that decided the command, or [`SERVICE_UNKNOWN`].
    pub service: u8,
    /// The machine's encoding of the outcome.
    pub outcome: &'a [u8],
}

/// Whether a snapshot of the keys says what service each is for: earlier versions did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RememberedField {
    Noted,
    NotNoted,
}

/// One entry, read where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Remembered<'a> {
    /// The time of the group in which the command was decided; where its final answer came later, the
    /// time of that.
    pub time: Timestamp,
    pub principal: Principal,
    pub key: Key<'a>,
    pub first: First<'a>,
    /// Whether this is the final answer to a command that had to wait.
    pub is_late: bool,
}

impl<'a> Remembered<'a> {
    pub(crate) fn read(
        reader: &mut Reader<'a>,
        services: RememberedField,
    ) -> Result<Self, Malformed> {
        let time = Timestamp(reader.u64("time of a key")?);
        let position = Position(reader.u64("position of a key")?);
        let content = reader.u64("content of a key")?;
        let service = match services {
            RememberedField::Noted => reader.u8("service of a key")?,
            RememberedField::NotNoted => SERVICE_UNKNOWN,
        };
        let principal = Principal(reader.name("principal of a key")?);
        let key =
            Key::parse(reader.bytes("key")?).map_err(|_invalid| Malformed { field: "key" })?;
        let outcome = reader.bytes("outcome of a key")?;
        if outcome.len() > OUTCOME_BYTES_MAX {
            return Err(Malformed {
                field: "size of a key",
            });
        }
        Ok(Self {
            time,
            principal,
            key,
            first: First {
                position,
                content,
                service: service & !LATE,
                outcome,
            },
            is_late: service & LATE != 0,
        })
    }

    /// Passes over an entry without a look at it.
    pub(crate) fn pass(
        reader: &mut Reader<'_>,
        services: RememberedField,
    ) -> Result<(), Malformed> {
        let fixed = match services {
            RememberedField::Noted => 8 + 8 + 8 + 1,
            RememberedField::NotNoted => 8 + 8 + 8,
        };
        reader.take(fixed, "key")?;
        for field in ["principal of a key", "key", "outcome of a key"] {
            reader.bytes(field)?;
        }
        Ok(())
    }

    /// Bytes that it takes in a ring.
    pub(crate) fn size(&self) -> usize {
        size_of(&self.principal, self.key, self.first.outcome.len())
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, self.time.0);
        put_u64(out, self.first.position.0);
        put_u64(out, self.first.content);
        put_u8(
            out,
            self.first.service | if self.is_late { LATE } else { 0 },
        );
        put_bytes(out, self.principal.0.as_bytes());
        put_bytes(out, self.key.as_str().as_bytes());
        put_bytes(out, self.first.outcome);
    }

    pub(crate) fn is(&self, principal: &Principal, key: Key<'_>) -> bool {
        self.key == key && self.principal == *principal
    }
}

/// Bytes of an entry with an outcome of so many.
pub(crate) fn size_of(principal: &Principal, key: Key<'_>, outcome: usize) -> usize {
    FIXED_BYTES + principal.0.as_bytes().len() + key.as_str().len() + outcome
}
