//! A desk of the model, with its line and with what the coordinator knows of it.

/// What a transaction does at each desk: enough that one can be lost and another not.
pub(super) const OPERATIONS: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Message {
    Operate(u8),
    /// All operations, and the vote is cast unasked.
    Finish,
    Prepare,
    Commit,
    Abort,
    Done(u8),
    Yes,
    /// A vote of no, or word that the transaction is gone.
    No,
    Ended,
}

impl Message {
    pub(super) const ALL: [Self; 11] = [
        Self::Operate(1),
        Self::Operate(2),
        Self::Finish,
        Self::Prepare,
        Self::Commit,
        Self::Abort,
        Self::Done(1),
        Self::Done(2),
        Self::Yes,
        Self::No,
        Self::Ended,
    ];

    fn bit(self) -> u16 {
        let place = Self::ALL.iter().position(|one| *one == self);
        1 << place.unwrap()
    }
}

/// How a transaction stands at a desk, with the operations that have been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum At {
    Idle,
    Open(u8),
    Prepared(u8),
    Committed(u8),
    Aborted,
}

impl At {
    pub(super) const fn is_committed(self) -> bool {
        matches!(self, Self::Committed(_))
    }

    pub(super) const fn has_ended(self) -> bool {
        matches!(self, Self::Idle | Self::Committed(_) | Self::Aborted)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a model's state is the product of small facts"
)]
pub(super) struct Party {
    pub(super) present: bool,
    pub(super) at: At,
    /// How it stands on the disk.
    durable: At,
    /// Whether it has not yet said that it has committed.
    postponed: bool,
    /// Whether an operator has ended it.
    by_hand: bool,
    pub(super) crashes: u8,
    /// Under way to the desk and to the coordinator: a message stays, so that it can arrive again.
    to_desk: u16,
    to_coordinator: u16,
    /// Whether each end knows that the other lives its present life.
    pub(super) known_by_coordinator: bool,
    knows_coordinator: bool,
    // What the coordinator knows.
    pub(super) asked: u8,
    pub(super) answered: u8,
    pub(super) voted: bool,
    /// Whether the vote is on the coordinator's disk.
    pub(super) noted: bool,
    pub(super) acknowledged: bool,
}

impl Party {
    pub(super) const fn new() -> Self {
        Self {
            present: true,
            at: At::Idle,
            durable: At::Idle,
            postponed: false,
            by_hand: false,
            crashes: 0,
            to_desk: 0,
            to_coordinator: 0,
            known_by_coordinator: true,
            knows_coordinator: true,
            asked: 0,
            answered: 0,
            voted: false,
            noted: false,
            acknowledged: false,
        }
    }

    pub(super) const fn absent() -> Self {
        Self {
            present: false,
            ..Self::new()
        }
    }

    pub(super) fn told(&self, message: Message) -> bool {
        self.to_desk & message.bit() != 0
    }

    pub(super) fn said(&self, message: Message) -> bool {
        self.to_coordinator & message.bit() != 0
    }

    /// Whether it has committed, and not only because an operator said so.
    pub(super) const fn must_stand(&self) -> bool {
        self.at.is_committed() && !self.by_hand
    }

    pub(super) const fn is_aborted(&self) -> bool {
        matches!(self.at, At::Aborted)
    }

    /// Whether it can be committed whatever crashes.
    pub(super) const fn is_promised(&self) -> bool {
        matches!(self.durable, At::Prepared(_) | At::Committed(_))
    }

    /// The coordinator says something; it is lost when it is meant for an old life.
    pub(super) fn tell(&mut self, message: Message) {
        if self.known_by_coordinator {
            self.to_desk |= message.bit();
        }
    }

    /// A restart asks for a vote that it does not know.
    pub(super) fn inquire(&mut self) {
        if !self.voted {
            self.tell(Message::Prepare);
        }
    }

    fn say(&mut self, message: Message) {
        if self.knows_coordinator {
            self.to_coordinator |= message.bit();
        }
    }

    pub(super) const fn forget_told(&mut self) {
        self.to_desk = 0;
    }

    /// The coordinator begins a new life: what was under way is for or from an old one.
    pub(super) const fn lose_coordinator(&mut self) {
        self.to_desk = 0;
        self.to_coordinator = 0;
        self.knows_coordinator = false;
    }

    pub(super) fn meet_coordinator(&mut self) {
        if !self.knows_coordinator {
            self.knows_coordinator = true;
            self.to_coordinator = 0;
            self.restate();
        }
    }

    fn restate(&mut self) {
        self.postponed = false;
        if matches!(self.at, At::Open(_)) {
            self.at = At::Aborted;
        }
        if matches!(self.durable, At::Prepared(_)) && matches!(self.at, At::Prepared(_)) {
            self.say(Message::Yes);
        }
    }

    pub(super) fn crash(&mut self) {
        self.crashes += 1;
        self.to_desk = 0;
        self.to_coordinator = 0;
        self.known_by_coordinator = false;
        self.at = match self.durable {
            At::Idle | At::Open(_) => At::Aborted,
            ended_or_prepared => ended_or_prepared,
        };
        self.by_hand &= self.at.has_ended();
        self.restate();
    }

    /// An operator ends what has voted yes.
    pub(super) fn resolve(&mut self, commit: bool) {
        if let At::Prepared(done) = self.at
            && self.durable == self.at
        {
            self.by_hand = true;
            self.postponed = commit;
            self.at = if commit {
                At::Committed(done)
            } else {
                At::Aborted
            };
        }
    }

    /// It hears nothing for too long.
    pub(super) const fn give_up(&mut self) {
        if matches!(self.at, At::Open(_)) {
            self.at = At::Aborted;
        }
    }

    /// A vote is said once it is on the disk.
    pub(super) fn sync(&mut self) {
        if self.durable == self.at {
            return;
        }
        self.durable = self.at;
        if matches!(self.at, At::Prepared(_)) {
            self.say(Message::Yes);
        }
    }

    /// It says at last that it has committed, once that is on the disk.
    pub(super) fn hurry(&mut self) {
        if self.postponed && self.durable == self.at {
            self.postponed = false;
            self.say(Message::Ended);
        }
    }

    pub(super) fn hear(&mut self, message: Message) {
        if !self.knows_coordinator {
            return;
        }
        match (message, self.at) {
            (Message::Operate(1), At::Idle) => {
                self.at = At::Open(1);
                self.say(Message::Done(1));
            }
            (Message::Operate(number), At::Open(done)) if number == done + 1 => {
                self.at = At::Open(number);
                self.say(Message::Done(number));
            }
            (Message::Finish, At::Idle) => {
                self.at = At::Prepared(OPERATIONS);
                self.say(Message::Done(OPERATIONS));
            }
            (Message::Operate(_) | Message::Finish, At::Aborted)
            | (Message::Operate(_) | Message::Prepare, At::Idle)
            | (Message::Prepare, At::Aborted) => self.say(Message::No),
            (Message::Prepare, At::Open(done)) => self.at = At::Prepared(done),
            (Message::Prepare, At::Prepared(_)) if self.durable == self.at => {
                self.say(Message::Yes);
            }
            (Message::Prepare, At::Committed(_)) if self.by_hand && self.durable == self.at => {
                self.say(Message::Ended);
            }
            (Message::Commit, At::Prepared(done) | At::Committed(done)) => {
                self.at = At::Committed(done);
                self.postponed = true;
            }
            (Message::Abort, At::Open(_) | At::Prepared(_)) => self.at = At::Aborted,
            _ => {}
        }
    }
}
