//! What stewards ask, in the words of the door.

use turnstile_check::games::{Ask, Claim, Deed};
use turnstile_client::resp;

use super::answer::{GAME, Names};
use crate::exchange::put_number;

/// Appends a request, of which so many words are put behind these.
pub(super) fn put(out: &mut Vec<u8>, ask: &Ask, more: usize, names: &Names) {
    match *ask {
        Ask::Challenge { player, opponent } => {
            let players = [player, opponent];
            put_pairing(out, b"GAMES.CHALLENGE", &players, more, names);
        }
        Ask::Seek { player } => put_pairing(out, b"GAMES.SEEK", &[player], more, names),
        Ask::Begin { players } => put_pairing(out, b"GAMES.BEGIN", &players, more, names),
        Ask::Withdraw { player } => put_about(out, b"GAMES.WITHDRAW", player, more, names),
        Ask::Player { player } => put_about(out, b"GAMES.PLAYER", player, more, names),
        Ask::Standing { player } => put_about(out, b"GAMES.STANDING", player, more, names),
        Ask::Match { number } => {
            resp::put_count(out, b'*', 2 + more);
            resp::put_bulk(out, b"GAMES.MATCH");
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
            if let Deed::Move { ply, cell, claim } = deed {
                put_number(out, u64::from(ply), 0);
                put_number(out, u64::from(cell), 0);
                if let Some(claim) = claim {
                    resp::put_bulk(out, b"CLAIM");
                    resp::put_bulk(out, word_of(claim));
                }
            }
        }
    }
}

/// A command, players, and the game.
fn put_pairing(out: &mut Vec<u8>, command: &[u8], players: &[u16], more: usize, names: &Names) {
    resp::put_count(out, b'*', 2 + players.len() + more);
    resp::put_bulk(out, command);
    for player in players {
        resp::put_bulk(out, names.of(*player));
    }
    resp::put_bulk(out, GAME);
}

/// A command and a player.
fn put_about(out: &mut Vec<u8>, command: &[u8], player: u16, more: usize, names: &Names) {
    resp::put_count(out, b'*', 2 + more);
    resp::put_bulk(out, command);
    resp::put_bulk(out, names.of(player));
}

const fn words_of(deed: Deed) -> &'static [&'static [u8]] {
    match deed {
        Deed::Move { .. } => &[b"GAMES.MOVE"],
        Deed::Resign => &[b"GAMES.RESIGN"],
        Deed::Abort => &[b"GAMES.ABORT"],
        Deed::Offer => &[b"GAMES.DRAW", b"OFFER"],
        Deed::Accept => &[b"GAMES.DRAW", b"ACCEPT"],
        Deed::Decline => &[b"GAMES.DRAW", b"DECLINE"],
    }
}

const fn word_of(claim: Claim) -> &'static [u8] {
    match claim {
        Claim::Ordinary => b"ordinary",
        Claim::Wins => b"wins",
        Claim::Fills => b"fills",
    }
}
