//! A connection that reads and writes, perhaps through TLS, perhaps after a login.

use std::io::{self, BufRead as _, ErrorKind, Read, Write};

use rustls::ClientConnection;
use zeroize::Zeroizing;

use crate::{Denied, tls};

/// The longest answer to a login, in bytes.
const LOGIN_ANSWER_MAX: usize = 1_024;

/// A connection to a server. It may block or not.
///
/// Invariant: what the login and TLS still have to send is tried again with every read, write and flush.
#[derive(Debug)]
pub struct PeerStream<S> {
    pub socket: S,
    /// Boxed, as is the login: most connections have neither.
    tls: Option<Box<ClientConnection>>,
    /// Until it has been answered.
    login: Option<Box<Login>>,
}

/// A login that is under way.
struct Login {
    request: Zeroizing<Vec<u8>>,
    /// How much of the request was written.
    written: usize,
    answer: Vec<u8>,
}

/// The secret is not shown.
impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Login(..)")
    }
}

impl<S: Read + Write> PeerStream<S> {
    pub(crate) fn new(
        socket: S,
        tls: Option<ClientConnection>,
        login: Option<Zeroizing<Vec<u8>>>,
    ) -> Self {
        let login = login.map(|request| Login {
            request,
            written: 0,
            answer: Vec::new(),
        });
        Self {
            socket,
            tls: tls.map(Box::new),
            login: login.map(Box::new),
        }
    }

    /// The same on another kind of socket.
    pub fn map<T>(self, other: impl FnOnce(S) -> T) -> PeerStream<T> {
        PeerStream {
            socket: other(self.socket),
            tls: self.tls,
            login: self.login,
        }
    }

    /// The socket and what encrypts it, of a connection that has logged in.
    pub(crate) fn into_parts(self) -> (S, Option<Box<ClientConnection>>) {
        (self.socket, self.tls)
    }

    /// Whether a read that fills its buffer only in part may have left something.
    #[must_use]
    pub const fn reads_in_pieces(&self) -> bool {
        self.tls.is_some()
    }

    /// Agrees on how to encrypt, and logs in, on a socket that blocks.
    pub(crate) fn complete(&mut self) -> io::Result<()> {
        let in_time = |error: io::Error| match error.kind() {
            ErrorKind::WouldBlock => io::Error::new(
                ErrorKind::TimedOut,
                "the server did not answer in time to TLS or to the key",
            ),
            _ => error,
        };
        while let Some(connection) = self.tls.as_mut().filter(|tls| tls.is_handshaking()) {
            let done = connection.complete_io(&mut self.socket);
            done.map_err(tls::explained)
                .map_err(in_time)
                .map_err(no_tls)?;
        }
        while self.login.is_some() {
            self.log_in().map_err(in_time)?;
        }
        Ok(())
    }

    /// Takes the login as far as the socket lets it.
    ///
    /// # Errors
    /// `WouldBlock` while the server has not answered; or it does not accept the key.
    fn log_in(&mut self) -> io::Result<()> {
        let Some(mut login) = self.login.take() else {
            return Ok(());
        };
        let done = self.log_in_by(&mut login);
        if done.is_err() {
            self.login = Some(login);
        }
        done
    }

