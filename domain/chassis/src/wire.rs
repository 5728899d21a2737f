//! Stable bytes: each type says once what it is made of, and is written and read by that.
//!
//! Integers are little-endian. A list is its length, u32, and its members; a map is a list of
//! pairs in order of its keys, without any twice; an option is `00`, or `01` and the value; a
//! choice is the byte of its kind and its fields. So equal values have equal bytes, and what is
//! read is written back as the same bytes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use turnstile_types::{Malformed, Position, Reader, Timestamp};

/// Something with stable bytes.
pub trait Wire: Sized {
    /// Appends the bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// # Errors
    /// The bytes are not what [`put`](Self::put) writes.
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Reads what fills the bytes.
    ///
    /// # Errors
    /// The bytes are not what [`put`](Self::put) writes, or something is left, which is told as
    /// malformed at `end`.
    fn read_whole(bytes: &[u8], end: &'static str) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let whole = Self::read(&mut reader)?;
        reader.finish(end)?;
        Ok(whole)
    }
}

/// A type that is its fields, one after the other.
#[macro_export]
macro_rules! fields {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::Wire::put(&self.$field, out);)+
            }

            fn read(
                reader: &mut ::turnstile_types::Reader<'_>,
            ) -> Result<Self, ::turnstile_types::Malformed> {
                Ok(Self { $($field: $crate::Wire::read(reader)?),+ })
            }
        }
    };
}

/// A type that is one of several kinds, each a byte and its fields. A byte is never reused.
#[macro_export]
macro_rules! kinds {
    ($type:ident {
        $($kind:literal $variant:ident
            $(( $($part:ident),+ ))?
            $({ $($field:ident),+ })?
        ),+ $(,)?
    }) => {
        impl $crate::Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(( $($part),+ ))? $({ $($field),+ })? => {
                        out.push($kind);
                        $($($crate::Wire::put($part, out);)+)?
                        $($($crate::Wire::put($field, out);)+)?
                    })+
                }
            }

            fn read(
                reader: &mut ::turnstile_types::Reader<'_>,
            ) -> Result<Self, ::turnstile_types::Malformed> {
                let field = stringify!($type);
                match reader.u8(field)? {
                    $($kind => {
                        $($(let $part = $crate::Wire::read(reader)?;)+)?
                        $($(let $field = $crate::Wire::read(reader)?;)+)?
                        Ok(Self::$variant $(( $($part),+ ))? $({ $($field),+ })?)
                    })+
                    _ => Err(::turnstile_types::Malformed { field }),
                }
            }
        }
    };
}

macro_rules! integers {
    ($($type:ident),+) => {$(
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
                let field = stringify!($type);
                let bytes = reader.take(size_of::<Self>(), field)?;
                let bytes = bytes.try_into().map_err(|_short| Malformed { field })?;
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )+};
}

integers!(u8, u16, u32, u64, i32, i64);

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.flag("flag")
    }
}

impl Wire for Timestamp {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::read(reader).map(Self)
    }
}

impl Wire for Position {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::read(reader).map(Self)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let some = bool::read(reader)?;
        some.then(|| T::read(reader)).transpose()
    }
}

impl<T: Wire> Wire for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        T::read(reader).map(Self::new)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok((A::read(reader)?, B::read(reader)?))
    }
}

/// Two of a kind, one after the other.
impl<T: Wire> Wire for [T; 2] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|one| one.put(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok([T::read(reader)?, T::read(reader)?])
    }
}

/// The length of a list, before its members.
///
/// # Panics
/// When there are 2^32 of them: lists are limited.
pub fn put_count(count: usize, out: &mut Vec<u8>) {
    u32::try_from(count).expect("lists are limited").put(out);
}

/// Reads a list member by member: a length that lies is found when the bytes end, before anything
/// is made room for.
///
/// # Errors
/// A member is not read, or not taken.
pub fn read_all<T: Wire>(
    reader: &mut Reader<'_>,
    mut take: impl FnMut(T) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    for _ in 0..u32::read(reader)? {
        take(T::read(reader)?)?;
    }
    Ok(())
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        self.iter().for_each(|member| member.put(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut list = Self::new();
        read_all(reader, |member| {
            list.push(member);
            Ok(())
        })?;
        Ok(list)
    }
}

impl<T: Wire> Wire for VecDeque<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        self.iter().for_each(|member| member.put(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Vec::read(reader).map(Self::from)
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut map = Self::new();
        read_all(reader, |(key, value): (K, V)| {
            if map.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return Err(Malformed {
                    field: "order of keys",
                });
            }
            map.insert(key, value);
            Ok(())
        })?;
        Ok(map)
    }
}

impl<T: Wire + Ord> Wire for BTreeSet<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        self.iter().for_each(|member| member.put(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut set = Self::new();
        read_all(reader, |member: T| {
            if set.last().is_some_and(|last| *last >= member) {
                return Err(Malformed {
                    field: "order of members",
                });
            }
            set.insert(member);
            Ok(())
        })?;
        Ok(set)
    }
}
