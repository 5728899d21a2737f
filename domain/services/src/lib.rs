//! The one list of services: every layer derives from it what it does for each service alike.

#![forbid(unsafe_code)]

pub use turnstile_access as access;
pub use turnstile_exchange as exchange;
pub use turnstile_games as games;
pub use turnstile_rooms as rooms;
pub use turnstile_seats as seats;
pub use turnstile_travel as travel;

/// Calls a macro with the list of services, in the order of their numbers: the name of each, which is
/// also the module of this crate that holds its types, and its machine.
#[macro_export]
macro_rules! services {
    ($then:ident) => {
        $then! {
            rooms: Rooms,
            exchange: Exchange,
            travel: Travel,
            games: Games,
            seats: Seats,
            access: Access,
        }
    };
}

/// Calls a macro with the services of which nothing is special to any door: none of their events is
/// filtered, none of their answers comes late, no table limits what a client has open.
#[macro_export]
macro_rules! plain_services {
    ($then:ident) => {
        $then! {
            seats: Seats,
            access: Access,
        }
    };
}

#[cfg(test)]
mod tests {
    use turnstile_chassis::Served;
    use turnstile_types::Machine;

    /// Access depends on no other service, so it has their names and numbers of its own.
    #[test]
    fn access_knows_every_service_by_its_name_and_number() {
        macro_rules! numbers_and_names {
            ($($name:ident: $machine:ident),+ $(,)?) => {
                [$((crate::$name::$machine::SERVICE, crate::$name::$machine::NAME)),+]
            };
        }
        assert_eq!(services!(numbers_and_names), crate::access::SERVICES);
    }
}
