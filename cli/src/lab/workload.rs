//! The services that the lab drives, as arguments: which one, its doors and its options.

use std::{ops::Deref, str::FromStr};

use clap::Args;
use turnstile_client::ServerAddress;
use turnstile_load::{
    SERVICES, rooms,
    workload::{self, Door, Options},
};

use super::travel::Over;
use crate::{
    address::{self, DoorAddress},
    child::{Doors, Server},
    config::suggestion,
    connect::Security,
    exit::Coded,
};

/// One of the lab's services, by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service(&'static dyn workload::Service);

/// Where a service is driven, if a server runs already.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct TargetAddresses {
    /// RESP address of the server; default: the lab starts its own server. travel and games use the
    /// addresses below; beside --travel, this one only identifies the server in the report
    #[arg(long, value_name = "ADDR", value_parser = address::RESP)]
    resp: Option<DoorAddress>,
    /// travel: address of the door for command lines
    #[arg(long, value_name = "ADDR", value_parser = address::LINES)]
    travel: Option<DoorAddress>,
    /// games: address of the arena. With --resp instead, games are played over RESP
    #[arg(long, value_name = "ADDR", value_parser = address::LINES, conflicts_with = "resp")]
    games_arena: Option<DoorAddress>,
    #[command(flatten)]
    pub(super) security: Security,
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
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// The door that is driven.
    pub(super) address: ServerAddress,
    /// Where the server can be asked for what it says of itself.
    pub(super) resp: Option<ServerAddress>,
}

impl Deref for Service {
    type Target = dyn workload::Service;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Service {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Service {}

impl Service {
    /// The doors of a server of the lab's own.
    pub(super) fn doors(self) -> Doors {
        match self.door() {
            Door::Resp => Doors::Resp,
            Door::Travel => Doors::RespAndTravel,
            Door::Arena => Doors::RespAndArena,
        }
    }

    /// The flag that names the door of a server that runs already.
    pub(super) fn flag(self) -> &'static str {
        match self.door() {
            Door::Resp => "--resp",
            Door::Travel => "--travel",
            Door::Arena => "--games-arena",
        }
    }

    /// Where it is at a server of the lab's own.
    pub(super) fn place(self, own: &Server) -> Place {
        let door = match self.door() {
            Door::Resp => Some(own.resp()),
            Door::Travel => own.travel(),
            Door::Arena => own.arena(),
        };
        Place {
            address: door
                .expect("it was started with the doors of its service")
                .into(),
            resp: Some(own.resp().into()),
        }
    }

    /// Its door at this address, and none else.
    pub(super) fn at(self, address: DoorAddress, security: Security) -> TargetAddresses {
        let mut named = TargetAddresses {
            security,
            ..TargetAddresses::default()
        };
        *match self.door() {
            Door::Resp => &mut named.resp,
            Door::Travel => &mut named.travel,
            Door::Arena => &mut named.games_arena,
        } = Some(address);
        named
    }
}

impl Settings {
    pub(super) fn options(&self) -> Options {
        Options {
            mix: self.mix,
            symbols: usize::from(self.symbols),
            managers: self.managers.managers(),
        }
    }
}

/// The names of all services, for people.
pub(super) fn names() -> String {
    SERVICES.map(workload::Service::name).join(", ")
}

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = SERVICES.into_iter().find(|one| one.name() == text);
        found.map(Self).ok_or_else(|| {
            let meant = suggestion(text, SERVICES.map(workload::Service::name).into_iter());
            format!("unknown service `{text}`: write {}{meant}", names())
        })
    }
}

impl TargetAddresses {
    /// Where this service is; nothing when no server was named.
    ///
    /// # Errors
    /// A door was named that is not driven, or a file cannot be read that an address needs.
    pub(super) fn place(&self, service: Service) -> anyhow::Result<Option<Place>> {
        let (travel, arena) = (self.travel.as_ref(), self.games_arena.as_ref());
        let unused = match service.door() {
            Door::Resp => travel.is_some() || arena.is_some(),
            Door::Travel => arena.is_some() || (self.resp.is_some() && travel.is_none()),
            Door::Arena => travel.is_some(),
        };
        if unused {
            let (name, flag) = (service.name(), service.flag());
            let wrong = format!("{name} is not driven at that door: name {flag}");
            return Err(Coded::usage(wrong).into());
        }
        let resp = self.security.named_resp(self.resp.as_ref())?;
        let keyless = |door: Option<&DoorAddress>| {
            let address = door.map(|door| self.security.keyless(door));
            address.transpose()
        };
        let address = match service.door() {
            Door::Resp => resp.clone(),
            Door::Travel => keyless(travel)?,
            Door::Arena => keyless(arena)?.or_else(|| resp.clone()),
        };
        Ok(address.map(|address| Place { address, resp }))
    }

    /// Whether any server is named.
    pub(super) const fn is_any(&self) -> bool {
        self.resp.is_some() || self.travel.is_some() || self.games_arena.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{DoorAddress, Place, Security, Service, TargetAddresses};

    #[test]
    fn a_service_is_driven_at_its_own_door() {
        let named = |resp: bool, travel: bool, arena: bool| TargetAddresses {
            resp: resp.then(|| door(1)),
            travel: travel.then(|| door(2)),
            games_arena: arena.then(|| door(3)),
            security: Security::default(),
        };
        let place = |port: u16, resp: bool| {
            Some(Place {
                address: door(port).socket.into(),
                resp: resp.then(|| door(1).socket.into()),
            })
        };
        let rows = [
            ("rooms", named(true, false, false), place(1, true)),
            ("exchange", named(true, false, false), place(1, true)),
            ("travel", named(false, true, false), place(2, false)),
            ("travel", named(true, true, false), place(2, true)),
            ("games", named(false, false, true), place(3, false)),
            ("games", named(true, false, false), place(1, true)),
            ("games", named(false, false, false), None),
        ];
        for (name, named, expected) in rows {
            let service: Service = name.parse().unwrap();
            assert_eq!(
                named.place(service).unwrap(),
                expected,
                "{service:?} {named:?}"
            );
            let other = service.at(door(9), Security::default()).place(service);
            let other = other.unwrap().unwrap();
            assert_eq!(other.address.socket().port(), 9, "{service:?}");
        }
        let wrong = [
            ("rooms", named(false, true, false), "name --resp"),
            ("travel", named(true, false, false), "name --travel"),
            ("games", named(false, true, false), "--games-arena"),
        ];
        for (name, named, sentence) in wrong {
            let service: Service = name.parse().unwrap();
            let told = named.place(service).unwrap_err().to_string();
            assert!(told.contains(sentence), "{service:?}: {told}");
        }
    }

    fn door(port: u16) -> DoorAddress {
        DoorAddress {
            host: "127.0.0.1".to_owned(),
            socket: ([127, 0, 0, 1], port).into(),
            encrypted: false,
        }
    }
}
