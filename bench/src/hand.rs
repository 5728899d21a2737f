//! Sections that no scenario can say: the machine alone in this process, memory of what stays, restarts.

mod depth;
mod handshakes;
mod idle_logins;
mod newcomer;
mod order_memory;
mod player_memory;
mod restart;
mod served;
mod travel_memory;

use anyhow::Result;

use crate::{ceiling, ground::Ground, section::Section};

/// Measures one section.
pub(crate) type ByHand = fn(&Ground) -> Result<Section>;

/// The sections of a report that are measured by hand, by their names.
pub(crate) fn by_hand(report: &str) -> &'static [(&'static str, ByHand)] {
    match report {
        "rooms" => &[("restart", restart::measure), ("depth", depth::measure)],
        "exchange" => &[("memory", order_memory::measure)],
        "games" => &[("memory", player_memory::measure)],
        "travel" => &[("memory", travel_memory::measure)],
        "access" => &[
            ("handshakes", handshakes::measure),
            ("idle", idle_logins::measure),
        ],
        "backends" => &[
            ("postgres-ceiling", ceiling::postgres::rooms),
            ("exchange-ceiling", ceiling::postgres::exchange),
            ("innodb-ceiling", ceiling::mariadb::innodb),
            ("memory-ceiling", ceiling::mariadb::memory),
            ("redis-ceiling", ceiling::redis::none),
            ("redis-always-ceiling", ceiling::redis::always),
        ],
        _ => &[],
    }
}
