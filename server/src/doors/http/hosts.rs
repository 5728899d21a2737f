//! The names by which the HTTP door is asked.
//!
//! A page elsewhere can make its name resolve to this server, but it cannot make a browser send another
//! `Host` than its own. So a request must name the server by a name that is known to be its own.

use std::{net::IpAddr, sync::Arc};

use axum::http::{HeaderMap, header};

use crate::core::tls::DoorTls;

/// The names of loopback.
pub(super) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names that are this server.
#[derive(Debug)]
pub(super) struct KnownHosts {
    /// Those of the configuration.
    configured: Vec<String>,
    /// Whether the door listens beyond loopback: then an address may be its own. A page elsewhere has a
    /// name, so that its `Host` is no address.
    is_foreign: bool,
    /// Whose certificate has names.
    tls: Option<Arc<DoorTls>>,
}

impl KnownHosts {
    pub(super) const fn new(
        configured: Vec<String>,
        is_foreign: bool,
        tls: Option<Arc<DoorTls>>,
    ) -> Self {
        Self {
            configured,
            is_foreign,
            tls,
        }
    }

    /// Whether the request names this server, in its one `Host` and in its target where that names one.
    pub(super) fn are_named(&self, headers: &HeaderMap, target: Option<&str>) -> bool {
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return false;
        };
        let Ok(host) = host.to_str() else {
            return false;
        };
        self.knows(split_port(host).0) && target.is_none_or(|target| self.knows(target))
    }

    fn knows(&self, name: &str) -> bool {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        LOOPBACK.iter().any(|known| is(known))
            || self.configured.iter().any(|known| is(known))
            || self.is_foreign && is_address(name)
            || self.is_certified(name)
    }

    fn is_certified(&self, name: &str) -> bool {
        self.tls.as_ref().is_some_and(|tls| {
            let current = tls.current();
            let mut names = current.names.iter();
            names.any(|known| match known.strip_prefix('*') {
                // The wildcard stands for one label.
                Some(end) => name.split_once('.').is_some_and(|(_, rest)| {
                    end.strip_prefix('.')
                        .is_some_and(|end| end.eq_ignore_ascii_case(rest))
                }),
                None => known.eq_ignore_ascii_case(name),
            })
        })
    }
}

/// The port that the request names in its `Host`.
pub(super) fn named_port(headers: &HeaderMap) -> Option<u16> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    split_port(host).1?.parse().ok()
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    }
}

fn is_address(name: &str) -> bool {
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    bare.unwrap_or(name).parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn named(hosts: &KnownHosts, host: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(host));
        hosts.are_named(&headers, None)
    }

    #[test]
    fn an_address_is_a_name_of_a_door_that_others_reach() {
        let configured = vec!["desk.example".to_owned()];
        let loopback = KnownHosts::new(configured.clone(), false, None);
        let foreign = KnownHosts::new(configured, true, None);
        for (host, on_loopback, beyond) in [
            ("localhost", true, true),
            ("127.0.0.1:8470", true, true),
            ("desk.example:8470", true, true),
            ("DESK.example", true, true),
            ("10.0.0.7:8470", false, true),
            ("[fe80::1]:8470", false, true),
            ("10.0.0.7.evil.example", false, false),
            ("evil.example", false, false),
            ("", false, false),
        ] {
            let found = (named(&loopback, host), named(&foreign, host));
            assert_eq!(found, (on_loopback, beyond), "{host}");
        }
    }
}
