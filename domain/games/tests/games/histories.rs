//! Random histories through the machine and its naive twin: equal outcomes, events and answers
//! after every step, and a sound state.

use proptest::{collection::vec, option::weighted, prelude::*, sample::select};
use turnstile_games::{
    Answer, Claim, Command, Deed, Game, Games, MatchId, Measure, PlayerId, Query, Recount,
    Settings, Verdict,
};
use turnstile_trial::{bytes_of, context};
use turnstile_types::{Machine, Outcome, Principal, Timestamp};

use crate::{scenery::id, twin::Twin};

const PLAYERS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(Clone, Debug)]
enum Act {
    Do(Command),
    /// A deed in a match that is open, by whoever is to move or by the other.
    InMatch {
        which: usize,
        by_mover: bool,
        deed: Deed,
    },
    Tick,
    /// Until the next deadline.
    Wait,
    Restart,
}

#[derive(Clone, Debug)]
struct Step {
    wait_ms: u64,
    act: Act,
}

fn players() -> impl Strategy<Value = PlayerId> {
    select(PLAYERS.to_vec()).prop_map(id)
}

fn games() -> impl Strategy<Value = Game> {
    prop_oneof![6 => Just(Game::TicTacToe), 2 => Just(Game::ConnectFour), 1 => Just(Game::Gomoku)]
}

fn deeds() -> impl Strategy<Value = Deed> {
    let others = select(vec![
        Deed::Resign,
        Deed::Abort,
        Deed::OfferDraw,
        Deed::OfferDraw,
        Deed::AcceptDraw,
        Deed::DeclineDraw,
        Deed::ClaimWin,
        Deed::ClaimWin,
    ]);
    let claims = select(vec![
        Claim::Ordinary,
        Claim::Ordinary,
        Claim::Wins,
        Claim::Fills,
    ]);
    // The number of a move is made right later, unless it is odd.
    let moves = (weighted(0.05, 0..9_u16), 0..11_u8, weighted(0.2, claims));
    prop_oneof![
        8 => moves.prop_map(|(ply, choice, claim)| Deed::Move {
            ply: ply.unwrap_or(u16::MAX),
            choice,
            claim,
        }),
        2 => others,
    ]
}

fn commands() -> impl Strategy<Value = Command> {
    let verdicts = select(vec![Verdict::FirstWon, Verdict::SecondWon, Verdict::Drawn]);
    let times = || select(vec![0, 1_000, 20_000, 60_000]);
    prop_oneof![
        5 => (players(), players(), games()).prop_map(|(player, opponent, game)| {
            Command::Challenge { player, opponent, game }
        }),
        8 => (players(), games()).prop_map(|(player, game)| Command::Seek { player, game }),
        2 => players().prop_map(|player| Command::Withdraw { player }),
        6 => (games(), players(), players())
            .prop_map(|(game, first, second)| Command::Begin { game, players: [first, second] }),
        3 => players().prop_map(|player| Command::Connect { player }),
        3 => players().prop_map(|player| Command::Disconnect { player }),
        1 => Just(Command::Restarted),
        8 => (players(), players(), verdicts).prop_map(|(first, second, verdict)| {
            Command::Report { players: [first, second], verdict }
        }),
        1 => (times(), times(), times()).prop_map(|(move_ms, grace_ms, claim_ms)| {
            Command::Configure(Settings { move_ms, grace_ms, claim_ms, ..Settings::FIRST })
        }),
        2 => (0..6_u64, players(), deeds()).prop_map(|(number, player, deed)| Command::Act {
            match_id: MatchId(number),
            player,
            deed,
        }),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        12 => commands().prop_map(Act::Do),
        20 => (0..3_usize, weighted(0.9, Just(())), deeds()).prop_map(|(which, mover, deed)| {
            Act::InMatch { which, by_mover: mover.is_some(), deed }
        }),
        1 => Just(Act::Tick),
        2 => Just(Act::Wait),
        1 => Just(Act::Restart),
    ];
    let waits = prop_oneof![
        30 => select(vec![0, 1, 999, 4_000]),
        2 => Just(30_000),
        1 => Just(60_000),
    ];
    (waits, act).prop_map(|(wait_ms, act)| Step { wait_ms, act })
}

/// The machine and its twin, and where they are in their history.
struct Pair {
    fast: Games,
    slow: Twin,
    recount: Recount,
    position: u64,
    now: u64,
}

impl Pair {
    fn new() -> Self {
        Self {
            fast: Games::empty(),
            slow: Twin::new(),
            recount: Recount::default(),
            position: 0,
            now: 1_000_000,
        }
    }

    fn step(&mut self, step: &Step) {
        self.now += step.wait_ms;
        match step.act {
            Act::Do(ref command) => self.apply(command),
            Act::InMatch {
                which,
                by_mover,
                deed,
            } => self.act_in_match(which, by_mover, deed),
            Act::Tick => self.tick(),
            Act::Wait => {
                if let Some(deadline) = self.fast.next_deadline() {
                    self.now = self.now.max(deadline.0);
                    self.tick();
                }
            }
            Act::Restart => {
                let bytes = bytes_of(&self.fast);
                self.fast = Games::restore(&bytes).unwrap();
                assert_eq!(bytes_of(&self.fast), bytes);
            }
        }
        self.compare();
    }

