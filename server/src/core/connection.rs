//! One client: its socket, what has come, what is owed, and how far its life has gone.

mod ageing;
mod calling;
mod memory;
mod renewal;
mod sending;

use std::io;

use mio::net::TcpStream;
use turnstile_duel::Parcel;
use turnstile_resp::travel::Decided;
use turnstile_travel::Outcome;
use turnstile_types::Position;

use crate::{
    core::{
        buffer::{Filled, Input, Output},
        caller::Caller,
        conversation::{Continuation, Conversation, InputRefused, ListedClient, Surroundings},
        engine::Engine,
        quotas::PendingRequest,
        remote::Landed,
        shares::Shares,
        tls::Secure,
    },
    counters::HandshakeEnd,
    limits::{INPUT_SPARED_BYTES, Limits, PIPELINE_DEPTH},
};

pub(crate) use ageing::Expired;
pub(crate) use memory::ConnectionMemory;

/// What the socket may still bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arriving {
    /// Nothing until the poll says so.
    Drained,
    /// Bytes.
    Ready,
    /// Bytes, and then the end: it is read until there.
    Ending,
    /// The end has been read.
    Ended,
}

/// How far a connection's life has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Serving,
    /// The server stops: what has come is read once more and answered.
    LastCall,
    /// Everything owed is sent, then it ends.
    Closing,
    /// We have said all. What still comes is thrown away, so that the last answer is not lost by a
    /// reset; the field holds the sweep in which that began.
    Parting(u32),
    Gone,
}

/// One client of a fast door.
///
/// It moves from serving to gone and never back. Its input is decoded where it lies, its replies
/// are encoded where they are sent from. A peer that does not take what it is owed is first not
/// read from any more, then closed.
#[derive(Debug)]
pub(crate) struct Connection<C> {
    socket: TcpStream,
    /// Where the door speaks TLS.
    tls: Option<Box<Secure>>,
    conversation: C,
    caller: Caller,
    /// Its number among those that have not said who they are, while it is one of them.
    pub(crate) stranger: Option<u64>,
    /// The sweep in which it was accepted, or its client has logged out.
    since: u32,
    input: Input,
    output: Output,
    /// Whether the message that it is owed ends with a mark; see [`Parcel::is_marked`].
    is_marked: bool,
    incoming: Arriving,
    phase: Life,
    /// Whether requests that have come wait for the next turn.
    unfinished: bool,
    /// Whether it stands in the loop's queue.
    pub(crate) queued: bool,
    /// The last sweep in which it asked for something.
    active: u32,
    /// The sweep since which it has not taken all it is owed.
    stalled: Option<u32>,
    /// Its memory when that was last counted.
    memory: ConnectionMemory,
    /// The first sweep that found the request begun whose rest is still to come.
    begun: Option<u32>,
    /// Its request, while that waits for a late answer.
    pending: Option<PendingRequest>,
}

impl<C: Conversation> Connection<C> {
    pub(crate) fn new(
        socket: TcpStream,
        tls: Option<Box<Secure>>,
        conversation: C,
        caller: Caller,
        sweep: u32,
    ) -> Self {
        Self {
            socket,
            tls,
            conversation,
            caller,
            stranger: None,
            since: sweep,
            input: Input::default(),
            output: Output::default(),
            is_marked: false,
            incoming: Arriving::Drained,
            phase: Life::Serving,
            unfinished: false,
            queued: false,
            active: sweep,
            stalled: None,
            memory: ConnectionMemory::default(),
            begun: None,
            pending: None,
        }
    }

    pub(crate) const fn conversation(&self) -> &C {
        &self.conversation
    }

