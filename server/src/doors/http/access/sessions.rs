//! Browser sessions: who is known again by the cookie of this door.

use std::collections::HashMap;

use turnstile_types::{Principal, Timestamp};

use super::{
    super::limits::{SESSION_AGE_MS, SESSION_REST_MS, SESSIONS, SESSIONS_OF_PRINCIPAL},
    token::{AccessToken, TokenDigest},
};

/// One browser that has shown a key. `C` is what the door knows of its caller.
#[derive(Clone, Debug)]
pub(super) struct BrowserSession<C> {
    /// Its name in lists; it opens nothing.
    pub(super) id: Box<str>,
    pub(super) principal: Principal,
    pub(super) caller: C,
    pub(super) opened: Timestamp,
    pub(super) used: Timestamp,
}

impl<C> BrowserSession<C> {
    /// When it ends, however much it is used.
    pub(super) const fn ends(&self) -> Timestamp {
        self.opened.plus_ms(SESSION_AGE_MS)
    }

    /// When it ends if it is not used.
    fn ends_unused(&self) -> Timestamp {
        self.ends().min(self.used.plus_ms(SESSION_REST_MS))
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.ends_unused() <= now
    }
}

/// As many sessions are open as there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionsFull;

/// All open sessions, in memory only: a restart ends them. They are found by the digests of their tokens.
#[derive(Debug)]
pub(super) struct BrowserSessions<C> {
    open: HashMap<TokenDigest, BrowserSession<C>>,
    /// How many may be open, and how many of one principal.
    most: usize,
    most_each: usize,
}

impl<C> Default for BrowserSessions<C> {
    fn default() -> Self {
        Self::of_most(SESSIONS, SESSIONS_OF_PRINCIPAL)
    }
}

impl<C> BrowserSessions<C> {
    fn of_most(most: usize, most_each: usize) -> Self {
        Self {
            open: HashMap::new(),
            most,
            most_each,
        }
    }

    /// Opens a session, and says whether another has ended for it: if its principal has as many as it may
    /// have, the one that has rested longest.
    ///
    /// # Errors
    /// Too many are open.
    pub(super) fn open(
        &mut self,
        now: Timestamp,
        token: &AccessToken,
        (id, principal, caller): (Box<str>, Principal, C),
    ) -> Result<(&BrowserSession<C>, bool), SessionsFull> {
        self.sweep(now);
        let own = self.open.iter();
        let own = own.filter(|(_, session)| session.principal == principal);
        let rested = own
            .clone()
            .min_by_key(|(_, session)| session.used)
            .map(|(digest, _)| *digest);
        let rested = rested.filter(|_| own.count() >= self.most_each);
        let has_ended = rested.is_some_and(|rested| self.open.remove(&rested).is_some());
        if self.open.len() >= self.most {
            return Err(SessionsFull);
        }
        let session = BrowserSession {
            id,
            principal,
            caller,
            opened: now,
            used: now,
        };
        let entry = self.open.entry(token.digest());
        Ok((entry.insert_entry(session).into_mut(), has_ended))
    }

    /// The session of a cookie, which is used now.
    pub(super) fn find(&mut self, now: Timestamp, token: &[u8]) -> Option<&mut BrowserSession<C>> {
        let digest = TokenDigest::of(token);
        if self.open.get(&digest)?.is_over(now) {
            self.open.remove(&digest);
            return None;
        }
        let session = self.open.get_mut(&digest)?;
        session.used = session.used.max(now);
        Some(session)
    }

    /// When the session of this name ends if it is not used; nothing when there is none.
    pub(super) fn ends(&self, id: &str) -> Option<Timestamp> {
        let mut sessions = self.open.values();
        let session = sessions.find(|session| *session.id == *id);
        session.map(BrowserSession::ends_unused)
    }

    /// The open sessions of a principal or of all, the newest first.
    pub(super) fn list(
        &self,
        now: Timestamp,
        principal: Option<&Principal>,
    ) -> Vec<&BrowserSession<C>> {
        let sessions = self.open.values();
        let mut listed: Vec<_> = sessions
            .filter(|session| !session.is_over(now))
            .filter(|session| principal.is_none_or(|principal| session.principal == *principal))
            .collect();
        listed.sort_by(|one, other| (other.opened, &other.id).cmp(&(one.opened, &one.id)));
        listed
    }

    /// Ends the session of this name, of this principal or of any; whether there was one.
    pub(super) fn end(&mut self, id: &str, principal: Option<&Principal>) -> bool {
        let before = self.open.len();
        self.open.retain(|_, session| {
            let is_meant = *session.id == *id
                && principal.is_none_or(|principal| session.principal == *principal);
            !is_meant
        });
        self.open.len() < before
    }

