//! The engine as travel's late answers and its lines to other processes use it.

use turnstile_games::Games;
use turnstile_travel::{Desk, Desks, LateAnswer, Travel};
use turnstile_types::Position;

use super::Engine;
use crate::core::{fault_points::FaultPoints, gate::LineStatus};

impl Engine {
    /// What has become of a command of travel that was told to wait, as the open group has it.
    pub(crate) fn late_answer(&self, ticket: Position) -> LateAnswer {
        self.travel().late_answer(ticket)
    }

    /// Games as they are, the open group included.
    pub(crate) fn games(&self) -> &Games {
        self.backend.machine()
    }

    /// Travel as it is, the open group included.
    pub(crate) fn travel(&self) -> &Travel {
        self.backend.machine()
    }

    /// The same, and the fault points that watch what it has for others.
    pub(crate) fn travel_watched(&mut self) -> (&Travel, &mut FaultPoints) {
        (self.backend.machine(), &mut self.fault_points)
    }

    /// The desks whose line leads to another process; none before travel knows of this start.
    pub(crate) fn lines(&self) -> Desks {
        if self.backend.has_started() {
            self.travel().lines()
        } else {
            Desks::NONE
        }
    }

    /// Whether this desk is played here, with its coordinator in another process.
    pub(crate) fn is_desk_of_lines(&self, desk: Desk) -> bool {
        let roles = self.travel().settings().roles;
        !roles.coordinator && self.lines().contains(desk)
    }

    pub(super) fn line(&self, desk: Desk) -> Option<LineStatus> {
        let travel = self.travel();
        let greeting = travel.greeting(desk);
        let has_line = self.lines().contains(desk);
        has_line.then(|| LineStatus {
            life: greeting.life,
            peer_life: greeting.peer_life,
            unacknowledged: travel.unacknowledged(desk),
            in_doubt: travel.in_doubt(desk),
        })
    }
}
