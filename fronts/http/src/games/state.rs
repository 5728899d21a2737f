//! The JSON of a match, of somebody who waits, and of how somebody stands.

use serde::Serialize;
use turnstile_games::{self as games, Seat, Verdict, WaitReason};
use turnstile_types::Timestamp;
use utoipa::ToSchema;

use crate::answer::Text;

/// A match as it is: all that a player or a spectator needs to go on from here. What does not apply
/// is left out.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MatchView {
    /// Its number, from 1.
    #[serde(rename = "match")]
    #[schema(example = 17)]
    id: u64,
    #[schema(value_type = String, example = "tic-tac-toe")]
    game: &'static str,
    /// Who moves first.
    first: String,
    second: String,
    /// A letter for each cell, row by row from the top left: `x` for whoever moves first, `o` for
    /// the other, `.` where nothing lies.
    #[schema(example = "x...o....")]
    board: String,
    /// Moves made: the `ply` of the next.
    ply: u16,
    /// Counts everything that changed in the match, from 0, without a gap.
    seq: u32,
    /// The cell of the last stone, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<u16>,
    /// Whose turn it is; nobody's when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_move: Option<String>,
    /// Who offers a draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    offer: Option<String>,
    /// Since when the first is disconnected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    first_away: Option<Text<Timestamp>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    second_away: Option<Text<Timestamp>>,
    /// When the last move was made, or the match began.
    #[schema(value_type = String, format = DateTime)]
    moved_at: Text<Timestamp>,
    /// How it ended: `line`, `resigned`, `claimed`, `timed_out`, `left`, `full`, `agreed` or
    /// `aborted`, which does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    ending: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<String>,
}

/// Somebody who waits for anybody, and why.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TicketView {
    player: String,
    #[schema(value_type = String, example = "tic-tac-toe")]
    game: &'static str,
    /// In points.
    rating: u32,
    #[schema(value_type = String, format = DateTime)]
    since: Text<Timestamp>,
    /// How far apart the other may be now, in points.
    window: u32,
    /// When that widens; absent once it lets everybody in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    widens_at: Option<Text<Timestamp>>,
    /// `alone`, or `too_far_apart`.
    #[schema(value_type = String, example = "alone")]
    reason: &'static str,
    /// How far apart, in points, the one is who will be matched with this player.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<u32>,
    /// When the windows of both reach so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    matched_at: Option<Text<Timestamp>>,
}

/// How somebody stands. There are no ratings where a foreign scores server counts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StandingView {
    played: u64,
    won: u64,
    lost: u64,
    drawn: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "1516.000")]
    elo: Option<String>,
    /// The rating by Glicko-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "1662.212")]
    glicko: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "290.319")]
    deviation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "0.059999")]
    volatility: Option<String>,
}

impl MatchView {
    pub(crate) fn of(view: &games::MatchView) -> Self {
        let name = |seat: Seat| seat.of(&view.players).to_string();
        let [first, second] = view.players.map(|player| player.to_string());
        let [first_away, second_away] = view.away.map(|since| since.map(Text));
        let winner = view.ending.and_then(games::Ending::verdict);
        Self {
            id: view.id.0,
            game: view.game.code(),
            first,
            second,
            board: letters(view),
            ply: view.ply,
            seq: view.seq,
            last: view.last.map(|cell| u16::from(cell) + 1),
            to_move: view.to_move().map(name),
            offer: view.offer.map(name),
            first_away,
            second_away,
            moved_at: Text(view.moved_at),
            ending: view.ending.map(games::Ending::code),
            winner: winner.and_then(Verdict::winner).map(name),
        }
    }
}

fn letters(view: &games::MatchView) -> String {
    let cells = 0..view.game.shape().cells();
    let letter = |cell| match view.board.at(cell) {
        None => '.',
        Some(Seat::First) => 'x',
        Some(Seat::Second) => 'o',
    };
    cells.map(letter).collect()
}

