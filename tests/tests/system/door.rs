//! A server for one test, and redis-cli at its door.

use std::net::SocketAddr;

use turnstile_tests::Turnstile;

use crate::program::output;

/// A server, its data, and where its doors are.
pub(crate) struct Door {
    /// The port of the RESP door.
    pub(crate) port: String,
    /// Where the HTTP door's paths begin.
    pub(crate) url: String,
    /// The XML door.
    pub(crate) xml: SocketAddr,
    _server: Turnstile,
    _data: tempfile::TempDir,
}

pub(crate) fn door() -> Door {
    door_with(&[])
}

/// A server with these arguments.
pub(crate) fn door_with(arguments: &[&str]) -> Door {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Turnstile::dev_with(data.path(), arguments);
    Door {
        url: format!("http://{}", server.http()),
        port: server.resp().port().to_string(),
        xml: server.xml(),
        _server: server,
        _data: data,
    }
}

pub(crate) fn redis_cli(door: &Door, arguments: &[&str], input: &str) -> String {
    output(
        "redis-cli",
        &[&["-p", &door.port], arguments].concat(),
        input.as_bytes(),
    )
}
