//! A machine that is served under a name.

use std::fmt;

use turnstile_types::{Machine, Principal};

use crate::{Countable, Fields, Needs, Subject};

/// A machine that is kept and served under its name.
///
/// Its commands and queries say what they need of their caller.
pub trait Served: for<'a> Machine<Command<'a>: Needs, Query: Needs> {
    /// Its name in commands, routes and metrics.
    const NAME: &'static str;
    /// What it is about, in a phrase.
    const ABOUT: &'static str;

    /// How much there is of everything.
    type Totals: Fields + Copy + Default + fmt::Debug + Send;

    /// Whether it is as it was at first: then it need not be kept anywhere.
    fn is_new(&self) -> bool;

    /// What a command is about, in the state before it. An empty machine answers for a state that is
    /// elsewhere: it knows no reference.
    fn subject_of(&self, command: &Self::Command<'_>) -> Subject;

    /// What a query is about.
    fn subject_of_query(&self, query: &Self::Query) -> Subject;

    /// What a command opens of which its caller may have only so much, in the state before it.
    fn opens(&self, _command: &Self::Command<'_>) -> Option<Countable> {
        None
    }

    /// How much of that a principal has open, as the last record left it.
    fn open_of(&self, _principal: &Principal, _of: Countable) -> u32 {
        0
    }

    /// What stands, for people: numbers, and the words behind each.
    fn standing(&self) -> Vec<(u64, String)>;
}
