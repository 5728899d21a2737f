//! Every limit of the machine, each with its reason.

/// How long a transaction lives after its last operation, where nobody has said otherwise.
pub const LIFETIME_MS: u64 = 15_000;

/// How long a lock is waited for, and how long a desk may be silent, where nobody has said
/// otherwise.
pub const WAIT_MS: u64 = 10_000;

/// The longest lifetime and the longest wait that can be set: a day.
pub const SETTING_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// Xids of one block: the first is durable before it is told, and recovery goes on at the next
/// block. Large enough that the sync does not count, small enough that few numbers are skipped.
pub const XIDS_PER_BLOCK: u64 = 1_000;

/// Open transactions: ten times what was promised, and an end to what a caller can make the server
/// remember.
pub const TRANSACTIONS_MAX: usize = 100_000;

/// Ended transactions whose end is still told: the newest.
pub const ENDED_MAX: usize = 65_536;

/// Late answers that can still be asked for: the newest.
pub const LATE_ANSWERS_MAX: usize = 4_096;

/// Items of one trip: more than any journey has, few enough that a request fits a record.
pub const ITEMS_PER_TRIP_MAX: usize = 64;

/// Keys on one customer's bill, so that a bill fits a record.
pub const KEYS_PER_CUSTOMER_MAX: usize = 500;

/// Lines of one part of a summary; a part ends with the bill that goes beyond.
pub const LINES_PER_PART: usize = 500;

/// Lines of a whole summary, one for each customer among them: all that the lab leaves behind in many
/// runs, and an end to what one answer weighs.
pub const SUMMARY_LINES_MAX: usize = 1_000_000;

/// Items at one desk: every room of every town; an end to what a caller can make the server
/// remember.
pub const ITEMS_MAX: usize = 1 << 24;

/// Customers: as many as the desk can number with room to spare.
pub const CUSTOMERS_MAX: usize = 1 << 26;

/// Seats, cars or rooms of one item, free and reserved together.
pub const COUNT_MAX: u32 = 1_000_000_000;

/// Those for whom one waiter waits that are told to the coordinator. A deadlock through one that
/// is not told is ended by the timeout.
pub const BLOCKERS_MAX: usize = 1_000;

/// How long the coordinator rests before it tries again to release an itinerary whose time is over.
pub const RETRY_MS: u64 = 1_000;

/// The longest hold of an itinerary: thirty days.
pub const HOLD_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Parcels that wait for a peer. A peer that is so far behind is away.
pub const PARCELS_MAX: usize = 65_536;

/// Lifetimes for which a desk waits for a word of a distant coordinator, which greets at least once
/// in each.
pub const LIFETIMES_OF_PATIENCE: u64 = 2;

/// Members of one page of a listing.
pub const PAGE_MAX: usize = 1_000;

/// Items that one page of a listing looks at. A page that ends here is short, even empty, and names where
/// the next begins: many items that are added and not committed cannot stop the service for others.
pub const ITEMS_EXAMINED_MAX: usize = 10_000;

/// How long a desk keeps back, at most, that it has done what was decided: long enough that under any
/// load the next vote takes it along, short enough that nobody at the coordinator waits to forget.
pub const POSTPONED_MS: u64 = 100;

/// Such words that a line keeps back: then they are worth a sync of their own.
pub const POSTPONED_MAX: usize = 64;

/// How long the decision about a staged trip waits for a record that is synced anyway: long enough
/// that one client who books on takes it along, short enough that nobody notices who wants what is
/// locked.
pub const DECISION_MS: u64 = 2;

/// Of how many others is asked, before a decision waits, whether they wait for it. Where more wait for
/// something, it does not.
pub const WAITERS_ASKED: usize = 256;
