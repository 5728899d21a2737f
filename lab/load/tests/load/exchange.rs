//! The exchange workload and its proofs.

use std::time::Duration;

use turnstile_load::{
    Verdict,
    exchange::{self, Config, Door, Report},
    pace::{Length, Pace},
};

use crate::floor::{Fault, Floor};

fn config(floor: &Floor, door: Door) -> Config {
    Config {
        door,
        pace: Pace {
            threads: 2,
            pipeline: 3,
            ..Pace::closed(
                match door {
                    Door::Resp => floor.resp,
                    Door::Xml => floor.xml,
                },
                Duration::from_millis(50),
                Duration::from_millis(400),
            )
        },
        proof: None,
        users: 5,
        symbols: 2,
        one_shot: None,
    }
}

fn run(config: &Config) -> Report {
    exchange::run(config, &mut |_progress| {}).unwrap()
}

#[test]
fn on_an_honest_floor_every_cent_and_every_share_is_found() {
    let floor = Floor::open(Fault::None);
    let report = run(&config(&floor, Door::Resp));
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert_ne!(report.verdict(), Verdict::Violated);
    assert_eq!(
        (proof.by, proof.accounts, proof.symbols),
        ("accounts", 20, 2)
    );
    assert_eq!(proof.cash_put_in, "2000000000");
    assert_eq!(proof.cash_found, proof.cash_put_in);
    assert_eq!(proof.shares_put_in, "40000000");
    assert_eq!(proof.shares_found, proof.shares_put_in);
    assert_ne!(proof.cash_reserved, "0", "orders are open at the end");
    assert!(proof.trades > 0, "{report}");

    let [order, cancel] = &report.point.operations[..] else {
        panic!("two operations");
    };
    assert_eq!((&*order.name, order.done), ("order", proof.orders));
    assert_eq!(proof.orders_by_server, proof.orders);
    assert_eq!((proof.statuses, proof.left_out), (proof.orders, 0));
    assert!(
        order.refused.is_empty() && order.errors.is_empty(),
        "{report}"
    );
    assert!(cancel.done > 0, "{report}");
    let refused: Vec<&String> = cancel.refused.keys().collect();
    assert!(
        refused.iter().all(|reason| *reason == "not_open"),
        "{report}"
    );
    assert!(
        report.to_string().contains("2000000000 found ("),
        "{report}"
    );
}

#[test]
fn a_second_run_on_the_same_floor_has_a_market_of_its_own() {
    let floor = Floor::open(Fault::None);
    for door in [Door::Resp, Door::Resp, Door::Xml, Door::Xml] {
        let report = run(&config(&floor, door));
        assert_eq!(report.proof.violations, Vec::<String>::new());
    }
}

#[test]
fn over_xml_the_books_are_looked_into_where_they_can_be() {
    let floor = Floor::open(Fault::None);
    let mut config = config(&floor, Door::Xml);
    config.proof = Some(floor.resp.into());
    let proof = run(&config).proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert_eq!(
        (proof.by, proof.cash_found.as_str()),
        ("accounts", "2000000000")
    );
    assert!(proof.trades > 0 && proof.orders == proof.orders_by_server);
}

#[test]
fn over_xml_alone_what_was_bought_was_sold() {
    let floor = Floor::open(Fault::None);
    let report = run(&config(&floor, Door::Xml));
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert_eq!((proof.by, proof.left_out), ("statuses", 0));
    assert_eq!(proof.statuses, proof.orders);
    assert_eq!(proof.orders, report.point.operations[0].done);
    assert_ne!(proof.shares_put_in, "0");
    assert_eq!(proof.shares_put_in, proof.shares_found);
    assert_eq!(proof.cash_put_in, proof.cash_found);
    let told = report.to_string();
    assert!(told.contains("this door tells no balance"), "{told}");
}

