//! Pairs of players who play the same few games again and again.

use std::collections::VecDeque;

use anyhow::{Context as _, Result, ensure};
use turnstile_client::resp::Value;

use super::{CommandSource, is_done, number, person, words};

/// MatchFlow at a time: more than a batch has commands, so that none waits for an answer of its own batch.
const MATCHES: usize = 120;

/// Whole games of tic-tac-toe, by their cells.
const SCRIPTS: [&[u8]; 4] = [
    &[5, 1, 3, 7, 4, 6, 2, 8, 9],
    &[1, 5, 9, 3, 7, 4, 8],
    &[5, 2, 1, 9, 3, 7, 4, 6, 8],
    &[1, 2, 5, 3, 9],
];

#[derive(Clone, Debug, Default)]
struct MatchPair {
    /// None before the match has begun.
    number: Option<i64>,
    ply: usize,
    games: usize,
}

#[derive(Debug)]
pub(in crate::console) struct MatchFlow {
    pairs: Vec<MatchPair>,
    asked: VecDeque<usize>,
    turn: usize,
}

impl MatchFlow {
    pub(in crate::console) fn new() -> Self {
        Self {
            pairs: vec![MatchPair::default(); MATCHES],
            asked: VecDeque::new(),
            turn: 0,
        }
    }

    fn player(pair: usize, second: bool) -> String {
        let number = pair * 2 + usize::from(second);
        let name = person(number).to_ascii_lowercase();
        let first = name.split(' ').next().unwrap_or("player");
        format!("{first}-{number}")
    }
}

impl CommandSource for MatchFlow {
    fn next(&mut self) -> Vec<String> {
        let turn = self.turn;
        self.turn = (turn + 1) % MATCHES;
        self.asked.push_back(turn);
        let MatchPair { number, ply, games } = self.pairs[turn];
        let Some(number) = number else {
            let [first, second] = [false, true].map(|second| Self::player(turn, second));
            return words(&format!("GAMES.BEGIN {first} {second} tic-tac-toe"));
        };
        let player = Self::player(turn, ply % 2 == 1);
        let cell = SCRIPTS[(turn + games) % SCRIPTS.len()][ply];
        words(&format!("GAMES.MOVE {number} {player} {ply} {cell}"))
    }

    fn heed(&mut self, answer: &Value) -> Result<()> {
        let turn = self.asked.pop_front().context("an answer to nothing")?;
        ensure!(is_done(answer), "a match: {answer}");
        let pair = &mut self.pairs[turn];
        if pair.number.is_none() {
            let state = answer.at("state").context("a match has a state")?;
            pair.number = Some(number(state, "match")?);
            return Ok(());
        }
        pair.ply += 1;
        if answer
            .at("ending")
            .is_some_and(|ending| *ending != Value::Null)
        {
            *pair = MatchPair {
                games: pair.games + 1,
                ..MatchPair::default()
            };
        }
        Ok(())
    }
}
