//! The origins whose pages may change state: the door's own, and those that the configuration names.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use tower_http::cors::CorsLayer;
use turnstile_http::{Operation, operation_at};

use super::{
    call::IDEMPOTENCY_KEY,
    hosts::LOOPBACK,
    metered::{RATE_LIMIT, RATE_LIMIT_POLICY},
    reply::{ENTRY_AGE, POSITION, REPLAYED, REQUEST_ID},
    stream::LAST_EVENT_ID,
};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Browsers may remember a preflight for so long. It is short because it is also how long a page
/// keeps its leave after its origin was taken off the list.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// An origin as browsers write it: scheme, host and, where it is not the scheme's own, port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebOrigin(HeaderValue);

/// A text that is no origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidOrigin;

impl fmt::Display for InvalidOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "an origin is http:// or https://, a host, and a port or none, such as \
             https://console.example:8443",
        )
    }
}

impl std::error::Error for InvalidOrigin {}

impl FromStr for WebOrigin {
    type Err = InvalidOrigin;

    /// Reads an origin in any letter case, with the scheme's own port or without.
    fn from_str(text: &str) -> Result<Self, InvalidOrigin> {
        let text = text.to_ascii_lowercase();
        let (scheme, authority) = text.split_once("://").ok_or(InvalidOrigin)?;
        let default_port = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return Err(InvalidOrigin),
        };
        let uri: Uri = authority.parse().map_err(|_invalid| InvalidOrigin)?;
        // A URI of an authority alone has neither a scheme nor a path.
        let bare = uri.authority().filter(|bare| bare.as_str() == authority);
        let bare = bare.ok_or(InvalidOrigin)?;
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
        if bare.host().is_empty() || !bare.as_str().bytes().all(is_host) {
            return Err(InvalidOrigin);
        }
        let port = match bare.as_str().strip_prefix(bare.host()) {
            Some("") => None,
            _ => Some(bare.port_u16().ok_or(InvalidOrigin)?),
        };
        let port = port.filter(|&port| port != default_port);
        Ok(Self::of(scheme, bare.host(), port))
    }
}

impl WebOrigin {
    fn of(scheme: &str, host: &str, port: Option<u16>) -> Self {
        let port = port.map_or_else(String::new, |port| format!(":{port}"));
        let text = HeaderValue::try_from(format!("{scheme}://{host}{port}"));
        Self(text.expect("hosts and ports are visible ASCII"))
    }
}

/// Where a request comes from, as far as browsers say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestSender {
    /// A page of this door, a page of a configured origin, or a program that is no browser.
    Trusted,
    /// A page of any other origin.
    ForeignPage,
}

/// Which pages may change state.
///
/// A browser sends requests for any page, also without leave: it only keeps the answer from the
/// page. So the door looks at what the browser says about the page before it does anything. Programs
/// that are no browsers say nothing, and are served.
#[derive(Debug)]
pub(super) struct Origins {
    scheme: &'static str,
    own: Vec<HeaderValue>,
    /// A reload replaces them.
    configured: RwLock<Arc<ConfiguredOrigins>>,
}

/// The origins that the configuration names.
#[derive(Debug)]
pub(super) struct ConfiguredOrigins {
    origins: Vec<HeaderValue>,
    cors: Option<CorsLayer>,
}

impl ConfiguredOrigins {
    fn of(origins: &[WebOrigin]) -> Arc<Self> {
        let origins: Vec<_> = origins.iter().map(|origin| origin.0.clone()).collect();
        let cors = (!origins.is_empty()).then(|| cors(origins.clone()));
        Arc::new(Self { origins, cors })
    }

    /// What lets their pages read answers, where there are any.
    pub(super) const fn cors(&self) -> Option<&CorsLayer> {
        self.cors.as_ref()
    }
}

