//! The bodies that the operations of games take, and the commands they become.

use std::borrow::Cow;

use serde::Deserialize;
use turnstile_games::{Claim, Command, Deed, MatchId, PlayerId};
use utoipa::ToSchema;

use crate::{
    problem::{Place, Problem},
    request::Faults,
};

/// Names somebody to play with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Challenge<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada", max_length = 31)]
    pub(super) player: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "bob", max_length = 31)]
    pub(super) opponent: Cow<'a, str>,
    /// `tic-tac-toe`, `connect-four` or `gomoku`.
    #[serde(borrow)]
    #[schema(value_type = String, example = "tic-tac-toe")]
    pub(super) game: Cow<'a, str>,
}

/// Asks for anybody of about the same strength.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Search<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada", max_length = 31)]
    pub(super) player: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "connect-four")]
    pub(super) game: Cow<'a, str>,
}

/// Begins a match of two who need not be asked.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMatch<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "gomoku")]
    game: Cow<'a, str>,
    /// Moves first.
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada", max_length = 31)]
    first: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "bob", max_length = 31)]
    second: Cow<'a, str>,
}

/// One move.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Move<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada", max_length = 31)]
    pub(super) player: Cow<'a, str>,
    /// How many moves the player has seen: the `ply` of the state that it moves in. In any other
    /// state the move is refused as `stale`, with the state.
    #[schema(example = 0)]
    pub(super) ply: u16,
    /// A cell, or a column of connect-four, from 1.
    #[schema(minimum = 1, example = 5)]
    pub(super) choice: u8,
    /// What the player says that the move does: `ordinary`, `wins` or `fills`.
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>)]
    pub(super) claim: Option<Cow<'a, str>>,
}

/// Who does it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayerNamed<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada", max_length = 31)]
    player: Cow<'a, str>,
}

/// Offers a draw, or answers to an offer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawAnswer<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "ada", max_length = 31)]
    player: Cow<'a, str>,
    /// `offer` (which takes the other's offer if there is one), `accept` or `decline`.
    #[serde(borrow)]
    #[schema(value_type = String, example = "offer")]
    word: Cow<'a, str>,
}

/// What a player does with nothing more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answerable {
    Resign,
    Abort,
    ClaimWin,
}

impl Answerable {
    const fn deed(self) -> Deed {
        match self {
            Self::Resign => Deed::Resign,
            Self::Abort => Deed::Abort,
            Self::ClaimWin => Deed::ClaimWin,
        }
    }
}

/// The words of [`Claim`].
const CLAIMS: [(&str, Claim); 3] = [
    (Claim::Ordinary.code(), Claim::Ordinary),
    (Claim::Wins.code(), Claim::Wins),
    (Claim::Fills.code(), Claim::Fills),
];

/// The words of a draw.
const DRAWS: [(&str, Deed); 3] = [
    ("offer", Deed::OfferDraw),
    ("accept", Deed::AcceptDraw),
    ("decline", Deed::DeclineDraw),
];

const fn act(match_id: MatchId, player: PlayerId, deed: Deed) -> Command {
    Command::Act {
        match_id,
        player,
        deed,
    }
}

impl Challenge<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let player = faults.player("player", &self.player);
        let opponent = faults.player("opponent", &self.opponent);
        let game = faults.game(&self.game);
        let whole = || {
            Some(Command::Challenge {
                player: player?,
                opponent: opponent?,
                game: game?,
            })
        };
        faults.finish(whole())
    }
}

impl Search<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let player = faults.player("player", &self.player);
        let whole = player.zip(faults.game(&self.game));
        faults.finish(whole.map(|(player, game)| Command::Seek { player, game }))
    }
}

impl NewMatch<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let game = faults.game(&self.game);
        let first = faults.player("first", &self.first);
        let second = faults.player("second", &self.second);
        let whole = || {
            Some(Command::Begin {
                game: game?,
                players: [first?, second?],
            })
        };
        faults.finish(whole())
    }
}

impl Move<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, match_id: MatchId) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let player = faults.player("player", &self.player);
        let claim = match &self.claim {
            None => Some(None),
            Some(word) => faults.choice("claim", word, &CLAIMS).map(Some),
        };
        let (ply, choice) = (self.ply, self.choice);
        let deed = claim.map(|claim| Deed::Move { ply, choice, claim });
        let whole = player.zip(deed);
        faults.finish(whole.map(|(player, deed)| act(match_id, player, deed)))
    }
}

impl PlayerNamed<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, match_id: MatchId, what: Answerable) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let player = faults.player("player", &self.player);
        faults.finish(player.map(|player| act(match_id, player, what.deed())))
    }
}

impl DrawAnswer<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, match_id: MatchId) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let player = faults.player("player", &self.player);
        let whole = player.zip(faults.choice("word", &self.word, &DRAWS));
        faults.finish(whole.map(|(player, deed)| act(match_id, player, deed)))
    }
}

#[cfg(test)]
mod tests {
    use turnstile_games::Game;

    use super::*;
    use crate::parse_body;

    fn id(name: &str) -> PlayerId {
        PlayerId::parse(name.as_bytes()).unwrap()
    }

    /// What is wrong with the fields of a body.
    fn wrong(read: Result<Command, Problem>) -> Vec<(String, String)> {
        let errors = read.unwrap_err().errors.into_vec().into_iter();
        errors.map(|error| (error.field, error.message)).collect()
    }

    #[test]
    fn bodies_become_commands() {
        let (ada, bob) = (id("ada"), id("bob"));
        let game = Game::TicTacToe;
        let challenge: Challenge<'_> =
            parse_body(br#"{"player":"ada","opponent":"bob","game":"tic-tac-toe"}"#).unwrap();
        let (player, opponent) = (ada, bob);
        assert_eq!(
            challenge.command(),
            Ok(Command::Challenge {
                player,
                opponent,
                game
            })
        );
        let begin: NewMatch<'_> =
            parse_body(br#"{"first":"bob","second":"ada","game":"tic-tac-toe"}"#).unwrap();
        let players = [bob, ada];
        assert_eq!(begin.command(), Ok(Command::Begin { game, players }));
        let played: Move<'_> =
            parse_body(br#"{"player":"ada","ply":4,"choice":9,"claim":"wins"}"#).unwrap();
        let deed = Deed::Move {
            ply: 4,
            choice: 9,
            claim: Some(Claim::Wins),
        };
        assert_eq!(played.command(MatchId(3)), Ok(act(MatchId(3), ada, deed)));
        for (word, deed) in DRAWS {
            let body = format!(r#"{{"player":"bob","word":"{word}"}}"#);
            let draw: DrawAnswer<'_> = parse_body(body.as_bytes()).unwrap();
            assert_eq!(draw.command(MatchId(3)), Ok(act(MatchId(3), bob, deed)));
        }
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let character = "character 2 is none";
        let row = |field: &str, message: &str| (field.to_owned(), message.to_owned());
        let search: Search<'_> = parse_body(br#"{"player":"a b","game":"chess"}"#).unwrap();
        let told = wrong(search.command());
        assert_eq!(told[0].0, "player");
        assert!(told[0].1.contains(character), "{told:?}");
        let games = row("game", "one of tic-tac-toe, connect-four, gomoku");
        assert_eq!(told[1..], [games]);
        let played: Move<'_> =
            parse_body(br#"{"player":"ada","ply":0,"choice":1,"claim":"luck"}"#).unwrap();
        let claims = row("claim", "one of ordinary, wins, fills");
        assert_eq!(wrong(played.command(MatchId(1))), [claims]);
    }
}
