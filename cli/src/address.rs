//! Addresses as people write them: an IP address or a name, with a port.

use std::net::{SocketAddr, ToSocketAddrs as _};

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
}
