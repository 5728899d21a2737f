//! What a principal may do: its grants, compiled for a look with every request.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use turnstile_chassis::{Right, Subject};
use turnstile_types::{Name, Principal};

use crate::{AccessRole, GrantedNames, NamePattern, SERVICES};

/// Services have the numbers below this.
const SERVICE_PLACES: usize = 8;

/// What a principal may do.
///
/// Denied is what no grant allows. Whoever has a stronger right of a service for some names has the
/// weaker ones for these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    may_operate: bool,
    may_administer: bool,
    /// By the numbers of services: a bit for each right that is held for all things of the service.
    all: [u8; SERVICE_PLACES],
    /// What is granted for some names only.
    limited: Vec<LimitedGrant>,
}

/// The rights of a service for some names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LimitedGrant {
    service: u8,
    /// The strongest.
    right: Right,
    only: GrantedNames,
}

/// Why a request is not allowed: the right that its caller lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingRight {
    /// The role operator or admin.
    Operate,
    /// The role admin.
    Administer,
    /// The right of the service, for anything at all.
    Right { service: u8, right: Right },
    /// The right for what the request is about: the caller has it for other names.
    Named { service: u8, right: Right },
    /// The right without limits: the request is about all names.
    Unlimited { service: u8, right: Right },
    /// Another principal holds it: only a manager may act for others.
    Held { service: u8 },
}

/// The bit of a right.
const fn bit(right: Right) -> u8 {
    match right {
        Right::Read => 1,
        Right::Use => 2,
        Right::Manage => 4,
    }
}

/// The bits of a right and of the weaker ones.
const fn bits_up_to(right: Right) -> u8 {
    bit(right) * 2 - 1
}

impl Rights {
    /// Every right, as the principal `local` has them while a server asks for no key.
    #[must_use]
    pub fn everything() -> Arc<Self> {
        static EVERYTHING: LazyLock<Arc<Rights>> = LazyLock::new(|| {
            Arc::new(Rights {
                may_operate: true,
                may_administer: true,
                all: [bits_up_to(Right::Manage); SERVICE_PLACES],
                ..Rights::default()
            })
        });
        Arc::clone(&EVERYTHING)
    }

    /// No right at all.
    #[must_use]
    pub fn nothing() -> Arc<Self> {
        static NOTHING: LazyLock<Arc<Rights>> = LazyLock::new(Arc::default);
        Arc::clone(&NOTHING)
    }

