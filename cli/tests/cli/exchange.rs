//! `turnstile exchange replay`: a small file by hand, and a long one beside a naive twin.

mod twin;

use std::{fs, path::Path};

use crate::process::{Ended, run, turnstile};

/// Each message, and the two levels a side that must stand after it, derived by hand: ask price,
/// ask size, bid price, bid size, twice.
const DAY: [(&str, &str); 17] = [
    (
        "34200.000000001,1,1,100,1000000,1",
        "9999999999,0,1000000,100,9999999999,0,-9999999999,0",
    ),
    (
        "34200.1,1,2,50,1000000,1",
        "9999999999,0,1000000,150,9999999999,0,-9999999999,0",
    ),
    (
        "34200.2,1,3,70,999900,1",
        "9999999999,0,1000000,150,9999999999,0,999900,70",
    ),
    (
        "34200.3,1,4,30,1000200,-1",
        "1000200,30,1000000,150,9999999999,0,999900,70",
    ),
    (
        "34200.4,1,5,60,1000100,-1",
        "1000100,60,1000000,150,1000200,30,999900,70",
    ),
    // Of the hundred of order 1, forty are cancelled; the other sixty are executed.
    (
        "34200.5,2,1,40,1000000,1",
        "1000100,60,1000000,110,1000200,30,999900,70",
    ),
    (
        "34200.6,4,1,60,1000000,1",
        "1000100,60,1000000,50,1000200,30,999900,70",
    ),
    (
        "34200.7,5,0,25,1000050,-1",
        "1000100,60,1000000,50,1000200,30,999900,70",
    ),
    (
        "34200.8,3,4,30,1000200,-1",
        "1000100,60,1000000,50,9999999999,0,999900,70",
    ),
    // Orders that were there before the file.
    (
        "34200.9,4,77,10,1000000,1",
        "1000100,60,1000000,50,9999999999,0,999900,70",
    ),
    (
        "34201,2,78,10,1000000,1",
        "1000100,60,1000000,50,9999999999,0,999900,70",
    ),
    (
        "34201.1,3,79,10,1000000,1,null",
        "1000100,60,1000000,50,9999999999,0,999900,70",
    ),
    (
        "34201.2,4,5,20,1000100,-1",
        "1000100,40,1000000,50,9999999999,0,999900,70",
    ),
    (
        "34201.3,7,0,0,-1,-1",
        "1000100,40,1000000,50,9999999999,0,999900,70",
    ),
    (
        "34201.4,6,-1,500,1000050,1",
        "1000100,40,1000000,50,9999999999,0,999900,70",
    ),
    (
        "34201.5,4,2,50,1000000,1",
        "1000100,40,999900,70,9999999999,0,-9999999999,0",
    ),
    (
        "34201.6,3,5,40,1000100,-1",
        "9999999999,0,999900,70,9999999999,0,-9999999999,0",
    ),
];

fn replay(file: &Path, options: &[&str]) -> Ended {
    let mut command = turnstile();
    run(command.args(["exchange", "replay"]).arg(file).args(options))
}

/// A directory with one file of these lines.
fn file_of(lines: &[&str]) -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("message_2.csv");
    fs::write(&file, lines.join("\n")).unwrap();
    (directory, file)
}

