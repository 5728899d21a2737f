//! Every limit of the codec, each with its reason.

/// The longest line, in bytes before its line feed: room for a bundle of 64 flights with every
/// number written out and blanks around it.
pub const LINE_BYTES_MAX: usize = 4_096;

/// Characters of what was sent that an answer repeats, so that a complaint fits a terminal.
pub const EXCERPT_CHARACTERS_MAX: usize = 40;

/// The last fault point of the middleware.
pub const MIDDLEWARE_MODE_MAX: u8 = 8;

/// The last fault point of a resource manager.
pub const MANAGER_MODE_MAX: u8 = 5;
