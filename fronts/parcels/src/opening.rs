//! What each end of a desk's line says first.

/// The name, before the version.
pub(crate) const NAME: &str = "tsdesk";

/// The version of the whole line, with the parcels on it.
pub(crate) const VERSION: u16 = 4;

/// The name and the version.
pub(crate) const OPENING_BYTES: usize = NAME.len() + 2;

/// Appends what each end says before everything else.
pub fn put_opening(out: &mut Vec<u8>) {
    out.extend_from_slice(NAME.as_bytes());
    out.extend_from_slice(&VERSION.to_le_bytes());
}