#[test]
fn every_broken_promise_is_found() {
    let both = [Door::Resp, Door::Xml];
    let rows = [
        (
            Fault::Cent,
            &both[..1],
            "2000000000 dollars were put in, and 2000000000.01",
        ),
        (
            Fault::Share,
            &both[..1],
            "the accounts hold 20000001, and 20000001",
        ),
        (Fault::Carries, &both[..1], "account 10000 was given"),
        (Fault::Carries, &both[..1], "account 10019 was given"),
        (Fault::CountsOneMore, &both[..1], "the server counts"),
        (
            Fault::HidesExecutions,
            &both[..1],
            "were executed when it was accepted, now it says 0",
        ),
        (Fault::HidesExecutions, &both, "shares were bought for"),
        (Fault::SaysOpen, &both, "had ended, and is open"),
    ];
    let rows = rows.iter().flat_map(|(fault, doors, sentence)| {
        doors.iter().map(move |door| (*fault, *door, *sentence))
    });
    for (fault, door, sentence) in rows {
        let report = run(&config(&Floor::open(fault), door));
        let told = report.proof.violations.join("\n");
        assert!(told.contains(sentence), "{fault:?}: {told}");
        assert_eq!(report.verdict().exit_code(), 97, "{fault:?}");
    }
}

#[test]
fn answers_that_never_come_widen_the_count_and_leave_statuses_unproven() {
    // A floor each: a fault must not fall into the preparations of a run.
    let floor = Floor::open(Fault::Closes);
    let report = run(&config(&floor, Door::Resp));
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert!(report.proof.unknown > 0 && report.point.connections_lost > 0);
    let floor = Floor::open(Fault::Closes);
    let report = run(&config(&floor, Door::Xml));
    assert_eq!(report.verdict(), Verdict::Invalid, "{report}");
}

/// A database was lost while it committed: what its server had no key for it answers by `UNKNOWN`, and so
/// does the XML door in words of its own. Such orders were taken for refused, and their trades for money
/// that appears and vanishes.
#[test]
fn answers_that_say_unknown_are_as_those_that_never_come() {
    for door in [Door::Resp, Door::Xml] {
        let report = run(&config(&Floor::open(Fault::Unknown), door));
        let (proof, operations) = (&report.proof, &report.point.operations);
        assert_eq!(proof.violations, Vec::<String>::new(), "{door:?}");
        let unknown: u64 = operations.iter().map(|row| row.unknown).sum();
        assert!(unknown > 0 && proof.unknown == unknown, "{report}");
        let [order, cancel] = &operations[..] else {
            panic!("two operations");
        };
        assert_eq!(order.refused.len() + order.errors.len(), 0, "{report}");
        assert_eq!(cancel.errors.len(), 0, "{report}");
        let verdict = report.verdict();
        assert_eq!(verdict == Verdict::Invalid, door == Door::Xml, "{report}");
    }
}

/// The accounts and orders of a server that recovered were taken for lost.
#[test]
fn a_server_that_recovers_is_waited_for_or_nothing_is_proven() {
    let report = run(&config(&Floor::open(Fault::Recovers), Door::Resp));
    let proof = &report.proof;
    assert_eq!(proof.violations, Vec::<String>::new());
    assert!(report.point.connections_lost > 0, "{report}");
    assert_eq!((proof.statuses, proof.is_proof()), (proof.orders, true));
    // Over XML nobody is told how far it is.
    let floor = Floor::open(Fault::Recovers);
    let mut config = config(&floor, Door::Xml);
    let report = run(&config);
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert_eq!(report.verdict(), Verdict::Invalid, "{report}");
    let unproven = report.proof.unproven.as_deref().unwrap_or_default();
    assert!(unproven.contains("recovers"), "{report}");
    // Where it can be asked over RESP, it is waited for.
    let floor = Floor::open(Fault::Recovers);
    config.pace.address = floor.xml.into();
    config.proof = Some(floor.resp.into());
    let report = run(&config);
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert_eq!(report.proof.unproven, None);
}

#[test]
fn in_a_one_shot_run_each_trader_connects_and_asks_once() {
    for (door, at_once) in [(Door::Xml, 300), (Door::Resp, 7), (Door::Xml, 1)] {
        let floor = Floor::open(Fault::None);
        let mut config = config(&floor, door);
        config.users = 300;
        config.pace.pipeline = 1;
        config.one_shot = Some(at_once);
        config.pace.length = Length::Fixed {
            warm_up: Duration::ZERO,
            duration: Duration::from_secs(60),
        };
        let report = run(&config);
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        let done = report.point.operations[0].done;
        assert_eq!(
            (done, report.point.times.response.count),
            (300, 300),
            "{report}"
        );
        assert_eq!(report.point.operations[1].done, 0);
        assert_eq!(
            report.point.connections_lost + report.point.connects_failed,
            0
        );
        assert!(report.point.window_s > 0.0 && report.point.window_s < 60.0);
        assert_eq!(report.proof.orders, 300);
    }
}
