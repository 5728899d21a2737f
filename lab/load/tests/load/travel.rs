//! The travel workload and its proofs.

use std::{collections::BTreeMap, time::Duration};

use turnstile_load::{
    Verdict,
    pace::{Law, Length, Think},
    travel::{self, Config, Contention, Experiment, Managers, Manner, Rate, Report},
};

use turnstile_result::OfferedLoad;

use crate::agency::{Agency, Fault};

fn config(agency: &Agency, experiment: Experiment) -> Config {
    Config {
        address: agency.address.into(),
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
    let [one, several] = &report.points[..] else {
        panic!("{report}");
    };
    for (point, expected) in [
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
        let counted = point.operations.iter().filter(|one| one.done > 0);
        let counted: Vec<(&str, u64)> = counted
            .map(|one| (&*one.name, one.response.count))
            .collect();
        assert_eq!(counted, expected);
        let transaction = &point.wholes[0];
        assert_eq!((transaction.response.count, transaction.done), (40, 50));
    }
    let proof = &report.proof;
    let by_manager = [
        ("cars", 50),
        ("customers", 300),
        ("flights", 200),
        ("rooms", 50),
    ];
    assert_eq!(proof.sold, BTreeMap::from(by_manager));
    assert_eq!((proof.committed, proof.unknown), (100, 0));
    assert_eq!((proof.put_in, proof.reserved), (4_000_000_000, 300));
    assert_eq!(proof.free + proof.reserved, proof.put_in);
    let told = report.to_string();
    for words in [
        "several managers  mean ms  published  published / ours",
        "9.4250",
        "5.0200",
        "start + 4 query + 3 reserve + commit = 1.000 x the transaction: holds",
        "reserve_room: 50 done; mean ",
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
    let mut committed = 0;
    let expected: [(u32, Rate); 4] = [(1, both[0]), (1, both[1]), (4, both[0]), (4, both[1])];
    assert_eq!(report.points.len(), expected.len());
    for (point, (clients, rate)) in report.points.iter().zip(expected) {
        let whole = &point.wholes[0];
        committed += whole.done;
        assert!(whole.done > 0, "{report}");
        let (response, service) = (whole.response.mean_ns, whole.service.mean_ns);
        match (rate, &point.load) {
            // In 320 ms at most 33 are due, and one of each client a percent too early.
            (Rate::PerSecond(_), OfferedLoad::Open { connections, .. }) => {
                assert_eq!(*connections, clients);
                assert!(whole.done <= 33 + 4, "{report}");
                assert!(
                    point.times.lag.count > 0 && point.laws.is_empty(),
                    "{report}"
                );
                assert!(response >= service, "{report}");
            }
            (Rate::Most, OfferedLoad::Closed { users, .. }) => {
                assert_eq!((*users, point.times.lag.count), (clients, 0));
                assert_eq!(whole.response, whole.service);
                assert_eq!(point.laws.len(), 1, "{report}");
            }
            (_, other) => panic!("{rate} is {other:?}"),
        }
    }
    assert_eq!(report.proof.committed, committed);
    let told = report.to_string();
    assert!(told.contains("carried at most"), "{told}");
    assert!(told.contains("4 clients at max: transaction: "), "{told}");
}

#[test]
fn clients_in_each_others_way_are_aborted_and_leave_nothing_half_done() {
    let agency = Agency::open(Fault::None);
    let report = run(&agency, rates(&[8], &[Rate::Most], Contention::Zipf(3.0)));
    let whole = &report.points[0].wholes[0];
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert!(whole.refused["deadlock"] > 0 && whole.done > 0, "{report}");
    assert_eq!(whole.done, report.proof.committed);
    assert!(
        report.to_string().contains(" refused (deadlock)"),
        "{report}"
    );
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
    let rows: [(Fault, &[&str]); 8] = [
        (
            Fault::RoomForgotten,
            &["is room-lab0-", "the bill of customer "],
        ),
        (Fault::CarTwice, &["is car-lab0-", "the bill of customer "]),
        (
            Fault::OtherCustomer,
            &["is 10000000", "lines: [], total: 0 }"],
        ),
        (
            Fault::Seat,
            &[
                "item 92 was shown as ItemOffer { free: 9999995,",
                "item 92 is flight-1000000092",
            ],
        ),
        (Fault::Price, &["price: 101 }", "is 1000000192"]),
        (
            Fault::CommitForgotten,
            &[
                "count: 5, price: 100",
                "but is CustomerBill",
                "count: 6, price: 100",
                "is 1000000192",
            ],
        ),
        (
            Fault::SummaryShort,
            &[
                "reserved: 0, price: 40 }, but is",
                "price: 100 }, BillRow { item: 300, count: 6",
            ],
        ),
        (
            Fault::WrongTotal,
            &[
                "total: 11320 }, but is CustomerBill",
                "the bill of customer ",
            ],
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

/// Requests without an answer.
fn unknown(report: &Report) -> u64 {
    let operations = report.points[0].operations.iter();
    operations.map(|operation| operation.unknown).sum()
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
        assert_eq!(unknown(&report), proof.unknown);
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
    assert!(told.contains("the bill of customer "), "{told}");
    assert_eq!(report.verdict(), Verdict::Violated);
}

#[test]
fn what_a_lost_connection_left_open_is_ended_and_was_not_sold() {
    let report = run(&Agency::open(Fault::ClosesWithin), busy());
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert!(report.points[0].connections_lost > 0, "{report}");
    assert_eq!((proof.unknown, proof.sold["cars"]), (0, proof.committed));
}

#[test]
fn a_server_that_is_gone_at_the_end_proves_nothing() {
    let report = run(&Agency::open(Fault::Dies), busy());
    assert!(report.proof.unproven.is_some(), "{report}");
    assert_eq!(report.verdict(), Verdict::Invalid);
    assert!(report.to_string().contains("NOT PROVEN"), "{report}");
}
