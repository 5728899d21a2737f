//! The roles that are granted.

use turnstile_chassis::{Bytes, Right, Words};

/// The services that grants are about, by their numbers in records: `domain/services` has the same list,
/// and a test there compares them.
pub const SERVICES: [(u8, &str); 6] = [
    (1, "rooms"),
    (2, "exchange"),
    (3, "travel"),
    (4, "games"),
    (5, "seats"),
    (6, "access"),
];

/// What a principal may be granted. The byte of a role of a service is its number there, and then 1 for
/// the manager and 2 for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes, Words)]
pub enum AccessRole {
    /// May do everything.
    #[byte(0x01)]
    Admin,
    /// Runs the server: metrics, backups, draining. No business data but what a backup holds.
    #[byte(0x02)]
    Operator,
    /// Reads the business data of every service.
    #[byte(0x03)]
    Reader,
    /// Sets up what is sold, and acts for others.
    #[byte(0x11)]
    #[word("rooms.manager")]
    RoomsManager,
    #[byte(0x12)]
    #[word("rooms.user")]
    RoomsUser,
    #[byte(0x21)]
    #[word("exchange.manager")]
    ExchangeManager,
    #[byte(0x22)]
    #[word("exchange.user")]
    ExchangeUser,
    #[byte(0x31)]
    #[word("travel.manager")]
    TravelManager,
    #[byte(0x32)]
    #[word("travel.user")]
    TravelUser,
    #[byte(0x41)]
    #[word("games.manager")]
    GamesManager,
    #[byte(0x42)]
    #[word("games.user")]
    GamesUser,
    #[byte(0x51)]
    #[word("seats.manager")]
    SeatsManager,
    #[byte(0x52)]
    #[word("seats.user")]
    SeatsUser,
}

impl AccessRole {
    /// Of a role of one service: the number of that, and the strongest right that the role gives there.
    #[must_use]
    pub const fn of_service(self) -> Option<(u8, Right)> {
        match self {
            Self::Admin | Self::Operator | Self::Reader => None,
            Self::RoomsManager => Some((1, Right::Manage)),
            Self::RoomsUser => Some((1, Right::Use)),
            Self::ExchangeManager => Some((2, Right::Manage)),
            Self::ExchangeUser => Some((2, Right::Use)),
            Self::TravelManager => Some((3, Right::Manage)),
            Self::TravelUser => Some((3, Right::Use)),
            Self::GamesManager => Some((4, Right::Manage)),
            Self::GamesUser => Some((4, Right::Use)),
            Self::SeatsManager => Some((5, Right::Manage)),
            Self::SeatsUser => Some((5, Right::Use)),
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_chassis::{Readable, Tagged};

    use super::*;

    #[test]
    fn each_business_service_has_a_manager_and_a_user_under_its_name_and_number() {
        let mut roles = vec!["admin", "operator", "reader"];
        for (number, service) in &SERVICES[..5] {
            for (digit, word, right) in [(1, "manager", Right::Manage), (2, "user", Right::Use)] {
                let role = AccessRole::read(format!("{service}.{word}").as_bytes()).unwrap();
                assert_eq!(role.of_service(), Some((*number, right)));
                assert_eq!(role.byte(), number * 16 + digit);
                roles.push(role.code());
            }
        }
        assert_eq!(roles, AccessRole::WORDS);
    }
}
