//! Who of travel and of games a process plays, and where the others are.

use std::net::SocketAddr;

use turnstile_server::ScoresWire;
use turnstile_travel::{Desk, Desks, Roles};

use super::{Config, Layers, field::Field};
use crate::exit::Coded;

/// Who of a service is played by one process; of the other services it plays everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    All,
    Middleware,
    Desk(Desk),
    /// Where games are played.
    Arena,
    /// Where their results are counted.
    Scores,
}

impl Role {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let desk = Desk::ALL.into_iter().find(|desk| desk.code() == text);
        match (text, desk) {
            ("all", _) => Ok(Self::All),
            ("middleware", _) => Ok(Self::Middleware),
            ("arena", _) => Ok(Self::Arena),
            ("scores", _) => Ok(Self::Scores),
            (_, Some(desk)) => Ok(Self::Desk(desk)),
            _ => Err(
                "a role is all, middleware, flights, cars, rooms, customers, arena or scores"
                    .to_owned(),
            ),
        }
    }

    pub(crate) const fn roles(self) -> Roles {
        match self {
            Self::All | Self::Arena | Self::Scores => Roles::ALL,
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

impl Role {
    /// Who of games is played.
    pub(super) const fn games(self) -> turnstile_games::Roles {
        turnstile_games::Roles {
            arena: !matches!(self, Self::Scores),
            scores: !matches!(self, Self::Arena),
        }
    }
}

/// Where the scores are, and what they speak, for an arena without its own. One file may serve both.
///
/// # Errors
/// The arena does not know where.
pub(super) fn scores(layers: &Layers) -> Result<Option<(SocketAddr, ScoresWire)>, Coded> {
    let address = layers.parse(Field::Scores, super::address)?;
    let wire = layers.required(Field::ScoresWire, |text| match text {
        "numbered" => Ok(ScoresWire::Numbered),
        "ancestor" => Ok(ScoresWire::Ancestor),
        _ => Err("scores speak numbered or ancestor".to_owned()),
    })?;
    match (layers.required(Field::Role, Role::parse)?, address) {
        (Role::Arena, Some(address)) => Ok(Some((address, wire))),
        (Role::Arena, None) => Err(Coded::usage(
            "the arena must know where its results are counted: set games.scores".to_owned(),
        )),
        _ => Ok(None),
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
            Role::All | Role::Arena | Role::Scores | Role::Middleware if self.desk.is_some() => {
                return Err(Coded::usage(
                    "doors.desk is the door of a desk: set travel.role to the one that is played \
                     here"
                        .to_owned(),
                ));
            }
            Role::All | Role::Arena | Role::Scores => {}
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
