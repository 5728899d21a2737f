//! Both ends of the wire between an arena and the scores.

use turnstile_duel::{
    Asked, Clerk, Parcel, Player, Refusal, Report, Reported, Reporter, Triple, Verdict,
};

use crate::kernel::Inbox;

const REPORT: Report = Report {
    verdict: Verdict::SecondWon,
    first: Player(17),
    second: Player(4),
};

fn triple(played: u64, won: u64, lost: u64) -> Triple {
    Triple::new(played, won, lost).unwrap()
}

/// One message through the peer's system, read with one `recv`.
fn carry(parcel: &Parcel) -> Vec<u8> {
    let mut inbox = Inbox::default();
    inbox.put(parcel);
    inbox.recv()
}

#[test]
fn results_are_counted_and_both_players_told() {
    let (mut reporter, mut clerk) = (Reporter::default(), Clerk::default());
    for game in 1..4 {
        let asked = carry(&reporter.report(REPORT));
        assert_eq!(asked, b"2:17:4:");
        assert!(reporter.is_in_doubt());
        assert_eq!(
            clerk.hear(&asked),
            Ok(Some((Asked::Count(REPORT), asked.len())))
        );
        // Nothing more is heard until it is counted.
        assert_eq!(clerk.hear(b"anything"), Ok(None));
        let first = carry(&clerk.tell(triple(game, 0, game), triple(9, 3, 1)));
        assert_eq!(first, format!("{game}:0:{game}:").into_bytes());
        let Some((Reported::Counted(wish), 6)) = reporter.hear(&first).unwrap() else {
            panic!("the first triple is told");
        };
        assert!(!reporter.is_in_doubt() && !reporter.is_idle());
        let wish = carry(&wish);
        assert_eq!(wish, [1]);
        let Some((Asked::Second(second), 1)) = clerk.hear(&wish).unwrap() else {
            panic!("the second triple is wanted");
        };
        let second = carry(&second);
        assert_eq!(second, b"9:3:1:");
        let triples = Reported::Triples([triple(game, 0, game), triple(9, 3, 1)]);
        assert_eq!(reporter.hear(&second), Ok(Some((triples, 6))));
        assert!(reporter.is_idle());
    }
}

#[test]
fn an_arena_need_not_want_the_second_triple() {
    let mut clerk = Clerk::default();
    for _game in 0..2 {
        let asked = clerk.hear(b"2:17:4:");
        assert_eq!(asked, Ok(Some((Asked::Count(REPORT), 7))));
        clerk.tell(triple(1, 0, 1), triple(1, 1, 0));
    }
}

#[test]
fn nobody_is_told_what_nobody_asked() {
    let refused = Clerk::default().hear(&[1]);
    assert_eq!(refused, Err(Refusal::NoVerdict { byte: 1 }));
    let refused = Reporter::default().hear(b"1:0:1:");
    assert_eq!(refused, Err(Refusal::OutOfTurn { byte: b'1' }));
}
