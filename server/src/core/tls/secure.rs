//! TLS on one connection of a fast door: from records to requests, and from answers to records.

use std::{
    cell::RefCell,
    fmt,
    io::{self, Read, Write},
    sync::Arc,
};

use rustls::{
    ClientConfig, Error, ServerConfig,
    client::UnbufferedClientConnection,
    pki_types::{CertificateDer, ServerName},
    server::UnbufferedServerConnection,
};

use super::{
    FIRST_BYTE,
    names::{names_of, process_name},
    records::{Sealed, drive, seal},
};
use crate::{
    core::{
        buffer::{Filled, Input, Output},
        conversation::Refusing,
    },
    counters::HandshakeEnd,
    limits::{OUTPUT_KEPT_BYTES, READ_BYTES, TLS_PARTIAL_BYTES, TLS_SEALED_BYTES},
};

thread_local! {
    /// Where records are read to and decrypted: one place for all connections of the thread, since no
    /// read is interrupted. It is overwritten after each, as the buffer of requests is.
    static RECORDS: RefCell<Box<[u8]>> =
        RefCell::new(vec![0; TLS_PARTIAL_BYTES + READ_BYTES].into());
}

/// What a client reads that does not speak TLS.
const PLAIN: &str = "this address serves TLS only: connect with TLS";

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandshakeStage {
    /// Nothing was heard.
    Fresh,
    Handshake,
    /// Requests and answers pass.
    Open,
    /// It was not TLS, or not what is accepted: nothing passes any more.
    Broken,
}

enum TlsSession {
    Server(UnbufferedServerConnection),
    Client(UnbufferedClientConnection),
}

/// The TLS state of one connection.
///
/// It works on the buffers that the connection has, and keeps next to none of its own while the
/// connection rests. The buffered interface of the library would keep some kilobytes for each.
pub(crate) struct Secure {
    session: TlsSession,
    stage: HandshakeStage,
    /// The start of a record, or of a message of the handshake, whose rest is still to come.
    partial: Vec<u8>,
    /// Records that the socket has not taken, from `written` on.
    outgoing: Vec<u8>,
    written: usize,
    /// Whether the peer was told that nothing more will come.
    is_ended: bool,
    /// The number of the handshake, 0 where it was dialed, and the sweep in which it began.
    begun: (u64, u32),
    /// The name that the peer must have, where it is another process.
    wanted: Option<Arc<str>>,
    /// The names of the peer's certificate, until they are taken.
    names: Option<Vec<String>>,
    /// How the door refuses a client that does not speak TLS.
    refusal: Refusing,
}

impl fmt::Debug for Secure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secure")
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

impl Secure {
    /// A connection that was accepted; nothing where the library refuses the configuration.
    pub(super) fn accept(
        config: Arc<ServerConfig>,
        (wanted, refusal): (Option<Arc<str>>, Refusing),
        begun: (u64, u32),
    ) -> Option<Self> {
        let session = UnbufferedServerConnection::new(config).ok()?;
        Some(Self::new(
            TlsSession::Server(session),
            wanted,
            refusal,
            begun,
        ))
    }

    /// A connection that is dialed to a peer of this name. What it says first is in its records.
    pub(super) fn dial(
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        sweep: u32,
    ) -> Option<Self> {
        let session = UnbufferedClientConnection::new(config, name).ok()?;
        let mut dialed = Self::new(
            TlsSession::Client(session),
            None,
            |_| Vec::new(),
            (0, sweep),
        );
        dialed.stage = HandshakeStage::Handshake;
        dialed.take(&mut [], &mut Input::default()).ok()?;
        Some(dialed)
    }

    fn new(
        session: TlsSession,
        wanted: Option<Arc<str>>,
        refusal: Refusing,
        begun: (u64, u32),
    ) -> Self {
        Self {
            session,
            stage: HandshakeStage::Fresh,
            partial: Vec::new(),
            outgoing: Vec::new(),
            written: 0,
            is_ended: false,
            begun,
            wanted,
            names: None,
            refusal,
        }
    }

