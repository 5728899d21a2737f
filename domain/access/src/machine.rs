//! The machine: what becomes of every command.

mod keys;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use turnstile_chassis::Served;
use turnstile_types::{
    Context, Effect, Machine, Malformed, Name, Position, Principal, Reader, Sink, Timestamp,
};

use crate::{
    Access, AccessQuota, AccessRole, Answer, CertificateSubject, Command, Done, Event, EventKind,
    GrantedNames, KeyId, KeyState, Outcome, Query, Refusal, Rights, Totals, check, limits, queries,
    snapshot,
    state::{Member, count},
};

impl Machine for Access {
    type Command<'a> = Command;
    type Outcome = Outcome;
    type Query = Query;
    type Answer = Answer;
    type Event = Event;

    const SERVICE: u8 = 6;

    fn empty() -> Self {
        Self::new()
    }

    fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.sweep(context);
        self.decide(context, command).into()
    }

    fn effect_of(outcome: &Outcome) -> Effect {
        outcome.effect()
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        let first = self.register.deadlines.first();
        first.map(|&(deadline, _)| deadline)
    }

    fn tick(&mut self, context: &Context<'_>) {
        self.sweep(context);
    }

    fn query(&self, _now: Timestamp, principal: &Principal, query: &Query) -> Answer {
        queries::answer(self, principal, query).unwrap_or_else(Answer::Refused)
    }

    fn drain_events(&mut self, take: &mut dyn FnMut(Event)) {
        self.events.drain(take);
    }

    turnstile_chassis::declared_bytes!();

    fn snapshot(&self, out: &mut dyn Sink) {
        snapshot::write(self, out);
    }

    fn restore_from(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        snapshot::read(reader)
    }

    fn place_of(event: &Event) -> (Position, u32) {
        (event.position, event.ordinal)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        check::examine(self)
    }
}

impl Served for Access {
    const NAME: &'static str = "access";
    const ABOUT: &'static str = "Who may do what: principals, keys, roles, quotas";

    type Totals = Totals;

    fn is_new(&self) -> bool {
        self.is_new()
    }

    fn standing(&self) -> Vec<(u64, String)> {
        let totals = self.totals();
        vec![
            (totals.principals, "principals are known".to_owned()),
            (totals.keys, "keys are live".to_owned()),
        ]
    }
}

/// What an event is about, beside the principal.
#[derive(Default)]
struct About {
    role: Option<AccessRole>,
    key: Option<KeyId>,
    subject: Option<CertificateSubject>,
}

impl About {
    fn key(key: KeyId) -> Self {
        Self {
            key: Some(key),
            ..Self::default()
        }
    }

    fn role(role: AccessRole) -> Self {
        Self {
            role: Some(role),
            ..Self::default()
        }
    }

    fn subject(subject: &CertificateSubject) -> Self {
        Self {
            subject: Some(subject.clone()),
            ..Self::default()
        }
    }
}

impl Access {
    fn decide(&mut self, context: &Context<'_>, command: &Command) -> Result<Done, Refusal> {
        match command {
            Command::AddPrincipal { principal } => self.add_principal(context, *principal),
            Command::RemovePrincipal { principal } => self.remove_principal(context, *principal),
            Command::Grant {
                principal,
                role,
                only,
            } => self.grant(context, *principal, *role, only),
            Command::WithdrawGrant { principal, role } => {
                self.withdraw_grant(context, *principal, *role)
            }
            Command::AddKey {
                principal,
                key,
                digest,
                name,
                expires,
            } => {
                let state = KeyState::Live { expires: *expires };
                self.add_key(context, *key, *principal, (*digest, *name, state))
            }
            Command::ExpireKey { key, at } => self.expire_key(context, *key, *at),
            Command::RevokeKey { key } => self.revoke_key(context, *key),
            Command::SetQuota { principal, quota } => self.set_quota(context, *principal, *quota),
            Command::SetDefaultQuota { quota } => {
                self.change().default_quota = *quota;
                self.tell(context, EventKind::DefaultQuotaSet, None, About::default());
                Ok(Done::QuotaSet)
            }
            Command::AddCertificate { principal, subject } => {
                self.add_certificate(context, *principal, subject)
            }
            Command::RemoveCertificate { subject } => self.remove_certificate(context, subject),
            Command::NoteUse { key } => {
                self.register.live_key(*key)?;
                Arc::make_mut(&mut self.uses).insert(*key, context.now);
                Ok(Done::UseNoted)
            }
        }
    }

    fn add_principal(&mut self, context: &Context<'_>, name: Name) -> Result<Done, Refusal> {
        let principal = Principal(name);
        if self.register.principals.contains_key(&principal) {
            return Err(Refusal::PrincipalExists);
        }
        let limit = limits::PRINCIPALS_MAX;
        if self.register.totals.principals >= u64::from(limit) {
            return Err(Refusal::TooManyPrincipals { limit });
        }
        let member = Member {
            grants: BTreeMap::new(),
            rights: Arc::default(),
            keys: BTreeSet::new(),
            certificates: BTreeSet::new(),
            quota: AccessQuota::NONE,
            since: context.now,
            added: context.position,
            changed: context.position,
        };
        self.change().admit(principal, member);
        self.tell(
            context,
            EventKind::PrincipalAdded,
            Some(principal),
            About::default(),
        );
        Ok(Done::PrincipalAdded)
    }

