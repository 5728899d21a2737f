//! The bytes of a connection of the HTTP door, with TLS or without.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

use crate::core::tls::names_of;

/// The bytes of one connection.
#[derive(Debug)]
pub(super) enum HttpStream {
    Plain(TcpStream),
    Secured(Box<TlsStream<TcpStream>>),
}

impl HttpStream {
    pub(super) const fn is_secured(&self) -> bool {
        matches!(self, Self::Secured(_))
    }

    /// The address of the client.
    pub(super) fn peer(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Plain(stream) => stream.peer_addr(),
            Self::Secured(stream) => stream.get_ref().0.peer_addr(),
        }
    }

    /// Ready when there is something to read, be it the end.
    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        let socket = match self {
            Self::Plain(stream) => stream,
            Self::Secured(stream) => stream.get_ref().0,
        };
        // Whoever reads is told what is wrong.
        socket.poll_read_ready(cx).map(drop)
    }

    /// The names of the certificate that the client has shown, if it has.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let Self::Secured(stream) = self else {
            return None;
        };
        let chain = stream.get_ref().1.peer_certificates();
        chain.and_then(<[_]>::first).map(names_of)
    }
}

/// Does the same with either kind of stream.
macro_rules! either {
    ($self:ident, $stream:ident => $does:expr) => {
        match $self.get_mut() {
            Self::Plain(stream) => {
                let $stream = Pin::new(stream);
                $does
            }
            Self::Secured(stream) => {
                let $stream = Pin::new(stream.as_mut());
                $does
            }
        }
    };
}

impl AsyncRead for HttpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_read(cx, room))
    }
}

impl AsyncWrite for HttpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, stream => stream.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_shutdown(cx))
    }
}
