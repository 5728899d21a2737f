//! A process: a machine, what of it is on the disk, and what it owes to others.

use turnstile_travel::{
    Answer, Command, Desk, Desks, Event, EventKind, Outcome, Parcel, Query, Settings,
    TransactionState, Travel, TravelRoles, Xid,
};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

use crate::scenery::bytes_of;

#[derive(Clone, Debug)]
enum Record {
    Apply(Command),
    Tick,
}

/// What goes out, and whether it must wait for the disk.
#[derive(Clone, Debug)]
pub(super) enum Owed {
    Answer(Position, Outcome),
    Parcel(Parcel),
}

pub(super) struct Node {
    pub(super) travel: Travel,
    settings: Settings,
    position: u64,
    /// The state and the position as they are on the disk.
    durable: (Vec<u8>, u64),
    /// What has been applied since.
    unsynced: Vec<(u64, Record)>,
    /// Whether something firm is among that: then nothing may leave.
    firm: bool,
    /// Whether something is committed among that which may be told.
    ahead: bool,
    /// What waits for the disk, or for the next turn.
    owed: Vec<Owed>,
    /// The last parcel that was put among what is owed, of each line, with its life.
    sent: [(u64, u64, u64); 4],
    pub(super) events: Vec<Event>,
    principal: Principal,
}

impl Node {
    pub(super) fn new(roles: TravelRoles) -> Self {
        let settings = Settings {
            roles,
            lifetime_ms: 2_000,
            wait_ms: 1_000,
            ..Settings::FIRST
        };
        let travel = Travel::empty();
        let durable = (bytes_of(&travel), 0);
        let mut node = Self {
            travel,
            settings,
            position: 0,
            durable,
            unsynced: Vec::new(),
            firm: false,
            ahead: false,
            owed: Vec::new(),
            sent: [(0, 0, 0); 4],
            events: Vec::new(),
            principal: Principal::local(),
        };
        node.begin(1);
        node
    }

    pub(super) const fn roles(&self) -> TravelRoles {
        self.settings.roles
    }

    pub(super) fn lines(&self) -> Desks {
        self.travel.lines()
    }

    /// What a process does first.
    fn begin(&mut self, now: u64) {
        if *self.settings() != self.settings {
            self.apply(now, &Command::Configure(self.settings));
        }
        self.apply(now, &Command::Recover);
        self.sync();
        self.owed.clear();
    }

    fn settings(&self) -> &Settings {
        self.travel.settings()
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn apply(&mut self, now: u64, command: &Command) -> Outcome {
        let outcome = self.run(now, &Record::Apply(command.clone()));
        self.unsynced.push((now, Record::Apply(command.clone())));
        let outcome = outcome.expect("a command is answered");
        self.firm |= self.travel.has_promised();
        assert!(self.firm || !outcome.is_firm(), "{outcome:?} is a promise");
        if !matches!(outcome, Outcome::Waiting { .. }) {
            self.owed
                .push(Owed::Answer(Position(self.position), outcome.clone()));
        }
        self.gather();
        outcome
    }

    /// Does what is due, if something is.
    pub(super) fn tick(&mut self, now: u64) {
        let due = Machine::next_deadline(&self.travel);
        if due.is_some_and(|due| due.0 <= now) {
            self.run(now, &Record::Tick);
            self.unsynced.push((now, Record::Tick));
            self.firm = true;
            self.gather();
        }
    }

    fn run(&mut self, now: u64, record: &Record) -> Option<Outcome> {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(now),
            principal: &self.principal,
        };
        match record {
            Record::Apply(command) => Some(self.travel.apply(&context, command)),
            Record::Tick => {
                Machine::tick(&mut self.travel, &context);
                None
            }
        }
    }

