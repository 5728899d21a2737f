//! What happened, for those who watch who may do what.

use turnstile_chassis::{Fields, Words};
use turnstile_types::{Position, Principal, Timestamp};

use crate::{AccessRole, CertificateSubject, KeyId};

/// One thing that happened to a principal, its keys, grants or certificates.
///
/// Every record causes at most one event of its own; before it come the keys that expire at its instant,
/// which are all that a tick causes. `(position, ordinal)` is unique and grows.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Event {
    pub position: Position,
    /// Counts the events of one record, from 0.
    pub ordinal: u32,
    pub at: Timestamp,
    pub kind: EventKind,
    /// Who did it; not set where a key expired.
    pub by: Option<Principal>,
    /// The principal to whom it happened; not set where it happened to all.
    pub principal: Option<Principal>,
    /// The role, where the event is about one.
    pub role: Option<AccessRole>,
    /// The key, where the event is about one.
    pub key: Option<KeyId>,
    /// The certificate, where the event is about one.
    pub subject: Option<CertificateSubject>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum EventKind {
    PrincipalAdded,
    PrincipalRemoved,
    Granted,
    GrantWithdrawn,
    KeyAdded,
    /// The instant at which it ends was changed.
    ExpiryChanged,
    KeyExpired,
    KeyRevoked,
    QuotaSet,
    DefaultQuotaSet,
    CertificateAdded,
    CertificateRemoved,
}
