//! What players do in a match.

use turnstile_types::Context;

use crate::{
    Change, Claim, Deed, Done, Ending, Games, MatchId, MatchView, Played, PlayerId, Refusal, Seat,
    arena::{Activity, Presence},
    limits, rules,
};

/// A deed that may be done, and what it does.
enum Allowed {
    Moves(Played),
    Ends(Ending),
    Offers,
    Declines,
}

impl Games {
    pub(super) fn act(
        &mut self,
        context: &Context<'_>,
        (match_id, player): (MatchId, &PlayerId),
        deed: Deed,
    ) -> Result<Done, Refusal> {
        self.in_arena()?;
        let (slot, number) = self.seated(match_id, player)?;
        let seat = self.arena.matches.at(slot).seat_of(number);
        let seat = seat.expect("who was found in the match has a seat");
        let allowed = self.judge(context, slot, seat, deed)?;
        self.come_back(context, slot, number);
        match allowed {
            Allowed::Moves(played) => self.make_move(context, slot, seat, &played),
            Allowed::Ends(ending) => self.end(context, slot, ending),
            Allowed::Offers => {
                self.arena.matches.at_mut(slot).offer = Some(seat);
                self.tell_change(context, slot, Change::DrawOffered { seat });
            }
            Allowed::Declines => {
                self.arena.matches.at_mut(slot).offer = None;
                self.tell_change(context, slot, Change::DrawDeclined { seat });
            }
        }
        Ok(Done::Acted(self.arena.view(slot)))
    }

    /// An open match in which the player has a seat. Nearly always it is the one that the player
    /// is in, which is found without a look at any other.
    fn seated(&self, match_id: MatchId, player: &PlayerId) -> Result<(u32, u32), Refusal> {
        let matches = &self.arena.matches;
        let number = self.arena.guests.find(player);
        if let Some(number) = number
            && let Activity::Playing { slot } = self.arena.guests.at(number).activity
            && matches.at(slot).id == match_id
        {
            return Ok((slot, number));
        }
        let slot = matches.find(match_id).ok_or(Refusal::NoSuchMatch)?;
        let seat = number.and_then(|number| matches.at(slot).seat_of(number));
        seat.ok_or(Refusal::NotSeated)?;
        Err(Refusal::Over(self.state(slot)))
    }

    /// The state that goes with a refusal.
    fn state(&self, slot: u32) -> Box<MatchView> {
        Box::new(self.arena.view(slot))
    }

    /// Whether a deed may be done.
    fn judge(
        &self,
        context: &Context<'_>,
        slot: u32,
        seat: Seat,
        deed: Deed,
    ) -> Result<Allowed, Refusal> {
        let found = self.arena.matches.at(slot);
        let winner = seat.other();
        match deed {
            Deed::Move { ply, choice, claim } => {
                let played = self.judge_move(slot, seat, (ply, choice, claim))?;
                Ok(Allowed::Moves(played))
            }
            Deed::Resign => Ok(Allowed::Ends(Ending::Resigned { winner })),
            Deed::Abort if found.ply >= limits::ABORT_PLIES => Err(Refusal::TooLate),
            Deed::Abort => Ok(Allowed::Ends(Ending::Aborted)),
            Deed::OfferDraw if found.offer == Some(seat) => Err(Refusal::OfferStands),
            Deed::OfferDraw if found.offer.is_none() => Ok(Allowed::Offers),
            Deed::OfferDraw => Ok(Allowed::Ends(Ending::Agreed)),
            Deed::AcceptDraw | Deed::DeclineDraw if found.offer != Some(winner) => {
                Err(Refusal::NoOffer)
            }
            Deed::AcceptDraw => Ok(Allowed::Ends(Ending::Agreed)),
            Deed::DeclineDraw => Ok(Allowed::Declines),
            Deed::ClaimWin => {
                self.judge_claim(context, slot, seat)?;
                Ok(Allowed::Ends(Ending::Claimed { winner: seat }))
            }
        }
    }

    fn judge_move(
        &self,
        slot: u32,
        seat: Seat,
        (ply, choice, claim): (u16, u8, Option<Claim>),
    ) -> Result<Played, Refusal> {
        let found = self.arena.matches.at(slot);
        if ply != found.ply {
            return Err(Refusal::Stale(self.state(slot)));
        }
        if seat != Seat::to_move(ply) {
            return Err(Refusal::NotYourTurn(self.state(slot)));
        }
        let played = rules::play(found.game, &found.board, seat, choice);
        let played = played.map_err(Refusal::IllegalMove)?;
        if claim.is_some_and(|claim| claim != Claim::of(played.verdict)) {
            return Err(Refusal::FalseClaim);
        }
        Ok(played)
    }

    /// Whether the other has been away, or late, for long enough.
    fn judge_claim(&self, context: &Context<'_>, slot: u32, seat: Seat) -> Result<(), Refusal> {
        let found = self.arena.matches.at(slot);
        let other = seat.other();
        let away = self.arena.away_since(*other.of(&found.seats));
        let late = (Seat::to_move(found.ply) == other).then_some(found.moved_at);
        let since = away.into_iter().chain(late).min();
        let since = since.ok_or(Refusal::NothingToClaim)?;
        let until = since.plus_ms(self.settings.claim_ms);
        if context.now < until {
            return Err(Refusal::TooEarly { until });
        }
        Ok(())
    }

    fn make_move(&mut self, context: &Context<'_>, slot: u32, seat: Seat, played: &Played) {
        self.arena.moves += 1;
        self.arena.matches.moved(slot, context.now, seat, played);
        let ending = played.verdict.map(|verdict| match verdict.winner() {
            Some(winner) => Ending::Line { winner },
            None => Ending::Full,
        });
        if let Some(ending) = ending {
            self.finish(context, slot, ending, Change::Moved { seat });
        } else {
            self.tell_change(context, slot, Change::Moved { seat });
        }
    }

    /// Ends a match otherwise than by a move.
    pub(super) fn end(&mut self, context: &Context<'_>, slot: u32, ending: Ending) {
        self.finish(context, slot, ending, Change::Ended);
    }

    fn finish(&mut self, context: &Context<'_>, slot: u32, ending: Ending, change: Change) {
        let seats = self.arena.matches.at(slot).seats;
        for number in seats {
            self.arena.end_absence(number, Presence::Unknown);
            self.arena.guests.at_mut(number).activity = Activity::Idle;
        }
        let result = self.arena.result(slot, ending);
        self.arena.matches.at_mut(slot).seq += 1;
        self.arena.matches.end(slot, ending);
        self.tell_state(context, slot, change);
        if let Some(result) = result {
            self.hand_over(context, seats, result);
        }
    }
}
