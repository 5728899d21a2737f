//! A state taken apart and put together again, and pieces that do not fit.

use turnstile_rooms::{Assembly, Counted, Misfit, Piece, Rooms};
use turnstile_types::{Machine, Night, Timestamp};

use crate::scenery::name;

/// Puts pieces together, and makes sure that the state is sound and has the same pieces.
pub(crate) fn check_pieces(rooms: &Rooms, now: Timestamp) {
    let pieces: Vec<Piece> = rooms.pieces(now).collect();
    let mut assembly = Assembly::new();
    for piece in pieces.clone() {
        assembly.add(piece).unwrap();
    }
    let assembled = assembly.finish().unwrap();
    assert_eq!(assembled.check(), Ok(()));
    assert_eq!(assembled.pieces(now).collect::<Vec<_>>(), pieces);
    assert_eq!(assembled.slots_used(), rooms.slots_used());
}

fn house(open: bool) -> Piece {
    Piece::Property {
        name: name("grand"),
        open,
    }
}

fn room(number: &str, loose: bool) -> Piece {
    Piece::Room {
        property: name("grand"),
        name: name(number),
        room_type: name(if loose { "open" } else { "single" }),
        loose,
        withdrawn: false,
    }
}

fn stopped(first: u16, nights: u16) -> Piece {
    Piece::Stopped {
        property: name("grand"),
        room: name("1"),
        first: Night::from_days(first),
        nights,
    }
}

#[test]
fn a_piece_that_cannot_be_true_is_refused_with_what_is_wrong() {
    let over = |slot, next| Piece::Over { slot, next };
    let done = |booked| {
        Piece::Totals(Counted {
            booked,
            ..Counted::default()
        })
    };
    let rows = [
        (vec![house(true), house(false)], "property"),
        (vec![room("1", false)], "property"),
        (
            vec![house(true), room("1", false), room("1", false)],
            "room",
        ),
        (vec![house(false), room("1", true)], "loose"),
        (vec![house(false), stopped(3, 4)], "room"),
        (
            vec![house(false), room("1", false), stopped(3, 0)],
            "stopped",
        ),
        (
            vec![house(false), room("1", false), stopped(9, u16::MAX)],
            "stopped",
        ),
        (vec![over(1, Some(1))], "slot"),
        (vec![over(0, Some(1)), over(0, Some(1))], "slot"),
        (vec![over(0, Some(0))], "generation"),
        (vec![done(1)], "totals"),
        (vec![done(0), house(true)], "order"),
    ];
    for (pieces, field) in rows {
        let (last, before) = pieces.split_last().unwrap();
        let mut assembly = Assembly::new();
        for piece in before {
            assembly.add(piece.clone()).unwrap();
        }
        let misfit = Misfit {
            piece: Box::new(last.clone()),
            field,
        };
        assert_eq!(assembly.add(last.clone()), Err(misfit));
    }
    assert!(Assembly::new().finish().is_err());
}
