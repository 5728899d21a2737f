//! The bytes of a command in the journal.
