//! What the machine answers to a command: done or refused, both with data.

use turnstile_chassis::{Bytes, Fields, Words};
use turnstile_types::Timestamp;

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub enum Done {
    #[byte(0x01)]
    PrincipalAdded,
    #[byte(0x02)]
    PrincipalRemoved {
        /// Live keys that ended with it.
        keys: u32,
    },
    #[byte(0x03)]
    Granted,
    #[byte(0x04)]
    GrantWithdrawn,
    #[byte(0x05)]
    KeyAdded,
    #[byte(0x06)]
    KeyExpires {
        /// When it will end.
        expires: Timestamp,
    },
    #[byte(0x07)]
    KeyExpired,
    #[byte(0x08)]
    KeyRevoked,
    #[byte(0x09)]
    QuotaSet,
    #[byte(0x0a)]
    CertificateAdded,
    #[byte(0x0b)]
    CertificateRemoved,
    #[byte(0x0c)]
    UseNoted,
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Refusal {
    #[byte(0x81)]
    #[refusal(not_found, "There is no such principal")]
    UnknownPrincipal,
    #[byte(0x82)]
    #[refusal(conflict, "The principal exists")]
    PrincipalExists,
    #[byte(0x83)]
    #[refusal(conflict, "There are as many principals as there may be")]
    TooManyPrincipals { limit: u32 },
    #[byte(0x84)]
    #[refusal(not_found, "The principal does not have this role")]
    NotGranted,
    #[byte(0x85)]
    #[refusal(invalid, "This role cannot be limited to names: grant it for *")]
    RoleTakesNoNames,
    #[byte(0x86)]
    #[refusal(not_found, "There is no such key, or it ended long ago")]
    UnknownKey,
    #[byte(0x87)]
    #[refusal(conflict, "There is or was another key with this id: make a new key")]
    KeyExists,
    #[byte(0x88)]
    #[refusal(conflict, "There are as many keys as there may be")]
    TooManyKeys { limit: u32 },
    #[byte(0x89)]
    #[refusal(invalid, "The key would have ended before it begins")]
    ExpiresInThePast,
    #[byte(0x8a)]
    #[refusal(gone, "The key has expired or was revoked")]
    KeyEnded,
    #[byte(0x8b)]
    #[refusal(
        conflict,
        "The first key must be one of a principal with the role admin"
    )]
    FirstKeyNotAdmin,
    /// Afterwards nobody could administer the server, or nobody any more once a key expires.
    #[byte(0x8c)]
    #[refusal(conflict, "This would take away the last key of an administrator")]
    LastAdministrator,
    #[byte(0x8d)]
    #[refusal(conflict, "The certificate belongs to a principal already")]
    CertificateExists,
    #[byte(0x8e)]
    #[refusal(not_found, "No principal has such a certificate")]
    UnknownCertificate,
    #[byte(0x8f)]
    #[refusal(conflict, "There are as many certificates as there may be")]
    TooManyCertificates { limit: u32 },
}
