//! The arguments that only games have.

use std::fmt;

use turnstile_games::{Claim, Game, MatchId, Measure, Opponent, PlayerId, Rung, Verdict, limits};

use super::Verb;
use crate::words::{self, Coded, Read, Reason, Spoken, choices, chosen, within};

pub type Invalid = words::Invalid<Verb>;

pub(super) type Words<'a, 'spans> = words::Words<'a, 'spans, Verb>;

/// What may be wrong with an argument that only games have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    Player,
    Game,
    Claim,
    Verdict,
    Measure,
    /// Not where a page of a leaderboard said that the next begins.
    Cursor,
}

impl Spoken for Verb {
    type Flaw = Flaw;

    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Player => write!(f, "a player is 1 to 31 characters of A-Z a-z 0-9 . _ : -"),
            Self::Game => write!(f, "one of {}", choices::<Game>()),
            Self::Claim => write!(f, "one of {}", choices::<Claim>()),
            Self::Verdict => write!(f, "one of {}", choices::<Verdict>()),
            Self::Measure => write!(f, "one of {}", choices::<Measure>()),
            Self::Cursor => write!(f, "a cursor is what the page before says of the next"),
        }
    }
}

impl Coded for Game {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Coded for Measure {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Coded for Claim {
    const ALL: &'static [Self] = &[Self::Ordinary, Self::Wins, Self::Fills];

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Coded for Verdict {
    const ALL: &'static [Self] = &[Self::FirstWon, Self::SecondWon, Self::Drawn];

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Words<'_, '_> {
    fn own<T>(
        &mut self,
        argument: &'static str,
        flaw: Flaw,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Read<T, Verb> {
        self.read(argument, |word| read(word).ok_or(Reason::Flaw(flaw)))
    }

    pub(super) fn player(&mut self, argument: &'static str) -> Read<PlayerId, Verb> {
        self.own(argument, Flaw::Player, |word| PlayerId::parse(word).ok())
    }

    pub(super) fn game(&mut self) -> Read<Game, Verb> {
        self.own("game", Flaw::Game, chosen)
    }

    pub(super) fn match_id(&mut self, argument: &'static str) -> Read<MatchId, Verb> {
        self.number(argument).map(MatchId)
    }

    pub(super) fn claim(&mut self, argument: &'static str) -> Read<Claim, Verb> {
        self.own(argument, Flaw::Claim, chosen)
    }

    pub(super) fn verdict(&mut self) -> Read<Verdict, Verb> {
        self.own("verdict", Flaw::Verdict, chosen)
    }

    pub(super) fn measure(&mut self, argument: &'static str) -> Read<Measure, Verb> {
        self.own(argument, Flaw::Measure, chosen)
    }

    pub(super) fn opponent(&mut self, argument: &'static str) -> Read<Opponent, Verb> {
        self.number(argument).map(Opponent)
    }

    pub(super) fn rung(&mut self, argument: &'static str) -> Read<Rung, Verb> {
        self.own(argument, Flaw::Cursor, |word| Rung::parse(word).ok())
    }

    /// How many are shown before somebody, and as many behind.
    pub(super) fn each_side(&mut self, argument: &'static str) -> Read<u16, Verb> {
        let max = u64::from(limits::PAGE_MAX / 2);
        self.read(argument, |word| within(word, 0, max))
    }
}
