//! Who asks over HTTP: keys in headers, browser sessions in cookies, and tickets in addresses.

mod answers;
mod credentials;
mod pass;
mod sessions;
mod tickets;
mod token;

use std::{
    collections::HashMap,
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use axum::http::{HeaderMap, HeaderValue, Method, Request, Uri, header};
use tokio::sync::watch;
use turnstile_access::{Access, KeyId, MissingRight, limits::USE_NOTED_MS};
use turnstile_chassis::{Right, Subject};
use turnstile_http::{Audience, Code, Operation, Problem, operation_at};
use turnstile_types::{AddressPolicy, DoorKind, Origin, RequestId, Timestamp};

use self::{
    credentials::{Shown, shown, without_ticket},
    sessions::BrowserSessions,
    tickets::StreamTickets,
    token::is_csrf_token,
};
use super::{console, reply::RaisedProblem};
use crate::core::{
    caller::{Caller, NotPermitted},
    gate::{Ask, Gate},
    quotas::QuotaExceeded,
    security_log::FailedLogin,
};
use crate::counters::{Counters, DoorName};

pub(super) use answers::{end_session, log_out, open_session, own_session, sessions, ticket};
pub(super) use credentials::CSRF_TOKEN;
pub(super) use pass::StreamPass;

/// Who has sent a request.
#[derive(Clone, Debug)]
pub(super) struct HttpRequester {
    pub(super) caller: Caller,
    /// The browser session that it belongs to.
    session: Option<Box<str>>,
}

impl HttpRequester {
    pub(super) const fn of(caller: Caller) -> Self {
        Self {
            caller,
            session: None,
        }
    }

    /// The same on a WebSocket.
    pub(super) fn as_socket(&self) -> Self {
        let origin = Origin {
            door: DoorKind::Socket,
            ..self.caller.origin()
        };
        Self {
            caller: self.caller.clone().with_origin(origin),
            session: self.session.clone(),
        }
    }

    /// Asserts that the visitor operates the server.
    pub(super) fn may_operate(&self) -> Result<(), RaisedProblem> {
        if self.caller.rights().may_operate() {
            return Ok(());
        }
        let missing = NotPermitted::Missing(MissingRight::Operate);
        Err(RaisedProblem::from(problem_of_denied(missing)))
    }

    /// Asserts that the visitor has this right of a service for what it wants to follow.
    pub(super) fn may_follow(
        &self,
        service: u8,
        right: Right,
        subject: &Subject,
    ) -> Result<(), Problem> {
        let Caller { principal, .. } = &self.caller;
        let judged = self
            .caller
            .rights()
            .permits(principal, service, right, subject);
        judged.map_err(|missing| problem_of_denied(NotPermitted::Missing(missing)))
    }
}

/// What this door knows of its callers beside the machine.
///
/// It has a copy of the machine, which the loop renews after every change. Sessions and tickets are in
/// memory only.
pub(super) struct Identities {
    gate: Gate,
    access: watch::Receiver<Option<Arc<Access>>>,
    sessions: Mutex<BrowserSessions<Caller>>,
    tickets: Mutex<StreamTickets<HttpRequester>>,
    counters: Arc<Counters>,
    /// When the loop was told last that a key is used: it is not asked with every request. Whether that
    /// was kept lately, its machine knows.
    told_uses: Mutex<HashMap<KeyId, Timestamp>>,
    /// Counts the sessions that were ended, so that their streams look.
    ended: watch::Sender<u64>,
    /// Whether browsers send the cookie over TLS only.
    is_secure: bool,
    /// How much of the addresses of callers records keep.
    addresses: AddressPolicy,
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identities")
    }
}

impl Identities {
    pub(super) fn new(
        (gate, counters): (&Gate, &Arc<Counters>),
        is_secure: bool,
        addresses: AddressPolicy,
    ) -> Self {
        Self {
            access: gate.access(),
            gate: gate.clone(),
            sessions: Mutex::default(),
            tickets: Mutex::default(),
            counters: Arc::clone(counters),
            told_uses: Mutex::default(),
            ended: watch::channel(0).0,
            is_secure,
            addresses,
        }
    }

