//! Lossless conversions between integer widths.

/// The lower half of a number.
pub(crate) fn low_32(number: u64) -> u32 {
    u32::try_from(number & 0xffff_ffff).expect("masked to 32 bits")
}

/// Two halves as one number.
pub(crate) const fn join(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}
