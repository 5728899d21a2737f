//! Quick match: players who seek any opponent.

use turnstile_chassis::Bytes;
use turnstile_types::Timestamp;

use crate::{Game, TicketView, WaitReason, arena::Arena, limits};

/// Somebody who looks for anybody of about the same strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Seeker {
    pub(crate) player: u32,
    /// In points, as the search began.
    pub(crate) rating: u32,
    pub(crate) since: Timestamp,
}

/// Two tickets of a queue that are matched at an instant, if nothing changes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Meeting {
    pub(crate) at: Timestamp,
    difference: u32,
    pub(crate) older: usize,
    pub(crate) younger: usize,
}

/// Those who look for anybody to play one game with, in the order in which they came.
///
/// Each lets in whoever is within a window about the own rating, which is wide as [`window`] says.
/// Two are matched as soon as each lets the other in, so when the younger one does. Whoever waits
/// is therefore further apart from everybody else than the narrowest window, and as ratings have
/// bounds, few wait: every pair can be looked at.
#[derive(Debug)]
pub(crate) struct SeekerQueue {
    tickets: Vec<Seeker>,
    /// The first pair that will be matched.
    next: Option<Meeting>,
}

/// How far apart somebody may be who is let in after so much waiting, in points.
pub(crate) fn window(waited_ms: u64) -> u32 {
    let steps = u32::try_from(waited_ms / limits::WIDENING_MS).unwrap_or(u32::MAX);
    let wide = limits::WINDOW.saturating_add(steps.saturating_mul(limits::WIDENING));
    wide.min(limits::WINDOW_MAX)
}

/// How long it takes until somebody so far apart is let in.
fn wait_ms(difference: u32) -> u64 {
    let steps = difference
        .saturating_sub(limits::WINDOW)
        .div_ceil(limits::WIDENING);
    u64::from(steps) * limits::WIDENING_MS
}

impl SeekerQueue {
    pub(crate) const fn new() -> Self {
        Self {
            tickets: Vec::new(),
            next: None,
        }
    }

    pub(crate) fn tickets(&self) -> &[Seeker] {
        &self.tickets
    }

    pub(crate) fn push(&mut self, ticket: Seeker) {
        self.tickets.push(ticket);
        let fresh = self.tickets.len() - 1;
        let meeting = self.first_meeting(|one, other| one.max(other) == fresh);
        self.next = self.next.into_iter().chain(meeting).min();
    }

    /// Takes a player out who is in it.
    pub(crate) fn remove(&mut self, player: u32) {
        self.tickets.retain(|ticket| ticket.player != player);
        self.next = self.first_meeting(|_, _| true);
    }

    /// When two are matched next.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.next.map(|meeting| meeting.at)
    }

    /// The players who are matched next, the older ticket's first.
    pub(crate) fn next_pair(&self) -> Option<[u32; 2]> {
        let meeting = self.next?;
        let player = |index: usize| Some(self.tickets.get(index)?.player);
        Some([player(meeting.older)?, player(meeting.younger)?])
    }

    /// The first meeting of two whose places are of interest.
    fn first_meeting(&self, of_interest: impl Fn(usize, usize) -> bool) -> Option<Meeting> {
        let all = || self.tickets.iter().enumerate();
        let pairs = all().flat_map(|one| all().skip(one.0 + 1).map(move |other| (one, other)));
        let meetings = pairs
            .filter(|((older, _), (younger, _))| of_interest(*older, *younger))
            .map(|((older, one), (younger, other))| {
                let difference = one.rating.abs_diff(other.rating);
                let at = other.since.plus_ms(wait_ms(difference));
                Meeting {
                    at,
                    difference,
                    older,
                    younger,
                }
            });
        meetings.min()
    }

    /// Why somebody still waits.
    fn reason(&self, player: u32) -> Option<WaitReason> {
        let place = self
            .tickets
            .iter()
            .position(|ticket| ticket.player == player)?;
        let meeting = self.first_meeting(|one, other| one == place || other == place);
        Some(
            meeting.map_or(WaitReason::Alone, |meeting| WaitReason::TooFarApart {
                difference: meeting.difference,
                matched_at: meeting.at,
            }),
        )
    }
}

impl Arena {
    /// The ticket of a player who looks for anybody.
    pub(crate) fn ticket(&self, now: Timestamp, player: u32, game: Game) -> Option<TicketView> {
        let queue = self.queue(game);
        let ticket = queue
            .tickets
            .iter()
            .find(|ticket| ticket.player == player)?;
        let waited_ms = now.ms_since(ticket.since);
        let window = window(waited_ms);
        let steps = waited_ms / limits::WIDENING_MS + 1;
        let widens_at = ticket.since.plus_ms(steps * limits::WIDENING_MS);
        Some(TicketView {
            player: self.guests.id(player),
            game,
            rating: ticket.rating,
            since: ticket.since,
            window,
            widens_at: (window < limits::WINDOW_MAX).then_some(widens_at),
            reason: queue.reason(player)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_let_in_as_soon_as_the_window_reaches_so_far() {
        for difference in 0..=limits::RATING_MAX {
            let wait = wait_ms(difference);
            assert!(window(wait) >= difference, "{difference}");
            assert!(
                wait == 0 || window(wait - 1) < difference,
                "{difference} not before"
            );
        }
        assert_eq!(window(u64::MAX), limits::WINDOW_MAX);
    }
}
