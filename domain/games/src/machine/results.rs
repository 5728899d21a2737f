//! Results, from the arena to the scores.

use turnstile_types::Context;

use crate::{
    Done, Ending, EventKind, Games, MatchResult, Parcel, PlayerId, Refusal, Source, Standing,
    Verdict, arena::Arena, limits,
};

impl Arena {
    /// What is to be counted of a match that ends so, if anything is.
    pub(super) fn result(&self, slot: u32, ending: Ending) -> Option<MatchResult> {
        let found = self.matches.at(slot);
        Some(MatchResult {
            match_id: found.id,
            game: found.game,
            players: self.players(found),
            verdict: ending.verdict()?,
        })
    }
}

impl Games {
    /// Results that the distant scores server has not acknowledged, after the one of this number,
    /// the oldest first; after 0: all.
    ///
    /// Contract: they MUST leave in this order and only once the record that made them is durable,
    /// and MUST be sent again when a connection is new. Each acknowledgement comes back as
    /// [`Command::Acknowledge`](crate::Command::Acknowledge), in this order too.
    pub fn unreported(&self, after: u64) -> impl Iterator<Item = Parcel> {
        let arena = self.settings.arena;
        self.arena
            .outbox
            .after(after)
            .map(move |(number, &result)| Parcel {
                arena,
                number,
                result,
            })
    }

    /// The arena has a result for the scores.
    pub(super) fn hand_over(
        &mut self,
        context: &Context<'_>,
        seats: [u32; 2],
        result: MatchResult,
    ) {
        if !self.settings.roles.scores {
            let number = self.arena.outbox.put(result);
            let arena = self.settings.arena;
            let parcel = Parcel {
                arena,
                number,
                result,
            };
            self.tell(context, EventKind::Reported(parcel));
            return;
        }
        let match_id = result.match_id;
        let source = Source::Here { match_id };
        let standings = self.count(context, source, result.players, result.verdict);
        self.hear(context, seats.map(Some), &result, standings);
    }

    /// The arena hears that a result was counted, of those with these numbers.
    fn hear(
        &mut self,
        context: &Context<'_>,
        numbers: [Option<u32>; 2],
        result: &MatchResult,
        standings: [Standing; 2],
    ) {
        for (number, standing) in numbers.into_iter().zip(&standings) {
            if let (Some(number), Some(ratings)) = (number, standing.ratings) {
                self.arena.guests.at_mut(number).rating = ratings.glicko.points();
            }
        }
        self.tell(
            context,
            EventKind::Scored {
                match_id: result.match_id,
                players: result.players,
                standings,
            },
        );
    }

    /// The scores count a result for which there is room.
    fn count(
        &mut self,
        context: &Context<'_>,
        source: Source,
        players: [PlayerId; 2],
        verdict: Verdict,
    ) -> [Standing; 2] {
        let standings = self.scores.count(&players, verdict);
        self.tell(
            context,
            EventKind::Counted {
                source,
                players,
                verdict,
                standings,
            },
        );
        standings
    }

    pub(super) fn acknowledge(
        &mut self,
        context: &Context<'_>,
        number: u64,
        standings: [Standing; 2],
    ) -> Result<Done, Refusal> {
        if !self.settings.roles.arena || self.settings.roles.scores {
            return Err(Refusal::NotHere);
        }
        let acknowledged = self.arena.outbox.acknowledged;
        if number <= acknowledged {
            return Ok(Done::Acknowledged);
        }
        let expected = acknowledged + 1;
        if number != expected {
            return Err(Refusal::OutOfOrder { expected });
        }
        let result = self.arena.outbox.take();
        let result = result.ok_or(Refusal::OutOfOrder { expected })?;
        let numbers = self.arena.known(&result.players);
        self.hear(context, numbers, &result, standings);
        Ok(Done::Acknowledged)
    }

    /// A result of a distant arena: counted when it is the next of that arena, and answered alike
    /// when it was counted before.
    pub(super) fn deliver(
        &mut self,
        context: &Context<'_>,
        parcel: &Parcel,
    ) -> Result<Done, Refusal> {
        self.in_scores()?;
        let &Parcel {
            arena,
            number,
            result,
        } = parcel;
        let counted = self.scores.arenas.get(&arena).copied();
        let expected = counted.unwrap_or(0) + 1;
        if number > expected || number == 0 {
            return Err(Refusal::OutOfOrder { expected });
        }
        if number < expected {
            return self
                .counted_before(&result)
                .ok_or(Refusal::OutOfOrder { expected });
        }
        if counted.is_none() && self.scores.arenas.len() >= limits::ARENAS_MAX {
            let limit = u32::try_from(limits::ARENAS_MAX).expect("it is a thousand");
            return Err(Refusal::Full { limit });
        }
        self.countable(&result.players)?;
        self.scores.arenas.insert(arena, number);
        let match_id = result.match_id;
        let source = Source::Arena { arena, match_id };
        let standings = self.count(context, source, result.players, result.verdict);
        Ok(Done::Counted(standings))
    }

    /// How those stand whose result was counted before.
    fn counted_before(&self, result: &MatchResult) -> Option<Done> {
        let [first, second] = result
            .players
            .map(|player| self.scores.records.find(&player));
        let standings = [first?, second?].map(|number| self.scores.standing(number));
        Some(Done::Counted(standings))
    }

    pub(super) fn report(
        &mut self,
        context: &Context<'_>,
        players: [PlayerId; 2],
        verdict: Verdict,
    ) -> Result<Done, Refusal> {
        self.in_scores()?;
        self.countable(&players)?;
        let standings = self.count(context, Source::Foreign, players, verdict);
        Ok(Done::Counted(standings))
    }

    /// Only where results come from outside.
    const fn in_scores(&self) -> Result<(), Refusal> {
        if self.settings.roles.scores {
            Ok(())
        } else {
            Err(Refusal::NotHere)
        }
    }

    /// Whether a result of these two can be counted.
    fn countable(&self, players: &[PlayerId; 2]) -> Result<(), Refusal> {
        let [first, second] = players;
        if first == second {
            return Err(Refusal::SamePlayer);
        }
        self.scores.has_room(players)
    }
}
