//! What the scores say over RESP of players and pairs, before a run and after, and what of that
//! cannot be.

use turnstile_client::{Connection, ServerAddress, resp::Value};

use super::{PlayerNames, Proof, Tables, plan::ScriptFault, player::Games};
use crate::{
    Error,
    door::{self, field, refusal},
};

/// How many questions are under way at once.
const BATCH: usize = 100;

/// The refusal of a query about somebody who has never played.
const NO_SUCH_PLAYER: &str = "no_such_player";

/// The tallies of all players of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standings {
    /// Of the first and the second player, then of the first against the second: three for each pair.
    tallies: Vec<Tally>,
}

/// How many games somebody has played, and how they ended, by the server's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    played: u64,
    won: u64,
    lost: u64,
    drawn: u64,
}

impl Standings {
    /// Asks about each player, and each pair.
    pub(super) fn ask(
        address: &ServerAddress,
        names: &PlayerNames,
        pairs: &[[u16; 2]],
    ) -> Result<Self, Error> {
        let mut door = door::connect_again(address)?;
        let mut tallies = Vec::with_capacity(3 * pairs.len());
        for batch in pairs.chunks(BATCH) {
            for pair in batch {
                let [one, two] = pair.map(|player| names.of(player));
                door.send(&[b"GAMES.GET-STANDING", one]);
                door.send(&[b"GAMES.GET-STANDING", two]);
                door.send(&[b"GAMES.GET-TALLY", one, two]);
            }
            for _question in 0..3 * batch.len() {
                tallies.push(Tally::receive(&mut door)?);
            }
        }
        Ok(Self { tallies })
    }

    /// Of each pair: its first player, its second, the first against the second.
    fn by_pair(&self) -> impl Iterator<Item = &[Tally]> {
        self.tallies.chunks_exact(3)
    }
}

impl Tally {
    fn receive(door: &mut Connection) -> Result<Self, Error> {
        let answer = door.receive()?;
        if refusal(&answer) == Some(NO_SUCH_PLAYER) {
            return Ok(Self::default());
        }
        let count = |name| match field(&answer, name) {
            Some(Value::Integer(count)) => u64::try_from(*count).ok(),
            _ => None,
        };
        let tally = || {
            Some(Self {
                played: count("played")?,
                won: count("won")?,
                lost: count("lost")?,
                drawn: count("drawn")?,
            })
        };
        tally().ok_or_else(|| Error::Preparation {
            command: "GAMES.GET-STANDING",
            answer: answer.to_string(),
        })
    }

    const fn since(self, before: Self) -> Self {
        Self {
            played: self.played.saturating_sub(before.played),
            won: self.won.saturating_sub(before.won),
            lost: self.lost.saturating_sub(before.lost),
            drawn: self.drawn.saturating_sub(before.drawn),
        }
    }

    /// Whether it is these games, or one more that this player has won or lost, where that may be.
    const fn is(self, games: Games, doubt: bool) -> bool {
        let Self {
            played,
            won,
            lost,
            drawn,
        } = self;
        let more = played.saturating_sub(games.all());
        let sound = played == won + lost + drawn && drawn == 0;
        let counted = won >= games.won && lost >= games.lost && played >= games.all();
        sound && counted && more <= doubt as u64
    }
}

/// Holds what pairs have played against what the server has counted meanwhile.
pub(super) fn prove(
    tables: &Tables,
    names: &PlayerNames,
    before: &Standings,
    after: &Standings,
) -> Proof {
    let mut proof = Proof::default();
    let (mut finished, mut doubts) = (0, 0);
    let mut tables: Vec<_> = tables.iter().map(|table| &table.user.plan).collect();
    // Threads give them back in no order.
    tables.sort_by_key(|table| table.pair);
    let rows = tables.iter().zip(before.by_pair().zip(after.by_pair()));
    for (table, (before, after)) in rows {
        let [one, two] = table.played;
        finished += one.all();
        doubts += u64::from(table.doubt);
        proof.unfinished += u64::from(table.is_left());
        let mut grown = before
            .iter()
            .zip(after)
            .map(|(before, after)| after.since(*before));
        let names = table
            .pair
            .map(|player| String::from_utf8_lossy(names.of(player)));
        let whose = [
            (format!("player {}", names[0]), one),
            (format!("player {}", names[1]), two),
            (format!("player {} against {}", names[0], names[1]), one),
        ];
        for (place, (who, games)) in whose.into_iter().enumerate() {
            let Some(tally) = grown.next() else {
                continue;
            };
            if place < 2 {
                proof.add(tally.played, tally.won, tally.lost, tally.drawn);
            }
            if !tally.is(games, table.doubt) {
                proof.violate(format!(
                    "{who} has won {} and lost {}, and {} = {} won + {} lost + {} drawn were counted",
                    games.won, games.lost, tally.played, tally.won, tally.lost, tally.drawn
                ));
            }
        }
        match &table.fault {
            Some(ScriptFault::Answered(words)) => {
                proof.violate(format!(
                    "player {}, game {}: {words}",
                    names[0],
                    one.all() + 1
                ));
            }
            Some(ScriptFault::Refused(words)) => proof.refuse(words),
            Some(ScriptFault::Lost) | None => {}
        }
    }
    proof.games = finished;
    if proof.unfinished == 0 && proof.violations.is_empty() && doubts == 0 {
        proof.sum_up(2 * finished);
    }
    proof
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_what_was_played_and_no_more_than_what_is_in_doubt() {
        let tally = |played, won, lost, drawn| Tally {
            played,
            won,
            lost,
            drawn,
        };
        let games = Games { won: 2, lost: 1 };
        let rows = [
            (tally(3, 2, 1, 0), true, true),
            (tally(4, 3, 1, 0), false, true),
            (tally(4, 2, 2, 0), false, true),
            (tally(5, 3, 2, 0), false, false),
            (tally(3, 1, 2, 0), false, false),
            (tally(2, 1, 1, 0), false, false),
            (tally(4, 2, 1, 1), false, false),
            (tally(4, 2, 1, 0), false, false),
        ];
        for (tally, sure, in_doubt) in rows {
            let found = [tally.is(games, false), tally.is(games, true)];
            assert_eq!(found, [sure, in_doubt], "{tally:?}");
        }
    }

    #[test]
    fn only_what_has_come_since_counts() {
        let before = Tally {
            played: 9,
            won: 5,
            lost: 3,
            drawn: 1,
        };
        let after = Tally {
            played: 10,
            won: 6,
            ..before
        };
        let won = Tally {
            played: 1,
            won: 1,
            ..Tally::default()
        };
        assert_eq!(after.since(before), won);
    }
}
