//! What users tell, as few bytes: small numbers are short, and nothing has a name.

/// Something that can be told in bytes, and read again by the same program.
pub trait Compact: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads it from the front; nothing when these bytes are no such thing.
    fn take(bytes: &mut &[u8]) -> Option<Self>;
}

/// Structs and enums made of what is [`Compact`]: field by field, behind the number of the variant.
macro_rules! compact {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::compact::Compact for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::compact::Compact::put(&self.$field, out);)*
            }

            fn take(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::compact::Compact::take(bytes)?),* })
            }
        }
    };
    (enum $name:ident { $(
        $number:literal = $variant:ident $({ $($field:ident),* })? $(( $($part:ident),* ))?
    ),* $(,)? }) => {
        impl $crate::compact::Compact for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $({ $($field),* })? $(( $($part),* ))? => {
                        out.push($number);
                        $($($crate::compact::Compact::put($field, out);)*)?
                        $($($crate::compact::Compact::put($part, out);)*)?
                    })*
                }
            }

            fn take(bytes: &mut &[u8]) -> Option<Self> {
                let number: u8 = $crate::compact::Compact::take(bytes)?;
                match number {
                    $($number => {
                        $($(let $field = $crate::compact::Compact::take(bytes)?;)*)?
                        $($(let $part = $crate::compact::Compact::take(bytes)?;)*)?
                        Some(Self::$variant $({ $($field),* })? $(( $($part),* ))?)
                    })*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use compact;

impl Compact for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(*first)
    }
}

/// Seven bits a byte, the lowest first; all but the last byte have the eighth.
impl Compact for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        const LONGEST: usize = 10;
        let mut rest = *self;
        let mut text = [0; LONGEST];
        let mut length = 0;
        while rest >= 0x80 {
            text[length] = (rest & 0x7f | 0x80).to_le_bytes()[0];
            rest >>= 7;
            length += 1;
        }
        text[length] = rest.to_le_bytes()[0];
        out.extend_from_slice(&text[..=length]);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut number = 0;
        for (place, byte) in bytes.iter().enumerate() {
            let bits = Self::from(byte & 0x7f);
            let shift = 7 * u32::try_from(place).ok()?;
            number |= bits.checked_shl(shift)?;
            if byte & 0x80 == 0 {
                *bytes = &bytes[place + 1..];
                return Some(number);
            }
        }
        None
    }
}

macro_rules! narrow {
    ($($type:ty),*) => { $(
        impl Compact for $type {
            fn put(&self, out: &mut Vec<u8>) {
                u64::from(*self).put(out);
            }

            fn take(bytes: &mut &[u8]) -> Option<Self> {
                Self::try_from(u64::take(bytes)?).ok()
            }
        }
    )* };
}

narrow!(u16, u32);

impl Compact for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        match u8::take(bytes)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Compact for usize {
    fn put(&self, out: &mut Vec<u8>) {
        u64::try_from(*self).expect("64 bits hold it").put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        Self::try_from(u64::take(bytes)?).ok()
    }
}

/// Small numbers below zero are short, too.
impl Compact for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        ((self << 1) ^ (self >> 63)).cast_unsigned().put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let number = u64::take(bytes)?;
        let half = (number >> 1).cast_signed();
        Some(if number & 1 == 0 { half } else { !half })
    }
}

impl<T: Compact> Compact for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(one) = self {
            one.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        Some(if bool::take(bytes)? {
            Some(T::take(bytes)?)
        } else {
            None
        })
    }
}

impl<T: Compact> Compact for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        for one in self {
            one.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let length = usize::take(bytes)?;
        (0..length).map(|_| T::take(bytes)).collect()
    }
}

impl<T: Compact + Copy + Default, const N: usize> Compact for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        for one in self {
            one.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut all = [T::default(); N];
        for one in &mut all {
            *one = T::take(bytes)?;
        }
        Some(all)
    }
}

impl<A: Compact, B: Compact> Compact for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::take(bytes)?, B::take(bytes)?))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::Compact;

    #[derive(Clone, Debug, PartialEq)]
    enum Shape {
        Nothing,
        Line { from: u16, to: Option<i64> },
        Words(Vec<u8>, bool),
    }

    compact!(enum Shape { 0 = Nothing, 1 = Line { from, to }, 2 = Words(letters, loud) });

    /// Its bytes, which are read as the same thing, and of which none may be missing.
    fn both_ways<T: Compact + PartialEq + Debug>(told: &T) -> Vec<u8> {
        let mut bytes = Vec::new();
        told.put(&mut bytes);
        let mut rest = &bytes[..];
        assert_eq!(T::take(&mut rest).as_ref(), Some(told));
        assert_eq!(rest, b"");
        for length in 0..bytes.len() {
            assert_eq!(T::take(&mut &bytes[..length]), None, "{told:?} {length}");
        }
        bytes
    }

    #[test]
    fn numbers_are_short_when_they_are_small_and_the_same_both_ways() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (1 << 35, 6), (u64::MAX, 10)] {
            assert_eq!(both_ways(&number).len(), length, "{number}");
        }
        for (number, length) in [(0, 1), (-1, 1), (63, 1), (-65, 2), (i64::MIN, 10)] {
            assert_eq!(both_ways(&number).len(), length, "{number}");
        }
        assert_eq!(u64::take(&mut &[0x80; 11][..]), None, "too long");
        assert_eq!(u16::take(&mut &[0xff, 0xff, 0x7f][..]), None, "too large");
        assert_eq!(bool::take(&mut &[2][..]), None);
    }

    #[test]
    fn things_are_told_part_by_part() {
        both_ways(&Shape::Nothing);
        both_ways(&Shape::Line {
            from: 300,
            to: Some(-7),
        });
        both_ways(&Shape::Line { from: 3, to: None });
        assert_eq!(both_ways(&Shape::Words(vec![7, 8], true)), [2, 2, 7, 8, 1]);
        both_ways(&[(1_u32, Some(2_u16)), (3, None)].map(Some));
        assert_eq!(Shape::take(&mut &[3][..]), None, "there is no such variant");
    }
}
