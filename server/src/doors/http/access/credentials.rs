//! What a request shows of its caller: a key, the cookie of a session, or a ticket.

use axum::http::{HeaderMap, HeaderName, header};
use turnstile_http::SESSION_COOKIE;

use crate::doors::http::hosts::named_port;

/// The header in which a page repeats its token against forged requests.
pub(crate) const CSRF_TOKEN: HeaderName = HeaderName::from_static("x-csrf-token");

/// The parameter of an address that is a ticket.
const TICKET: &str = "ticket=";

/// What a request shows. Of several things the first here counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    /// A key, in `Authorization: Bearer`.
    Key(&'a [u8]),
    /// An `Authorization` that is no key: another scheme, or two of them.
    NoKey,
    Ticket(&'a str),
    /// The token of a session, in its cookie.
    Session(&'a [u8]),
    Nothing,
}

/// Reads what a request shows; a ticket is looked for only if `takes_ticket`.
pub(super) fn shown<'a>(
    headers: &'a HeaderMap,
    query: Option<&'a str>,
    takes_ticket: bool,
) -> Shown<'a> {
    let mut authorizations = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(first) = authorizations.next() {
        let key = bearer(first.as_bytes()).filter(|_| authorizations.next().is_none());
        return key.map_or(Shown::NoKey, Shown::Key);
    }
    if takes_ticket && let Some(ticket) = query.and_then(ticket) {
        return Shown::Ticket(ticket);
    }
    cookie(headers).map_or(Shown::Nothing, Shown::Session)
}

/// What stands behind the scheme `Bearer`, whose letters may be of any case.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked(b"bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| rest.trim_ascii())
}

/// The ticket in the query of an address.
fn ticket(query: &str) -> Option<&str> {
    let mut pairs = query.split('&');
    pairs.find_map(|pair| pair.strip_prefix(TICKET))
}

/// A query without its tickets, for the operation, which knows nothing of them.
pub(super) fn without_ticket(query: &str) -> String {
    let pairs = query.split('&').filter(|pair| !pair.starts_with(TICKET));
    pairs.collect::<Vec<_>>().join("&")
}

/// The name of the cookie of a session. Browsers send a cookie to all ports of a host: without the port in
/// its name, servers on one host would end each other's sessions.
pub(super) fn session_cookie(headers: &HeaderMap) -> String {
    match named_port(headers) {
        Some(port) => format!("{SESSION_COOKIE}_{port}"),
        None => SESSION_COOKIE.to_owned(),
    }
}

/// The token in the cookie of a session. Browsers put all cookies into one header, and HTTP/2 does not.
fn cookie(headers: &HeaderMap) -> Option<&[u8]> {
    let name = session_cookie(headers);
    let values = headers.get_all(header::COOKIE).iter();
    let mut pairs = values.flat_map(|value| value.as_bytes().split(|&byte| byte == b';'));
    pairs.find_map(|pair| {
        let rest = pair.trim_ascii().strip_prefix(name.as_bytes())?;
        rest.strip_prefix(b"=")
    })
}

#[cfg(test)]
mod tests {
    use std::slice;

    use axum::http::HeaderValue;

    use super::*;

    fn check(lines: &[(HeaderName, &'static str)], query: Option<&str>, expected: Shown<'_>) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(
            shown(&headers, query, true),
            expected,
            "{lines:?} {query:?}"
        );
    }

    #[test]
    fn a_key_stands_behind_bearer_in_letters_of_any_case() {
        let rows: [(&str, Shown<'_>); 8] = [
            ("Bearer ts_live_a_b", Shown::Key(b"ts_live_a_b")),
            ("bEARER ts_live_a_b", Shown::Key(b"ts_live_a_b")),
            ("Bearer   ts_live_a_b ", Shown::Key(b"ts_live_a_b")),
            ("Bearer ", Shown::Key(b"")),
            ("Bearer", Shown::NoKey),
            ("Basic dHM6", Shown::NoKey),
            ("Bearerts_live_a_b", Shown::NoKey),
            ("", Shown::NoKey),
        ];
        for (value, expected) in rows {
            check(&[(header::AUTHORIZATION, value)], None, expected);
        }
        let twice = [
            (header::AUTHORIZATION, "Bearer a"),
            (header::AUTHORIZATION, "Bearer b"),
        ];
        check(&twice, None, Shown::NoKey);
    }

    #[test]
    fn a_session_is_one_cookie_among_others() {
        let rows = [
            ("turnstile_session=abc", Shown::Session(b"abc")),
            ("a=b; turnstile_session=abc; c=d", Shown::Session(b"abc")),
            ("a=b;turnstile_session=abc", Shown::Session(b"abc")),
            ("x_turnstile_session=abc", Shown::Nothing),
            ("turnstile_session_2=abc", Shown::Nothing),
            ("turnstile_session", Shown::Nothing),
            ("a=b", Shown::Nothing),
        ];
        for (value, expected) in rows {
            check(&[(header::COOKIE, value)], None, expected);
        }
    }

    #[test]
    fn the_cookie_of_a_session_has_the_port_of_its_server_in_its_name() {
        let both = "turnstile_session_8470=a; turnstile_session_8471=b; turnstile_session=c";
        for (host, token) in [
            ("localhost:8470", &b"a"[..]),
            ("[::1]:8471", b"b"),
            ("desk.example", b"c"),
            ("desk.example:", b"c"),
            ("[::1]", b"c"),
        ] {
            let lines = [(header::HOST, host), (header::COOKIE, both)];
            check(&lines, None, Shown::Session(token));
        }
        let lines = [(header::HOST, "localhost:8472"), (header::COOKIE, both)];
        check(&lines, None, Shown::Nothing);
    }

    #[test]
    fn a_key_comes_before_a_ticket_and_that_before_a_cookie() {
        let (key, session) = (
            (header::AUTHORIZATION, "Bearer k"),
            (header::COOKIE, "turnstile_session=s"),
        );
        let query = Some("since=1&ticket=t&symbol=X");
        check(&[session.clone(), key], query, Shown::Key(b"k"));
        check(slice::from_ref(&session), query, Shown::Ticket("t"));
        check(
            slice::from_ref(&session),
            Some("since=1"),
            Shown::Session(b"s"),
        );
        check(
            slice::from_ref(&session),
            Some("x_ticket=t"),
            Shown::Session(b"s"),
        );
        check(&[], None, Shown::Nothing);
        let mut headers = HeaderMap::new();
        headers.insert(session.0, HeaderValue::from_static(session.1));
        assert_eq!(shown(&headers, query, false), Shown::Session(b"s"));
    }

    #[test]
    fn an_operation_sees_no_ticket() {
        assert_eq!(
            without_ticket("since=1&ticket=t&symbol=X"),
            "since=1&symbol=X"
        );
        assert_eq!(without_ticket("ticket=t"), "");
        assert_eq!(without_ticket("tickets=t"), "tickets=t");
    }
}
