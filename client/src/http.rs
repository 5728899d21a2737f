//! One blocking connection to the HTTP door, for requests that read.

use std::time::Duration;

use zeroize::Zeroize as _;

use crate::{AccessKey, ConnectionError, Denied, ServerAddress, wire::BufferedSocket};

/// The longest head of an answer that is read, in bytes.
const HEAD_BYTES: usize = 16 * 1_024;

/// A blocking connection, which stays open between requests. After an error it is of no further use.
#[derive(Debug)]
pub struct Connection {
    wire: BufferedSocket,
    /// What the certificate of the server is for, and the port.
    host: String,
    key: Option<AccessKey>,
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub status: u16,
    pub body: Vec<u8>,
}

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
struct AnswerHead {
    status: u16,
    content_length: usize,
}

impl Connection {
    /// Connects with `TCP_NODELAY`, through TLS where the address says so; `timeout` bounds the connect, and
    /// each later read and write. `host` is the name of the server without a port, and every request
    /// shows the key.
    ///
    /// # Errors
    /// No server listens at the address, or not in time; or it is not trusted.
    pub fn connect(
        address: &ServerAddress,
        (host, key): (&str, Option<AccessKey>),
        timeout: Duration,
    ) -> Result<Self, ConnectionError> {
        let port = address.socket().port();
        let host = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        Ok(Self {
            wire: BufferedSocket::connect(address, timeout)?,
            host,
            key,
        })
    }

    /// Asks for a path with its query.
    ///
    /// # Errors
    /// The connection failed, the answer is not HTTP, or the server does not let us in.
    pub fn get(&mut self, target: &str) -> Result<Fetched, ConnectionError> {
        let outbox = &mut self.wire.outbox;
        // Long enough from the start: what grows leaves copies of the key behind.
        outbox.reserve(4 * 1_024);
        for part in ["GET ", target, " HTTP/1.1\r\nHost: ", &self.host, "\r\n"] {
            outbox.extend_from_slice(part.as_bytes());
        }
        if let Some(key) = &self.key {
            for part in ["Authorization: ", &key.bearer(), "\r\n"] {
                outbox.extend_from_slice(part.as_bytes());
            }
        }
        outbox.extend_from_slice(b"Accept: application/json, */*\r\n\r\n");
        let sent = self.wire.flush();
        self.wire.outbox.zeroize();
        sent?;
        self.receive()
    }

    fn receive(&mut self) -> Result<Fetched, ConnectionError> {
        let head = loop {
            let waiting = self.wire.waiting();
            if let Some(end) = waiting.windows(4).position(|end| end == b"\r\n\r\n") {
                break AnswerHead::parse(self.wire.take(end + 4))
                    .ok_or(ConnectionError::NotHttp)?;
            }
            if waiting.len() > HEAD_BYTES {
                return Err(ConnectionError::NotHttp);
            }
            self.wire.read()?;
        };
        while self.wire.waiting().len() < head.content_length {
            self.wire.read()?;
        }
        let body = self.wire.take(head.content_length).to_vec();
        match head.status {
            401 if self.key.is_none() => Err(Denied::NoKey.into()),
            401 => Err(Denied::WrongKey.into()),
            status => Ok(Fetched { status, body }),
        }
    }
}

impl AnswerHead {
    /// Nothing: it is not HTTP, or does not say how long its body is.
    fn parse(head: &[u8]) -> Option<Self> {
        let head = str::from_utf8(head).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?;
        let headers = lines.filter_map(|line| line.split_once(':'));
        let find = |wanted: &str| {
            let mut headers = headers.clone();
            let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.trim())
        };
        Some(Self {
            status: status.parse().ok()?,
            content_length: find("content-length")?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// What a peer is asked that gives these answers in one connection, and what comes of them.
    fn asked(
        key: Option<&str>,
        answers: &'static [&'static str],
    ) -> (String, Vec<Result<Fetched, ConnectionError>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ServerAddress::from(listener.local_addr().unwrap());
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            for answer in answers {
                let begin = seen.len();
                while !seen[begin..].ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    seen.extend(byte);
                }
                let (one, other) = answer.split_at(answer.len() / 2);
                stream.write_all(one.as_bytes()).unwrap();
                stream.write_all(other.as_bytes()).unwrap();
            }
            String::from_utf8(seen).unwrap()
        });
        let port = address.socket().port();
        let key = key.map(|key| AccessKey::parse(key).unwrap());
        let timeout = Duration::from_secs(20);
        let mut connection = Connection::connect(&address, ("localhost", key), timeout).unwrap();
        let told = answers.iter().map(|_| connection.get("/v1/audit?limit=1"));
        let told = told.collect();
        drop(connection);
        let seen = peer.join().unwrap();
        (seen.replace(&port.to_string(), "PORT"), told)
    }

    #[test]
    fn requests_follow_each_other_on_one_connection_and_show_the_key() {
        let (seen, told) = asked(
            Some("ts_a_b_c"),
            &[
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                "HTTP/1.1 503 Service Unavailable\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n",
            ],
        );
        let request = "GET /v1/audit?limit=1 HTTP/1.1\r\nHost: localhost:PORT\r\n\
                       Authorization: Bearer ts_a_b_c\r\nAccept: application/json, */*\r\n\r\n";
        assert_eq!(seen, request.repeat(2));
        let answer = |status, body: &[u8]| Fetched {
            status,
            body: body.to_vec(),
        };
        let told: Vec<_> = told.into_iter().map(Result::unwrap).collect();
        assert_eq!(told, [answer(200, b"{}"), answer(503, b"")]);
    }

    #[test]
    fn a_key_that_is_refused_is_told_from_none() {
        let refused = &["HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"];
        for (key, expected) in [(None, Denied::NoKey), (Some("k"), Denied::WrongKey)] {
            let (_, mut told) = asked(key, refused);
            assert!(
                matches!(told.remove(0), Err(ConnectionError::Denied(denied)) if denied == expected)
            );
        }
    }

    #[test]
    fn what_is_no_answer_or_has_no_length_is_refused() {
        for answer in [
            "-ERR no\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 2\r\n\r\n",
        ] {
            assert_eq!(AnswerHead::parse(answer.as_bytes()), None, "{answer}");
        }
    }
}