    /// Puts late answers and new parcels among what is owed.
    fn gather(&mut self) {
        let mut events = Vec::new();
        self.travel.drain_events(&mut |event| events.push(event));
        let mut staged = false;
        for event in &events {
            match &event.kind {
                EventKind::Committed { xid } if !self.firm => {
                    self.assert_staged(*xid);
                    staged = true;
                    self.ahead = true;
                }
                EventKind::Answered { ticket, outcome } => {
                    let promises = outcome.is_firm() && !staged;
                    assert!(self.firm || !promises, "{event:?} is a promise");
                    self.owed.push(Owed::Answer(*ticket, outcome.clone()));
                }
                _ => {}
            }
        }
        self.events.extend(events);
        for desk in self.lines().iter() {
            let greeting = self.travel.greeting(desk);
            let lives = (greeting.life, greeting.peer_life);
            let sent = &mut self.sent[desk as usize];
            if (sent.0, sent.1) != lives {
                *sent = (lives.0, lives.1, 0);
            }
            for parcel in self.travel.parcels(desk, sent.2, usize::MAX) {
                sent.2 = parcel.number;
                assert!(self.firm || !parcel.is_firm(), "{parcel:?} is a promise");
                self.owed.push(Owed::Parcel(parcel));
            }
        }
    }

    /// What is committed before that is on the disk was staged there.
    fn assert_staged(&self, xid: Xid) {
        let durable = <Travel as Machine>::restore(&self.durable.0).unwrap();
        let query = Query::Transaction { xid };
        let answer = durable.query(Timestamp(0), &self.principal, &query);
        let Answer::Transaction(Some(view)) = answer else {
            panic!("not on the disk: {answer:?}");
        };
        assert_eq!(view.state, TransactionState::Preparing, "{xid}");
    }

    /// What may leave: everything, unless something firm is not on the disk; then only what desks
    /// report that is not firm, up to what is, line by line.
    pub(super) fn flush(&mut self) -> Vec<Owed> {
        if !self.firm {
            return std::mem::take(&mut self.owed);
        }
        let mut held = Desks::NONE;
        let leaves = |owed: &mut Owed| match owed {
            Owed::Parcel(parcel) if !parcel.waits_for_its_group() => !held.contains(parcel.desk),
            Owed::Parcel(parcel) => {
                held.insert(parcel.desk);
                false
            }
            Owed::Answer(..) => false,
        };
        self.owed.extract_if(.., leaves).collect()
    }

    /// Whether something waits for the disk.
    pub(super) fn must_sync(&self) -> bool {
        self.firm
    }

    /// Whether somebody may have been told of a commit that is not on the disk.
    pub(super) fn is_ahead(&self) -> bool {
        self.ahead
    }

    pub(super) fn sync(&mut self) {
        self.durable = (bytes_of(&self.travel), self.position);
        self.unsynced.clear();
        self.firm = false;
        self.ahead = false;
    }

    /// Everything that was not acknowledged, or else a greeting, once it is on the disk.
    pub(super) fn resend(&mut self, desk: Desk) -> Vec<Parcel> {
        self.sync();
        let parcels = self.travel.parcels(desk, 0, usize::MAX);
        if parcels.is_empty() {
            vec![self.travel.greeting(desk)]
        } else {
            parcels
        }
    }

    /// Stops and starts anew. Of what was not synced, the first `kept` records had reached the
    /// disk. Answers with the position of the last of them.
    pub(super) fn crash(&mut self, now: u64, kept: impl FnOnce(usize) -> usize) -> u64 {
        let unsynced = std::mem::take(&mut self.unsynced);
        let kept = kept(unsynced.len());
        self.travel = <Travel as Machine>::restore(&self.durable.0).unwrap();
        self.position = self.durable.1;
        for (then, record) in unsynced.iter().take(kept) {
            self.run(*then, record);
        }
        self.travel.drain_events(&mut drop);
        self.owed.clear();
        self.firm = false;
        self.sent = [(0, 0, 0); 4];
        let last = self.position;
        self.begin(now);
        last
    }
}