    /// Finds out who has sent a request, and takes its ticket out of its address. Answers whether that is
    /// known, since what is public is answered to everybody.
    ///
    /// # Errors
    /// The server asks for a key, or what is shown is worth nothing.
    pub(super) fn admit<B>(
        &self,
        request: &mut Request<B>,
        (peer, names): (IpAddr, &[String]),
        id: &HeaderValue,
    ) -> Result<(bool, HttpRequester), Problem> {
        let (method, uri) = (request.method(), request.uri());
        let operation = || operation_at(method.as_str(), uri.path());
        let visitor = self.visitor((method, uri), request.headers(), (peer, names));
        let is_known = visitor.is_ok();
        let mut visitor = match visitor {
            Ok(visitor) => visitor,
            Err(_) if is_public(uri.path(), operation()) => HttpRequester::of(Caller::unknown()),
            Err(problem) => return Err(problem),
        };
        if let Some(query) = uri.query().filter(|query| query.contains("ticket="))
            && operation().is_some_and(Operation::takes_ticket)
        {
            let address = format!("{}?{}", uri.path(), without_ticket(query));
            if let Ok(address) = address.parse() {
                *request.uri_mut() = address;
            }
        }
        let origin = Origin::at(DoorKind::Http, peer, self.addresses);
        let id = RequestId::parse(id.as_bytes()).ok();
        visitor.caller = visitor.caller.with_origin(origin).for_request(id);
        // Nobody behind here needs it.
        request.headers_mut().remove(header::AUTHORIZATION);
        Ok((is_known, visitor))
    }

    fn visitor(
        &self,
        (method, uri): (&Method, &Uri),
        headers: &HeaderMap,
        (peer, names): (IpAddr, &[String]),
    ) -> Result<HttpRequester, Problem> {
        let access = self.access.borrow().clone();
        let access = access.ok_or_else(|| self.not_recovered())?;
        let now = wall_time();
        let operation = || operation_at(method.as_str(), uri.path());
        let takes_ticket = uri.query().is_some_and(|query| query.contains("ticket="))
            && operation().is_some_and(Operation::takes_ticket);
        let mut visitor = match shown(headers, uri.query(), takes_ticket) {
            Shown::Key(key) => HttpRequester::of(self.with_key(&access, now, key, peer)?),
            Shown::Ticket(ticket) => self.with_ticket(now, ticket)?,
            Shown::Session(token) => {
                let found = self.with_session(now, token);
                if found.is_some() && !method.is_safe() {
                    assert_csrf_token(headers, token)?;
                }
                found.unwrap_or_else(|| HttpRequester::of(with_certificate(&access, names)))
            }
            Shown::NoKey | Shown::Nothing => HttpRequester::of(with_certificate(&access, names)),
        };
        let quotas = (&*access, &*self.gate.meters);
        let renewed = visitor.caller.renew(quotas, now);
        renewed.map_err(problem_of_denied)?;
        Ok(visitor)
    }

    /// Before the journal is recovered nobody is known.
    fn not_recovered(&self) -> Problem {
        let recovery = self.gate.recovery();
        recovery.map_or_else(
            || Problem::from(Code::Recovering),
            |recovery| Problem::with(Code::Recovering, recovery.sentence()),
        )
    }

    fn with_key(
        &self,
        access: &Access,
        now: Timestamp,
        key: &[u8],
        peer: IpAddr,
    ) -> Result<Caller, Problem> {
        let refused = match Caller::with_key(access, now, key) {
            Ok(caller) => return Ok(caller),
            Err(refused) => refused,
        };
        self.counters.of(DoorName::Http).failed_logins.add(1);
        let failed = FailedLogin {
            now,
            source: peer,
            origin: Origin::at(DoorKind::Http, peer, self.addresses),
            refused: &refused,
        };
        // A right key is taken from everywhere: behind a proxy, all callers have one address.
        let before = self.gate.security.last();
        let told = self.gate.security.login_failed(&failed);
        if self.gate.security.last() != before {
            self.gate.wake();
        }
        Err(match told {
            Ok(()) => Problem::with(Code::WrongKey, refused.to_string()),
            Err(_wait_ms) => Problem::from(Code::TooManyFailedLogins),
        })
    }

