//! Games in their plainest form: who waits for whom, boards of nine cells, and what was won.

mod state;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{HashMap, VecDeque};

use crate::Model;

pub use state::{Board, CELLS, Change, Claim, Ending, State};
pub use words::{Activity, Answer, Ask, Deed, Operation, Refusal, STRANGER, Tally};

/// So many matches that are over can still be looked at: the newest.
const OVER_MAX: usize = 16_384;

/// How much there is in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Matches that the run began.
    pub begun: u64,
    pub moves: u64,
    /// Results that count.
    pub results: u64,
    /// Matches that are played still.
    pub open: u64,
    /// Players who seek.
    pub seeking: u64,
}

/// Players, their matches and their scores, replayed.
///
/// Bounded: by the players, who play one match each, and by as many matches that are over as a
/// server remembers. An operation of unknown outcome *clouds* it: a move that may have been made
/// changes what all later ones get, so from then on nothing is compared any more. Users ask under
/// keys for that reason, and ask again what was not answered. A match that the server's clock has
/// ended clouds it, too: only the server knows when.
#[derive(Debug)]
pub struct Club {
    players: Vec<Player>,
    matches: HashMap<u64, State>,
    /// Those that are over, the one over for longest first.
    over: VecDeque<u64>,
    /// The number of the match begun last, and that before the first.
    last: u64,
    first: u64,
    moves: u64,
    results: u64,
    clouded: bool,
}

#[derive(Clone, Copy, Debug)]
struct Player {
    /// Whether anybody has named this player.
    known: bool,
    doing: Doing,
    tally: Tally,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Challenging(u16),
    Seeking,
    Playing(u64),
}

impl Club {
    /// So many players who are nobody yet, where the last match had this number.
    #[must_use]
    pub fn new(players: u16, last: u64) -> Self {
        let nobody = Player {
            known: false,
            doing: Doing::Nothing,
            tally: Tally::default(),
        };
        Self {
            players: vec![nobody; usize::from(players)],
            matches: HashMap::new(),
            over: VecDeque::new(),
            last,
            first: last,
            moves: 0,
            results: 0,
            clouded: false,
        }
    }

    /// Whether nothing is known of what came after some operation.
    #[must_use]
    pub const fn is_clouded(&self) -> bool {
        self.clouded
    }

    #[must_use]
    pub fn totals(&self) -> Totals {
        let count = |number: usize| u64::try_from(number).expect("a count fits 64 bits");
        let seeking = |player: &&Player| player.doing == Doing::Seeking;
        Totals {
            begun: self.last - self.first,
            moves: self.moves,
            results: self.results,
            open: count(self.matches.len() - self.over.len()),
            seeking: count(self.players.iter().filter(seeking).count()),
        }
    }

    /// Carries out what was asked, and answers it.
    fn answer(&mut self, ask: &Ask) -> Answer {
        let outcome = match *ask {
            Ask::Challenge { player, opponent } => self.challenge(player, opponent),
            Ask::Seek { player } => self.seek(player),
            Ask::Withdraw { player } => self.withdraw(player),
            Ask::Begin { players } => self.begin(players),
            Ask::Act {
                number,
                player,
                deed,
            } => self.act(number, player, deed).map(Answer::Acted),
            Ask::Match { .. } | Ask::Player { .. } | Ask::Standing { .. } => return self.look(ask),
        };
        outcome.unwrap_or_else(Answer::Refused)
    }

    /// What whoever reads sees.
    fn look(&self, ask: &Ask) -> Answer {
        match *ask {
            Ask::Match { number } => Answer::Match(self.matches.get(&number).copied()),
            Ask::Player { player } => {
                let player = self.player(player);
                let activity = match player.doing {
                    Doing::Nothing => Activity::Idle,
                    Doing::Challenging(opponent) => Activity::Challenging(opponent),
                    Doing::Seeking => Activity::Seeking,
                    Doing::Playing(number) => Activity::Playing(self.matches[&number]),
                };
                Answer::Player(player.known.then_some(activity))
            }
            Ask::Standing { player } => {
                let tally = self.player(player).tally;
                Answer::Standing((tally.played > 0).then_some(tally))
            }
            _ => Answer::Unknown,
        }
    }

    fn player(&self, player: u16) -> &Player {
        &self.players[usize::from(player)]
    }

    fn player_mut(&mut self, player: u16) -> &mut Player {
        &mut self.players[usize::from(player)]
    }

    fn waits(&mut self, player: u16, doing: Doing) {
        let player = self.player_mut(player);
        player.known = true;
        player.doing = doing;
    }

    /// Nobody does two things at once.
    fn is_free(&self, player: u16) -> Result<(), Refusal> {
        match self.player(player).doing {
            Doing::Nothing => Ok(()),
            Doing::Challenging(_) | Doing::Seeking => Err(Refusal::Waiting { player }),
            Doing::Playing(number) => Err(Refusal::Playing { player, number }),
        }
    }

    fn challenge(&mut self, player: u16, opponent: u16) -> Result<Answer, Refusal> {
        if player == opponent {
            return Err(Refusal::SamePlayer);
        }
        if self.player(player).doing == Doing::Challenging(opponent) {
            return Ok(Answer::Challenged);
        }
        self.is_free(player)?;
        if self.player(opponent).doing == Doing::Challenging(player) {
            return Ok(self.start([opponent, player]));
        }
        self.player_mut(opponent).known = true;
        self.waits(player, Doing::Challenging(opponent));
        Ok(Answer::Challenged)
    }

