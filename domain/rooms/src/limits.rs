//! Every limit of the machine, each with its reason.

/// The longest time for which a hold is given or extended at once: a payment page is filled in
/// within minutes, and a forgotten basket should not keep a room from others for longer.
pub const HOLD_TTL_MS_MAX: u32 = 15 * 60 * 1_000;

/// The longest time that a hold lasts in all, from when it was made: extending for ever would be
/// booking for nothing.
pub const HOLD_TOTAL_MS_MAX: u64 = 60 * 60 * 1_000;

/// How long after its expiry a hold can still be confirmed, when its nights are free: a payment
/// may arrive late, but one that is a day late is handled by people. The hold is remembered for
/// this time, and so this bounds the memory that expired holds take.
pub const LATE_CONFIRM_MS: u64 = 24 * 60 * 60 * 1_000;

/// Open holds of one principal: enough for a shop that serves a rush, too few to lock a town.
pub const HOLDS_PER_PRINCIPAL_MAX: u32 = 1_000;

/// Rooms of a closed property, withdrawn ones with them: more than the largest hotel has. It
/// bounds the search for any free room.
pub const ROOMS_PER_PROPERTY_MAX: u32 = 10_000;

/// Rooms of an open property, withdrawn ones with them: room for the largest load test, and an
/// end to what a caller can make the server remember by naming rooms.
pub const ROOMS_PER_OPEN_PROPERTY_MAX: u32 = 16_000_000;

/// Things that stand in the way, as one explanation lists them: as many as a person may read.
pub const EXPLAINED_BLOCKS_MAX: usize = 1_000;

/// Rooms that one page of a listing or one explanation looks at. A page that ends here is short,
/// even empty, and names where the next begins: one question cannot stop the service for others.
/// Only the availability of the type `open` in an open property looks at all rooms of it, because
/// it has no other way to be exact: about 50 milliseconds for a million rooms.
pub const ROOMS_EXAMINED_MAX: usize = 10_000;
