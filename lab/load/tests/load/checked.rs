//! Load and proof in one: an honest server passes, and each mutant is caught.

use std::{net::SocketAddr, time::Duration};

use turnstile_client::Connection;
use turnstile_load::{
    Error, Verdict,
    check::{Config, Report, Watch, When},
    exchange::check as exchange,
    games::check as games,
    pace::{Pace, Progress},
    rooms::check as rooms,
    seats::check as seats,
    travel::check as travel,
};
use turnstile_result::Outcome;

use crate::{
    bureau,
    floor::{Fault, Floor},
    inn::{self, Wrong},
    parlour::{self, Parlour},
    seats::{BoxOffice, Fault as SeatsFault},
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
    }
}

fn run(wrong: Wrong) -> Result<Report, Error> {
    rooms::run(&config(wrong), &mut |_progress: &Progress| {})
}

fn trade(fault: Fault) -> Report {
    let config = Config {
        pace: pace(Floor::open(fault).resp),
        when: When::Meanwhile,
        users: 5,
    };
    exchange::run(&config, 2, &mut |_progress: &Progress| {}).unwrap()
}

fn play(fault: parlour::Fault) -> Result<Report, Error> {
    play_at(Parlour::open(fault).address)
}

fn play_at(address: SocketAddr) -> Result<Report, Error> {
    let config = Config {
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
    games::run(&config, &mut |_progress: &Progress| {})
}

/// How often something is run until all that may happen in it has happened, and a mutant is noticed by
/// what it does: on a busy machine a run may be too short for it.
const RUNS_MAX: usize = 5;

/// The sentence is found, and the run is violated.
fn caught(run: impl Fn() -> Report, sentence: &str) {
    let names = |report: &Report| violations(report).iter().any(|one| one.contains(sentence));
    let Some(report) = (0..RUNS_MAX).map(|_| run()).find(names) else {
        let last = run();
        panic!("{sentence}: {last} {:#?}", violations(&last));
    };
    assert_eq!(report.verdict(), Verdict::Violated, "{sentence}: {report}");
    let failed = |rule: &turnstile_result::Rule| rule.outcome == Outcome::Fails;
    assert!(report.point.proof.iter().any(failed));
    assert!(report.to_string().contains("VIOLATED: "), "{report}");
}

/// Every run keeps all promises, and in one of them everything happened that may.
fn proven(run: impl Fn() -> Report, happened: impl Fn(&Report) -> bool) {
    let keeps = |report: Report| {
        assert_eq!(violations(&report), Vec::<String>::new(), "{report}");
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        report
    };
    let all = (0..RUNS_MAX).any(|_| happened(&keeps(run())));
    assert!(all, "{}", keeps(run()));
}

fn has(operation: &turnstile_result::Operation, reasons: &[&str]) -> bool {
    let refused = |reason: &&str| operation.refused.contains_key(*reason);
    operation.done > 0 && reasons.iter().all(refused)
}

fn told(operation: &turnstile_result::Operation) -> u64 {
    operation.done + operation.refused.values().sum::<u64>()
}

fn violations(report: &Report) -> Vec<String> {
    let rules = report.proof.rules.iter();
    rules.flat_map(|rule| rule.violations.clone()).collect()
}

#[test]
fn an_honest_server_is_proven_while_it_is_used() {
    for wrong in [Wrong::Nothing, Wrong::Dribbles] {
        let happened = |report: &Report| {
            let [book, cancel, look, holds @ ..] = &report.point.operations[..] else {
                panic!("seven operations");
            };
            let held: u64 = holds.iter().map(told).sum();
            assert_eq!(report.proof.replayed, told(book) + told(cancel) + held);
            assert_eq!(report.proof.readings, look.done);
            assert_eq!(report.proof.unknown, 0);
            // They get in each other's way, and ask what must be refused.
            has(book, &["sold_out"])
                && has(cancel, &["wrong_guest", "ended"])
                && holds.iter().all(|one| one.done > 0)
        };
        proven(|| run(wrong).unwrap(), happened);
    }
}

#[test]
fn what_is_replayed_afterwards_has_the_same_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let afterwards = |wrong| {
        let mut config = config(wrong);
        let spool = folder.path().join("told");
        config.when = When::Afterwards { spool };
        rooms::run(&config, &mut |_progress: &Progress| {}).unwrap()
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
        caught(|| afterwards(wrong), sentence);
    }
    let mut config = config(Wrong::Nothing);
    let spool = folder.path().join("nowhere/told");
    config.when = When::Afterwards { spool };
    let error = rooms::run(&config, &mut |_progress: &Progress| {}).unwrap_err();
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
        caught(|| run(wrong).unwrap(), sentence);
    }
}

