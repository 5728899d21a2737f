//! A small ordered map from 16-bit numbers to 32-bit indexes.

use turnstile_chassis::prefetch;

use crate::{
    arena::{CellArena, same_class},
    widths::{join, low_32},
};

/// Which block of nights lies where. One entry is kept in place, which is the common case of a
/// room with few bookings; more are a sorted run in an arena that all indexes share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Index {
    /// The only entry's value, or the cell of the run.
    cell: u32,
    /// The only entry's number.
    number: u16,
    length: u16,
}

impl Index {
    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where the entries lie when they are not kept in place.
    fn run<'a>(&self, arena: &'a CellArena<u64>) -> &'a [u64] {
        if self.length < 2 {
            return &[];
        }
        arena.run(usize::from(self.length), self.cell)
    }

    /// Asks memory for the entries that a search looks at first, which are the ends; see `warming`.
    pub(crate) fn prefetch(&self, arena: &CellArena<u64>) {
        if let [first, .., last] = self.run(arena) {
            prefetch(first);
            prefetch(last);
        }
    }

    pub(crate) fn find(&self, arena: &CellArena<u64>, number: u16) -> Option<u32> {
        if self.length < 2 {
            return (self.length == 1 && self.number == number).then_some(self.cell);
        }
        let run = self.run(arena);
        let place = place_in(run, number).ok()?;
        run.get(place).map(|&entry| low_32(entry))
    }

    /// Notes that somebody looks for entries which may be anywhere.
    #[inline]
    pub(crate) fn look(&self, arena: &mut CellArena<u64>) {
        if self.length >= 2 {
            arena.look(usize::from(self.length), self.cell);
        }
    }

    /// Adds a number that is not there.
    pub(crate) fn insert(&mut self, arena: &mut CellArena<u64>, number: u16, value: u32) {
        let old = usize::from(self.length);
        let new = old + 1;
        if old == 0 {
            (self.cell, self.number) = (value, number);
        } else {
            let place = if old == 1 {
                usize::from(self.number < number)
            } else {
                place_in(self.run(arena), number).expect_err("the number is new")
            };
            let cell = self.resize(arena, old, new);
            let run = arena.run_mut(new, cell);
            run.copy_within(place..old, place + 1);
            *run.get_mut(place).expect("the run has grown by one") = entry(number, value);
            self.cell = cell;
        }
        self.length += 1;
    }

    /// Removes a number that is there.
    pub(crate) fn remove(&mut self, arena: &mut CellArena<u64>, number: u16) {
        let old = usize::from(self.length);
        if old < 2 {
            assert!(old == 1 && self.number == number, "the number is there");
        } else {
            let place = place_in(self.run(arena), number).expect("the number is there");
            arena
                .run_mut(old, self.cell)
                .copy_within(place + 1..old, place);
            self.cell = self.resize(arena, old, old - 1);
        }
        self.length -= 1;
    }

    /// Brings the entries both lengths have into a cell for the new length; one is a cell too.
    fn resize(&mut self, arena: &mut CellArena<u64>, old: usize, new: usize) -> u32 {
        if old == 1 {
            let cell = arena.take(new);
            let only = entry(self.number, self.cell);
            *arena
                .run_mut(new, cell)
                .first_mut()
                .expect("two entries have a first") = only;
            return cell;
        }
        if new == 1 {
            let only = *arena
                .run(old, self.cell)
                .first()
                .expect("two entries have a first");
            arena.give_back(old, self.cell);
            self.number = number_in(only);
            return low_32(only);
        }
        if same_class(old, new) {
            return self.cell;
        }
        let cell = arena.take(new);
        for place in 0..old.min(new) {
            let moved = *arena.run(old, self.cell).get(place).expect("below both");
            *arena
                .run_mut(new, cell)
                .get_mut(place)
                .expect("below both lengths") = moved;
        }
        arena.give_back(old, self.cell);
        cell
    }

    /// The entries from a number on, in order.
    pub(crate) fn iter_from<'a>(
        &self,
        arena: &'a CellArena<u64>,
        from: u16,
    ) -> impl Iterator<Item = (u16, u32)> + use<'a> {
        let run = self.run(arena);
        let start = place_in(run, from).unwrap_or_else(|place| place);
        let only = (self.length == 1 && self.number >= from).then_some((self.number, self.cell));
        only.into_iter().chain(
            run.iter()
                .skip(start)
                .map(|&entry| (number_in(entry), low_32(entry))),
        )
    }
}

/// The place of a number in a run, or where it would be. Most new nights lie behind all others, and
/// calendars are mostly even, so the ends and then the place that an even one would have are looked
/// at first.
fn place_in(run: &[u64], number: u16) -> Result<usize, usize> {
    let [first, .., last] = run else {
        return Err(0);
    };
    let (first, last) = (number_in(*first), number_in(*last));
    if number < first {
        return Err(0);
    }
    if number > last {
        return Err(run.len());
    }
    let guess = usize::from(number - first) * (run.len() - 1) / usize::from(last - first);
    match run.get(guess) {
        Some(&entry) if number_in(entry) == number => Ok(guess),
        _ => run.binary_search_by_key(&number, |&entry| number_in(entry)),
    }
}

const fn entry(number: u16, value: u32) -> u64 {
    join(number as u32, value)
}

fn number_in(entry: u64) -> u16 {
    u16::try_from(entry >> 32).expect("an entry's upper half is a 16-bit number")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_index_is_an_ordered_map() {
        let mut arena = CellArena::new();
        let mut index = Index::default();
        let mut map = BTreeMap::new();
        let mut state = 1_u32;
        for step in 0..20_000_u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let spread = if step / 5_000 % 2 == 0 { 40 } else { 4_000 };
            let number = u16::try_from(state >> 16).unwrap() % spread;
            if map.remove(&number).is_some() {
                index.remove(&mut arena, number);
            } else {
                map.insert(number, step);
                index.insert(&mut arena, number, step);
            }
            assert_eq!(index.find(&arena, number), map.get(&number).copied());
            if step % 64 == 0 {
                let from = number / 2;
                assert!(
                    index
                        .iter_from(&arena, from)
                        .eq(map.range(from..).map(|(&number, &value)| (number, value)))
                );
            }
        }
        for number in map.into_keys() {
            index.remove(&mut arena, number);
        }
        assert_eq!(arena.used(), 0, "every cell was given back");
    }
}
