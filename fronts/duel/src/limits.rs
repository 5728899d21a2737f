//! Every limit of the wire, each with its reason.

/// The most digits of a player's number: those of the largest `u32`.
pub const PLAYER_DIGITS_MAX: usize = 10;

/// The most digits of a count: those of the largest `u64`.
pub const COUNT_DIGITS_MAX: usize = 20;

/// The longest greeting: its first byte and two numbers, each with its colon.
pub const GREETING_BYTES_MAX: usize = 1 + 2 * (PLAYER_DIGITS_MAX + 1);

/// The longest message either way: three counts, each with its colon.
pub const MESSAGE_BYTES_MAX: usize = 3 * (COUNT_DIGITS_MAX + 1);

/// The longest that goes into one send: a message, and the mark behind it.
pub const PARCEL_BYTES_MAX: usize = MESSAGE_BYTES_MAX + 1;

const _: () = assert!(GREETING_BYTES_MAX <= MESSAGE_BYTES_MAX);
