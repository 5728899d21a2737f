//! What the commands of games answer when they succeed.

use serde::Serialize;
use turnstile_games::{self as games, Done, Outcome};
use turnstile_types::Position;
use utoipa::ToSchema;

use super::state::{MatchView, TicketView};
use crate::{
    answer::{Receipt, Told},
    problem::{Code, Problem},
};

/// What came of asking for somebody to play with.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Paired {
    /// `challenging` (the other has not named this player yet), `seeking` or `playing`.
    #[schema(value_type = String, example = "playing")]
    activity: &'static str,
    /// Of whoever seeks: why it still waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<TicketView>,
    /// The match that began.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<MatchView>,
    #[serde(flatten)]
    receipt: Receipt,
}

/// The match as it is after what was done in it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Acted {
    state: MatchView,
    #[serde(flatten)]
    receipt: Receipt,
}

/// Tells a command's outcome.
///
/// # Errors
/// The problem of a refusal.
///
/// # Panics
/// The outcome belongs to a command that no operation sends.
pub fn tell_outcome(
    position: Position,
    replayed: bool,
    outcome: &Outcome,
) -> Result<Told, Problem> {
    let receipt = Receipt {
        position: position.0,
        replayed,
    };
    match outcome {
        Outcome::Done(done) => Ok(tell_done(done, receipt)),
        Outcome::Refused(refusal) => Err(Problem {
            position: Some(position),
            replayed,
            ..Problem::from(Code::from(refusal.clone()))
        }),
    }
}

fn tell_done(done: &Done, receipt: Receipt) -> Told {
    let made = if receipt.replayed { 200 } else { 201 };
    let paired =
        |activity, ticket: Option<&games::TicketView>, state: Option<&games::MatchView>| Paired {
            activity,
            ticket: ticket.map(TicketView::of),
            state: state.map(MatchView::of),
            receipt,
        };
    match done {
        Done::Challenged => Told::of(made, &paired("challenging", None, None)),
        Done::Seeking(ticket) => Told {
            location: Some(format!("/v1/games/players/{}", ticket.player)),
            ..Told::of(made, &paired("seeking", Some(ticket), None))
        },
        Done::Begun(state) => Told {
            location: Some(format!("/v1/games/matches/{}", state.id)),
            ..Told::of(made, &paired("playing", None, Some(state)))
        },
        Done::Acted(state) => {
            let state = MatchView::of(state);
            Told::of(200, &Acted { state, receipt })
        }
        Done::Withdrawn => Told::of(200, &receipt),
        Done::Connected(_)
        | Done::Disconnected
        | Done::Restarted
        | Done::Configured
        | Done::Acknowledged
        | Done::Counted(_) => unreachable!("no operation sends such a command"),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_games::{Game, Refusal, WaitReason};
    use turnstile_types::Timestamp;

    use super::*;
    use crate::games::state::tests::{after, player};

    fn told(outcome: &Outcome, replayed: bool) -> (u16, Option<String>, String) {
        let told = tell_outcome(Position(9), replayed, outcome).unwrap();
        let json = String::from_utf8(told.json).unwrap();
        (told.status, told.location, json)
    }

    #[test]
    fn a_match_is_made_once_and_told_again_when_replayed() {
        let begun = Outcome::Done(Done::Begun(after(Game::TicTacToe, &[])));
        let state = r#""state":{"match":17,"game":"tic-tac-toe","first":"ada","second":"bob","board":".........","ply":0,"seq":0,"to_move":"ada","moved_at":"1970-01-01T00:00:00.000Z"}"#;
        let path = Some("/v1/games/matches/17".to_owned());
        let first = format!(r#"{{"activity":"playing",{state},"position":9}}"#);
        assert_eq!(told(&begun, false), (201, path.clone(), first));
        let again = format!(r#"{{"activity":"playing",{state},"position":9,"replayed":true}}"#);
        assert_eq!(told(&begun, true), (200, path, again));
    }

    #[test]
    fn whoever_waits_is_told_why() {
        let challenged = r#"{"activity":"challenging","position":9}"#.to_owned();
        assert_eq!(
            told(&Outcome::Done(Done::Challenged), false),
            (201, None, challenged)
        );
        let ticket = games::TicketView {
            player: player("ada"),
            game: Game::Gomoku,
            rating: 1_500,
            since: Timestamp(0),
            window: 100,
            widens_at: None,
            reason: WaitReason::TooFarApart {
                difference: 300,
                matched_at: Timestamp(5_000),
            },
        };
        let seeking = r#"{"activity":"seeking","ticket":{"player":"ada","game":"gomoku","rating":1500,"since":"1970-01-01T00:00:00.000Z","window":100,"reason":"too_far_apart","difference":300,"matched_at":"1970-01-01T00:00:05.000Z"},"position":9}"#;
        assert_eq!(
            told(&Outcome::Done(Done::Seeking(ticket)), false),
            (
                201,
                Some("/v1/games/players/ada".to_owned()),
                seeking.to_owned()
            )
        );
    }

    #[test]
    fn a_refusal_is_a_problem_with_its_position() {
        let refused = Outcome::Refused(Refusal::NoOffer);
        let problem = tell_outcome(Position(9), true, &refused).unwrap_err();
        assert_eq!(
            (problem.code, problem.position, problem.replayed),
            (Code::from(Refusal::NoOffer), Some(Position(9)), true)
        );
    }
}
