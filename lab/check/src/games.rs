//! Games in their plainest form: who waits for whom, three boards, and what was won from whom.

mod board;
mod state;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{HashMap, VecDeque};

use crate::Model;

pub use board::{Board, Game};
pub use state::{Change, Claim, Ending, State};
pub use words::{Activity, Answer, Ask, Deed, Operation, Refusal, STRANGER, Tally, Versus};

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
/// Bounded: by the players, who play one match each, by the pairs of them that have met, and by as
/// many matches that are over as a server remembers. An operation of unknown outcome *clouds* it: a move that may have been made
/// changes what all later ones get, so from then on nothing is compared any more. Users ask under
/// keys for that reason, and ask again what was not answered. A match that the server's clock has
/// ended clouds it, too: only the server knows when.
#[derive(Debug)]
pub struct Club {
    players: Vec<Player>,
    /// What the first has won, lost and drawn against the second, whose number is higher.
    pairs: HashMap<[u16; 2], Versus>,
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
    Challenging(u16, Game),
    Seeking(Game),
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
            pairs: HashMap::new(),
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
        let seeking = |player: &&Player| matches!(player.doing, Doing::Seeking(_));
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
            Ask::Challenge {
                game,
                player,
                opponent,
            } => self.challenge(game, player, opponent),
            Ask::Seek { game, player } => self.seek(game, player),
            Ask::Withdraw { player } => self.withdraw(player),
            Ask::Begin { game, players } => self.begin(game, players),
            Ask::Act {
                number,
                player,
                deed,
            } => self.act(number, player, deed).map(Answer::Acted),
            Ask::Match { .. } | Ask::Player { .. } | Ask::Standing { .. } | Ask::Against { .. } => {
                return self.look(ask);
            }
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
                    Doing::Challenging(opponent, game) => Activity::Challenging(opponent, game),
                    Doing::Seeking(game) => Activity::Seeking(game),
                    Doing::Playing(number) => Activity::Playing(self.matches[&number]),
                };
                Answer::Player(player.known.then_some(activity))
            }
            Ask::Standing { player } => {
                let tally = self.player(player).tally;
                Answer::Standing((tally.played > 0).then_some(tally))
            }
            Ask::Against { player, opponent } => Answer::Against(self.against(player, opponent)),
            _ => Answer::Unknown,
        }
    }

    fn against(&self, player: u16, opponent: u16) -> Versus {
        let pair = [player.min(opponent), player.max(opponent)];
        let versus = self.pairs.get(&pair).copied().unwrap_or_default();
        if player <= opponent {
            return versus;
        }
        Versus {
            won: versus.lost,
            lost: versus.won,
            drawn: versus.drawn,
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
            Doing::Challenging(..) | Doing::Seeking(_) => Err(Refusal::Waiting { player }),
            Doing::Playing(number) => Err(Refusal::Playing { player, number }),
        }
    }

    fn challenge(&mut self, game: Game, player: u16, opponent: u16) -> Result<Answer, Refusal> {
        if player == opponent {
            return Err(Refusal::SamePlayer);
        }
        if self.player(player).doing == Doing::Challenging(opponent, game) {
            return Ok(Answer::Challenged);
        }
        self.is_free(player)?;
        if self.player(opponent).doing == Doing::Challenging(player, game) {
            return Ok(self.start(game, [opponent, player]));
        }
        self.player_mut(opponent).known = true;
        self.waits(player, Doing::Challenging(opponent, game));
        Ok(Answer::Challenged)
    }

    fn seek(&mut self, game: Game, player: u16) -> Result<Answer, Refusal> {
        let mut players = (0..).zip(&self.players);
        let waiting = players.find(|(_, one)| one.doing == Doing::Seeking(game));
        match waiting.map(|(number, _)| number) {
            Some(other) if other == player => Ok(Answer::Seeking(game)),
            other => {
                self.is_free(player)?;
                let Some(other) = other else {
                    self.waits(player, Doing::Seeking(game));
                    return Ok(Answer::Seeking(game));
                };
                Ok(self.start(game, [other, player]))
            }
        }
    }

    fn withdraw(&mut self, player: u16) -> Result<Answer, Refusal> {
        match self.player(player).doing {
            Doing::Nothing | Doing::Playing(_) => Err(Refusal::NotWaiting),
            Doing::Challenging(..) | Doing::Seeking(_) => {
                self.player_mut(player).doing = Doing::Nothing;
                Ok(Answer::Withdrawn)
            }
        }
    }

    fn begin(&mut self, game: Game, players: [u16; 2]) -> Result<Answer, Refusal> {
        let [first, second] = players;
        if first == second {
            return Err(Refusal::SamePlayer);
        }
        self.is_free(first)?;
        self.is_free(second)?;
        Ok(self.start(game, players))
    }

    fn start(&mut self, game: Game, players: [u16; 2]) -> Answer {
        self.last += 1;
        let state = State::new(self.last, game, players);
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
            Deed::Move { ply, choice, claim } => {
                may_move(&state, player, (ply, choice, claim))?;
                state.play(choice);
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
        if counts {
            self.count_pair(state);
        }
        self.over.push_back(state.number);
        if self.over.len() > OVER_MAX
            && let Some(oldest) = self.over.pop_front()
        {
            self.matches.remove(&oldest);
        }
    }

    fn count_pair(&mut self, state: &State) {
        let [one, other] = state.players;
        let pair = [one.min(other), one.max(other)];
        let versus = self.pairs.entry(pair).or_default();
        *match state.winner {
            None => &mut versus.drawn,
            Some(winner) if winner == pair[0] => &mut versus.won,
            Some(_) => &mut versus.lost,
        } += 1;
    }
}

fn may_move(
    state: &State,
    player: u16,
    (ply, choice, claim): (u16, u8, Option<Claim>),
) -> Result<(), Refusal> {
    if ply != state.ply {
        return Err(Refusal::Stale(*state));
    }
    if state.to_move != Some(player) {
        return Err(Refusal::NotYourTurn(*state));
    }
    if choice == 0 || choice > state.board.game().choices() {
        return Err(Refusal::NoSuchCell);
    }
    if state.board.target(choice).is_none() {
        return Err(Refusal::Taken);
    }
    if claim.is_some_and(|claim| claim != state.claim_of(choice)) {
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
