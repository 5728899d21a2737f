//! Addresses as people write them: an IP address or a name, with a port, and how the server there is
//! spoken to.

use std::{
    ffi::OsStr,
    fmt,
    net::{SocketAddr, ToSocketAddrs as _},
};

use clap::{
    Arg, Command,
    builder::{StringValueParser, TypedValueParser},
    error::ErrorKind,
};

/// What stands before an address, and whether it means TLS.
type Scheme = (&'static str, bool);

/// Addresses of the RESP door.
pub(crate) const RESP: DoorParser =
    DoorParser(&[("redis://", false), ("resp://", false), ("rediss://", true)]);

/// Addresses of the HTTP door.
pub(crate) const HTTP: DoorParser = DoorParser(&[("http://", false), ("https://", true)]);

/// Addresses of doors that have a protocol of their own.
pub(crate) const LINES: DoorParser = DoorParser(&[("tcp://", false), ("tls://", true)]);

/// Addresses of any door.
pub(crate) const ANY: DoorParser = DoorParser(&[
    ("redis://", false),
    ("resp://", false),
    ("tcp://", false),
    ("rediss://", true),
    ("tls://", true),
]);

/// Why an address with an `@` is refused, before its name is looked up.
const KEY_IN_ADDRESS: &str =
    "a key does not stand in an address: set TURNSTILE_KEY, or name a --key-file";

/// A door of a server that runs already, as it was named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DoorAddress {
    /// Without a port: what the server's certificate is for.
    pub(crate) host: String,
    pub(crate) socket: SocketAddr,
    pub(crate) encrypted: bool,
}

/// Reads the address of a door.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoorParser(&'static [Scheme]);

/// The address that a text means. A name is looked up; of several addresses the first of the older
/// family is taken, because what listens on this machine often does so for that alone.
///
/// # Errors
/// There is no port, or the name has no address: a sentence that says what to write.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let has_port = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if !has_port {
        return Err(
            "write an address as HOST:PORT, such as 127.0.0.1:8479 or localhost:8479".to_owned(),
        );
    }
    let found = text.to_socket_addrs();
    let found = found.map_err(|failure| format!("the name has no address: {failure}"))?;
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    let first = found.first().copied();
    first.ok_or_else(|| "the name has no address".to_owned())
}

/// The host of `HOST:PORT`, as a certificate names it.
pub(crate) fn host(text: &str) -> &str {
    let host = text.rsplit_once(':').map_or(text, |(host, _)| host);
    host.trim_matches(['[', ']'])
}

impl DoorParser {
    /// # Errors
    /// In words, without the text: it holds a key, the scheme is another, or the address is none.
    pub(crate) fn read(self, text: &str) -> Result<DoorAddress, String> {
        if text.contains('@') {
            return Err(KEY_IN_ADDRESS.to_owned());
        }
        let found = self
            .0
            .iter()
            .find_map(|(scheme, encrypted)| Some((text.strip_prefix(scheme)?, *encrypted)));
        let (address, encrypted) = match found {
            Some((address, encrypted)) => (address.trim_end_matches('/'), encrypted),
            None if text.contains("://") => {
                let known: Vec<&str> = self.0.iter().map(|(scheme, _)| *scheme).collect();
                return Err(format!(
                    "an address of this door begins with {}",
                    known.join(", ")
                ));
            }
            None => (text, false),
        };
        Ok(DoorAddress {
            host: host(address).to_owned(),
            socket: parse(address)?,
            encrypted,
        })
    }
}

impl TypedValueParser for DoorParser {
    type Value = DoorAddress;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        // The usual error would repeat the text.
        if value.to_string_lossy().contains('@') {
            let told = format!("{KEY_IN_ADDRESS}\n");
            return Err(clap::Error::raw(ErrorKind::ValueValidation, told).with_cmd(command));
        }
        let parser = *self;
        let parser = StringValueParser::new().try_map(move |text| parser.read(&text));
        parser.parse_ref(command, argument, value)
    }
}

impl fmt::Display for DoorAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_number_or_a_name_with_a_port() {
        let here = |port| Ok(SocketAddr::from(([127, 0, 0, 1], port)));
        assert_eq!(parse("127.0.0.1:20001"), here(20001));
        assert_eq!(parse("localhost:20001"), here(20001));
        assert_eq!(parse("[::1]:7"), Ok("[::1]:7".parse().unwrap()));
        for text in [
            "",
            "localhost",
            "127.0.0.1",
            ":7",
            "localhost:",
            "localhost:65536",
        ] {
            let what = "write an address as HOST:PORT, such as 127.0.0.1:8479 or localhost:8479";
            assert_eq!(parse(text), Err(what.to_owned()), "{text}");
        }
        let nowhere = parse("nowhere.invalid:7").unwrap_err();
        assert!(nowhere.starts_with("the name has no address"), "{nowhere}");
    }

    #[test]
    fn a_scheme_says_whether_a_door_is_encrypted() {
        let door = |host: &str, encrypted| {
            Ok(DoorAddress {
                host: host.to_owned(),
                socket: SocketAddr::from(([127, 0, 0, 1], 7)),
                encrypted,
            })
        };
        assert_eq!(RESP.read("127.0.0.1:7"), door("127.0.0.1", false));
        assert_eq!(RESP.read("redis://localhost:7"), door("localhost", false));
        assert_eq!(RESP.read("rediss://localhost:7/"), door("localhost", true));
        assert_eq!(LINES.read("tls://localhost:7"), door("localhost", true));
        assert_eq!(ANY.read("tls://localhost:7"), door("localhost", true));
        let six = RESP.read("rediss://[::1]:7").unwrap();
        assert_eq!((six.host.as_str(), six.encrypted), ("::1", true));
        for (parser, text) in [(RESP, "tls://localhost:7"), (LINES, "rediss://localhost:7")] {
            let told = parser.read(text).unwrap_err();
            assert!(told.starts_with("an address of this door begins"), "{told}");
        }
        assert!(RESP.read("rediss://localhost").is_err());
        for (parser, text) in [
            (HTTP, "https://x:key@localhost:7"),
            (ANY, "key@localhost:7"),
        ] {
            assert_eq!(parser.read(text), Err(KEY_IN_ADDRESS.to_owned()), "{text}");
        }
    }
}
