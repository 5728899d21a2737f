//! The travel workload and its proofs.

use std::{collections::BTreeMap, time::Duration};

use turnstile_load::{
    Verdict,
    pace::{Law, Length, Think},
    travel::{self, Config, Contention, Experiment, Managers, Manner, Rate, Report},
};

use crate::agency::{Agency, Fault};

fn config(agency: &Agency, experiment: Experiment) -> Config {
    Config {
        address: agency.address,
        witness: None,
        processes: None,
        threads: 2,
        experiment,
        seed: 1,
    }
}

fn rates(clients: &[usize], rates: &[Rate], contention: Contention) -> Experiment {
    Experiment::Rates {
        clients: clients.to_vec(),
        rates: rates.to_vec(),
        managers: Managers::Several,
        contention,
        manner: Manner {
            arrivals: Law::Jitter(0.01),
            think: Think::None,
            stages: None,
            length: Length::Fixed {
                warm_up: Duration::from_millis(20),
                duration: Duration::from_millis(300),
            },
            deadline: None,
        },
    }
}

/// Three clients who buy as fast as they can.
fn busy() -> Experiment {
    rates(&[3], &[Rate::Most], Contention::Apart)
}

fn requests(transactions: u64) -> Experiment {
    Experiment::Requests {
        transactions,
        managers: vec![Managers::One, Managers::Several],
    }
}

fn run(agency: &Agency, experiment: Experiment) -> Report {
    travel::run(&config(agency, experiment), &mut |_progress| {}).unwrap()
}

