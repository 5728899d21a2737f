//! Deadlines: late moves, absences, expiries.

use turnstile_types::{Context, Timestamp};

use crate::{Ending, Game, Games, Seat, arena::Activity};

/// What is due. Of what is due at one instant, the first of these comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DueEvent {
    /// Whoever left first has been away for too long.
    Absence,
    /// Whoever is to move has thought for too long.
    Move,
    /// Two who wait have become near enough.
    Meeting(Game),
}

impl Games {
    /// What is due next, and when.
    pub(super) fn due(&self) -> Option<(Timestamp, DueEvent)> {
        let arena = &self.arena;
        let mut next = None;
        let mut consider = |at: Timestamp, due: DueEvent| {
            if next.is_none_or(|first| (at, due) < first) {
                next = Some((at, due));
            }
        };
        if let Some(number) = arena.away.first()
            && let Some(since) = arena.away_since(number)
        {
            consider(since.plus_ms(self.settings.grace_ms), DueEvent::Absence);
        }
        if let Some(slow) = arena.matches.slowest() {
            consider(slow.moved_at.plus_ms(self.settings.move_ms), DueEvent::Move);
        }
        for (game, queue) in Game::ALL.into_iter().zip(&arena.queues) {
            if let Some(at) = queue.next_at() {
                consider(at, DueEvent::Meeting(game));
            }
        }
        next
    }

    /// Does everything that is due, in the order of its instants.
    pub(super) fn sweep(&mut self, context: &Context<'_>) {
        while let Some((at, due)) = self.due()
            && at <= context.now
        {
            match due {
                DueEvent::Absence => self.forfeit_absent(context),
                DueEvent::Move => self.forfeit_slow(context),
                DueEvent::Meeting(game) => self.meet(context, game),
            }
        }
    }

    fn forfeit_absent(&mut self, context: &Context<'_>) {
        let number = self.arena.away.first();
        let number = number.expect("an absence is due, so somebody is away");
        let Activity::Playing { slot } = self.arena.guests.at(number).activity else {
            unreachable!("whoever is away is away from a match");
        };
        let seat = self.arena.matches.at(slot).seat_of(number);
        let seat = seat.expect("who left a match has a seat in it");
        let winner = seat.other();
        self.end(context, slot, Ending::Left { winner });
    }

    fn forfeit_slow(&mut self, context: &Context<'_>) {
        let slot = self.arena.matches.iter_open().next();
        let slot = slot.expect("a move is due, so a match is open");
        let winner = Seat::to_move(self.arena.matches.at(slot).ply).other();
        self.end(context, slot, Ending::TimedOut { winner });
    }

    fn meet(&mut self, context: &Context<'_>, game: Game) {
        let pair = self.arena.queue(game).next_pair();
        let pair = pair.expect("a meeting is due, so two wait");
        self.start(context, game, pair);
    }
}
