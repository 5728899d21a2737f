//! The machine once more, as simple as can be: lists that are searched from end to end, names as text, and
//! nothing that is kept twice.

mod permission;

use turnstile_access::{
    AccessQuota, AccessRole, Answer, CertificateSubject, Command, Cursor, Done, Event, EventKind,
    GrantEntry, GrantedNames, KeyDigest, KeyEntry, KeyId, KeyState, NotAuthenticated, Outcome,
    PrincipalEntry, Query, Refusal, SecretKey, Totals,
};
use turnstile_types::{Context, Name, Principal, Timestamp};

pub(crate) use permission::is_permitted;

/// Thirty days.
const KEPT_MS: u64 = 2_592_000_000;

#[derive(Debug, Default)]
pub(crate) struct Twin {
    principals: Vec<TwinPrincipal>,
    keys: Vec<TwinKey>,
    default_quota: AccessQuota,
    pub(crate) events: Vec<Event>,
    added: u64,
    expired: u64,
    revoked: u64,
}

/// In the order in which they were added, as all lists here.
#[derive(Debug)]
struct TwinPrincipal {
    /// Its keys are not counted here.
    entry: PrincipalEntry,
    added: u64,
}

#[derive(Debug)]
struct TwinKey {
    entry: KeyEntry,
    digest: KeyDigest,
    added: u64,
}

impl TwinKey {
    fn expires(&self) -> Option<Option<Timestamp>> {
        match self.entry.state {
            KeyState::Live { expires } => Some(expires),
            _ => None,
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        match self.entry.state {
            KeyState::Live { expires } => expires,
            KeyState::Expired { ended } | KeyState::Revoked { ended } => {
                Some(Timestamp(ended.0 + KEPT_MS))
            }
        }
    }
}

/// What an event is about, beside the principal.
type About<'a> = (
    Option<AccessRole>,
    Option<KeyId>,
    Option<&'a CertificateSubject>,
);

const NOTHING: About<'static> = (None, None, None);

type Decided = Result<Done, Refusal>;

