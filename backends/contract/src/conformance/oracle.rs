//! The machine as the model: the answer that it would have given.

use std::collections::BTreeMap;

use turnstile_rooms::{
    Answer, Block, Command, Done, Entry, EntryState, Outcome, Query, Reference, Rooms,
};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// The machine, and what the back end calls the bookings that both know.
#[derive(Debug)]
pub(super) struct Oracle {
    machine: Rooms,
    position: Position,
    /// The back end's references, and the machine's.
    ours: BTreeMap<Reference, Reference>,
    /// The machine's references, and the back end's.
    theirs: BTreeMap<Reference, Reference>,
    /// The machine's positions, and the back end's.
    positions: BTreeMap<Position, Position>,
}

impl Oracle {
    pub(super) fn new() -> Self {
        Self {
            machine: Rooms::empty(),
            position: Position(0),
            ours: BTreeMap::new(),
            theirs: BTreeMap::new(),
            positions: BTreeMap::new(),
        }
    }

    /// Decides a command that names what the back end knows, and says what the back end should have
    /// answered in its place; `outcome` and `position` are what it did answer.
    pub(super) fn decide(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        command: &Command<'_>,
        (outcome, position): (&Outcome, Position),
    ) -> Result<Outcome, String> {
        self.position = Position(self.position.0 + 1);
        self.positions.insert(self.position, position);
        let context = Context {
            position: self.position,
            now,
            principal,
        };
        let command = self.translated(*command);
        let mut expected = self.machine.apply(&context, &command);
        if let (Some(made), Some(given)) = (made(&mut expected), made(&mut outcome.clone())) {
            self.learn(*made, *given)?;
            *made = *given;
        }
        if let Some(known) = confirmed(&mut expected) {
            *known = self.their(*known);
        }
        Ok(expected)
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, now: Timestamp) {
        self.position = Position(self.position.0 + 1);
        let principal = Principal::local();
        let context = Context {
            position: self.position,
            now,
            principal: &principal,
        };
        self.machine.tick(&context);
    }

    /// Answers a query that names what the back end knows, in its words.
    pub(super) fn query(&self, now: Timestamp, principal: &Principal, query: &Query) -> Answer {
        let query = match *query {
            Query::LookUp { reference } => Query::LookUp {
                reference: self.our(reference),
            },
            other => other,
        };
        let mut answer = self.machine.query(now, principal, &query);
        match &mut answer {
            Answer::Entry(entry) => self.rename(entry),
            Answer::Page(page) => page.entries.iter_mut().for_each(|entry| self.rename(entry)),
            Answer::Explanation(explanation) => {
                for block in &mut explanation.blocks {
                    if let Block::Booking { reference, .. } | Block::Hold { reference, .. } = block
                    {
                        *reference = self.their(*reference);
                    }
                }
            }
            Answer::Availability(_)
            | Answer::Properties { .. }
            | Answer::Totals(_)
            | Answer::Refused(_) => {}
        }
        answer
    }

    fn rename(&self, entry: &mut Entry) {
        entry.reference = self.their(entry.reference);
        let known = self.positions.get(&entry.position);
        entry.position = known.copied().unwrap_or(entry.position);
        forget_expiry(entry);
    }

    fn learn(&mut self, ours: Reference, theirs: Reference) -> Result<(), String> {
        if self.ours.insert(theirs, ours).is_some() {
            return Err(format!("{theirs} was given twice"));
        }
        self.theirs.insert(ours, theirs);
        Ok(())
    }

    /// The machine's word for a reference of the back end. What was never given has the same for
    /// both, and is found by neither.
    fn our(&self, theirs: Reference) -> Reference {
        self.ours.get(&theirs).copied().unwrap_or(theirs)
    }

    fn their(&self, ours: Reference) -> Reference {
        self.theirs.get(&ours).copied().unwrap_or(ours)
    }

    fn translated<'a>(&self, mut command: Command<'a>) -> Command<'a> {
        if let Command::Extend {
            hold: reference, ..
        }
        | Command::Confirm {
            hold: reference, ..
        }
        | Command::Release { hold: reference }
        | Command::Cancel {
            booking: reference, ..
        } = &mut command
        {
            *reference = self.our(*reference);
        }
        command
    }
}

/// The reference that an outcome gives for the first time.
pub(super) const fn made(outcome: &mut Outcome) -> Option<&mut Reference> {
    match outcome {
        Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. }) => {
            Some(reference)
        }
        _ => None,
    }
}

const fn confirmed(outcome: &mut Outcome) -> Option<&mut Reference> {
    match outcome {
        Outcome::Done(Done::Confirmed { reference, .. }) => Some(reference),
        _ => None,
    }
}

/// The machine notes the record at which a hold was found expired, a database need not.
pub(super) const fn forget_expiry(entry: &mut Entry) {
    if matches!(entry.state, EntryState::Expired { .. }) {
        entry.position = Position(0);
    }
}
