//! The arena: matches, and the players who wait for one.

pub(crate) mod matches;
pub(crate) mod queue;

use turnstile_chassis::Bytes;
use turnstile_types::Timestamp;

use crate::{
    ActivityView, Game, Glicko, MatchView, PlayerId, Refusal, Seat, limits,
    line::{Chained, Line, Links},
    outbox::Outbox,
    roster::Roster,
};
use matches::{GameMatch, Matches};
use queue::SeekerQueue;

/// Everybody who plays, wants to, or has.
#[derive(Debug)]
pub(crate) struct Arena {
    pub(crate) guests: Roster<ArenaPlayer>,
    pub(crate) matches: Matches,
    /// In the order of [`Game::ALL`].
    pub(crate) queues: [SeekerQueue; 3],
    /// Players who left an open match, in the order in which they did.
    pub(crate) away: Line,
    pub(crate) outbox: Outbox,
    /// Moves ever made.
    pub(crate) moves: u64,
}

/// What the arena knows of a player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaPlayer {
    pub(crate) activity: Activity,
    pub(crate) presence: Presence,
    /// The place among those who are away.
    pub(crate) links: Links,
    /// The rating in points, as the scores said last.
    pub(crate) rating: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Idle,
    Challenging { opponent: u32, game: Game },
    Seeking { game: Game },
    Playing { slot: u32 },
}

/// Whether a player is connected, as far as doors say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub(crate) enum Presence {
    /// No door said anything, or that the player is gone from no match.
    #[byte(0x00)]
    Unknown,
    #[byte(0x01)]
    Here,
    /// Gone from an open match.
    #[byte(0x02)]
    Away { since: Timestamp },
}

impl ArenaPlayer {
    pub(crate) fn new() -> Self {
        Self {
            activity: Activity::Idle,
            presence: Presence::Unknown,
            links: Links::NONE,
            rating: Glicko::START.points(),
        }
    }
}

impl Chained for Roster<ArenaPlayer> {
    fn links(&self, number: u32) -> Links {
        self.at(number).links
    }

