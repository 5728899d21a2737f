//! Every limit of the machine, each with its reason.

/// Principals: one for each program and each person of a large company. With their grants they take at
/// most some hundreds of megabytes.
pub const PRINCIPALS_MAX: u32 = 10_000;

/// Keys that are kept, those that have ended among them: some for each principal.
pub const KEYS_MAX: u32 = 50_000;

/// Live keys of a principal: one for each of its processes.
pub const KEYS_PER_PRINCIPAL_MAX: u32 = 100;

/// Ended keys of a principal that are kept. One that changes its key every hour has four days of them.
pub const ENDED_KEYS_PER_PRINCIPAL_MAX: usize = 100;

/// How long a key that has ended is kept, so that lists say what became of it and nothing brings it back.
pub const ENDED_KEY_KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Names and patterns of one grant: a pattern stands for many names, and a request looks at each.
pub const GRANTED_NAMES_MAX: usize = 64;

/// Certificates of all principals.
pub const CERTIFICATES_MAX: u32 = 20_000;

/// Certificates of a principal, which a listing shows with it.
pub const CERTIFICATES_PER_PRINCIPAL_MAX: u32 = 100;

/// The longest subject of a certificate, in bytes: the longest name of a host has 253.
pub const CERTIFICATE_SUBJECT_BYTES_MAX: usize = 255;

/// A use of a key is noted when the last one that was noted is so long ago: one record an hour and key.
pub const USE_NOTED_MS: u64 = 60 * 60 * 1_000;
