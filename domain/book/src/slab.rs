//! Records with reusable 32-bit indexes.

/// The index of no record.
pub(crate) const NONE: u32 = u32::MAX;

/// Indexes stay below this, so that their top bit is free to mean something else; and the last
/// one is never used, because with that bit it would be `NONE`.
pub(crate) const INDEX_END: u32 = 1 << 31;

/// A record that can stand empty and then names the next empty one.
pub(crate) trait Vacant {
    fn vacant(next: u32) -> Self;
    fn next_vacant(&self) -> u32;
}

/// One array; the empty records are a chain through it, the last one given back first, so that
/// the memory in use stays as dense and as warm as it can. Growing copies the array: whoever minds
/// reserves room beforehand, which costs address space and no memory.
#[derive(Debug)]
pub(crate) struct RecordSlab<T> {
    records: Vec<T>,
    vacant: u32,
    used: u32,
}

impl<T> RecordSlab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            records: Vec::new(),
            vacant: NONE,
            used: 0,
        }
    }

    pub(crate) fn with_capacity(records: usize) -> Self {
        Self {
            records: Vec::with_capacity(records),
            ..Self::new()
        }
    }

    /// How many records are in use.
    pub(crate) const fn used(&self) -> u32 {
        self.used
    }

    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.records.get(index as usize)
    }

    #[inline]
    pub(crate) fn at(&self, index: u32) -> &T {
        self.records
            .get(index as usize)
            .expect("a kept index is in its slab")
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, index: u32) -> &mut T {
        self.records
            .get_mut(index as usize)
            .expect("a kept index is in its slab")
    }
}

impl<T: Vacant> RecordSlab<T> {
    /// Puts a record where one was given back, or at the end.
    #[inline]
    pub(crate) fn take(&mut self, record: T) -> u32 {
        let index = self.take_vacant();
        // Here and nowhere else, so that its fields are stored one by one. Built on the stack and
        // copied whole, the copy would wait for them.
        *self.at_mut(index) = record;
        index
    }

    #[inline]
    fn take_vacant(&mut self) -> u32 {
        self.used += 1;
        let index = self.vacant;
        if index == NONE {
            return self.push_vacant();
        }
        self.vacant = self.at(index).next_vacant();
        index
    }

    #[inline]
    pub(crate) fn give_back(&mut self, index: u32) {
        *self.at_mut(index) = T::vacant(self.vacant);
        self.vacant = index;
        self.used -= 1;
    }

    #[cold]
    fn push_vacant(&mut self) -> u32 {
        let index = u32::try_from(self.records.len()).expect("an index has 32 bits");
        assert!(index < INDEX_END - 1, "fewer than 2^31 records");
        self.records.push(T::vacant(NONE));
        index
    }
}
