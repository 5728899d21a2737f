//! An arena and its scores in two processes, with a line between them that loses, doubles and
//! repeats: no result is lost, and none is counted twice.

use proptest::{collection::vec, prelude::*};
use turnstile_games::{
    Command, Deed, Done, EventKind, Game, Games, Outcome, Parcel, Query, Recount, Refusal, Roles,
    Settings, Standing, Tally, Verdict,
};
use turnstile_trial::{bytes_of, check_restored};
use turnstile_types::{Machine, Principal, Timestamp};

use crate::scenery::{Hall, act, begin, id};

const ARENA: u64 = 77;

fn played_alone(arena: bool) -> Hall {
    let mut hall = Hall::new();
    let settings = Settings {
        roles: Roles {
            arena,
            scores: !arena,
        },
        arena: if arena { ARENA } else { 0 },
        ..Settings::FIRST
    };
    assert_eq!(hall.done(&Command::Configure(settings)), Done::Configured);
    hall
}

/// What goes over the line, or happens to it.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// A match between two of three, of which one resigns.
    Play { pair: usize, first_wins: bool },
    /// The arena's link sends everything that is not acknowledged, of which so many arrive.
    Send { arrive: usize, acknowledged: usize },
    /// One of those that are not acknowledged arrives alone, perhaps before its turn.
    Skip { index: usize },
    /// Something that was sent long ago arrives again.
    Repeat { index: usize },
    /// Either process is killed and started again.
    Restart { arena: bool },
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..3_usize, any::<bool>())
            .prop_map(|(pair, first_wins)| Act::Play { pair, first_wins }),
        3 => (0..6_usize, 0..6_usize)
            .prop_map(|(arrive, acknowledged)| Act::Send { arrive, acknowledged }),
        2 => (0..6_usize).prop_map(|index| Act::Skip { index }),
        2 => (0..30_usize).prop_map(|index| Act::Repeat { index }),
        1 => any::<bool>().prop_map(|arena| Act::Restart { arena }),
    ]
}

struct World {
    arena: Hall,
    scores: Hall,
    sent: Vec<Parcel>,
    recount: Recount,
}

impl World {
    fn step(&mut self, step: Act) {
        match step {
            Act::Play { pair, first_wins } => {
                let [first, second] = [["a", "b"], ["b", "c"], ["c", "a"]][pair];
                let Done::Begun(state) = self.arena.done(&begin(Game::Gomoku, first, second))
                else {
                    panic!("no match has begun");
                };
                let loser = if first_wins { second } else { first };
                self.arena.done(&act(state.id.0, loser, Deed::Resign));
            }
            Act::Send {
                arrive,
                acknowledged,
            } => self.send(arrive, acknowledged),
            Act::Skip { index } => {
                let parcel = self.arena.games.unreported(0).nth(index);
                if let Some(parcel) = parcel {
                    self.deliver(&parcel);
                }
            }
            Act::Repeat { index } => {
                if let Some(parcel) = self.sent.get(index).copied() {
                    self.deliver(&parcel);
                }
            }
            Act::Restart { arena } => {
                let hall = if arena {
                    &mut self.arena
                } else {
                    &mut self.scores
                };
                hall.events();
                hall.games = Games::restore(&bytes_of(&hall.games)).unwrap();
            }
        }
    }

    fn send(&mut self, arrive: usize, acknowledged: usize) {
        let parcels: Vec<Parcel> = self.arena.games.unreported(0).collect();
        let mut answers = Vec::new();
        for parcel in parcels.into_iter().take(arrive) {
            self.sent.push(parcel);
            let standings = self.deliver(&parcel).expect("parcels come in order");
            answers.push((parcel.number, standings));
        }
        for (number, standings) in answers.into_iter().take(acknowledged) {
            let acknowledge = Command::Acknowledge { number, standings };
            assert_eq!(self.arena.done(&acknowledge), Done::Acknowledged);
        }
    }