    fn links_mut(&mut self, number: u32) -> &mut Links {
        &mut self.at_mut(number).links
    }
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self {
            guests: Roster::new(),
            matches: Matches::new(),
            queues: [SeekerQueue::new(), SeekerQueue::new(), SeekerQueue::new()],
            away: Line::EMPTY,
            outbox: Outbox::new(),
            moves: 0,
        }
    }

    pub(crate) fn is_new(&self) -> bool {
        let fresh = [self.matches.begun(), self.moves, self.outbox.acknowledged];
        self.guests.len() == 0 && fresh == [0; 3] && self.outbox.len() == 0
    }

    pub(crate) fn queue(&self, game: Game) -> &SeekerQueue {
        let [first, second, third] = &self.queues;
        match game {
            Game::TicTacToe => first,
            Game::ConnectFour => second,
            Game::Gomoku => third,
        }
    }

    pub(crate) fn queue_mut(&mut self, game: Game) -> &mut SeekerQueue {
        let [first, second, third] = &mut self.queues;
        match game {
            Game::TicTacToe => first,
            Game::ConnectFour => second,
            Game::Gomoku => third,
        }
    }

    /// The numbers of those of these who are known here.
    pub(crate) fn known<const COUNT: usize>(
        &self,
        players: &[PlayerId; COUNT],
    ) -> [Option<u32>; COUNT] {
        players.each_ref().map(|id| self.guests.find(id))
    }

    /// The numbers of different players, who are known from now on; so far those are who have one.
    pub(crate) fn admit<const COUNT: usize>(
        &mut self,
        players: [PlayerId; COUNT],
        known: [Option<u32>; COUNT],
    ) -> Result<[u32; COUNT], Refusal> {
        let limit = limits::PLAYERS_MAX;
        let fresh: u32 = known.iter().map(|number| u32::from(number.is_none())).sum();
        if self.guests.len() + fresh > limit {
            return Err(Refusal::Full { limit });
        }
        let mut known = known.into_iter();
        Ok(players.map(|id| {
            let number = known.next().flatten();
            number.unwrap_or_else(|| self.guests.enroll(id, ArenaPlayer::new()))
        }))
    }

    /// Whether another match can begin, and its result be kept.
    pub(crate) fn has_room_for_match(&self) -> Result<(), Refusal> {
        let limit = limits::OPEN_MATCHES_MAX;
        if self.matches.open() >= limit {
            return Err(Refusal::Full { limit });
        }
        let owed = self.outbox.len() + u64::from(self.matches.open());
        let fits = owed < u64::from(limits::OUTBOX_MAX);
        fits.then_some(()).ok_or(Refusal::ScoresAway)
    }

    /// Whether somebody may begin to wait, or to play: nobody does two things at once.
    pub(crate) fn is_free(&self, number: u32) -> Result<(), Refusal> {
        let player = self.guests.id(number);
        match self.guests.at(number).activity {
            Activity::Idle => Ok(()),
            Activity::Challenging { .. } | Activity::Seeking { .. } => {
                Err(Refusal::Waiting { player })
            }
            Activity::Playing { slot } => Err(Refusal::Playing {
                player,
                match_id: self.matches.at(slot).id,
            }),
        }
    }

    /// Waits no longer. Whether the player did.
    pub(crate) fn stop_waiting(&mut self, number: u32) -> bool {
        match self.guests.at(number).activity {
            Activity::Idle | Activity::Playing { .. } => return false,
            Activity::Challenging { .. } => {}
            Activity::Seeking { game } => self.queue_mut(game).remove(number),
        }
        self.guests.at_mut(number).activity = Activity::Idle;
        true
    }

    /// Begins a match of two who may wait, for each other or for anybody.
    pub(crate) fn begin(&mut self, now: Timestamp, game: Game, seats: [u32; 2]) -> u32 {
        for number in seats {
            self.stop_waiting(number);
        }
        let slot = self.matches.begin(now, game, seats);
        for number in seats {
            self.guests.at_mut(number).activity = Activity::Playing { slot };
        }
        slot
    }

    /// Takes leave of an open match.
    pub(crate) fn leave(&mut self, number: u32, now: Timestamp) {
        self.guests.at_mut(number).presence = Presence::Away { since: now };
        self.away.join(&mut self.guests, number);
    }

    /// Ends an absence, if there is one.
    pub(crate) fn end_absence(&mut self, number: u32, presence: Presence) -> bool {
        let was_away = matches!(self.guests.at(number).presence, Presence::Away { .. });
        if was_away {
            self.away.leave(&mut self.guests, number);
            self.guests.at_mut(number).presence = presence;
        }
        was_away
    }

    pub(crate) fn away_since(&self, number: u32) -> Option<Timestamp> {
        match self.guests.at(number).presence {
            Presence::Away { since } => Some(since),
            Presence::Unknown | Presence::Here => None,
        }
    }

    pub(crate) fn players(&self, found: &GameMatch) -> [PlayerId; 2] {
        found.seats.map(|number| self.guests.id(number))
    }

    /// A match as it is shown.
    pub(crate) fn view(&self, slot: u32) -> MatchView {
        let found = self.matches.at(slot);
        let open = found.ending.is_none();
        let away = |seat: Seat| self.away_since(*seat.of(&found.seats)).filter(|_| open);
        MatchView {
            id: found.id,
            game: found.game,
            players: self.players(found),
            board: found.board,
            ply: found.ply,
            seq: found.seq,
            last: found.last,
            offer: found.offer,
            away: Seat::BOTH.map(away),
            moved_at: found.moved_at,
            ending: found.ending,
        }
    }

    /// What a player does, as it is shown.
    pub(crate) fn activity(&self, now: Timestamp, number: u32) -> ActivityView {
        match self.guests.at(number).activity {
            Activity::Idle => ActivityView::Idle,
            Activity::Challenging { opponent, game } => ActivityView::Challenging {
                opponent: self.guests.id(opponent),
                game,
            },
            Activity::Seeking { game } => {
                let view = self.ticket(now, number, game);
                ActivityView::Seeking(view.expect("whoever seeks has a ticket"))
            }
            Activity::Playing { slot } => ActivityView::Playing(self.view(slot)),
        }
    }
}
