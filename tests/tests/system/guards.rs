//! Servers whose directories have keys, and clients that log in.

use std::{net::SocketAddr, time::Duration};

use turnstile_access::SecretKey;
use turnstile_client::{AccessKey, Connection, ConnectionError, ServerAddress, resp::Value};

use crate::crash::listing::ask;

/// How long one answer may take; a slow machine needs a fraction of it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The number of the administrator's key.
pub(crate) const ROOT: u16 = u16::MAX;

/// A key that nobody guesses, for tests.
pub(crate) fn key(number: u16) -> SecretKey {
    let [high, low] = number.to_be_bytes();
    let key = SecretKey::new("test", [high, low, 0, 0, 0, 0, 0, 0], [7; 32]);
    key.expect("`test` names an environment")
}

/// Makes an administrator, `root`, where there are no keys yet, and logs in as that.
pub(crate) fn guard(resp: SocketAddr) -> Connection {
    let mut first = connect(resp.into()).expect("the server is there");
    add(&mut first, "root", "admin *", ROOT);
    logged_in(resp)
}

/// Adds a principal with one role and the key of this number.
pub(crate) fn add(root: &mut Connection, principal: &str, grant: &str, number: u16) {
    let (id, digest) = (key(number).id(), key(number).digest().hex());
    for command in [
        format!("ACCESS.ADD-PRINCIPAL {principal}"),
        format!("ACCESS.GRANT {principal} {grant}"),
        format!("ACCESS.ADD-KEY {principal} {id} {digest}"),
    ] {
        put(root, &command);
    }
}

/// Has something done, or asks something.
pub(crate) fn put(connection: &mut Connection, command: &str) -> Value {
    let words: Vec<&str> = command.split(' ').collect();
    ask(connection, &words).unwrap_or_else(|failure| panic!("{failure}"))
}

/// A connection of the administrator.
pub(crate) fn logged_in(resp: SocketAddr) -> Connection {
    let connected = connect(with_key(resp, ROOT));
    connected.unwrap_or_else(|failure| panic!("{failure}"))
}

/// The door for whoever has the key of this number.
pub(crate) fn with_key(resp: SocketAddr, number: u16) -> ServerAddress {
    let key = AccessKey::parse(key(number).expose()).expect("a key of ours is one");
    ServerAddress::from(resp).with_key(key)
}

/// A connection that speaks RESP3.
pub(crate) fn connect(address: ServerAddress) -> Result<Connection, ConnectionError> {
    let mut connection = Connection::connect(address, TIMEOUT)?;
    match connection.command(&[b"HELLO", b"3"])? {
        Value::Error(error) => Err(ConnectionError::Server(error)),
        _hello => Ok(connection),
    }
}
