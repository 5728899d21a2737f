//! Memory for what there may be very much of.

/// What one entry of the processor's memory of pages covers, where the system lends large pages.
const LARGE_PAGE: usize = 2 * 1024 * 1024;

/// What the allocator adds to a large request, rounded up to whole pages: with it, a request fills
/// large pages, and the system begins it at the start of one.
const ALLOCATORS_OWN: usize = 4 * 1024;

/// An empty list with room for so many items, which the system is asked to keep in large pages.
///
/// Who looks anywhere in tens of megabytes waits not only for memory but also for the walk to it
/// through the tables of pages, and so does a [prefetch](crate::prefetch()). Of large pages the
/// processor remembers enough. Their price is that memory is taken and cleared two mebibytes at a
/// time, which on a virtual machine may cost its host more than 512 small pages that were in use
/// before. So this is for what is looked up anywhere, as tables are, and not for what grows at its
/// end. It is a wish: where the system does not grant it, everything is merely slower.
#[must_use]
pub fn roomy<T>(items: usize) -> Vec<T> {
    let bytes = items * size_of::<T>();
    if size_of::<T>() == 0 || bytes < LARGE_PAGE {
        return Vec::with_capacity(items);
    }
    let whole = (bytes + ALLOCATORS_OWN).next_multiple_of(LARGE_PAGE) - ALLOCATORS_OWN;
    let list = Vec::with_capacity(whole / size_of::<T>());
    wish_for_large_pages(&list);
    list
}

#[cfg(target_os = "linux")]
fn wish_for_large_pages<T>(list: &Vec<T>) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let begin = list.as_ptr().addr();
    let skipped = begin.next_multiple_of(page) - begin;
    let length = (list.capacity() * size_of::<T>()).saturating_sub(skipped) / page * page;
    let from = list.as_ptr().wrapping_byte_add(skipped).cast_mut();
    #[expect(unsafe_code, reason = "the standard library gives no such advice")]
    // SAFETY: whole pages within the list's own memory are named, and the advice changes nothing
    // but how the system backs them.
    let advised = unsafe { madvise(from.cast(), length, Advice::LinuxHugepage) };
    // A system without large pages says no, and nothing is lost.
    advised.unwrap_or_default();
}

#[cfg(not(target_os = "linux"))]
fn wish_for_large_pages<T>(_list: &Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::roomy;

    #[test]
    fn there_is_room_for_what_was_asked_and_it_is_used_like_any_other() {
        for items in [0, 1, 100_000, 262_144, 300_000, 1_048_576] {
            let mut list = roomy::<u64>(items);
            assert!(list.capacity() >= items);
            let place = list.as_ptr();
            list.extend((0..items).map(|item| item as u64));
            assert!(std::ptr::eq(list.as_ptr(), place));
            assert!(list.iter().copied().eq(0..items as u64));
        }
        assert!(roomy::<()>(7).is_empty());
    }
}
