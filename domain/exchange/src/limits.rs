//! Every limit of the machine, each with its reason.

/// Digits after the point of a price, where nobody has said otherwise.
pub const PRICE_SCALE: u8 = 4;

/// Digits after the point of a quantity, where nobody has said otherwise.
pub const QUANTITY_SCALE: u8 = 4;

/// The largest price in units of its scale, and the largest quantity: their product, and the sum
/// of a hundred million such products, fit 128 bits.
pub const UNITS_MAX: u64 = 1_000_000_000_000_000;

/// How long an ended order, its executions and its client id are remembered, in logged time: a
/// week, so that whoever comes back after a holiday still finds what became of it.
pub const ENDED_MS: u64 = 7 * 24 * 60 * 60 * 1_000;

/// How many ended orders are remembered: the newest four million, so that a busy week cannot take
/// all memory.
pub const ENDED_ORDERS_MAX: u32 = 4 << 20;

/// Trades of one symbol that can be listed: the newest thousand, as a chart's first screen shows.
pub const TRADES_KEPT: usize = 1_000;

/// Accounts: as many as a slot number counts with room to spare.
pub const ACCOUNTS_MAX: u32 = 1 << 26;

/// Symbols: more than all exchanges list together; an end to what a caller can make the server
/// remember by naming symbols.
pub const SYMBOLS_MAX: u32 = 1 << 20;

/// Open orders of all accounts.
pub const OPEN_ORDERS_MAX: u32 = 1 << 26;

/// Ended orders that one command forgets at most: more than it ends in the long run, few enough
/// that nobody waits for it.
pub const FORGOTTEN_AT_ONCE: u32 = 4;

/// Orders of other symbols that one page of an account's open orders passes over, and orders that
/// are looked at to find where a page begins when the order that its cursor names has ended. A page
/// that ends here is short, even empty, and names where the next begins: one query cannot stop the
/// service for others.
pub const ORDERS_EXAMINED_MAX: usize = 10_000;
