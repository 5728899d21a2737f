//! One record: who asks which service for what, and under which idempotency key.

use turnstile_types::{Key, Malformed, Name, Position, Principal, Reader, Timestamp};

use crate::{PAYLOAD_BYTES_MAX, RECORD_PREFIX_BYTES};

/// A record that is about to be written. Its position and time come from its group.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'a> {
    /// The machine's number, or [`SERVICE_ENGINE`](crate::SERVICE_ENGINE).
    pub service: u8,
    pub principal: &'a Principal,
    pub key: Option<Key<'a>>,
    /// The machine's command encoding, at most [`PAYLOAD_BYTES_MAX`] bytes.
    pub payload: &'a [u8],
}

impl RecordRef<'_> {
    /// How many bytes the record takes in a group.
    #[must_use]
    pub fn size(&self) -> usize {
        RECORD_PREFIX_BYTES
            + self.principal.0.as_bytes().len()
            + self.key.map_or(0, |key| key.as_str().len())
            + self.payload.len()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let principal = self.principal.0.as_bytes();
        let key = self.key.as_ref().map_or("", Key::as_str).as_bytes();
        let payload_bytes = u16::try_from(self.payload.len())
            .unwrap_or_else(|_| panic!("a payload has at most {PAYLOAD_BYTES_MAX} bytes"));
        let [low, high] = payload_bytes.to_le_bytes();
        out.extend_from_slice(&[
            self.service,
            u8::try_from(principal.len()).expect("a principal has at most 64 bytes"),
            u8::try_from(key.len()).expect("a key has at most 128 bytes"),
            low,
            high,
        ]);
        out.extend_from_slice(principal);
        out.extend_from_slice(key);
        out.extend_from_slice(self.payload);
    }
}

/// A record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub position: Position,
    /// The logged time of the record's group.
    pub time: Timestamp,
    pub service: u8,
    pub principal: Principal,
    pub key: Option<Key<'a>>,
    pub payload: &'a [u8],
}

/// A record's parts as they lie in a group's body.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) service: u8,
    pub(crate) principal: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) payload: &'a [u8],
}

impl<'a> Parts<'a> {
    pub(crate) fn read(body: &mut Reader<'a>) -> Result<Self, Malformed> {
        let service = body.u8("service")?;
        let principal_bytes = body.u8("principal length")?;
        let key_bytes = body.u8("key length")?;
        let payload_bytes = body.u16("payload length")?;
        Ok(Self {
            service,
            principal: body.take(usize::from(principal_bytes), "principal")?,
            key: body.take(usize::from(key_bytes), "key")?,
            payload: body.take(usize::from(payload_bytes), "payload")?,
        })
    }

    pub(crate) fn principal(&self) -> Option<Principal> {
        Name::parse(self.principal).ok().map(Principal)
    }

    /// The key, when it is there and well-formed; `None` for a malformed one.
    pub(crate) fn key(&self) -> Option<Option<Key<'a>>> {
        if self.key.is_empty() {
            return Some(None);
        }
        Key::parse(self.key).ok().map(Some)
    }
}
