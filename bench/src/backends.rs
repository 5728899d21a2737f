//! Every claim about services in databases, each beside what its database does by itself.

mod postgres;

use crate::section::Part;

/// The parts, by the names they are asked for by.
pub(crate) const SECTIONS: [Part; 1] = [("postgres-ceiling", postgres::measure)];