    fn remove_principal(&mut self, context: &Context<'_>, name: Name) -> Result<Done, Refusal> {
        let principal = Principal(name);
        let member = self.register.member(&principal)?;
        let (keys, certificates) = (member.keys.clone(), member.certificates.clone());
        self.keep_administrators(|of, _, expires| (of != principal).then_some(expires))?;
        let register = self.change();
        let before = register.totals.keys;
        for key in &keys {
            register.forget_key(*key);
        }
        let ended = before - register.totals.keys;
        register.totals.keys_revoked_total += ended;
        for subject in &certificates {
            register.drop_certificate(subject);
        }
        register.dismiss(&principal);
        self.forget_uses(keys.iter());
        self.tell(
            context,
            EventKind::PrincipalRemoved,
            Some(principal),
            About::default(),
        );
        Ok(Done::PrincipalRemoved {
            keys: u32::try_from(ended).unwrap_or(u32::MAX),
        })
    }

    fn grant(
        &mut self,
        context: &Context<'_>,
        name: Name,
        role: AccessRole,
        only: &GrantedNames,
    ) -> Result<Done, Refusal> {
        let principal = Principal(name);
        let member = self.register.member(&principal)?;
        if role.of_service().is_none() && !only.are_all() {
            return Err(Refusal::RoleTakesNoNames);
        }
        let mut grants = member.grants.clone();
        grants.insert(role, only.clone());
        self.set_grants(context, principal, grants)?;
        self.tell(
            context,
            EventKind::Granted,
            Some(principal),
            About::role(role),
        );
        Ok(Done::Granted)
    }

    fn withdraw_grant(
        &mut self,
        context: &Context<'_>,
        name: Name,
        role: AccessRole,
    ) -> Result<Done, Refusal> {
        let principal = Principal(name);
        let mut grants = self.register.member(&principal)?.grants.clone();
        grants.remove(&role).ok_or(Refusal::NotGranted)?;
        if role == AccessRole::Admin {
            self.keep_administrators(|of, _, expires| (of != principal).then_some(expires))?;
        }
        self.set_grants(context, principal, grants)?;
        self.tell(
            context,
            EventKind::GrantWithdrawn,
            Some(principal),
            About::role(role),
        );
        Ok(Done::GrantWithdrawn)
    }

    fn set_grants(
        &mut self,
        context: &Context<'_>,
        principal: Principal,
        grants: BTreeMap<AccessRole, GrantedNames>,
    ) -> Result<(), Refusal> {
        let register = self.change();
        let member = register.member_mut(&principal, context.position)?;
        let (before, after) = (count(member.grants.len()), count(grants.len()));
        member.rights = Rights::of(grants.iter());
        member.grants = grants;
        register.totals.grants = register.totals.grants - before + after;
        Ok(())
    }

    fn set_quota(
        &mut self,
        context: &Context<'_>,
        name: Name,
        quota: AccessQuota,
    ) -> Result<Done, Refusal> {
        let principal = Principal(name);
        self.register.member(&principal)?;
        let member = self.change().member_mut(&principal, context.position)?;
        member.quota = quota;
        self.tell(
            context,
            EventKind::QuotaSet,
            Some(principal),
            About::default(),
        );
        Ok(Done::QuotaSet)
    }

    fn add_certificate(
        &mut self,
        context: &Context<'_>,
        name: Name,
        subject: &CertificateSubject,
    ) -> Result<Done, Refusal> {
        let principal = Principal(name);
        let member = self.register.member(&principal)?;
        if self.register.certificates.contains_key(subject) {
            return Err(Refusal::CertificateExists);
        }
        let limit = limits::CERTIFICATES_PER_PRINCIPAL_MAX;
        if member.certificates.len() >= limit as usize {
            return Err(Refusal::TooManyCertificates { limit });
        }
        let limit = limits::CERTIFICATES_MAX;
        if self.register.certificates.len() >= limit as usize {
            return Err(Refusal::TooManyCertificates { limit });
        }
        let register = self.change();
        let member = register.member_mut(&principal, context.position)?;
        member.certificates.insert(subject.clone());
        register.take_certificate(subject.clone(), principal);
        let about = About::subject(subject);
        self.tell(context, EventKind::CertificateAdded, Some(principal), about);
        Ok(Done::CertificateAdded)
    }

    fn remove_certificate(
        &mut self,
        context: &Context<'_>,
        subject: &CertificateSubject,
    ) -> Result<Done, Refusal> {
        if !self.register.certificates.contains_key(subject) {
            return Err(Refusal::UnknownCertificate);
        }
        let register = self.change();
        let principal = register.drop_certificate(subject);
        let principal = principal.ok_or(Refusal::UnknownCertificate)?;
        let member = register.member_mut(&principal, context.position)?;
        member.certificates.remove(subject);
        let about = About::subject(subject);
        self.tell(
            context,
            EventKind::CertificateRemoved,
            Some(principal),
            about,
        );
        Ok(Done::CertificateRemoved)
    }

    fn tell(
        &mut self,
        context: &Context<'_>,
        kind: EventKind,
        principal: Option<Principal>,
        about: About,
    ) {
        self.put(context, Some(*context.principal), kind, principal, about);
    }

    /// Adds an event; each is a change of who may do what.
    fn put(
        &mut self,
        context: &Context<'_>,
        by: Option<Principal>,
        kind: EventKind,
        principal: Option<Principal>,
        about: About,
    ) {
        self.generation += 1;
        self.events.put(context.position, |ordinal| Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
            by,
            principal,
            role: about.role,
            key: about.key,
            subject: about.subject,
        });
    }
}