    fn seek(&mut self, player: u16) -> Result<Answer, Refusal> {
        let mut players = (0..).zip(&self.players);
        let waiting = players.find(|(_, one)| one.doing == Doing::Seeking);
        match waiting.map(|(number, _)| number) {
            Some(other) if other == player => Ok(Answer::Seeking),
            other => {
                self.is_free(player)?;
                let Some(other) = other else {
                    self.waits(player, Doing::Seeking);
                    return Ok(Answer::Seeking);
                };
                Ok(self.start([other, player]))
            }
        }
    }

    fn withdraw(&mut self, player: u16) -> Result<Answer, Refusal> {
        match self.player(player).doing {
            Doing::Nothing | Doing::Playing(_) => Err(Refusal::NotWaiting),
            Doing::Challenging(_) | Doing::Seeking => {
                self.player_mut(player).doing = Doing::Nothing;
                Ok(Answer::Withdrawn)
            }
        }
    }

    fn begin(&mut self, players: [u16; 2]) -> Result<Answer, Refusal> {
        let [first, second] = players;
        if first == second {
            return Err(Refusal::SamePlayer);
        }
        self.is_free(first)?;
        self.is_free(second)?;
        Ok(self.start(players))
    }

    fn start(&mut self, players: [u16; 2]) -> Answer {
        self.last += 1;
        let state = State::new(self.last, players);
        for player in players {
            self.waits(player, Doing::Playing(state.number));
        }
        self.matches.insert(state.number, state);
        Answer::Begun(state)
    }

    fn act(&mut self, number: u64, player: u16, deed: Deed) -> Result<Change, Refusal> {
        let found = self.matches.get(&number).ok_or(Refusal::NoSuchMatch)?;
        if !found.has(player) {
            return Err(Refusal::NotSeated);
        }
        if found.ending.is_some() {
            return Err(Refusal::Over(*found));
        }
        let mut state = *found;
        let other = state.other(player);
        match deed {
            Deed::Move { ply, cell, claim } => {
                may_move(&state, player, (ply, cell, claim))?;
                state.play(cell);
                self.moves += 1;
            }
            Deed::Resign => state.end(Ending::Resigned, Some(other)),
            Deed::Abort if state.ply >= 2 => return Err(Refusal::TooLate),
            Deed::Abort => state.end(Ending::Aborted, None),
            Deed::Offer if state.offer == Some(player) => return Err(Refusal::OfferStands),
            Deed::Offer if state.offer.is_none() => state.offer(Some(player)),
            Deed::Accept | Deed::Decline if state.offer != Some(other) => {
                return Err(Refusal::NoOffer);
            }
            Deed::Offer | Deed::Accept => state.end(Ending::Agreed, None),
            Deed::Decline => state.offer(None),
        }
        self.matches.insert(number, state);
        if state.ending.is_some() {
            self.finish(&state);
        }
        Ok(state.change())
    }

    /// Both are free, and what counts is counted once.
    fn finish(&mut self, state: &State) {
        let counts = state.ending != Some(Ending::Aborted);
        self.results += u64::from(counts);
        for number in state.players {
            let player = self.player_mut(number);
            player.doing = Doing::Nothing;
            if counts {
                player.tally.played += 1;
                *match state.winner {
                    None => &mut player.tally.drawn,
                    Some(winner) if winner == number => &mut player.tally.won,
                    Some(_) => &mut player.tally.lost,
                } += 1;
            }
        }
        self.over.push_back(state.number);
        if self.over.len() > OVER_MAX
            && let Some(oldest) = self.over.pop_front()
        {
            self.matches.remove(&oldest);
        }
    }
}

fn may_move(
    state: &State,
    player: u16,
    (ply, cell, claim): (u16, u8, Option<Claim>),
) -> Result<(), Refusal> {
    if ply != state.ply {
        return Err(Refusal::Stale(*state));
    }
    if state.to_move != Some(player) {
        return Err(Refusal::NotYourTurn(*state));
    }
    if cell == 0 || usize::from(cell) > CELLS {
        return Err(Refusal::NoSuchCell);
    }
    if !state.board.is_free(cell) {
        return Err(Refusal::Taken);
    }
    if claim.is_some_and(|claim| claim != state.claim_of(cell)) {
        return Err(Refusal::FalseClaim);
    }
    Ok(())
}

impl Model for Club {
    type Operation = Operation;

    fn apply(&mut self, _position: u64, operation: &Operation) -> Result<(), String> {
        let Operation { ask, answer } = operation;
        self.clouded |= answer.shows_clock();
        if self.clouded {
            return Ok(());
        }
        if ask.is_reading() {
            return Err(format!("{ask:?} has a position"));
        }
        let replayed = self.answer(ask);
        if replayed == *answer {
            return Ok(());
        }
        let meaning = words::meaning(answer, &replayed);
        Err(format!(
            "{ask:?} was answered {answer:?}, by the replay it is {replayed:?}: {meaning}"
        ))
    }

    fn agrees(&self, reading: &Operation) -> bool {
        let Operation { ask, answer } = reading;
        self.clouded || answer.shows_clock() || self.look(ask) == *answer
    }

    fn shown(&self, reading: &Operation) -> String {
        format!("it was {:?}", self.look(&reading.ask))
    }

    fn suspect(&mut self, _operation: &Operation) {
        self.clouded = true;
    }
}