    /// The rights that come with roles.
    pub(crate) fn of<'a>(
        grants: impl Iterator<Item = (&'a AccessRole, &'a GrantedNames)>,
    ) -> Arc<Self> {
        let mut rights = Self::default();
        for (role, only) in grants {
            if *role == AccessRole::Admin {
                return Self::everything();
            }
            rights.add(*role, only);
        }
        Arc::new(rights)
    }

    fn add(&mut self, role: AccessRole, only: &GrantedNames) {
        self.may_operate |= role == AccessRole::Operator;
        if role == AccessRole::Reader {
            for (service, _) in business_services() {
                self.hold_all(service, bits_up_to(Right::Read));
            }
        }
        let Some((service, right)) = role.of_service() else {
            return;
        };
        if !only.are_all() {
            self.limited.push(LimitedGrant {
                service,
                right,
                only: only.clone(),
            });
            return;
        }
        self.hold_all(service, bits_up_to(right));
    }

    fn hold_all(&mut self, service: u8, bits: u8) {
        if let Some(all) = self.all.get_mut(usize::from(service)) {
            *all |= bits;
        }
    }

    /// Whether backups, metrics and the like are allowed.
    #[must_use]
    pub const fn may_operate(&self) -> bool {
        self.may_operate
    }

    /// Whether everything is allowed, such as to give rights to others.
    #[must_use]
    pub const fn may_administer(&self) -> bool {
        self.may_administer
    }

    /// Whether the right is held for all things of the service. One load and one mask.
    ///
    /// What another principal holds is used by managers only: `Needed::is_met` asks for that right.
    #[inline]
    #[must_use]
    pub fn has_all(&self, service: u8, right: Right) -> bool {
        let held = self.all.get(usize::from(service));
        held.is_some_and(|held| held & bit(right) != 0)
    }

    /// Whether the right is held for all things or for some.
    #[must_use]
    pub fn has_any(&self, service: u8, right: Right) -> bool {
        self.has_all(service, right) || self.limited(service, right).next().is_some()
    }

    /// The names for which a right is held; none where it is not.
    #[must_use]
    pub fn names_with(&self, service: u8, right: Right) -> Vec<NamePattern> {
        if self.has_all(service, right) {
            return vec![NamePattern::ALL];
        }
        let grants = self.limited(service, right);
        grants
            .flat_map(|grant| grant.only.patterns())
            .copied()
            .collect()
    }

    /// The grants of a right for some names.
    fn limited(&self, service: u8, right: Right) -> impl Iterator<Item = &LimitedGrant> {
        let grants = self.limited.iter();
        grants.filter(move |grant| grant.service == service && grant.right >= right)
    }

    /// Whether a request of this caller is allowed.
    ///
    /// # Errors
    /// The right that is missing. It does not tell whether a thing exists that others own.
    pub fn permits(
        &self,
        caller: &Principal,
        service: u8,
        right: Right,
        subject: &Subject,
    ) -> Result<(), MissingRight> {
        if *subject == Subject::Caller {
            return Ok(());
        }
        if !self.has_any(service, right) {
            return Err(MissingRight::Right { service, right });
        }
        let has_all = self.has_all(service, right);
        match subject {
            Subject::Caller | Subject::Public => Ok(()),
            Subject::Things { names, holder } => {
                if !self.covers(service, right, names) {
                    return Err(MissingRight::Named { service, right });
                }
                // What others hold may be read with its names, and used by managers of these. Where it has
                // none, it may be about anything.
                let is_of_another = holder.is_some_and(|holder| holder != *caller);
                let is_used = is_of_another && right >= Right::Use;
                let may_manage = match names {
                    [None, None] => self.has_all(service, Right::Manage),
                    names => self.covers(service, Right::Manage, names),
                };
                if is_used && !may_manage {
                    return Err(MissingRight::Held { service });
                }
                Ok(())
            }
            Subject::AllHeldBy(holder) if has_all => {
                let is_used = holder != caller && right >= Right::Use;
                if !is_used || self.has_all(service, Right::Manage) {
                    Ok(())
                } else {
                    Err(MissingRight::Held { service })
                }
            }
            Subject::All | Subject::Unknown if has_all => Ok(()),
            Subject::All | Subject::AllHeldBy(_) => Err(MissingRight::Unlimited { service, right }),
            // As if it belonged to others.
            Subject::Unknown => Err(MissingRight::Named { service, right }),
        }
    }

    /// Whether grants of the right cover each of the names.
    fn covers(&self, service: u8, right: Right, names: &[Option<Name>; 2]) -> bool {
        let mut grants = self.limited(service, right);
        let is_covered = |name| {
            self.limited(service, right)
                .any(|grant| grant.only.match_name(name))
        };
        self.has_all(service, right)
            || grants.next().is_some() && names.iter().flatten().all(is_covered)
    }
}

/// Those that sell something, and not the one that says who may do what.
fn business_services() -> impl Iterator<Item = (u8, &'static str)> {
    let services = SERVICES.into_iter();
    services.filter(|(_, name)| *name != "access")
}

impl MissingRight {
    /// The right by name: `operate`, `admin`, or the service and its right, as in `rooms.use`.
    #[must_use]
    pub fn name(&self) -> String {
        match *self {
            Self::Operate => "operate".to_owned(),
            Self::Administer => "admin".to_owned(),
            Self::Right { service, right }
            | Self::Named { service, right }
            | Self::Unlimited { service, right } => of_service(service, right),
            Self::Held { service } => of_service(service, Right::Manage),
        }
    }
}

fn of_service(service: u8, right: Right) -> String {
    let mut services = SERVICES.iter();
    let found = services.find(|(number, _)| *number == service);
    let name = found.map_or("unknown", |(_, name)| name);
    format!("{name}.{}", right.code())
}

impl fmt::Display for MissingRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Self::Operate | Self::Administer | Self::Right { .. } => {
                write!(f, "this needs the right {name}")
            }
            Self::Named { .. } => write!(f, "your right {name} is not for this"),
            Self::Unlimited { .. } => {
                write!(
                    f,
                    "this needs the right {name} for all names, yours is for some"
                )
            }
            Self::Held { .. } => {
                write!(f, "another principal holds it: this needs the right {name}")
            }
        }
    }
}

impl std::error::Error for MissingRight {}