#[test]
fn one_client_is_measured_request_by_request_beside_what_was_published() {
    let agency = Agency::open(Fault::None);
    let report = run(&agency, requests(50));
    assert_eq!(report.verdict(), Verdict::Fine, "{report}");
    let [one, several] = &report.requests[..] else {
        panic!("{report}");
    };
    for (row, expected) in [
        (one, vec![("query_flight", 120), ("reserve_flight", 120)]),
        (
            several,
            vec![
                ("query_flight", 40),
                ("reserve_flight", 40),
                ("query_car", 40),
                ("reserve_car", 40),
                ("query_room", 40),
                ("reserve_room", 40),
            ],
        ),
    ] {
        let around = [("start", 40), ("query_customer", 40)];
        let expected: Vec<(&str, u64)> = around
            .into_iter()
            .chain(expected)
            .chain([("commit", 40)])
            .collect();
        let counted = row.operations.iter();
        let counted: Vec<(&str, u64)> = counted.map(|(name, times)| (*name, times.count)).collect();
        assert_eq!(counted, expected);
        assert_eq!((row.transaction.count, row.outcomes.committed), (40, 50));
        assert!((row.composition - 1.0).abs() < 1e-6, "{report}");
    }
    let proof = &report.proof;
    let by_manager = [
        ("cars", 50),
        ("customers", 300),
        ("flights", 200),
        ("rooms", 50),
    ];
    assert_eq!(proof.sold, BTreeMap::from(by_manager));
    assert_eq!(proof.acknowledged, proof.sold);
    assert_eq!((proof.committed, proof.unknown), (100, 0));
    assert_eq!((proof.put_in, proof.reserved), (4_000_000_000, 300));
    assert_eq!(proof.free + proof.reserved, proof.put_in);
    let told = report.to_string();
    for words in [
        "several managers  mean ms  published  published / ours",
        "9.4250",
        "5.0200",
        "100 transactions acknowledged, each whole",
        "sold, says each manager: cars 50, customers 300, flights 200, rooms 50",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn several_clients_begin_transactions_at_a_rate_or_as_fast_as_they_can() {
    let agency = Agency::open(Fault::None);
    let both = [Rate::PerSecond(100), Rate::Most];
    let report = run(&agency, rates(&[1, 4], &both, Contention::Apart));
    assert_ne!(report.verdict(), Verdict::Violated, "{report}");
    let points: Vec<(usize, Rate)> = report
        .rates
        .iter()
        .map(|row| (row.clients, row.rate))
        .collect();
    let expected = [(1, both[0]), (1, both[1]), (4, both[0]), (4, both[1])];
    assert_eq!(points, expected);
    let mut committed = 0;
    for row in &report.rates {
        committed += row.outcomes.committed;
        assert!(row.outcomes.committed > 0, "{report}");
        match row.rate {
            // In 320 ms at most 33 are due, and one of each client a percent too early.
            Rate::PerSecond(_) => {
                assert!(row.outcomes.committed <= 33 + 4, "{report}");
                assert!(row.lag.count > 0 && row.little.is_none(), "{report}");
                assert!(row.response.mean >= row.service.mean, "{report}");
            }
            Rate::Most => {
                assert_eq!((row.lag.count, row.response), (0, row.service));
                assert!(row.little.is_some(), "{report}");
            }
        }
    }
    assert_eq!(report.proof.committed, committed);
    let told = report.to_string();
    assert!(told.contains("4 clients carried at most"), "{told}");
}

#[test]
fn clients_in_each_others_way_are_aborted_and_leave_nothing_half_done() {
    let agency = Agency::open(Fault::None);
    let report = run(&agency, rates(&[8], &[Rate::Most], Contention::Zipf(3.0)));
    let row = &report.rates[0];
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert!(row.outcomes.aborted["deadlock"] > 0, "{report}");
    assert!(row.abort_rate > 0.0 && row.abort_rate < 1.0, "{report}");
    assert_eq!(row.outcomes.committed, report.proof.committed);
    let sold = report.proof.committed;
    let by_manager = [
        ("cars", sold),
        ("customers", 3 * sold),
        ("flights", sold),
        ("rooms", sold),
    ];
    assert_eq!(report.proof.sold, BTreeMap::from(by_manager));
}

#[test]
fn a_second_run_at_the_same_agency_has_a_stock_of_its_own() {
    let agency = Agency::open(Fault::None);
    for _ in 0..3 {
        let report = run(&agency, requests(5));
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
    }
}

#[test]
fn every_broken_promise_is_found() {
    let rows: [(Fault, &[&str]); 7] = [
        (Fault::RoomForgotten, &["rooms says that", "of room-lab0-"]),
        (
            Fault::CarTwice,
            &[
                "cars says that",
                "has 9 of car-lab0-32, 6 were acknowledged",
            ],
        ),
        (Fault::OtherCustomer, &["of flight-10000000"]),
        (
            Fault::Seat,
            &["10 000 000 of flight-1000000092 were put in; 9 999 995 are free and 6 on bills"],
        ),
        (Fault::Price, &["pays $101 for flight-1000000092, not $100"]),
        (
            Fault::CommitForgotten,
            &["customer 1000000192 has 5 of flight-1000000092, 6 were acknowledged"],
        ),
        (
            Fault::SummaryShort,
            &["have different bills", "are free and 0 on bills"],
        ),
    ];
    for (fault, sentences) in rows {
        // One client, so that it is known which transaction is which.
        let report = run(&Agency::open(fault), several(150));
        let told = report.proof.violations.join("\n");
        for sentence in sentences {
            assert!(told.contains(sentence), "{fault:?}: {told}");
        }
        assert_eq!(report.verdict().exit_code(), 97, "{fault:?}");
    }
}

#[test]
fn a_total_that_is_not_the_sum_of_its_bill_is_found() {
    let report = run(&Agency::open(Fault::WrongTotal), several(5));
    let told = report.proof.violations.join("\n");
    assert!(told.contains("is not the sum of its bill"), "{told}");
}

fn several(transactions: u64) -> Experiment {
    Experiment::Requests {
        transactions,
        managers: vec![Managers::Several],
    }
}

#[test]
fn what_became_of_a_commit_without_an_answer_is_asked() {
    for fault in [Fault::Closes, Fault::ClosesBefore] {
        let report = run(&Agency::open(fault), busy());
        let proof = &report.proof;
        assert_eq!(proof.violations, Vec::<String>::new(), "{fault:?}");
        assert!(proof.unknown > 0, "{fault:?}: {report}");
        // What had not been done is done when it is asked again, unless its time was over.
        let aborted = proof.unknown - proof.unknown_committed;
        assert_eq!(proof.unknown_aborted, aborted, "{fault:?}: {report}");
        assert!(fault == Fault::ClosesBefore || aborted == 0, "{report}");
        let sold = proof.committed + proof.unknown_committed;
        assert_eq!(proof.sold["rooms"], sold, "{report}");
        assert_eq!(report.rates[0].outcomes.unknown, proof.unknown);
    }
}

#[test]
fn a_commit_of_which_nobody_knows_is_there_whole_or_not_at_all() {
    let report = run(&Agency::open(Fault::ClosesAndForgets), busy());
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert!(proof.unknown > 0, "{report}");
    assert_eq!(proof.unknown_committed + proof.unknown_aborted, 0);
    assert!(report.to_string().contains("not known"), "{report}");
    let report = run(&Agency::open(Fault::ClosesInPart), several(30));
    let told = report.proof.violations.join("\n");
    assert!(told.contains("has a part of transaction"), "{told}");
    assert_eq!(report.verdict(), Verdict::Violated);
}

#[test]
fn what_a_lost_connection_left_open_is_ended_and_was_not_sold() {
    let report = run(&Agency::open(Fault::ClosesWithin), busy());
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert!(report.rates[0].outcomes.connections_lost > 0, "{report}");
    assert_eq!((proof.unknown, proof.sold["cars"]), (0, proof.committed));
}

#[test]
fn a_server_that_is_gone_at_the_end_proves_nothing() {
    let report = run(&Agency::open(Fault::Dies), busy());
    assert!(report.proof.unproven.is_some(), "{report}");
    assert_eq!(report.verdict(), Verdict::Invalid);
    assert!(report.to_string().contains("NOT PROVEN"), "{report}");
}
