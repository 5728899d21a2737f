//! The order in which listings show rooms.

use super::{NO_ROOM, PropertyDirectory, rows::RoomRank};
use crate::order::{key, natural};

/// One step of a walk through the rooms of a property: first those on shelves in natural order,
/// then the loose ones in order of appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) room: u32,
    /// The step is in the second part. There the walk meets all rooms of the property, also those
    /// to which [`PropertyDirectory::is_step_of`] says no: they cost time, and so they count.
    pub(crate) loose: bool,
}

impl PropertyDirectory {
    /// Walks through the rooms of some types of a property, from a step on.
    pub(crate) fn walk<'a>(
        &'a self,
        property: u32,
        kinds: &[u32],
        from: Option<Step>,
    ) -> impl Iterator<Item = Step> + use<'a> {
        let loose = |&kind: &u32| {
            let kind = self.kind_at(kind);
            !kind.shelved && kind.rooms > 0
        };
        let first = match from {
            Some(Step { room, loose: true }) => room,
            _ => self.property_at(property).first,
        };
        let first = if kinds.iter().any(loose) {
            first
        } else {
            NO_ROOM
        };
        let (shelved_kinds, from) = match from {
            Some(Step { loose: true, .. }) => (&[][..], None),
            Some(Step { room, loose: false }) => (kinds, Some(room)),
            None => (kinds, None),
        };
        let shelved = self.shelved_in_order(shelved_kinds, from);
        let step = |loose| move |room| Step { room, loose };
        shelved
            .map(step(false))
            .chain(self.chain_from(first).map(step(true)))
    }

    /// Whether a room belongs where a walk meets it.
    pub(crate) fn is_step_of(&self, step: Step) -> bool {
        self.is_loose(step.room) == step.loose
    }

    /// Whether a room's type is one without shelves.
    pub(crate) fn is_loose(&self, room: u32) -> bool {
        !self.kind_at(self.room_at(room).kind).shelved
    }

    /// All rooms of a property, withdrawn ones with them, in order of appearance.
    pub(crate) fn chain(&self, property: u32) -> impl Iterator<Item = u32> + '_ {
        self.chain_from(self.property_at(property).first)
    }

    fn chain_from(&self, first: u32) -> impl Iterator<Item = u32> + use<'_> {
        let some = |room: u32| (room != NO_ROOM).then_some(room);
        std::iter::successors(some(first), move |&room| some(self.room_at(room).next))
    }

    /// The rooms in sale of some types with shelves, in natural order, from a room's name on.
    fn shelved_in_order<'a>(
        &'a self,
        kinds: &[u32],
        from: Option<u32>,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let mut rows: Vec<_> = kinds
            .iter()
            .map(|&kind| self.shelved_from(kind, from).peekable())
            .collect();
        std::iter::from_fn(move || {
            let name = |room: u32| self.name_bytes(self.room_at(room));
            let first = rows
                .iter_mut()
                .enumerate()
                .filter_map(|(row, rooms)| rooms.peek().map(|&room| (row, room)))
                .min_by(|&(_, left), &(_, right)| natural(name(left), name(right)))
                .map(|(row, _)| row)?;
            rows.get_mut(first)?.next()
        })
    }

    /// The rooms of a type in natural order, from a room's name on.
    fn shelved_from(&self, kind: u32, from: Option<u32>) -> impl Iterator<Item = u32> + use<'_> {
        let spot = from.map_or(RoomRank::FIRST, |room| {
            let name = self.name_bytes(self.room_at(room));
            self.spot_of(kind, key(name), name)
        });
        let rows = self.kind_at(kind).rows.iter().skip(spot.row);
        rows.flat_map(|row| &row.shelves)
            .skip(spot.place)
            .flat_map(move |&(_, shelf)| {
                (0..self.shelves.len(shelf)).map(move |at| self.shelves.keyed_at(shelf, at).1)
            })
            .skip(spot.inside)
    }
}