    /// Whether requests and answers pass.
    pub(crate) fn is_open(&self) -> bool {
        self.stage == HandshakeStage::Open
    }

    /// The number of the handshake, while that is still to be done. What it costs is bounded in a turn.
    pub(crate) fn handshake(&self) -> Option<u64> {
        matches!(
            self.stage,
            HandshakeStage::Fresh | HandshakeStage::Handshake
        )
        .then_some(self.begun.0)
    }

    /// How the handshake ended, once it has.
    pub(crate) fn handshake_end(&self) -> HandshakeEnd {
        if !self.is_open() {
            return HandshakeEnd::Failed;
        }
        HandshakeEnd::of(match &self.session {
            TlsSession::Server(session) => session.handshake_kind(),
            TlsSession::Client(session) => session.handshake_kind(),
        })
    }

    /// The sweep in which it began.
    pub(crate) const fn begun(&self) -> u32 {
        self.begun.1
    }

    /// The names of the peer's certificate, once.
    pub(crate) const fn take_names(&mut self) -> Option<Vec<String>> {
        self.names.take()
    }

    /// Bytes that the socket has not taken.
    pub(crate) const fn unwritten(&self) -> usize {
        self.outgoing.len() - self.written
    }

    /// Whether a record has begun whose rest is still to come.
    pub(crate) const fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    /// The memory of what has come, and of what is to be written, in bytes.
    pub(crate) const fn sizes(&self) -> (usize, usize) {
        (self.partial.capacity(), self.outgoing.capacity())
    }

    /// Gives back the memory of what was written.
    pub(crate) fn rest(&mut self) {
        if self.outgoing.is_empty() {
            self.outgoing = Vec::new();
        }
    }

