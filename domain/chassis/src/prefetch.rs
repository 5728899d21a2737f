//! Prefetch instructions.

/// Asks memory for the cache line in which `item` begins, and does not wait for it. Where the
/// processor has no such instruction that we know of, nothing happens.
#[inline]
pub fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "a plain read would be waited for, and the standard library has no safe hint"
    )]
    // SAFETY: a prefetch changes nothing but the cache, and may be given any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(item);
}