impl TicketView {
    pub(super) fn of(view: &games::TicketView) -> Self {
        let (difference, matched_at) = match view.reason {
            WaitReason::Alone => (None, None),
            WaitReason::TooFarApart {
                difference,
                matched_at,
            } => (Some(difference), Some(Text(matched_at))),
        };
        Self {
            player: view.player.to_string(),
            game: view.game.code(),
            rating: view.rating,
            since: Text(view.since),
            window: view.window,
            widens_at: view.widens_at.map(Text),
            reason: view.reason.code(),
            difference,
            matched_at,
        }
    }
}

impl StandingView {
    pub(super) fn of(standing: &games::Standing) -> Self {
        let tally = standing.tally;
        let ratings = standing.ratings;
        let of_glicko = |part: fn(games::Glicko) -> i64| ratings.map(|all| part(all.glicko));
        let milli = |value| parts(value, 1_000, 3);
        Self {
            played: tally.played(),
            won: tally.won,
            lost: tally.lost,
            drawn: tally.drawn,
            elo: ratings.map(|all| milli(all.elo_milli)),
            glicko: of_glicko(games::Glicko::rating_milli).map(milli),
            deviation: of_glicko(games::Glicko::deviation_milli).map(milli),
            volatility: of_glicko(games::Glicko::volatility_micro)
                .map(|value| parts(value, 1_000_000, 6)),
        }
    }
}

/// A number of such parts of one, exactly.
fn parts(value: i64, of_one: u64, digits: usize) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, rest) = (value.unsigned_abs() / of_one, value.unsigned_abs() % of_one);
    format!("{sign}{whole}.{rest:0digits$}")
}

#[cfg(test)]
pub(crate) mod tests {
    use turnstile_games::{Ending, Game, MatchId, PlayerId, play};

    use super::*;

    pub(crate) fn player(name: &str) -> PlayerId {
        PlayerId::parse(name.as_bytes()).unwrap()
    }

    /// A match of `ada` and `bob` after some moves; `ada` moved first.
    pub(crate) fn after(game: Game, choices: &[u8]) -> games::MatchView {
        let players = ["ada", "bob"].map(player);
        let mut view = games::MatchView::begun(MatchId(17), game, players, Timestamp(0));
        for &choice in choices {
            let played = play(game, &view.board, Seat::to_move(view.ply), choice).unwrap();
            view = games::MatchView {
                board: played.board,
                ply: view.ply + 1,
                seq: view.seq + 1,
                last: Some(played.cell),
                ..view
            };
        }
        view
    }

    fn json<T: Serialize>(view: &T) -> String {
        serde_json::to_string(view).unwrap()
    }

    #[test]
    fn a_match_shows_its_board_and_who_is_to_move() {
        let open = games::MatchView {
            offer: Some(Seat::First),
            away: [None, Some(Timestamp(1_000))],
            ..after(Game::ConnectFour, &[4, 4])
        };
        let board = format!("{}...o......x...", ".".repeat(28));
        assert_eq!(
            json(&MatchView::of(&open)),
            format!(
                r#"{{"match":17,"game":"connect-four","first":"ada","second":"bob","board":"{board}","ply":2,"seq":2,"last":32,"to_move":"ada","offer":"ada","second_away":"1970-01-01T00:00:01.000Z","moved_at":"1970-01-01T00:00:00.000Z"}}"#
            )
        );
        let winner = Seat::Second;
        let over = games::MatchView {
            ending: Some(Ending::Resigned { winner }),
            ..after(Game::TicTacToe, &[])
        };
        assert_eq!(
            json(&MatchView::of(&over)),
            r#"{"match":17,"game":"tic-tac-toe","first":"ada","second":"bob","board":".........","ply":0,"seq":0,"moved_at":"1970-01-01T00:00:00.000Z","ending":"resigned","winner":"bob"}"#
        );
    }

    #[test]
    fn parts_of_one_are_told_exactly() {
        let rows = [
            (1_516_000, 3, "1516.000"),
            (-1_005, 3, "-1.005"),
            (-5, 3, "-0.005"),
            (59_999, 6, "0.059999"),
        ];
        for (value, digits, expected) in rows {
            let of_one = 10_u64.pow(u32::try_from(digits).unwrap());
            assert_eq!(parts(value, of_one, digits), expected);
        }
    }
}
