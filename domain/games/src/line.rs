//! An ordered queue that items can leave from the middle.

use turnstile_chassis::{NONE, some};

/// The neighbours of what waits in a line; kept by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) before: u32,
    pub(crate) after: u32,
}

impl Links {
    pub(crate) const NONE: Self = Self {
        before: NONE,
        after: NONE,
    };
}

/// Things with numbers that have room for links.
pub(crate) trait Chained {
    fn links(&self, number: u32) -> Links;

    fn links_mut(&mut self, number: u32) -> &mut Links;
}

/// The ends of a line. To join it, to leave it and to look at its first takes the same time
/// however long it is.
#[derive(Debug)]
pub(crate) struct Line {
    first: u32,
    last: u32,
    length: u32,
}

impl Line {
    pub(crate) const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
        length: 0,
    };

    pub(crate) const fn len(&self) -> u32 {
        self.length
    }

    pub(crate) fn first(&self) -> Option<u32> {
        some(self.first)
    }

    /// Joins the line at its end.
    pub(crate) fn join(&mut self, all: &mut impl Chained, number: u32) {
        *all.links_mut(number) = Links {
            before: self.last,
            after: NONE,
        };
        match some(self.last) {
            None => self.first = number,
            Some(last) => all.links_mut(last).after = number,
        }
        self.last = number;
        self.length += 1;
    }

    /// Leaves the line, of which it is a part.
    pub(crate) fn leave(&mut self, all: &mut impl Chained, number: u32) {
        let Links { before, after } = all.links(number);
        match some(before) {
            None => self.first = after,
            Some(before) => all.links_mut(before).after = after,
        }
        match some(after) {
            None => self.last = before,
            Some(after) => all.links_mut(after).before = before,
        }
        self.length -= 1;
    }

    pub(crate) fn iter<'a>(&self, all: &'a impl Chained) -> impl Iterator<Item = u32> + 'a {
        std::iter::successors(some(self.first), |&number| some(all.links(number).after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Chained for Vec<Links> {
        fn links(&self, number: u32) -> Links {
            self[number as usize]
        }

        fn links_mut(&mut self, number: u32) -> &mut Links {
            &mut self[number as usize]
        }
    }

    #[test]
    fn whoever_leaves_is_gone_and_the_others_keep_their_order() {
        let mut all = vec![Links::NONE; 5];
        let mut line = Line::EMPTY;
        for number in 0..5 {
            line.join(&mut all, number);
        }
        for (leaves, left) in [
            (2, vec![0, 1, 3, 4]),
            (0, vec![1, 3, 4]),
            (4, vec![1, 3]),
            (3, vec![1]),
        ] {
            line.leave(&mut all, leaves);
            assert_eq!(line.iter(&all).collect::<Vec<_>>(), left);
            assert_eq!(
                (line.first(), line.len() as usize),
                (Some(left[0]), left.len())
            );
        }
        line.join(&mut all, 2);
        line.leave(&mut all, 1);
        line.leave(&mut all, 2);
        assert_eq!((line.first(), line.len()), (None, 0));
    }
}
