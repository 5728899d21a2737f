//! Load and proof in one: an honest server passes, and each mutant is caught.

use std::{net::SocketAddr, time::Duration};

use turnstile_client::Connection;
use turnstile_load::{
    Error, Verdict,
    check::{
        Report, When, exchange, games,
        rooms::{self, Config},
        travel,
    },
    pace::Pace,
};
use turnstile_result::Outcome;

use crate::{
    bureau,
    floor::{Fault, Floor},
    inn::{self, Wrong},
    parlour::{self, Parlour},
};

fn pace(address: SocketAddr) -> Pace {
    Pace {
        threads: 2,
        pipeline: 3,
        ..Pace::closed(
            address,
            Duration::from_millis(30),
            Duration::from_millis(300),
        )
    }
}

fn config(wrong: Wrong) -> Config {
    Config {
        pace: pace(inn::start(wrong)),
        when: When::Meanwhile,
        users: 5,
        property: "bench".to_owned(),
    }
}

fn run(wrong: Wrong) -> Result<Report, Error> {
    rooms::run(&config(wrong), &mut |_progress| {})
}

fn trade(fault: Fault) -> Report {
    let config = exchange::Config {
        pace: pace(Floor::open(fault).resp),
        when: When::Meanwhile,
        users: 5,
        symbols: 2,
    };
    exchange::run(&config, &mut |_progress| {}).unwrap()
}

fn play(fault: parlour::Fault) -> Result<Report, Error> {
    play_at(Parlour::open(fault).address)
}

fn play_at(address: SocketAddr) -> Result<Report, Error> {
    let config = games::Config {
        pace: Pace {
            threads: 2,
            pipeline: 3,
            // Long enough for matches on large boards, where the machine is busy, too.
            ..Pace::closed(
                address,
                Duration::from_millis(30),
                Duration::from_millis(800),
            )
        },
        when: When::Meanwhile,
        users: 8,
    };
    games::run(&config, &mut |_progress| {})
}

/// Everything that was found, where it must not be fine.
fn caught(report: &Report, sentence: &str) {
    let violations = violations(report);
    assert_eq!(report.verdict(), Verdict::Violated, "{sentence}: {report}");
    let found = violations.iter().any(|one| one.contains(sentence));
    assert!(found, "{sentence}: {violations:#?}");
    let failed = |rule: &turnstile_result::Rule| rule.outcome == Outcome::Fails;
    assert!(report.point.proof.iter().any(failed));
    assert!(report.to_string().contains("VIOLATED: "), "{report}");
}

fn violations(report: &Report) -> Vec<String> {
    let rules = report.proof.rules.iter();
    rules.flat_map(|rule| rule.violations.clone()).collect()
}

#[test]
fn an_honest_server_is_proven_while_it_is_used() {
    for wrong in [Wrong::Nothing, Wrong::Dribbles] {
        let report = run(wrong).unwrap();
        assert_eq!(violations(&report), Vec::<String>::new());
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        let [book, cancel, look, holds @ ..] = &report.point.operations[..] else {
            panic!("seven operations");
        };
        // They get in each other's way, and ask what must be refused.
        assert!(book.done > 0 && book.refused["sold_out"] > 0, "{report}");
        assert!(cancel.refused["wrong_guest"] > 0 && cancel.refused["ended"] > 0);
        let told = |one: &turnstile_result::Operation| one.done + one.refused.values().sum::<u64>();
        assert!(holds.iter().all(|one| one.done > 0), "{report}");
        let held: u64 = holds.iter().map(told).sum();
        assert_eq!(report.proof.replayed, told(book) + told(cancel) + held);
        assert_eq!(report.proof.readings, look.done);
        assert_eq!(report.proof.unknown, 0);
    }
}

#[test]
fn what_is_replayed_afterwards_has_the_same_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let afterwards = |wrong| {
        let mut config = config(wrong);
        let spool = folder.path().join("told");
        config.when = When::Afterwards { spool };
        rooms::run(&config, &mut |_progress| {}).unwrap()
    };
    for wrong in [Wrong::Nothing, Wrong::Closes] {
        let report = afterwards(wrong);
        assert_eq!(violations(&report), Vec::<String>::new());
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        let proof = &report.proof;
        assert!(proof.replayed > 0 && proof.readings > 0, "{report}");
        // A position, two instants, a place and a reference take some bytes.
        assert!(proof.kept_bytes > 10 * proof.replayed, "{report}");
        assert!(report.to_string().contains(", afterwards ("), "{report}");
    }
    for (wrong, sentence) in [
        (Wrong::SellsTwice, "it is sold twice"),
        (Wrong::Reorders, "had been answered"),
        (
            Wrong::ReadsStale,
            "which was not true at any instant of that",
        ),
    ] {
        caught(&afterwards(wrong), sentence);
    }
    let mut config = config(Wrong::Nothing);
    let spool = folder.path().join("nowhere/told");
    config.when = When::Afterwards { spool };
    let error = rooms::run(&config, &mut |_progress| {}).unwrap_err();
    assert!(matches!(error, Error::Spool(_)), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("the file of what users told: ")
    );
}

