//! The operator's settings of travel.

use turnstile_chassis::Bytes;

use crate::{Desks, limits};

/// Who is played here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct TravelRoles {
    pub coordinator: bool,
    pub desks: Desks,
}

/// Settings are state: they change by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Settings {
    /// Fixed by the first thing that happens.
    pub roles: TravelRoles,
    /// How long a transaction lives after its last operation, in milliseconds.
    pub lifetime_ms: u64,
    /// How long a lock is waited for, and how long a desk may be silent, in milliseconds.
    pub wait_ms: u64,
    /// Whether a deadlock is looked for at each wait; otherwise it is left to `wait_ms`.
    pub detect_deadlocks: bool,
}

impl TravelRoles {
    /// Everybody in one process.
    pub const ALL: Self = Self {
        coordinator: true,
        desks: Desks::ALL,
    };
}

impl Settings {
    /// What holds until somebody says otherwise.
    pub const FIRST: Self = Self {
        roles: TravelRoles::ALL,
        lifetime_ms: limits::LIFETIME_MS,
        wait_ms: limits::WAIT_MS,
        detect_deadlocks: true,
    };

    pub(crate) fn is_sound(&self) -> bool {
        let range = 1..=limits::SETTING_MS_MAX;
        range.contains(&self.lifetime_ms) && range.contains(&self.wait_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_millisecond_at_least_and_a_day_at_most() {
        for (ms, is_sound) in [
            (0, false),
            (1, true),
            (86_400_000, true),
            (86_400_001, false),
        ] {
            for settings in [
                Settings {
                    lifetime_ms: ms,
                    ..Settings::FIRST
                },
                Settings {
                    wait_ms: ms,
                    ..Settings::FIRST
                },
            ] {
                assert_eq!(settings.is_sound(), is_sound, "{settings:?}");
            }
        }
    }
}
