//! Memory for large collections, one part at a time.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    fmt,
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// What one entry of the processor's memory of pages covers, where the system lends large pages.
pub const LARGE_PAGE: usize = 2 * 1024 * 1024;

/// What the processor takes from memory at once.
const LINE: usize = 64;

/// Items that lie side by side, as many as there was room for from the beginning: the first begins a
/// cache line, and memory that nobody has used yet costs nothing.
///
/// In a lot with large pages the first item begins one. Who looks anywhere in tens of megabytes waits
/// not only for memory but also for the walk to it through the tables of pages, and so does a
/// [prefetch](crate::prefetch()). Of large pages the processor remembers enough. Their price is that
/// memory is taken and cleared two mebibytes at a time, which on a virtual machine may cost its host
/// more than 512 small pages that were in use before. So they are for what is looked up anywhere,
/// and not for what grows at its end. They are a wish: where the system does not grant it, everything
/// is merely slower.
///
/// It is no `Vec` because none begins where it is told to.
pub struct Lot<T> {
    start: NonNull<T>,
    room: usize,
    length: usize,
    layout: Layout,
    owned: PhantomData<T>,
}

impl<T> Lot<T> {
    /// An empty lot with room for so many items.
    #[must_use]
    pub fn with_room(room: usize) -> Self {
        Self::aligned(room, LINE)
    }

    /// The same in large pages, as far as they are full; a lot that would fill none gets none.
    #[must_use]
    pub fn with_large_pages(room: usize) -> Self {
        if room * size_of::<T>() < LARGE_PAGE {
            return Self::with_room(room);
        }
        let lot = Self::aligned(room, LARGE_PAGE);
        lot.wish_for_large_pages();
        lot
    }

    /// A lot without room, which takes no memory.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            start: NonNull::dangling(),
            room: 0,
            length: 0,
            layout: Layout::new::<()>(),
            owned: PhantomData,
        }
    }

    #[expect(unsafe_code, reason = "the standard library begins a list anywhere")]
    fn aligned(room: usize, align: usize) -> Self {
        let layout = Layout::array::<T>(room).and_then(|layout| layout.align_to(align));
        let layout = layout.expect("a lot is smaller than half of all addresses");
        if layout.size() == 0 {
            return Self::none();
        }
        // SAFETY: the layout has a size.
        let start = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(start.cast()) else {
            handle_alloc_error(layout);
        };
        Self {
            start,
            room,
            length: 0,
            layout,
            owned: PhantomData,
        }
    }

    #[cfg(target_os = "linux")]
    fn wish_for_large_pages(&self) {
        use rustix::mm::{Advice, madvise};
        let whole = self.layout.size() / LARGE_PAGE * LARGE_PAGE;
        let start = self.start.as_ptr().cast();
        #[expect(unsafe_code, reason = "the standard library gives no such advice")]
        // SAFETY: whole pages within the lot's own memory are named, and the advice changes nothing
        // but how the system backs them.
        let advised = unsafe { madvise(start, whole, Advice::LinuxHugepage) };
        // A system without large pages says no, and nothing is lost.
        advised.unwrap_or_default();
    }

    #[cfg(not(target_os = "linux"))]
    fn wish_for_large_pages(&self) {}

    /// How many items there is room for.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.room
    }

    /// Adds an item.
    ///
    /// # Panics
    /// When there is no room.
    #[inline]
    pub fn push(&mut self, item: T) {
        let place = self.unused().first_mut().expect("the lot has room");
        *place = MaybeUninit::new(item);
        self.length += 1;
    }

    /// Adds the same item so many times.
    ///
    /// # Panics
    /// When there is no room.
    pub fn push_all(&mut self, item: T, times: usize)
    where
        T: Copy,
    {
        let places = self.unused().get_mut(..times);
        places
            .expect("the lot has room")
            .fill(MaybeUninit::new(item));
        self.length += times;
    }

    fn unused(&mut self) -> &mut [MaybeUninit<T>] {
        #[expect(unsafe_code, reason = "memory without an item in it has no safe name")]
        // SAFETY: the length is at most the room, and all of the room is the lot's own.
        unsafe {
            let from = self.start.add(self.length).cast();
            NonNull::slice_from_raw_parts(from, self.room - self.length).as_mut()
        }
    }

    /// Takes the last item away.
    pub fn pop(&mut self) -> Option<T> {
        self.length = self.length.checked_sub(1)?;
        #[expect(unsafe_code, reason = "memory without an item in it has no safe name")]
        // SAFETY: an item is there, and the length does not count it any more.
        let item = unsafe { self.start.add(self.length).read() };
        Some(item)
    }

    /// Moves the items to large pages.
    pub fn enlarge(&mut self) {
        let mut large = Self::with_large_pages(self.room);
        #[expect(
            unsafe_code,
            reason = "items are moved all at once, and without a look at them"
        )]
        // SAFETY: both have this room, and the items belong to the new lot alone as soon as the
        // lengths say so, before anything else can happen.
        unsafe {
            large
                .start
                .copy_from_nonoverlapping(self.start, self.length);
        }
        large.length = std::mem::take(&mut self.length);
        *self = large;
    }
}