#[test]
fn what_was_never_answered_may_have_been_carried_out_or_not() {
    for wrong in [Wrong::Closes, Wrong::Forgets] {
        let report = run(wrong).unwrap();
        assert_eq!(violations(&report), Vec::<String>::new(), "{wrong:?}");
        assert!(report.proof.unknown > 0, "{wrong:?} {report}");
        assert_eq!(report.verdict(), Verdict::Fine);
    }
}

#[test]
fn every_mutant_is_caught_and_the_operations_are_named() {
    let rows = [
        (Wrong::LosesUpdate, "it is lost"),
        (Wrong::SellsTwice, "it is sold twice"),
        (
            Wrong::ReadsStale,
            "which was not true at any instant of that",
        ),
        (Wrong::Reorders, "had been answered"),
        (Wrong::PositionTwice, "have the same position"),
        (Wrong::CancelIgnored, "was cancelled at position"),
        (Wrong::CancelsForAll, "was done with a wrong id number"),
        (Wrong::NamesAllNights, "which is free"),
        (Wrong::ReferenceTwice, "was given before"),
        (Wrong::EndsEarly, "it ended too early"),
        (Wrong::NeverEnds, "which is free"),
        (Wrong::ConfirmsBlindly, "it is sold twice"),
        (Wrong::ConfirmsNothing, "it is lost"),
        (Wrong::ReleasesNothing, "which is free"),
        (Wrong::ExtendsNothing, "it ended too early"),
        (Wrong::CountsOneMore, "the server counts"),
    ];
    for (wrong, sentence) in rows {
        caught(&run(wrong).unwrap(), sentence);
    }
}

#[test]
fn an_honest_exchange_is_proven_while_it_is_used_and_what_was_lost_is_asked_again() {
    for fault in [Fault::None, Fault::Closes] {
        let report = trade(fault);
        assert_eq!(violations(&report), Vec::<String>::new(), "{fault:?}");
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        let [order, cancel, look] = &report.point.operations[..] else {
            panic!("three operations");
        };
        assert!(
            order.done > 0 && cancel.done > 0 && look.done > 0,
            "{report}"
        );
        let unknown = order.unknown + cancel.unknown + look.unknown;
        assert_eq!(unknown > 0, fault == Fault::Closes, "{report}");
        assert_eq!(report.proof.unknown, 0);
        let told = |one: &turnstile_result::Operation| one.done + one.refused.values().sum::<u64>();
        // What was lost with the last connections was asked once more after the load.
        let checked = report.proof.replayed + report.proof.readings;
        let answered = told(order) + told(cancel) + look.done;
        assert!(
            (answered..=answered + unknown).contains(&checked),
            "{report}"
        );
    }
}

#[test]
fn every_mutant_of_the_exchange_is_caught() {
    let rows = [
        (Fault::LosesOrder, "it is lost"),
        (Fault::CentInTicket, "became"),
        (Fault::Reorders, "had been answered"),
        (
            Fault::ReadsStale,
            "which was not true at any instant of that",
        ),
        (Fault::Cent, "of cash (in 10^-8), by the replay"),
        (Fault::Carries, "of cash (in 10^-8), by the replay"),
        (Fault::Share, "(in 10^-8), by the replay"),
        (Fault::CountsOneMore, "the server counts"),
    ];
    for (fault, sentence) in rows {
        caught(&trade(fault), sentence);
    }
}

#[test]
fn honest_games_are_proven_while_they_are_played_and_what_was_lost_is_asked_again() {
    for fault in [parlour::Fault::None, parlour::Fault::ClosesOften] {
        let report = play(fault).unwrap();
        assert_eq!(violations(&report), Vec::<String>::new(), "{fault:?}");
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        let operations = &report.point.operations;
        // They get in each other's way.
        for (place, reasons) in [
            (0, &["playing", "waiting"][..]),
            (1, &["playing"]),
            (2, &["not_waiting"]),
            (3, &["playing"]),
            (4, &["stale", "not_your_turn", "over"]),
            (7, &["no_offer"]),
            (8, &[]),
        ] {
            let operation = &operations[place];
            let refused = |reason: &&str| operation.refused.contains_key(*reason);
            assert!(
                operation.done > 0 && reasons.iter().all(refused),
                "{report}"
            );
        }
        let unknown: u64 = operations.iter().map(|one| one.unknown).sum();
        assert_eq!(unknown > 0, fault == parlour::Fault::ClosesOften);
        assert_eq!(report.proof.unknown, 0);
    }
}

#[test]
fn every_mutant_of_games_is_caught() {
    use parlour::Fault;
    let rows = [
        (Fault::LosesMove, "by the replay it is"),
        (Fault::ForgetsKeys, "by the replay it is"),
        (Fault::TakesStale, "by the replay it is Refused(Stale"),
        (
            Fault::MovesForOther,
            "by the replay it is Refused(NotYourTurn",
        ),
        (Fault::BelievesClaims, "it was not allowed"),
        (Fault::OtherPly, "it has done something else"),
        (Fault::ForgetsSeeker, "Seeking"),
        (
            Fault::ReadsStale,
            "which was not true at any instant of that",
        ),
        (Fault::Reorders, "had been answered"),
        (Fault::CountsAgain, "by the replay it was Standing"),
        (Fault::CountsTwice, "by the replay it was Standing"),
        (Fault::OnlyAgainst, "was not true at any instant of that"),
        (Fault::PlaysAnother, "ConnectFour"),
        (Fault::Floats, "it has done something else"),
        (Fault::MissesLines, "it has done something else"),
        (Fault::CountsOneMore, "the server counts"),
    ];
    for (fault, sentence) in rows {
        caught(&play(fault).unwrap(), sentence);
    }
}

