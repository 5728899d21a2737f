//! The fast loop, one turn at a time: the story of every request from the poll to the answer.

mod accepting;
mod access;
mod draining;
mod ending;
mod evicting;
mod handing;
mod landing;
mod loading;
mod playing;
mod posting;
mod reporting;
mod securing;
mod shedding;
mod strangers;
mod sweeping;
mod telling;
mod waiting;

use std::{collections::VecDeque, io, net::SocketAddr, sync::Arc, time::Instant};

use mio::{Events, Poll, Token};
use turnstile_embedded::CommitError;
use turnstile_travel::{Desk, PerDesk};

use crate::{
    core::{
        asked::Waiting,
        buffer::Input,
        caller::Caller,
        cluster::ClusterEnded,
        connections::Connections,
        conversation::{Conversation, DoorSet, PeerLine, Surroundings},
        engine::Engine,
        feed::Feeds,
        gate::GateInbox,
        listener::Listener,
        log_limit::LogLimit,
        owed::Owed,
        partitions::PartitionHome,
        post::Route,
        remote::Landings,
        shares::{LeftOpen, Shares},
        signals::Signals,
        tickets::{LateWaiter, Tickets},
        tls::DoorTls,
    },
    counters::{DoorName, HandshakeEnd},
    limits::{EVENTS, GATE_BATCH, Limits, TURN_REQUESTS},
};

pub(crate) use self::loading::{RecoveredState, RecoveryLine};

use self::{securing::Handshakes, strangers::ConnectedStrangers};

/// The poll's name for the gate; connections are named by their places, from 0.
pub(crate) const GATE: Token = Token(usize::MAX);

/// The poll's name for every listener: when it is called, all doors are looked at.
pub(crate) const LISTENERS: Token = Token(usize::MAX - 1);

/// Why the loop ended on its own.
#[derive(Debug)]
pub(crate) enum Broken {
    Poll(io::Error),
    /// What was executed is not durable: nothing of it was sent.
    Commit(CommitError),
    /// A group that had to go before its turn ended was not durable; the same holds.
    Stopped,
    /// What the shared log says cannot be applied here, or it says nothing more.
    Cluster(ClusterEnded),
}

/// When the listener is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accepting {
    WhenTold,
    NextTurn,
    /// No descriptor was left: asking at once would spin.
    NextSweep,
}

/// The one thread that decides.
///
/// It owns the back end, the listener and the connections, and runs to completion: whatever one
/// turn has read is decoded, executed, committed once and answered once. The downside is that a
/// slow sync delays everybody; the gain is that nothing is ever handed over or locked, and that
/// what comes during a sync shares the next one.
///
/// Under much load the loop does not wait for the sync: a thread carries the group to the disk while
/// the loop makes the next one, and its answers leave when it has landed. So at most two groups owe
/// answers, the open one and the one under way. With little load that thread's wake-ups would cost
/// more than the wait; [`OverlapPolicy`](crate::core::pace::OverlapPolicy) decides.
pub(crate) struct FastLoop<D: DoorSet> {
    poll: Poll,
    listeners: Vec<Listener>,
    accepting: Accepting,
    connections: Connections<D::Session>,
    engine: Engine,
    asks_wait: bool,
    pub(crate) feeds: Feeds,
    signals: Arc<Signals>,
    limits: Limits,
    doors: D,
    /// What all connections are secured by, where they are.
    pub(crate) tls: Option<Arc<DoorTls>>,
    handshakes: Handshakes,
    /// The number of the last event of security that was told.
    security_told: u32,
    strangers: ConnectedStrangers,
    scratch: Input,
    /// Connections with something to do, in the order in which they got it.
    ready: VecDeque<usize>,
    /// What the open group owes.
    open: Owed,
    /// What the group under way owes; empty when there is none.
    under_way: Owed,
    /// Who waits for a late answer.
    tickets: Tickets,
    /// What other threads may have open, of which HTTP is the only one with clients.
    shares: Shares,
    /// What clients have left open who have gone.
    left: LeftOpen,
    /// Where the answers of databases come.
    pub(crate) landings: Landings,
    /// Where answers go in the loop of a partition that has no doors.
    pub(crate) home: Option<PartitionHome>,
    /// What the log says seldom: of slow clients that were dropped, and of transactions that were evicted.
    drops: LogLimit,
    deaf_followers: LogLimit,
    deaf_players: LogLimit,
    evictions: LogLimit,
    /// Connections that wait for desks to have their fault points.
    arming: Vec<usize>,
    /// Lines to the other processes of travel.
    routes: PerDesk<Route>,
    /// Connections that follow events.
    followers: Vec<usize>,
    /// Connections that the one just served wants closed.
    killed: Vec<usize>,
    connections_ever: u64,
    sweep: u32,
    swept_ms: u64,
    /// How often it has looked for requests since a group is under way.
    looks: u32,
    /// When the patience with leaving connections ends, once the server stops.
    farewell: Option<Instant>,
    /// Whether all clients were told to go, because an operator drains the node.
    has_drained: bool,
    /// The generation of the access service that all callers have heard of.
    heeded: Option<u64>,
    /// The last: who asked hears of its end when all that is owed is dropped.
    inbox: GateInbox,
}

