//! Clients that go, after each byte that they say.

use turnstile_duel::{DuelSeat, Standing};

use crate::table::Table;

/// Both play on until this seat has said so many bytes, and then nothing more comes from it.
fn standing_after(seat: DuelSeat, bytes: usize) -> Standing {
    let mut table = Table::new();
    let mut left = bytes;
    for _turn in 0..200 {
        for reader in DuelSeat::BOTH {
            table.read(reader);
            let most = if reader == seat { left } else { usize::MAX };
            let read = most.min(table.sent[reader.index()].len());
            table.serve(reader, read);
            if reader == seat {
                left -= read;
            }
        }
    }
    table.duel.standing()
}

#[test]
fn what_it_means_to_go_is_known_after_every_byte() {
    use Standing::{Decided, NotBegun, Playing};
    // The first says four moves of two bytes, `d`, and in the second game four moves and `d`.
    let first = [
        (0..2, NotBegun),
        (2..8, Playing),
        (8..9, Decided),
        (9..17, Playing),
        (17..18, Decided),
    ];
    // The second says three moves and `d`, and begins the second game with the first of five.
    let second = [
        (0..6, Playing),
        (6..7, Decided),
        (7..9, NotBegun),
        (9..17, Playing),
        (17..18, Decided),
    ];
    for (seat, rows) in [(DuelSeat::First, &first), (DuelSeat::Second, &second)] {
        for (range, standing) in rows {
            for bytes in range.clone() {
                let found = standing_after(seat, bytes);
                assert_eq!(found, *standing, "{seat:?} after {bytes} bytes");
            }
        }
    }
}