/// Who books by the way, once it is told that the load is over.
struct Stranger {
    server: SocketAddr,
    booked: u32,
}

impl Watch for Stranger {
    fn progress(&mut self, _progress: &Progress) {
        assert_eq!(self.booked, 0, "the load is over");
    }

    fn load_is_over(&mut self) {
        let mut door = Connection::connect(self.server, Duration::from_secs(60)).unwrap();
        let stay = [&b"2027-01-20"[..], b"2027-01-21"];
        let booking = [
            b"ROOMS.BOOK",
            &b"bench"[..],
            b"stranger",
            stay[0],
            stay[1],
            b"eve",
            b"200000000000",
        ];
        door.command(&booking).unwrap();
        self.booked += 1;
    }
}

/// Whoever does something to the server ends that while it is told that the load is over: only then is
/// asked what stands in the end.
#[test]
fn the_end_of_a_load_is_told_before_it_is_asked_what_stands() {
    let server = inn::start(Wrong::Nothing);
    let config = Config {
        pace: pace(server),
        when: When::Meanwhile,
        users: 5,
    };
    let mut stranger = Stranger { server, booked: 0 };
    let report = rooms::run(&config, &mut stranger).unwrap();
    assert_eq!(stranger.booked, 1);
    // The booking is counted, and stands.
    let found = violations(&report);
    let is_counted = |sentence: &String| sentence.contains("the server counts");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(is_counted), "{found:?}");
}

#[test]
fn an_honest_exchange_is_proven_while_it_is_used_and_what_was_lost_is_asked_again() {
    for fault in [Fault::None, Fault::Closes] {
        let happened = |report: &Report| {
            let [order, cancel, look] = &report.point.operations[..] else {
                panic!("three operations");
            };
            assert_eq!(report.proof.unknown, 0);
            let unknown = order.unknown + cancel.unknown + look.unknown;
            // What was lost with the last connections was asked again after the load.
            let checked = report.proof.replayed + report.proof.readings;
            let answered = told(order) + told(cancel) + look.done;
            assert!(
                (answered..=answered + unknown).contains(&checked),
                "{report}"
            );
            let loses = fault == Fault::Closes;
            assert!(loses || unknown == 0, "{report}");
            has(order, &[]) && has(cancel, &[]) && has(look, &[]) && (unknown > 0) == loses
        };
        proven(|| trade(fault), happened);
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
        caught(|| trade(fault), sentence);
    }
}

#[test]
fn honest_games_are_proven_while_they_are_played_and_what_was_lost_is_asked_again() {
    for fault in [parlour::Fault::None, parlour::Fault::ClosesOften] {
        let happened = |report: &Report| {
            assert_eq!(report.proof.unknown, 0);
            let operations = &report.point.operations;
            let unknown: u64 = operations.iter().map(|one| one.unknown).sum();
            let loses = fault == parlour::Fault::ClosesOften;
            assert!(loses || unknown == 0, "{report}");
            // They get in each other's way.
            let meet = [
                (0, &["playing", "waiting"][..]),
                (1, &["playing"]),
                (2, &["not_waiting"]),
                (3, &["playing"]),
                (4, &["stale", "not_your_turn", "over"]),
                (7, &["no_offer"]),
                (8, &[]),
            ];
            let all = meet
                .iter()
                .all(|&(place, reasons)| has(&operations[place], reasons));
            all && (unknown > 0) == loses
        };
        proven(|| play(fault).unwrap(), happened);
    }
}

/// After the load, too: what is asked again then is lost again.
#[test]
fn what_was_lost_is_asked_until_it_is_answered() {
    let report = play(parlour::Fault::ClosesSoon).unwrap();
    assert_eq!(violations(&report), Vec::<String>::new());
    assert_eq!(report.verdict(), Verdict::Fine, "{report}");
    assert_eq!(report.proof.unknown, 0);
}

