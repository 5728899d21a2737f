//! Any bytes, cut anywhere.

use proptest::prelude::*;
use turnstile_lines::{Excerpt, Invalid, LineScan, Lines, limits::LINE_BYTES_MAX, read};

use crate::session::serve;

/// Pieces that streams are made of.
const PIECES: [&str; 27] = [
    "Book",
    "Hold",
    "Itinerary,AB6X5T",
    "start",
    "Commit",
    "AddFlight",
    "ReserveFlight",
    "Bundle",
    "QueryCustomer",
    "AddCustomerID",
    "AddCars",
    "Help",
    "Summary",
    ",",
    ",",
    ",",
    ",1",
    ",1,7",
    ",-1",
    " ",
    "\n",
    "\n",
    "\r\n",
    "oslo",
    "\u{e4}",
    "\0",
    ",99999999999",
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        20 => prop::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
        1 => Just(vec![b'x'; LINE_BYTES_MAX]),
    ];
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_stream_is_answered_alike_wherever_it_is_cut(stream in stream(), piece in 1..300_usize) {
        let whole = serve(&stream, stream.len().max(1));
        prop_assert_eq!(serve(&stream, piece), &*whole);
        prop_assert!(whole.is_empty() || whole.ends_with('\n'));
    }

    #[test]
    fn a_complaint_is_one_line_that_fits_a_terminal(line in any::<String>()) {
        if let Err(why) = read(line.as_bytes()) {
            let told = why.to_string();
            prop_assert!(!told.chars().any(char::is_control), "{}", told);
            prop_assert!(told.len() < 800, "{}", told);
        }
    }
}

#[test]
fn a_line_ends_with_a_line_feed_and_has_a_limit() {
    let longest = [vec![b'x'; LINE_BYTES_MAX], b"\n".to_vec()].concat();
    let longer = [vec![b'x'; LINE_BYTES_MAX + 9], b"\nHelp\n".to_vec()].concat();
    let line = |line, consumed| LineScan::Line { line, consumed };
    let most = LINE_BYTES_MAX;
    let rows = [
        (b"".to_vec(), LineScan::Incomplete { skipped: 0 }),
        (b"Start\r".to_vec(), LineScan::Incomplete { skipped: 0 }),
        (b"Start\r\n".to_vec(), line(0..5, 7)),
        (b"\nStart\n".to_vec(), line(0..0, 1)),
        (longest.clone(), line(0..most, most + 1)),
        (
            longest[..most].to_vec(),
            LineScan::Incomplete { skipped: 0 },
        ),
        (longer.clone(), LineScan::TooLong { consumed: most + 1 }),
    ];
    for (bytes, expected) in rows {
        assert_eq!(Lines::default().next(&bytes), expected);
    }
    let mut lines = Lines::default();
    assert_eq!(
        lines.next(&longer),
        LineScan::TooLong { consumed: most + 1 }
    );
    assert_eq!(lines.next(b"xxx"), LineScan::Incomplete { skipped: 3 });
    assert_eq!(lines.next(b"xxx\nHelp\n"), line(4..8, 9));
    assert_eq!(lines.next(b"Quit\n"), line(0..4, 5));
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let refused = read(b"Start\xff");
    assert_eq!(refused, Err(Invalid::Characters { at: 5 }));
    let name = "x\t".repeat(50);
    let told = Excerpt(&name).to_string();
    assert_eq!(told, format!("\"{}...\"", "x\\t".repeat(20)));
}