    fn with_ticket(&self, now: Timestamp, ticket: &str) -> Result<HttpRequester, Problem> {
        let visitor = lock(&self.tickets).take(now, ticket.as_bytes());
        let visitor = visitor.filter(|visitor| self.is_session_open(now, visitor));
        let over = "there is no such ticket, or it was used";
        visitor.ok_or_else(|| Problem::with(Code::WrongKey, over))
    }

    /// The visitor of an open session.
    fn with_session(&self, now: Timestamp, token: &[u8]) -> Option<HttpRequester> {
        let mut sessions = lock(&self.sessions);
        sessions.find(now, token).map(|session| HttpRequester {
            caller: session.caller.clone(),
            session: Some(session.id.clone()),
        })
    }

    /// When the session of a visitor ends if it is not used, for one that has a session; it may have ended.
    fn session_end(&self, visitor: &HttpRequester) -> Option<Timestamp> {
        let session = visitor.session.as_deref()?;
        let ends = lock(&self.sessions).ends(session);
        Some(ends.unwrap_or_default())
    }

    fn is_session_open(&self, now: Timestamp, visitor: &HttpRequester) -> bool {
        self.session_end(visitor).is_none_or(|end| now < end)
    }

    /// Has the streams of sessions look whether theirs is open.
    fn tell_ended(&self) {
        self.ended.send_modify(|ended| *ended += 1);
    }

    /// Tells the loop that the key of a visitor is used, if it was not told so for an hour.
    pub(super) fn tell_use(&self, visitor: &HttpRequester) {
        let Some(key) = visitor.caller.key() else {
            return;
        };
        let (now, mut told) = (wall_time(), lock(&self.told_uses));
        let last = told.get(&key);
        if last.is_some_and(|last| now.ms_since(*last) < USE_NOTED_MS) {
            return;
        }
        // A loop that has no time is told with the next request.
        if self.gate.ask(Ask::NoteUse(key)).is_ok() {
            told.insert(key, now);
        }
    }
}

/// Whoever shows a certificate that stands for a principal, or anybody.
fn with_certificate(access: &Access, names: &[String]) -> Caller {
    let names = names.iter().map(String::as_str);
    Caller::with_certificate(access, names).unwrap_or_else(Caller::unknown)
}

/// Whether a path is answered to everybody.
fn is_public(path: &str, operation: Option<&Operation>) -> bool {
    path == "/"
        || console::has(path)
        || operation.is_some_and(|one| one.audience == Audience::Everybody)
}

fn assert_csrf_token(headers: &HeaderMap, token: &[u8]) -> Result<(), Problem> {
    let shown = headers
        .get(CSRF_TOKEN)
        .map_or(&b""[..], HeaderValue::as_bytes);
    if is_csrf_token(token, shown) {
        return Ok(());
    }
    Err(Problem::from(Code::CsrfTokenNeeded))
}

/// A request that is not looked at, as HTTP tells it.
pub(super) fn problem_of_denied(denied: NotPermitted) -> Problem {
    let code = match denied {
        NotPermitted::NotLoggedIn => Code::NotLoggedIn,
        NotPermitted::LoggedOut => Code::WrongKey,
        NotPermitted::Missing(_) => Code::MissingRight,
        NotPermitted::Quota(exceeded) => Code::QuotaExceeded {
            policy: exceeded.kind.word(),
            most: exceeded.most,
            retry_after_s: seconds_of(&exceeded),
        },
    };
    Problem::with(code, denied.to_string())
}

/// How many seconds of `Retry-After` cover this; a second where nobody knows.
fn seconds_of(exceeded: &QuotaExceeded) -> u32 {
    let seconds = exceeded.retry_ms().map_or(1, |ms| ms.div_ceil(1_000));
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time of the wall clock, by which keys and sessions end here.
pub(super) fn wall_time() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
