//! The operations about sessions and tickets.

use std::io;

use axum::http::{HeaderMap, HeaderValue, header};
use turnstile_chassis::Source as _;
use turnstile_http::{Code, NewTicket, OwnSession, Problem, SessionList, SessionOver, SessionView};
use turnstile_types::{Name, Principal};

use super::{
    HttpRequester,
    credentials::{Shown, session_cookie, shown},
    lock,
    sessions::BrowserSession,
    token::{AccessToken, csrf_token, hex},
    wall_time,
};
use crate::{
    core::{caller::Caller, entropy::random_bytes},
    doors::http::{
        Door, call::HttpCall, documents::json, operations::Answered, reply::RaisedProblem,
    },
};

/// Random bytes in the name of a session.
const ID_BYTES: usize = 8;

/// Opens a session for a key or a certificate. A session opens no other: a stolen cookie ends with its own.
pub(in crate::doors::http) fn open_session(door: &Door, call: &HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    let HttpRequester { caller, session } = &call.visitor;
    if session.is_some() {
        return Err(RaisedProblem::from(Code::KeyNeeded));
    }
    let (token, id) = (random_token()?, random_id()?);
    let (opened, has_ended) = {
        let mut sessions = lock(&door.identities.sessions);
        let whose = (hex(&id).into(), caller.principal, caller.clone());
        let opened = sessions.open(wall_time(), &token, whose);
        let (opened, has_ended) = opened.map_err(|_full| Problem::from(Code::TooManySessions))?;
        (view(opened), has_ended)
    };
    if has_ended {
        door.identities.tell_ended();
    }
    let csrf_token = csrf_token(token.expose().as_bytes()).into();
    let mut response = json(&OwnSession {
        session: opened,
        csrf_token,
    });
    let cookie = door
        .identities
        .cookie(&call.parts.headers, token.expose(), "");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Shows the session whose cookie the request has.
pub(in crate::doors::http) fn own_session(door: &Door, call: &HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    let Shown::Session(token) = shown(&call.parts.headers, None, false) else {
        return Err(RaisedProblem::from(Code::UnknownSession));
    };
    let session = lock(&door.identities.sessions)
        .find(wall_time(), token)
        .map(|found| view(found));
    let session = session.ok_or(Code::UnknownSession)?;
    Ok(json(&OwnSession {
        session,
        csrf_token: csrf_token(token).into(),
    }))
}

/// Ends the session whose cookie the request has.
pub(in crate::doors::http) fn log_out(door: &Door, call: &HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    let session = call.visitor.session.clone();
    let session = session.ok_or(Code::UnknownSession)?;
    let mut response = end(door, &session, None)?;
    let cookie = door
        .identities
        .cookie(&call.parts.headers, "", "; Max-Age=0");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Lists the sessions that the caller may see.
pub(in crate::doors::http) fn sessions(door: &Door, call: &HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    let sessions = lock(&door.identities.sessions);
    let whose = scope(&call.visitor.caller);
    let sessions = sessions
        .list(wall_time(), whose)
        .into_iter()
        .map(view)
        .collect();
    Ok(json(&SessionList { sessions }))
}

/// Ends one of them.
pub(in crate::doors::http) fn end_session(door: &Door, call: &HttpCall) -> Answered {
    let session = {
        let given = call.given()?;
        given.read_with(|reader| reader.required("session", Name::parse))?
    };
    end(door, &session, scope(&call.visitor.caller))
}

/// Makes a ticket for one stream or socket of the caller.
pub(in crate::doors::http) fn ticket(door: &Door, call: &HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    let token = random_token()?;
    let whose = (call.visitor.caller.principal, call.visitor.clone());
    let given = lock(&door.identities.tickets).give(wall_time(), &token, whose);
    let ends = given.map_err(|_full| Problem::from(Code::TooManySessions))?;
    Ok(json(&NewTicket {
        ticket: token.expose().into(),
        ends,
    }))
}

fn end(door: &Door, session: &str, whose: Option<&Principal>) -> Answered {
    if !lock(&door.identities.sessions).end(session, whose) {
        return Err(RaisedProblem::from(Code::UnknownSession));
    }
    door.identities.tell_ended();
    Ok(json(&SessionOver {
        session: session.into(),
    }))
}

/// Whose sessions a caller may see and end: its own, or those of all.
fn scope(caller: &Caller) -> Option<&Principal> {
    (!caller.rights().may_administer()).then_some(&caller.principal)
}

fn view(session: &BrowserSession<Caller>) -> SessionView {
    SessionView {
        session: session.id.clone(),
        principal: session.principal,
        key: session.caller.key().map(|key| key.as_str().into()),
        opened: session.opened,
        used: session.used,
        ends: session.ends(),
    }
}

fn random_token() -> Result<AccessToken, Problem> {
    AccessToken::random().map_err(|failure| no_entropy(&failure))
}

fn random_id() -> Result<[u8; ID_BYTES], Problem> {
    random_bytes().map_err(|failure| no_entropy(&failure))
}

fn no_entropy(failure: &io::Error) -> Problem {
    tracing::error!(%failure, "the kernel has no random bytes");
    Problem::from(Code::Unavailable)
}

impl super::Identities {
    fn cookie(&self, request: &HeaderMap, token: &str, age: &str) -> HeaderValue {
        let name = session_cookie(request);
        let secure = if self.is_secure { "; Secure" } else { "" };
        let cookie = format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict{secure}{age}");
        let mut cookie = HeaderValue::try_from(cookie).expect("a token is hexadecimal digits");
        cookie.set_sensitive(true);
        cookie
    }
}
