//! Who of travel a process plays, and where the others are.

use std::net::SocketAddr;

use turnstile_travel::{Desk, Desks, Roles};

use super::{Config, Layers, field::Field};
use crate::exit::Coded;

/// Who of travel is played by one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    All,
    Middleware,
    Desk(Desk),
}

impl Role {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let desk = Desk::ALL.into_iter().find(|desk| desk.code() == text);
        match (text, desk) {
            ("all", _) => Ok(Self::All),
            ("middleware", _) => Ok(Self::Middleware),
            (_, Some(desk)) => Ok(Self::Desk(desk)),
            _ => Err("a role is all, middleware, flights, cars, rooms or customers".to_owned()),
        }
    }

    pub(crate) const fn roles(self) -> Roles {
        match self {
            Self::All => Roles::ALL,
            Self::Middleware => Roles {
                coordinator: true,
                desks: Desks::NONE,
            },
            Self::Desk(desk) => Roles {
                coordinator: false,
                desks: Desks::only(desk),
            },
        }
    }
}

/// The addresses of the desks that are said.
pub(super) fn peers(layers: &Layers) -> Result<Vec<(Desk, SocketAddr)>, Coded> {
    let mut peers = Vec::new();
    for (desk, field) in [
        (Desk::Flights, Field::Flights),
        (Desk::Cars, Field::Cars),
        (Desk::Rooms, Field::Rooms),
        (Desk::Customers, Field::Customers),
    ] {
        let address = layers.parse(field, super::address)?;
        peers.extend(address.map(|address| (desk, address)));
    }
    Ok(peers)
}

impl Config {
    /// Where the other processes of travel are, for the role of this one. One file may serve all five:
    /// a desk listens where the middleware looks for it, unless `doors.desk` says otherwise.
    ///
    /// # Errors
    /// An address is missing, or a door is to be open that nobody needs.
    pub(crate) fn travel_peers(&self) -> Result<turnstile_server::Peers, Coded> {
        let address_of = |desk| {
            let mut peers = self.peers.iter();
            peers.find(|(peer, _)| *peer == desk).map(|peer| peer.1)
        };
        let mut peers = turnstile_server::Peers {
            fault_points: self.fault_points,
            ..turnstile_server::Peers::default()
        };
        match self.role {
            Role::Desk(desk) => {
                peers.door = self.desk.or_else(|| address_of(desk));
                if peers.door.is_none() {
                    return Err(Coded::usage(format!(
                        "the middleware finds {desk} at its door: set doors.desk or \
                         travel.peers.{desk}"
                    )));
                }
            }
            Role::All | Role::Middleware if self.desk.is_some() => {
                return Err(Coded::usage(
                    "doors.desk is the door of a desk: set travel.role to the one that is played \
                     here"
                        .to_owned(),
                ));
            }
            Role::All => {}
            Role::Middleware => {
                let missing = Desk::ALL.iter().find(|desk| address_of(**desk).is_none());
                if let Some(desk) = missing {
                    return Err(Coded::usage(format!(
                        "the middleware must know where {desk} listens: set travel.peers.{desk}"
                    )));
                }
                peers.desks.clone_from(&self.peers);
            }
        }
        Ok(peers)
    }
}