/// A load that ends while a killed server recovers is asked about when it has recovered.
#[test]
fn what_was_lost_is_asked_when_the_server_has_recovered() {
    let report = play(parlour::Fault::Recovers).unwrap();
    assert_eq!(violations(&report), Vec::<String>::new());
    assert_eq!(report.verdict(), Verdict::Fine, "{report}");
    assert_eq!(report.proof.unknown, 0);
    let unanswered: u64 = report.point.operations.iter().map(|one| one.unknown).sum();
    assert!(unanswered > 0, "{report}");
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
        caught(|| play(fault).unwrap(), sentence);
    }
}

#[test]
fn games_are_not_checked_where_somebody_else_plays() {
    let address = Parlour::open(parlour::Fault::None).address;
    let mut door = Connection::connect(address, Duration::from_secs(60)).unwrap();
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
    plan_with_holds(wrong, None, Duration::from_millis(1_200))
}

/// Of an agency none of whose holds stands for longer after its time.
fn plan_with_holds(
    wrong: bureau::Wrong,
    late_ms_max: Option<u64>,
    length: Duration,
) -> Result<Report, Error> {
    let config = Config {
        pace: Pace {
            threads: 2,
            // Long enough for whoever is slow, that each fault meets somebody, also at the end of a hold.
            ..Pace::closed(bureau::open(wrong), Duration::from_millis(30), length)
        },
        when: When::Meanwhile,
        users: 6,
    };
    travel::run(&config, late_ms_max, &mut |_progress: &Progress| {})
}

#[test]
fn an_honest_agency_is_proven_while_it_is_used_and_what_was_lost_is_asked_again() {
    for wrong in [bureau::Wrong::Nothing, bureau::Wrong::Closes] {
        let happened = |report: &Report| {
            let operations = &report.point.operations;
            let lost: u64 = operations.iter().map(|one| one.unknown).sum();
            let loses = wrong == bureau::Wrong::Closes;
            assert!(loses || lost == 0, "{report}");
            // Of what was booked before and told again the place is not known.
            assert_eq!(report.proof.unknown > 0, lost > 0, "{report}");
            // They get in each other's way, and ask what must be refused.
            let meet = [
                ("commit", &["deadlock"][..]),
                ("abort", &[]),
                ("cancel", &[]),
                ("book", &["sold_out"]),
                ("hold", &[]),
                ("confirm", &[]),
            ];
            let find = |name: &str| operations.iter().find(|one| one.name == name).unwrap();
            let all = meet.iter().all(|&(name, reasons)| has(find(name), reasons));
            all && (lost > 0) == loses
        };
        proven(|| plan(wrong).unwrap(), happened);
    }
}

/// The faults are divided among several tests, which run at once: each is under load for a while.
fn every_fault_is_caught(faults: &[(bureau::Wrong, &str)]) {
    for &(wrong, sentence) in faults {
        caught(|| plan(wrong).unwrap(), sentence);
    }
}

#[test]
fn an_agency_whose_transactions_meet_is_caught() {
    every_fault_is_caught(&[
        (bureau::Wrong::LosesUpdates, "was shown as"),
        (bureau::Wrong::SkewsWrites, "was shown as"),
        (bureau::Wrong::ReadsDirty, "was shown as"),
        (bureau::Wrong::BooksHalf, "was shown as"),
        (bureau::Wrong::KeepsAborted, "was shown as"),
        (bureau::Wrong::SellsTwice, "it is sold twice"),
    ]);
}

#[test]
fn an_agency_that_is_wrong_about_order_prices_and_keys_is_caught() {
    every_fault_is_caught(&[
        (bureau::Wrong::Reorders, "had been answered"),
        (bureau::Wrong::Overcharges, "but costs"),
        (bureau::Wrong::KeepsPrices, "was shown as"),
        (bureau::Wrong::BillsAnew, "was shown as"),
        (bureau::Wrong::ForgetsKeys, "was shown as"),
        (bureau::Wrong::CountsOneMore, "the server counts"),
    ]);
}

