//! Stable bytes: each type says once what it is made of, and is written and read by that.
//!
//! Integers are little-endian. A name or text of at most 255 bytes is its length, u8, and its
//! bytes. A list is its length, u32, and its members; a map is a list of pairs in order of its keys,
//! without any twice; an option is `00`, or `01` and the value. Structs and enums derive
//! [`Bytes`](turnstile_derive::Bytes): a struct is its fields in the order in which they are
//! declared, an enum is the byte of its variant and the fields of that. So equal values have equal
//! bytes, and what is read is written back as the same bytes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use turnstile_types::{
    Malformed, Name, Night, Outcome, Position, Principal, Reader, Stay, Timestamp,
};

use crate::Cursor;

/// The first byte of a refusal: a lower one is that of something done.
const REFUSALS: u8 = 0x80;

/// Something that is written as stable bytes.
pub trait Encode {
    /// Appends the bytes.
    fn encode(&self, out: &mut Vec<u8>);
}

/// Something that is read from stable bytes, and may borrow from them.
pub trait Decode<'a>: Sized {
    /// `field`: what an error says was being read. A type of several fields says which of them.
    ///
    /// # Errors
    /// The bytes are not what [`Encode::encode`] writes.
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed>;

    /// Reads what fills the bytes.
    ///
    /// # Errors
    /// The bytes are not what [`Encode::encode`] writes, or something is left.
    fn decode_whole(bytes: &'a [u8], field: &'static str) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let whole = Self::decode(&mut reader, field)?;
        reader.finish(field)?;
        Ok(whole)
    }
}

/// One of several kinds, each with a byte of its own.
pub trait Tagged {
    /// The byte of its kind, which is the first of its stable bytes.
    fn byte(&self) -> u8;
}

macro_rules! integers {
    ($($type:ident),+) => {$(
        impl Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }

        impl Decode<'_> for $type {
            fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
                reader.array(field).map(Self::from_le_bytes)
            }
        }
    )+};
}

integers!(u8, u16, u32, u64, u128, i32, i64);

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
}

impl Decode<'_> for bool {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        reader.flag(field)
    }
}

/// Appends a text of at most 255 bytes, its length before it.
///
/// # Panics
/// It is longer: only texts that were parsed with a bound are written so.
pub fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.push(u8::try_from(text.len()).expect("a parsed text has a bound below 256 bytes"));
    out.extend_from_slice(text);
}

/// Reads what [`put_text`] wrote.
///
/// # Errors
/// Fewer bytes are left than the length says.
pub fn read_text<'a>(reader: &mut Reader<'a>, field: &'static str) -> Result<&'a [u8], Malformed> {
    let length = usize::from(reader.u8(field)?);
    reader.take(length, field)
}

impl Encode for Name {
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(self.as_bytes(), out);
    }
}

impl Decode<'_> for Name {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::parse(read_text(reader, field)?).map_err(|_invalid| Malformed { field })
    }
}

impl Encode for Principal {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}

impl Decode<'_> for Principal {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Name::decode(reader, field).map(Self)
    }
}

impl Encode for Cursor {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}

impl Decode<'_> for Cursor {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        reader.u64(field).map(Self)
    }
}

// Texts without a bound of their own: the length, u32, and the bytes, which are UTF-8.
macro_rules! texts {
    ($($text:ty),+) => {$(
        impl Encode for $text {
            fn encode(&self, out: &mut Vec<u8>) {
                put_count(self.len(), out);
                out.extend_from_slice(self.as_bytes());
            }
        }

        impl Decode<'_> for $text {
            fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
                let length = usize::try_from(reader.u32(field)?);
                let length = length.map_err(|_large| Malformed { field })?;
                let text = std::str::from_utf8(reader.take(length, field)?);
                text.map(Self::from).map_err(|_invalid| Malformed { field })
            }
        }
    )+};
}

texts!(Box<str>, Arc<str>);

impl Encode for Night {
    fn encode(&self, out: &mut Vec<u8>) {
        self.days().encode(out);
    }
}

impl Decode<'_> for Night {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        reader.u16(field).map(Self::from_days)
    }
}

