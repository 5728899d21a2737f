//! What games cost without a disk: `rate [PLAYERS]`.
//!
//! Prints nanoseconds for each of the ancestor's games (begin, seven moves, counted at the end)
//! among so many players (2,000), played in pairs beside each other, each command read from its
//! bytes; and for each move of gomoku alone, and each result alone.

use std::{hint::black_box, time::Instant};

use turnstile_games::{Command, Deed, Game, Games, MatchId, PlayerId, Verdict};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp, apply_command};

const ROUNDS: u32 = 100;

struct RatedArena {
    games: Games,
    position: u64,
    principal: Principal,
    bytes: Vec<u8>,
}

impl RatedArena {
    fn new() -> Self {
        Self {
            games: Games::empty(),
            position: 0,
            principal: Principal::local(),
            bytes: Vec::new(),
        }
    }

    fn apply(&mut self, command: &Command) {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(self.position / 1_000),
            principal: &self.principal,
        };
        self.bytes.clear();
        Games::encode_command(command, &mut self.bytes);
        let command = Games::decode_command(&self.bytes).expect("it was just written");
        apply_command(&mut self.games, &context, &command, None);
        self.games.drain_events(&mut |event| {
            black_box(&event);
        });
    }

    /// All pairs begin, and move in turns.
    fn play(&mut self, game: Game, pairs: &[[PlayerId; 2]], choices: &[u8]) {
        let first = self.games.totals().begun + 1;
        for &players in pairs {
            self.apply(&Command::Begin { game, players });
        }
        for (ply, &choice) in (0_u16..).zip(choices) {
            for (id, players) in (first..).zip(pairs) {
                let [even, odd] = players;
                self.apply(&Command::Act {
                    match_id: MatchId(id),
                    player: if ply % 2 == 0 { *even } else { *odd },
                    deed: Deed::Move {
                        ply,
                        choice,
                        claim: None,
                    },
                });
            }
        }
    }
}

/// Pairs of neighbours, and others in each round.
fn pairs(players: &[PlayerId], round: u32) -> Vec<[PlayerId; 2]> {
    let half = players.len() / 2;
    let (left, right) = players.split_at(half);
    let turn = round as usize % half;
    let right = right.iter().cycle().skip(turn);
    left.iter()
        .zip(right)
        .map(|(&one, &other)| [one, other])
        .collect()
}

#[expect(clippy::print_stdout, reason = "it prints what it measures")]
fn tell(what: &str, count: u64, begun: Instant) {
    let ns = begun.elapsed().as_nanos() / u128::from(count.max(1));
    println!("{what}: {ns} ns");
}

#[expect(
    clippy::disallowed_methods,
    reason = "it measures how long things take"
)]
fn main() {
    let argument = std::env::args().nth(1);
    let count: u32 = argument.map_or(2_000, |text| text.parse().expect("a number of players"));
    let name = |number: u32| number.to_string();
    let players: Vec<PlayerId> = (1..=count)
        .map(|number| PlayerId::parse(name(number).as_bytes()).expect("digits are a name"))
        .collect();

    let mut hall = RatedArena::new();
    hall.play(Game::TicTacToe, &pairs(&players, 0), &[1, 2, 3, 4, 5, 6, 7]);
    let begun = Instant::now();
    for round in 0..ROUNDS {
        hall.play(
            Game::TicTacToe,
            &pairs(&players, round),
            &[1, 2, 3, 4, 5, 6, 7],
        );
    }
    tell(
        "a game of seven moves",
        u64::from(ROUNDS) * u64::from(count / 2),
        begun,
    );

    let mut hall = RatedArena::new();
    let choices: Vec<u8> = (0..60).map(|ply| ply / 15 * 30 + ply % 15 + 1).collect();
    let begun = Instant::now();
    hall.play(Game::Gomoku, &pairs(&players, 0), &choices);
    tell("a move of gomoku", u64::from(count / 2) * 60, begun);

    let mut hall = RatedArena::new();
    let begun = Instant::now();
    for round in 0..ROUNDS {
        for players in pairs(&players, round) {
            let verdict = if hall.position.is_multiple_of(3) {
                Verdict::SecondWon
            } else {
                Verdict::FirstWon
            };
            hall.apply(&Command::Report { players, verdict });
        }
    }
    tell("a result", u64::from(ROUNDS) * u64::from(count / 2), begun);
}
