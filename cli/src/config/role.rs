//! Who of travel and of games a process plays, and where the others are.

use std::net::SocketAddr;

use turnstile_server::{AccessLog, Peers, ScoresWire, Settings, Traces};
use turnstile_travel::{Desk, Desks, TravelRoles};

use super::Config;
use crate::{exit::Coded, lab_runs};

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

    const fn roles(self) -> TravelRoles {
        match self {
            Self::All | Self::Arena | Self::Scores => TravelRoles::ALL,
            Self::Middleware => TravelRoles {
                coordinator: true,
                desks: Desks::NONE,
            },
            Self::Desk(desk) => TravelRoles {
                coordinator: false,
                desks: Desks::only(desk),
            },
        }
    }

    /// Who of games is played.
    const fn games(self) -> turnstile_games::Roles {
        turnstile_games::Roles {
            arena: !matches!(self, Self::Scores),
            scores: !matches!(self, Self::Arena),
        }
    }
}

impl Config {
    /// What a server of this configuration is started with: values that only make sense together are
    /// checked here.
    ///
    /// # Errors
    /// The role lacks an address, or has one that it does not need; or TLS lacks a file.
    pub(crate) fn settings(&self) -> Result<Settings, Coded> {
        let mut settings = self.server.clone();
        settings.travel = Some(turnstile_travel::Settings {
            roles: self.role.roles(),
            ..self.travel
        });
        settings.games = Some(turnstile_games::Settings {
            roles: self.role.games(),
            ..self.games
        });
        settings.duels.tells = self.scores()?;
        settings.peers = self.peers()?;
        settings.tls = self.tls.files()?;
        settings.cluster = self.cluster.settings()?;
        settings.partitions.clone_from(&self.cluster.partitions);
        settings.holds.clone_from(&self.cluster.holds);
        settings.node_host.clone_from(&self.cluster.host);
        settings.lab = self.lab.results.clone().map(lab_runs::program);
        settings.access_log = self.access_log.clone().map(|place| AccessLog {
            place,
            format: self.log_format.of_lines(),
        });
        let one_in = self.traces.one_in;
        let collector = self.traces.collector.clone();
        settings.traces = collector.map(|collector| Traces { collector, one_in });
        Ok(settings)
    }

    /// Where the scores are, and what they speak, for an arena without its own. One file may serve both.
    fn scores(&self) -> Result<Option<(SocketAddr, ScoresWire)>, Coded> {
        match (self.role, self.scores) {
            (Role::Arena, Some(address)) => Ok(Some((address, self.scores_wire))),
            (Role::Arena, None) => Err(Coded::usage(
                "the arena must know where its results are counted: set games.scores".to_owned(),
            )),
            _ => Ok(None),
        }
    }

    /// Where the other processes of travel are, for the role of this one. One file may serve all five:
    /// a desk listens where the middleware looks for it, unless `doors.desk` says otherwise.
    fn peers(&self) -> Result<Peers, Coded> {
        let mut peers = self.server.peers.clone();
        let address_of = |desk| {
            let mut desks = self.desks.iter();
            desks.find(|(other, _)| *other == desk).map(|found| found.1)
        };
        match self.role {
            Role::Desk(desk) => {
                peers.door = peers.door.or_else(|| address_of(desk));
                if peers.door.is_none() {
                    return Err(Coded::usage(format!(
                        "the middleware finds {desk} at its door: set doors.desk or \
                         travel.peers.{desk}"
                    )));
                }
            }
            Role::All | Role::Arena | Role::Scores | Role::Middleware if peers.door.is_some() => {
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
                peers.desks.clone_from(&self.desks);
            }
        }
        Ok(peers)
    }
}
