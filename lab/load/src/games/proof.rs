//! What the players know after a run: whether each of their games was counted, and once.

use std::fmt;

use turnstile_duel::Triple;
use turnstile_result::Rule;
use turnstile_stats::units::Count;

use super::player::{Fault, WirePlayer};
use crate::point;

/// The most violations that are told; the others are counted.
const TOLD_MAX: usize = 10;

/// What the statistics say of the run, by the triples that the players were told.
///
/// Of each player, every triple is compared with the one before it and the game between them. The
/// first triple of a run is where the count begins: it holds at least the game that it follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Games that both have finished.
    pub games: u64,
    /// What the players' statistics have grown by, summed over all of them. Where the arena keeps
    /// its promise, `played` is twice `games`, and `won` and `lost` are equal.
    pub played: u64,
    pub won: u64,
    pub lost: u64,
    pub drawn: u64,
    /// Messages that could be read together with the one before: the ancestor's clients would have
    /// fallen out of step.
    pub met: u64,
    /// Players whose connection ended, or who heard nothing more, before their last game was over.
    pub unfinished: u64,
    /// What the server said first when it refused to go on.
    pub refused: Option<String>,
    /// The first of the promises that were broken, in words.
    pub violations: Vec<String>,
    /// How many more there were.
    pub more_violations: u64,
}

impl Proof {
    /// Of players on the ancestor's wire; `counted`: whether each was to play a number of games.
    pub(super) fn of_players(players: &[WirePlayer], counted: bool) -> Self {
        let mut proof = Self::default();
        let mut finished = 0;
        for player in players {
            finished += player.played.all();
            proof.met += player.met;
            proof.add_statistics(player);
            proof.unfinished += u64::from(player.is_left(counted));
            if let Some(fault) = player.fault.filter(|fault| *fault != Fault::Lost) {
                proof.violate(sentence(player, fault));
            }
        }
        proof.games = finished / 2;
        if proof.met > 0 {
            let met = Count(proof.met);
            proof.violate(format!("{met} messages could be read with the one before"));
        }
        if proof.unfinished == 0 && proof.violations.is_empty() {
            proof.sum_up(finished);
        }
        proof
    }

    /// The same for `run.json`.
    pub(super) fn rule(&self) -> Rule {
        let unfinished = (!self.is_whole()).then_some("not all games came to their end");
        let rule = "every game was counted once, for both who played it";
        point::found(point::rule(rule, &self.violations, unfinished), self)
    }

    /// Whether every game was played to its end.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.unfinished == 0
    }

    fn add_statistics(&mut self, player: &WirePlayer) {
        let (Some(first), Some(last)) = (player.first, player.heard) else {
            return;
        };
        let grown = |count: fn(Triple) -> u64, by_first: bool| {
            u64::from(by_first) + count(last).saturating_sub(count(first.triple))
        };
        self.add(
            grown(Triple::played, true),
            grown(Triple::won, first.won),
            grown(Triple::lost, !first.won),
            grown(Triple::drawn, false),
        );
    }

    /// What follows for all where it holds for each.
    pub(super) fn sum_up(&mut self, finished: u64) {
        let (played, won, lost, drawn) = (self.played, self.won, self.lost, self.drawn);
        if played != 2 * self.games || played != finished {
            let games = self.games;
            self.violate(format!("{games} games were played and {played} counted"));
        }
        if won != lost || won + lost + drawn != played {
            self.violate(format!(
                "of {played} counted {won} are won, {lost} lost, {drawn} drawn"
            ));
        }
    }

    /// Adds what the statistics of one player have grown by.
    pub(super) const fn add(&mut self, played: u64, won: u64, lost: u64, drawn: u64) {
        self.played += played;
        self.won += won;
        self.lost += lost;
        self.drawn += drawn;
    }

    pub(super) fn refuse(&mut self, words: &str) {
        self.refused.get_or_insert_with(|| words.to_owned());
    }

    pub(super) fn violate(&mut self, sentence: String) {
        if self.violations.len() < TOLD_MAX {
            self.violations.push(sentence);
        } else {
            self.more_violations += 1;
        }
    }
}

fn sentence(player: &WirePlayer, fault: Fault) -> String {
    let (name, game) = (player.name(), player.played.all() + 1);
    let outcome = |won| if won { "won" } else { "lost" };
    let what = match fault {
        Fault::Lost => "the connection ended".to_owned(),
        Fault::Refused(refusal) => format!("{refusal}"),
        Fault::Cell { told, played } => {
            format!("cell {} was told and {played} played", told.number())
        }
        Fault::Counted { before, told, won } => format!(
            "{} was told after {} and a game {}",
            WireTriple(told),
            WireTriple(before),
            outcome(won)
        ),
        Fault::Uncounted { told, won } => {
            format!(
                "{} was told after a game {}",
                WireTriple(told),
                outcome(won)
            )
        }
    };
    format!("player {name}, game {game}: {what}")
}

/// A triple as it stands on the wire.
struct WireTriple(Triple);

impl fmt::Display for WireTriple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(triple) = self;
        write!(f, "{}:{}:{}:", triple.played(), triple.won(), triple.lost())
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} games; the statistics say {} played = {} won + {} lost + {} drawn",
            Count(self.games),
            Count(self.played),
            Count(self.won),
            Count(self.lost),
            Count(self.drawn)
        )?;
        if self.unfinished > 0 {
            write!(f, "; {} players were left", Count(self.unfinished))?;
        }
        if let Some(words) = &self.refused {
            write!(f, "; refused: {words}")?;
        }
        for violation in &self.violations {
            write!(f, "\n  VIOLATION: {violation}")?;
        }
        if self.more_violations > 0 {
            write!(f, "\n  and {} more", Count(self.more_violations))?;
        }
        Ok(())
    }
}
