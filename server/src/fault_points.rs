//! Fault points: a process ends itself at a named moment of a commit, so that tests can see what
//! the others make of it.

/// Whether this build has fault points at all: those with debug assertions do.
pub const HAS_FAULT_POINTS: bool = cfg!(debug_assertions);
