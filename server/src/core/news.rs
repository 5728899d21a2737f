//! What groups have changed, and who wants to know it.

use turnstile_types::{Machine, Position};

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
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// What groups have changed: told when they are durable.
        #[derive(Default)]
        pub(crate) struct News {
            $(pub(crate) $name: Gathered<<turnstile_services::$name::$machine as Machine>::Event>,)+
        }
    };
}

turnstile_services::services!(news);
