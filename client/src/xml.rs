//! One blocking connection to the XML door.

use std::time::Duration;

use turnstile_xml::{Framed, client::frame};

use crate::{ConnectionError, ServerAddress, wire::BufferedSocket};

/// A blocking connection. Requests may be pipelined: each is answered by one
/// [`receive`](Self::receive), in order. What is put into the [`outbox`](Self::outbox) waits in
/// memory until then, so that a batch costs one write; the caller bounds the batch.
///
/// After an error the connection is of no further use.
#[derive(Debug)]
pub struct Connection(BufferedSocket);

impl Connection {
    /// Connects with `TCP_NODELAY`, through TLS and with a login where the address says so; `timeout`
    /// bounds the connect, and each later read and write.
    ///
    /// # Errors
    /// No server listens at the address, or not in time; or it is not trusted, or does not let us in.
    pub fn connect(
        address: impl Into<ServerAddress>,
        timeout: Duration,
    ) -> Result<Self, ConnectionError> {
        Ok(Self(BufferedSocket::connect(&address.into(), timeout)?))
    }

    /// Where requests are appended, whole ones, as by [`turnstile_xml::client::Outgoing`].
    pub const fn outbox(&mut self) -> &mut Vec<u8> {
        &mut self.0.outbox
    }

    /// Sends what is queued and waits for the XML of the next answer.
    ///
    /// # Errors
    /// The connection failed.
    pub fn receive(&mut self) -> Result<&[u8], ConnectionError> {
        self.0.flush()?;
        loop {
            match frame(self.0.waiting()) {
                Framed::Frame { xml, consumed } => {
                    let answer = self.0.take(consumed);
                    return Ok(&answer[xml]);
                }
                Framed::Incomplete { .. } => self.0.read()?,
                Framed::Broken(_) => return Err(ConnectionError::NotXml),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, net::TcpListener, thread};

    use super::*;

    fn peer(pieces: Vec<Vec<u8>>) -> (Connection, thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            for piece in pieces {
                stream.write_all(&piece).unwrap();
            }
        });
        let connection = Connection::connect(address, Duration::from_secs(20)).unwrap();
        (connection, peer)
    }

    #[test]
    fn answers_come_in_order_whole_and_with_or_without_a_length() {
        let long = format!("<results>{}</results>", "<created id=\"7\"/>".repeat(5_000));
        let (mut connection, peer) = peer(vec![
            b"<results></res".to_vec(),
            b"ults>\n19\n<results></results>".to_vec(),
            long.clone().into_bytes(),
        ]);
        assert_eq!(connection.receive().unwrap(), b"<results></results>");
        assert_eq!(connection.receive().unwrap(), b"<results></results>");
        assert_eq!(connection.receive().unwrap(), long.as_bytes());
        assert!(matches!(connection.receive(), Err(ConnectionError::Closed)));
        peer.join().unwrap();
    }

    #[test]
    fn what_begins_no_answer_ends_the_connection() {
        let (mut connection, peer) = peer(vec![b"HTTP/1.1 400".to_vec()]);
        assert!(matches!(connection.receive(), Err(ConnectionError::NotXml)));
        peer.join().unwrap();
    }
}
