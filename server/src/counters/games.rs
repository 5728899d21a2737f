//! How requests to games are counted.

use turnstile_games::{Command, Deed, Games, Illegal, Outcome, Query, Refusal};
use turnstile_travel::Travel;

use super::{Counted, Counters, MachineCounters};

impl Counted for Games {
    const OPERATIONS: &'static [&'static str] = &OPERATIONS;
    const FIRST_OPERATION: usize = Travel::FIRST_OPERATION + Travel::OPERATIONS.len();
    const OUTCOMES: &'static [&'static str] = &OUTCOMES;

    fn command_place(command: &Command) -> usize {
        match command {
            Command::Challenge { .. } => 0,
            Command::Seek { .. } => 1,
            Command::Withdraw { .. } => 2,
            Command::Begin { .. } => 3,
            Command::Act { deed, .. } => deed_place(*deed),
            Command::Connect { .. } => 11,
            Command::Disconnect { .. } => 12,
            Command::Restarted => 13,
            Command::Configure(_) => 14,
            Command::Acknowledge { .. } => 15,
            Command::Deliver(_) => 16,
            Command::Report { .. } => 17,
        }
    }

    fn query_place(query: &Query) -> usize {
        match query {
            Query::Match { .. } => 18,
            Query::Matches { .. } => 19,
            Query::Player { .. } => 20,
            Query::Tickets { .. } => 21,
            Query::Standing { .. } => 22,
            Query::Against { .. } => 23,
            Query::Opponents { .. } => 24,
            Query::Leaders { .. } => 25,
            Query::Around { .. } => 26,
            Query::Totals => 27,
        }
    }

    fn outcome_place(outcome: &Outcome) -> usize {
        match outcome {
            Outcome::Done(_) => 0,
            Outcome::Refused(refusal) => refusal_place(refusal),
        }
    }

    fn counters(all: &Counters) -> &MachineCounters {
        &all.games
    }
}

/// What can be asked of games.
const OPERATIONS: [&str; 28] = [
    "challenge",
    "seek",
    "withdraw",
    "begin",
    "move",
    "resign",
    "abort",
    "offer_draw",
    "accept_draw",
    "decline_draw",
    "claim_win",
    "connect",
    "disconnect",
    "restarted",
    "configure",
    "acknowledge",
    "deliver",
    "report",
    "match",
    "matches",
    "player",
    "tickets",
    "standing",
    "against",
    "opponents",
    "leaders",
    "around",
    "totals",
];

const fn deed_place(deed: Deed) -> usize {
    match deed {
        Deed::Move { .. } => 4,
        Deed::Resign => 5,
        Deed::Abort => 6,
        Deed::OfferDraw => 7,
        Deed::AcceptDraw => 8,
        Deed::DeclineDraw => 9,
        Deed::ClaimWin => 10,
    }
}

/// The outcomes: done, and each refusal by its code.
const OUTCOMES: [&str; 23] = [
    "done",
    "not_here",
    "unsound_settings",
    "full",
    "scores_away",
    "same_player",
    "playing",
    "waiting",
    "not_waiting",
    "no_such_match",
    "not_seated",
    "over",
    "stale",
    "not_your_turn",
    "no_such_cell",
    "taken",
    "false_claim",
    "no_offer",
    "offer_stands",
    "too_late",
    "nothing_to_claim",
    "too_early",
    "out_of_order",
];

const fn refusal_place(refusal: &Refusal) -> usize {
    match refusal {
        Refusal::NotHere => 1,
        Refusal::UnsoundSettings => 2,
        Refusal::Full { .. } => 3,
        Refusal::ScoresAway => 4,
        Refusal::SamePlayer => 5,
        Refusal::Playing { .. } => 6,
        Refusal::Waiting { .. } => 7,
        Refusal::NotWaiting => 8,
        Refusal::NoSuchMatch => 9,
        Refusal::NotSeated => 10,
        Refusal::Over(_) => 11,
        Refusal::Stale(_) => 12,
        Refusal::NotYourTurn(_) => 13,
        Refusal::IllegalMove(Illegal::NoSuchCell) => 14,
        Refusal::IllegalMove(Illegal::Taken) => 15,
        Refusal::FalseClaim => 16,
        Refusal::NoOffer => 17,
        Refusal::OfferStands => 18,
        Refusal::TooLate => 19,
        Refusal::NothingToClaim => 20,
        Refusal::TooEarly { .. } => 21,
        Refusal::OutOfOrder { .. } => 22,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use turnstile_games::{Game, MatchId, MatchView, PlayerId};
    use turnstile_types::Timestamp;

    use super::*;

    fn state() -> Box<MatchView> {
        let players = [&b"a"[..], b"b"].map(|name| PlayerId::parse(name).unwrap());
        let begun = MatchView::begun(MatchId(1), Game::TicTacToe, players, Timestamp(0));
        Box::new(begun)
    }

    #[test]
    fn an_outcome_is_counted_under_its_code() {
        let player = PlayerId::parse(b"a").unwrap();
        let match_id = MatchId(1);
        let until = Timestamp(0);
        let refusals = [
            Refusal::NotHere,
            Refusal::UnsoundSettings,
            Refusal::Full { limit: 1 },
            Refusal::ScoresAway,
            Refusal::SamePlayer,
            Refusal::Playing { player, match_id },
            Refusal::Waiting { player },
            Refusal::NotWaiting,
            Refusal::NoSuchMatch,
            Refusal::NotSeated,
            Refusal::Over(state()),
            Refusal::Stale(state()),
            Refusal::NotYourTurn(state()),
            Refusal::IllegalMove(Illegal::NoSuchCell),
            Refusal::IllegalMove(Illegal::Taken),
            Refusal::FalseClaim,
            Refusal::NoOffer,
            Refusal::OfferStands,
            Refusal::TooLate,
            Refusal::NothingToClaim,
            Refusal::TooEarly { until },
            Refusal::OutOfOrder { expected: 1 },
        ];
        let mut places = BTreeSet::from([0]);
        for refusal in refusals {
            let code = refusal.code();
            let place = Games::outcome_place(&Outcome::Refused(refusal));
            assert_eq!(OUTCOMES.get(place).copied(), Some(code));
            places.insert(place);
        }
        assert_eq!(places, (0..OUTCOMES.len()).collect());
    }
}
