//! Games on the journal beside the others: matches and standings outlive a restart, and the
//! journal says again what was counted.

use std::path::Path;

use turnstile_embedded::{
    Durability, Embedded, Options, Recounted, Recovery, Slowed, recount_games, verify,
};
use turnstile_games::{
    Answer, Command, Deed, Done, Game, Games, MatchId, Outcome, PlayerId, Query, Recount,
};
use turnstile_types::{Author, Position, Principal, Timestamp};

const NOW: Timestamp = Timestamp(1_780_272_000_000);

fn open(directory: &Path, snapshot_records: u64) -> (Embedded, Recovery) {
    let options = Options {
        durability: Durability::Sync,
        segment_bytes: 256 * 1024,
        snapshot_records,
        accept_loss: None,
        key_bytes: 1 << 20,
        slowed: Slowed::NOT,
        trouble: None,
    };
    Embedded::open(Some(directory), options).expect("a sound directory")
}

fn id(text: &str) -> PlayerId {
    PlayerId::parse(text.as_bytes()).expect("a name")
}

fn tell(backend: &mut Embedded, command: &Command) -> Done {
    let executed = backend.execute::<Games>(
        NOW,
        Author::unknown(&Principal::local()),
        None,
        command,
        None,
    );
    match executed.expect("a working disk").outcome {
        Outcome::Done(done) => done,
        Outcome::Refused(refusal) => panic!("{command:?}: {refusal:?}"),
    }
}

fn begin(backend: &mut Embedded) -> u64 {
    let players = ["a", "b"].map(id);
    let game = Game::TicTacToe;
    match tell(backend, &Command::Begin { game, players }) {
        Done::Begun(state) => state.id.0,
        other => panic!("no match has begun: {other:?}"),
    }
}

fn act(backend: &mut Embedded, number: u64, player: &str, deed: Deed) -> Done {
    let match_id = MatchId(number);
    let player = id(player);
    tell(
        backend,
        &Command::Act {
            match_id,
            player,
            deed,
        },
    )
}

fn recount(backend: &mut Embedded) -> Recount {
    let mut recount = Recount::default();
    backend.drain_games_events(&mut |event| recount.take(&event));
    recount
}

#[test]
fn a_match_goes_on_after_a_restart_and_the_journal_says_again_what_was_counted() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _recovery) = open(directory.path(), 0);
    let number = begin(&mut backend);
    act(&mut backend, number, "a", Deed::Resign);
    let open_number = begin(&mut backend);
    let choice = 5;
    let ply = 0;
    let claim = None;
    let first = Deed::Move { ply, choice, claim };
    act(&mut backend, open_number, "a", first);
    backend.commit().expect("a working disk");
    let counted = recount(&mut backend);
    assert_eq!(counted.results(), 1);
    backend.close().unwrap();

    let (mut backend, _recovery) = open(directory.path(), 0);
    assert_eq!(recount(&mut backend), counted);
    backend.tick(NOW).expect("a working disk");
    let deed = Deed::Move {
        ply: 1,
        choice: 1,
        claim,
    };
    let Done::Acted(state) = act(&mut backend, open_number, "b", deed) else {
        panic!("the match goes on");
    };
    assert_eq!((state.ply, state.seq), (2, 2));
    backend.commit().expect("a working disk");
    let query = Query::Standing { player: id("b") };
    let answer = backend.query::<Games>(NOW, &Principal::local(), &query);
    let expected = counted
        .standing(&id("b"))
        .expect("a match of b was counted");
    assert_eq!(answer, Answer::Standing(expected));
    backend.close().unwrap();
    let verdict = verify(directory.path()).unwrap();
    assert!(verdict.holds(), "{verdict:?}");
    let standing = [
        (0, "bookings stand".to_owned()),
        (1, "results are counted".to_owned()),
        (1, "matches are open".to_owned()),
    ];
    assert_eq!(verdict.standing, standing);
    let recounted = Recounted {
        from: Position(0),
        results: 1,
        differences: Vec::new(),
    };
    assert_eq!(recount_games(directory.path()).unwrap(), recounted);
}

#[test]
fn a_snapshot_keeps_games_also_where_the_others_were_never_used() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _recovery) = open(directory.path(), 100);
    for _ in 0..150 {
        let number = begin(&mut backend);
        act(&mut backend, number, "b", Deed::Resign);
        backend.commit().expect("a working disk");
    }
    backend.await_snapshot();
    backend.close().unwrap();
    let (backend, recovery) = open(directory.path(), 100);
    assert!(recovery.snapshot.0 > 0, "{recovery:?}");
    let query = Query::Totals;
    let answer = backend.query::<Games>(NOW, &Principal::local(), &query);
    let Answer::Totals(totals) = answer else {
        panic!("totals were asked for");
    };
    assert_eq!((totals.results, totals.begun, totals.open), (150, 150, 0));
    backend.close().unwrap();
    assert!(verify(directory.path()).unwrap().holds());
    let recounted = recount_games(directory.path()).unwrap();
    assert_eq!(
        (recounted.results, recounted.differences),
        (150, Vec::new())
    );
}