    fn act_in_match(&mut self, which: usize, by_mover: bool, deed: Deed) {
        let open = Query::Matches {
            after: None,
            limit: 9,
        };
        let answer = self.fast.query(Timestamp(0), &Principal::local(), &open);
        let Answer::Matches { matches: open, .. } = answer else {
            panic!("matches were asked for");
        };
        let Some(state) = open.get(which).or_else(|| open.first()) else {
            return;
        };
        let mover = state.to_move().unwrap();
        let seat = if by_mover { mover } else { mover.other() };
        let deed = match deed {
            Deed::Move {
                ply: u16::MAX,
                choice,
                claim,
            } => Deed::Move {
                ply: state.ply,
                choice,
                claim,
            },
            other => other,
        };
        self.apply(&Command::Act {
            match_id: state.id,
            player: *seat.of(&state.players),
            deed,
        });
    }

    fn tick(&mut self) {
        self.position += 1;
        let local = Principal::local();
        let context = context(self.position, self.now, &local);
        self.fast.tick(&context);
        self.slow.tick(&context);
    }

    fn apply(&mut self, command: &Command) {
        self.position += 1;
        let local = Principal::local();
        let context = context(self.position, self.now, &local);
        // What is due is done whatever becomes of the command.
        let mut due = Games::restore(&bytes_of(&self.fast)).unwrap();
        due.tick(&context);
        let outcome = self.fast.apply(&context, command);
        assert_eq!(outcome, self.slow.apply(&context, command), "{command:?}");
        if let Outcome::Refused(_) = outcome {
            let state = bytes_of(&due);
            assert_eq!(bytes_of(&self.fast), state, "a refusal changes nothing");
        }
        let mut bytes = Vec::new();
        Games::encode_command(command, &mut bytes);
        assert_eq!(Games::decode_command(&bytes).as_ref(), Ok(command));
        bytes.clear();
        Games::encode_outcome(&outcome, &mut bytes);
        assert_eq!(Games::decode_outcome(&bytes), Ok(outcome));
    }

    fn ask(&self, query: &Query) -> Answer {
        let now = Timestamp(self.now);
        self.fast.query(now, &Principal::local(), query)
    }

    fn agree(&self, query: &Query) {
        let answer = self.slow.query(Timestamp(self.now), query);
        assert_eq!(self.ask(query), answer, "{query:?}");
    }

    /// The same state, as far as anybody can ask for it.
    fn compare(&mut self) {
        assert_eq!(self.fast.check(), Ok(()));
        let due = self.slow.due().map(|(at, ..)| at);
        assert_eq!(self.fast.next_deadline(), due);
        let mut events = Vec::new();
        self.fast.drain_events(&mut |event| events.push(event));
        assert_eq!(events, std::mem::take(&mut self.slow.events));
        events.iter().for_each(|event| self.recount.take(event));
        self.agree(&Query::Totals);
        for game in Game::ALL {
            self.agree(&Query::Tickets { game });
        }
        for player in PLAYERS.map(id) {
            self.agree(&Query::Player { player });
        }
        self.agree(&Query::Matches {
            after: Some(MatchId(1)),
            limit: 2,
        });
    }

    /// Everything that there ever was, page by page.
    fn compare_all(&self) {
        assert_eq!(self.recount.differences(&self.fast), Vec::<String>::new());
        for number in 0..20 {
            let match_id = MatchId(number);
            self.agree(&Query::Match { match_id });
        }
        for player in PLAYERS.map(id) {
            self.agree(&Query::Standing { player });
            for opponent in PLAYERS.map(id) {
                self.agree(&Query::Against { player, opponent });
            }
            self.compare_opponents(player);
        }
        for measure in Measure::ALL {
            self.compare_ladder(measure);
            for player in PLAYERS.map(id) {
                self.agree(&Query::Around {
                    measure,
                    player,
                    each_side: 1,
                });
            }
        }
    }

    fn compare_opponents(&self, player: PlayerId) {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let query = Query::Opponents {
                player,
                cursor,
                limit: 2,
            };
            let Answer::Opponents { page, next } = self.ask(&query) else {
                panic!("opponents were asked for");
            };
            all.extend(page);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, self.slow.scores.opponents(&player));
    }

    fn compare_ladder(&self, measure: Measure) {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let query = Query::Leaders {
                measure,
                cursor,
                limit: 2,
            };
            let Answer::Leaders { page, next } = self.ask(&query) else {
                panic!("leaders were asked for");
            };
            assert!(page.len() <= 2);
            all.extend(page);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, self.slow.scores.ladder(measure));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_machine_and_its_twin_agree_on_every_step(steps in vec(steps(), 1..120)) {
        let mut pair = Pair::new();
        pair.compare();
        for step in &steps {
            pair.step(step);
        }
        pair.compare_all();
    }
}
