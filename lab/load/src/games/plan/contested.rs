//! What a steward asks next, by what it knows of a player.

use turnstile_check::games::{
    ClubAnswer, ClubRefusal, ClubRequest, GameKind, MatchDeed, MatchState, MoveClaim,
    PlayerActivity,
};

use super::StewardPlan;
use crate::seed::Dice;

/// Players challenge others of their own circle only, so that two often name each other.
pub(crate) const CIRCLE: u16 = 4;

/// Of so many circles one seeks anybody instead. Its matches end by draws or are aborted: so all who
/// seek stay equally good, and any two are matched at once.
const SEEKERS_ONE_IN: u16 = 3;

/// How many requests a steward has for a player before it turns to another: at least, and so many more
/// by chance.
const STAYS: u64 = 6;

/// A player whom a steward acts for, then another.
#[derive(Debug)]
pub(crate) struct ContestedPlay {
    dice: Dice,
    players: u16,
    /// The number of the last match before the run.
    before: u64,
    player: u16,
    /// For so many requests more.
    left: u64,
    known: KnownActivity,
    /// A match that was over when it was last heard of.
    past: Option<MatchState>,
}

/// What is known of the player. Others act for the same one, so it may be old.
#[derive(Clone, Copy, Debug)]
enum KnownActivity {
    Nothing,
    Idle,
    Challenging(u16, GameKind),
    Seeking(GameKind),
    Playing(MatchState),
}

impl ContestedPlay {
    /// For so many players, whose first match comes behind this one.
    pub(crate) const fn new(dice: Dice, players: u16, before: u64) -> Self {
        Self {
            dice,
            players,
            before,
            player: 0,
            left: 0,
            known: KnownActivity::Nothing,
            past: None,
        }
    }

    fn below(&mut self, bound: u16) -> u16 {
        let number = self.dice.below(u64::from(bound));
        u16::try_from(number).expect("it is below the bound")
    }

