//! Who asks: the principal behind a connection or a request, and what it may do.

use std::{fmt, sync::Arc};

use turnstile_access::{
    Access, Authenticated, KeyId, MissingRight, NotAuthenticated, Rights, SecretKey,
};
use turnstile_replica::Credential;
use turnstile_types::{Author, Origin, Principal, RequestId, Timestamp};

use crate::core::{
    quotas::{CountedConnection, Meter, QuotaExceeded, QuotaMeters},
    request_log::AskTimes,
};

/// The id of a request, kept in place: over HTTP each request has a caller and a copy of it.
#[derive(Clone, Copy)]
struct RequestName {
    text: [u8; RequestId::LENGTH_MAX],
    length: u8,
}

impl RequestName {
    fn of(id: RequestId<'_>) -> Self {
        let mut text = [0; RequestId::LENGTH_MAX];
        let given = id.as_str().as_bytes();
        let place = text.get_mut(..given.len()).expect("an id is short");
        place.copy_from_slice(given);
        let length = u8::try_from(given.len()).expect("an id is short");
        Self { text, length }
    }

    fn id(&self) -> Option<RequestId<'_>> {
        let text = self.text.get(..usize::from(self.length))?;
        RequestId::parse(text).ok()
    }
}

impl fmt::Debug for RequestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

/// Who asks, as a connection knows it.
///
/// What it may do is kept beside it, so that a request costs one look. It is [renewed](Self::renew) when
/// the rights of anybody have changed since.
#[derive(Clone, Debug)]
pub struct Caller {
    pub(crate) principal: Principal,
    /// Where it comes from, for records.
    origin: Origin<'static>,
    /// What its request is called, if it has a name of its own.
    request_id: Option<RequestName>,
    credential: Credential,
    rights: Arc<Rights>,
    /// The generation of the access service that the rights are of; nothing: they are to be renewed.
    generation: Option<u64>,
    /// What its principal has asked for, where that has a quota.
    meter: Option<Arc<Meter>>,
    /// Its connection among those of its principal, if it is counted.
    connection: Option<Arc<CountedConnection>>,
    /// Where the loop says how long its request took, if the door wants to know.
    times: Option<Arc<AskTimes>>,
}

/// Why a request is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPermitted {
    /// The server wants to know who asks.
    NotLoggedIn,
    /// The key was revoked or has expired, or the certificate or the principal was removed.
    LoggedOut,
    /// The caller has not the right.
    Missing(MissingRight),
    /// It has the right, and has asked for as much as it may.
    Quota(QuotaExceeded),
}

impl fmt::Display for NotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoggedIn => f.write_str("this server asks for a key"),
            Self::LoggedOut => f.write_str("the key was revoked or has expired"),
            Self::Missing(missing) => missing.fmt(f),
            Self::Quota(exceeded) => exceeded.fmt(f),
        }
    }
}

impl std::error::Error for NotPermitted {}

impl Caller {
    /// Who has not said who it is.
    pub(crate) fn unknown() -> Self {
        Self {
            principal: Principal::local(),
            origin: Origin::UNKNOWN,
            request_id: None,
            credential: Credential::None,
            rights: Rights::nothing(),
            generation: None,
            meter: None,
            connection: None,
            times: None,
        }
    }

    /// The server itself, which may do everything.
    #[must_use]
    pub fn server() -> Self {
        Self {
            origin: Origin::SERVER,
            credential: Credential::Server,
            rights: Rights::everything(),
            ..Self::unknown()
        }
    }

    /// Who shows a certificate with these names; nothing when none of them is known.
    pub(crate) fn with_certificate<'a>(
        access: &Access,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<Self> {
        let mut names = names.into_iter();
        names.find_map(|name| {
            let principal = access.principal_of_certificate(name)?;
            Some(Self {
                principal,
                credential: Credential::Certificate(name.into()),
                ..Self::unknown()
            })
        })
    }

    /// Who comes to a listener that stands for this principal.
    pub(crate) fn named(principal: Principal) -> Self {
        Self {
            principal,
            credential: Credential::Named,
            ..Self::unknown()
        }
    }

    /// Who shows a key.
    ///
    /// # Errors
    /// The key is none of this server, or is over.
    pub(crate) fn with_key(
        access: &Access,
        now: Timestamp,
        key: &[u8],
    ) -> Result<Self, NotAuthenticated> {
        let key = SecretKey::parse(key).map_err(|_invalid| NotAuthenticated::Wrong)?;
        let Authenticated {
            principal,
            key,
            rights,
            ..
        } = access.authenticate(now, &key)?;
        Ok(Self {
            principal,
            credential: Credential::Key(key),
            rights,
            generation: Some(access.generation()),
            ..Self::unknown()
        })
    }

    /// Who has shown to another node who it is. Its rights are not known yet.
    pub(crate) fn relayed(
        principal: Principal,
        origin: Origin<'_>,
        credential: Credential,
    ) -> Self {
        if credential == Credential::Server {
            return Self {
                principal,
                ..Self::server()
            };
        }
        let from = Origin {
            door: origin.door,
            address: origin.address,
            request_id: None,
        };
        let caller = Self {
            principal,
            credential,
            ..Self::unknown()
        };
        caller.with_origin(from).for_request(origin.request_id)
    }

    /// How it has shown who it is.
    pub(crate) const fn credential(&self) -> &Credential {
        &self.credential
    }

