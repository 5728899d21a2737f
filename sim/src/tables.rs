//! An independent model of games: who plays, and what came of it, by what was announced.
//!
//! It decides nothing and knows no rules but tic-tac-toe's. It is shown each event in order of
//! position, and says whether such an event was possible.

use std::collections::BTreeMap;

use turnstile_games::{
    Answer, Change, Command, Event, EventKind, Game, Games, MatchId, MatchView, Outcome, PlayerId,
    Query, Seat, Source, Tally, Verdict,
};
use turnstile_types::{Machine as _, Position, Principal, Timestamp};

use crate::actors::Model;

/// The lines of three cells in tic-tac-toe.
const LINES: [[usize; 3]; 8] = [
    [0, 1, 2],
    [3, 4, 5],
    [6, 7, 8],
    [0, 3, 6],
    [1, 4, 7],
    [2, 5, 8],
    [0, 4, 8],
    [2, 4, 6],
];

#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    open: BTreeMap<MatchId, Sheet>,
    begun: u64,
    /// Matches that are over and whose result is to come in the same record.
    decided: BTreeMap<MatchId, Verdict>,
    tallies: BTreeMap<PlayerId, Tally>,
    results: u64,
}

/// What is written down of a match that is played.
#[derive(Clone, Debug)]
struct Sheet {
    game: Game,
    players: [PlayerId; 2],
    seq: u32,
    /// Cells in the order of the moves.
    cells: Vec<u8>,
}

impl Model<Games> for Tables {
    /// Everything in games is shown by its events.
    fn show(
        &mut self,
        _record: (Position, Timestamp),
        _asked: Option<(&Command, &Outcome)>,
        events: &[Event],
    ) -> Result<(), String> {
        for event in events {
            match &event.kind {
                EventKind::Match { change, state } => self.change(*change, state),
                EventKind::Counted {
                    source,
                    players,
                    verdict,
                    ..
                } => self.count(*source, players, *verdict),
                EventKind::Challenged { .. }
                | EventKind::Seeking { .. }
                | EventKind::Withdrawn { .. }
                | EventKind::Scored { .. } => Ok(()),
                EventKind::Reported(_) => {
                    Err(format!("{event:?}, and there are no distant scores"))
                }
            }?;
        }
        match self.decided.first_key_value() {
            Some((match_id, _)) => Err(format!("match {match_id} is over and not counted")),
            None => Ok(()),
        }
    }

    fn agrees(&self, now: Timestamp, games: &Games) -> Result<(), String> {
        let totals = games.totals();
        let found = (totals.begun, u64::from(totals.open), totals.results);
        let open = u64::try_from(self.open.len()).expect("a few matches");
        let expected = (self.begun, open, self.results);
        if found != expected {
            return Err(format!(
                "matches begun and open, and results: {found:?}, not {expected:?}"
            ));
        }
        for (&player, tally) in &self.tallies {
            let answer = games.query(now, &Principal::local(), &Query::Standing { player });
            let Answer::Standing(standing) = answer else {
                return Err(format!("{player:?} has no standing: {answer:?}"));
            };
            if standing.tally != *tally {
                return Err(format!(
                    "{player:?} stands {:?}, not {tally:?}",
                    standing.tally
                ));
            }
        }
        Ok(())
    }
}

impl Tables {
    fn change(&mut self, change: Change, state: &MatchView) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what}: {change:?} {state:?}"));
        if change == Change::Begun {
            self.begun += 1;
            let busy = |sheet: &Sheet| sheet.players.iter().any(|one| state.players.contains(one));
            if state.id != MatchId(self.begun) || self.open.values().any(busy) {
                return wrong("a match that cannot begin");
            }
            let sheet = Sheet {
                game: state.game,
                players: state.players,
                seq: state.seq,
                cells: Vec::new(),
            };
            self.open.insert(state.id, sheet);
            return Ok(());
        }
        let Some(sheet) = self.open.get_mut(&state.id) else {
            return wrong("a match that is not played");
        };
        sheet.seq += 1;
        if (sheet.players, sheet.seq) != (state.players, state.seq) {
            return wrong("not the next of its match");
        }
        if let Change::Moved { seat } = change {
            let Some(cell) = state.last else {
                return wrong("a move without a stone");
            };
            if sheet.cells.contains(&cell) || Some(seat) != mover(sheet.cells.len()) {
                return wrong("a move that cannot be made");
            }
            sheet.cells.push(cell);
            if usize::from(state.ply) != sheet.cells.len() {
                return wrong("not the next move");
            }
            if sheet.game == Game::TicTacToe && sheet.ends() != state.ending.is_some() {
                return wrong("not what the stones say");
            }
        }
        if let Some(ending) = state.ending {
            self.open.remove(&state.id);
            let verdict = ending.verdict();
            self.decided
                .extend(verdict.map(|verdict| (state.id, verdict)));
        }
        Ok(())
    }

    fn count(
        &mut self,
        source: Source,
        players: &[PlayerId; 2],
        verdict: Verdict,
    ) -> Result<(), String> {
        if let Source::Here { match_id } = source
            && self.decided.remove(&match_id) != Some(verdict)
        {
            return Err(format!("match {match_id} was counted as {verdict:?}"));
        }
        self.results += 1;
        for (seat, player) in Seat::BOTH.into_iter().zip(players) {
            let tally = self.tallies.entry(*player).or_default();
            match verdict.winner() {
                None => tally.drawn += 1,
                Some(winner) if winner == seat => tally.won += 1,
                Some(_) => tally.lost += 1,
            }
        }
        Ok(())
    }
}

impl Sheet {
    /// Whether somebody has three in a line, or no cell is left.
    fn ends(&self) -> bool {
        let of = |seat: usize, cell: usize| {
            let stones = self.cells.iter().skip(seat).step_by(2);
            stones.into_iter().any(|&stone| usize::from(stone) == cell)
        };
        let has_line = |seat| {
            LINES
                .iter()
                .any(|line| line.iter().all(|&cell| of(seat, cell)))
        };
        has_line(0) || has_line(1) || self.cells.len() == 9
    }
}

fn mover(moves: usize) -> Option<Seat> {
    u16::try_from(moves).ok().map(Seat::to_move)
}