    fn one_of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        let bound = u64::try_from(N).expect("choices are few");
        let chosen = usize::try_from(self.dice.below(bound)).expect("choices are few");
        choices[chosen]
    }

    const fn seeks(player: u16) -> bool {
        (player / CIRCLE).is_multiple_of(SEEKERS_ONE_IN)
    }

    /// Another of the player's circle.
    fn mate(&mut self) -> u16 {
        let first = self.player / CIRCLE * CIRCLE;
        first + (self.player - first + 1 + self.below(CIRCLE - 1)) % CIRCLE
    }

    /// What to ask next.
    fn next(&mut self) -> ClubRequest {
        if self.left == 0 {
            self.left = STAYS + self.dice.below(STAYS);
            self.player = self.below(self.players);
            self.known = KnownActivity::Nothing;
        }
        self.left -= 1;
        let throw = self.dice.below(100);
        if throw < 3 {
            let player = self.below(self.players);
            return ClubRequest::Standing { player };
        }
        if throw < 6 {
            let (player, opponent) = (self.player, self.mate());
            return ClubRequest::Against { player, opponent };
        }
        if throw < 10
            && let Some(past) = self.past
        {
            return self.disturb(&past);
        }
        let player = self.player;
        match self.known {
            KnownActivity::Nothing => ClubRequest::Player { player },
            KnownActivity::Idle if Self::seeks(player) => self.seek(),
            KnownActivity::Idle => self.look_for_somebody(),
            KnownActivity::Challenging(opponent, game) => self.wait_for(opponent, game),
            KnownActivity::Seeking(game) => self.wait(game),
            KnownActivity::Playing(state) => self.play(&state),
        }
    }

    /// Something in a match that is over, or a look at that or at an older one, which may be forgotten.
    fn disturb(&mut self, past: &MatchState) -> ClubRequest {
        let (number, player) = (past.number, self.one_of(past.players));
        let claim = None;
        let (ply, choice) = (past.ply, 1);
        let step = MatchDeed::Move { ply, choice, claim };
        let deed = self.one_of([step, MatchDeed::Resign, MatchDeed::Offer]);
        let disturbs = ClubRequest::Act {
            number,
            player,
            deed,
        };
        let since = number.saturating_sub(self.before).max(1);
        let older = self.before + 1 + self.dice.below(since);
        self.one_of([
            disturbs,
            ClubRequest::Match { number },
            ClubRequest::Match { number: older },
        ])
    }

    fn seek(&mut self) -> ClubRequest {
        let (game, player, mate) = (self.one_of(GameKind::ALL), self.player, self.mate());
        match self.dice.below(100) {
            0..70 => ClubRequest::Seek { game, player },
            70..90 => ClubRequest::Seek { game, player: mate },
            _ => ClubRequest::Withdraw { player },
        }
    }

    fn look_for_somebody(&mut self) -> ClubRequest {
        let (game, player, mate) = (self.one_of(GameKind::ALL), self.player, self.mate());
        let (player, opponent) = match self.dice.below(100) {
            0..45 => (player, mate),
            45..70 => (mate, player),
            70..90 => {
                let players = [player, mate];
                return ClubRequest::Begin { game, players };
            }
            90..95 => return ClubRequest::Withdraw { player },
            _ => (player, player),
        };
        ClubRequest::Challenge {
            game,
            player,
            opponent,
        }
    }

    /// The challenged one accepts, perhaps by another game, which accepts nothing.
    fn wait_for(&mut self, opponent: u16, game: GameKind) -> ClubRequest {
        let (player, mate) = (self.player, self.mate());
        let (game, player, opponent) = match self.dice.below(100) {
            0..60 => (game, opponent, player),
            60..66 => (self.one_of(GameKind::ALL), opponent, player),
            66..74 => (game, player, mate),
            74..82 => {
                let players = [mate, player];
                return ClubRequest::Begin { game, players };
            }
            82..92 => return ClubRequest::Withdraw { player },
            _ => return ClubRequest::Player { player },
        };
        ClubRequest::Challenge {
            game,
            player,
            opponent,
        }
    }

    fn wait(&mut self, game: GameKind) -> ClubRequest {
        let (player, mate) = (self.player, self.mate());
        match self.dice.below(100) {
            0..60 => ClubRequest::Seek { game, player: mate },
            60..75 => ClubRequest::Seek { game, player },
            75..90 => ClubRequest::Withdraw { player },
            _ => ClubRequest::Player { player },
        }
    }

    fn play(&mut self, state: &MatchState) -> ClubRequest {
        // More moves are needed on large boards until somebody has won.
        if state.board.game() != GameKind::TicTacToe && self.dice.below(3) > 0 {
            return self.step(state);
        }
        let number = state.number;
        let either = self.one_of(state.players);
        let (player, deed) = match self.dice.below(100) {
            0..76 => return self.step(state),
            76..82 => (either, MatchDeed::Offer),
            82..88 => (either, MatchDeed::Accept),
            88..90 => (either, MatchDeed::Decline),
            90..93 if !Self::seeks(self.player) => (either, MatchDeed::Resign),
            93..95 => (either, MatchDeed::Abort),
            95..97 => (self.below(self.players), MatchDeed::Decline),
            _ => return ClubRequest::Match { number },
        };
        ClubRequest::Act {
            number,
            player,
            deed,
        }
    }

    /// A move, most often one that is allowed.
    fn step(&mut self, state: &MatchState) -> ClubRequest {
        let number = state.number;
        let mover = state.to_move.unwrap_or(self.player);
        let other = state.other(mover);
        let Some(choice) = self.choice(state) else {
            // Whatever is left wins, which must not be.
            let player = self.one_of([mover, other]);
            let deed = MatchDeed::Offer;
            return ClubRequest::Act {
                number,
                player,
                deed,
            };
        };
        let (ply, right) = (state.ply, state.claim_of(choice));
        let wrong = match right {
            MoveClaim::Ordinary => MoveClaim::Wins,
            MoveClaim::Wins => MoveClaim::Fills,
            MoveClaim::Fills => MoveClaim::Ordinary,
        };
        let (player, ply, choice, claim) = match self.dice.below(100) {
            0..50 => (mover, ply, choice, None),
            50..75 => (mover, ply, choice, Some(right)),
            75..80 => (mover, ply, choice, Some(wrong)),
            80..85 => (mover, ply, self.wrong_choice(state), None),
            85..93 => (other, ply, choice, None),
            _ => (mover, ply.checked_sub(1).unwrap_or(3), choice, None),
        };
        let deed = MatchDeed::Move { ply, choice, claim };
        ClubRequest::Act {
            number,
            player,
            deed,
        }
    }

    /// A move that can be made; among those who seek none that wins.
    fn choice(&mut self, state: &MatchState) -> Option<u8> {
        let draws = Self::seeks(self.player);
        let can_be = |choice: &u8| state.board.target(*choice).is_some();
        let fits =
            |choice: &u8| can_be(choice) && !(draws && state.claim_of(*choice) == MoveClaim::Wins);
        let game = state.board.game();
        if game != GameKind::TicTacToe && self.dice.below(8) > 0 {
            let aimed = aimed(state).find(fits);
            if aimed.is_some() {
                return aimed;
            }
        }
        let count = choices(game).filter(can_be).count();
        let chosen =
            usize::from(self.below(u16::try_from(count.max(1)).expect("a board is small")));
        let from_there = choices(game).filter(can_be).cycle().skip(chosen);
        from_there.take(count).find(fits)
    }

    /// Where a stone lies, or nowhere.
    fn wrong_choice(&mut self, state: &MatchState) -> u8 {
        let game = state.board.game();
        let taken = choices(game).find(|choice| state.board.target(*choice).is_none());
        let beyond = self.one_of([0, game.choices() + 1]);
        self.one_of([taken.unwrap_or(beyond), beyond])
    }

    fn learn_state(&mut self, state: &MatchState) {
        let is_known =
            matches!(self.known, KnownActivity::Playing(known) if known.number == state.number);
        if state.ending.is_some() {
            self.past = Some(*state);
            if is_known {
                self.known = KnownActivity::Idle;
            }
        } else if state.has(self.player) {
            self.known = KnownActivity::Playing(*state);
        }
    }
}

