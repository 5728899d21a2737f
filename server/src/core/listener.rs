//! The door itself: accepting connections, and turning them away when there are too many.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr},
};

use mio::{
    Interest, Registry, Token,
    net::{TcpListener, TcpStream},
};

use crate::core::{
    conversation::{FastDoor, Refusing},
    tls::REFUSED_HANDSHAKE,
};

/// What an attempt to accept brought.
pub(crate) enum Accepted {
    Connection(TcpStream, SocketAddr),
    /// Nobody waits.
    Nobody,
    /// The process has no descriptor left: try again at the next sweep, not at once.
    NoDescriptor,
}

/// Errors by which the system says that descriptors or memory have run out: EMFILE, ENFILE,
/// ENOBUFS, ENOMEM.
const EXHAUSTED: [i32; 4] = [24, 23, 105, 12];

/// What is read of a client that is refused: a handshake and its first requests.
const REFUSED_BYTES: usize = 4 * 1_024;

/// A listening socket, and one descriptor in reserve: when none is left, the reserve is spent to
/// accept and close one connection, so that its client is told at once instead of hanging.
pub(crate) struct Listener {
    door: &'static FastDoor,
    socket: TcpListener,
    /// How a client is told that it is not served, before anything was said.
    refusal: Refusing,
    reserve: Option<File>,
}

impl Listener {
    pub(crate) fn new(
        door: &'static FastDoor,
        (socket, is_secured): (std::net::TcpListener, bool),
        registry: &Registry,
        token: Token,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let mut socket = TcpListener::from_std(socket);
        registry.register(&mut socket, token, Interest::READABLE)?;
        Ok(Self {
            refusal: if is_secured {
                refuse_handshake
            } else {
                door.refusal
            },
            door,
            socket,
            reserve: spare(),
        })
    }

    pub(crate) const fn door(&self) -> &'static FastDoor {
        self.door
    }

    pub(crate) const fn refusal(&self) -> Refusing {
        self.refusal
    }

    pub(crate) fn accept(&mut self) -> Accepted {
        loop {
            match self.socket.accept() {
                Ok((socket, peer)) => return Accepted::Connection(socket, peer),
                Err(failure) if failure.kind() == io::ErrorKind::WouldBlock => {
                    return Accepted::Nobody;
                }
                Err(failure) if is_exhausted(&failure) => {
                    self.turn_one_away();
                    return Accepted::NoDescriptor;
                }
                // The connection broke before it was accepted; the next one may not have.
                Err(_broken) => {}
            }
        }
    }

    fn turn_one_away(&mut self) {
        drop(self.reserve.take());
        if let Ok((mut socket, _peer)) = self.socket.accept() {
            refuse(&mut socket, self.refusal, TOO_MANY);
        }
        self.reserve = spare();
    }
}

fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}

fn is_exhausted(failure: &io::Error) -> bool {
    failure
        .raw_os_error()
        .is_some_and(|code| EXHAUSTED.contains(&code))
}

/// Why a client is turned away.
pub(crate) const TOO_MANY: &str = "too many connections are open";
pub(crate) const NO_PRINCIPAL: &str =
    "this server has keys, and this door has no principal in the configuration";
pub(crate) const RECOVERING: &str = "the server recovers its journal, try again later";

fn refuse_handshake(_why: &str) -> Vec<u8> {
    REFUSED_HANDSHAKE.to_vec()
}

/// Tells a client why it is not served. Whether it hears it is its own business.
pub(crate) fn refuse(socket: &mut TcpStream, refusal: Refusing, why: &str) {
    let sentence = refusal(why);
    if sentence.is_empty() {
        return;
    }
    // What is left unread when it is closed would reset the connection.
    let told = socket
        .write(&sentence)
        .and_then(|_| socket.shutdown(Shutdown::Write))
        .map(|()| socket.read(&mut [0; REFUSED_BYTES]));
    if let Err(failure) = told {
        tracing::debug!(%failure, "cannot send the refusal to a client");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exhaustion_makes_the_door_back_off() {
        for code in EXHAUSTED {
            assert!(is_exhausted(&io::Error::from_raw_os_error(code)));
        }
        for kind in [io::ErrorKind::ConnectionAborted, io::ErrorKind::WouldBlock] {
            assert!(!is_exhausted(&kind.into()));
        }
    }
}
