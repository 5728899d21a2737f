//! One client for each front, used by lab, tests and simulator.
