//! The services' refusals: each has one status, one word and one title, and may have data.

mod exchange;
mod games;
mod travel;

use serde::ser::SerializeMap;

use turnstile_chassis::{Class, Refuse as _};
use turnstile_json::put_fields;

use crate::problem::Code;

/// The only mapping of refusals to statuses.
pub(crate) const fn status(class: Class) -> u16 {
    match class {
        Class::Invalid => 400,
        Class::Forbidden => 403,
        Class::NotFound => 404,
        Class::Conflict | Class::Early => 409,
        Class::Gone => 410,
        Class::Elsewhere => 421,
    }
}

/// A service's "no".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Rooms(turnstile_rooms::Refusal),
    Exchange(turnstile_exchange::Refusal),
    Games(turnstile_games::Refusal),
    Travel(turnstile_travel::Refusal),
}

impl From<turnstile_rooms::Refusal> for Code {
    fn from(refusal: turnstile_rooms::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Rooms(refusal)))
    }
}

impl From<turnstile_exchange::Refusal> for Code {
    fn from(refusal: turnstile_exchange::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Exchange(refusal)))
    }
}

impl From<turnstile_games::Refusal> for Code {
    fn from(refusal: turnstile_games::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Games(refusal)))
    }
}

impl From<turnstile_travel::Refusal> for Code {
    fn from(refusal: turnstile_travel::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Travel(refusal)))
    }
}

impl Refusal {
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Rooms(refusal) => status(refusal.meaning().class),
            Self::Exchange(refusal) => exchange::status(*refusal),
            Self::Games(refusal) => games::status(refusal),
            Self::Travel(refusal) => travel::status(refusal),
        }
    }

    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Rooms(refusal) => refusal.code(),
            Self::Exchange(refusal) => refusal.code(),
            Self::Games(refusal) => refusal.code(),
            Self::Travel(refusal) => refusal.code(),
        }
    }

    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Rooms(refusal) => refusal.meaning().sentence,
            Self::Exchange(refusal) => exchange::title(*refusal),
            Self::Games(refusal) => games::title(refusal),
            Self::Travel(refusal) => travel::title(refusal),
        }
    }

    /// Whether the same may be done when it is begun anew.
    pub(crate) const fn is_passing(&self) -> bool {
        match self {
            Self::Rooms(_) | Self::Exchange(_) => false,
            Self::Games(refusal) => games::is_passing(refusal),
            Self::Travel(refusal) => travel::is_passing(refusal),
        }
    }

    /// Its data, as extension members.
    pub(crate) fn put_data<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Rooms(refusal) => put_fields(refusal, map),
            Self::Exchange(refusal) => exchange::put_data(map, refusal),
            Self::Games(refusal) => games::put_data(map, refusal),
            Self::Travel(refusal) => travel::put_data(map, refusal),
        }
    }
}
