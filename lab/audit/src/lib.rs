//! Operational laws on anybody's table of figures: what cannot be, what looks odd, and why.
//!
//! A table is CSV; [`Table::read`] says which columns it knows. The laws hold for every system,
//! whatever it does inside: where one is broken, the figures are wrong, not the system.

#![forbid(unsafe_code)]

mod audit;
mod column;
mod finding;
mod points;
mod printed;
mod published;
mod table;

pub use audit::{Audit, Series};
pub use finding::{AuditFinding, Law, Weight};
pub use points::{Point, Settings};
pub use published::{Published, published};
pub use table::{InvalidTable, RoundedFigure, Row, Table};
