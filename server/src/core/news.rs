//! What groups have changed, and who wants to know it.

use turnstile_types::{Machine, Position};

use crate::registry::{Registered, SERVICES, services};

/// What has happened in a service, oldest first.
pub(crate) struct Gathered<E> {
    pub(crate) events: Vec<E>,
    /// The last position of which nobody wanted to know what happened.
    pub(crate) dropped: Option<Position>,
}

impl<E> Default for Gathered<E> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            dropped: None,
        }
    }
}

macro_rules! news {
    ($($name:ident: $types:ident::$machine:ident),+ $(,)?) => {
        /// What groups have changed: told when they are durable.
        #[derive(Default)]
        pub(crate) struct News {
            $(pub(crate) $name: Gathered<<$types::$machine as Machine>::Event>,)+
        }
    };
}

services!(news);

/// Of which services somebody wants to know what happens, by their places in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FollowedServices(pub(crate) [bool; SERVICES.len()]);

impl FollowedServices {
    pub(crate) const ALL: Self = Self([true; SERVICES.len()]);

    pub(crate) const fn has<M: Registered>(self) -> bool {
        self.0[M::PLACE]
    }

    pub(crate) const fn add<M: Registered>(&mut self) {
        self.0[M::PLACE] = true;
    }
}
