//! Storage of numbered rows.

pub(crate) use turnstile_chassis::{Linked, NONE, some};

/// A chunk of orders is a mebibyte and a half.
const CHUNK_BITS: u32 = 14;

pub(crate) type RowSlab<T> = turnstile_chassis::Slab<T, CHUNK_BITS>;

pub(crate) type RowPool<T> = turnstile_chassis::Pool<T, CHUNK_BITS>;