    fn sweep(&mut self, now: Timestamp) {
        self.open.retain(|_, session| !session.is_over(now));
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Name;

    use super::*;
    use crate::doors::http::access::token::TOKEN_BYTES;

    const BEGIN: Timestamp = Timestamp(1_000_000_000);

    fn principal(text: &str) -> Principal {
        Principal(Name::parse(text.as_bytes()).unwrap())
    }

    fn token(number: usize) -> AccessToken {
        let mut random = [0; TOKEN_BYTES];
        random[..8].copy_from_slice(&number.to_be_bytes());
        AccessToken::new(random)
    }

    /// Opens the session of this number, after as many milliseconds.
    fn open(sessions: &mut BrowserSessions<usize>, who: &str, number: usize) -> bool {
        let now = BEGIN.plus_ms(number as u64);
        let opened = (number.to_string().into(), principal(who), number);
        sessions.open(now, &token(number), opened).is_ok()
    }

    fn found(sessions: &mut BrowserSessions<usize>, now: Timestamp, number: usize) -> bool {
        let session = sessions.find(now, token(number).expose().as_bytes());
        session.is_some_and(|session| session.caller == number)
    }

    fn listed(sessions: &BrowserSessions<usize>, who: Option<&str>) -> Vec<usize> {
        let who = who.map(principal);
        let listed = sessions.list(BEGIN.plus_ms(1_000), who.as_ref());
        listed.iter().map(|session| session.caller).collect()
    }

    #[test]
    fn a_session_is_found_by_its_token_and_by_no_other_text() {
        let mut sessions = BrowserSessions::default();
        assert!(open(&mut sessions, "ada", 1));
        assert!(found(&mut sessions, BEGIN.plus_ms(2), 1));
        assert!(!found(&mut sessions, BEGIN.plus_ms(2), 2));
        for text in ["", "1", &format!("{}0", token(1).expose())] {
            let session = sessions.find(BEGIN.plus_ms(2), text.as_bytes());
            assert!(session.is_none(), "{text}");
        }
    }

    #[test]
    fn a_session_ends_when_it_rests_and_at_its_age_however_much_it_is_used() {
        let mut sessions = BrowserSessions::default();
        assert!(open(&mut sessions, "ada", 0));
        let mut now = BEGIN;
        let step = SESSION_REST_MS - 1;
        while now.plus_ms(step) < BEGIN.plus_ms(SESSION_AGE_MS) {
            now = now.plus_ms(step);
            assert!(found(&mut sessions, now, 0));
        }
        let end = BEGIN.plus_ms(SESSION_AGE_MS);
        assert!(!found(&mut sessions, end, 0));
        assert_eq!(sessions.ends("0"), None, "it is forgotten");

        assert!(open(&mut sessions, "ada", 1));
        let rested = BEGIN.plus_ms(1 + SESSION_REST_MS);
        assert_eq!(sessions.ends("1"), Some(rested));
        assert!(!found(&mut sessions, rested, 1));
    }

    #[test]
    fn a_session_says_when_it_ends_if_it_is_not_used() {
        let mut sessions = BrowserSessions::default();
        assert!(open(&mut sessions, "ada", 0));
        let rested = |used: u64| BEGIN.plus_ms(used + SESSION_REST_MS);
        assert_eq!(sessions.ends("0"), Some(rested(0)));
        assert!(found(&mut sessions, BEGIN.plus_ms(5), 0));
        assert_eq!(sessions.ends("0"), Some(rested(5)));
        let late = SESSION_AGE_MS - 1;
        let session = sessions.open.values_mut().next().unwrap();
        session.used = BEGIN.plus_ms(late);
        assert_eq!(sessions.ends("0"), Some(BEGIN.plus_ms(SESSION_AGE_MS)));
        assert_eq!(sessions.ends("1"), None);
    }

    #[test]
    fn a_principal_lists_and_ends_its_own_and_an_administrator_all() {
        let mut sessions = BrowserSessions::default();
        for (number, who) in ["ada", "bob", "ada"].into_iter().enumerate() {
            assert!(open(&mut sessions, who, number));
        }
        assert_eq!(listed(&sessions, Some("ada")), [2, 0]);
        assert_eq!(listed(&sessions, None), [2, 1, 0]);
        assert!(!sessions.end("0", Some(&principal("bob"))));
        assert!(sessions.end("0", Some(&principal("ada"))));
        assert!(!sessions.end("0", None));
        assert!(sessions.end("1", None));
        assert_eq!(listed(&sessions, None), [2]);
    }

    #[test]
    fn one_principal_cannot_take_the_places_of_others() {
        let mut sessions = BrowserSessions::of_most(5, 3);
        assert!(open(&mut sessions, "bob", 0));
        for number in 1..=4 {
            assert!(open(&mut sessions, "ada", number));
        }
        assert_eq!(
            listed(&sessions, None),
            [4, 3, 2, 0],
            "the first of ada ended"
        );
        assert!(open(&mut sessions, "eve", 5));
        assert!(!open(&mut sessions, "fay", 6));
        let later = BEGIN.plus_ms(SESSION_AGE_MS + 6);
        let opened = ("x".into(), principal("fay"), 7);
        assert!(sessions.open(later, &token(7), opened).is_ok());
    }
}
