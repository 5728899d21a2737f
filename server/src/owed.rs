//! What a group owes, and to whom.

use tokio::sync::oneshot;
use turnstile_embedded::{ExecuteError, Reply};
use turnstile_rooms::{Answer, Rooms};
use turnstile_types::Position;

use crate::gate::ServerStatus;

/// An answer that waits for its group.
pub(crate) enum Waiting {
    Command(
        oneshot::Sender<Result<Reply<Rooms>, ExecuteError>>,
        Result<Reply<Rooms>, ExecuteError>,
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

/// What groups have changed: told when they are durable, oldest first for each machine.
#[derive(Default)]
pub(crate) struct News {
    pub(crate) rooms: Vec<turnstile_rooms::Event>,
    pub(crate) exchange: Vec<turnstile_exchange::Event>,
}

/// What one group owes: nothing of it leaves before the group is durable.
#[derive(Default)]
pub(crate) struct Owed {
    /// Connections; their outputs hold the answers.
    pub(crate) places: Vec<usize>,
    /// Those who asked through the gate.
    pub(crate) waiting: Vec<Waiting>,
    /// How many requests it answers.
    pub(crate) requests: usize,
    /// What it has changed; the back end keeps that of the open group.
    pub(crate) news: News,
}

impl Owed {
    pub(crate) const fn is_empty(&self) -> bool {
        self.places.is_empty() && self.waiting.is_empty()
    }
}
