//! The limits of the machine, reached.

use turnstile_seats::{Outcome, Refusal, limits};

use crate::scenery::{Theatre, section, show};

#[test]
fn a_show_has_a_limit_on_its_sections() {
    let mut theatre = Theatre::new();
    theatre.done(&show("gala"));
    for number in 0..limits::SECTIONS_PER_SHOW_MAX {
        theatre.done(&section("gala", &format!("c{number}"), 1, 1));
    }
    let limit = limits::SECTIONS_PER_SHOW_MAX;
    let refused = theatre.apply(&section("gala", "one-more", 1, 1));
    assert_eq!(
        refused,
        Outcome::Refused(Refusal::TooManySections { limit })
    );
}

#[test]
fn a_show_has_a_limit_on_its_seats() {
    let mut theatre = Theatre::new();
    theatre.done(&show("gala"));
    for number in 0..5 {
        theatre.done(&section("gala", &format!("c{number}"), 200, 200));
    }
    let limit = limits::SEATS_PER_SHOW_MAX;
    let refused = theatre.apply(&section("gala", "one-more", 1, 1));
    assert_eq!(refused, Outcome::Refused(Refusal::TooManySeats { limit }));
}

#[test]
fn all_shows_together_have_a_limit_on_their_seats() {
    let mut theatre = Theatre::new();
    for number in 0..100 {
        let name = format!("s{number}");
        theatre.done(&show(&name));
        for number in 0..5 {
            theatre.done(&section(&name, &format!("c{number}"), 200, 200));
        }
    }
    theatre.done(&show("one-more"));
    let limit = limits::SEATS_MAX;
    let refused = theatre.apply(&section("one-more", "stalls", 1, 1));
    assert_eq!(refused, Outcome::Refused(Refusal::TooManySeats { limit }));
}

#[test]
fn there_is_a_limit_on_shows() {
    let mut theatre = Theatre::new();
    for number in 0..limits::SHOWS_MAX {
        theatre.done(&show(&format!("s{number}")));
    }
    let limit = limits::SHOWS_MAX;
    let refused = theatre.apply(&show("one-more"));
    assert_eq!(refused, Outcome::Refused(Refusal::TooManyShows { limit }));
}
