//! Results on their way to a scores server.

use std::collections::VecDeque;

use turnstile_chassis::{Bytes, Fields};

use crate::{
    Game, MatchId, PlayerId, Verdict,
    shown::{arena, both},
};

/// How a match ended, for those who count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct MatchResult {
    #[field(name = "match")]
    pub match_id: MatchId,
    pub game: Game,
    /// The first moved first.
    #[field(flatten, with = both)]
    pub players: [PlayerId; 2],
    pub verdict: Verdict,
}

/// What travels from an arena to a scores server, as often as it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct Parcel {
    /// The arena, by the number in its settings.
    #[field(with = arena)]
    pub arena: u64,
    /// The results of an arena are numbered from 1 without a gap.
    pub number: u64,
    #[field(flatten)]
    pub result: MatchResult,
}

/// Results that the scores server has not acknowledged, the oldest first.
///
/// A scores server that counts an arena's results in order needs to remember only how many there
/// were. So the outbox is all there is to it: what is in it is sent again until it is acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Outbox {
    /// How many were acknowledged.
    pub(crate) acknowledged: u64,
    pub(crate) kept: VecDeque<MatchResult>,
}

impl Outbox {
    pub(crate) const fn new() -> Self {
        Self {
            acknowledged: 0,
            kept: VecDeque::new(),
        }
    }

    /// Adds a result, and returns its number.
    pub(crate) fn put(&mut self, result: MatchResult) -> u64 {
        self.kept.push_back(result);
        self.acknowledged + self.len()
    }

    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.kept.len()).expect("a count fits 64 bits")
    }

    /// Takes the oldest off.
    pub(crate) fn take(&mut self) -> Option<MatchResult> {
        let result = self.kept.pop_front()?;
        self.acknowledged += 1;
        Some(result)
    }

    /// Results after the one of this number; after 0: all that is kept.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = (u64, &MatchResult)> {
        let known = number.saturating_sub(self.acknowledged).min(self.len());
        let skip = usize::try_from(known).expect("a count of what is kept");
        (self.acknowledged + known + 1..).zip(self.kept.iter().skip(skip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_acknowledged_is_told_again_with_its_number() {
        let id = |text: &str| PlayerId::parse(text.as_bytes()).unwrap();
        let result = |number| MatchResult {
            match_id: MatchId(number),
            game: Game::TicTacToe,
            players: [id("a"), id("b")],
            verdict: Verdict::Drawn,
        };
        let mut outbox = Outbox::new();
        let numbers: Vec<u64> = (10..14).map(|number| outbox.put(result(number))).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!(outbox.take(), Some(result(10)));
        let told = |after| {
            let all = outbox.after(after);
            all.map(|(number, result)| (number, result.match_id.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(0), [(2, 11), (3, 12), (4, 13)]);
        assert_eq!(told(1), told(0));
        assert_eq!(told(3), [(4, 13)]);
        assert_eq!(told(4), []);
        assert_eq!(told(99), []);
    }
}
