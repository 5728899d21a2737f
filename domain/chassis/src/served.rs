//! A machine that is served under a name.

use std::fmt;

use turnstile_types::{Machine, Malformed, Principal};

use crate::{Countable, Cursor, Fields, Needs, Routed, Subject};

/// A machine that says what is asked of it is about, as far as rights are limited to that.
pub trait SubjectOf: Machine {
    /// What a command is about, in the state before it. An empty machine answers for a state that is
    /// elsewhere: it knows no reference.
    fn subject_of(&self, command: &Self::Command<'_>) -> Subject;

    /// What a query is about.
    fn subject_of_query(&self, query: &Self::Query) -> Subject;

    /// What a query is about, by what is answered: for a state that is elsewhere, where nobody else knows
    /// the things behind a reference. An answer that does not say it is about [`Subject::Unknown`].
    #[must_use]
    fn subject_of_answer(_query: &Self::Query, _answer: &Self::Answer) -> Subject {
        Subject::Unknown
    }
}

/// A machine that is kept and served under its name.
///
/// Its commands and queries say what they need of their caller, and which partition decides them.
pub trait Served:
    SubjectOf + for<'a> Machine<Command<'a>: Needs + Routed, Query: Needs + Routed>
{
    /// Its name in commands, routes and metrics.
    const NAME: &'static str;
    /// What it is about, in a phrase.
    const ABOUT: &'static str;

    /// How much there is of everything.
    type Totals: Fields + Copy + Default + fmt::Debug + Send;

    /// Whether it is as it was at first: then it need not be kept anywhere.
    fn is_new(&self) -> bool;

    /// What a command opens of which its caller may have only so much, in the state before it.
    fn opens(&self, _command: &Self::Command<'_>) -> Option<Countable> {
        None
    }

    /// How much of that a principal has open, as the last record left it.
    fn open_of(&self, _principal: &Principal, _of: Countable) -> u32 {
        0
    }

    /// Where an answer says where the next page begins, if it is a page of a listing that goes from
    /// partition to partition.
    fn next_of(_answer: &mut Self::Answer) -> Option<&mut Option<Cursor>> {
        None
    }

    /// Adds what another partition has answered to a query that all are asked.
    fn add_answer(_sum: &mut Self::Answer, _other: &Self::Answer) {}

    /// Adds the totals of another partition.
    fn add_totals(_sum: &mut Self::Totals, _other: &Self::Totals) {}

    /// Appends the bytes of a query that one node has another one answer, if its service is spread over
    /// partitions.
    fn encode_query(_query: &Self::Query, _out: &mut Vec<u8>) {}

    /// Reads what [`encode_query`](Self::encode_query) wrote.
    ///
    /// # Errors
    /// The bytes are no query, or the service is not spread.
    fn decode_query(_bytes: &[u8]) -> Result<Self::Query, Malformed> {
        Err(Malformed { field: "query" })
    }

    /// Appends the bytes of an answer that one node gives another one.
    fn encode_answer(_answer: &Self::Answer, _out: &mut Vec<u8>) {}

    /// Reads what [`encode_answer`](Self::encode_answer) wrote.
    ///
    /// # Errors
    /// The bytes are no answer, or the service is not spread.
    fn decode_answer(_bytes: &[u8]) -> Result<Self::Answer, Malformed> {
        Err(Malformed { field: "answer" })
    }

    /// What stands, for people: numbers, and the words behind each.
    fn standing(&self) -> Vec<(u64, String)>;
}

/// The bytes of a machine's commands and outcomes, which derive them: four functions of
/// [`Machine`](turnstile_types::Machine).
#[macro_export]
macro_rules! declared_bytes {
    () => {
        fn encode_command(command: &Self::Command<'_>, out: &mut Vec<u8>) {
            $crate::Encode::encode(command, out);
        }

        fn decode_command(bytes: &[u8]) -> Result<Self::Command<'_>, ::turnstile_types::Malformed> {
            $crate::Decode::decode_whole(bytes, "command")
        }

        fn encode_outcome(outcome: &Self::Outcome, out: &mut Vec<u8>) {
            $crate::Encode::encode(outcome, out);
        }

        fn decode_outcome(bytes: &[u8]) -> Result<Self::Outcome, ::turnstile_types::Malformed> {
            $crate::Decode::decode_whole(bytes, "outcome")
        }
    };
}

/// The bytes of a machine's queries and answers, which derive them: four functions of [`Served`].
#[macro_export]
macro_rules! relayed_bytes {
    () => {
        fn encode_query(query: &Self::Query, out: &mut Vec<u8>) {
            $crate::Encode::encode(query, out);
        }

        fn decode_query(bytes: &[u8]) -> Result<Self::Query, ::turnstile_types::Malformed> {
            $crate::Decode::decode_whole(bytes, "query")
        }

        fn encode_answer(answer: &Self::Answer, out: &mut Vec<u8>) {
            $crate::Encode::encode(answer, out);
        }

        fn decode_answer(bytes: &[u8]) -> Result<Self::Answer, ::turnstile_types::Malformed> {
            $crate::Decode::decode_whole(bytes, "answer")
        }
    };
}
