//! Commands that were announced and wait to be decided.

use std::collections::VecDeque;

/// Commands that are loaded for together: enough that memory answers many questions at once, few
/// enough that the first ones are still in the cache when the last one is decided.
pub const GROUP: usize = 16;

/// Commands that are remembered; further ones are decided without preparation.
const EXPECTED_MAX: usize = 1_024;

/// What is known of the commands that wait, oldest first. A machine asks before each command
/// whether it is time to load, and then walks the chains of a whole group side by side.
#[derive(Debug)]
pub struct Expected<T> {
    waiting: VecDeque<T>,
    /// How many of the commands to come have been loaded for.
    warm: usize,
}

impl<T: Copy> Expected<T> {
    #[must_use]
    pub fn empty() -> Self {
        Self {
            waiting: VecDeque::with_capacity(EXPECTED_MAX),
            warm: 0,
        }
    }

    /// Notes a command that leads somewhere.
    pub fn note(&mut self, command: Option<T>) {
        if self.waiting.len() < EXPECTED_MAX {
            self.waiting.extend(command);
        }
    }

    /// Whether the next command is not loaded for, and commands wait. To be asked once for each
    /// command that is decided.
    pub fn is_due(&mut self) -> bool {
        if self.warm > 0 {
            self.warm -= 1;
            return false;
        }
        !self.waiting.is_empty()
    }

    /// The commands to load for, when it [is time](Self::is_due): at least one.
    pub fn take_group(&mut self) -> [Option<T>; GROUP] {
        let count = self.waiting.len().min(GROUP);
        let mut group = [None; GROUP];
        for (place, command) in group.iter_mut().zip(self.waiting.drain(..count)) {
            *place = Some(command);
        }
        self.warm = count - 1;
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_loaded_for_when_the_one_before_is_decided() {
        let mut expected = Expected::empty();
        (0..20).for_each(|command| expected.note(Some(command)));
        let mut groups = Vec::new();
        for decided in 0..21 {
            if expected.is_due() {
                let group = expected.take_group().into_iter().flatten();
                groups.push((decided, group.collect::<Vec<i32>>()));
            }
        }
        let all = [(0, (0..16).collect()), (16, (16..20).collect())];
        assert_eq!(groups, all);
    }

    #[test]
    fn commands_beyond_the_bound_are_decided_without() {
        let mut expected = Expected::empty();
        (0..2 * EXPECTED_MAX).for_each(|command| expected.note(Some(command)));
        assert_eq!(expected.waiting.len(), EXPECTED_MAX);
        assert_eq!(expected.waiting.back(), Some(&(EXPECTED_MAX - 1)));
    }
}