impl<D: DoorSet> FastLoop<D> {
    pub(crate) fn new(
        poll: Poll,
        listeners: Vec<Listener>,
        mut engine: Engine,
        inbox: GateInbox,
        (feeds, signals): (Feeds, Arc<Signals>),
        (limits, doors): (Limits, D),
    ) -> Self {
        engine.begin_within(&limits);
        engine.meters = Arc::clone(&inbox.meters);
        Self {
            poll,
            listeners,
            accepting: Accepting::WhenTold,
            connections: Connections::default(),
            swept_ms: engine.now().0,
            tickets: Tickets::new(Arc::clone(&engine.counters)),
            shares: Shares::of_http(),
            left: LeftOpen::default(),
            engine,
            inbox,
            asks_wait: false,
            feeds,
            signals,
            limits,
            doors,
            tls: None,
            handshakes: Handshakes::default(),
            security_told: 0,
            strangers: ConnectedStrangers::default(),
            scratch: Input::roomy(),
            ready: VecDeque::new(),
            open: Owed::default(),
            under_way: Owed::default(),
            landings: Landings::of(0, 0, 0),
            home: None,
            drops: LogLimit::default(),
            deaf_followers: LogLimit::default(),
            deaf_players: LogLimit::default(),
            evictions: LogLimit::default(),
            arming: Vec::new(),
            routes: PerDesk::each(|_| Route::new(None)),
            followers: Vec::new(),
            killed: Vec::new(),
            connections_ever: 0,
            sweep: 0,
            looks: 0,
            farewell: None,
            has_drained: false,
            heeded: None,
        }
    }

    /// Says where the desks listen that are played by other processes.
    pub(crate) fn dial_at(&mut self, desks: &[(Desk, SocketAddr)]) {
        for &(desk, address) in desks {
            *self.routes.at_mut(desk) = Route::new(Some(address));
        }
    }

