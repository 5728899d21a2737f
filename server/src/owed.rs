//! Whom a group owes its answers.

use tokio::sync::oneshot;
use turnstile_embedded::{ExecuteError, Reply};
use turnstile_rooms::Answer;
use turnstile_types::Position;

use crate::gate::ServerStatus;

/// An answer that waits for its group.
pub(crate) enum Waiting {
    Command(
        oneshot::Sender<Result<Reply, ExecuteError>>,
        Result<Reply, ExecuteError>,
    ),
    Query(oneshot::Sender<(Position, Answer)>, (Position, Answer)),
    Status(oneshot::Sender<ServerStatus>, Box<ServerStatus>),
}

impl Waiting {
    /// Those who asked and have gone meanwhile are not waited for: their answer is dropped.
    pub(crate) fn answer(self) {
        match self {
            Self::Command(sender, reply) => drop(sender.send(reply)),
            Self::Query(sender, answer) => drop(sender.send(answer)),
            Self::Status(sender, status) => drop(sender.send(*status)),
        }
    }
}

/// Whom one group owes something.
#[derive(Default)]
pub(crate) struct Owed {
    /// Connections; their outputs hold the answers.
    pub(crate) places: Vec<usize>,
    /// Those who asked through the gate.
    pub(crate) waiting: Vec<Waiting>,
    /// How many requests it answers.
    pub(crate) requests: usize,
}

impl Owed {
    pub(crate) const fn is_empty(&self) -> bool {
        self.places.is_empty() && self.waiting.is_empty()
    }
}