    /// The same, who comes from there.
    #[must_use]
    pub(crate) fn with_origin(self, origin: Origin<'static>) -> Self {
        Self { origin, ..self }
    }

    /// The same in a request with this id.
    #[must_use]
    pub(crate) fn for_request(self, id: Option<RequestId<'_>>) -> Self {
        Self {
            request_id: id.map(RequestName::of),
            ..self
        }
    }

    /// What its request is called, if it has a name.
    pub(crate) fn request_id(&self) -> Option<RequestId<'_>> {
        self.request_id.as_ref().and_then(RequestName::id)
    }

    /// Its next requests are called so.
    pub(crate) fn name_request(&mut self, id: Option<RequestId<'_>>) {
        self.request_id = id.map(RequestName::of);
    }

    /// The times of its request are kept there.
    pub(crate) fn set_times(&mut self, times: Option<Arc<AskTimes>>) {
        self.times = times;
    }

    pub(crate) const fn take_times(&mut self) -> Option<Arc<AskTimes>> {
        self.times.take()
    }

    /// The server in the name of the caller, for what has to be done when the caller may do nothing more.
    #[must_use]
    pub(crate) fn by_server(&self) -> Self {
        Self {
            credential: Credential::Server,
            rights: Rights::everything(),
            meter: None,
            ..self.clone()
        }
    }

    pub(crate) const fn origin(&self) -> Origin<'static> {
        self.origin
    }

    /// Calls something with the author that records name.
    #[inline]
    pub(crate) fn as_author<T>(&self, call: impl FnOnce(Author<'_>) -> T) -> T {
        let principal = &self.principal;
        let Some(request_id) = &self.request_id else {
            let origin = &self.origin;
            return call(Author { principal, origin });
        };
        let origin = Origin {
            request_id: request_id.id(),
            ..self.origin
        };
        call(Author {
            principal,
            origin: &origin,
        })
    }

    pub(crate) fn rights(&self) -> &Rights {
        &self.rights
    }

    /// What its principal has asked for; nothing where that has no quota.
    #[inline]
    pub(crate) const fn meter(&self) -> Option<&Arc<Meter>> {
        self.meter.as_ref()
    }

    /// The same, with the quota of its principal, and with its connection counted in place of that of the
    /// caller `before`.
    ///
    /// # Errors
    /// The principal has as many connections as it may.
    pub(crate) fn counted(
        self,
        meters: &QuotaMeters,
        before: &Self,
    ) -> Result<Self, QuotaExceeded> {
        let is_same = before.principal == self.principal;
        let connection = match before.connection.clone().filter(|_| is_same) {
            Some(connection) => connection,
            None => Arc::new(meters.of(&self.principal).connect()?),
        };
        Ok(Self {
            meter: meters.limited(&self.principal),
            connection: Some(connection),
            ..self
        })
    }

    /// The same, whose principal may be given a quota later.
    #[must_use]
    pub(crate) fn metered_by(self, meter: Arc<Meter>) -> Self {
        Self {
            meter: Some(meter),
            ..self
        }
    }

    /// The same, for what belongs to a request that is counted already.
    #[must_use]
    pub(crate) fn uncounted(self) -> Self {
        Self {
            meter: None,
            ..self
        }
    }

    /// Whether it stands for a principal of the configuration.
    pub(crate) fn is_named(&self) -> bool {
        self.credential == Credential::Named
    }

    /// The key that it has shown.
    pub(crate) const fn key(&self) -> Option<KeyId> {
        match self.credential {
            Credential::Key(key) => Some(key),
            Credential::None
            | Credential::Certificate(_)
            | Credential::Named
            | Credential::Server => None,
        }
    }

    /// Whether it is the server itself, or another process of it.
    pub(crate) fn is_server(&self) -> bool {
        self.credential == Credential::Server
    }

    /// Whether its rights are those of this generation.
    #[inline]
    pub(crate) fn is_of(&self, generation: u64) -> bool {
        self.generation == Some(generation) || self.credential == Credential::Server
    }

    /// Whether it has not said who it is, although it has to.
    pub(crate) fn is_stranger(&self, access: &Access) -> bool {
        self.credential == Credential::None && access.is_guarded()
    }

    /// Looks again at what it may do.
    ///
    /// # Errors
    /// It may do nothing: it has to show a key, or the one that it has shown is over.
    pub(crate) fn renew(
        &mut self,
        (access, meters): (&Access, &QuotaMeters),
        now: Timestamp,
    ) -> Result<(), NotPermitted> {
        if self.credential == Credential::Server {
            return Ok(());
        }
        self.meter = meters.limited(&self.principal);
        let is_known = match &self.credential {
            Credential::None => false,
            Credential::Key(key) => access.is_live(now, *key),
            Credential::Certificate(name) => {
                access.principal_of_certificate(name) == Some(self.principal)
            }
            Credential::Named | Credential::Server => true,
        };
        let known = || {
            is_known
                .then(|| access.rights_of(&self.principal))
                .flatten()
        };
        let rights = if access.is_guarded() {
            let denied = match self.credential {
                Credential::None => NotPermitted::NotLoggedIn,
                _ => NotPermitted::LoggedOut,
            };
            known().ok_or(denied)
        } else {
            Ok(Rights::everything())
        };
        self.generation = rights.is_ok().then(|| access.generation());
        let rights = rights.inspect_err(|_denied| self.rights = Rights::nothing())?;
        self.rights = rights;
        Ok(())
    }
}