    /// Turns until it is stopped, then closes the back end.
    fn turn_to_the_end(mut self) -> Result<(), Broken> {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            self.wait(&mut events)?;
            self.turn()?;
            if self.signals.is_ending() && self.say_farewell() {
                break;
            }
        }
        for place in self.connections.places() {
            self.close(place);
        }
        self.engine.close().map_err(Broken::Commit)
    }

    /// One turn: everything that has come is executed, made durable at once, and answered.
    /// Under much load, it is what becomes durable while the next turn runs.
    fn turn(&mut self) -> Result<(), Broken> {
        self.engine.counters.turns.add(1);
        self.engine.begin_turn();
        self.engine.move_line();
        self.heed_limits();
        self.engine.fault_points.recover();
        self.see_off();
        self.accept();
        self.take_landed();
        self.take_ordered()?;
        self.take_relayed();
        self.take_from_nodes();
        self.serve()?;
        self.drain();
        self.take_asks();
        self.heed_access();
        self.tell_security();
        self.tell_of_partitions();
        self.evict();
        self.engine.remotes.depart();
        if let Some(partitions) = &mut self.engine.partitions {
            partitions.depart();
        }
        self.engine.propose();
        if self.engine.has_stopped() {
            return Err(Broken::Stopped);
        }
        self.post();
        self.report();
        self.hand_over()?;
        self.sweep();
        self.engine.end_turn();
        Ok(())
    }

    /// Takes over the limits that may change while the server runs.
    fn heed_limits(&mut self) {
        if let Some(limits) = self.signals.take_limits() {
            self.limits = limits;
            self.engine.heed_limits(&limits);
        }
    }

    /// How many requests more the open group takes.
    const fn room(&self) -> usize {
        TURN_REQUESTS.saturating_sub(self.open.requests)
    }

    /// Whether the others that have something to do wait for the next turn.
    fn has_served_enough(&mut self) -> Result<bool, Broken> {
        let is_full = self.room() == 0 || self.engine.time_slice.is_spent();
        Ok(is_full
            || !self.may_owe_more()
            || self.engine.has_stopped()
            || self.engine.has_landed().map_err(Broken::Commit)?)
    }

    /// Lets every connection that has something to do read once and have its requests executed.
    /// When the group is full, or queries have taken long, the others keep their places in the queue.
    fn serve(&mut self) -> Result<(), Broken> {
        self.begin_handshakes();
        self.engine.time_slice.begin();
        for _ in 0..self.ready.len() {
            if self.has_served_enough()? {
                break;
            }
            let budget = self.room();
            let Some(place) = self.ready.pop_front() else {
                break;
            };
            if self.defers_handshake(place) {
                self.ready.push_back(place);
                continue;
            }
            let Some(mut connection) = self.connections.take(place) else {
                continue;
            };
            let handshake = connection.handshake();
            let door = connection.conversation().door().name;
            self.engine.stopwatch.enter(door);
            if self.engine.notes.is_on {
                self.engine.notes.enter(connection.peer());
            }
            let followed = connection.conversation().follows();
            let waited = connection.conversation().waits();
            let mut around = Surroundings {
                engine: &mut self.engine,
                place,
                others: &self.connections,
                killed: &mut self.killed,
                signals: &self.signals,
            };
            let shared = (&mut self.doors, &mut around);
            self.open.requests += connection.serve(shared, &mut self.scratch, &self.limits, budget);
            self.note_arrival((place, handshake), &mut connection);
            let follows = connection.conversation().follows();
            if follows != followed {
                self.note_following(place, follows);
            }
            if !waited {
                let tickets = &mut self.tickets;
                let mut wait = |ticket| tickets.add(ticket, LateWaiter::Connection(place));
                connection.conversation().awaited(&mut wait);
            }
            connection.queued = connection.is_due(&self.limits);
            if connection.queued {
                self.ready.push_back(place);
            }
            if connection.is_owed() || connection.is_gone() {
                self.open.places.push(place);
            }
            if connection.conversation().is_arming() {
                self.arming.push(place);
            }
            let met = connection.conversation().peer().and_then(|peer| peer.met);
            self.connections.put_back(place, connection);
            while let Some(killed) = self.killed.pop() {
                self.close(killed);
            }
            self.run_errands();
            if let Some(desk) = met {
                self.meet(desk, place);
            }
        }
        Ok(())
    }

    /// Executes what other threads have asked, a bounded number of them in bounded time.
    fn take_asks(&mut self) {
        if !self.asks_wait || self.room() == 0 {
            return;
        }
        self.engine.stopwatch.enter(DoorName::Http);
        // They have time of their own: connections must not take it all.
        self.engine.time_slice.begin();
        for _ in 0..GATE_BATCH {
            self.asks_wait = self.take_ask();
            if !self.asks_wait || self.engine.time_slice.is_spent() {
                break;
            }
        }
        self.engine.caller = Caller::server();
    }

    /// Executes one of them, if there is one.
    fn take_ask(&mut self) -> bool {
        let Some(ask) = self.inbox.next() else {
            return false;
        };
        // Who asks may have begun to follow right before.
        if self.feeds.games.is_kept() {
            self.engine.heed_games();
        }
        self.engine.counters.gate_taken.add(1);
        self.open.requests += 1;
        if self.engine.notes.is_on {
            self.engine.notes.begin();
        }
        let counted = (&mut self.shares, &self.inbox.away);
        let waiting = Waiting::decide(ask, &mut self.engine, &mut self.tickets, counted);
        if let Some(times) = self.engine.caller.take_times() {
            self.engine.notes.add_ask(times, waiting.is_some());
        }
        match waiting {
            Some(waiting) => self.open.waiting.push(waiting),
            None => self.inbox.note_answered(),
        }
        true
    }

    /// Sends each of these connections what was released to it.
    fn send(&mut self, places: &mut Vec<usize>) {
        for place in places.drain(..) {
            let Some(connection) = self.connections.get_mut(place) else {
                continue;
            };
            let sent = connection.send(self.sweep);
            let door = self
                .engine
                .counters
                .of(connection.conversation().door().name);
            door.bytes_out.add(sent);
            if connection.owed() == 0
                && let Some(PeerLine {
                    met: Some(desk), ..
                }) = connection.conversation().peer()
            {
                self.engine.fault_points.sent(desk);
            }
            if connection.is_gone() {
                self.close(place);
                continue;
            }
            if !connection.queued && connection.is_due(&self.limits) {
                connection.queued = true;
                self.ready.push_back(place);
            }
            self.connections.recount(place);
        }
    }

    fn close(&mut self, place: usize) {
        if let Some(mut connection) = self.connections.take(place) {
            let door = connection.conversation().door().name;
            if let Some(number) = connection.handshake() {
                self.end_handshake((number, door), HandshakeEnd::Failed);
            }
            self.strangers.remove(&mut connection);
            let conversation = connection.conversation();
            conversation.awaited(&mut |ticket| self.tickets.forget(ticket, place));
            self.doors.leave(conversation, place);
            let line = conversation.peer().and_then(|peer| peer.desk);
            if let Some(shares) = connection.into_shares() {
                self.left.add(shares, self.engine.travel());
            }
            self.connections.forget(place);
            self.followers.retain(|&follower| follower != place);
            self.engine.counters.of(door).open.take(1);
            if let Some(desk) = line {
                self.lose(desk, place);
            }
        }
    }
}

#[cfg(test)]
mod tests;
