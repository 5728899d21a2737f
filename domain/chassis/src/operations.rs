//! What can be asked of a service: named operations with parameters, and no wire format.
//!
//! A domain type says once which operations there are and what each needs; each front knows once how
//! parameters stand on its wire. Enums derive [`Operations`](turnstile_derive::Operations), structs
//! [`Parameters`](turnstile_derive::Parameters).

use std::fmt;

use turnstile_types::{
    InvalidInstant, InvalidName, InvalidNight, InvalidStay, Name, Night, Stay, Timestamp,
};

use crate::{Kind, Needed, Show, Value, Variant, Variants};

/// Entries of a page when nothing is said.
pub const PAGE: u16 = 100;

/// The most entries of a page, so that one answer stays far below what a connection may owe.
pub const PAGE_MAX: u64 = 1_000;

/// One thing that can be asked.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Which one it is for [`Operations::read`]: the place of its word.
    pub place: usize,
    /// Its stable word.
    pub word: &'static str,
    /// What it does, one sentence or more without the last full stop.
    pub sentence: &'static str,
    /// Those that must be given stand in the order in which doors without names take them.
    pub parameters: Vec<Parameter>,
    /// What it is answered with when it is not refused: one of these, mostly of one.
    pub answers: Vec<Variant>,
    /// What it needs of its caller.
    pub needed: Needed,
}

/// One value that an operation takes.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// What the declaration says of it; empty when its name says it all.
    pub meaning: &'static str,
    pub kind: Kind,
    pub need: Need,
    /// What it is when it is not given, as text; nothing where that depends on more.
    pub default: Option<String>,
}

/// Whether a parameter must be given, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// It must be given; this word says that there is none.
    RequiredOr(&'static str),
    Optional,
    /// Optional, and its words tell what they are for without its name.
    OptionalWord,
    /// Once or several times.
    Repeated {
        most: usize,
    },
}

/// Something that is asked of a service: its commands, or its queries.
pub trait Operations<'a>: Sized {
    /// What a door knows and requests need.
    type Door<'d>: Copy;

    /// All that may be asked, in the order of their words.
    fn operations() -> Vec<Operation>;

    /// Reads the operation at this place of [`operations`](Self::operations). Nothing: the source has
    /// noted why.
    fn read<S: Source<'a>>(place: usize, source: &mut S, door: Self::Door<'_>) -> Option<Self>;
}

/// Values that stand together among the parameters of an operation.
pub trait Parameters<'a>: Sized {
    fn parameters() -> Vec<Parameter>;

    /// Nothing: the source has noted why.
    fn read<S: Source<'a>>(source: &mut S) -> Option<Self>;
}

/// The variants of these names, in the order of their declaration.
#[must_use]
pub fn variants_named<T: Variants>(names: &[&str]) -> Vec<Variant> {
    let mut variants = T::variants();
    variants.retain(|variant| names.contains(&variant.name));
    variants
}

/// Gives the values of one request by the names of their parameters, and notes what is wrong with
/// them. Those that must be given are asked for first, in their order.
pub trait Source<'a> {
    fn required<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<T>;

    /// `none` is the word for nothing.
    fn required_or<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        none: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>>;

    /// `Some(None)`: it is not given.
    #[expect(
        clippy::option_option,
        reason = "wrong, not given and given are three things"
    )]
    fn optional<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>>;

    fn flag(&mut self, name: &'static str) -> Option<bool>;

    fn repeated<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnMut(&'a [u8]) -> Result<T, E>,
    ) -> Option<Vec<T>>;

    /// Notes what is wrong with a value that could be read.
    fn invalid(&mut self, name: &'static str, reason: impl fmt::Display);
}

/// A value of a parameter, which every door gives as text.
pub trait Readable<'a>: Sized {
    type Invalid: fmt::Display;

    /// # Errors
    /// The text is no such value.
    fn read(text: &'a [u8]) -> Result<Self, Self::Invalid>;

    fn kind() -> Kind;
}

/// Where the next page of a listing begins: opaque to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub u64);

impl Value for Cursor {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.cursor(self.0)
    }

    fn kind() -> Kind {
        Kind::Cursor
    }
}

