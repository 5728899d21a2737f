//! The operator's settings of games.

use turnstile_chassis::Bytes;

use crate::limits;

/// Who is played here: one of them, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Roles {
    /// Plays matches.
    pub arena: bool,
    /// Counts results.
    pub scores: bool,
}

/// Settings are state: they change by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Settings {
    /// Fixed by the first thing that happens, as the number of the arena is.
    pub roles: Roles,
    /// What a distant scores server knows this arena by: drawn by lot once by whoever configures
    /// it, so that no other arena, and none that is set up anew, has the same. Zero where the
    /// arena and its scores are in one process.
    pub arena: u64,
    /// How long a player may think about one move, in milliseconds.
    pub move_ms: u64,
    /// How long a player may be disconnected from a match, in milliseconds.
    pub grace_ms: u64,
    /// How long a player must be away or late before the other may claim the win, in milliseconds.
    pub claim_ms: u64,
}

impl Roles {
    /// Both in one process.
    pub const ALL: Self = Self {
        arena: true,
        scores: true,
    };
}

impl Settings {
    /// What holds until somebody says otherwise.
    pub const FIRST: Self = Self {
        roles: Roles::ALL,
        arena: 0,
        move_ms: limits::MOVE_MS,
        grace_ms: limits::GRACE_MS,
        claim_ms: limits::CLAIM_MS,
    };

    pub(crate) fn is_sound(&self) -> bool {
        let times = [self.move_ms, self.grace_ms, self.claim_ms];
        let range = 1..=limits::SETTING_MS_MAX;
        let alone = self.roles.arena && !self.roles.scores;
        times.iter().all(|ms| range.contains(ms))
            && (self.roles.arena || self.roles.scores)
            && alone == (self.arena != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_millisecond_at_least_and_thirty_days_at_most() {
        let longest = 2_592_000_000;
        for (ms, is_sound) in [(0, false), (1, true), (longest, true), (longest + 1, false)] {
            for settings in [
                Settings {
                    move_ms: ms,
                    ..Settings::FIRST
                },
                Settings {
                    grace_ms: ms,
                    ..Settings::FIRST
                },
                Settings {
                    claim_ms: ms,
                    ..Settings::FIRST
                },
            ] {
                assert_eq!(settings.is_sound(), is_sound, "{settings:?}");
            }
        }
    }
}
