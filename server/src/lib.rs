//! Doors, limits, sessions, configuration and shutdown.
