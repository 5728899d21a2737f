//! Our four services as the lab drives them: the door of each, and one point of it.

use std::{net::SocketAddr, str::FromStr, time::Duration};

use clap::Args;
use turnstile_load::{
    Error, exchange, games,
    pace::{Pace, Progress},
    rooms,
    travel::{self, Contention},
};
use turnstile_result as result;

use super::{PROPERTY, server, travel::Over};
use crate::{
    address,
    child::{Doors, Server},
    config::suggestion,
};

/// How long a server may leave all players unanswered.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Rooms,
    Exchange,
    Travel,
    Games,
}

/// Where a service is driven, if a server runs already.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Named {
    /// RESP address of the server; default: the lab starts its own server. travel and games use the
    /// addresses below; beside --travel, this one only identifies the server in the report
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    resp: Option<SocketAddr>,
    /// travel: address of the door for command lines
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    travel: Option<SocketAddr>,
    /// games: address of the arena. With --resp instead, games are played over RESP
    #[arg(long, value_name = "ADDR", value_parser = address::parse, conflicts_with = "resp")]
    games_arena: Option<SocketAddr>,
}

/// What only one service knows.
#[derive(Args, Clone, Debug)]
pub(super) struct Settings {
    /// rooms: weights of the operations
    #[arg(long, default_value = "book=70,cancel=30")]
    mix: rooms::Mix,
    /// exchange: number of symbols, each with its own book, 1 to 1000
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    symbols: u16,
    /// travel: resource managers of a journey: three flights, or a flight, a car and a room
    #[arg(long, value_enum, default_value = "several")]
    managers: Over,
}

/// Where one service is, with its RESP door if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The door that is driven.
    pub(super) address: SocketAddr,
    /// Where the server can be asked for what it says of itself.
    pub(super) resp: Option<SocketAddr>,
}

impl Service {
    pub(super) const ALL: [Self; 4] = [Self::Rooms, Self::Exchange, Self::Travel, Self::Games];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rooms => "rooms",
            Self::Exchange => "exchange",
            Self::Travel => "travel",
            Self::Games => "games",
        }
    }

    /// Users who can only be there together: players come in pairs.
    pub(super) const fn together(self) -> usize {
        match self {
            Self::Games => 2,
            Self::Rooms | Self::Exchange | Self::Travel => 1,
        }
    }

    /// The doors of a server of the lab's own.
    pub(super) const fn doors(self) -> Doors {
        match self {
            Self::Rooms | Self::Exchange => Doors::Resp,
            Self::Travel => Doors::RespAndTravel,
            Self::Games => Doors::RespAndArena,
        }
    }

    /// The flag that names the door of a server that runs already.
    pub(super) const fn flag(self) -> &'static str {
        match self {
            Self::Rooms | Self::Exchange => "--resp",
            Self::Travel => "--travel",
            Self::Games => "--games-arena",
        }
    }

    /// Where it is at a server of the lab's own.
    pub(super) fn place(self, own: &Server) -> Place {
        let door = match self {
            Self::Rooms | Self::Exchange => Some(own.resp()),
            Self::Travel => own.travel(),
            Self::Games => own.arena(),
        };
        Place {
            address: door.expect("it was started with the doors of its service"),
            resp: Some(own.resp()),
        }
    }

    /// Its door at this address, and none else.
    pub(super) fn at(self, address: SocketAddr) -> Named {
        let mut named = Named::default();
        *match self {
            Self::Rooms | Self::Exchange => &mut named.resp,
            Self::Travel => &mut named.travel,
            Self::Games => &mut named.games_arena,
        } = Some(address);
        named
    }

    /// What only this service knows, for `run.json`.
    pub(super) fn settings(self, settings: &Settings) -> Option<(String, String)> {
        let (name, value) = match self {
            Self::Rooms => ("mix", settings.mix.to_string()),
            Self::Exchange => ("symbols", settings.symbols.to_string()),
            Self::Travel => ("managers", settings.managers.managers().to_string()),
            Self::Games => return None,
        };
        Some((name.to_owned(), value))
    }

    /// Measures one point, with its proof, and tells what the server says of itself.
    pub(super) fn drive(
        self,
        settings: &Settings,
        (pace, place): (&Pace, Place),
        users: usize,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(result::Point, Option<result::Server>), Error> {
        let mut pace = pace.clone();
        let (point, said) = match self {
            Self::Rooms => {
                let config = rooms::Config {
                    pace,
                    users,
                    mix: settings.mix,
                    property: PROPERTY.to_owned(),
                };
                let report = rooms::run(&config, progress)?;
                (report.point, Some(report.server))
            }
            Self::Exchange => {
                let config = exchange::Config {
                    door: exchange::Door::Resp,
                    pace,
                    proof: Some(place.address),
                    users,
                    symbols: usize::from(settings.symbols),
                    one_shot: None,
                };
                let report = exchange::run(&config, progress)?;
                (report.point, report.server)
            }
            Self::Travel => {
                let clients = travel::Clients {
                    pace,
                    number: users,
                    witness: place.resp,
                    managers: settings.managers.managers(),
                    contention: Contention::Apart,
                };
                travel::measure(&clients, progress)?
            }
            Self::Games => {
                pace.patience = Some(PATIENCE);
                let door = if place.resp == Some(place.address) {
                    games::Door::Resp
                } else {
                    games::Door::Wire
                };
                let config = games::Config {
                    door,
                    pace,
                    players: vec![users],
                    first_player: 1,
                    iterations: None,
                };
                (games::play(&config, users, progress)?.point, None)
            }
        };
        Ok((point, said.as_ref().map(server)))
    }
}

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let (all, meant) = (names.join(", "), suggestion(text, names.into_iter()));
            format!("unknown service `{text}`: write {all}{meant}")
        })
    }
}

