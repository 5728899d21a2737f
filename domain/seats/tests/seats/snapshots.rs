//! Snapshots: the same state from the same bytes, and nothing from others.

use turnstile_seats::{Command, Seats};
use turnstile_trial::{check_changed, check_cut_or_continued, check_restored, check_watched};
use turnstile_types::{Machine, hash_of};

use crate::scenery::{Theatre, book, hold, name, section, show};

/// A small state with something of everything.
fn lived_in() -> Seats {
    let mut theatre = Theatre::new();
    theatre.done(&show("gala"));
    theatre.done(&section("gala", "stalls", 3, 4));
    theatre.done(&section("gala", "boxes", 1, 2));
    theatre.done(&show("revue"));
    theatre.done(&Command::CloseSale {
        show: name("revue"),
        closed: true,
    });
    theatre.done(&book("best:3", "ann"));
    theatre.done(&book("2-1,3-4", "bob"));
    theatre.done(&hold("best:2"));
    theatre.done(&hold("2-4"));
    theatre.done(&Command::Cancel {
        booking: turnstile_seats::BookingNumber(1),
        buyer: name("ann"),
    });
    theatre.seats
}

#[test]
fn a_restored_machine_has_the_same_hash_and_is_sound() {
    let seats = lived_in();
    let totals = seats.totals();
    assert_eq!((totals.bookings, totals.holds, totals.shows), (1, 2, 2));
    assert_eq!(check_restored(&seats).totals(), totals);
    assert!(check_restored(&Seats::empty()).is_new());
    assert!(!seats.is_new());
}

#[test]
fn the_form_of_a_snapshot_does_not_change_in_silence() {
    assert_eq!(
        format!("{:032x}", hash_of(&lived_in())),
        "42eaf0f38d60e1d17e124e24a6f6e2bd",
        "old snapshots must be read for ever: give a new form a new version"
    );
}

#[test]
fn a_cut_or_continued_snapshot_is_refused() {
    check_cut_or_continued(&lived_in());
}

#[test]
fn the_reading_of_a_snapshot_can_be_watched_and_stopped() {
    check_watched(&lived_in());
}

#[test]
fn a_changed_snapshot_is_refused_or_sound() {
    let (refused, bytes) = check_changed(&lived_in());
    assert!(refused > bytes * 3, "{refused} bits of {bytes} bytes");
}