impl Twin {
    pub(crate) fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.tick(context);
        self.decide(context, command).into()
    }

    fn decide(&mut self, context: &Context<'_>, command: &Command) -> Decided {
        match command {
            Command::AddPrincipal { principal } => self.add_principal(context, *principal),
            Command::RemovePrincipal { principal } => self.remove_principal(context, *principal),
            Command::Grant {
                principal,
                role,
                only,
            } => self.grant(context, *principal, *role, only),
            Command::WithdrawGrant { principal, role } => self.withdraw(context, *principal, *role),
            Command::AddKey {
                principal,
                key,
                digest,
                name,
                expires,
            } => self.add_key(context, *principal, (*key, *digest, *name, *expires)),
            Command::ExpireKey { key, at } => self.expire_key(context, *key, *at),
            Command::RevokeKey { key } => self.revoke_key(context, *key),
            Command::SetQuota { principal, quota } => {
                let place = self.find(*principal)?;
                self.principals[place].entry.quota = *quota;
                self.principals[place].entry.position = context.position;
                let of = Some(Principal(*principal));
                self.tell(context, EventKind::QuotaSet, of, NOTHING);
                Ok(Done::QuotaSet)
            }
            Command::SetDefaultQuota { quota } => {
                self.default_quota = *quota;
                self.tell(context, EventKind::DefaultQuotaSet, None, NOTHING);
                Ok(Done::QuotaSet)
            }
            Command::AddCertificate { principal, subject } => {
                self.add_certificate(context, *principal, subject)
            }
            Command::RemoveCertificate { subject } => self.remove_certificate(context, subject),
            Command::NoteUse { key } => {
                let place = self.live(*key)?;
                self.keys[place].entry.last_used = Some(context.now);
                Ok(Done::UseNoted)
            }
        }
    }

    fn add_principal(&mut self, context: &Context<'_>, name: Name) -> Decided {
        if self.find(name).is_ok() {
            return Err(Refusal::PrincipalExists);
        }
        let entry = PrincipalEntry {
            principal: Principal(name),
            grants: Vec::new(),
            keys: 0,
            certificates: Vec::new(),
            quota: AccessQuota::NONE,
            since: context.now,
            position: context.position,
        };
        self.principals.push(TwinPrincipal {
            entry,
            added: context.position.0,
        });
        self.tell(
            context,
            EventKind::PrincipalAdded,
            Some(Principal(name)),
            NOTHING,
        );
        Ok(Done::PrincipalAdded)
    }

    fn remove_principal(&mut self, context: &Context<'_>, name: Name) -> Decided {
        let place = self.find(name)?;
        let own = self.keys.iter().filter(|key| key.entry.principal.0 == name);
        let live = own.filter(|key| key.expires().is_some()).count();
        self.stays_administered(|twin| {
            twin.principals.remove(place);
            twin.keys.retain(|key| key.entry.principal.0 != name);
        })?;
        self.revoked += live as u64;
        self.tell(
            context,
            EventKind::PrincipalRemoved,
            Some(Principal(name)),
            NOTHING,
        );
        Ok(Done::PrincipalRemoved {
            keys: u32::try_from(live).unwrap(),
        })
    }

    fn grant(
        &mut self,
        context: &Context<'_>,
        name: Name,
        role: AccessRole,
        only: &GrantedNames,
    ) -> Decided {
        let place = self.find(name)?;
        let only = only.patterns().to_vec();
        let is_limited = only.iter().all(|pattern| pattern.to_string() != "*");
        if is_limited && !role.code().contains('.') {
            return Err(Refusal::RoleTakesNoNames);
        }
        let entry = &mut self.principals[place].entry;
        entry.grants.retain(|grant| grant.role != role);
        entry.grants.push(GrantEntry { role, only });
        // Roles have an order: that of their words in the declaration.
        let at = |grant: &GrantEntry| {
            AccessRole::WORDS
                .iter()
                .position(|word| *word == grant.role.code())
        };
        entry.grants.sort_by_key(at);
        entry.position = context.position;
        let about = (Some(role), None, None);
        self.tell(context, EventKind::Granted, Some(Principal(name)), about);
        Ok(Done::Granted)
    }

    fn withdraw(&mut self, context: &Context<'_>, name: Name, role: AccessRole) -> Decided {
        let place = self.find(name)?;
        let mut grants = self.principals[place].entry.grants.iter();
        if grants.all(|grant| grant.role != role) {
            return Err(Refusal::NotGranted);
        }
        self.stays_administered(|twin| {
            let entry = &mut twin.principals[place].entry;
            entry.grants.retain(|grant| grant.role != role);
            entry.position = context.position;
        })?;
        let about = (Some(role), None, None);
        self.tell(
            context,
            EventKind::GrantWithdrawn,
            Some(Principal(name)),
            about,
        );
        Ok(Done::GrantWithdrawn)
    }

    fn add_key(
        &mut self,
        context: &Context<'_>,
        of: Name,
        (id, digest, name, expires): (KeyId, KeyDigest, Option<Name>, Option<Timestamp>),
    ) -> Decided {
        let place = self.find(of)?;
        if let Some(known) = self.keys.iter().find(|known| known.entry.key == id) {
            let is_same = known.digest.hex() == digest.hex()
                && known.entry.principal.0 == of
                && known.entry.name == name
                && known.expires() == Some(expires);
            return if is_same {
                Ok(Done::KeyAdded)
            } else {
                Err(Refusal::KeyExists)
            };
        }
        if expires.is_some_and(|expires| expires.0 <= context.now.0) {
            return Err(Refusal::ExpiresInThePast);
        }
        if self.added == 0 && !is_admin(&self.principals[place].entry) {
            return Err(Refusal::FirstKeyNotAdmin);
        }
        let entry = KeyEntry {
            key: id,
            principal: Principal(of),
            name,
            state: KeyState::Live { expires },
            since: context.now,
            last_used: None,
        };
        self.added += 1;
        self.keys.push(TwinKey {
            entry,
            digest,
            added: context.position.0,
        });
        self.tell(
            context,
            EventKind::KeyAdded,
            Some(Principal(of)),
            (None, Some(id), None),
        );
        Ok(Done::KeyAdded)
    }

    fn expire_key(&mut self, context: &Context<'_>, id: KeyId, at: Timestamp) -> Decided {
        let place = self.live(id)?;
        let is_over = at.0 <= context.now.0;
        let state = if is_over {
            KeyState::Expired { ended: context.now }
        } else {
            KeyState::Live { expires: Some(at) }
        };
        self.stays_administered(|twin| twin.keys[place].entry.state = state)?;
        let of = Some(self.keys[place].entry.principal);
        let about = (None, Some(id), None);
        if is_over {
            self.expired += 1;
            self.tell(context, EventKind::KeyExpired, of, about);
            return Ok(Done::KeyExpired);
        }
        self.tell(context, EventKind::ExpiryChanged, of, about);
        Ok(Done::KeyExpires { expires: at })
    }

    fn revoke_key(&mut self, context: &Context<'_>, id: KeyId) -> Decided {
        let place = self.live(id)?;
        let ended = context.now;
        self.stays_administered(|twin| {
            twin.keys[place].entry.state = KeyState::Revoked { ended };
        })?;
        self.revoked += 1;
        let of = Some(self.keys[place].entry.principal);
        let about = (None, Some(id), None);
        self.tell(context, EventKind::KeyRevoked, of, about);
        Ok(Done::KeyRevoked)
    }

    fn add_certificate(
        &mut self,
        context: &Context<'_>,
        name: Name,
        subject: &CertificateSubject,
    ) -> Decided {
        let place = self.find(name)?;
        if self.principal_of_certificate(subject).is_some() {
            return Err(Refusal::CertificateExists);
        }
        let entry = &mut self.principals[place].entry;
        entry.certificates.push(subject.clone());
        entry.certificates.sort();
        entry.position = context.position;
        let about = (None, None, Some(subject));
        self.tell(
            context,
            EventKind::CertificateAdded,
            Some(Principal(name)),
            about,
        );
        Ok(Done::CertificateAdded)
    }

    fn remove_certificate(
        &mut self,
        context: &Context<'_>,
        subject: &CertificateSubject,
    ) -> Decided {
        let of = self.principal_of_certificate(subject);
        let of = of.ok_or(Refusal::UnknownCertificate)?;
        let place = self.find(of.0)?;
        let entry = &mut self.principals[place].entry;
        entry.certificates.retain(|one| one != subject);
        entry.position = context.position;
        let about = (None, None, Some(subject));
        self.tell(context, EventKind::CertificateRemoved, Some(of), about);
        Ok(Done::CertificateRemoved)
    }

    pub(crate) fn tick(&mut self, context: &Context<'_>) {
        loop {
            let due = self.keys.iter().enumerate().filter_map(|(place, key)| {
                let deadline = key.deadline().filter(|deadline| *deadline <= context.now)?;
                Some((deadline, key.entry.key, place))
            });
            let Some((ended, id, place)) = due.min() else {
                return;
            };
            if self.keys[place].expires().is_none() {
                self.keys.remove(place);
                continue;
            }
            self.keys[place].entry.state = KeyState::Expired { ended };
            self.expired += 1;
            let of = Some(self.keys[place].entry.principal);
            self.tell(context, EventKind::KeyExpired, of, (None, Some(id), None));
            self.events.last_mut().unwrap().by = None;
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        self.keys.iter().filter_map(TwinKey::deadline).min()
    }

    /// Changes something, unless nobody could administer the server after it, or no more for ever.
    fn stays_administered(&mut self, change: impl FnOnce(&mut Self)) -> Result<(), Refusal> {
        let count = |twin: &Self| {
            let of_admins = twin.keys.iter().filter(|key| {
                let of = key.entry.principal.0;
                twin.find(of)
                    .is_ok_and(|place| is_admin(&twin.principals[place].entry))
            });
            let expiries: Vec<_> = of_admins.filter_map(TwinKey::expires).collect();
            let lasting = expiries.iter().filter(|expires| expires.is_none()).count();
            (expiries.len(), lasting)
        };
        let before = count(self);
        let mut changed = Self {
            principals: self.principals.iter().map(TwinPrincipal::copy).collect(),
            keys: self.keys.iter().map(TwinKey::copy).collect(),
            ..Self::default()
        };
        change(&mut changed);
        let after = count(&changed);
        let is_lost = |(before, after)| before > 0 && after == 0;
        if is_lost((before.0, after.0)) || is_lost((before.1, after.1)) {
            return Err(Refusal::LastAdministrator);
        }
        self.principals = changed.principals;
        self.keys = changed.keys;
        Ok(())
    }

    fn find(&self, name: Name) -> Result<usize, Refusal> {
        let mut all = self.principals.iter();
        let found = all.position(|one| one.entry.principal.0 == name);
        found.ok_or(Refusal::UnknownPrincipal)
    }

    fn live(&self, id: KeyId) -> Result<usize, Refusal> {
        let place = self.keys.iter().position(|key| key.entry.key == id);
        let place = place.ok_or(Refusal::UnknownKey)?;
        match self.keys[place].expires() {
            Some(_) => Ok(place),
            None => Err(Refusal::KeyEnded),
        }
    }

    pub(crate) fn principal_of_certificate(
        &self,
        subject: &CertificateSubject,
    ) -> Option<Principal> {
        let mut all = self.principals.iter();
        let found = all.find(|one| one.entry.certificates.contains(subject));
        found.map(|one| one.entry.principal)
    }

    fn tell(
        &mut self,
        context: &Context<'_>,
        kind: EventKind,
        principal: Option<Principal>,
        (role, key, subject): About<'_>,
    ) {
        let own = self
            .events
            .iter()
            .filter(|event| event.position == context.position);
        let ordinal = u32::try_from(own.count()).unwrap();
        self.events.push(Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
            by: Some(*context.principal),
            principal,
            role,
            key,
            subject: subject.cloned(),
        });
    }

    pub(crate) fn authenticate(
        &self,
        now: Timestamp,
        shown: &SecretKey,
    ) -> Result<(Principal, Option<Timestamp>), NotAuthenticated> {
        let same = |key: &&TwinKey| {
            key.entry.key == shown.id() && key.digest.hex() == shown.digest().hex()
        };
        let found = self.keys.iter().find(same).ok_or(NotAuthenticated::Wrong)?;
        match found.entry.state {
            KeyState::Revoked { ended: at } => Err(NotAuthenticated::Revoked { at }),
            KeyState::Expired { ended: at } => Err(NotAuthenticated::Expired { at }),
            KeyState::Live { expires: Some(at) } if at.0 <= now.0 => {
                Err(NotAuthenticated::Expired { at })
            }
            KeyState::Live { expires } => Ok((found.entry.principal, expires)),
        }
    }

    pub(crate) fn grants(&self, name: Name) -> Option<&[GrantEntry]> {
        Some(&self.principals[self.find(name).ok()?].entry.grants)
    }

    pub(crate) fn quota(&self, name: Name) -> Option<AccessQuota> {
        Some(
            self.principals[self.find(name).ok()?]
                .entry
                .quota
                .or(self.default_quota),
        )
    }

    pub(crate) fn query(&self, caller: &Principal, query: &Query) -> Answer {
        self.answer(caller, query).unwrap_or_else(Answer::Refused)
    }

    fn answer(&self, caller: &Principal, query: &Query) -> Result<Answer, Refusal> {
        Ok(match *query {
            Query::WhoAmI => {
                let everything = [GrantEntry {
                    role: AccessRole::Admin,
                    only: GrantedNames::all().patterns().to_vec(),
                }];
                let guarded = self.added > 0;
                let own = self.grants(caller.0).unwrap_or_default();
                let grants = if guarded { own } else { &everything };
                Answer::Caller {
                    principal: *caller,
                    guarded,
                    grants: grants.to_vec(),
                }
            }
            Query::GetPrincipal { principal } => {
                let place = self.find(principal)?;
                Answer::Principal(Box::new(self.shown(&self.principals[place])))
            }
            Query::Principals { cursor, limit } => {
                let all = self
                    .principals
                    .iter()
                    .map(|one| (one.added, self.shown(one)));
                let (principals, next) = page(all.collect(), cursor, limit);
                Answer::Principals { principals, next }
            }
            Query::Keys {
                principal,
                cursor,
                limit,
            } => {
                principal.map_or(Ok(0), |principal| self.find(principal))?;
                let is_asked = |key: &&TwinKey| {
                    principal.is_none_or(|principal| key.entry.principal.0 == principal)
                };
                let all = self.keys.iter().filter(is_asked);
                let all = all.map(|key| (key.added, key.entry.clone()));
                let (keys, next) = page(all.collect(), cursor, limit);
                Answer::Keys { keys, next }
            }
            Query::DefaultQuota => Answer::Quota(self.default_quota),
            Query::Totals => Answer::Totals(self.totals()),
        })
    }

    fn shown(&self, one: &TwinPrincipal) -> PrincipalEntry {
        let own = self
            .keys
            .iter()
            .filter(|key| key.entry.principal == one.entry.principal);
        let live = own.filter(|key| key.expires().is_some());
        PrincipalEntry {
            keys: u32::try_from(live.count()).unwrap(),
            ..one.entry.clone()
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        let sum = |count: fn(&PrincipalEntry) -> usize| {
            let all = self.principals.iter();
            all.map(|one| count(&one.entry) as u64).sum()
        };
        let live = self
            .keys
            .iter()
            .filter(|key| key.expires().is_some())
            .count();
        Totals {
            principals: self.principals.len() as u64,
            grants: sum(|entry| entry.grants.len()),
            certificates: sum(|entry| entry.certificates.len()),
            keys: live as u64,
            keys_ended: (self.keys.len() - live) as u64,
            keys_added_total: self.added,
            keys_expired_total: self.expired,
            keys_revoked_total: self.revoked,
        }
    }
}

impl TwinPrincipal {
    fn copy(&self) -> Self {
        Self {
            entry: self.entry.clone(),
            ..*self
        }
    }
}

impl TwinKey {
    fn copy(&self) -> Self {
        Self {
            entry: self.entry.clone(),
            ..*self
        }
    }
}

fn is_admin(entry: &PrincipalEntry) -> bool {
    entry
        .grants
        .iter()
        .any(|grant| grant.role.code() == "admin")
}

fn page<T>(all: Vec<(u64, T)>, cursor: Option<Cursor>, limit: u16) -> (Vec<T>, Option<Cursor>) {
    let begin = cursor.map_or(0, |Cursor(last)| last);
    let mut rest: Vec<(u64, T)> = all
        .into_iter()
        .filter(|(added, _)| *added > begin)
        .collect();
    let limit = usize::from(limit);
    let is_last = rest.len() <= limit;
    rest.truncate(limit);
    let next = rest
        .last()
        .filter(|_| !is_last)
        .map(|(added, _)| Cursor(*added));
    (rest.into_iter().map(|(_, entry)| entry).collect(), next)
}