    /// None: the parcel comes before its turn.
    fn deliver(&mut self, parcel: &Parcel) -> Option<[Standing; 2]> {
        let outcome = self.scores.apply(&Command::Deliver(*parcel));
        for event in self.scores.events() {
            self.recount.take(&event);
        }
        match outcome {
            Outcome::Done(Done::Counted(standings)) => Some(standings),
            Outcome::Refused(Refusal::OutOfOrder { .. }) => None,
            other => panic!("{other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_result_is_counted_once(steps in vec(acts(), 0..60)) {
        let mut world = World {
            arena: played_alone(true),
            scores: played_alone(false),
            sent: Vec::new(),
            recount: Recount::default(),
        };
        // The same matches in one process.
        let mut alone = Hall::new();
        for step in steps {
            world.step(step);
            if let Act::Play { pair, first_wins } = step {
                let [first, second] = [["a", "b"], ["b", "c"], ["c", "a"]][pair];
                let Done::Begun(state) = alone.done(&begin(Game::Gomoku, first, second)) else {
                    panic!("no match has begun");
                };
                let loser = if first_wins { second } else { first };
                alone.done(&act(state.id.0, loser, Deed::Resign));
            }
        }
        world.send(usize::MAX, usize::MAX);
        prop_assert_eq!(world.arena.games.totals().unreported, 0);
        prop_assert_eq!(world.recount.differences(&world.scores.games), Vec::<String>::new());
        prop_assert_eq!(world.recount.differences(&alone.games), Vec::<String>::new());
        check_restored(&world.arena.games);
        check_restored(&world.scores.games);
    }
}

#[test]
fn an_arena_whose_scores_are_away_keeps_results_and_hears_of_them_later() {
    let mut arena = played_alone(true);
    let match_id = arena.play("1", "2");
    let events = arena.events();
    let parcel = arena.games.unreported(0).next().expect("a result waits");
    assert_eq!(parcel.result.verdict, Verdict::FirstWon);
    assert_eq!((parcel.arena, parcel.number), (ARENA, 1));
    let reported = events.last().map(|event| event.kind);
    assert_eq!(reported, Some(EventKind::Reported(parcel)));
    assert_eq!(arena.games.unreported(1).next(), None);

    // The ancestor's scores server says `1:1:0:` and `1:0:1:`, and knows no ratings.
    let standing = |won, lost| Standing {
        tally: Tally::of(1, won, lost).unwrap(),
        ratings: None,
    };
    let standings = [standing(1, 0), standing(0, 1)];
    let late = Command::Acknowledge {
        number: 2,
        standings,
    };
    let refused = Outcome::Refused(Refusal::OutOfOrder { expected: 1 });
    assert_eq!(arena.apply(&late), refused);
    let number = 1;
    let acknowledge = Command::Acknowledge { number, standings };
    assert_eq!(arena.done(&acknowledge), Done::Acknowledged);
    let [event] = arena.events()[..] else {
        panic!("one thing has happened");
    };
    let EventKind::Scored {
        match_id: scored,
        standings: told,
        ..
    } = event.kind
    else {
        panic!("{event:?}");
    };
    assert_eq!((scored.0, told), (match_id, standings));
    assert_eq!(arena.done(&acknowledge), Done::Acknowledged, "again");
    assert_eq!(arena.events(), []);
    assert_eq!(
        arena.apply(&late),
        Outcome::Refused(Refusal::OutOfOrder { expected: 2 })
    );
}

#[test]
fn what_a_foreign_arena_reports_is_counted_each_time() {
    let mut scores = played_alone(false);
    let report = |players: [&str; 2], verdict| Command::Report {
        players: players.map(id),
        verdict,
    };
    scores.done(&report(["1", "2"], Verdict::FirstWon));
    scores.done(&report(["1", "3"], Verdict::Drawn));
    let Done::Counted([first, second]) = scores.done(&report(["2", "1"], Verdict::FirstWon)) else {
        panic!("it is counted");
    };
    // Summed over opponents, as `played:won:lost:`.
    let triple = |standing: Standing| {
        let tally = standing.tally;
        (tally.played(), tally.won, tally.lost)
    };
    assert_eq!((triple(first), triple(second)), ((2, 1, 1), (3, 1, 1)));
    let same = report(["1", "1"], Verdict::Drawn);
    assert_eq!(scores.apply(&same), Outcome::Refused(Refusal::SamePlayer));
    let begin = begin(Game::TicTacToe, "1", "2");
    assert_eq!(scores.apply(&begin), Outcome::Refused(Refusal::NotHere));
    let query = Query::Against {
        player: id("1"),
        opponent: id("2"),
    };
    let answer = scores
        .games
        .query(Timestamp(0), &Principal::local(), &query);
    let expected = turnstile_games::Answer::Against(Tally {
        won: 1,
        lost: 1,
        drawn: 0,
    });
    assert_eq!(answer, expected);
}

#[test]
fn an_arena_without_room_for_another_result_begins_no_match() {
    let full = turnstile_games::limits::OUTBOX_MAX;
    let mut arena = played_alone(true);
    for _ in 0..full {
        let Done::Begun(state) = arena.done(&begin(Game::TicTacToe, "a", "b")) else {
            panic!("no match has begun");
        };
        arena.done(&act(state.id.0, "a", Deed::Resign));
        arena.games.drain_events(&mut drop);
    }
    let next = begin(Game::TicTacToe, "a", "b");
    assert_eq!(arena.apply(&next), Outcome::Refused(Refusal::ScoresAway));
    let standings = [Standing {
        tally: Tally::NONE,
        ratings: None,
    }; 2];
    let number = 1;
    arena.done(&Command::Acknowledge { number, standings });
    assert!(matches!(arena.done(&next), Done::Begun(_)));
    assert_eq!(arena.games.totals().unreported, u64::from(full) - 1);
}

#[test]
fn an_arena_without_scores_counts_no_result_from_outside() {
    let report = Command::Report {
        players: [id("a"), id("b")],
        verdict: Verdict::FirstWon,
    };
    let refused = Outcome::Refused(Refusal::NotHere);
    assert_eq!(played_alone(true).apply(&report), refused);
    let counted = played_alone(false).apply(&report);
    assert!(
        matches!(counted, Outcome::Done(Done::Counted(_))),
        "{counted:?}"
    );
}
