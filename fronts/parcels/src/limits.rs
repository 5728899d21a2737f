//! Every limit of the codec, each with its reason.

/// The longest frame in bytes, without its length: its kind, and a parcel that fits a record of the
/// journal.
pub const FRAME_BYTES_MAX: usize = 1 + 65_535;

/// The longest sentence of a refusal in bytes, so that a log line stays one.
pub const REFUSAL_BYTES_MAX: usize = 200;
