//! Which addresses a server may listen on and connect to.
//!
//! A loopback address reaches this machine only. For every other, what passes must be TLS (or the
//! operator answers for the network), and whoever connects must prove who it is: by a key at the doors
//! whose protocols carry keys, by a certificate at the others.

use std::net::SocketAddr;

use turnstile_access::Access;
use turnstile_embedded::Embedded;

use crate::{
    Settings, StartError,
    core::{conversation::ClientProof, transport::DoorTransport},
    counters::DoorName,
};

/// An address at which a server listens or which it dials.
struct UsedAddress {
    /// The door, or the end of the line.
    name: &'static str,
    address: SocketAddr,
    proof: ClientProof,
}

/// The addresses that other machines can reach, or are at.
fn foreign(settings: &Settings) -> impl Iterator<Item = UsedAddress> {
    let (key, process) = (ClientProof::Key, ClientProof::Process);
    // Where all clients are one principal, there is nothing that they would have to prove.
    let certificate = |door| match settings.principals.has(door) {
        true => ClientProof::Key,
        false => ClientProof::Certificate,
    };
    let (peers, duels) = (&settings.peers, &settings.duels);
    let doors = [
        ("resp", settings.resp, key),
        ("http", settings.http, key),
        ("xml", settings.xml, certificate(DoorName::Xml)),
        ("travel", settings.lines, certificate(DoorName::Lines)),
        ("games-arena", duels.arena, certificate(DoorName::Arena)),
        ("desk", peers.door, process),
        ("games-scores", duels.scores, process),
        (
            "games-scores",
            duels.tells.map(|(address, _)| address),
            process,
        ),
    ];
    let desks = peers.desks.iter();
    let desks = desks.map(move |&(desk, address)| (desk.code(), Some(address), process));
    let used = doors.into_iter().chain(desks);
    used.filter_map(|(name, address, proof)| {
        let address = address.filter(|address| !address.ip().is_loopback())?;
        Some(UsedAddress {
            name,
            address,
            proof,
        })
    })
}

/// How clients of other machines reach the server.
pub(super) fn transport(settings: &Settings) -> DoorTransport {
    let is_foreign = foreign(settings).next().is_some();
    match (&settings.tls, is_foreign) {
        (Some(_), _) => DoorTransport::Tls,
        (None, false) => DoorTransport::Loopback,
        (None, true) => DoorTransport::Plain,
    }
}

/// Judges what is known before the recovery.
///
/// # Errors
/// What passes at an address would be in clear, or nobody could say there who it is.
pub(super) fn judge_transport(settings: &Settings) -> Result<(), StartError> {
    let (tls, has_authorities) = match &settings.tls {
        Some(tls) => (true, tls.client_ca.is_some()),
        None => (false, false),
    };
    for UsedAddress {
        name,
        address,
        proof,
    } in foreign(settings)
    {
        match proof {
            ClientProof::Key if !tls && !settings.plain => {
                return Err(StartError::InClear { name, address });
            }
            ClientProof::Certificate | ClientProof::Process if !has_authorities => {
                return Err(StartError::WithoutCertificates { name, address });
            }
            ClientProof::Key | ClientProof::Certificate | ClientProof::Process => {}
        }
    }
    Ok(())
}

/// Judges what only the recovered state says: without a key of anybody, a door serves every client.
///
/// # Errors
/// The directory has no keys.
pub(super) fn judge_guard(settings: &Settings, recovered: &Embedded) -> Result<(), StartError> {
    let access: &Access = recovered.machine();
    match foreign(settings).find(|used| used.proof != ClientProof::Process) {
        Some(UsedAddress { name, address, .. }) if !access.is_guarded() => {
            Err(StartError::WithoutKeys { name, address })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_embedded::{Durability, Options};

    use super::*;
    use crate::TlsFiles;

    #[test]
    fn what_passes_is_in_clear_only_where_others_reach_an_address_without_tls() {
        let here = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let there = Some(SocketAddr::from(([10, 0, 0, 1], 0)));
        let tls = TlsFiles {
            certificate: "a".into(),
            key: "b".into(),
            client_ca: None,
        };
        for (http, tls, expected) in [
            (None, None, DoorTransport::Loopback),
            (here, None, DoorTransport::Loopback),
            (there, None, DoorTransport::Plain),
            (here, Some(tls.clone()), DoorTransport::Tls),
            (there, Some(tls), DoorTransport::Tls),
        ] {
            let settings = Settings {
                http,
                tls,
                ..Settings::closed(Options::with(Durability::Memory))
            };
            assert_eq!(transport(&settings), expected, "{settings:?}");
        }
    }
}
