//! One blocking connection to the door of travel.

use std::{collections::VecDeque, fmt, io::Write as _, time::Duration};

pub use turnstile_lines::{
    LineVerb,
    client::{Reply, number, started},
};

use crate::{ConnectionError, ServerAddress, wire::BufferedSocket};

/// A blocking connection. Lines may be pipelined: each [`send`](Self::send) is answered by one
/// [`receive`](Self::receive), in order. What is sent waits in memory until then, so that a batch
/// costs one write; the caller bounds the batch.
///
/// After an error the connection is of no further use: answers could be matched with the wrong
/// lines.
#[derive(Debug)]
pub struct Connection {
    wire: BufferedSocket,
    /// The commands whose answers are owed, in order: they say where an answer ends.
    asked: VecDeque<LineVerb>,
}

impl Connection {
    /// Connects with `TCP_NODELAY`, through TLS and with a login where the address says so; `timeout`
    /// bounds the connect, and each later read and write.
    /// A line that waits for a lock is answered when the server gives up at the latest.
    ///
    /// # Errors
    /// No server listens at the address, or not in time; or it is not trusted, or does not let us in.
    pub fn connect(
        address: impl Into<ServerAddress>,
        timeout: Duration,
    ) -> Result<Self, ConnectionError> {
        Ok(Self {
            wire: BufferedSocket::connect(&address.into(), timeout)?,
            asked: VecDeque::new(),
        })
    }

    /// Queues one line: a command and its arguments, which stand between commas.
    pub fn send(&mut self, verb: LineVerb, arguments: fmt::Arguments<'_>) {
        let line = &mut self.wire.outbox;
        let written = match arguments.as_str() {
            Some("") => writeln!(line, "{verb}"),
            _ => writeln!(line, "{verb},{arguments}"),
        };
        written.expect("writing to memory does not fail");
        self.asked.push_back(verb);
    }

    /// Sends one line and waits for its answer.
    ///
    /// # Errors
    /// The connection failed.
    pub fn ask(
        &mut self,
        verb: LineVerb,
        arguments: fmt::Arguments<'_>,
    ) -> Result<Reply<'_>, ConnectionError> {
        self.send(verb, arguments);
        self.receive()
    }

    /// Sends what is queued and waits for the next answer.
    ///
    /// # Panics
    /// No answer is owed.
    ///
    /// # Errors
    /// The connection failed.
    pub fn receive(&mut self) -> Result<Reply<'_>, ConnectionError> {
        let verb = self.asked.pop_front().expect("each answer is asked for");
        self.wire.flush()?;
        let reply = turnstile_lines::client::reply;
        let length = loop {
            match reply(verb, self.wire.waiting()) {
                Some((_, length)) => break length,
                None => self.wire.read()?,
            }
        };
        let (reply, _) = reply(verb, self.wire.take(length)).expect("it is there whole");
        Ok(reply)
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

    #[test]
    fn answers_come_in_order_and_each_ends_where_its_command_says() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let lines = "Start\nQueryCustomer,7,42\nQueryFlight,7,9\nSummary,7\n";
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            let mut asked = vec![0; lines.len()];
            stream.read_exact(&mut asked).unwrap();
            let pieces = [
                "Transaction 7 started\nBill for customer 42\n1 flight-9 $10\n",
                "\nNumber of seats available: 4\n",
                "\n",
            ];
            for piece in pieces {
                stream.write_all(piece.as_bytes()).unwrap();
            }
            asked
        });
        let mut door = Connection::connect(address, Duration::from_secs(20)).unwrap();
        door.send(LineVerb::Start, format_args!(""));
        door.send(LineVerb::QueryCustomer, format_args!("{},{}", 7, 42));
        door.send(LineVerb::QueryFlight, format_args!("7,9"));
        door.send(LineVerb::Summary, format_args!("7"));
        let expected: [&[u8]; 4] = [
            b"Transaction 7 started",
            b"Bill for customer 42\n1 flight-9 $10",
            b"Number of seats available: 4",
            b"",
        ];
        for done in expected {
            assert_eq!(door.receive().unwrap(), Reply::Done(done));
        }
        assert_eq!(peer.join().unwrap(), lines.as_bytes());
        assert!(matches!(
            door.ask(LineVerb::Start, format_args!("")),
            Err(ConnectionError::Closed | ConnectionError::Io(_))
        ));
    }
}
