//! Keeping what is seen over time within bounds.

/// Each second one goes, the first stays.
pub(crate) fn halve<T>(seen: &mut Vec<T>) {
    let mut stays = false;
    seen.retain(|_one| {
        stays = !stays;
        stays
    });
}

/// What is seen over time, at most so many: when there are more, each second one goes. Its memory is
/// that of the fullest from the second one on, for then there are as many as there may be, all but those
/// seen copies that nobody sees.
#[derive(Debug)]
pub(crate) struct ThinnedSeries<T> {
    slots: Vec<T>,
    seen: usize,
    most: usize,
    /// Each so many are kept.
    step: usize,
    /// How many have come.
    came: usize,
}

impl<T: Clone> ThinnedSeries<T> {
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            slots: Vec::new(),
            seen: 0,
            most,
            step: 1,
            came: 0,
        }
    }

    /// Forgets what was seen and keeps the memory.
    pub(crate) const fn clear(&mut self) {
        (self.seen, self.step, self.came) = (0, 1, 0);
    }

    pub(crate) fn seen(&self) -> &[T] {
        &self.slots[..self.seen]
    }

    /// Looks, if this is one of those that are kept.
    pub(crate) fn add(&mut self, look: impl FnOnce() -> T) {
        let at = self.came;
        self.came += 1;
        if !at.is_multiple_of(self.step) {
            return;
        }
        if self.seen == self.most {
            for (to, from) in (0..self.seen).step_by(2).enumerate() {
                self.slots.swap(to, from);
            }
            self.seen = self.seen.div_ceil(2);
            self.step *= 2;
        }
        // Copies are as large as what is in them; what grew while it was made is larger.
        let one = look();
        match self.slots.len() {
            // The first may be smaller than others.
            0 => self.slots.push(one),
            room if self.seen == room => self.slots.resize_with(self.most, || one.clone()),
            _ => self.slots[self.seen].clone_from(&one),
        }
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{ThinnedSeries, halve};

    #[test]
    fn of_many_those_at_equal_steps_are_kept_in_memory_that_stays_the_same() {
        let mut kept = ThinnedSeries::new(8);
        kept.add(|| vec![0; 1]);
        for number in 1..1_000 {
            kept.add(|| {
                let mut grown = Vec::with_capacity(64);
                grown.resize(16, number);
                grown
            });
            let room: usize = kept.slots.iter().map(Vec::capacity).sum();
            assert_eq!((kept.slots.len(), room), (8, 7 * 16 + 1), "{number}");
        }
        let firsts: Vec<i32> = kept.seen().iter().map(|one| one[0]).collect();
        assert_eq!(firsts, [0, 128, 256, 384, 512, 640, 768, 896]);
        kept.clear();
        kept.add(|| vec![5; 16]);
        assert_eq!((kept.seen().len(), kept.slots.len()), (1, 8));
    }

    #[test]
    fn the_first_of_each_pair_stays() {
        for (mut seen, left) in [
            (vec![], vec![]),
            (vec![1], vec![1]),
            (vec![1, 2, 3, 4, 5], vec![1, 3, 5]),
        ] {
            halve(&mut seen);
            assert_eq!(seen, left);
        }
    }
}
