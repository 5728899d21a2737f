//! Every claim about games: over RESP, over the ancestor's wire, and what ten thousand players take.

mod memory;
mod pipelined;
mod relay;
mod wire;

use crate::section::Part;

/// The parts, by the names they are asked for by.
pub(crate) const SECTIONS: [Part; 7] = [
    ("pipelined", pipelined::pipelined),
    ("deep", pipelined::deep),
    ("wire-2", wire::two),
    ("wire-10", wire::ten),
    ("wire-100", wire::hundred),
    ("wire-2000", wire::two_thousand),
    ("memory", memory::measure),
];
