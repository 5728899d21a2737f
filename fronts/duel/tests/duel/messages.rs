//! Every message to the byte, and every refusal.

use turnstile_duel::{
    Asked, BoardCell, Claim, Clerk, Duel, DuelSeat, Entry, Greeting, Guest, Heard, Move, Player,
    Refusal, Reporter, Told, Triple, Verdict,
};

/// What is at the front, and what is heard of it.
type Row<T> = (&'static [u8], Result<Option<T>, Refusal>);

fn greeting(own: u32, opponent: u32) -> Greeting {
    Greeting {
        own: Player(own),
        opponent: Player(opponent),
    }
}

/// A duel whose first seat has been told to move.
fn begun() -> Duel {
    let mut duel = Duel::default();
    while duel.next_parcel().is_some() {}
    duel
}

fn over() -> Duel {
    let mut duel = begun();
    duel.hear(DuelSeat::First, &[8, 1]).unwrap();
    duel.accept_last();
    while duel.next_parcel().is_some() {}
    duel
}

#[test]
fn a_greeting_is_a_byte_and_two_numbers() {
    let rows: [Row<(Greeting, usize)>; 14] = [
        (b"", Ok(None)),
        (b"\x01", Ok(None)),
        (b"\x0112:3", Ok(None)),
        (b"\x0112:3:", Ok(Some((greeting(12, 3), 6)))),
        (b"\x010:4294967295:x", Ok(Some((greeting(0, u32::MAX), 14)))),
        (b"1", Err(Refusal::NoGreeting { byte: b'1' })),
        (b"\x01:", Err(Refusal::NoDigit { byte: b':' })),
        (b"\x01-1", Err(Refusal::NoDigit { byte: b'-' })),
        (b"\x011\0", Err(Refusal::NoDigit { byte: 0 })),
        (b"\x0100", Err(Refusal::LeadingZero)),
        (b"\x0107:", Err(Refusal::LeadingZero)),
        (b"\x014294967296:", Err(Refusal::TooLarge)),
        (b"\x0111111111111", Err(Refusal::TooLarge)),
        (b"\x017:7:", Err(Refusal::OwnOpponent)),
    ];
    for (bytes, expected) in rows {
        assert_eq!(Entry::default().hear(bytes), expected, "{bytes:?}");
    }
    let parcel = Guest::default().greet(greeting(12, 3));
    assert_eq!(parcel.bytes(), b"\x0112:3:");
}

#[test]
fn who_has_greeted_waits() {
    let mut entry = Entry::default();
    assert!(entry.hear(b"\x011:2:").unwrap().is_some());
    assert_eq!(entry.hear(b""), Ok(None));
    assert_eq!(entry.hear(b"\x04"), Err(Refusal::OutOfTurn { byte: 4 }));
}

#[test]
fn a_move_is_a_kind_and_a_cell() {
    let heard = |claim, cell| {
        let cell = BoardCell::new(cell).unwrap();
        Ok(Some((Heard::Move(Move { claim, cell }), 2)))
    };
    let rows: [Row<(Heard, usize)>; 9] = [
        (b"", Ok(None)),
        (b"\x04", Ok(None)),
        (b"\x04\x01", heard(Claim::Ordinary, 1)),
        (b"\x08\x09d", heard(Claim::Wins, 9)),
        (b"\x10\x05", heard(Claim::Fills, 5)),
        (b"\x05", Err(Refusal::NoClaim { byte: 5 })),
        (b"d", Err(Refusal::NoClaim { byte: b'd' })),
        (b"\x04\x00", Err(Refusal::NoCell { byte: 0 })),
        (b"\x04\x0a", Err(Refusal::NoCell { byte: 10 })),
    ];
    for (bytes, expected) in rows {
        assert_eq!(begun().hear(DuelSeat::First, bytes), expected, "{bytes:?}");
    }
}

#[test]
fn nobody_speaks_out_of_turn() {
    let refused = |byte| Err(Refusal::OutOfTurn { byte });
    // The other seat, and either seat before it was told that the game begins.
    assert_eq!(begun().hear(DuelSeat::Second, &[4, 1]), refused(4));
    let mut untold = Duel::default();
    assert_eq!(untold.hear(DuelSeat::First, &[4, 1]), refused(4));
    // The other seat while a move is decided, and before the cell that it answers was sent to it.
    let mut duel = begun();
    duel.hear(DuelSeat::First, &[4, 1]).unwrap();
    assert_eq!(duel.hear(DuelSeat::Second, &[4, 2]), refused(4));
    duel.accept();
    assert_eq!(duel.hear(DuelSeat::Second, &[4, 2]), refused(4));
    assert_eq!(duel.hear(DuelSeat::First, &[4, 2]), refused(4));
    // Who is done waits for its statistics; who is not has nothing else to say.
    let mut duel = over();
    let move_after_the_end = duel.hear(DuelSeat::Second, &[4, 2]);
    assert_eq!(move_after_the_end, Err(Refusal::NotDone { byte: 4 }));
    assert_eq!(
        duel.hear(DuelSeat::First, b"dd"),
        Ok(Some((Heard::Done, 1)))
    );
    assert_eq!(duel.hear(DuelSeat::First, b"d"), refused(b'd'));
    assert!(!duel.awaits_triples());
}

#[test]
fn a_client_is_told_only_what_may_come() {
    let begin = |byte: u8| {
        let mut guest = Guest::default();
        assert_eq!(guest.hear(&[byte]), Err(Refusal::OutOfTurn { byte }));
        guest.greet(greeting(1, 2));
        let told = guest.hear(&[byte]);
        (guest, told)
    };
    let (mut first, told) = begin(1);
    assert_eq!(told, Ok(Some((Told::Start(DuelSeat::First), 1))));
    assert_eq!(first.hear(&[2]), Err(Refusal::OutOfTurn { byte: 2 }));
    let (mut second, told) = begin(2);
    assert_eq!(told, Ok(Some((Told::Start(DuelSeat::Second), 1))));
    assert_eq!(second.hear(b"1:"), Err(Refusal::NoCell { byte: b'1' }));
    assert_eq!(begin(3).1, Err(Refusal::NoStart { byte: 3 }));
    let cell = BoardCell::new(5).unwrap();
    let play = Move {
        claim: Claim::Wins,
        cell,
    };
    assert_eq!(first.play(play).bytes(), [8, 5]);
    assert_eq!(first.finish().bytes(), b"d");
    let triple = Triple::new(1, 1, 0).unwrap();
    assert_eq!(first.hear(b"1:1:0"), Ok(None));
    let told = first.hear(b"1:1:0:");
    assert_eq!(told, Ok(Some((Told::Triple(triple), 6))));
    // It made the last move: the other begins.
    assert!(!first.is_to_move());
    let told = second.hear(&[5, 6]);
    assert_eq!(told, Ok(Some((Told::Cell(cell), 1))));
    assert_eq!(second.finish().bytes(), b"d");
    assert!(second.hear(b"1:0:1:").unwrap().is_some());
    assert!(second.is_to_move());
}

#[test]
fn results_and_triples_are_numbers_with_colons() {
    let rows: [Row<usize>; 8] = [
        (b"1:7", Ok(None)),
        (b"3:7:8:", Ok(Some(6))),
        (b"2:4294967295:0:\x01", Ok(Some(15))),
        (b"4", Err(Refusal::NoVerdict { byte: b'4' })),
        (b"\x01", Err(Refusal::NoVerdict { byte: 1 })),
        (b"11", Err(Refusal::NoDigit { byte: b'1' })),
        (b"1:8:8:", Err(Refusal::OwnOpponent)),
        (b"1:4294967296:", Err(Refusal::TooLarge)),
    ];
    for (bytes, expected) in rows {
        let heard = Clerk::default().hear(bytes);
        let length = heard.map(|heard| heard.map(|(_, length)| length));
        assert_eq!(length, expected, "{bytes:?}");
    }
    let drawn = Clerk::default().hear(b"3:7:8:").unwrap().unwrap().0;
    let Asked::Count(report) = drawn else {
        panic!("a result was sent");
    };
    assert_eq!(report.verdict, Verdict::Drawn);
    let rows: [Row<usize>; 6] = [
        (b"18446744073709551615:0:0:", Ok(Some(25))),
        (b"18446744073709551616:", Err(Refusal::TooLarge)),
        (b"111111111111111111111", Err(Refusal::TooLarge)),
        (b"3:1:2:9", Ok(Some(6))),
        (b"3:2:2:", Err(Refusal::Impossible)),
        (b"x", Err(Refusal::NoDigit { byte: b'x' })),
    ];
    for (bytes, expected) in rows {
        let mut reporter = Reporter::default();
        reporter.report(report);
        let heard = reporter.hear(bytes);
        let length = heard.map(|heard| heard.map(|(_, length)| length));
        assert_eq!(length, expected, "{bytes:?}");
    }
}

#[test]
fn no_triple_has_more_decided_than_played() {
    assert_eq!(Triple::new(3, 2, 2), None);
    assert_eq!(Triple::new(u64::MAX, u64::MAX, 1), None);
    assert_eq!(Triple::new(9, 4, 2).unwrap().drawn(), 3);
}
