//! The real engine on a simulated disk and clock, replayed from a seed.
