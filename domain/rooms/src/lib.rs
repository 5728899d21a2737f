//! The machine that books room-nights.
