//! The machine that says who may do what: principals, their keys and certificates, the roles that are
//! granted to them, and their quotas.
//!
//! Invariants: no secret is here, only digests of keys. Once the directory has had a key it is *guarded*
//! for ever, and no command takes the last administrator's key away.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod about;
mod certificate;
mod command;
mod event;
mod key_digest;
mod key_id;
pub mod limits;
mod name_pattern;
mod new_principal;
mod outcome;
mod query;
mod quota;
mod role;
mod secret_key;

mod authentication;
mod machine;
mod rights;

mod check;
mod queries;
mod snapshot;
mod state;
mod subject;

pub use authentication::{Authenticated, NotAuthenticated};
pub use certificate::{CertificateSubject, InvalidCertificateSubject};
pub use command::Command;
pub use event::{Event, EventKind};
pub use key_digest::{InvalidKeyDigest, KeyDigest};
pub use key_id::{InvalidKeyId, KeyId};
pub use name_pattern::{GrantedNames, InvalidGrantedNames, InvalidNamePattern, NamePattern};
pub use new_principal::{InvalidNewPrincipal, NewPrincipal};
pub use outcome::{Done, Outcome, Refusal};
pub use query::{Answer, GrantEntry, KeyEntry, KeyState, PrincipalEntry, Query, Totals};
pub use quota::AccessQuota;
pub use rights::{MissingRight, Rights};
pub use role::{AccessRole, SERVICES};
pub use secret_key::{InvalidSecretKey, SecretKey};
pub use state::Access;
pub use turnstile_chassis::{Cursor, Needed, Right, Subject};
