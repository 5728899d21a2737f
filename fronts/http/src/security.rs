//! Events of the server's security that are no records: failed logins, and what operators do.

use turnstile_chassis::{Fields, Words};
use turnstile_types::{Position, Principal, Timestamp};

use crate::{
    event::{EventId, FeedEvent},
    schema::Schemas,
};

/// One thing that happened. The journal does not have it, and a restart forgets it.
///
/// `(run, seq)` is unique and grows, as long as the wall clock does from start to start.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct SecurityEvent {
    /// The start of the server, in milliseconds since 1970.
    pub run: u64,
    /// Counts the events since that, from 1.
    pub seq: u32,
    pub at: Timestamp,
    pub kind: SecurityEventKind,
    /// Where a login failed.
    pub door: Option<&'static str>,
    /// The kind of network that the login came from.
    pub address_class: Option<&'static str>,
    /// The address that the login came from, as far as audit.addresses keeps it.
    pub address: Option<Box<str>>,
    /// Why it failed.
    pub reason: Option<Box<str>>,
    /// How many logins from there have failed within a minute.
    pub failures: Option<u32>,
    /// Who did it.
    pub by: Option<Principal>,
    /// What was changed.
    pub changed: Option<Box<str>>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum SecurityEventKind {
    /// A key was shown that is none of this server, or has ended.
    LoginFailed,
    /// So many logins from there have failed that more are not looked at for a while.
    LoginsThrottled,
    /// The configuration was read again.
    Reloaded,
    /// It could not be read again, so everything stays as it was.
    ReloadFailed,
    /// The files of TLS have changed, and new connections get the new certificate.
    CertificateReloaded,
    SlowLogCleared,
    /// The node sees its clients off, because an operator drains it.
    Drained,
}

impl FeedEvent for SecurityEvent {
    fn id(&self) -> EventId {
        EventId::of((Position(self.run), self.seq))
    }

    fn kind(&self) -> &'static str {
        self.kind.code()
    }
}

pub(crate) fn schemas() -> Schemas {
    let meaning = "One thing that happened to the security of the server and is no record.";
    Schemas::new("Access").named::<SecurityEvent>("SecurityEvent", meaning)
}
