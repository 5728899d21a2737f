//! What the machine can be asked to do.

use turnstile_chassis::{Bytes, Fields, Operations, Words};
use turnstile_types::{Name, Timestamp};

use crate::{
    AccessQuota, AccessRole, CertificateSubject, Done, GrantedNames, KeyDigest, KeyId, NamePattern,
    NewPrincipal, about::About, limits,
};

/// One whole request that may change the state.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(answers = Done, about = About)]
pub enum Command {
    /// Adds a principal, who may do nothing yet.
    #[byte(0x01)]
    #[operation(answer = PrincipalAdded, right = manage)]
    AddPrincipal {
        #[parameter(read_as = NewPrincipal)]
        principal: Name,
    },
    /// Removes a principal, and ends its keys, grants and certificates.
    #[byte(0x02)]
    #[operation(answer = PrincipalRemoved, right = manage)]
    RemovePrincipal { principal: Name },
    /// Gives a role to a principal. A grant of the same role that stands is replaced.
    #[byte(0x03)]
    #[operation(answer = Granted, right = manage)]
    Grant {
        principal: Name,
        role: AccessRole,
        /// The names for which it is: names, or beginnings of names with a star behind them. A star
        /// alone stands for all, and for a role that is not of one service.
        #[parameter(repeated = NamePattern, most = limits::GRANTED_NAMES_MAX)]
        only: GrantedNames,
    },
    /// Takes a role from a principal.
    #[byte(0x04)]
    #[operation(answer = GrantWithdrawn, right = manage)]
    WithdrawGrant { principal: Name, role: AccessRole },
    /// Adds a key of a principal. Who asks makes it, and sends its digest only. Asked again with the same
    /// values, it is answered the same.
    #[byte(0x05)]
    #[operation(answer = KeyAdded, right = manage)]
    AddKey {
        principal: Name,
        /// The third part of the key: twelve small letters or digits.
        #[parameter(name = "id")]
        key: KeyId,
        /// SHA-256 of the whole text of the key, in 64 hexadecimal digits.
        #[field(skip)]
        digest: KeyDigest,
        /// What it is for, such as the program that has it.
        name: Option<Name>,
        /// When it ends by itself. Without it, it ends when it is revoked.
        expires: Option<Timestamp>,
    },
    /// Lets a key end at an instant, earlier or later than it would; an instant in the past ends it now.
    #[byte(0x06)]
    #[operation(answer = KeyExpires | KeyExpired, right = manage)]
    ExpireKey {
        #[parameter(name = "id")]
        key: KeyId,
        at: Timestamp,
    },
    /// Ends a key, and the sessions that it opened.
    #[byte(0x07)]
    #[operation(answer = KeyRevoked, right = manage)]
    RevokeKey {
        #[parameter(name = "id")]
        key: KeyId,
    },
    /// Says how much a principal may ask for. What is not given is as for everyone.
    #[byte(0x08)]
    #[operation(answer = QuotaSet, right = manage)]
    SetQuota {
        principal: Name,
        #[parameter(flatten)]
        quota: AccessQuota,
    },
    /// Says how much a principal may ask for that has no quota of its own. What is not given has no quota.
    #[byte(0x09)]
    #[operation(answer = QuotaSet, right = manage)]
    SetDefaultQuota {
        #[parameter(flatten)]
        quota: AccessQuota,
    },
    /// Lets clients with a certificate of this subject log in as a principal.
    #[byte(0x0a)]
    #[operation(answer = CertificateAdded, right = manage)]
    AddCertificate {
        principal: Name,
        /// The common name (CN) of the certificate, or one of its alternative names (SAN).
        subject: CertificateSubject,
    },
    /// Takes a subject of client certificates from its principal.
    #[byte(0x0b)]
    #[operation(answer = CertificateRemoved, right = manage)]
    RemoveCertificate { subject: CertificateSubject },
    /// A key was used, for the first time in this hour.
    #[byte(0x0c)]
    #[operation(internal)]
    NoteUse {
        #[field(name = "id")]
        key: KeyId,
    },
}
