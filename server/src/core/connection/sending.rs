//! What leaves on a connection, and how it ends.

use std::{
    io::{self, Write},
    net::Shutdown,
};

use mio::net::TcpStream;
use rustix::net::{SendFlags, send};

use super::{Arriving, Connection, Life};
use crate::core::{
    buffer::{Filled, Input},
    conversation::Conversation,
};

/// A socket on which the last byte of what is written is marked as urgent.
struct Marking<'a>(&'a TcpStream);

impl Write for Marking<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.0, bytes, SendFlags::OOB | SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<C: Conversation> Connection<C> {
    /// Sends what was released.
    pub(crate) fn send(&mut self, sweep: u32) -> u64 {
        if self.phase == Life::Gone {
            return 0;
        }
        // Nobody pays for the end: it comes when nothing is owed.
        if self.owed() > 0 && self.follows_in_debt() {
            self.stalled = None;
            return 0;
        }
        let ends = self.phase == Life::Closing;
        let flushed = match &mut self.tls {
            Some(tls) => tls.flush(&mut self.output, &mut self.socket, ends),
            None if self.is_marked => self.output.flush(&mut Marking(&self.socket)),
            None => self.output.flush(&mut self.socket),
        };
        let sent = match flushed {
            Ok(sent) => sent,
            Err(failure) => {
                self.fail(&failure);
                0
            }
        };
        if self.has_said_all() {
            self.stalled = None;
            if self.phase == Life::Closing {
                self.part(sweep);
            }
        } else if self.owed() == self.output.held() {
            // It is the disk that it waits for.
            self.stalled = None;
        } else if sent > 0 || self.stalled.is_none() {
            self.stalled = Some(sweep);
        }
        self.active = sweep;
        let sent = sent.try_into().unwrap_or(0);
        if let Some(meter) = self.caller.meter() {
            meter.charge(sent);
        }
        sent
    }

    /// Whether it is told events, and its principal was sent more than its quota allows. What it follows
    /// waits then, like the events of a client that does not read.
    fn follows_in_debt(&self) -> bool {
        let meter = self.caller.meter().filter(|_| self.conversation.follows());
        meter.is_some_and(|meter| meter.debt().is_some())
    }

    /// Whether something that it is owed may wait until it is paid for.
    pub(crate) fn is_held_back(&self) -> bool {
        self.caller.meter().is_some() && self.conversation.follows() && self.is_owed()
    }

    /// Whether the socket has taken all that it can be given: without TLS that works, answers stay.
    fn has_said_all(&self) -> bool {
        match &self.tls {
            Some(tls) if !tls.is_open() => tls.unwritten() == 0,
            _ => self.owed() == 0,
        }
    }

    /// Tells the peer that nothing more will come.
    fn part(&mut self, sweep: u32) {
        let told = self.socket.shutdown(Shutdown::Write).is_ok();
        let listens = told && self.incoming != Arriving::Ended;
        self.phase = if listens {
            Life::Parting(sweep)
        } else {
            Life::Gone
        };
        self.note_readable(false);
    }

    pub(super) fn discard(&mut self, scratch: &mut Input) {
        let filled = scratch.fill(&mut self.socket);
        scratch.clear();
        match filled {
            Ok(Filled::Bytes { more: true, .. }) => {}
            Ok(Filled::Bytes { .. }) if self.incoming == Arriving::Ending => {}
            Ok(Filled::Bytes { .. } | Filled::Nothing) => self.incoming = Arriving::Drained,
            Ok(Filled::End | Filled::Broken) => self.phase = Life::Gone,
            Err(failure) => self.fail(&failure),
        }
    }
}
