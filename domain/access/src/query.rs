//! What the machine can be asked without changing anything, and what it answers.

use turnstile_chassis::{Cursor, Fields, Operations, PAGE, PAGE_MAX, Words};
use turnstile_types::{Name, Position, Principal, Timestamp};

use crate::{
    AccessQuota, AccessRole, CertificateSubject, KeyId, NamePattern, Refusal, about::About,
};

/// One whole request that only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words, Operations)]
#[operations(answers = Answer, right = read, about = About)]
pub enum Query {
    /// Shows who asks, and what they may do.
    #[operation(answer = Caller, about = Caller)]
    WhoAmI,
    /// Shows one principal.
    #[word("get_principal")]
    #[operation(answer = Principal)]
    GetPrincipal { principal: Name },
    /// Lists the principals in the order in which they were added.
    #[word("list_principals")]
    #[operation(answer = Principals)]
    Principals {
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists the keys of one principal or of all, in the order in which they were added. Keys that ended
    /// in the last 30 days are among them.
    #[word("list_keys")]
    #[operation(answer = Keys)]
    Keys {
        principal: Option<Name>,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Shows how much a principal may ask for that has no quota of its own.
    #[word("get_default_quota")]
    #[operation(answer = Quota)]
    DefaultQuota,
    /// Shows how much there is of everything.
    #[word("get_totals")]
    Totals,
}

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub enum Answer {
    /// Who asks.
    Caller {
        principal: Principal,
        /// Whether the server asks for a key. One that does not lets everyone do everything, as `local`.
        guarded: bool,
        grants: Vec<GrantEntry>,
    },
    Principal(#[field(flatten)] Box<PrincipalEntry>),
    /// One page of principals.
    Principals {
        principals: Vec<PrincipalEntry>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    /// One page of keys.
    Keys {
        keys: Vec<KeyEntry>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    Quota(#[field(flatten)] AccessQuota),
    Totals(#[field(flatten)] Totals),
    Refused(#[field(skip)] Refusal),
}

/// A principal, as listings show it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct PrincipalEntry {
    pub principal: Principal,
    pub grants: Vec<GrantEntry>,
    /// Keys that are live now.
    pub keys: u32,
    /// The subjects of its client certificates.
    pub certificates: Vec<CertificateSubject>,
    /// How much it may ask for; what is not set is as for everyone.
    pub quota: AccessQuota,
    /// When it was added, in logged time.
    pub since: Timestamp,
    /// The position of the record that last changed it, its grants, quota or certificates: its version.
    pub position: Position,
}

/// A role that was given.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct GrantEntry {
    pub role: AccessRole,
    /// The names for which it is; a star for all.
    pub only: Vec<NamePattern>,
}

/// A key, as listings show it: never its secret.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct KeyEntry {
    #[field(name = "id")]
    pub key: KeyId,
    pub principal: Principal,
    /// What it is for.
    pub name: Option<Name>,
    #[field(flatten)]
    pub state: KeyState,
    /// When it was added, in logged time.
    pub since: Timestamp,
    /// When it was last used, to the hour.
    pub last_used: Option<Timestamp>,
}

/// What has become of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Words)]
#[fields(tag = "state")]
pub enum KeyState {
    Live { expires: Option<Timestamp> },
    Expired { ended: Timestamp },
    Revoked { ended: Timestamp },
}

/// What the machine has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Fields)]
pub struct Totals {
    /// Principals now.
    pub principals: u64,
    /// Grants that stand now.
    pub grants: u64,
    /// Certificates of principals now.
    pub certificates: u64,
    /// Keys that are live now.
    pub keys: u64,
    /// Keys that have ended and are still listed.
    pub keys_ended: u64,
    /// Keys ever added.
    pub keys_added_total: u64,
    /// Keys that ever expired.
    pub keys_expired_total: u64,
    /// Keys ever revoked, those of removed principals among them.
    pub keys_revoked_total: u64,
}