    /// What others may know of its client.
    pub(crate) fn listed(&self) -> Option<ListedClient<'_>> {
        self.conversation.listed(self.caller.principal)
    }

    /// What its client has open in tables that all share, where its door counts that.
    pub(crate) fn into_shares(self) -> Option<Shares> {
        self.conversation.into_shares()
    }

    /// Whether it is still answered, and told what it follows.
    const fn is_served(&self) -> bool {
        matches!(self.phase, Life::Serving | Life::LastCall)
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.phase == Life::Gone
    }

    /// Whether all that will ever be said to it has been sent.
    pub(crate) const fn is_told(&self) -> bool {
        matches!(self.phase, Life::Parting(_) | Life::Gone)
    }

    pub(crate) fn is_owed(&self) -> bool {
        self.owed() > 0 || self.phase == Life::Closing
    }

    /// The number of its TLS handshake, while that is still to be done.
    pub(crate) fn handshake(&self) -> Option<u64> {
        self.tls.as_ref().and_then(|tls| tls.handshake())
    }

    /// How its TLS handshake ended, once it has.
    pub(crate) fn handshake_end(&self) -> HandshakeEnd {
        let tls = self.tls.as_ref();
        tls.map_or(HandshakeEnd::Failed, |tls| tls.handshake_end())
    }

    /// The poll says that bytes have come, or the end.
    pub(crate) fn note_readable(&mut self, is_ending: bool) {
        match self.incoming {
            Arriving::Ended => {}
            _ if is_ending => self.incoming = Arriving::Ending,
            Arriving::Drained => self.incoming = Arriving::Ready,
            Arriving::Ready | Arriving::Ending => {}
        }
    }

    /// Whether it has something to do that needs no new event.
    pub(crate) fn is_due(&self, limits: &Limits) -> bool {
        let may_read = matches!(self.incoming, Arriving::Ready | Arriving::Ending);
        match self.phase {
            Life::Serving | Life::LastCall => {
                let waits = self.conversation.waits();
                let takes = self.takes(limits);
                !waits && takes && (self.unfinished || may_read)
            }
            Life::Parting(_) => may_read,
            Life::Closing | Life::Gone => false,
        }
    }

    /// Whether it may be read from, for what it is owed. A peer always is: two that wait for each
    /// other to take something would wait for ever, and the post sees to what it is owed.
    fn takes(&self, limits: &Limits) -> bool {
        self.conversation.peer().is_some() || self.owed() < limits.connection_output_bytes
    }

    /// What it is owed, in bytes.
    pub(crate) fn owed(&self) -> usize {
        let sealed = self.tls.as_ref().map_or(0, |tls| tls.unwritten());
        self.output.owed() + sealed
    }

    /// Appends to what it is owed something that it did not ask for, unless it is about to end.
    pub(crate) fn say<T: Default>(&mut self, put: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        if self.phase == Life::Serving {
            put(self.output.tail())
        } else {
            T::default()
        }
    }

    /// Appends a message that its client is to read alone. A client that has not taken what it was sent
    /// before is dropped instead; answers whether it was.
    pub(crate) fn put_parcel(&mut self, parcel: &Parcel) -> bool {
        // One who follows has nothing under way when there is something to say.
        let is_deaf = self.owed() > 0;
        if is_deaf {
            self.phase = Life::Gone;
        } else if self.is_served() {
            // A stream of records has no byte that could be marked: the message is a record instead.
            let is_plain = self.tls.is_none();
            self.is_marked = parcel.is_marked() && is_plain;
            let bytes = if is_plain {
                parcel.bytes()
            } else {
                parcel.message()
            };
            self.output.tail().extend_from_slice(bytes);
        }
        is_deaf
    }

    /// Has the system acknowledge what has come: nothing is answered to it.
    pub(crate) fn acknowledge(&mut self) {
        if let Err(failure) = rustix::net::sockopt::set_tcp_quickack(&self.socket, true) {
            tracing::debug!(%failure, "a move is acknowledged when the system does");
        }
    }

    /// Ends it when all that it is owed is sent.
    pub(crate) fn close(&mut self) {
        if self.is_served() {
            self.phase = Life::Closing;
        }
    }

    /// The server stops: reads once more, then closes. Whoever waits for an answer that may never
    /// come is told so, and nothing of what it has sent since is done.
    pub(crate) fn last_call(&mut self) {
        let waits = self.conversation.waits() && !self.conversation.waits_for_database();
        if self.phase == Life::Serving && waits {
            self.put_durable(C::end);
            self.phase = Life::Closing;
        }
        if self.phase == Life::Serving {
            self.phase = Life::LastCall;
            self.note_readable(false);
        }
    }

    fn read_and_answer(
        &mut self,
        (shared, around): (&mut C::Shared, &mut Surroundings<'_>),
        scratch: &mut Input,
        limits: &Limits,
        budget: usize,
    ) -> usize {
        if let Life::Parting(_) = self.phase {
            self.discard(scratch);
            return 0;
        }
        if self.conversation.waits() {
            return 0;
        }
        let held = self.held();
        let borrows = self.input.is_empty();
        if borrows {
            std::mem::swap(&mut self.input, scratch);
        }
        if !self.unfinished {
            self.read(around);
        }
        let budget = budget.min(PIPELINE_DEPTH);
        let served = self.answer((shared, around), limits, budget);
        if borrows {
            let left = if self.input.is_empty() {
                Input::default()
            } else {
                self.input.kept()
            };
            std::mem::swap(&mut self.input, scratch);
            scratch.clear();
            self.input = left;
        } else {
            self.input.shrink();
        }
        if served > 0 {
            self.begun = None;
        }
        if self.held() > held {
            self.confine(around, limits);
        }
        let is_last = self.incoming == Arriving::Ended || self.phase == Life::LastCall;
        if is_last && !self.unfinished && self.is_served() {
            if self.incoming == Arriving::Ended {
                let (left, out) = (self.input.pending(), self.output.tail());
                self.conversation.end_of_input(around.engine, left, out);
            }
            self.phase = Life::Closing;
        }
        if !self.is_served() {
            self.input = Input::default();
        }
        served
    }

    /// It keeps more than before. When it waits for the rest of a large request and all connections
    /// together keep too much, it is told so and closed: waiting would not help it, since those who
    /// have the memory may never end their requests.
    fn confine(&mut self, around: &Surroundings<'_>, limits: &Limits) {
        let held = self.held();
        let is_spared = held <= INPUT_SPARED_BYTES || self.unfinished;
        if self.is_served() && !is_spared && held + around.others.held() > limits.input_bytes {
            let out = self.output.tail();
            let why = InputRefused::TooMuch;
            self.conversation.break_off_input(around.engine, why, out);
            self.phase = Life::Closing;
        }
    }

    fn read(&mut self, around: &mut Surroundings<'_>) {
        if !matches!(self.incoming, Arriving::Ready | Arriving::Ending) {
            return;
        }
        let filled = match &mut self.tls {
            None => self.input.fill(&mut self.socket),
            Some(tls) => {
                let filled = tls.fill(&mut self.input, &mut self.socket);
                if let Some(names) = tls.take_names() {
                    around.engine.identify(&names);
                }
                filled
            }
        };
        match filled {
            Ok(Filled::Bytes { count, more }) => {
                let door = around.engine.counters.of(self.conversation.door().name);
                door.bytes_in.add(count.try_into().unwrap_or(0));
                // A short read has emptied the socket: what comes later raises a new event.
                if !more && self.incoming == Arriving::Ready {
                    self.incoming = Arriving::Drained;
                }
            }
            Ok(Filled::Nothing) => self.incoming = Arriving::Drained,
            Ok(Filled::End) => self.incoming = Arriving::Ended,
            Ok(Filled::Broken) => self.phase = Life::Closing,
            Err(failure) => self.fail(&failure),
        }
    }

    fn answer(
        &mut self,
        (shared, around): (&mut C::Shared, &mut Surroundings<'_>),
        limits: &Limits,
        budget: usize,
    ) -> usize {
        let mut served = 0;
        let mut at = 0;
        self.unfinished = false;
        while self.is_served() {
            if served == budget || !self.takes(limits) {
                self.unfinished = true;
                break;
            }
            let rest = self.input.pending().get(at..).unwrap_or_default();
            let input = (rest, budget - served);
            let out = self.output.tail();
            let progress = self.conversation.run(shared, around, input, out);
            at += progress.length;
            served += progress.requests;
            match progress.next {
                Continuation::More if around.engine.time_slice.is_spent() => {
                    self.unfinished = true;
                    break;
                }
                Continuation::More => {}
                Continuation::Incomplete => break,
                Continuation::Close => self.phase = Life::Closing,
                Continuation::Drop => self.phase = Life::Gone,
            }
            if self.conversation.waits() {
                self.unfinished = true;
                break;
            }
        }
        self.input.consume(at);
        around
            .engine
            .counters
            .requests
            .add(served.try_into().unwrap_or(0));
        served
    }

    /// All that is owed belongs to the group that is now under way.
    pub(crate) const fn seal(&mut self) {
        self.output.seal();
    }

    /// The group under way is durable.
    pub(crate) fn release_sealed(&mut self) {
        self.output.release_sealed();
    }

    /// So many bytes of what waits for its group need not wait.
    pub(crate) const fn release_ahead(&mut self, bytes: usize) {
        self.output.release_ahead(bytes);
    }

    /// Everything that is owed is durable.
    pub(crate) const fn release(&mut self) {
        self.output.release();
    }

    /// Whether something that is owed waits for its group.
    pub(crate) fn waits(&self) -> bool {
        self.output.held() > 0
    }

    fn fail(&mut self, failure: &io::Error) {
        tracing::debug!(%failure, "a connection broke");
        self.phase = Life::Gone;
    }

    /// Before the messages of a group: one who has not taken those of the groups before is dropped. What
    /// it is owed for this one comes on top, so that a large group drops nobody who reads. Answers
    /// whether it was dropped.
    pub(crate) fn drop_if_deaf(&mut self, limits: &Limits) -> bool {
        let is_deaf = self.is_served() && self.owed() >= limits.connection_output_bytes;
        if is_deaf {
            self.phase = Life::Gone;
        }
        is_deaf
    }

    /// Appends a message that answers no request.
    pub(crate) fn tell(&mut self, message: (&str, &str)) {
        if self.is_served() {
            self.put_durable(|conversation, out| conversation.put_message(message, out));
        }
    }

    /// Appends a late answer; after the last that it waits for it goes on with what has come
    /// meanwhile.
    pub(crate) fn put_late(&mut self, late: (Position, Decided), outcome: &Outcome) {
        self.put_durable(|conversation, out| conversation.put_late(late, outcome, out));
        self.note_waiting();
    }

    /// Appends the answer to a command about fault points, when the desks have them; says whether
    /// nothing more is to come.
    pub(crate) fn settle_arming(&mut self, engine: &Engine) -> bool {
        let out = self.output.tail();
        let is_settled = self.conversation.settle_arming(engine, out);
        self.note_waiting();
        is_settled || !self.conversation.is_arming()
    }

    /// Appends what a database has answered. What this process decided for the same client may be
    /// among it, so that it waits for the open group.
    pub(crate) fn put_landed(&mut self, client: u64, landed: Landed) {
        let out = self.output.tail();
        self.conversation.put_landed(client, landed, out);
        self.note_waiting();
    }

    /// Appends what is durable. It stays behind the answers that are not.
    fn put_durable(&mut self, put: impl FnOnce(&mut C, &mut Vec<u8>)) {
        let is_first = self.output.held() == 0;
        put(&mut self.conversation, self.output.tail());
        if is_first {
            self.output.release();
        }
    }
}
