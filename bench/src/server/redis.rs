//! Redis 7: plain, or syncing every group of commands; with the check-and-set as a function.

use std::{fmt, net::SocketAddr, path::Path, process::Command};

use anyhow::{Result, bail, ensure};
use turnstile_client::{Connection, resp::Value};

use super::protection::ServerCertificate;

/// A room-night is a key; who finds it free sets the booking.
const FUNCTION: &[u8] = b"#!lua name=rooms
redis.register_function('book', function(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then
    return 0
  end
  redis.call('HSET', keys[1], 'guest', args[1], 'id', args[2])
  return 1
end)
";

/// What Redis keeps of what it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    None,
    /// `appendfsync always`.
    Always,
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no persistence",
            Self::Always => "appendfsync always",
        })
    }
}

pub(super) fn arguments(
    command: &mut Command,
    persistence: Persistence,
    home: &Path,
    address: SocketAddr,
) {
    command
        .args(["--bind", "127.0.0.1", "--save", "", "--daemonize", "no"])
        .args(["--port", &address.port().to_string()])
        .arg("--dir")
        .arg(home);
    match persistence {
        Persistence::None => command.args(["--appendonly", "no"]),
        Persistence::Always => command.args(["--appendonly", "yes", "--appendfsync", "always"]),
    };
}

/// Has it speak TLS with this certificate on its port, and nothing else.
pub(super) fn encrypt(command: &mut Command, files: &ServerCertificate, address: SocketAddr) {
    command
        .args(["--port", "0", "--tls-port", &address.port().to_string()])
        .args(["--tls-auth-clients", "no", "--tls-cert-file"])
        .arg(&files.certificate)
        .arg("--tls-key-file")
        .arg(&files.key)
        .arg("--tls-ca-cert-file")
        .arg(&files.certificate);
}

pub(super) fn load_function(connection: &mut Connection) -> Result<()> {
    let reply = connection.command(&[b"FUNCTION", b"LOAD", FUNCTION])?;
    ensure!(!matches!(reply, Value::Error(_)), "refused: {reply:?}");
    Ok(())
}

/// The number of keys.
pub(super) fn keys(connection: &mut Connection) -> Result<u64> {
    let reply = connection.command(&[b"DBSIZE"])?;
    let Value::Integer(keys) = reply else {
        bail!("expected a number, and got {reply:?}");
    };
    Ok(u64::try_from(keys)?)
}