    /// Reads once, and appends to the input what the records hold. What the handshake says is written at
    /// once: it waits for no group.
    pub(crate) fn fill(
        &mut self,
        input: &mut Input,
        socket: &mut (impl Read + Write),
    ) -> io::Result<Filled> {
        let filled = RECORDS.with_borrow_mut(|records| {
            let begun = self.partial.len();
            let (before, room) = records.split_at_mut(begun);
            before.copy_from_slice(&self.partial);
            let size = room.len();
            let count = match socket.read(room) {
                Ok(0) => return Ok(Filled::End),
                Ok(count) => count,
                Err(failure) if failure.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Filled::Nothing);
                }
                Err(failure) if failure.kind() == io::ErrorKind::Interrupted => 0,
                Err(failure) => return Err(failure),
            };
            let more = count == size || count == 0;
            let came = records
                .get_mut(..begun + count)
                .expect("no more was read than there was room for");
            let taken = self.take(came, input);
            came.fill(0);
            Ok(match taken {
                Ok(false) => Filled::Bytes { count, more },
                Ok(true) => Filled::End,
                Err(()) => Filled::Broken,
            })
        })?;
        self.write_out(socket)?;
        Ok(filled)
    }

    /// Writes what the output has released, and, when `ends` and nothing is owed, the end. Answers how
    /// many bytes the socket has taken.
    pub(crate) fn flush(
        &mut self,
        output: &mut Output,
        socket: &mut impl Write,
        ends: bool,
    ) -> io::Result<usize> {
        let mut sealing = Sealing {
            secure: self,
            socket,
            written: 0,
        };
        output.flush(&mut sealing)?;
        let mut written = sealing.written;
        if ends && output.owed() == 0 && self.is_open() && !self.is_ended {
            self.is_ended = true;
            if let Err(failure) = self.seal(Sealed::End) {
                tracing::debug!(%failure, "a TLS connection ends without its last record");
            }
        }
        written += self.write_out(socket)?;
        Ok(written)
    }

    /// Takes these bytes, and answers whether the peer has ended its side. The start of what is not
    /// whole is kept. After an error there is only an alert left to be written.
    fn take(&mut self, came: &mut [u8], input: &mut Input) -> Result<bool, ()> {
        if self.stage == HandshakeStage::Fresh {
            if came.first() != Some(&FIRST_BYTE) {
                self.stage = HandshakeStage::Broken;
                self.outgoing = (self.refusal)(PLAIN);
                return Err(());
            }
            self.stage = HandshakeStage::Handshake;
        }
        let outgoing = &mut self.outgoing;
        let (used, has_ended) = match &mut self.session {
            TlsSession::Server(session) => drive(&mut *session, came, input, outgoing),
            TlsSession::Client(session) => drive(&mut *session, came, input, outgoing),
        }
        .map_err(|failure| self.fail(&failure))?;
        let rest = came.get(used..).unwrap_or_default();
        if rest.len() > TLS_PARTIAL_BYTES {
            let failure = Error::General("a message of the handshake is too long".to_owned());
            self.fail(&failure);
            return Err(());
        }
        if rest.is_empty() {
            self.partial = Vec::new();
        } else {
            self.partial.clear();
            self.partial.extend_from_slice(rest);
        }
        if self.stage == HandshakeStage::Handshake && !self.session.is_handshaking() {
            self.open()?;
        }
        Ok(has_ended)
    }

    /// The handshake is done.
    fn open(&mut self) -> Result<(), ()> {
        self.stage = HandshakeStage::Open;
        let certificate = self.session.peer_certificate();
        let names = certificate.map(names_of);
        if let Some(wanted) = &self.wanted
            && certificate.and_then(process_name).as_deref() != Some(wanted)
        {
            tracing::warn!(
                ?names,
                %wanted,
                "refused a line: the peer's certificate does not name a process of this installation"
            );
            self.stage = HandshakeStage::Broken;
            return Err(());
        }
        self.names = names;
        Ok(())
    }

    fn fail(&mut self, failure: &Error) {
        tracing::debug!(%failure, "a TLS connection broke");
        self.stage = HandshakeStage::Broken;
    }

    /// Makes records of this.
    fn seal(&mut self, what: Sealed<'_>) -> Result<(), Error> {
        let (partial, outgoing) = (&mut self.partial, &mut self.outgoing);
        match &mut self.session {
            TlsSession::Server(session) => seal(&mut *session, partial, what, outgoing),
            TlsSession::Client(session) => seal(&mut *session, partial, what, outgoing),
        }
    }

    fn write_out(&mut self, socket: &mut impl Write) -> io::Result<usize> {
        let begun = self.written;
        while let Some(rest) = self.outgoing.get(self.written..)
            && !rest.is_empty()
        {
            match socket.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.written += count,
                Err(failure) if failure.kind() == io::ErrorKind::WouldBlock => break,
                Err(failure) if failure.kind() == io::ErrorKind::Interrupted => {}
                Err(failure) => return Err(failure),
            }
        }
        let count = self.written - begun;
        if self.unwritten() == 0 {
            self.outgoing.clear();
            self.outgoing.shrink_to(OUTPUT_KEPT_BYTES);
            self.written = 0;
        }
        Ok(count)
    }
}

impl TlsSession {
    fn is_handshaking(&self) -> bool {
        match self {
            Self::Server(session) => session.is_handshaking(),
            Self::Client(session) => session.is_handshaking(),
        }
    }

    /// The certificate that the peer has shown, if it has.
    fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        let chain = match self {
            Self::Server(session) => session.peer_certificates(),
            Self::Client(session) => session.peer_certificates(),
        };
        chain?.first()
    }
}

/// The socket of a connection, as its output sees it: what is written becomes records. Several turns'
/// worth of them go to the socket at once.
struct Sealing<'a, S> {
    secure: &'a mut Secure,
    socket: &'a mut S,
    /// Bytes that the socket has taken.
    written: usize,
}

impl<S: Write> Write for Sealing<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.secure.is_open() || self.secure.is_ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if self.secure.unwritten() >= TLS_SEALED_BYTES {
            self.written += self.secure.write_out(self.socket)?;
            if self.secure.unwritten() > 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        let (part, _later) = bytes.split_at(bytes.len().min(TLS_SEALED_BYTES));
        let sealed = self.secure.seal(Sealed::Bytes(part));
        sealed.map_err(io::Error::other)?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