impl Origins {
    pub(super) fn new(port: u16, is_secured: bool, configured: &[WebOrigin]) -> Self {
        let (scheme, own_port) = if is_secured {
            ("https", 443)
        } else {
            ("http", 80)
        };
        let port = Some(port).filter(|&port| port != own_port);
        let own = LOOPBACK.map(|host| WebOrigin::of(scheme, host, port).0);
        Self {
            scheme,
            own: own.into(),
            configured: RwLock::new(ConfiguredOrigins::of(configured)),
        }
    }

    /// Puts other origins in the place of those that the configuration has named.
    pub(super) fn replace(&self, configured: &[WebOrigin]) {
        let configured = ConfiguredOrigins::of(configured);
        let place = self.configured.write();
        *place.unwrap_or_else(PoisonError::into_inner) = configured;
    }

    pub(super) fn configured(&self) -> Arc<ConfiguredOrigins> {
        let configured = self.configured.read();
        Arc::clone(&configured.unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the request is one that a page of a foreign origin sends and may not send.
    pub(super) fn refuse(&self, method: &Method, path: &str, headers: &HeaderMap) -> bool {
        self.sender(headers) == RequestSender::ForeignPage
            && (!method.is_safe()
                || operation_at(method.as_str(), path).is_some_and(Operation::is_guarded))
    }

    /// Whether the page is of this door, by one of its names: those of loopback with the door's port, or
    /// else the `Host`, which is judged before.
    fn is_own(&self, origin: &HeaderValue, headers: &HeaderMap) -> bool {
        let authority = origin.as_bytes().strip_prefix(self.scheme.as_bytes());
        let authority = authority.and_then(|rest| rest.strip_prefix(b"://"));
        let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
        let is_loopback = LOOPBACK.iter().any(|one| authority == Some(one.as_bytes()));
        self.own.contains(origin) || authority.is_some() && authority == host && !is_loopback
    }

    fn sender(&self, headers: &HeaderMap) -> RequestSender {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (Some(origin), None) if self.configured().origins.contains(origin) => {
                return RequestSender::Trusted;
            }
            (Some(origin), None) if self.is_own(origin, headers) => {}
            (Some(_), _) => return RequestSender::ForeignPage,
            (None, _) => {}
        }
        let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
        // `none` is the user: an address that was typed, a bookmark.
        if sites.all(|site| site == "same-origin" || site == "none") {
            RequestSender::Trusted
        } else {
            RequestSender::ForeignPage
        }
    }
}

fn cors(configured: Vec<HeaderValue>) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(configured)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            IDEMPOTENCY_KEY,
            LAST_EVENT_ID,
            REQUEST_ID,
        ])
        .expose_headers([
            header::ETAG,
            header::LINK,
            header::LOCATION,
            header::RETRY_AFTER,
            ENTRY_AGE,
            POSITION,
            RATE_LIMIT,
            RATE_LIMIT_POLICY,
            REPLAYED,
            REQUEST_ID,
        ])
        .max_age(PREFLIGHT_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_browsers_write_it() {
        let rows = [
            ("https://console.example", Some("https://console.example")),
            (
                "HTTPS://Console.Example:443",
                Some("https://console.example"),
            ),
            (
                "http://console.example:443",
                Some("http://console.example:443"),
            ),
            ("http://127.0.0.1:80", Some("http://127.0.0.1")),
            ("http://[::1]:3000", Some("http://[::1]:3000")),
            ("https://console.example/", None),
            ("https://console.example/path", None),
            ("https://user@console.example", None),
            ("https://*.example", None),
            ("https://", None),
            ("https://:443", None),
            ("https://console.example:99999", None),
            ("ftp://console.example", None),
            ("console.example", None),
            ("null", None),
            ("*", None),
            ("", None),
        ];
        for (text, expected) in rows {
            let read = text.parse::<WebOrigin>();
            let expected = expected.map(|text| WebOrigin(HeaderValue::from_static(text)));
            assert_eq!(read.ok(), expected, "{text}");
        }
    }
}
