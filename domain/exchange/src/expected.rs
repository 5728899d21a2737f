//! Commands that wait, and how far memory was asked for what they will touch.

use turnstile_chassis::Belt;

/// Commands that were announced.
pub(crate) type PrefetchBelt = Belt<Target, LINKS>;

/// Where a command's data is found: account, symbol and order; the position and the order's place
/// on the book.
const LINKS: usize = 2;

/// Where a command leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) account: Option<u32>,
    pub(crate) symbol: Option<u32>,
    pub(crate) row: Option<u32>,
}