/// The arrival, then the number of nights in one byte.
impl Encode for Stay {
    fn encode(&self, out: &mut Vec<u8>) {
        self.arrival().encode(out);
        self.nights().encode(out);
    }
}

impl Decode<'_> for Stay {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        reader.stay(field)
    }
}

impl Encode for Timestamp {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}

impl Decode<'_> for Timestamp {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        reader.instant(field)
    }
}

impl Encode for Position {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}

impl Decode<'_> for Position {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        reader.u64(field).map(Self)
    }
}

/// What was done or why it was refused: their first bytes tell which.
impl<D: Encode, R: Encode> Encode for Outcome<D, R> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Done(done) => done.encode(out),
            Self::Refused(refusal) => refusal.encode(out),
        }
    }
}

impl<'a, D: Decode<'a>, R: Decode<'a>> Decode<'a> for Outcome<D, R> {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let first = reader.peek().ok_or(Malformed { field })?;
        if first < REFUSALS {
            D::decode(reader, field).map(Self::Done)
        } else {
            R::decode(reader, field).map(Self::Refused)
        }
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Option<T> {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let some = reader.flag(field)?;
        some.then(|| T::decode(reader, field)).transpose()
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        T::encode(self, out);
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Box<T> {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        T::decode(reader, field).map(Self::new)
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
        self.1.encode(out);
    }
}

impl<'a, A: Decode<'a>, B: Decode<'a>> Decode<'a> for (A, B) {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        Ok((A::decode(reader, field)?, B::decode(reader, field)?))
    }
}

/// As many of a kind as the type says, one after the other.
impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|one| one.encode(out));
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for [T; 2] {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        Ok([T::decode(reader, field)?, T::decode(reader, field)?])
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for [T; 4] {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let [first, second] = Decode::decode(reader, field)?;
        let [third, fourth] = Decode::decode(reader, field)?;
        Ok([first, second, third, fourth])
    }
}

/// The length of a list, before its members.
///
/// # Panics
/// When there are 2^32 of them: lists are limited.
pub fn put_count(count: usize, out: &mut Vec<u8>) {
    u32::try_from(count).expect("lists are limited").encode(out);
}

/// Reads a list member by member: a length that lies is found when the bytes end, before anything
/// is made room for.
///
/// # Errors
/// A member is not read, or not taken.
pub fn read_all<'a, T: Decode<'a>>(
    reader: &mut Reader<'a>,
    field: &'static str,
    mut take: impl FnMut(T) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    for _ in 0..reader.u32(field)? {
        reader.lap()?;
        take(T::decode(reader, field)?)?;
    }
    Ok(())
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        self.iter().for_each(|member| member.encode(out));
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_slice().encode(out);
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Vec<T> {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let mut list = Self::new();
        read_all(reader, field, |member| {
            list.push(member);
            Ok(())
        })?;
        Ok(list)
    }
}

impl<T: Encode> Encode for VecDeque<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        self.iter().for_each(|member| member.encode(out));
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for VecDeque<T> {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        Vec::decode(reader, field).map(Self::from)
    }
}

impl<K: Encode, V: Encode> Encode for BTreeMap<K, V> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for (key, value) in self {
            key.encode(out);
            value.encode(out);
        }
    }
}

impl<'a, K: Decode<'a> + Ord, V: Decode<'a>> Decode<'a> for BTreeMap<K, V> {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let mut map = Self::new();
        read_all(reader, field, |(key, value): (K, V)| {
            let is_next = map.last_key_value().is_none_or(|(last, _)| *last < key);
            Malformed::unless(is_next, "order of keys")?;
            map.insert(key, value);
            Ok(())
        })?;
        Ok(map)
    }
}

impl<T: Encode> Encode for BTreeSet<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        self.iter().for_each(|member| member.encode(out));
    }
}

impl<'a, T: Decode<'a> + Ord> Decode<'a> for BTreeSet<T> {
    fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let mut set = Self::new();
        read_all(reader, field, |member: T| {
            let is_next = set.last().is_none_or(|last| *last < member);
            Malformed::unless(is_next, "order of members")?;
            set.insert(member);
            Ok(())
        })?;
        Ok(set)
    }
}