#[test]
fn games_are_not_checked_where_somebody_else_plays() {
    let address = Parlour::open(parlour::Fault::None).address;
    let mut door = Connection::connect(address, Duration::from_secs(10)).unwrap();
    door.command(&[b"GAMES.BEGIN", b"ada", b"bob", b"gomoku"])
        .unwrap();
    let Err(Error::Preparation { command, answer }) = play_at(address) else {
        panic!("their match may end at any time");
    };
    assert_eq!(command, "INFO");
    assert!(
        answer.starts_with("1 open matches and 0 who seek"),
        "{answer}"
    );
}

#[test]
fn a_server_whose_refusals_tell_no_position_is_not_checked() {
    let Err(Error::Preparation { command, answer }) = run(Wrong::NoPosition) else {
        panic!("there is no order to replay");
    };
    assert_eq!(command, "ROOMS.CANCEL");
    assert!(answer.contains("ended"), "{answer}");
}

fn plan(wrong: bureau::Wrong) -> Result<Report, Error> {
    let config = travel::Config {
        pace: Pace {
            threads: 2,
            // Long enough for whoever is slow, that each fault meets somebody, also at the end of a hold.
            ..Pace::closed(
                bureau::open(wrong),
                Duration::from_millis(30),
                Duration::from_millis(1_200),
            )
        },
        when: When::Meanwhile,
        users: 6,
    };
    travel::run(&config, &mut |_progress| {})
}

#[test]
fn an_honest_agency_is_proven_while_it_is_used_and_what_was_lost_is_asked_again() {
    for wrong in [bureau::Wrong::Nothing, bureau::Wrong::Closes] {
        let report = plan(wrong).unwrap();
        assert_eq!(violations(&report), Vec::<String>::new(), "{wrong:?}");
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        let operations = &report.point.operations;
        let find = |name: &str| operations.iter().find(|one| one.name == name).unwrap();
        // They get in each other's way, and ask what must be refused.
        assert!(find("commit").done > 0 && find("commit").refused["deadlock"] > 0);
        assert!(
            find("abort").done > 0 && find("cancel").done > 0,
            "{report}"
        );
        assert!(find("book").done > 0 && find("book").refused["sold_out"] > 0);
        assert!(
            find("hold").done > 0 && find("confirm").done > 0,
            "{report}"
        );
        let lost: u64 = operations.iter().map(|one| one.unknown).sum();
        assert_eq!(lost > 0, wrong == bureau::Wrong::Closes, "{report}");
        // Of what was booked before and told again the place is not known.
        assert_eq!(report.proof.unknown > 0, lost > 0, "{report}");
    }
}

#[test]
fn every_mutant_of_the_agency_is_caught() {
    let rows = [
        (bureau::Wrong::LosesUpdates, "was shown as"),
        (bureau::Wrong::SkewsWrites, "was shown as"),
        (bureau::Wrong::ReadsDirty, "was shown as"),
        (bureau::Wrong::BooksHalf, "was shown as"),
        (bureau::Wrong::KeepsAborted, "was shown as"),
        (bureau::Wrong::SellsTwice, "it is sold twice"),
        (bureau::Wrong::Reorders, "had been answered"),
        (bureau::Wrong::Overcharges, "but costs"),
        (bureau::Wrong::KeepsPrices, "was shown as"),
        (bureau::Wrong::BillsAnew, "was shown as"),
        (bureau::Wrong::ForgetsKeys, "was shown as"),
        (bureau::Wrong::EndsEarly, "it ended too early"),
        (bureau::Wrong::NeverEnds, "in the end item"),
        (
            bureau::Wrong::ConfirmsBlindly,
            "was done, but that was over",
        ),
        (bureau::Wrong::ConfirmsNothing, "was shown as"),
        (bureau::Wrong::ReleasesNothing, "was shown as"),
        (bureau::Wrong::HoldsNothing, "was shown as"),
        (bureau::Wrong::CountsOneMore, "the server counts"),
    ];
    for (wrong, sentence) in rows {
        let report = plan(wrong).unwrap();
        assert_ne!(report.verdict(), Verdict::Fine, "{wrong:?}");
        caught(&report, sentence);
    }
}

#[test]
fn an_agency_that_tells_no_places_is_not_checked() {
    let Err(Error::Preparation { command, answer }) = plan(bureau::Wrong::NoPosition) else {
        panic!("there is no order to replay");
    };
    assert_eq!(command, "TRAVEL.COMMIT");
    assert!(answer.contains("done"), "{answer}");
}
