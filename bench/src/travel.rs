//! Every claim about the speed and memory of travel over its doors.

mod contention;
mod crowd;
mod itineraries;
mod memory;
mod one_client;
mod one_command;
mod postgres;
mod separate;
mod separate_command;

use crate::section::Part;

/// The parts, by the names they are asked for by.
pub(crate) const SECTIONS: [Part; 8] = [
    ("one-client", one_client::measure),
    ("one-command", one_command::measure),
    ("separate", separate::measure),
    ("separate-command", separate_command::measure),
    ("crowd", crowd::measure),
    ("itineraries", itineraries::measure),
    ("contention", contention::measure),
    ("memory", memory::measure),
];

/// Programs beside ours that take part.
pub(crate) const PROGRAMS: [&str; 1] = [postgres::SERVER];
