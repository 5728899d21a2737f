//! What simulated players ask for.

use turnstile_games::{
    Command, Deed, Done, Game, Games, MatchId, MatchView, Outcome, PlayerId, Refusal, Verdict,
};
use turnstile_seed::Random;
use turnstile_types::Timestamp;

use crate::actors::SimulatedClients;

const PLAYERS: [&[u8]; 4] = [b"ada", b"bob", b"cy", b"dan"];
/// Mostly the one that ends soon.
const GAMES: [Game; 4] = [
    Game::TicTacToe,
    Game::TicTacToe,
    Game::TicTacToe,
    Game::ConnectFour,
];

/// Makes commands, and remembers the matches that were told.
#[derive(Debug, Default)]
pub(crate) struct GamesClients {
    /// As they were told last; a crash may have taken it back.
    matches: Vec<MatchView>,
}

impl SimulatedClients<Games> for GamesClients {
    fn next(&self, random: &mut Random, _now: Timestamp) -> Command {
        let [player, opponent] = [player(random), player(random)];
        let game = random.pick(&GAMES);
        match random.below(40) {
            0..=2 => Command::Challenge {
                player,
                opponent,
                game,
            },
            3..=5 => Command::Seek { player, game },
            6 => Command::Withdraw { player },
            7..=9 => Command::Begin {
                game,
                players: [player, opponent],
            },
            10..=11 => Command::Connect { player },
            12..=13 => Command::Disconnect { player },
            14 => Command::Restarted,
            15 => Command::Report {
                players: [player, opponent],
                verdict: random.pick(&[Verdict::FirstWon, Verdict::SecondWon, Verdict::Drawn]),
            },
            _ => self.act(random, player),
        }
    }

    fn note(&mut self, outcome: &Outcome) {
        let state = match outcome {
            Outcome::Done(Done::Begun(state) | Done::Acted(state)) => state,
            Outcome::Done(Done::Connected(Some(state))) => state,
            Outcome::Refused(
                Refusal::Stale(state) | Refusal::Over(state) | Refusal::NotYourTurn(state),
            ) => state,
            _ => return,
        };
        self.matches.retain(|known| known.id != state.id);
        if state.ending.is_none() {
            self.matches.push(*state);
        }
    }
}

impl GamesClients {
    /// Something in a match that was told, mostly by whoever is to move.
    fn act(&self, random: &mut Random, player: PlayerId) -> Command {
        let Some(state) = self.some(random) else {
            let match_id = MatchId(1 + random.below(3));
            let deed = Deed::Resign;
            return Command::Act {
                match_id,
                player,
                deed,
            };
        };
        let deed = match random.below(20) {
            0 => Deed::Resign,
            1 => Deed::Abort,
            2 => Deed::OfferDraw,
            3 => Deed::AcceptDraw,
            4 => Deed::DeclineDraw,
            5 => Deed::ClaimWin,
            _ => Deed::Move {
                ply: state.ply - u16::from(state.ply > 0 && random.one_in(12)),
                choice: u8::try_from(1 + random.below(9)).expect("nine cells"),
                claim: None,
            },
        };
        let to_move = state.to_move().filter(|_| !random.one_in(8));
        Command::Act {
            match_id: state.id,
            player: to_move.map_or(player, |seat| *seat.of(&state.players)),
            deed,
        }
    }

    fn some(&self, random: &mut Random) -> Option<MatchView> {
        let count = u64::try_from(self.matches.len()).expect("a few matches");
        let at = random.below(count.max(1));
        self.matches.get(usize::try_from(at).ok()?).copied()
    }
}

fn player(random: &mut Random) -> PlayerId {
    PlayerId::parse(random.pick(&PLAYERS)).expect("a player of the simulated world")
}
