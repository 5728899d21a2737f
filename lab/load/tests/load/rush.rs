//! Many clients, few rooms.

use turnstile_load::{
    Verdict,
    rush::{self, Config, Report, Wish},
};

use crate::inn::{self, Wrong};

fn rush(wrong: Wrong, rooms: usize, clients: usize, wish: Wish) -> Report {
    let config = Config {
        address: inn::start(wrong).into(),
        rooms,
        clients,
        threads: 2,
        wish,
    };
    rush::run(&config, &mut |_progress| {}).unwrap()
}

/// What the witness has found.
fn violations(report: &Report) -> String {
    let rules = report.load.proof.rules.iter();
    let all: Vec<String> = rules.flat_map(|rule| rule.violations.clone()).collect();
    all.join("\n")
}

#[test]
fn every_room_is_sold_once_and_everybody_else_refused() {
    let rows = [
        (1, 60, Wish::Type, 1),
        (1, 60, Wish::Named, 1),
        (4, 60, Wish::Any, 4),
        (4, 60, Wish::Named, 4),
        (9, 5, Wish::Any, 5),
    ];
    for (rooms, clients, wish, sold) in rows {
        let report = rush(Wrong::Nothing, rooms, clients, wish);
        assert_eq!(violations(&report), "");
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        let clients = u64::try_from(clients).unwrap();
        let counts = (
            report.asked(),
            report.sold(),
            report.refused(),
            report.twice(),
        );
        assert_eq!(counts, (clients, sold, clients - sold, 0), "{wish:?}");
        assert_eq!(report.load.proof.replayed, clients);
        assert_eq!(report.load.point.times.response.count, clients);
        let line = format!(
            "{clients} asked, {sold} sold, {} refused, 0 twice",
            clients - sold
        );
        assert!(report.to_string().contains(&line), "{report}");
    }
}

#[test]
fn every_fault_of_a_rush_is_found() {
    let rows = [
        (Wrong::SellsTwice, Wish::Any, 40, "it is sold twice"),
        (Wrong::LosesUpdate, Wish::Any, 60, "it is lost"),
        (Wrong::LosesUpdate, Wish::Named, 60, "it is lost"),
        (Wrong::ReferenceTwice, Wish::Named, 60, "was given before"),
        (Wrong::CountsOneMore, Wish::Any, 60, "the server counts"),
        (
            Wrong::PositionTwice,
            Wish::Any,
            40,
            "have the same position",
        ),
    ];
    for (wrong, wish, rooms, sentence) in rows {
        let report = rush(wrong, rooms, 60, wish);
        assert_eq!(report.verdict().exit_code(), 97, "{wrong:?} {report}");
        let told = violations(&report);
        assert!(told.contains(sentence), "{wrong:?}: {told}");
    }
    let report = rush(Wrong::SellsTwice, 40, 60, Wish::Any);
    assert_eq!((report.sold(), report.twice()), (41, 1));
}

#[test]
fn an_answer_that_never_comes_leaves_the_rush_undecided() {
    let report = rush(Wrong::Closes, 60, 60, Wish::Any);
    assert_eq!(violations(&report), "");
    assert_eq!((report.sold(), report.failed(), report.twice()), (59, 1, 0));
    assert_eq!(report.verdict().exit_code(), 98);
}