impl StewardPlan for ContestedPlay {
    const OPERATIONS: &'static [&'static str] = &[
        "challenge",
        "seek",
        "withdraw",
        "begin",
        "move",
        "resign",
        "abort",
        "draw",
        "look",
    ];

    fn operation(ask: &ClubRequest) -> usize {
        match ask {
            ClubRequest::Challenge { .. } => 0,
            ClubRequest::Seek { .. } => 1,
            ClubRequest::Withdraw { .. } => 2,
            ClubRequest::Begin { .. } => 3,
            ClubRequest::Act { deed, .. } => match deed {
                MatchDeed::Move { .. } => 4,
                MatchDeed::Resign => 5,
                MatchDeed::Abort => 6,
                MatchDeed::Offer | MatchDeed::Accept | MatchDeed::Decline => 7,
            },
            ClubRequest::Match { .. }
            | ClubRequest::Player { .. }
            | ClubRequest::Standing { .. }
            | ClubRequest::Against { .. } => 8,
        }
    }

    fn choose(&mut self) -> Option<ClubRequest> {
        Some(self.next())
    }

    /// Takes note of what can be asked for next.
    fn learn(&mut self, ask: &ClubRequest, answer: &ClubAnswer) {
        let own = self.player;
        if let Some(state) = answer.state() {
            return self.learn_state(&state);
        }
        match (*ask, *answer) {
            (ClubRequest::Player { player }, ClubAnswer::Player(activity)) if player == own => {
                self.known = match activity {
                    None | Some(PlayerActivity::Idle) => KnownActivity::Idle,
                    Some(PlayerActivity::Challenging(opponent, game)) => {
                        KnownActivity::Challenging(opponent, game)
                    }
                    Some(PlayerActivity::Seeking(game)) => KnownActivity::Seeking(game),
                    Some(PlayerActivity::Playing(state)) => KnownActivity::Playing(state),
                };
            }
            (
                ClubRequest::Challenge {
                    game,
                    player,
                    opponent,
                },
                ClubAnswer::Challenged,
            ) if player == own => self.known = KnownActivity::Challenging(opponent, game),
            (ClubRequest::Seek { player, .. }, ClubAnswer::Seeking(game)) if player == own => {
                self.known = KnownActivity::Seeking(game);
            }
            (ClubRequest::Withdraw { player }, ClubAnswer::Withdrawn) if player == own => {
                self.known = KnownActivity::Idle;
            }
            (ClubRequest::Act { deed, .. }, ClubAnswer::Acted(change)) => {
                let KnownActivity::Playing(mut state) = self.known else {
                    return;
                };
                if state.number != change.number {
                    return;
                }
                match deed {
                    MatchDeed::Move { ply, choice, .. } if ply == state.ply => state.play(choice),
                    _ => {}
                }
                // What else has changed meanwhile, a look tells.
                self.known = KnownActivity::Nothing;
                if state.change() == change || change.ending.is_some() {
                    state.ending = change.ending;
                    self.learn_state(&state);
                }
            }
            (
                _,
                ClubAnswer::Refused(
                    ClubRefusal::Playing { player, .. } | ClubRefusal::Waiting { player },
                ),
            ) if player == own => {
                self.known = KnownActivity::Nothing;
            }
            _ => {}
        }
    }
}

fn choices(game: GameKind) -> impl Iterator<Item = u8> + Clone {
    1..=game.choices()
}

/// Moves along a line of one's own, so that matches are won on large boards too: in connect four a column
/// or, of who moves first, a row, by the number of the match; in gomoku a line of any of the four
/// directions.
fn aimed(state: &MatchState) -> impl Iterator<Item = u8> + use<> {
    let is_first = state.ply.is_multiple_of(2);
    let turn = u8::try_from(state.ply / 2 % 4).expect("it is below 4");
    let way = u8::try_from(state.number % 4).expect("it is below 4");
    let (start, step) = match (state.board.game(), is_first) {
        (GameKind::TicTacToe, _) => (1, 1),
        (GameKind::ConnectFour, true) if way < 2 => (1 + turn, 0),
        (GameKind::ConnectFour, true) => (3, 0),
        (GameKind::ConnectFour, false) => (6, 0),
        (game, true) => (GOMOKU_STARTS[0], steps(game)[usize::from(way)]),
        (game, false) => (GOMOKU_STARTS[1], steps(game)[usize::from(way)]),
    };
    (0..5).map(move |place| start + place * step)
}

/// Cells of which the five that follow in each direction are on the board, and apart from each other.
const GOMOKU_STARTS: [u8; 2] = [2 * 15 + 7, 9 * 15 + 9];

/// From a cell to those beside, below, and below to either side.
const fn steps(game: GameKind) -> [u8; 4] {
    let columns = game.columns();
    [1, columns, columns + 1, columns - 1]
}
