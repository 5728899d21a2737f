//! What a request may touch, where only a database knows what a reference names.

use turnstile_access::{MissingRight, NamePattern, Rights};
use turnstile_chassis::{Needed, Right, Subject, SubjectOf};
use turnstile_types::{Name, Principal};

use crate::Failure;

/// The bookings, holds and orders that a request may name.
///
/// The server knows its callers, and the database knows whose hold a reference names, and of which
/// property. So the server sends what its caller may, and the database judges that in the same step
/// in which it decides: a look before the command would miss a hold that is made in between, and
/// references can be guessed. A query is judged by what its answer shows, which was read in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(
    /// Nothing: it may name all.
    Option<Box<ScopeLimits>>,
);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ScopeLimits {
    service: u8,
    right: Right,
    /// The properties of what the caller may name, if it holds that itself.
    own: Vec<NamePattern>,
    /// The same of what others hold.
    others: Vec<NamePattern>,
}

/// Why a request is outside its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfScope {
    /// It names what is of another property, or nothing that is there.
    Names,
    /// It names what another principal holds.
    Holder,
}

impl Scope {
    /// Everything.
    pub const EVERYTHING: Self = Self(None);

    /// What a caller with these rights may name in a request that needs this.
    ///
    /// # Errors
    /// The right is missing for all names.
    pub fn of(rights: &Rights, service: u8, needed: Needed) -> Result<Self, MissingRight> {
        if needed.is_met(|right| rights.has_all(service, right)) {
            return Ok(Self::EVERYTHING);
        }
        let right = needed.right;
        let own = rights.names_with(service, right);
        if own.is_empty() {
            return Err(MissingRight::Right { service, right });
        }
        let others = if needed.of_holder {
            Right::Manage
        } else {
            right
        };
        Ok(Self(Some(Box::new(ScopeLimits {
            service,
            right,
            own,
            others: rights.names_with(service, others),
        }))))
    }

    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// The patterns of names within which a caller may name what it holds itself and what others
    /// hold: `hotel-1 acme:*`, `*` for all, nothing for none.
    #[must_use]
    pub fn patterns(&self) -> [String; 2] {
        let text = |patterns: &Vec<NamePattern>| {
            let texts: Vec<String> = patterns.iter().map(NamePattern::to_string).collect();
            texts.join(" ")
        };
        match &self.0 {
            None => ["*".to_owned(), "*".to_owned()],
            Some(limits) => [text(&limits.own), text(&limits.others)],
        }
    }

    /// Judges a command by the property and the holder of what it names; nothing where that is not
    /// there, or has ended. The holder of a booking is who booked or held it.
    ///
    /// # Errors
    /// It is outside.
    pub fn judge(
        &self,
        caller: &Principal,
        named: Option<(&Name, &Principal)>,
    ) -> Result<(), OutOfScope> {
        let Some(limits) = &self.0 else {
            return Ok(());
        };
        let Some((property, holder)) = named else {
            // As if it belonged to others: a limited caller learns nothing about their references.
            let may_name_all = limits.own.contains(&NamePattern::ALL);
            return may_name_all.then_some(()).ok_or(OutOfScope::Names);
        };
        let covers = |patterns: &[NamePattern]| patterns.iter().any(|one| one.matches(property));
        if !covers(&limits.own) {
            return Err(OutOfScope::Names);
        }
        if holder != caller && !covers(&limits.others) {
            return Err(OutOfScope::Holder);
        }
        Ok(())
    }

    /// Judges a query by what its answer is about.
    ///
    /// # Errors
    /// It is outside, as it is where the answer does not say what it is about.
    pub fn judge_subject(&self, caller: &Principal, subject: &Subject) -> Result<(), OutOfScope> {
        match subject {
            Subject::Things { names, holder } => {
                let holder = holder.as_ref().unwrap_or(caller);
                let mut names = names.iter().flatten();
                names.try_for_each(|name| self.judge(caller, Some((name, holder))))
            }
            Subject::Caller | Subject::Public => Ok(()),
            Subject::All | Subject::AllHeldBy(_) | Subject::Unknown => self.judge(caller, None),
        }
    }

    /// Asserts that a caller may be told this answer.
    ///
    /// # Errors
    /// It shows what is outside of the scope.
    pub fn admit_answer<M: SubjectOf>(
        &self,
        caller: &Principal,
        (query, answer): (&M::Query, &M::Answer),
    ) -> Result<(), Failure> {
        if self.is_everything() {
            return Ok(());
        }
        let judged = self.judge_subject(caller, &M::subject_of_answer(query, answer));
        judged.map_err(|why| self.refusal(why))
    }

    /// What is answered to a request outside of this scope.
    #[must_use]
    pub fn refusal(&self, why: OutOfScope) -> Failure {
        let Some(limits) = &self.0 else {
            let reason = "it refuses what may name everything".to_owned();
            return Failure::Broken { reason };
        };
        let (service, right) = (limits.service, limits.right);
        Failure::Forbidden(match why {
            OutOfScope::Names => MissingRight::Named { service, right },
            OutOfScope::Holder => MissingRight::Held { service },
        })
    }
}
