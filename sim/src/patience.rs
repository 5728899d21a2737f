//! An independent model of late answers: who is told to wait is answered once, and nobody else.

use std::collections::BTreeSet;

use turnstile_travel::{Command, Event, EventKind, LateAnswer, Outcome, Travel};
use turnstile_types::{Position, Timestamp};

use crate::actors::RulesModel;

/// The tickets of those who wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct LateAnswerModel(BTreeSet<Position>);

impl RulesModel<Travel> for LateAnswerModel {
    /// After what a record has caused comes its own outcome.
    fn show(
        &mut self,
        (position, _now): (Position, Timestamp),
        asked: Option<(&Command, &Outcome)>,
        events: &[Event],
    ) -> Result<(), String> {
        self.happen(events)?;
        asked.map_or(Ok(()), |(_, outcome)| self.answer(position, outcome))
    }

    /// Whether the machine knows that these wait.
    fn agrees(&self, _now: Timestamp, travel: &Travel) -> Result<(), String> {
        for &ticket in &self.0 {
            let found = travel.late_answer(ticket);
            if found != LateAnswer::Pending {
                return Err(format!("{ticket} waits, and has {found:?}"));
            }
        }
        Ok(())
    }
}

impl LateAnswerModel {
    fn happen(&mut self, events: &[Event]) -> Result<(), String> {
        for event in events {
            if let EventKind::Answered { ticket, .. } = &event.kind
                && !self.0.remove(ticket)
            {
                return Err(format!("{ticket} was answered and did not wait"));
            }
        }
        Ok(())
    }

    fn answer(&mut self, position: Position, outcome: &Outcome) -> Result<(), String> {
        match outcome {
            Outcome::Waiting { ticket } if *ticket != position => {
                Err(format!("it waits under another ticket, {ticket}"))
            }
            Outcome::Waiting { ticket } => {
                self.0.insert(*ticket);
                Ok(())
            }
            Outcome::Done(_) | Outcome::Refused(_) => Ok(()),
        }
    }
}

/// How many answers were given late.
pub(crate) fn late_answers(events: &[Event]) -> u64 {
    let is_answer = |event: &&Event| matches!(event.kind, EventKind::Answered { .. });
    let answers = events.iter().filter(is_answer).count();
    u64::try_from(answers).expect("a few answers")
}
