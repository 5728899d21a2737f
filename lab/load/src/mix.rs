//! How often each operation is wanted.

use std::{fmt, str::FromStr};

/// Shares of books and cancels, in parts of their sum. A cancel by a guest who holds nothing
/// becomes a book, so a mix with more cancels than books ends in balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    book: u32,
    cancel: u32,
}

/// Why some text is not a [`Mix`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidMix {
    /// Not of the form `book=70,cancel=30`; the field holds the part that is not.
    Form(String),
    /// Not an operation of this workload.
    Operation(String),
    /// Nothing is ever booked.
    Empty,
}

impl Mix {
    /// Shares of books and cancels.
    ///
    /// # Errors
    /// Without books there is nothing to cancel.
    pub fn new(book: u16, cancel: u16) -> Result<Self, InvalidMix> {
        if book == 0 {
            return Err(InvalidMix::Empty);
        }
        Ok(Self {
            book: u32::from(book),
            cancel: u32::from(cancel),
        })
    }

    /// Whether a throw of the dice is a book.
    pub(super) const fn is_book(self, dice: u64) -> bool {
        dice % (self.book as u64 + self.cancel as u64) < self.book as u64
    }
}

impl FromStr for Mix {
    type Err = InvalidMix;

    /// Reads `book=70,cancel=30`; what is not named is never done.
    fn from_str(text: &str) -> Result<Self, InvalidMix> {
        let (mut book, mut cancel) = (0, 0);
        for part in text.split(',') {
            let form = || InvalidMix::Form(part.to_owned());
            let (name, share) = part.split_once('=').ok_or_else(form)?;
            let share = share.trim().parse().map_err(|_invalid| form())?;
            match name.trim() {
                "book" => book = share,
                "cancel" => cancel = share,
                other => return Err(InvalidMix::Operation(other.to_owned())),
            }
        }
        Self::new(book, cancel)
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "book={},cancel={}", self.book, self.cancel)
    }
}

impl fmt::Display for InvalidMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(part) => write!(f, "`{part}` is not of the form book=70"),
            Self::Operation(name) => write!(f, "`{name}` is neither book nor cancel"),
            Self::Empty => f.write_str("a mix without books has nothing to do"),
        }
    }
}

impl std::error::Error for InvalidMix {}

#[cfg(test)]
mod tests {
    use super::{InvalidMix, Mix};

    #[test]
    fn a_mix_is_read_as_it_is_written() {
        let mix: Mix = "book=70,cancel=30".parse().unwrap();
        assert_eq!(Ok(mix), Mix::new(70, 30));
        assert_eq!(mix.to_string(), "book=70,cancel=30");
        assert_eq!("cancel=1, book=2".parse(), Mix::new(2, 1));
        assert_eq!("book=1".parse(), Mix::new(1, 0));
    }

    #[test]
    fn what_is_no_mix_is_named() {
        let rows = [
            ("", InvalidMix::Form(String::new())),
            ("book", InvalidMix::Form("book".into())),
            ("book=x", InvalidMix::Form("book=x".into())),
            ("book=-1", InvalidMix::Form("book=-1".into())),
            ("book=1,hold=2", InvalidMix::Operation("hold".into())),
            ("cancel=100", InvalidMix::Empty),
        ];
        for (text, invalid) in rows {
            assert_eq!(text.parse::<Mix>(), Err(invalid), "{text}");
        }
    }

    #[test]
    fn shares_are_kept() {
        let mix = Mix::new(7, 3).unwrap();
        let books = (0..1_000).filter(|&dice| mix.is_book(dice)).count();
        assert_eq!(books, 700);
    }
}
