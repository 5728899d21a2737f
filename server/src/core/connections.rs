//! The connections of the fast doors, by the numbers under which the poll knows them.

use crate::core::{
    connection::{Connection, ConnectionMemory},
    conversation::{Conversation, ListedClient, OtherConnections},
};

/// A table whose places are reused. One connection at a time may be out, to be served.
#[derive(Debug)]
pub(crate) struct Connections<C> {
    places: Vec<Option<Box<Connection<C>>>>,
    free: Vec<usize>,
    open: usize,
    /// What those take who are not out.
    memory: ConnectionMemory,
}

impl<C> Default for Connections<C> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            open: 0,
            memory: ConnectionMemory::default(),
        }
    }
}

impl<C: Conversation> OtherConnections for Connections<C> {
    fn held(&self) -> usize {
        self.memory.held
    }

    fn listed(&self) -> Vec<(usize, ListedClient<'_>)> {
        let places = self.places.iter().enumerate();
        places
            .filter_map(|(place, slot)| Some((place, slot.as_deref()?.listed()?)))
            .collect()
    }
}

impl<C: Conversation> Connections<C> {
    /// How many are open, the one that is out included.
    pub(crate) const fn open(&self) -> usize {
        self.open
    }

    /// Memory of the answers of those who are not out, in bytes, as of their last
    /// [count](Self::recount).
    pub(crate) const fn unsent(&self) -> usize {
        self.memory.unsent
    }

    /// Counts the memory of a connection that was given an answer, or has sent some.
    pub(crate) fn recount(&mut self, place: usize) {
        if let Some(connection) = self.places.get_mut(place).and_then(Option::as_deref_mut) {
            let (before, now) = connection.count_memory();
            self.memory.subtract(before);
            self.memory.add(now);
        }
    }

    /// The places of those who leave answers unread, by how much and for how long; the slowest last.
    pub(crate) fn slowest(&self, sweep: u32) -> Vec<usize> {
        let places = self.places.iter().enumerate();
        let slow = places.filter_map(|(place, slot)| {
            let weight = slot.as_deref()?.slowness(sweep)?;
            Some((weight, place))
        });
        let mut slow: Vec<_> = slow.collect();
        slow.sort_unstable();
        slow.into_iter().map(|(_, place)| place).collect()
    }

    /// The place that the next connection will have.
    pub(crate) fn next_place(&self) -> usize {
        self.free.last().copied().unwrap_or(self.places.len())
    }

    /// Puts a new connection in [`next_place`](Self::next_place).
    pub(crate) fn add(&mut self, connection: Box<Connection<C>>) {
        self.open += 1;
        match self.free.pop() {
            Some(place) => self.put_back(place, connection),
            None => {
                let place = self.places.len();
                self.places.push(None);
                self.put_back(place, connection);
            }
        }
    }

    /// When it is given an answer, it MUST be [counted](Self::recount) anew, at the latest when it was
    /// sent something.
    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut Connection<C>> {
        self.places.get_mut(place)?.as_deref_mut()
    }

    /// Takes a connection out. It MUST be put back or forgotten.
    pub(crate) fn take(&mut self, place: usize) -> Option<Box<Connection<C>>> {
        let connection = self.places.get_mut(place)?.take()?;
        self.memory.subtract(connection.counted_memory());
        Some(connection)
    }

    pub(crate) fn put_back(&mut self, place: usize, mut connection: Box<Connection<C>>) {
        let slot = self
            .places
            .get_mut(place)
            .expect("a connection goes where it came from");
        assert!(slot.is_none(), "the place was kept free");
        self.memory.add(connection.count_memory().1);
        *slot = Some(connection);
    }

    /// Frees the place of a connection that was taken out.
    pub(crate) fn forget(&mut self, place: usize) {
        self.open -= 1;
        self.free.push(place);
    }

    /// The places in use.
    pub(crate) fn places(&self) -> Vec<usize> {
        let used = self
            .places
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.is_some());
        used.map(|(place, _)| place).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection<C>> {
        self.places.iter().filter_map(Option::as_deref)
    }
}
