//! Where the search for any room begins in a type with very many rooms.

use std::collections::BTreeMap;

use turnstile_types::{Night, Stay};

use super::PropertyDirectory;
use crate::shelves::Mark;

/// For a type and a night a key: no room with a smaller one is free. Searches raise it, and what
/// sets a room free lowers it. It is only a shortcut: no outcome depends on it, and small types,
/// whose shelves are searched in microseconds, have none.
///
/// The first search after many bookings by name still passes all their shelves, once for each
/// night: about ten milliseconds for a million rooms.
#[derive(Debug)]
pub(super) struct Frontier(BTreeMap<(u32, Night), u128>);

impl Frontier {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Below which key no room is free on all nights of a stay.
    pub(super) fn of(&self, kind: u32, stay: Stay) -> u128 {
        if self.0.is_empty() {
            return 0;
        }
        let keys = stay.iter().filter_map(|night| self.0.get(&(kind, night)));
        keys.copied().max().unwrap_or(0)
    }

    pub(super) fn raise(&mut self, kind: u32, night: Night, key: u128) {
        self.0.insert((kind, night), key);
    }

    /// A room with this key is free on the nights, or may be.
    pub(super) fn lower(&mut self, kind: u32, stay: Stay, key: u128) {
        for night in stay.iter() {
            if let Some(frontier) = self.0.get_mut(&(kind, night)) {
                *frontier = key.min(*frontier);
            }
        }
    }

    /// A room with this key is free on all nights.
    pub(super) fn lower_all(&mut self, kind: u32, key: u128) {
        let nights = Night::from_days(0)..=Night::from_days(u16::MAX);
        let range = (kind, *nights.start())..=(kind, *nights.end());
        for (_, frontier) in self.0.range_mut(range) {
            *frontier = key.min(*frontier);
        }
    }
}

impl PropertyDirectory {
    /// Whether no room before a type's frontier is free.
    pub(crate) fn frontier_holds(&self, kind: u32) -> bool {
        let frontiers = self.frontier.0.iter().filter(|((of, _), _)| *of == kind);
        frontiers.into_iter().all(|(&(_, night), &frontier)| {
            let next = night.checked_add(1).expect("a searched night has an end");
            let stay = Stay::new(night, next).expect("one night is a stay");
            self.kind_at(kind).shelves().all(|shelf| {
                let blocked = self.shelves.any(shelf, Mark::Occupied, stay)
                    | self.shelves.any(shelf, Mark::Stopped, stay);
                let free = self.shelves.used(shelf) & !blocked;
                (0..self.shelves.len(shelf)).all(|place| {
                    let (key, room) = self.shelves.keyed_at(shelf, place);
                    key >= frontier || free >> self.rooms.at(room).bit & 1 == 0
                })
            })
        })
    }
}
