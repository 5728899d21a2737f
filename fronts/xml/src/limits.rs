//! Every limit of the codec, each with its reason.

/// The longest request by default, in bytes of XML: room for ten thousand
/// orders however they are laid out.
pub const FRAME_BYTES_MAX: u32 = 16 << 20;

/// Digits of a length line: no length in 32 bits needs more.
pub const LENGTH_DIGITS_MAX: usize = 10;

/// How deep elements may nest, the root counted; the deepest that means anything is 3.
pub const DEPTH_MAX: usize = 8;

/// Attributes of one element; none that means anything has more than 3.
pub const ATTRIBUTES_MAX: usize = 16;

/// The longest value of an attribute, in bytes as it was sent; the longest that means anything is
/// an account of 40 characters, each of which may be written as a reference.
pub const ATTRIBUTE_BYTES_MAX: usize = 1_024;

/// Items of one request: ten times the ten thousand orders that a client may want to send at once.
/// The answer to each is longer than the shortest item, so the bytes alone are no bound.
pub const ITEMS_MAX: usize = 100_000;

/// Tags, texts and comments of one request: an item that has an element of its own, with a comment and on
/// lines of its own, has eight. All of them are read before anybody else is served.
pub const PARTS_MAX: usize = 8 * ITEMS_MAX;

/// The length of an answer, in bytes, from which on queries are refused instead of listing an
/// order's executions once more: a few bytes can ask for thousands of them.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;
