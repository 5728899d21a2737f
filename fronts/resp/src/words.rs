//! The arguments of one request, read from left to right, and what may be wrong with any of them.
//! What only one service knows of stands with it.

use std::{fmt, ops::Deref};

use turnstile_types::{InvalidKey, Key};

use crate::Arguments;

/// Entries of a page when nothing is said.
pub(crate) const PAGE: u16 = 100;

/// The most entries of a page, so that one reply stays far below a connection's output bound.
const PAGE_MAX: u16 = 1_000;

/// One request to a service with commands `C` and queries `Q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a, C, Q> {
    Command { command: C, key: Option<Key<'a>> },
    Query(Q),
}

impl<C, Q> Request<'_, C, Q> {
    pub const fn command(&self) -> Option<&C> {
        match self {
            Self::Command { command, .. } => Some(command),
            Self::Query(_) => None,
        }
    }
}

/// What a service can be asked for.
pub trait Spoken: Copy {
    /// What may be wrong with an argument that only this service has.
    type Flaw;

    /// The command's name in the catalogue.
    fn name(self) -> &'static str;
}

/// An argument that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid<V: Spoken> {
    pub verb: V,
    /// As the catalogue names it; an option by its word.
    pub argument: &'static str,
    pub reason: Reason<V::Flaw>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason<F> {
    Flaw(F),
    Key(InvalidKey),
    /// Not a whole number within these bounds, both allowed.
    Number {
        min: i64,
        max: u64,
    },
    /// No option of this command; the field counts the arguments from 1.
    Option(usize),
    /// An option's word without its value.
    Value,
    /// An option that already stands there.
    Repeated,
}

impl<V: Spoken> fmt::Display for Invalid<V>
where
    V::Flaw: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.verb.name().to_ascii_uppercase().replace('|', " ");
        write!(f, "{name} {}: {}", self.argument, self.reason)
    }
}

impl<V: Spoken + fmt::Debug> std::error::Error for Invalid<V> where
    V::Flaw: fmt::Display + fmt::Debug
{
}

impl<F: fmt::Display> fmt::Display for Reason<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flaw(flaw) => flaw.fmt(f),
            Self::Key(invalid) => invalid.fmt(f),
            Self::Number { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Option(place) => write!(f, "argument {place} is no option of this command"),
            Self::Value => write!(f, "the value is missing"),
            Self::Repeated => write!(f, "given twice"),
        }
    }
}

/// Reads the arguments of one request, and remembers whose they are.
pub(crate) struct Words<'a, 'spans, V> {
    verb: V,
    arguments: Arguments<'a, 'spans>,
    next: usize,
}

/// What a word becomes that is read.
pub(crate) type Read<T, V> = Result<T, Invalid<V>>;

/// The longest word of an option.
const OPTION_BYTES_MAX: usize = 16;

/// The word of an option in capitals; nothing when it is longer than any.
pub(crate) struct OptionWord {
    bytes: [u8; OPTION_BYTES_MAX],
    length: usize,
}

impl Deref for OptionWord {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl<'a, 'spans, V: Spoken> Words<'a, 'spans, V> {
    /// The arguments behind the command's name, which has so many words.
    pub(crate) const fn behind(
        name_words: usize,
        verb: V,
        arguments: Arguments<'a, 'spans>,
    ) -> Self {
        Self {
            verb,
            arguments,
            next: name_words,
        }
    }

    pub(crate) const fn invalid(
        &self,
        argument: &'static str,
        reason: Reason<V::Flaw>,
    ) -> Invalid<V> {
        Invalid {
            verb: self.verb,
            argument,
            reason,
        }
    }

    /// The next argument, if there is one, which stays the next.
    pub(crate) fn peek(&self) -> Option<&'a [u8]> {
        self.arguments.get(self.next)
    }

    /// How many arguments are left.
    pub(crate) fn left(&self) -> usize {
        self.arguments.len().saturating_sub(self.next)
    }

