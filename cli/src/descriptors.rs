//! How many connections the system allows a server.

use turnstile_client::descriptors as system;
use turnstile_server::Limits;

/// Descriptors beside those of connections that the configuration bounds: requests of HTTP, event
/// streams, the journal.
const OTHER_DESCRIPTORS: u64 = 1_024;

/// Has the system allow as many connections as the limits. Where it does not, the server serves as many
/// as it may, and refuses the others.
pub(crate) fn allow(limits: &Limits) {
    let connections = u64::try_from(limits.connections).expect("a length fits 64 bits");
    let players = limits.http.players;
    if let Err(few) = system::allow(connections + players + OTHER_DESCRIPTORS) {
        if few.allowed < connections.max(players) + OTHER_DESCRIPTORS {
            tracing::warn!("connections will be refused before their limits: {few}");
        } else {
            tracing::debug!("not all doors can be full at a time: {few}");
        }
    }
}
