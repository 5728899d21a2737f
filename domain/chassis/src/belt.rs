//! Commands that wait to be decided, while the memory that they need is prefetched.

/// Commands between two links of a chain: as long as a link takes to come from memory, some
/// commands are read or decided.
const STRIDE: usize = 3;

/// Places for commands whose chains are not at their ends.
const PLACES: usize = 16;

/// Announced commands, each at some link of its chain of cache lines.
///
/// What a command needs it finds link by link (a table names a row, the row a page), and with
/// millions of rows each link is a wait for memory. So nobody waits: every command that is
/// announced or decided moves all the others on by one place, and every third place the next link
/// of a command is asked for, which the link before it, asked for three commands earlier, names.
/// Nothing is decided here; a command that was never announced is merely slower.
#[derive(Debug)]
pub struct Belt<T, const LINKS: usize> {
    places: [Option<T>; PLACES],
    /// Where the next command is put.
    next: usize,
    /// Moves until all chains are at their ends.
    left: usize,
}

impl<T, const LINKS: usize> Belt<T, LINKS> {
    const MOVES: usize = {
        assert!(LINKS > 0 && (LINKS - 1) * STRIDE < PLACES, "the chain fits");
        (LINKS - 1) * STRIDE + 1
    };

    #[must_use]
    pub fn empty() -> Self {
        Self {
            places: std::array::from_fn(|_| None),
            next: 0,
            left: 0,
        }
    }

    /// Puts a command on the belt, and moves it: `ask` is called for each command that has come to
    /// another link, with the link's number, and asks memory for it.
    #[inline]
    pub fn put(&mut self, command: T, ask: impl FnMut(usize, &mut T)) {
        self.left = Self::MOVES;
        self.advance(Some(command), ask);
    }

    /// Moves the belt, for a command that is decided.
    #[inline]
    pub fn advance_one(&mut self, ask: impl FnMut(usize, &mut T)) {
        if self.left > 0 {
            self.advance(None, ask);
        }
    }

    #[inline]
    fn advance(&mut self, entering: Option<T>, mut ask: impl FnMut(usize, &mut T)) {
        self.left -= 1;
        let newest = self.next;
        self.next = (newest + 1) % PLACES;
        if let Some(place) = self.places.get_mut(newest) {
            *place = entering;
        }
        for link in 0..LINKS {
            let place = (newest + PLACES - link * STRIDE) % PLACES;
            if let Some(Some(command)) = self.places.get_mut(place) {
                ask(link, command);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_comes_to_each_link_once_and_the_belt_stands_still_at_the_end() {
        let mut belt = Belt::<u32, 3>::empty();
        let mut asked = Vec::new();
        for command in 0..40 {
            belt.put(command, |link, &mut command| asked.push((command, link)));
        }
        for _ in 0..100 {
            belt.advance_one(|link, &mut command| asked.push((command, link)));
        }
        let links = |command| {
            let of_it = asked.iter().filter(|&&(it, _)| it == command);
            of_it.map(|&(_, link)| link).collect::<Vec<_>>()
        };
        for command in 0..40 {
            assert_eq!(links(command), [0, 1, 2]);
        }
        assert_eq!(asked.len(), 120);
    }

    #[test]
    fn a_link_is_asked_for_three_commands_after_the_one_before() {
        let mut belt = Belt::<(), 2>::empty();
        let mut moves = Vec::new();
        belt.put((), |link, &mut ()| moves.push((0, link)));
        for decided in 1..10 {
            belt.advance_one(|link, &mut ()| moves.push((decided, link)));
        }
        assert_eq!(moves, [(0, 0), (3, 1)]);
    }
}
