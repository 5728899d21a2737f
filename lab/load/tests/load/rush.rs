//! Many clients, few rooms.

use turnstile_load::{
    Verdict,
    rush::{self, Config, Report, Wish},
};

use crate::toy::{Fault, Toy};

fn rush(toy: &Toy, rooms: usize, clients: usize, wish: Wish) -> Report {
    let config = Config {
        address: toy.address,
        rooms,
        clients,
        threads: 2,
        wish,
    };
    rush::run(&config, &mut |_progress| {}).unwrap()
}

#[test]
fn every_room_is_sold_once_and_everybody_else_refused() {
    let toy = Toy::start(Fault::None);
    let rows = [
        (1, 60, Wish::Type, 1),
        (1, 60, Wish::Named, 1),
        (4, 60, Wish::Any, 4),
        (4, 60, Wish::Named, 4),
        (9, 5, Wish::Any, 5),
    ];
    for (rooms, clients, wish, sold) in rows {
        let report = rush(&toy, rooms, clients, wish);
        assert_eq!(report.violations, Vec::<String>::new());
        assert_eq!(report.verdict(), Verdict::Fine);
        let clients = u64::try_from(clients).unwrap();
        let counts = (report.asked, report.sold, report.refused, report.twice);
        assert_eq!(counts, (clients, sold, clients - sold, 0), "{wish:?}");
        assert_eq!(report.times.count, clients);
        let line = format!(
            "proof: {clients} asked, {sold} sold, {} refused, 0 twice",
            clients - sold
        );
        assert!(report.to_string().ends_with(&line), "{report}");
    }
}

#[test]
fn a_room_sold_twice_is_found() {
    let report = rush(&Toy::start(Fault::SoldAgain), 2, 20, Wish::Named);
    assert_eq!((report.sold, report.twice), (20, 18));
    assert_eq!(report.verdict().exit_code(), 97);
    let told = report.violations.join("\n");
    assert!(told.contains("room 101 was sold 10 times"), "{told}");
    assert!(told.contains("20 were sold where 2 had to be"), "{told}");
}

#[test]
fn a_sale_that_is_not_listed_is_found() {
    let report = rush(&Toy::start(Fault::BookingLost), 30, 30, Wish::Any);
    assert_eq!(report.verdict(), Verdict::Violated);
    let told = report.violations.join("\n");
    assert!(told.contains("acknowledged sales are not listed"), "{told}");
}

#[test]
fn an_answer_that_never_comes_leaves_the_rush_undecided() {
    let report = rush(&Toy::start(Fault::Closes), 60, 60, Wish::Any);
    assert_eq!(report.violations, Vec::<String>::new());
    assert_eq!((report.sold, report.unknown, report.twice), (59, 1, 0));
    assert_eq!(report.verdict().exit_code(), 98);
}
