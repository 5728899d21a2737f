//! The machine as the model: the answer that it would have given.

use std::collections::BTreeMap;

use turnstile_chassis::Subject;
use turnstile_types::{Context, Position, Principal, Timestamp};

use super::Suite;
use crate::{OutOfScope, Scope};

/// What the back end calls what the machine has, and the other way round.
#[derive(Debug)]
pub struct Names<M: Suite> {
    /// The back end's names, and the machine's.
    ours: BTreeMap<M::Made, M::Made>,
    /// The machine's names, and the back end's.
    theirs: BTreeMap<M::Made, M::Made>,
    /// The machine's positions, and the back end's.
    positions: BTreeMap<Position, Position>,
}

impl<M: Suite> Names<M> {
    /// Puts the machine's name in place of the back end's.
    pub fn our(&self, made: &mut M::Made) {
        *made = self.ours.get(made).copied().unwrap_or(M::NOBODYS);
    }

    /// Puts the back end's name in place of the machine's.
    pub fn their(&self, made: &mut M::Made) {
        *made = self.theirs.get(made).copied().unwrap_or(M::NOBODYS);
    }

    /// Puts the back end's position in place of the machine's.
    pub fn their_position(&self, position: &mut Position) {
        *position = self.positions.get(position).copied().unwrap_or(*position);
    }

    fn learn(&mut self, ours: M::Made, theirs: M::Made) -> Result<(), String> {
        let known = *self.ours.entry(theirs).or_insert(ours);
        if known != ours || *self.theirs.entry(ours).or_insert(theirs) != theirs {
            return Err(format!("{theirs} was given twice"));
        }
        Ok(())
    }
}

/// The machine, and what the back end calls what both know.
#[derive(Debug)]
pub(super) struct Oracle<M: Suite> {
    machine: M,
    position: Position,
    names: Names<M>,
}

impl<M: Suite> Oracle<M> {
    pub(super) fn new() -> Self {
        Self {
            machine: M::empty(),
            position: Position(0),
            names: Names {
                ours: BTreeMap::new(),
                theirs: BTreeMap::new(),
                positions: BTreeMap::new(),
            },
        }
    }

    /// Decides a command that names what the back end knows, and says what the back end should have
    /// answered in its place; `given` and `position` are what it did answer.
    pub(super) fn decide(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        mut command: M::Command<'_>,
        (given, position): (&M::Outcome, Position),
    ) -> Result<M::Outcome, String> {
        if M::TICKS_FIRST {
            self.tick(now);
        }
        let context = self.next(now, principal);
        self.names.positions.insert(context.position, position);
        M::ask_ours(&mut command, &self.names);
        let mut expected = self.machine.apply(&context, &command);
        if let (Some(ours), Some(theirs)) = (M::made(&expected), M::made(given)) {
            self.names.learn(ours, theirs)?;
        }
        M::tell_theirs(&mut expected, &self.names);
        Ok(expected)
    }

    /// Judges a command that names what the back end knows by what the machine knows of it.
    pub(super) fn judge(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        (scope, mut command): (&Scope, M::Command<'_>),
    ) -> Result<(), OutOfScope> {
        if scope.is_everything() {
            return Ok(());
        }
        self.tick(now);
        M::ask_ours(&mut command, &self.names);
        match self.machine.subject_of(&command) {
            Subject::Things {
                names: [Some(name), _],
                holder,
            } => scope.judge(principal, Some((&name, &holder.unwrap_or(*principal)))),
            _ => scope.judge(principal, None),
        }
    }

    /// Judges a query that names what the back end knows, by what the machine knows of it. Of what it does
    /// not tell, nobody but the machine knows whose it is.
    pub(super) fn judge_query(
        &self,
        principal: &Principal,
        (scope, query, answer): (&Scope, &M::Query, &M::Answer),
    ) -> Result<(), OutOfScope> {
        let mut query = query.clone();
        M::query_ours(&mut query, &self.names);
        let subject = match M::is_refused(answer) {
            true => Subject::Unknown,
            false => self.machine.subject_of_query(&query),
        };
        scope.judge_subject(principal, &subject)
    }

    /// Does what is due, each at the instant at which it is due.
    pub(super) fn tick(&mut self, now: Timestamp) {
        let local = Principal::local();
        while let Some(due) = self.machine.next_deadline().filter(|&due| due <= now) {
            let context = self.next(due, &local);
            self.machine.tick(&context);
        }
    }

    /// Answers a query that names what the back end knows, in its words.
    pub(super) fn query(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        query: &M::Query,
    ) -> M::Answer {
        if M::TICKS_FIRST {
            self.tick(now);
        }
        let mut query = query.clone();
        M::query_ours(&mut query, &self.names);
        let mut answer = self.machine.query(now, principal, &query);
        M::answer_theirs(&mut answer, &self.names);
        M::forget_own(&mut answer);
        answer
    }

    /// Whether the machine is sound.
    pub(super) fn check(&self) -> Result<(), String> {
        self.machine.check().map_err(|faults| faults.join("; "))
    }

    fn next<'a>(&mut self, now: Timestamp, principal: &'a Principal) -> Context<'a> {
        self.position = self.position.next();
        Context {
            position: self.position,
            now,
            principal,
        }
    }
}
