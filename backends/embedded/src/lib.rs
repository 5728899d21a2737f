//! The back end that keeps its own journal.
