//! The load generator and its proofs.