    fn log_in_by(&mut self, login: &mut Login) -> io::Result<()> {
        self.send_login(login)?;
        // One byte at a time: what follows is the answer to the first request.
        while !login.answer.ends_with(b"\r\n") {
            let mut byte = [0];
            match self.read_plain(&mut byte) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => login.answer.push(byte[0]),
                Err(error) => return Err(error),
            }
            if login.answer.len() > LOGIN_ANSWER_MAX {
                return Err(no_login());
            }
        }
        match login.answer.trim_ascii_end().split_first() {
            Some((b'+', _)) => Ok(()),
            Some((b'-', error)) => {
                let error = String::from_utf8_lossy(error).into_owned();
                Err(match Denied::of(&error) {
                    Some(denied) => denied.into(),
                    None if error.starts_with("LOADING ") => {
                        io::Error::new(ErrorKind::ResourceBusy, error)
                    }
                    None => io::Error::new(ErrorKind::PermissionDenied, error),
                })
            }
            _ => Err(no_login()),
        }
    }

    fn send_login(&mut self, login: &mut Login) -> io::Result<()> {
        while login.written < login.request.len() {
            match self.write_plain(&login.request[login.written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => login.written += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.flush_plain()
    }

    /// Writes the login, if that has not been done, so that a request may follow it.
    fn begin_login(&mut self) -> io::Result<()> {
        let Some(mut login) = self.login.take() else {
            return Ok(());
        };
        let done = self.send_login(&mut login);
        self.login = Some(login);
        done
    }

    fn read_plain(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return uninterrupted(|| self.socket.read(buffer));
        };
        loop {
            // One record at a time: on the arena's wire a message ends where its record does.
            match tls.reader().fill_buf() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Many servers close without saying so first.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) => return Err(error),
                Ok(record) => {
                    let length = record.len().min(buffer.len());
                    buffer[..length].copy_from_slice(&record[..length]);
                    tls.reader().consume(length);
                    return Ok(length);
                }
            }
            send(tls, &mut self.socket)?;
            uninterrupted(|| tls.read_tls(&mut self.socket))?;
            let processed = tls.process_new_packets();
            // An alert tells the server why: it is sent before the error is told here.
            let sent = send(tls, &mut self.socket);
            processed
                .map_err(io::Error::other)
                .map_err(tls::explained)?;
            sent?;
        }
    }

    fn write_plain(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.socket.write(bytes);
        };
        send(tls, &mut self.socket)?;
        let taken = tls.writer().write(bytes)?;
        send(tls, &mut self.socket)?;
        if taken == 0 && !bytes.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(taken)
    }

    fn flush_plain(&mut self) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => send(tls, &mut self.socket),
            None => Ok(()),
        }
    }
}

fn no_tls(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => io::Error::new(
            ErrorKind::InvalidData,
            "the server closed the connection when TLS began: perhaps it does not speak TLS here",
        ),
        _ => error,
    }
}

fn no_login() -> io::Error {
    let told = "the server answered a login by what is no RESP";
    io::Error::new(ErrorKind::InvalidData, told)
}

/// Reads again after a signal. A socket with a timeout ends a read when its process was stopped and goes on.
fn uninterrupted(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Sends what TLS has to send, as far as the socket takes it.
fn send(tls: &mut ClientConnection, socket: &mut impl Write) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(socket) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl<S: Read + Write> Read for PeerStream<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.login.is_some() {
            self.log_in()?;
        }
        self.read_plain(buffer)
    }
}

impl<S: Read + Write> Write for PeerStream<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.login.is_some() {
            self.begin_login()?;
        }
        self.write_plain(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.login.is_some() {
            match self.begin_login() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                done => done?,
            }
        }
        self.flush_plain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccessKey;

    /// Gives these bytes one by one, each after a read that a signal interrupts.
    struct Interrupted {
        bytes: &'static [u8],
        is_next: bool,
    }

    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.is_next = !self.is_next;
            if self.is_next {
                return Err(ErrorKind::Interrupted.into());
            }
            self.bytes.read(&mut buffer[..1])
        }
    }

    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_signal_ends_neither_a_login_nor_a_read() {
        let key = AccessKey::parse("ts_test_abc_secret").unwrap();
        let socket = Interrupted {
            bytes: b"+OK\r\n+PONG\r\n",
            is_next: false,
        };
        let mut stream = PeerStream::new(socket, None, Some(key.login()));
        let mut answer = [0; 7];
        for byte in &mut answer {
            assert_eq!(stream.read(std::slice::from_mut(byte)).unwrap(), 1);
        }
        assert_eq!(&answer, b"+PONG\r\n");
    }
}
