//! Somebody who types command lines at the middleware's door.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use super::company::glance;

/// What a server says, and then closes the connection, that has opened its door but has not recovered
/// its journal yet.
const RECOVERS: &str = "Command exception: the server recovers its journal";

/// How long one answer, or the door, may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Clerk {
    socket: BufReader<TcpStream>,
}

impl Clerk {
    /// Waits until the door is open.
    pub(crate) fn at(address: SocketAddr) -> Self {
        let end = Instant::now() + PATIENCE;
        let socket = loop {
            match TcpStream::connect(address) {
                Ok(socket) => break socket,
                Err(failure) => assert!(Instant::now() < end, "{address}: {failure}"),
            }
            glance();
        };
        socket.set_nodelay(true).expect("a socket");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        Self {
            socket: BufReader::new(socket),
        }
    }

    /// Says a line, and hears its answer without its last line end. Nothing: the server has ended, or
    /// does not serve yet.
    pub(crate) fn tries(&mut self, line: &str) -> Option<String> {
        let asked = format!("{line}\n");
        self.socket.get_mut().write_all(asked.as_bytes()).ok()?;
        let is_block = ["QueryCustomer", "Summary"]
            .iter()
            .any(|verb| line.starts_with(verb));
        let mut answer = String::new();
        loop {
            let begin = answer.len();
            match self.socket.read_line(&mut answer) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(failure) if failure.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(failure) => panic!("{line}: {failure}"),
            }
            let last = answer[begin..].trim_end();
            if !is_block || last.is_empty() || last.contains("Transaction") {
                answer.truncate(answer.trim_end().len());
                return Some(answer).filter(|answer| !answer.starts_with(RECOVERS));
            }
        }
    }

    /// As [`tries`](Self::tries), of a server that must not end.
    #[track_caller]
    pub(crate) fn says(&mut self, line: &str) -> String {
        self.tries(line)
            .unwrap_or_else(|| panic!("{line}: the server has ended"))
    }

    /// Starts a transaction, if the server does not end.
    pub(crate) fn starts(&mut self) -> Option<u64> {
        let answer = self.tries("Start")?;
        let number = answer.split(' ').nth(1).and_then(|xid| xid.parse().ok());
        Some(number.unwrap_or_else(|| panic!("no transaction: {answer}")))
    }
}
