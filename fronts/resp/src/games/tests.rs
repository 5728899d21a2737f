//! Requests as clients write them, and replies as clients read them, byte by byte.

mod asked;
mod replies;
mod told;

use turnstile_games::{Game, MatchId, MatchView, PlayerId, Seat, play};
use turnstile_types::Timestamp;

fn player(name: &str) -> PlayerId {
    PlayerId::parse(name.as_bytes()).unwrap()
}

/// A match of ada and bob after these moves.
fn played(game: Game, choices: &[u8]) -> MatchView {
    let players = ["ada", "bob"].map(player);
    let mut view = MatchView::begun(MatchId(7), game, players, Timestamp(0));
    for choice in choices {
        let played = play(game, &view.board, Seat::to_move(view.ply), *choice).unwrap();
        view.board = played.board;
        view.last = Some(played.cell);
        view.ply += 1;
        view.seq += 1;
    }
    view
}
