//! How a session gets a connection, loses it, and gets another.

use std::io::{self, ErrorKind};

use mio::{Interest, net::TcpStream};

use super::{super::desk::Desk, Line, RETRY_NANOS, Session, User};

impl<U: User> Session<U> {
    /// Connects for the first time.
    pub(in crate::pace) fn arrive(&mut self, desk: &mut Desk) {
        desk.there += 1;
        desk.down += 1;
        self.line = Line::Down { retry_at: 0 };
        self.retry(desk);
    }

    /// Connects again, when it is time.
    pub(in crate::pace) fn retry(&mut self, desk: &mut Desk) {
        let Line::Down { retry_at } = self.line else {
            return;
        };
        if desk.now() < retry_at {
            return;
        }
        let interest = Interest::READABLE | Interest::WRITABLE;
        let connecting = TcpStream::connect(desk.address.socket()).and_then(|mut stream| {
            desk.registry.register(&mut stream, self.token, interest)?;
            Ok(stream)
        });
        match connecting {
            Ok(stream) => self.line = Line::Connecting(stream),
            Err(_counted) => self.retry_later(desk),
        }
    }

    pub(super) fn on_connected(&mut self, desk: &mut Desk) {
        let Line::Connecting(stream) = &self.line else {
            return;
        };
        let failed = match (stream.take_error(), stream.peer_addr()) {
            (Ok(None), Ok(_peer)) => stream.set_nodelay(desk.no_delay).is_err(),
            (Ok(None), Err(error)) if error.kind() == ErrorKind::NotConnected => return,
            (Ok(_) | Err(_), _) => true,
        };
        let retry_at = desk.now() + RETRY_NANOS;
        match std::mem::replace(&mut self.line, Line::Down { retry_at }) {
            Line::Connecting(stream) if !failed => {
                let Ok(stream) = desk.address.begin(stream) else {
                    return self.retry_later(desk);
                };
                self.line = Line::Up(stream);
                desk.down -= 1;
                self.user.connected();
                self.begin(desk);
            }
            Line::Connecting(_) | Line::Up(_) | Line::Down { .. } | Line::Away => {
                self.retry_later(desk);
            }
        }
    }

    fn retry_later(&mut self, desk: &mut Desk) {
        desk.tally().connects_failed += 1;
        let retry_at = desk.now() + RETRY_NANOS;
        self.line = Line::Down { retry_at };
    }

    /// The connection is of no more use. Dropping the stream takes it from the poller, too.
    pub(super) fn lose(&mut self, desk: &mut Desk) {
        desk.tally().connections_lost += 1;
        self.abandon(desk);
        if !self.user.disconnected() {
            self.line = Line::Away;
            return self.finish(desk);
        }
        desk.down += 1;
        let retry_at = desk.now() + RETRY_NANOS;
        self.line = Line::Down { retry_at };
    }

    /// The server has closed the connection, and owes nothing: another is made at once.
    pub(super) fn part(&mut self, now: u64, desk: &mut Desk) {
        desk.tally().reconnects += 1;
        self.abandon(desk);
        self.parted = Some(now);
        desk.down += 1;
        self.line = Line::Down { retry_at: 0 };
        if now < desk.stop {
            self.retry(desk);
        }
    }

    /// The connection has ended: with the answer that it was about, or while nothing was owed.
    pub(super) fn hear_end(&mut self, desk: &mut Desk) -> io::Result<()> {
        let now = desk.now();
        let is_idle = self.flights.is_empty() && self.rest.is_empty();
        if let Some(flight) = self.flights.front().copied()
            && self.flights.len() > self.unsent
            && let Some(answer) = self.user.hear_end(&flight.ask, &self.rest)
        {
            self.rest.clear();
            self.answered(flight, answer, (self.rest_since, now), desk);
        } else if !is_idle || self.leaves || !self.user.is_replaced() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.part(now, desk);
        Ok(())
    }
}
