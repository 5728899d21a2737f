//! One record: who asks which service for what, from where, and under which idempotency key.

use turnstile_types::{
    Author, Key, Malformed, Name, Origin, Position, Principal, Reader, Timestamp,
};

use crate::origin::{self, RawOrigin};
use crate::{PAYLOAD_BYTES_MAX, RECORD_PREFIX_BYTES, VERSION_WITHOUT_ORIGINS};

/// A record that is about to be written. Its position and time come from its group.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'a> {
    /// The machine's number, or [`SERVICE_ENGINE`](crate::SERVICE_ENGINE).
    pub service: u8,
    pub author: Author<'a>,
    pub key: Option<Key<'a>>,
    /// The machine's command encoding, at most [`PAYLOAD_BYTES_MAX`] bytes.
    pub payload: &'a [u8],
}

impl RecordRef<'_> {
    /// How many bytes the record takes in a group.
    #[must_use]
    pub fn size(&self) -> usize {
        let Origin {
            address,
            request_id,
            ..
        } = self.author.origin;
        RECORD_PREFIX_BYTES
            + address.kept.as_bytes().len()
            + self.author.principal.0.as_bytes().len()
            + self.key.map_or(0, |key| key.as_str().len())
            + request_id.map_or(0, |id| id.as_str().len())
            + self.payload.len()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let Author { principal, origin } = self.author;
        let principal = principal.0.as_bytes();
        let address = origin.address.kept.as_bytes();
        let key = self.key.as_ref().map_or("", Key::as_str).as_bytes();
        let request_id = origin.request_id.map_or("", |id| id.as_str()).as_bytes();
        let payload_bytes = u16::try_from(self.payload.len())
            .unwrap_or_else(|_| panic!("a payload has at most {PAYLOAD_BYTES_MAX} bytes"));
        let [low, high] = payload_bytes.to_le_bytes();
        out.extend_from_slice(&[
            self.service,
            u8::try_from(principal.len()).expect("a principal has at most 64 bytes"),
            u8::try_from(key.len()).expect("a key has at most 128 bytes"),
            low,
            high,
            origin.door.number(),
            origin::number_of(&origin.address),
            u8::try_from(request_id.len()).expect("a request id has at most 64 bytes"),
        ]);
        out.extend_from_slice(principal);
        for part in [address, key, request_id] {
            // Most records have none of them.
            if !part.is_empty() {
                out.extend_from_slice(part);
            }
        }
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
    /// Where it came from: read when it is asked for, because a replay never asks.
    pub(crate) origin: RawOrigin<'a>,
}

impl<'a> Record<'a> {
    /// The same record where an order has put it.
    #[must_use]
    pub const fn at(self, position: Position, time: Timestamp) -> Self {
        Self {
            position,
            time,
            ..self
        }
    }

    /// Where the command came from. Records of version 1 do not say.
    ///
    /// # Panics
    /// Never: the group's origins were checked.
    #[must_use]
    pub fn origin(&self) -> Origin<'a> {
        self.origin
            .read()
            .expect("the group's origins were checked")
    }
}

/// A record's parts as they lie in a group's body.
#[derive(Clone, Copy)]
pub(crate) struct RecordParts<'a> {
    pub(crate) service: u8,
    pub(crate) principal: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) payload: &'a [u8],
    pub(crate) origin: RawOrigin<'a>,
}

impl<'a> RecordParts<'a> {
    pub(crate) fn read(version: u16, body: &mut Reader<'a>) -> Result<Self, Malformed> {
        let service = body.u8("service")?;
        let principal_bytes = body.u8("principal length")?;
        let key_bytes = body.u8("key length")?;
        let payload_bytes = body.u16("payload length")?;
        let mut origin = RawOrigin::UNKNOWN;
        let mut request_id_bytes = 0;
        if version > VERSION_WITHOUT_ORIGINS {
            origin.door = body.u8("door")?;
            origin.kind = body.u8("kind of address")?;
            request_id_bytes = body.u8("request id length")?;
        }
        let principal = body.take(usize::from(principal_bytes), "principal")?;
        origin.address = body.take(origin::address_bytes(origin.kind)?, "address")?;
        let key = body.take(usize::from(key_bytes), "key")?;
        origin.request_id = body.take(usize::from(request_id_bytes), "request id")?;
        let payload = body.take(usize::from(payload_bytes), "payload")?;
        Ok(Self {
            service,
            principal,
            key,
            payload,
            origin,
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
