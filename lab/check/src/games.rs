//! Games in their plainest form: who waits for whom, three boards, and what was won from whom.

mod board;
mod state;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{HashMap, VecDeque};

use crate::Model;

pub use board::{GameKind, WitnessBoard};
pub use state::{MatchChange, MatchEnding, MatchState, MoveClaim};
pub use words::{
    ClubAnswer, ClubOperation, ClubRefusal, ClubRequest, MatchDeed, PlayerActivity, STRANGER,
    ScoreTally, Versus,
};

/// So many matches that are over can still be looked at: the newest.
const OVER_MAX: usize = 16_384;

/// How much there is in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClubTotals {
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
    players: Vec<ClubPlayer>,
    /// What the first has won, lost and drawn against the second, whose number is higher.
    pairs: HashMap<[u16; 2], Versus>,
    matches: HashMap<u64, MatchState>,
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
struct ClubPlayer {
    /// Whether anybody has named this player.
    known: bool,
    doing: Doing,
    tally: ScoreTally,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Challenging(u16, GameKind),
    Seeking(GameKind),
    Playing(u64),
}

impl Club {
    /// So many players who are nobody yet, where the last match had this number.
    #[must_use]
    pub fn new(players: u16, last: u64) -> Self {
        let nobody = ClubPlayer {
            known: false,
            doing: Doing::Nothing,
            tally: ScoreTally::default(),
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
    pub fn totals(&self) -> ClubTotals {
        let count = |number: usize| u64::try_from(number).expect("a count fits 64 bits");
        let seeking = |player: &&ClubPlayer| matches!(player.doing, Doing::Seeking(_));
        ClubTotals {
            begun: self.last - self.first,
            moves: self.moves,
            results: self.results,
            open: count(self.matches.len() - self.over.len()),
            seeking: count(self.players.iter().filter(seeking).count()),
        }
    }

    /// Carries out what was asked, and answers it.
    fn answer(&mut self, ask: &ClubRequest) -> ClubAnswer {
        let outcome = match *ask {
            ClubRequest::Challenge {
                game,
                player,
                opponent,
            } => self.challenge(game, player, opponent),
            ClubRequest::Seek { game, player } => self.seek(game, player),
            ClubRequest::Withdraw { player } => self.withdraw(player),
            ClubRequest::Begin { game, players } => self.begin(game, players),
            ClubRequest::Act {
                number,
                player,
                deed,
            } => self.act(number, player, deed).map(ClubAnswer::Acted),
            ClubRequest::Match { .. }
            | ClubRequest::Player { .. }
            | ClubRequest::Standing { .. }
            | ClubRequest::Against { .. } => {
                return self.look(ask);
            }
        };
        outcome.unwrap_or_else(ClubAnswer::Refused)
    }

    /// What whoever reads sees.
    fn look(&self, ask: &ClubRequest) -> ClubAnswer {
        match *ask {
            ClubRequest::Match { number } => ClubAnswer::Match(self.matches.get(&number).copied()),
            ClubRequest::Player { player } => {
                let player = self.player(player);
                let activity = match player.doing {
                    Doing::Nothing => PlayerActivity::Idle,
                    Doing::Challenging(opponent, game) => {
                        PlayerActivity::Challenging(opponent, game)
                    }
                    Doing::Seeking(game) => PlayerActivity::Seeking(game),
                    Doing::Playing(number) => PlayerActivity::Playing(self.matches[&number]),
                };
                ClubAnswer::Player(player.known.then_some(activity))
            }
            ClubRequest::Standing { player } => {
                let tally = self.player(player).tally;
                ClubAnswer::Standing((tally.played > 0).then_some(tally))
            }
            ClubRequest::Against { player, opponent } => {
                ClubAnswer::Against(self.against(player, opponent))
            }
            _ => ClubAnswer::Unknown,
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

    fn player(&self, player: u16) -> &ClubPlayer {
        &self.players[usize::from(player)]
    }

    fn player_mut(&mut self, player: u16) -> &mut ClubPlayer {
        &mut self.players[usize::from(player)]
    }

    fn waits(&mut self, player: u16, doing: Doing) {
        let player = self.player_mut(player);
        player.known = true;
        player.doing = doing;
    }

    /// Nobody does two things at once.
    fn is_free(&self, player: u16) -> Result<(), ClubRefusal> {
        match self.player(player).doing {
            Doing::Nothing => Ok(()),
            Doing::Challenging(..) | Doing::Seeking(_) => Err(ClubRefusal::Waiting { player }),
            Doing::Playing(number) => Err(ClubRefusal::Playing { player, number }),
        }
    }

    fn challenge(
        &mut self,
        game: GameKind,
        player: u16,
        opponent: u16,
    ) -> Result<ClubAnswer, ClubRefusal> {
        if player == opponent {
            return Err(ClubRefusal::SamePlayer);
        }
        if self.player(player).doing == Doing::Challenging(opponent, game) {
            return Ok(ClubAnswer::Challenged);
        }
        self.is_free(player)?;
        if self.player(opponent).doing == Doing::Challenging(player, game) {
            return Ok(self.start(game, [opponent, player]));
        }
        self.player_mut(opponent).known = true;
        self.waits(player, Doing::Challenging(opponent, game));
        Ok(ClubAnswer::Challenged)
    }

    fn seek(&mut self, game: GameKind, player: u16) -> Result<ClubAnswer, ClubRefusal> {
        let mut players = (0..).zip(&self.players);
        let waiting = players.find(|(_, one)| one.doing == Doing::Seeking(game));
        match waiting.map(|(number, _)| number) {
            Some(other) if other == player => Ok(ClubAnswer::Seeking(game)),
            other => {
                self.is_free(player)?;
                let Some(other) = other else {
                    self.waits(player, Doing::Seeking(game));
                    return Ok(ClubAnswer::Seeking(game));
                };
                Ok(self.start(game, [other, player]))
            }
        }
    }

    fn withdraw(&mut self, player: u16) -> Result<ClubAnswer, ClubRefusal> {
        match self.player(player).doing {
            Doing::Nothing | Doing::Playing(_) => Err(ClubRefusal::NotWaiting),
            Doing::Challenging(..) | Doing::Seeking(_) => {
                self.player_mut(player).doing = Doing::Nothing;
                Ok(ClubAnswer::Withdrawn)
            }
        }
    }

    fn begin(&mut self, game: GameKind, players: [u16; 2]) -> Result<ClubAnswer, ClubRefusal> {
        let [first, second] = players;
        if first == second {
            return Err(ClubRefusal::SamePlayer);
        }
        self.is_free(first)?;
        self.is_free(second)?;
        Ok(self.start(game, players))
    }

    fn start(&mut self, game: GameKind, players: [u16; 2]) -> ClubAnswer {
        self.last += 1;
        let state = MatchState::new(self.last, game, players);
        for player in players {
            self.waits(player, Doing::Playing(state.number));
        }
        self.matches.insert(state.number, state);
        ClubAnswer::Begun(state)
    }

    fn act(
        &mut self,
        number: u64,
        player: u16,
        deed: MatchDeed,
    ) -> Result<MatchChange, ClubRefusal> {
        let found = self.matches.get(&number).ok_or(ClubRefusal::NoSuchMatch)?;
        if !found.has(player) {
            return Err(ClubRefusal::NotSeated);
        }
        if found.ending.is_some() {
            return Err(ClubRefusal::Over(*found));
        }
        let mut state = *found;
        let other = state.other(player);
        match deed {
            MatchDeed::Move { ply, choice, claim } => {
                may_move(&state, player, (ply, choice, claim))?;
                state.play(choice);
                self.moves += 1;
            }
            MatchDeed::Resign => state.end(MatchEnding::Resigned, Some(other)),
            MatchDeed::Abort if state.ply >= 2 => return Err(ClubRefusal::TooLate),
            MatchDeed::Abort => state.end(MatchEnding::Aborted, None),
            MatchDeed::Offer if state.offer == Some(player) => {
                return Err(ClubRefusal::OfferStands);
            }
            MatchDeed::Offer if state.offer.is_none() => state.offer(Some(player)),
            MatchDeed::Accept | MatchDeed::Decline if state.offer != Some(other) => {
                return Err(ClubRefusal::NoOffer);
            }
            MatchDeed::Offer | MatchDeed::Accept => state.end(MatchEnding::Agreed, None),
            MatchDeed::Decline => state.offer(None),
        }
        self.matches.insert(number, state);
        if state.ending.is_some() {
            self.finish(&state);
        }
        Ok(state.change())
    }

    /// Both are free, and what counts is counted once.
    fn finish(&mut self, state: &MatchState) {
        let counts = state.ending != Some(MatchEnding::Aborted);
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

    fn count_pair(&mut self, state: &MatchState) {
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
    state: &MatchState,
    player: u16,
    (ply, choice, claim): (u16, u8, Option<MoveClaim>),
) -> Result<(), ClubRefusal> {
    if ply != state.ply {
        return Err(ClubRefusal::Stale(*state));
    }
    if state.to_move != Some(player) {
        return Err(ClubRefusal::NotYourTurn(*state));
    }
    if choice == 0 || choice > state.board.game().choices() {
        return Err(ClubRefusal::NoSuchCell);
    }
    if state.board.target(choice).is_none() {
        return Err(ClubRefusal::Taken);
    }
    if claim.is_some_and(|claim| claim != state.claim_of(choice)) {
        return Err(ClubRefusal::FalseClaim);
    }
    Ok(())
}

impl Model for Club {
    type Operation = ClubOperation;

    fn apply(&mut self, _position: u64, operation: &ClubOperation) -> Result<(), String> {
        let ClubOperation { ask, answer } = operation;
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

    fn agrees(&self, reading: &ClubOperation) -> bool {
        let ClubOperation { ask, answer } = reading;
        self.clouded || answer.shows_clock() || self.look(ask) == *answer
    }

    fn shown(&self, reading: &ClubOperation) -> String {
        format!("it was {:?}", self.look(&reading.ask))
    }

    fn suspect(&mut self, _operation: &ClubOperation) {
        self.clouded = true;
    }
}
