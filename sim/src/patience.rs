//! An independent model of late answers: who is told to wait is answered once, and nobody else.

use std::collections::BTreeSet;

use turnstile_travel::{Answer, Event, EventKind, LateAnswer, Outcome, Query, Travel};
use turnstile_types::{Machine, Position, Principal, Timestamp};

/// The tickets of those who wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patience(BTreeSet<Position>);

impl Patience {
    /// Shows what a record has caused.
    pub(crate) fn happen(&mut self, events: &[Event]) -> Result<(), String> {
        for event in events {
            if let EventKind::Answered { ticket, .. } = &event.kind
                && !self.0.remove(ticket)
            {
                return Err(format!("{ticket} was answered and did not wait"));
            }
        }
        Ok(())
    }

    /// Shows the outcome of the command at this position, after what it has caused.
    pub(crate) fn show(&mut self, position: Position, outcome: &Outcome) -> Result<(), String> {
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

    /// Whether the machine knows that these wait.
    pub(crate) fn agrees(&self, now: Timestamp, travel: &Travel) -> Result<(), String> {
        for &ticket in &self.0 {
            let found = travel.query(now, &Principal::local(), &Query::Answered { ticket });
            if found != Answer::Answered(LateAnswer::Pending) {
                return Err(format!("{ticket} waits, and has {found:?}"));
            }
        }
        Ok(())
    }
}
