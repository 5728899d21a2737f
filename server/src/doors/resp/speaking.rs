//! The RESP door as the loop sees it: a session and what has been decoded of its input.

use std::net::SocketAddr;

use turnstile_access::Rights;
use turnstile_resp::{Decoder, Encoder, Fault, Protocol, travel::Decided};
use turnstile_travel::Outcome;
use turnstile_types::{Position, Principal};

use super::{
    Session,
    batch::MultiBatch,
    run::{Run, RunEnd},
};
use crate::{
    core::{
        conversation::{
            ClientProof, Continuation, Conversation, FastDoor, InputRefused, ListedClient,
            Progress, Surroundings,
        },
        listener::TOO_MANY,
        remote::Landed,
        request_log::RequestNote,
        shares::Shares,
    },
    counters::{DoorName, ErrorCode},
    limits::AHEAD,
};

/// The door for Redis clients.
pub(crate) static RESP: FastDoor = FastDoor {
    name: DoorName::Resp,
    refusal: |why| match why {
        TOO_MANY => b"-ERR max number of clients reached\r\n".into(),
        other => format!("-ERR {other}\r\n").into(),
    },
    most: None,
    serves_early: true,
    has_frames: true,
    proof: ClientProof::Key,
};

/// One client of the RESP door.
#[derive(Debug)]
pub(crate) struct RespSession {
    session: Session,
    decoder: Decoder,
}

impl RespSession {
    pub(crate) fn new((id, peer): (u64, SocketAddr), since_ms: u64) -> Self {
        Self {
            session: Session::new(id, peer, since_ms),
            decoder: Decoder::new(),
        }
    }
}

impl Session {
    /// The client, as `CLIENT LIST` shows it.
    pub(super) fn listed(&self, principal: Principal) -> ListedClient<'_> {
        let (channels, patterns) = self.following.counts();
        ListedClient {
            id: self.id,
            peer: self.peer,
            principal,
            name: &self.name,
            library: &self.library,
            library_version: &self.library_version,
            protocol: if self.protocol == Protocol::Resp3 {
                3
            } else {
                2
            },
            channels,
            patterns,
            since_ms: self.since_ms,
        }
    }

    /// The stream makes no sense any more.
    fn break_off(
        &self,
        around: &Surroundings<'_>,
        fault: Fault,
        out: &mut Vec<u8>,
    ) -> Continuation {
        around.engine.counters.error(ErrorCode::Protocol);
        tracing::info!(%fault, "a connection broke the protocol");
        if fault == Fault::Browser {
            return Continuation::Drop;
        }
        Encoder::new(out, self.protocol).error(format_args!("ERR Protocol error: {fault}"));
        Continuation::Close
    }
}

impl Conversation for RespSession {
    type Shared = ();

    fn door(&self) -> &'static FastDoor {
        &RESP
    }

    #[inline]
    fn run(
        &mut self,
        (): &mut (),
        around: &mut Surroundings<'_>,
        (bytes, budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        let Self { session, decoder } = self;
        let run = session.run(around, decoder, bytes, budget.min(AHEAD), out);
        let Run {
            length, requests, ..
        } = run;
        let next = match run.end {
            RunEnd::More => Continuation::More,
            RunEnd::Incomplete => Continuation::Incomplete,
            RunEnd::Close => Continuation::Close,
            RunEnd::Fault(fault) => session.break_off(around, fault, out),
        };
        Progress {
            length,
            requests,
            next,
        }
    }

    fn listed(&self, principal: Principal) -> Option<ListedClient<'_>> {
        Some(self.session.listed(principal))
    }

    fn into_shares(self) -> Option<Shares> {
        Some(*self.session.shares)
    }

    fn follows(&self) -> bool {
        !self.session.following.is_empty()
    }

    fn outlasts_drain(&self) -> bool {
        self.session.watches_drain
    }

    fn may_go_on(&self, rights: &Rights) -> bool {
        self.session.following.is_permitted(rights).is_ok()
    }

    fn put_message(&self, message: (&str, &str), out: &mut Vec<u8>) {
        let Session {
            following,
            protocol,
            ..
        } = &self.session;
        following.put_message(*protocol, message, out);
    }

    fn waits(&self) -> bool {
        self.session.waits()
    }

    fn awaited(&self, name: &mut impl FnMut(Position)) {
        self.session.late.tickets().for_each(name);
    }

    fn put_late(&mut self, late: (Position, Decided), outcome: &Outcome, out: &mut Vec<u8>) {
        let Session {
            late: held,
            protocol,
            ..
        } = &mut self.session;
        let start = out.len();
        held.fill(late, outcome, *protocol, out);
        self.session.note_late(outcome);
        self.session.note_reply(start, out);
    }

    fn take_note(&mut self) -> Option<RequestNote> {
        self.session.take_note()
    }

    fn put_landed(&mut self, client: u64, landed: Landed, out: &mut Vec<u8>) {
        if self.session.id == client {
            let start = out.len();
            self.session.put_any_landed(&landed, out);
            self.session.note_reply(start, out);
        }
    }

    fn held(&self) -> usize {
        let Session { batch, late, .. } = &self.session;
        batch.as_ref().map_or(0, MultiBatch::size) + late.size()
    }

    fn refuse_input(&mut self, why: InputRefused, out: &mut Vec<u8>) {
        self.session.batch = None;
        Encoder::new(out, self.session.protocol).error(format_args!("ERR {why}"));
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.session.late.end(self.session.protocol, out);
    }
}