impl<T> Deref for Lot<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        #[expect(
            unsafe_code,
            reason = "the standard library knows nothing of this memory"
        )]
        // SAFETY: so many items are there, and whoever borrows the lot borrows them.
        unsafe {
            NonNull::slice_from_raw_parts(self.start, self.length).as_ref()
        }
    }
}

impl<T> DerefMut for Lot<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        #[expect(
            unsafe_code,
            reason = "the standard library knows nothing of this memory"
        )]
        // SAFETY: as above, and the lot is borrowed by nobody else.
        unsafe {
            NonNull::slice_from_raw_parts(self.start, self.length).as_mut()
        }
    }
}

impl<T> Drop for Lot<T> {
    fn drop(&mut self) {
        let items: *mut [T] = &raw mut **self;
        #[expect(
            unsafe_code,
            reason = "the standard library knows nothing of this memory"
        )]
        // SAFETY: the items are there and used by nobody after this, and the memory was allocated
        // with this layout.
        unsafe {
            items.drop_in_place();
            if self.layout.size() > 0 {
                dealloc(self.start.as_ptr().cast(), self.layout);
            }
        }
    }
}

#[expect(
    unsafe_code,
    reason = "the compiler cannot see who owns what a pointer leads to"
)]
// SAFETY: a lot owns its items, as a `Vec` does.
unsafe impl<T: Send> Send for Lot<T> {}

#[expect(
    unsafe_code,
    reason = "the compiler cannot see who owns what a pointer leads to"
)]
// SAFETY: who shares a lot shares its items, as with a `Vec`.
unsafe impl<T: Sync> Sync for Lot<T> {}

impl<T: fmt::Debug> fmt::Debug for Lot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{LARGE_PAGE, LINE, Lot};

    #[test]
    fn a_lot_begins_a_line_and_in_large_pages_a_page_and_is_used_like_any_list() {
        for room in [1_usize, 100, 262_143, 262_144, 300_000] {
            let mut lots = [Lot::with_room(room), Lot::with_large_pages(room)];
            let large = room * 8 >= LARGE_PAGE;
            for (lot, align) in lots
                .iter_mut()
                .zip([LINE, if large { LARGE_PAGE } else { LINE }])
            {
                for item in 0..room as u64 {
                    lot.push(item);
                }
                assert_eq!((lot.room(), lot.as_ptr().addr() % align), (room, 0));
                assert!(lot.iter().copied().eq(0..room as u64));
            }
        }
    }

    #[test]
    fn items_are_kept_on_the_way_to_large_pages_and_dropped_once() {
        let item = Rc::new(());
        let mut lot = Lot::with_room(LARGE_PAGE / 8);
        for _ in 0..1_000 {
            lot.push(Rc::clone(&item));
        }
        lot.enlarge();
        assert_eq!((lot.len(), Rc::strong_count(&item)), (1_000, 1_001));
        assert_eq!(lot.as_ptr().addr() % LARGE_PAGE, 0);
        lot.push(Rc::clone(&item));
        let popped: Vec<Rc<()>> = std::iter::from_fn(|| lot.pop()).take(400).collect();
        assert_eq!((popped.len(), lot.len()), (400, 601));
        drop(popped);
        drop(lot);
        assert_eq!(Rc::strong_count(&item), 1);
    }

    #[test]
    fn an_empty_lot_has_nothing_to_take_and_a_copy_is_put_as_often_as_wanted() {
        let mut lot = Lot::with_room(5);
        assert_eq!(lot.pop(), None);
        lot.push_all(7, 5);
        assert_eq!(*lot, [7; 5]);
        *lot.last_mut().unwrap() = 8;
        assert_eq!((lot.pop(), lot.pop()), (Some(8), Some(7)));
    }
}