#[test]
fn an_agency_that_is_wrong_about_holds_is_caught() {
    every_fault_is_caught(&[
        (bureau::Wrong::EndsEarly, "it ended too early"),
        (bureau::Wrong::NeverEnds, "in the end item"),
        (
            bureau::Wrong::ConfirmsBlindly,
            "was done, but that was over",
        ),
        (bureau::Wrong::ConfirmsNothing, "was shown as"),
        (bureau::Wrong::ReleasesNothing, "was shown as"),
        (bureau::Wrong::HoldsNothing, "was shown as"),
    ]);
}

#[test]
fn a_hold_that_does_not_end_is_caught_while_there_is_load() {
    // Long enough to meet the end of a hold on a busy machine, too.
    let length = Duration::from_secs(4);
    let late = || plan_with_holds(bureau::Wrong::NeverEnds, Some(50), length).unwrap();
    caught(late, "was done, but that was over");
}

#[test]
fn an_agency_that_tells_no_places_is_not_checked() {
    let Err(Error::Preparation { command, answer }) = plan(bureau::Wrong::NoPosition) else {
        panic!("there is no order to replay");
    };
    assert_eq!(command, "TRAVEL.COMMIT");
    assert!(answer.contains("done"), "{answer}");
}

fn sell(fault: SeatsFault) -> Report {
    let config = Config {
        pace: Pace {
            threads: 2,
            pipeline: 3,
            // Long enough to fill the show, where the machine is busy, too.
            ..Pace::closed(
                BoxOffice::open(fault),
                Duration::from_millis(30),
                Duration::from_millis(800),
            )
        },
        when: When::Meanwhile,
        users: 6,
    };
    seats::run(&config, &mut |_progress: &Progress| {}).unwrap()
}

#[test]
fn honest_seats_are_proven_while_they_are_sold_and_what_was_lost_is_asked_again() {
    for fault in [SeatsFault::None, SeatsFault::Closes] {
        let happened = |report: &Report| {
            assert_eq!(report.proof.unknown, 0);
            let operations = &report.point.operations;
            let lost: u64 = operations.iter().map(|one| one.unknown).sum();
            let loses = fault == SeatsFault::Closes;
            assert!(loses || lost == 0, "{report}");
            // They get in each other's way, and ask what must be refused.
            let meet = [
                ("book", &["taken", "not_adjacent", "sale_closed"][..]),
                ("cancel", &["ended", "wrong_buyer", "not_confirmed"]),
                ("hold", &["taken"]),
                ("confirm", &["ended"]),
                ("release", &["already_confirmed"]),
                ("sale", &[]),
                ("look", &["ended"]),
            ];
            let find = |name: &str| operations.iter().find(|one| one.name == name).unwrap();
            let all = meet.iter().all(|&(name, reasons)| has(find(name), reasons));
            all && (lost > 0) == loses
        };
        proven(|| sell(fault), happened);
    }
}

#[test]
fn every_mutant_of_seats_is_caught() {
    let rows = [
        (SeatsFault::BookingLost, "by the replay it is"),
        (SeatsFault::CancelIgnored, "by the replay it is"),
        (SeatsFault::SoldTwice, "so it is sold twice"),
        (SeatsFault::ReferenceTwice, "which was given before"),
        (SeatsFault::ListedTwice, "is listed as"),
        (SeatsFault::CountsOneMore, "section s0 has"),
        (SeatsFault::ForgetsKeys, "by the replay it is"),
        (SeatsFault::CancelsForAll, "by the replay it is WrongBuyer"),
        (SeatsFault::EndsEarly, "it ended too early"),
        (SeatsFault::NeverEnds, "by the replay it is"),
        (SeatsFault::ConfirmsNothing, "by the replay it is"),
        (SeatsFault::ReleasesNothing, "by the replay it is"),
        // Nor does it release the seat that tells the time.
        (SeatsFault::NeverReleases, "by the replay it is"),
        (SeatsFault::SellsWhenClosed, "by the replay it is NotOnSale"),
        (SeatsFault::BestIsLast, "by the replay it is Booked"),
        (SeatsFault::Reorders, "had been answered"),
        (
            SeatsFault::ReadsStale,
            "which was not true at any instant of that",
        ),
        (SeatsFault::BooksOneMore, "the server counts"),
    ];
    for (fault, sentence) in rows {
        caught(|| sell(fault), sentence);
    }
}
