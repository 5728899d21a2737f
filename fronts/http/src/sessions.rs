//! What the operations about browser sessions and tickets answer.

use turnstile_chassis::Fields;
use turnstile_types::{Principal, Timestamp};

use crate::schema::Schemas;

/// The cookie of a browser session; `_` and the port follow where the request names one.
pub const SESSION_COOKIE: &str = "turnstile_session";

/// One browser session.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct SessionView {
    /// Its name, which opens nothing.
    pub session: Box<str>,
    pub principal: Principal,
    /// The key that it was opened with.
    pub key: Option<Box<str>>,
    pub opened: Timestamp,
    /// When it was used last.
    pub used: Timestamp,
    /// When it ends, however much it is used.
    pub ends: Timestamp,
}

/// The session of the caller.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct OwnSession {
    #[field(flatten)]
    pub session: SessionView,
    /// What every request that is not GET sends in X-CSRF-Token.
    pub csrf_token: Box<str>,
}

/// Browser sessions, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct SessionList {
    pub sessions: Vec<SessionView>,
}

/// A session that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct SessionOver {
    pub session: Box<str>,
}

/// A ticket for one event stream or WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct NewTicket {
    /// Stands in the address as ?ticket=.
    pub ticket: Box<str>,
    pub ends: Timestamp,
}

pub(crate) fn schemas() -> Schemas {
    Schemas::new("")
        .named::<OwnSession>("OwnSession", "The browser session of the request.")
        .named::<SessionList>("SessionList", "Browser sessions, the newest first.")
        .named::<SessionOver>("SessionOver", "A browser session that has ended.")
        .named::<NewTicket>("NewTicket", "A ticket for one event stream or WebSocket.")
}
