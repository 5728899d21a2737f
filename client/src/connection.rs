//! One blocking connection to the RESP door.

use std::time::Duration;

use crate::{
    ConnectionError, ServerAddress,
    resp::{self, ReplyLimits, Value},
    wire::BufferedSocket,
};

/// A blocking connection. Requests may be pipelined: each [`send`](Self::send) is answered by one
/// [`receive`](Self::receive), in order. What is sent waits in memory until
/// [`flush`](Self::flush), `receive` or [`command`](Self::command), so that a batch costs one
/// write; the caller bounds the batch.
///
/// After an error the connection is of no further use: answers could be matched with the wrong
/// requests.
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

    /// Sends one request and waits for its answer. An error reply is a [`Value::Error`].
    ///
    /// # Errors
    /// The connection failed.
    pub fn command(&mut self, arguments: &[&[u8]]) -> Result<Value, ConnectionError> {
        self.send(arguments);
        self.receive()
    }

    /// Queues one request.
    pub fn send(&mut self, arguments: &[&[u8]]) {
        resp::put_command(&mut self.0.outbox, arguments);
    }

    /// Writes what is queued.
    ///
    /// # Errors
    /// The connection failed.
    pub fn flush(&mut self) -> Result<(), ConnectionError> {
        self.0.flush()
    }

    /// Waits for the next reply.
    ///
    /// # Errors
    /// The connection failed.
    pub fn receive(&mut self) -> Result<Value, ConnectionError> {
        self.flush()?;
        loop {
            if let Some((value, length)) = resp::decode(self.0.waiting(), &ReplyLimits::REPLY)? {
                self.0.take(length);
                return Ok(value);
            }
            self.0.read()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread,
        time::Duration,
    };

    use super::{Connection, ConnectionError};
    use crate::resp::{MalformedReply, Value};

    const TIMEOUT: Duration = Duration::from_secs(20);

    /// A peer that waits for exactly `request`, sends `answer` in the given pieces and closes.
    fn peer(request: &'static [u8], answer: Vec<Vec<u8>>) -> (Connection, thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            let mut seen = vec![0; request.len()];
            stream.read_exact(&mut seen).unwrap();
            assert_eq!(seen, request);
            for piece in answer {
                stream.write_all(&piece).unwrap();
            }
        });
        (Connection::connect(address, TIMEOUT).unwrap(), peer)
    }

    #[test]
    fn a_command_is_answered_and_a_pipeline_in_order() {
        let (mut connection, peer) = peer(
            b"*1\r\n$4\r\nPING\r\n*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n",
            vec![
                b"+PO".to_vec(),
                b"NG\r\n:1\r\n-ERR".to_vec(),
                b" b\r\n".to_vec(),
            ],
        );
        connection.send(&[b"PING"]);
        connection.send(&[b"a"]);
        connection.send(&[b"b"]);
        assert_eq!(connection.receive().unwrap(), Value::Simple("PONG".into()));
        assert_eq!(connection.receive().unwrap(), Value::Integer(1));
        let error = connection.receive().unwrap();
        assert_eq!(error, Value::Error("ERR b".into()));
        assert!(matches!(connection.receive(), Err(ConnectionError::Closed)));
        peer.join().unwrap();
    }

    #[test]
    fn a_reply_longer_than_every_buffer_is_read_whole() {
        let content = b"0123456789abcdef".repeat(20_000);
        let head = format!("${}\r\n", content.len()).into_bytes();
        let answer = vec![head, content.clone(), b"\r\n".to_vec()];
        let (mut connection, peer) = peer(b"*1\r\n$4\r\nLONG\r\n", answer);
        let reply = connection.command(&[b"LONG"]).unwrap();
        assert_eq!(reply, Value::Bulk(content));
        peer.join().unwrap();
    }

    #[test]
    fn what_is_no_reply_ends_the_connection() {
        let (mut connection, peer) = peer(b"*1\r\n$1\r\nx\r\n", vec![b"HTTP/1.1 400".to_vec()]);
        let error = connection.command(&[b"x"]).unwrap_err();
        assert!(matches!(
            error,
            ConnectionError::Malformed(MalformedReply::Type(b'H'))
        ));
        peer.join().unwrap();
    }

    /// A listener that accepts nothing: the kernel connects and takes the request.
    #[test]
    fn a_timeout_says_that_the_outcome_is_unknown() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let timeout = Duration::from_millis(100);
        let mut connection = Connection::connect(listener.local_addr().unwrap(), timeout).unwrap();
        let error = connection.command(&[b"PING"]).unwrap_err();
        assert!(matches!(error, ConnectionError::TimedOut(passed) if passed == timeout));
        assert_eq!(
            error.to_string(),
            "no answer within 100ms: the server may have carried out the request or not"
        );
    }
}