    /// The next argument. The catalogue has counted the ones that must stand.
    #[inline]
    pub(crate) fn take(&mut self, argument: &'static str) -> Read<&'a [u8], V> {
        let word = self.arguments.get(self.next);
        self.next += 1;
        word.ok_or_else(|| self.invalid(argument, Reason::Value))
    }

    /// The next argument as what it should be.
    #[inline]
    pub(crate) fn read<T>(
        &mut self,
        argument: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, Reason<V::Flaw>>,
    ) -> Read<T, V> {
        let word = self.take(argument)?;
        read(word).map_err(|reason| self.invalid(argument, reason))
    }

    pub(crate) fn key(&mut self, argument: &'static str) -> Read<Key<'a>, V> {
        self.read(argument, |word| Key::parse(word).map_err(Reason::Key))
    }

    /// A whole number from 0 to the most that fits.
    pub(crate) fn number<N: TryFrom<u64> + Bounded>(
        &mut self,
        argument: &'static str,
    ) -> Read<N, V> {
        self.read(argument, number)
    }

    /// How many entries are asked for.
    pub(crate) fn length(&mut self, argument: &'static str) -> Read<u16, V> {
        self.read(argument, |word| within(word, 1, PAGE_MAX.into()))
    }

    /// The next option's word, if there is one more.
    #[inline]
    pub(crate) fn option(&mut self) -> Option<OptionWord> {
        let word = self.arguments.get(self.next)?;
        self.next += 1;
        let mut bytes = [0; OPTION_BYTES_MAX];
        let length = match bytes.get_mut(..word.len()) {
            Some(bytes) => {
                bytes.copy_from_slice(word);
                bytes.make_ascii_uppercase();
                word.len()
            }
            None => 0,
        };
        Some(OptionWord { bytes, length })
    }

    /// The option that was read last is none of this command's.
    pub(crate) const fn no_option(&self) -> Invalid<V> {
        self.invalid("option", Reason::Option(self.next - 1))
    }

    /// Reads an option's value into its place, which must be free.
    pub(crate) fn set<T>(
        &mut self,
        place: &mut Option<T>,
        option: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Read<T, V>,
    ) -> Read<(), V> {
        if place.is_some() {
            return Err(self.invalid(option, Reason::Repeated));
        }
        *place = Some(read(self, option)?);
        Ok(())
    }

    /// The one option of most commands.
    #[inline]
    pub(crate) fn only_key(&mut self) -> Read<Option<Key<'a>>, V> {
        let mut key = None;
        while let Some(option) = self.option() {
            match &*option {
                b"KEY" => self.set(&mut key, "KEY", Self::key)?,
                _ => return Err(self.no_option()),
            }
        }
        Ok(key)
    }
}

/// Whole numbers that are read.
pub(crate) trait Bounded {
    const MAX: u64;
}

impl Bounded for u8 {
    const MAX: u64 = 0xff;
}

impl Bounded for u16 {
    const MAX: u64 = 0xffff;
}

impl Bounded for u32 {
    const MAX: u64 = 0xffff_ffff;
}

impl Bounded for u64 {
    const MAX: Self = Self::MAX;
}

/// A whole number from 0 to the most that fits.
#[inline]
pub(crate) fn number<N: TryFrom<u64> + Bounded, F>(word: &[u8]) -> Result<N, Reason<F>> {
    within(word, 0, N::MAX)
}

/// A whole number within these bounds, both allowed, which MUST fit.
#[inline]
pub(crate) fn within<N: TryFrom<u64>, F>(word: &[u8], min: u32, max: u64) -> Result<N, Reason<F>> {
    let number = whole(word).filter(|number| (u64::from(min)..=max).contains(number));
    let number = number.and_then(|number| N::try_from(number).ok());
    let min = i64::from(min);
    number.ok_or(Reason::Number { min, max })
}

/// A whole number in plain digits.
#[inline]
fn whole(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// What has a stable word.
pub(crate) trait Coded: Copy + 'static {
    const ALL: &'static [Self];

    fn word(self) -> &'static str;
}

/// What a word stands for, whatever the case of its letters.
#[inline]
pub(crate) fn chosen<T: Coded>(word: &[u8]) -> Option<T> {
    let mut choices = T::ALL.iter().copied();
    choices.find(|choice| choice.word().as_bytes().eq_ignore_ascii_case(word))
}

/// Every word that could have been chosen.
pub(crate) fn choices<T: Coded>() -> String {
    let words: Vec<_> = T::ALL.iter().map(|choice| choice.word()).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_plain_digits_that_fit() {
        assert_eq!(number::<u8, ()>(b"255"), Ok(255));
        assert_eq!(number::<u64, ()>(b"18446744073709551615"), Ok(u64::MAX));
        let fault = Err(Reason::Number { min: 0, max: 255 });
        for word in [&b"256"[..], b"", b"+1", b"-1", b"1 ", b"1x"] {
            assert_eq!(number::<u8, ()>(word), fault);
        }
        assert_eq!(whole(b"18446744073709551616"), None);
    }
}
