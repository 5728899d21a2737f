//! What stewards ask, in the words of the door.

use turnstile_check::games::{Ask, Claim, Deed, Game};
use turnstile_client::resp;

use super::answer::Names;
use crate::exchange::put_number;

/// Appends a request, of which so many words are put behind these.
pub(super) fn put(out: &mut Vec<u8>, ask: &Ask, more: usize, names: &Names) {
    match *ask {
        Ask::Challenge {
            game,
            player,
            opponent,
        } => {
            let players = [player, opponent];
            put_about(out, b"GAMES.CHALLENGE", &players, Some(game), more, names);
        }
        Ask::Seek { game, player } => {
            put_about(out, b"GAMES.SEEK", &[player], Some(game), more, names);
        }
        Ask::Begin { game, players } => {
            put_about(out, b"GAMES.BEGIN", &players, Some(game), more, names);
        }
        Ask::Withdraw { player } => put_about(out, b"GAMES.WITHDRAW", &[player], None, more, names),
        Ask::Player { player } => put_about(out, b"GAMES.GET-PLAYER", &[player], None, more, names),
        Ask::Standing { player } => {
            put_about(out, b"GAMES.GET-STANDING", &[player], None, more, names)
        }
        Ask::Against { player, opponent } => {
            let players = [player, opponent];
            put_about(out, b"GAMES.GET-TALLY", &players, None, more, names);
        }
        Ask::Match { number } => {
            resp::put_count(out, b'*', 2 + more);
            resp::put_bulk(out, b"GAMES.GET-MATCH");
            put_number(out, number, 0);
        }
        Ask::Act {
            number,
            player,
            deed,
        } => {
            let name = words_of(deed);
            let moves = match deed {
                Deed::Move { claim: None, .. } => 2,
                Deed::Move { claim: Some(_), .. } => 4,
                _ => 0,
            };
            resp::put_count(out, b'*', name.len() + 2 + moves + more);
            for word in name {
                resp::put_bulk(out, word);
            }
            put_number(out, number, 0);
            resp::put_bulk(out, names.of(player));
            if let Deed::Move { ply, choice, claim } = deed {
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
    game: Option<Game>,
    more: usize,
    names: &Names,
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
pub(super) const fn word_of_game(game: Game) -> &'static [u8] {
    match game {
        Game::TicTacToe => b"tic-tac-toe",
        Game::ConnectFour => b"connect-four",
        Game::Gomoku => b"gomoku",
    }
}

const fn words_of(deed: Deed) -> &'static [&'static [u8]] {
    match deed {
        Deed::Move { .. } => &[b"GAMES.MOVE"],
        Deed::Resign => &[b"GAMES.RESIGN"],
        Deed::Abort => &[b"GAMES.ABORT"],
        Deed::Offer => &[b"GAMES.OFFER-DRAW"],
        Deed::Accept => &[b"GAMES.ACCEPT-DRAW"],
        Deed::Decline => &[b"GAMES.DECLINE-DRAW"],
    }
}

const fn word_of(claim: Claim) -> &'static [u8] {
    match claim {
        Claim::Ordinary => b"ordinary",
        Claim::Wins => b"wins",
        Claim::Fills => b"fills",
    }
}
