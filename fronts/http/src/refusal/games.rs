//! What the refusals of games are in HTTP.

use serde::ser::SerializeMap;
use turnstile_games::{Illegal, Refusal};

use crate::games::MatchView;

/// What no state would allow is 400; what this state does not allow is 409.
pub(super) const fn status(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::UnsoundSettings
        | Refusal::SamePlayer
        | Refusal::IllegalMove(Illegal::NoSuchCell) => 400,
        Refusal::NotSeated => 403,
        Refusal::NoSuchMatch => 404,
        Refusal::Full { .. }
        | Refusal::ScoresAway
        | Refusal::Playing { .. }
        | Refusal::Waiting { .. }
        | Refusal::NotWaiting
        | Refusal::Stale(_)
        | Refusal::NotYourTurn(_)
        | Refusal::IllegalMove(Illegal::Taken)
        | Refusal::FalseClaim
        | Refusal::NoOffer
        | Refusal::OfferStands
        | Refusal::TooLate
        | Refusal::NothingToClaim
        | Refusal::TooEarly { .. }
        | Refusal::OutOfOrder { .. } => 409,
        Refusal::Over(_) => 410,
        Refusal::NotHere => 421,
    }
}

pub(super) const fn title(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NotHere => "This server does not play that part of games",
        Refusal::UnsoundSettings => "Games cannot be set so",
        Refusal::Full { .. } => "There are as many of them as there may be",
        Refusal::ScoresAway => "The scores server has been away for too many results",
        Refusal::SamePlayer => "Nobody plays with themselves",
        Refusal::Playing { .. } => "The player is in a match",
        Refusal::Waiting { .. } => "The player waits for somebody, or for somebody else",
        Refusal::NotWaiting => "The player waits for nobody",
        Refusal::NoSuchMatch => "There never was such a match, or it is forgotten",
        Refusal::NotSeated => "The player does not play in this match",
        Refusal::Over(_) => "The match is over",
        Refusal::Stale(_) => "The move was meant for another state than this one",
        Refusal::NotYourTurn(_) => "It is the other's turn",
        Refusal::IllegalMove(Illegal::NoSuchCell) => "The board has no such cell or column",
        Refusal::IllegalMove(Illegal::Taken) => "There is a stone, or the column is full",
        Refusal::FalseClaim => "The move would not do what was claimed",
        Refusal::NoOffer => "The other does not offer a draw",
        Refusal::OfferStands => "The player offers a draw already",
        Refusal::TooLate => "Both have moved: the match can be resigned",
        Refusal::NothingToClaim => "The other is neither away nor to move",
        Refusal::TooEarly { .. } => "The other has still time",
        Refusal::OutOfOrder { .. } => "A number before it has not come yet",
    }
}

/// Whether it passes by itself, so that the same may be done when it is begun anew.
pub(super) const fn is_passing(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::ScoresAway | Refusal::TooEarly { .. })
}

pub(super) fn put_data<M: SerializeMap>(map: &mut M, refusal: &Refusal) -> Result<(), M::Error> {
    match refusal {
        Refusal::Full { limit } => map.serialize_entry("limit", limit),
        Refusal::Playing { player, match_id } => {
            map.serialize_entry("player", player.as_str())?;
            map.serialize_entry("match", &match_id.0)
        }
        Refusal::Waiting { player } => map.serialize_entry("player", player.as_str()),
        Refusal::Over(state) | Refusal::Stale(state) | Refusal::NotYourTurn(state) => {
            map.serialize_entry("state", &MatchView::of(state))
        }
        Refusal::TooEarly { until } => map.serialize_entry("until", &format_args!("{until}")),
        Refusal::OutOfOrder { expected } => map.serialize_entry("expected", expected),
        Refusal::NotHere
        | Refusal::UnsoundSettings
        | Refusal::ScoresAway
        | Refusal::SamePlayer
        | Refusal::NotWaiting
        | Refusal::NoSuchMatch
        | Refusal::NotSeated
        | Refusal::IllegalMove(_)
        | Refusal::FalseClaim
        | Refusal::NoOffer
        | Refusal::OfferStands
        | Refusal::TooLate
        | Refusal::NothingToClaim => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_games::{Game, MatchId};
    use turnstile_types::Timestamp;

    use super::*;
    use crate::{
        Code, Problem,
        games::tests::{after, player},
    };

    /// The status of a refusal, whether it may be tried anew, and the members that it adds.
    fn told(refusal: Refusal) -> (u16, bool, String) {
        let word = refusal.code();
        let problem = Problem::from(Code::from(refusal));
        let json = String::from_utf8(problem.json("/v1/games/x", "r-1")).unwrap();
        let again = problem.code.retryable();
        let mark = format!(r#""code":"{word}","retryable":{again},"request_id":"r-1""#);
        let (_, data) = json.split_once(&mark).expect(word);
        let data = data.strip_suffix('}').expect("a problem is an object");
        (problem.code.status(), again, data.to_owned())
    }

    #[test]
    fn a_refusal_has_its_status_and_tells_its_data() {
        let state = Box::new(after(Game::TicTacToe, &[5]));
        let shown = r#","state":{"match":17,"game":"tic-tac-toe","first":"ada","second":"bob","board":"....x....","ply":1,"seq":1,"last":5,"to_move":"bob","moved_at":"1970-01-01T00:00:00.000Z"}"#;
        let ada = player("ada");
        let rows = [
            (Refusal::NotHere, 421, false, ""),
            (Refusal::UnsoundSettings, 400, false, ""),
            (Refusal::Full { limit: 9 }, 409, false, r#","limit":9"#),
            (Refusal::ScoresAway, 409, true, ""),
            (Refusal::SamePlayer, 400, false, ""),
            (
                Refusal::Playing {
                    player: ada,
                    match_id: MatchId(7),
                },
                409,
                false,
                r#","player":"ada","match":7"#,
            ),
            (
                Refusal::Waiting { player: ada },
                409,
                false,
                r#","player":"ada""#,
            ),
            (Refusal::NotWaiting, 409, false, ""),
            (Refusal::NoSuchMatch, 404, false, ""),
            (Refusal::NotSeated, 403, false, ""),
            (Refusal::Over(state.clone()), 410, false, shown),
            (Refusal::Stale(state.clone()), 409, false, shown),
            (Refusal::NotYourTurn(state), 409, false, shown),
            (Refusal::IllegalMove(Illegal::NoSuchCell), 400, false, ""),
            (Refusal::IllegalMove(Illegal::Taken), 409, false, ""),
            (Refusal::FalseClaim, 409, false, ""),
            (Refusal::NoOffer, 409, false, ""),
            (Refusal::OfferStands, 409, false, ""),
            (Refusal::TooLate, 409, false, ""),
            (Refusal::NothingToClaim, 409, false, ""),
            (
                Refusal::TooEarly {
                    until: Timestamp(1_000),
                },
                409,
                true,
                r#","until":"1970-01-01T00:00:01.000Z""#,
            ),
            (
                Refusal::OutOfOrder { expected: 3 },
                409,
                false,
                r#","expected":3"#,
            ),
        ];
        for (refusal, status, again, data) in rows {
            let expected = (status, again, data.to_owned());
            assert_eq!(told(refusal.clone()), expected, "{refusal:?}");
        }
    }
}
