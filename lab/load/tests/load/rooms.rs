//! The rooms workload and its proof.

use std::time::Duration;

use turnstile_load::{
    Error, LoadReport, Verdict,
    pace::Pace,
    rooms::{self, Config, Mix, Proof},
};

use crate::toy::{Fault, Toy};

fn config(toy: &Toy) -> Config {
    Config {
        pace: Pace {
            threads: 2,
            pipeline: 3,
            ..Pace::closed(
                toy.address,
                Duration::from_millis(30),
                Duration::from_millis(150),
            )
        },
        users: 5,
        mix: Mix::new(70, 30).unwrap(),
    }
}

fn run(toy: &Toy) -> LoadReport<Proof> {
    rooms::run(&config(toy), &mut |_progress| {}).unwrap()
}

#[test]
fn an_honest_server_is_proven() {
    let toy = Toy::start(Fault::None);
    let report = run(&toy);
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert_ne!(report.verdict(), Verdict::Violated);
    assert_eq!((proof.sold, proof.cancelled), toy.counts());
    assert_eq!(proof.references_checked, proof.sold);
    assert_eq!((proof.twice, proof.references_left_out), (0, 0));
    let standing = proof.sold - proof.cancelled;
    assert!((1..=standing).contains(&proof.standing_looked_up));
    assert!(proof.cancelled_looked_up > 0 && proof.asked_again > 0);

    let [book, cancel] = &report.point.operations[..] else {
        panic!("two operations");
    };
    assert_eq!((&*book.name, book.done), ("book", proof.sold));
    assert_eq!((&*cancel.name, cancel.done), ("cancel", proof.cancelled));
    assert_eq!(book.refused.len() + cancel.refused.len(), 0);
    assert_eq!(book.errors.len() + cancel.errors.len(), 0);
    let timed = report.point.times.response.count;
    assert_eq!(timed, book.response.count + cancel.response.count);
    // The warm-up is counted and proven, but not timed.
    assert!(timed < book.done + cancel.done);
    let line = format!(
        "proof: {} sold, ",
        turnstile_stats::units::Count(proof.sold)
    );
    assert!(proof.to_string().contains(&line), "{proof}");
}

#[test]
fn a_second_run_against_the_same_server_finds_every_room_free() {
    let toy = Toy::start(Fault::None);
    let first = run(&toy);
    let second = run(&toy);
    assert_eq!(second.proof.violations, Vec::<String>::new());
    assert_eq!(second.point.operations[0].refused.len(), 0);
    let sold = first.proof.sold + second.proof.sold;
    assert_eq!(toy.counts().0, sold);
}

#[test]
fn every_broken_promise_is_found() {
    let rows = [
        (Fault::ReferenceTwice, "was given twice"),
        (Fault::BookingLost, "is lab7-u"),
        (Fault::CancelIgnored, "is free, but it is"),
        (Fault::OtherRoom, "elsewhere"),
        (Fault::SoldAgain, "it is sold twice"),
        (Fault::CountsOneMore, "the server counts"),
    ];
    for (fault, sentence) in rows {
        let report = run(&Toy::start(fault));
        let told = report.proof.violations.join("\n");
        assert!(told.contains(sentence), "{fault:?}: {told}");
        assert_eq!(report.verdict().exit_code(), 97, "{fault:?}");
        // A room whose booking was lost is for sale again, and sold twice.
        let twice = [Fault::ReferenceTwice, Fault::SoldAgain, Fault::BookingLost].contains(&fault);
        assert_eq!(report.proof.twice > 0, twice, "{fault:?}: {told}");
    }
}

#[test]
fn answers_that_never_come_are_unknown_and_widen_the_proof() {
    let toy = Toy::start(Fault::Closes);
    let report = run(&toy);
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    let operations = &report.point.operations;
    let unknown: u64 = operations.iter().map(|row| row.unknown).sum();
    assert_eq!(proof.sold_unknown + proof.cancelled_unknown, unknown);
    assert!(unknown > 0 && report.point.connections_lost > 0);
    let (booked, cancelled) = toy.counts();
    assert!(booked + cancelled > proof.sold + proof.cancelled);
    assert!(proof.to_string().contains(" unknown"), "{proof}");
}

/// A database was lost while it committed: what its server had no key for it answers by `UNKNOWN`. Such
/// bookings were taken for refused, and the server for one that sells more than it acknowledges.
#[test]
fn answers_that_say_unknown_widen_the_proof_as_those_that_never_come() {
    let toy = Toy::start(Fault::Unknown);
    let report = run(&toy);
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert_eq!(report.point.connections_lost, 0);
    let operations = &report.point.operations;
    let unknown: u64 = operations.iter().map(|row| row.unknown).sum();
    assert_eq!(proof.sold_unknown + proof.cancelled_unknown, unknown);
    assert!(operations.iter().all(|row| row.errors.is_empty()));
    let (booked, cancelled) = toy.counts();
    assert_eq!(
        booked + cancelled,
        proof.sold + proof.cancelled + unknown,
        "{proof}"
    );
    assert!(unknown > 0, "{proof}");
}

#[test]
fn a_server_that_recovers_still_is_waited_for_before_anything_is_proven() {
    let report = run(&Toy::start(Fault::Recovers));
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert!(report.point.connections_lost > 0, "{report}");
}

#[test]
fn answers_in_pieces_are_put_together() {
    let toy = Toy::start(Fault::Dribbles);
    let report = run(&toy);
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert_eq!(report.point.connections_lost, 0);
    assert_eq!((report.proof.sold, report.proof.cancelled), toy.counts());
}

#[test]
fn a_place_in_line_is_a_refusal_and_no_broken_answer() {
    let toy = Toy::start(Fault::LetsWait);
    let report = run(&toy);
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert_eq!(report.point.connections_lost, 0);
    let refused = &report.point.operations[0].refused;
    let reasons: Vec<&str> = refused.keys().map(String::as_str).collect();
    assert_eq!(reasons, ["in_line"]);
    assert_eq!((report.proof.sold, report.proof.cancelled), toy.counts());
}

#[test]
fn a_server_without_the_counters_is_not_driven() {
    // A door that answers INFO with something else: here every command with one integer.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = std::thread::spawn(move || {
        use std::io::{BufRead as _, BufReader, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        for line in lines {
            match line.unwrap().as_str() {
                // Whether the property is there.
                "ROOMS.GET-AVAILABILITY" => stream.write_all(b":1\r\n").unwrap(),
                "INFO" => break,
                _ => {}
            }
        }
        let info = b"$43\r\nturnstile_version:1\r\ndurability:sync\r\nother:1\r\n";
        stream.write_all(&info[..5]).unwrap();
        stream.write_all(&info[5..48]).unwrap();
        stream.write_all(b"\r\n").unwrap();
    });
    let mut config = config(&Toy::start(Fault::None));
    config.pace.address = address.into();
    let error = rooms::run(&config, &mut |_progress| {}).unwrap_err();
    assert!(matches!(error, Error::Field("position")), "{error}");
    peer.join().unwrap();
}