impl Readable<'_> for Cursor {
    type Invalid = NotWhole;

    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        u64::read(text).map(Self)
    }

    fn kind() -> Kind {
        Kind::Cursor
    }
}

/// Text that is no whole number within these bounds, both allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWhole {
    pub min: i64,
    pub max: u64,
}

impl fmt::Display for NotWhole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {}", self.min, self.max)
    }
}

/// Reads a whole number in plain digits.
///
/// # Errors
/// Other text, or a number out of bounds.
#[inline]
pub fn whole<T: TryFrom<u64>>(text: &[u8], min: u32, max: u64) -> Result<T, NotWhole> {
    let digits = text.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    });
    let bounds = u64::from(min)..=max;
    let number = digits.filter(|number| !text.is_empty() && bounds.contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| NotWhole {
        min: min.into(),
        max,
    })
}

/// Text that is none of some words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoWord(pub &'static [&'static str]);

impl fmt::Display for NoWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0.join(", "))
    }
}

macro_rules! numbers {
    ($($type:ident),+) => {$(
        impl Readable<'_> for $type {
            type Invalid = NotWhole;

            #[inline]
            fn read(text: &[u8]) -> Result<Self, NotWhole> {
                whole(text, 0, u64::from(Self::MAX))
            }

            fn kind() -> Kind {
                Kind::Number {
                    min: 0,
                    max: Self::MAX.into(),
                }
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64);

/// Implements [`Readable`] by the `parse` of a type, with the type of its errors and an example or a kind.
#[macro_export]
macro_rules! readable {
    ($type:ty, $invalid:ty, $kind:expr) => {
        impl $crate::Readable<'_> for $type {
            type Invalid = $invalid;

            #[inline]
            fn read(text: &[u8]) -> Result<Self, Self::Invalid> {
                Self::parse(text)
            }

            fn kind() -> $crate::Kind {
                $kind
            }
        }
    };
}

readable!(Name, InvalidName, Kind::NAME);
readable!(Night, InvalidNight, Kind::Night);
readable!(Timestamp, InvalidInstant, Kind::Instant);

impl<'a> Parameters<'a> for Stay {
    fn parameters() -> Vec<Parameter> {
        let night = |name, meaning| Parameter {
            name,
            meaning,
            kind: Kind::Night,
            need: Need::Required,
            default: None,
        };
        vec![
            night("arrival", "The first night"),
            night("departure", "The date after the last night"),
        ]
    }

    #[inline]
    fn read<S: Source<'a>>(source: &mut S) -> Option<Self> {
        let arrival = source.required("arrival", Night::parse);
        let departure = source.required("departure", Night::parse);
        Self::new(arrival?, departure?)
            .map_err(|invalid: InvalidStay| source.invalid("departure", invalid))
            .ok()
    }
}

/// Two of a kind: the first and the second.
impl<'a, T: Readable<'a>> Parameters<'a> for [T; 2] {
    fn parameters() -> Vec<Parameter> {
        let one = |name| Parameter {
            name,
            meaning: "",
            kind: T::kind(),
            need: Need::Required,
            default: None,
        };
        vec![one("first"), one("second")]
    }

    #[inline]
    fn read<S: Source<'a>>(source: &mut S) -> Option<Self> {
        let first = source.required("first", T::read);
        let second = source.required("second", T::read);
        Some([first?, second?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_plain_digits_that_fit() {
        assert_eq!(u8::read(b"255"), Ok(255));
        assert_eq!(u64::read(b"18446744073709551615"), Ok(u64::MAX));
        for text in [&b"256"[..], b"", b"+1", b"-1", b"1 ", b"1x"] {
            assert_eq!(u8::read(text), Err(NotWhole { min: 0, max: 255 }));
        }
        assert!(u64::read(b"18446744073709551616").is_err());
        assert_eq!(whole::<u16>(b"5", 5, 6), Ok(5));
        assert_eq!(whole::<u16>(b"4", 5, 6), Err(NotWhole { min: 5, max: 6 }));
    }
}
