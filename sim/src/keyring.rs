//! An independent model of keys: one that was revoked or has expired opens nothing any more, and every
//! other does, after each recovery too.

use std::collections::BTreeMap;

use turnstile_services::access::{
    Access, Command, Done, Event, KeyId, Outcome, SecretKey, limits::ENDED_KEY_KEPT_MS,
};
use turnstile_types::{Name, Position, Timestamp};

use crate::actors::RulesModel;

/// Keys of the simulated world, so few that most commands are about one that was given.
pub(crate) const KEYS: u64 = 24;

pub(crate) fn key(number: u64) -> SecretKey {
    let random = (number << 8).to_be_bytes();
    let key = SecretKey::new("sim", random, [7; 32]);
    key.expect("`sim` names an environment")
}

/// Every key of the simulated world, and what is known of those that were given.
#[derive(Debug)]
pub(crate) struct Keyring {
    all: Vec<SecretKey>,
    given: BTreeMap<KeyId, GivenKey>,
}

#[derive(Debug)]
struct GivenKey {
    principal: Name,
    expires: Option<Timestamp>,
    revoked: Option<Timestamp>,
}

impl GivenKey {
    fn ended(&self, now: Timestamp) -> Option<Timestamp> {
        let expired = self.expires.filter(|expires| *expires <= now);
        self.revoked.or(expired)
    }
}

impl Default for Keyring {
    fn default() -> Self {
        Self {
            all: (0..=KEYS).map(key).collect(),
            given: BTreeMap::new(),
        }
    }
}

impl RulesModel<Access> for Keyring {
    fn show(
        &mut self,
        (_position, now): (Position, Timestamp),
        asked: Option<(&Command, &Outcome)>,
        _events: &[Event],
    ) -> Result<(), String> {
        let Some((command, Outcome::Done(done))) = asked else {
            return Ok(());
        };
        match (command, done) {
            (
                Command::AddKey {
                    principal,
                    key,
                    expires,
                    ..
                },
                _,
            ) => return self.give(now, *key, *principal, *expires),
            (Command::RevokeKey { key }, _) => self.end(*key, |given| given.revoked = Some(now)),
            (Command::ExpireKey { key, at }, Done::KeyExpires { .. }) => {
                self.end(*key, |given| given.expires = Some(*at));
            }
            (Command::ExpireKey { key, .. }, _) => {
                self.end(*key, |given| given.expires = Some(now));
            }
            (Command::RemovePrincipal { principal }, _) => {
                self.given.retain(|_, given| given.principal != *principal);
            }
            _ => {}
        }
        Ok(())
    }

    fn agrees(&self, now: Timestamp, access: &Access) -> Result<(), String> {
        for key in &self.all {
            let given = self.given.get(&key.id());
            let is_live = given.is_some_and(|given| given.ended(now).is_none());
            let found = access.authenticate(now, key);
            if found.is_ok() != is_live {
                return Err(format!("{given:?} is answered {found:?}"));
            }
        }
        Ok(())
    }
}

impl Keyring {
    /// A key that has ended is not given again, while it is known that it has.
    fn give(
        &mut self,
        now: Timestamp,
        key: KeyId,
        principal: Name,
        expires: Option<Timestamp>,
    ) -> Result<(), String> {
        let earlier = self.given.get(&key);
        let ended = earlier.and_then(|earlier| earlier.ended(now));
        if ended.is_some_and(|ended| now.ms_since(ended) < ENDED_KEY_KEPT_MS) {
            return Err(format!("{key} ended at {ended:?}, and is given again"));
        }
        let given = GivenKey {
            principal,
            expires,
            revoked: None,
        };
        self.given.insert(key, given);
        Ok(())
    }

    fn end(&mut self, key: KeyId, change: impl FnOnce(&mut GivenKey)) {
        if let Some(given) = self.given.get_mut(&key) {
            change(given);
        }
    }
}
