//! New connections: taken in at the doors, or turned away.

use std::net::SocketAddr;

use mio::{Interest, Token, net::TcpStream};

use super::{Accepting, FastLoop};
use crate::{
    core::{
        caller::{Caller, NotPermitted},
        connection::Connection,
        conversation::{Conversation as _, DoorSet, FastDoor, Refusing},
        listener::{Accepted, NO_PRINCIPAL, RECOVERING, TOO_MANY, refuse},
        quotas::QuotaExceeded,
        tls::Secure,
    },
    counters::HandshakeEnd,
    limits::ACCEPTS,
};

impl<D: DoorSet> FastLoop<D> {
    /// Takes in those who wait at the doors, some of each.
    pub(super) fn accept(&mut self) {
        if self.accepting != Accepting::NextTurn {
            return;
        }
        self.accepting = Accepting::WhenTold;
        for number in 0..self.listeners.len() {
            self.accept_at(number);
        }
    }

    fn accept_at(&mut self, number: usize) {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.listeners.get_mut(number) else {
                return;
            };
            let (door, refusal) = (listener.door(), listener.refusal());
            match listener.accept() {
                Accepted::Connection(socket, peer) => self.welcome((door, refusal), socket, peer),
                Accepted::Nobody => return,
                Accepted::NoDescriptor => {
                    tracing::warn!("no file descriptor left for a new connection");
                    self.engine.counters.of(door.name).refused.add(1);
                    self.accepting = Accepting::NextSweep;
                    return;
                }
            }
        }
        // There may be more: they have their turn after those who are here.
        self.accepting = Accepting::NextTurn;
    }

    pub(super) fn welcome(
        &mut self,
        (door, refusal): (&FastDoor, Refusing),
        mut socket: TcpStream,
        peer: SocketAddr,
    ) {
        let counted = self.engine.counters.of(door.name);
        let is_full = match door.most {
            Some(most) => counted.open.get() >= most,
            None => self.connections.open() >= self.limits.connections,
        };
        if is_full && !self.drop_stranger_for(door) && !self.drop_handshake_for(door) {
            self.engine.counters.of(door.name).refused.add(1);
            refuse(&mut socket, refusal, TOO_MANY);
            return;
        }
        let counted = self.engine.counters.of(door.name);
        if self.engine.recovery().is_some() && !door.serves_early {
            counted.refused.add(1);
            refuse(&mut socket, refusal, RECOVERING);
            return;
        }
        let caller = self.doors.caller_at(door.name, peer);
        if self.serves_nobody(door, &caller) {
            counted.refused.add(1);
            refuse(&mut socket, refusal, NO_PRINCIPAL);
            return;
        }
        let caller = match self.counted(caller) {
            Ok(caller) => caller,
            Err(exceeded) => {
                counted.refused.add(1);
                self.engine.deny(NotPermitted::Quota(exceeded));
                refuse(&mut socket, refusal, &exceeded.to_string());
                return;
            }
        };
        let counted = self.engine.counters.of(door.name);
        counted.accepted.add(1);
        self.connections_ever += 1;
        let client = (self.connections_ever, peer);
        let since_ms = self.engine.now().0;
        let Some(conversation) = self.doors.welcome(door.name, client, since_ms) else {
            return;
        };
        let admitted = if self.tls.is_none() {
            self.admit(socket, None, (conversation, caller))
        } else if let Some(secure) = self.begin_handshake(door, client.0) {
            let admitted = self.admit(socket, Some(secure), (conversation, caller));
            if admitted.is_none() {
                self.end_handshake((client.0, door.name), HandshakeEnd::Failed);
            }
            admitted
        } else {
            None
        };
        if let Some(place) = admitted {
            self.note_stranger(place);
        }
    }

    /// A caller as it is when it comes: with its rights and its quota as far as they are known, and counted
    /// among the connections of its principal if the configuration names that.
    fn counted(&self, mut caller: Caller) -> Result<Caller, QuotaExceeded> {
        if self.engine.recovery().is_some() {
            return Ok(caller);
        }
        let quotas = (self.engine.access(), &*self.engine.meters);
        // Whoever may do nothing yet is told so at its first request.
        let renewed = caller.renew(quotas, self.engine.now());
        if renewed.is_err() || !caller.is_named() {
            return Ok(caller);
        }
        caller.counted(&self.engine.meters, &Caller::unknown())
    }

    /// Takes a connection among those that are served, and says at which place.
    pub(super) fn admit(
        &mut self,
        mut socket: TcpStream,
        secure: Option<Box<Secure>>,
        (conversation, caller): (D::Session, Caller),
    ) -> Option<usize> {
        let place = self.connections.next_place();
        // Both interests at once and for ever: edges that nobody waits for cost nothing, and no
        // request ever pays for a change of interest.
        let interest = Interest::READABLE | Interest::WRITABLE;
        let prepared = socket.set_nodelay(true).and_then(|()| {
            self.poll
                .registry()
                .register(&mut socket, Token(place), interest)
        });
        if let Err(failure) = prepared {
            tracing::debug!(%failure, "a connection broke before it was served");
            return None;
        }
        let door = conversation.door().name;
        self.engine.counters.of(door).open.add(1);
        let connection = Connection::new(socket, secure, conversation, caller, self.sweep);
        self.connections.add(Box::new(connection));
        Some(place)
    }
}
