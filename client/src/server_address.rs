//! Where a server is, and how it is spoken to.

use std::{
    fmt, io,
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::{AccessKey, PeerStream, tls::Tls};

/// A door of a server: its address, whether it is encrypted, and the key that a connection begins with.
/// Copies are cheap.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerAddress {
    socket: SocketAddr,
    tls: Option<Tls>,
    key: Option<AccessKey>,
}

impl From<SocketAddr> for ServerAddress {
    /// Not encrypted, and without a key.
    fn from(socket: SocketAddr) -> Self {
        Self {
            socket,
            tls: None,
            key: None,
        }
    }
}

impl From<&Self> for ServerAddress {
    fn from(address: &Self) -> Self {
        address.clone()
    }
}

impl ServerAddress {
    /// The same, encrypted in this way.
    #[must_use]
    pub fn with_tls(self, tls: Tls) -> Self {
        Self {
            tls: Some(tls),
            ..self
        }
    }

    /// The same; a connection begins with this key. Only the RESP door reads it there.
    #[must_use]
    pub fn with_key(self, key: AccessKey) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }

    /// Where the server listens.
    #[must_use]
    pub const fn socket(&self) -> SocketAddr {
        self.socket
    }

    /// Whether connections are encrypted.
    #[must_use]
    pub const fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether connections begin with a key.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Connects with `TCP_NODELAY`, agrees on how to encrypt, and logs in. `timeout` bounds the connect,
    /// and each later read and write.
    ///
    /// # Errors
    /// No server listens at the address, or not in time; its certificate is not trusted; or it does not
    /// accept the key: then there is a [`Denied`](crate::Denied) within the error.
    pub fn connect(&self, timeout: Duration) -> io::Result<PeerStream<TcpStream>> {
        let stream = TcpStream::connect_timeout(&self.socket, timeout)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        let mut stream = self.begin(stream)?;
        stream.complete()?;
        Ok(stream)
    }

    /// Begins on a socket that was connected to this address. Nothing is sent before something is
    /// written: the first request takes handshake and login along.
    ///
    /// # Errors
    /// TLS cannot begin.
    pub fn begin<S: io::Read + io::Write>(&self, socket: S) -> io::Result<PeerStream<S>> {
        let tls = self.tls.as_ref().map(Tls::begin).transpose()?;
        let login = self.key.as_ref().map(AccessKey::login);
        Ok(PeerStream::new(socket, tls, login))
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}

#[cfg(test)]
mod tests;
