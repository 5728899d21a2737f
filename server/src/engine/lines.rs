//! The engine as the lines to other processes of travel use it.

use turnstile_games::Games;
use turnstile_travel::{Desk, Desks, Travel};

use super::Engine;
use crate::{fault_points::FaultPoints, gate::LineStatus};

impl Engine {
    /// Whether games know of this start.
    pub(crate) fn has_started_games(&self) -> bool {
        self.backend.started_games().is_some()
    }

    /// Games as they are, the open group included.
    pub(crate) const fn games(&self) -> &Games {
        self.backend.games()
    }

    /// Travel as it is, the open group included.
    pub(crate) const fn travel(&self) -> &Travel {
        self.backend.travel()
    }

    /// The same, and the fault points that watch what it has for others.
    pub(crate) const fn travel_watched(&mut self) -> (&Travel, &mut FaultPoints) {
        (self.backend.travel(), &mut self.fault_points)
    }

    /// The desks whose line leads to another process; none before travel knows of this start.
    pub(crate) fn lines(&self) -> Desks {
        let travel = self.backend.started_travel();
        travel.map_or(Desks::NONE, Travel::lines)
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