#[test]
fn the_book_after_each_message_is_the_one_derived_by_hand() {
    let (_directory, file) = file_of(&DAY.map(|(message, _)| message));
    let ended = replay(&file, &["--levels", "2"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let rows: Vec<&str> = ended.out.lines().collect();
    assert_eq!(rows, DAY.map(|(_, row)| row));
    for (label, count) in [
        ("new orders", "5"),
        ("partly cancelled", "2"),
        ("deleted", "3"),
        ("executed", "4"),
        ("executed, hidden", "1"),
        ("auctions, left out", "1"),
        ("halts, left out", "1"),
        ("  of an order from before the file", "3"),
    ] {
        assert_eq!(ended.noted(label), count, "{label}: {}", ended.err);
    }
    for line in [10, 11, 12] {
        let told = format!("message_2.csv:{line}: of an order from before the file");
        assert!(ended.err.contains(&told), "{}", ended.err);
    }
    assert!(ended.err.contains("17 messages in "), "{}", ended.err);
    assert!(
        ended.err.trim_end().ends_with("messages/s"),
        "{}",
        ended.err
    );
}

#[test]
fn a_replay_that_starts_from_an_opening_book_meets_every_row_of_its_file() {
    // The rest of the day from its fifth message on, but for orders that the book never showed.
    let rest = DAY[4..]
        .iter()
        .filter(|(message, _)| !["77", "78", "79"].contains(&message.split(',').nth(2).unwrap()));
    let (messages, rows): (Vec<&str>, Vec<&str>) = rest.copied().unzip();
    let (directory, file) = file_of(&messages);
    let book = directory.path().join("orderbook_2.csv");
    fs::write(&book, rows.join("\n")).unwrap();
    let book = book.display().to_string();
    let ended = replay(&file, &["--book", &book, "--levels", "2"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.out.lines().collect::<Vec<_>>(), rows);
    assert!(!ended.err.contains("from before the file"), "{ended:?}");
    let (other, file) = file_of(&["34200.4,1,5,61,1000100,-1"]);
    let ended = replay(&file, &["--book", &book]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.err.contains("does not show what the first message"),
        "{ended:?}"
    );
    drop(other);
}

#[test]
fn trades_and_the_top_are_printed_on_request() {
    let (_directory, file) = file_of(&DAY.map(|(message, _)| message));
    let trades = [
        "trade 34200.6 sell 60 @ 100.0000 with 1",
        "trade 34200.7 buy 25 @ 100.0050 with a hidden order",
        "trade 34200.9 sell 10 @ 100.0000 with 77",
        "trade 34201.2 buy 20 @ 100.0100 with 5",
        "trade 34201.5 sell 50 @ 100.0000 with 2",
    ];
    let printed = replay(&file, &["--trades"]).out;
    assert_eq!(printed.lines().collect::<Vec<_>>(), trades);

    let both = replay(&file, &["--trades", "--top"]).out;
    let both: Vec<&str> = both.lines().collect();
    assert_eq!(both.len(), DAY.len() + trades.len());
    assert_eq!(both[0], "top 34200.000000001 bid 100 @ 100.0000 ask none");
    assert_eq!(both[4], "top 34200.4 bid 150 @ 100.0000 ask 60 @ 100.0100");
    assert_eq!(
        both[6..8],
        [trades[0], "top 34200.6 bid 50 @ 100.0000 ask 60 @ 100.0100"]
    );
    assert_eq!(replay(&file, &[]).out, "", "nothing was asked for");
}

#[test]
fn a_bad_line_is_named_and_what_came_before_it_is_there() {
    let (_directory, file) = file_of(&[DAY[0].0, "", "34200.1,1,2,fifty,1000000,1", DAY[2].0]);
    let ended = replay(&file, &["--levels", "2"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.out, format!("{}\n", DAY[0].1));
    let told = "message_2.csv:3:4: no size of 1 or more: `fifty`";
    assert!(ended.err.contains(told), "{}", ended.err);
}

#[test]
fn a_file_without_lines_is_not_held_in_memory() {
    let (_directory, file) = file_of(&["1".repeat(1 << 20).as_str()]);
    let ended = replay(&file, &["--top"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("message_2.csv:1:2: "), "{}", ended.err);
    assert!(ended.err.len() < 4_096, "{}", ended.err.len());
}

#[test]
fn what_cannot_be_done_is_told_apart() {
    let (directory, file) = file_of(&[]);
    let missing = replay(&directory.path().join("nothing.csv"), &[]);
    assert_eq!(missing.code, Some(1));
    assert!(
        missing.err.contains("nothing.csv: No such file"),
        "{missing:?}"
    );
    for options in [
        &["--levels", "0"][..],
        &["--levels", "2", "--top"],
        &["--levels", "x"],
    ] {
        assert_eq!(replay(&file, options).code, Some(2), "{options:?}");
    }
}

#[test]
fn a_long_day_gives_the_same_book_as_a_naive_twin() {
    let day = twin::day(100_000, 1);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("message.csv");
    fs::write(&file, day.messages.join("\n")).unwrap();
    let ended = replay(&file, &["--levels", "5"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(ended.out.lines().count(), day.rows.len());
    for (line, (found, expected)) in ended.out.lines().zip(&day.rows).enumerate() {
        assert_eq!(
            found,
            expected,
            "after line {}: {}",
            line + 1,
            day.messages[line]
        );
    }
    for (label, count) in [
        ("  of an order from before the file", day.unknown),
        ("  execution of an order that was not next", day.out_of_turn),
        ("  price, side or size are not the order's", day.too_much),
    ] {
        assert!(count > 100, "{label}: the day has {count}");
        assert_eq!(ended.noted(label), count.to_string(), "{label}");
    }
    let trades = replay(&file, &["--trades"]).out.lines().count();
    assert_eq!(trades, day.trades);
}