impl Named {
    /// Where this service is; nothing when no server was named.
    ///
    /// # Errors
    /// In words: a door was named that is not driven.
    pub(super) fn place(&self, service: Service) -> Result<Option<Place>, String> {
        let Self {
            resp,
            travel,
            games_arena,
        } = *self;
        let (door, others) = match service {
            Service::Rooms | Service::Exchange => (resp, [travel, games_arena]),
            Service::Travel => (travel, [resp.filter(|_| travel.is_none()), games_arena]),
            Service::Games => (games_arena.or(resp), [travel, None]),
        };
        if others.iter().any(Option::is_some) {
            let (name, flag) = (service.name(), service.flag());
            return Err(format!("{name} is not driven at that door: name {flag}"));
        }
        Ok(door.map(|address| Place { address, resp }))
    }

    /// Whether any server is named.
    pub(super) const fn is_any(&self) -> bool {
        self.resp.is_some() || self.travel.is_some() || self.games_arena.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{Named, Place, Service};

    #[test]
    fn a_service_is_driven_at_its_own_door() {
        let named = |resp: bool, travel: bool, arena: bool| Named {
            resp: address(1).filter(|_| resp),
            travel: address(2).filter(|_| travel),
            games_arena: address(3).filter(|_| arena),
        };
        let place = |port: u16, resp: bool| {
            Ok(address(port).map(|driven| Place {
                address: driven,
                resp: address(1).filter(|_| resp),
            }))
        };
        let rows = [
            (Service::Rooms, named(true, false, false), place(1, true)),
            (Service::Exchange, named(true, false, false), place(1, true)),
            (Service::Travel, named(false, true, false), place(2, false)),
            (Service::Travel, named(true, true, false), place(2, true)),
            (Service::Games, named(false, false, true), place(3, false)),
            (Service::Games, named(true, false, false), place(1, true)),
            (Service::Games, named(false, false, false), Ok(None)),
        ];
        for (service, named, expected) in rows {
            assert_eq!(named.place(service), expected, "{service:?} {named:?}");
            let other = service.at(([127, 0, 0, 1], 9).into()).place(service);
            assert_eq!(other.unwrap().unwrap().address.port(), 9, "{service:?}");
        }
        let wrong = [
            (Service::Rooms, named(false, true, false), "name --resp"),
            (Service::Travel, named(true, false, false), "name --travel"),
            (Service::Games, named(false, true, false), "--games-arena"),
        ];
        for (service, named, sentence) in wrong {
            let told = named.place(service).unwrap_err();
            assert!(told.contains(sentence), "{service:?}: {told}");
        }
    }

    fn address(port: u16) -> Option<std::net::SocketAddr> {
        Some(([127, 0, 0, 1], port).into())
    }
}
