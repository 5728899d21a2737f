//! Many clients, few rooms.

use std::net::SocketAddr;

use turnstile_load::{
    Verdict,
    rush::{self, Config, Report, Wish},
};

use crate::inn::{self, Kept, Wrong};

fn rush(wrong: Wrong, rooms: usize, clients: usize, wish: Wish) -> Report {
    rush_at(inn::start(wrong), rooms, clients, wish)
}

fn rush_at(address: SocketAddr, rooms: usize, clients: usize, wish: Wish) -> Report {
    let config = Config {
        address: address.into(),
        rooms,
        clients,
        connections: 8,
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

#[test]
fn a_line_that_is_kept_in_order_lets_everybody_in() {
    let report = rush_at(inn::start_with_line(Kept::InOrder), 4, 60, Wish::Any);
    assert_eq!(violations(&report), "");
    assert_eq!(report.verdict(), Verdict::Fine, "{report}");
    assert_eq!((report.asked(), report.sold(), report.left), (60, 4, 0));
    let line = &report.line;
    assert_eq!(
        (line.waited, line.place_max > 8, line.too_late),
        (57, true, 0)
    );
    assert_eq!(
        report.load.point.operations[0].refused["in_line"],
        line.told
    );
    // Its wait in line is part of what a caller feels.
    assert_eq!(report.load.point.wholes[0].done, 60);
    assert_eq!(report.load.point.times.response.count, 60);
    assert!(report.to_string().contains("57 waited in line"), "{report}");
    assert_eq!(report.load.proof.rules.len(), 7);
}

#[test]
fn a_line_that_is_not_kept_is_found() {
    let rows = [
        (Kept::LetsSomeJump, "one that came after it was let in"),
        (Kept::LastFirst, "one that came after it was let in"),
        (Kept::LosesPlaces, "was told place"),
        (Kept::LetsAllIn, "were let in within"),
    ];
    for (kept, sentence) in rows {
        let report = rush_at(inn::start_with_line(kept), 4, 60, Wish::Any);
        assert_eq!(report.verdict().exit_code(), 97, "{kept:?} {report}");
        let told = violations(&report);
        assert!(told.contains(sentence), "{kept:?}: {told}");
    }
}
