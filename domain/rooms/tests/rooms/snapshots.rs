//! Snapshots: the same state from the same bytes, and nothing from others.

use turnstile_rooms::{Command, Reference, Rooms, Wish, limits};
use turnstile_trial::{
    check_changed, check_cut_or_continued, check_restored, check_watched, context,
};
use turnstile_types::{Machine, Principal, hash_of};

use crate::scenery::{guest, id, name, stay};

/// A small state with something of everything, made by one caller, each command at its instant.
fn lived_in() -> Rooms {
    let mut rooms = Rooms::empty();
    let shop = Principal(name("shop"));
    for (position, (now, command)) in (1..).zip(houses().into_iter().chain(guests())) {
        rooms.apply(&context(position, now, &shop), &command);
    }
    rooms.drain_events(&mut |_| {});
    rooms
}

fn houses() -> Vec<(u64, Command<'static>)> {
    let property = name("grand");
    let mut commands = vec![
        Command::AddProperty {
            property,
            open: false,
        },
        Command::AddProperty {
            property: name("open-house"),
            open: true,
        },
    ];
    for room in ["1", "2", "10"] {
        commands.push(Command::AddRoom {
            property,
            room: name(room),
            room_type: name("single"),
        });
    }
    commands.push(Command::WithdrawRoom {
        property,
        room: name("10"),
    });
    for (from, stopped) in [(40, true), (130, true), (60, false)] {
        commands.push(Command::StopSell {
            property,
            room: name("2"),
            stay: stay(from, 90),
            stopped,
        });
    }
    commands.into_iter().map(|command| (1, command)).collect()
}

fn guests() -> Vec<(u64, Command<'static>)> {
    let book = |property, number| Command::Book {
        property: name(property),
        wish: Wish::Any,
        stay: stay(28, 4),
        guest: guest("ada"),
        id: id(number),
    };
    let hold = |arrival, ttl_ms| Command::Hold {
        property: name("grand"),
        wish: Wish::Any,
        stay: stay(arrival, 2),
        ttl_ms,
    };
    let cancel = |slot| Command::Cancel {
        booking: Reference {
            slot,
            generation: 0,
        },
        id: id(1),
    };
    vec![
        (2, book("grand", 1)),
        (2, book("open-house", 1)),
        (2, book("grand", 1)),
        (2, book("open-house", 2)),
        (3, hold(200, 1)),
        (3, hold(210, limits::HOLD_TTL_MS_MAX)),
        (4, cancel(1)),
        (4, cancel(0)),
    ]
}

#[test]
fn a_restored_machine_has_the_same_hash_and_is_sound() {
    let rooms = lived_in();
    let restored = check_restored(&rooms);
    assert_eq!(restored.totals(), rooms.totals());
}

#[test]
fn the_form_of_a_snapshot_does_not_change_in_silence() {
    assert_eq!(
        format!("{:032x}", hash_of(&lived_in())),
        "62eae2f60ee32c5679b0248c59c147a5",
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
    assert!(refused > bytes * 2, "{refused} bits of {bytes} bytes");
}
