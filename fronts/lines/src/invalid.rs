//! What can be wrong with a line, and the sentence that says so.

use std::fmt::{self, Write as _};

use turnstile_travel::{InvalidLocation, InvalidLocator, limits::ITEMS_PER_TRIP_MAX};

use crate::{
    LineVerb,
    limits::{EXCERPT_CHARACTERS_MAX, LINE_BYTES_MAX},
};

/// Why a line asks for nothing. The session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid<'a> {
    TooLong,
    /// The byte, from 0, at which the line is not UTF-8.
    Characters {
        at: usize,
    },
    /// Only commas.
    NoCommand,
    UnknownCommand(Excerpt<'a>),
    Count {
        verb: LineVerb,
        given: usize,
    },
    /// It is no whole number of this range.
    Number {
        of: &'static str,
        given: Excerpt<'a>,
        least: i64,
        most: u64,
    },
    Location(InvalidLocation),
    Locator {
        given: Excerpt<'a>,
        why: InvalidLocator,
    },
    Flag {
        of: &'static str,
        given: Excerpt<'a>,
    },
    NoItems,
    /// More than a trip may have.
    TooManyItems,
    UnknownManager(Excerpt<'a>),
}

/// A piece of what was sent, quoted, without control characters, and cut where it is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt<'a>(pub &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(EXCERPT_CHARACTERS_MAX) {
            write!(f, "{}", character.escape_debug())?;
        }
        f.write_str(if characters.next().is_some() {
            "...\""
        } else {
            "\""
        })
    }
}

impl fmt::Display for Invalid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a line has at most {LINE_BYTES_MAX} bytes"),
            Self::Characters { at } => write!(f, "the line is not UTF-8 (near byte {at})"),
            Self::NoCommand => f.write_str("the line names no command, Help lists them"),
            Self::UnknownCommand(name) => write!(f, "there is no command {name}, Help lists them"),
            Self::Count { verb, given } => {
                write!(f, "{verb} takes {}; {given} given", verb.usage())
            }
            Self::Number {
                of,
                given,
                least,
                most,
            } => write!(
                f,
                "{of}: {given} is not a whole number from {least} to {most}"
            ),
            Self::Location(why) => write!(f, "location: {why}"),
            Self::Locator { given, why } => write!(f, "locator: {given}: {why}"),
            Self::Flag { of, given } => {
                write!(
                    f,
                    "{of}: {given} is neither 1, true, y, yes nor 0, false, n, no"
                )
            }
            Self::NoItems => f.write_str("a trip has at least one item"),
            Self::TooManyItems => {
                write!(f, "a bundle has at most {ITEMS_PER_TRIP_MAX} items")
            }
            Self::UnknownManager(name) => write!(
                f,
                "{name} is none of the resource managers flights, cars, rooms, customers"
            ),
        }
    }
}

impl std::error::Error for Invalid<'_> {}
