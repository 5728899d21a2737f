//! What a steward asks next, by what it knows of a player.

use turnstile_check::games::{Activity, Answer, Ask, Claim, Deed, Game, Refusal, State};

use crate::seed::Dice;

/// Players challenge others of their own circle only, so that two often name each other.
pub(super) const CIRCLE: u16 = 4;

/// Of so many circles one seeks anybody instead. Its matches end by draws or are aborted: so all who
/// seek stay equally good, and any two are matched at once.
const SEEKERS_ONE_IN: u16 = 3;

/// How many requests a steward has for a player before it turns to another: at least, and so many more
/// by chance.
const STAYS: u64 = 6;

/// A player whom a steward acts for, then another.
#[derive(Debug)]
pub(super) struct Plan {
    dice: Dice,
    players: u16,
    /// The number of the last match before the run.
    before: u64,
    player: u16,
    /// For so many requests more.
    left: u64,
    known: Known,
    /// A match that was over when it was last heard of.
    past: Option<State>,
}

/// What is known of the player. Others act for the same one, so it may be old.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    Idle,
    Challenging(u16, Game),
    Seeking(Game),
    Playing(State),
}

impl Plan {
    /// For so many players, whose first match comes behind this one.
    pub(super) const fn new(dice: Dice, players: u16, before: u64) -> Self {
        Self {
            dice,
            players,
            before,
            player: 0,
            left: 0,
            known: Known::Nothing,
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
    pub(super) fn next(&mut self) -> Ask {
        if self.left == 0 {
            self.left = STAYS + self.dice.below(STAYS);
            self.player = self.below(self.players);
            self.known = Known::Nothing;
        }
        self.left -= 1;
        let throw = self.dice.below(100);
        if throw < 3 {
            let player = self.below(self.players);
            return Ask::Standing { player };
        }
        if throw < 6 {
            let (player, opponent) = (self.player, self.mate());
            return Ask::Against { player, opponent };
        }
        if throw < 10
            && let Some(past) = self.past
        {
            return self.disturb(&past);
        }
        let player = self.player;
        match self.known {
            Known::Nothing => Ask::Player { player },
            Known::Idle if Self::seeks(player) => self.seek(),
            Known::Idle => self.look_for_somebody(),
            Known::Challenging(opponent, game) => self.wait_for(opponent, game),
            Known::Seeking(game) => self.wait(game),
            Known::Playing(state) => self.play(&state),
        }
    }

    /// Something in a match that is over, or a look at that or at an older one, which may be forgotten.
    fn disturb(&mut self, past: &State) -> Ask {
        let (number, player) = (past.number, self.one_of(past.players));
        let claim = None;
        let (ply, choice) = (past.ply, 1);
        let step = Deed::Move { ply, choice, claim };
        let deed = self.one_of([step, Deed::Resign, Deed::Offer]);
        let disturbs = Ask::Act {
            number,
            player,
            deed,
        };
        let since = number.saturating_sub(self.before).max(1);
        let older = self.before + 1 + self.dice.below(since);
        self.one_of([
            disturbs,
            Ask::Match { number },
            Ask::Match { number: older },
        ])
    }

    fn seek(&mut self) -> Ask {
        let (game, player, mate) = (self.one_of(Game::ALL), self.player, self.mate());
        match self.dice.below(100) {
            0..70 => Ask::Seek { game, player },
            70..90 => Ask::Seek { game, player: mate },
            _ => Ask::Withdraw { player },
        }
    }

    fn look_for_somebody(&mut self) -> Ask {
        let (game, player, mate) = (self.one_of(Game::ALL), self.player, self.mate());
        let (player, opponent) = match self.dice.below(100) {
            0..45 => (player, mate),
            45..70 => (mate, player),
            70..90 => {
                let players = [player, mate];
                return Ask::Begin { game, players };
            }
            90..95 => return Ask::Withdraw { player },
            _ => (player, player),
        };
        Ask::Challenge {
            game,
            player,
            opponent,
        }
    }

    /// The challenged one accepts, perhaps by another game, which accepts nothing.
    fn wait_for(&mut self, opponent: u16, game: Game) -> Ask {
        let (player, mate) = (self.player, self.mate());
        let (game, player, opponent) = match self.dice.below(100) {
            0..60 => (game, opponent, player),
            60..66 => (self.one_of(Game::ALL), opponent, player),
            66..74 => (game, player, mate),
            74..82 => {
                let players = [mate, player];
                return Ask::Begin { game, players };
            }
            82..92 => return Ask::Withdraw { player },
            _ => return Ask::Player { player },
        };
        Ask::Challenge {
            game,
            player,
            opponent,
        }
    }

    fn wait(&mut self, game: Game) -> Ask {
        let (player, mate) = (self.player, self.mate());
        match self.dice.below(100) {
            0..60 => Ask::Seek { game, player: mate },
            60..75 => Ask::Seek { game, player },
            75..90 => Ask::Withdraw { player },
            _ => Ask::Player { player },
        }
    }

    fn play(&mut self, state: &State) -> Ask {
        // More moves are needed on large boards until somebody has won.
        if state.board.game() != Game::TicTacToe && self.dice.below(3) > 0 {
            return self.step(state);
        }
        let number = state.number;
        let either = self.one_of(state.players);
        let (player, deed) = match self.dice.below(100) {
            0..76 => return self.step(state),
            76..82 => (either, Deed::Offer),
            82..88 => (either, Deed::Accept),
            88..90 => (either, Deed::Decline),
            90..93 if !Self::seeks(self.player) => (either, Deed::Resign),
            93..95 => (either, Deed::Abort),
            95..97 => (self.below(self.players), Deed::Decline),
            _ => return Ask::Match { number },
        };
        Ask::Act {
            number,
            player,
            deed,
        }
    }

    /// A move, most often one that is allowed.
    fn step(&mut self, state: &State) -> Ask {
        let number = state.number;
        let mover = state.to_move.unwrap_or(self.player);
        let other = state.other(mover);
        let Some(choice) = self.choice(state) else {
            // Whatever is left wins, which must not be.
            let player = self.one_of([mover, other]);
            let deed = Deed::Offer;
            return Ask::Act {
                number,
                player,
                deed,
            };
        };
        let (ply, right) = (state.ply, state.claim_of(choice));
        let wrong = match right {
            Claim::Ordinary => Claim::Wins,
            Claim::Wins => Claim::Fills,
            Claim::Fills => Claim::Ordinary,
        };
        let (player, ply, choice, claim) = match self.dice.below(100) {
            0..50 => (mover, ply, choice, None),
            50..75 => (mover, ply, choice, Some(right)),
            75..80 => (mover, ply, choice, Some(wrong)),
            80..85 => (mover, ply, self.wrong_choice(state), None),
            85..93 => (other, ply, choice, None),
            _ => (mover, ply.checked_sub(1).unwrap_or(3), choice, None),
        };
        let deed = Deed::Move { ply, choice, claim };
        Ask::Act {
            number,
            player,
            deed,
        }
    }

    /// A move that can be made; among those who seek none that wins.
    fn choice(&mut self, state: &State) -> Option<u8> {
        let draws = Self::seeks(self.player);
        let can_be = |choice: &u8| state.board.target(*choice).is_some();
        let fits =
            |choice: &u8| can_be(choice) && !(draws && state.claim_of(*choice) == Claim::Wins);
        let game = state.board.game();
        if game != Game::TicTacToe && self.dice.below(8) > 0 {
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
    fn wrong_choice(&mut self, state: &State) -> u8 {
        let game = state.board.game();
        let taken = choices(game).find(|choice| state.board.target(*choice).is_none());
        let beyond = self.one_of([0, game.choices() + 1]);
        self.one_of([taken.unwrap_or(beyond), beyond])
    }

    /// Takes note of what can be asked for next.
    pub(super) fn learn(&mut self, ask: &Ask, answer: &Answer) {
        let own = self.player;
        if let Some(state) = answer.state() {
            return self.learn_state(&state);
        }
        match (*ask, *answer) {
            (Ask::Player { player }, Answer::Player(activity)) if player == own => {
                self.known = match activity {
                    None | Some(Activity::Idle) => Known::Idle,
                    Some(Activity::Challenging(opponent, game)) => {
                        Known::Challenging(opponent, game)
                    }
                    Some(Activity::Seeking(game)) => Known::Seeking(game),
                    Some(Activity::Playing(state)) => Known::Playing(state),
                };
            }
            (
                Ask::Challenge {
                    game,
                    player,
                    opponent,
                },
                Answer::Challenged,
            ) if player == own => self.known = Known::Challenging(opponent, game),
            (Ask::Seek { player, .. }, Answer::Seeking(game)) if player == own => {
                self.known = Known::Seeking(game);
            }
            (Ask::Withdraw { player }, Answer::Withdrawn) if player == own => {
                self.known = Known::Idle;
            }
            (Ask::Act { deed, .. }, Answer::Acted(change)) => {
                let Known::Playing(mut state) = self.known else {
                    return;
                };
                if state.number != change.number {
                    return;
                }
                match deed {
                    Deed::Move { ply, choice, .. } if ply == state.ply => state.play(choice),
                    _ => {}
                }
                // What else has changed meanwhile, a look tells.
                self.known = Known::Nothing;
                if state.change() == change || change.ending.is_some() {
                    state.ending = change.ending;
                    self.learn_state(&state);
                }
            }
            (_, Answer::Refused(Refusal::Playing { player, .. } | Refusal::Waiting { player }))
                if player == own =>
            {
                self.known = Known::Nothing;
            }
            _ => {}
        }
    }

    fn learn_state(&mut self, state: &State) {
        let is_known = matches!(self.known, Known::Playing(known) if known.number == state.number);
        if state.ending.is_some() {
            self.past = Some(*state);
            if is_known {
                self.known = Known::Idle;
            }
        } else if state.has(self.player) {
            self.known = Known::Playing(*state);
        }
    }
}

fn choices(game: Game) -> impl Iterator<Item = u8> + Clone {
    1..=game.choices()
}

/// Moves along a line of one's own, so that matches are won on large boards too: in connect four a column
/// or, of who moves first, a row, by the number of the match; in gomoku a line of any of the four
/// directions.
fn aimed(state: &State) -> impl Iterator<Item = u8> + use<> {
    let is_first = state.ply.is_multiple_of(2);
    let turn = u8::try_from(state.ply / 2 % 4).expect("it is below 4");
    let way = u8::try_from(state.number % 4).expect("it is below 4");
    let (start, step) = match (state.board.game(), is_first) {
        (Game::TicTacToe, _) => (1, 1),
        (Game::ConnectFour, true) if way < 2 => (1 + turn, 0),
        (Game::ConnectFour, true) => (3, 0),
        (Game::ConnectFour, false) => (6, 0),
        (game, true) => (GOMOKU_STARTS[0], steps(game)[usize::from(way)]),
        (game, false) => (GOMOKU_STARTS[1], steps(game)[usize::from(way)]),
    };
    (0..5).map(move |place| start + place * step)
}

/// Cells of which the five that follow in each direction are on the board, and apart from each other.
const GOMOKU_STARTS: [u8; 2] = [2 * 15 + 7, 9 * 15 + 9];

/// From a cell to those beside, below, and below to either side.
const fn steps(game: Game) -> [u8; 4] {
    let columns = game.columns();
    [1, columns, columns + 1, columns - 1]
}
