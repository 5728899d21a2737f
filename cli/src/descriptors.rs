//! How many connections the system allows a server.

use turnstile_client::descriptors as system;
use turnstile_server::Limits;

/// Descriptors beside those of connections that the configuration bounds: requests of HTTP, event
/// streams, the journal.
const OTHER_DESCRIPTORS: u64 = 1_024;

/// Has the system allow as many connections as the limits. Where it does not, the server serves as many
/// as it may, and refuses the others.
pub(crate) fn allow(limits: &Limits) {
    let all = connections(limits) + limits.http.players + OTHER_DESCRIPTORS;
    if let Err(few) = system::allow(all) {
        if few.allowed < needed(limits) {
            tracing::warn!("connections will be refused before their limits: {few}");
        } else {
            tracing::debug!("not all doors can be full at a time: {few}");
        }
    }
}

/// As many as one kind of connection needs to reach its limit: any of the fast doors, or WebSockets of players.
pub(crate) fn needed(limits: &Limits) -> u64 {
    connections(limits).max(limits.http.players) + OTHER_DESCRIPTORS
}

fn connections(limits: &Limits) -> u64 {
    u64::try_from(limits.connections).expect("a length fits 64 bits")
}
