//! What stewards ask, in the words of the door.

use turnstile_check::games::{ClubRequest, GameKind, MatchDeed, MoveClaim};
use turnstile_client::resp;

use super::answer::PlayerNames;
use crate::exchange::put_number;

/// Appends a request, of which so many words are put behind these.
pub(crate) fn put(out: &mut Vec<u8>, ask: &ClubRequest, more: usize, names: &PlayerNames) {
    match *ask {
        ClubRequest::Challenge {
            game,
            player,
            opponent,
        } => {
            let players = [player, opponent];
            put_about(out, b"GAMES.CHALLENGE", &players, Some(game), more, names);
        }
        ClubRequest::Seek { game, player } => {
            put_about(out, b"GAMES.SEEK", &[player], Some(game), more, names);
        }
        ClubRequest::Begin { game, players } => {
            put_about(out, b"GAMES.BEGIN", &players, Some(game), more, names);
        }
        ClubRequest::Withdraw { player } => {
            put_about(out, b"GAMES.WITHDRAW", &[player], None, more, names)
        }
        ClubRequest::Player { player } => {
            put_about(out, b"GAMES.GET-PLAYER", &[player], None, more, names)
        }
        ClubRequest::Standing { player } => {
            put_about(out, b"GAMES.GET-STANDING", &[player], None, more, names)
        }
        ClubRequest::Against { player, opponent } => {
            let players = [player, opponent];
            put_about(out, b"GAMES.GET-TALLY", &players, None, more, names);
        }
        ClubRequest::Match { number } => {
            resp::put_count(out, b'*', 2 + more);
            resp::put_bulk(out, b"GAMES.GET-MATCH");
            put_number(out, number, 0);
        }
        ClubRequest::Act {
            number,
            player,
            deed,
        } => {
            let name = words_of(deed);
            let moves = match deed {
                MatchDeed::Move { claim: None, .. } => 2,
                MatchDeed::Move { claim: Some(_), .. } => 4,
                _ => 0,
            };
            resp::put_count(out, b'*', name.len() + 2 + moves + more);
            for word in name {
                resp::put_bulk(out, word);
            }
            put_number(out, number, 0);
            resp::put_bulk(out, names.of(player));
            if let MatchDeed::Move { ply, choice, claim } = deed {
                put_number(out, u64::from(ply), 0);
                put_number(out, u64::from(choice), 0);
                if let Some(claim) = claim {
                    resp::put_bulk(out, b"CLAIM");
                    resp::put_bulk(out, word_of(claim));
                }
            }
        }
    }
}

/// A command, players and, where that matters, the game.
fn put_about(
    out: &mut Vec<u8>,
    command: &[u8],
    players: &[u16],
    game: Option<GameKind>,
    more: usize,
    names: &PlayerNames,
) {
    let words = 1 + players.len() + usize::from(game.is_some());
    resp::put_count(out, b'*', words + more);
    resp::put_bulk(out, command);
    for player in players {
        resp::put_bulk(out, names.of(*player));
    }
    if let Some(game) = game {
        resp::put_bulk(out, word_of_game(game));
    }
}

/// The word of a game.
pub(super) const fn word_of_game(game: GameKind) -> &'static [u8] {
    match game {
        GameKind::TicTacToe => b"tic-tac-toe",
        GameKind::ConnectFour => b"connect-four",
        GameKind::Gomoku => b"gomoku",
    }
}

const fn words_of(deed: MatchDeed) -> &'static [&'static [u8]] {
    match deed {
        MatchDeed::Move { .. } => &[b"GAMES.MOVE"],
        MatchDeed::Resign => &[b"GAMES.RESIGN"],
        MatchDeed::Abort => &[b"GAMES.ABORT"],
        MatchDeed::Offer => &[b"GAMES.OFFER-DRAW"],
        MatchDeed::Accept => &[b"GAMES.ACCEPT-DRAW"],
        MatchDeed::Decline => &[b"GAMES.DECLINE-DRAW"],
    }
}

const fn word_of(claim: MoveClaim) -> &'static [u8] {
    match claim {
        MoveClaim::Ordinary => b"ordinary",
        MoveClaim::Wins => b"wins",
        MoveClaim::Fills => b"fills",
    }
}
