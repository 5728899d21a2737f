//! Any bytes, cut anywhere.

use proptest::prelude::*;
use turnstile_duel::{
    Asked, Claim, Clerk, Duel, DuelSeat, Entry, Greeting, Guest, Heard, Player, Refusal, Report,
    Reporter, Told, Triple, Verdict, limits::MESSAGE_BYTES_MAX,
};

/// Who reads a stream: it answers what it took of the front, or nothing, or why it goes on no more.
trait Reader: Default {
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal>;
}

#[derive(Default)]
struct EntryReader(Entry);

/// The first seat of a duel whose second plays along.
struct DuelReader(Duel);

#[derive(Default)]
struct ClerkReader(Clerk);

struct ReporterReader(Reporter);

struct GuestReader(Guest);

fn triple() -> Triple {
    Triple::new(3, 1, 1).expect("it adds up")
}

const REPORT: Report = Report {
    verdict: Verdict::Drawn,
    first: Player(1),
    second: Player(2),
};

impl Default for DuelReader {
    fn default() -> Self {
        let mut reader = Self(Duel::default());
        reader.push();
        reader
    }
}

impl Default for ReporterReader {
    fn default() -> Self {
        let mut reporter = Reporter::default();
        reporter.report(REPORT);
        Self(reporter)
    }
}

impl Default for GuestReader {
    fn default() -> Self {
        let (own, opponent) = (Player(1), Player(2));
        let mut guest = Guest::default();
        guest.greet(Greeting { own, opponent });
        Self(guest)
    }
}

impl DuelReader {
    fn push(&mut self) {
        while let Some((_, parcel)) = self.0.next_parcel() {
            assert!(parcel.bytes().len() <= MESSAGE_BYTES_MAX + 1);
        }
    }

    fn stand(&mut self, claim: Claim) {
        if claim == Claim::Ordinary {
            self.0.accept();
        } else {
            self.0.accept_last();
        }
        self.push();
    }
}

impl Reader for EntryReader {
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        Ok(self.0.hear(bytes)?.map(|(_, length)| length))
    }
}

impl Reader for DuelReader {
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        let Some((heard, length)) = self.0.hear(DuelSeat::First, bytes)? else {
            return Ok(None);
        };
        match heard {
            Heard::Move(play) => {
                self.stand(play.claim);
                if play.claim == Claim::Ordinary {
                    self.0
                        .hear(DuelSeat::Second, &[4, 1])
                        .expect("it is its turn");
                    self.stand(Claim::Ordinary);
                }
            }
            Heard::Done => {
                self.0.hear(DuelSeat::Second, b"d").expect("it is over");
                self.0.tell(triple(), triple());
                self.push();
                self.0.hear(DuelSeat::Second, &[4, 1]).expect("it begins");
                self.stand(Claim::Ordinary);
            }
        }
        Ok(Some(length))
    }
}

impl Reader for ClerkReader {
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        let heard = self.0.hear(bytes)?;
        if let Some((Asked::Count(_), _)) = heard {
            self.0.tell(triple(), triple());
        }
        Ok(heard.map(|(_, length)| length))
    }
}

impl Reader for ReporterReader {
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        let heard = self.0.hear(bytes)?;
        if self.0.is_idle() {
            self.0.report(REPORT);
        }
        Ok(heard.map(|(_, length)| length))
    }
}

impl Reader for GuestReader {
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        let heard = self.0.hear(bytes)?;
        if let Some((Told::Cell(_) | Told::Start(DuelSeat::First), _)) = heard {
            self.0.finish();
        }
        Ok(heard.map(|(_, length)| length))
    }
}

/// The lengths of all messages of a stream that comes in pieces, and how it ends.
fn read<R: Reader>(stream: &[u8], piece: usize) -> (Vec<usize>, Result<(), Refusal>) {
    let (mut reader, mut lengths) = (R::default(), Vec::new());
    let (mut start, mut end) = (0, 0);
    loop {
        match reader.hear(&stream[start..end]) {
            Err(refusal) => return (lengths, Err(refusal)),
            Ok(Some(length)) => {
                assert!(length > 0 && start + length <= end);
                start += length;
                lengths.push(length);
            }
            Ok(None) => {
                assert!(end - start <= MESSAGE_BYTES_MAX, "it keeps too much");
                if end == stream.len() {
                    return (lengths, Ok(()));
                }
                end = (end + piece).min(stream.len());
            }
        }
    }
}

fn check<R: Reader>(stream: &[u8], piece: usize) {
    let whole = read::<R>(stream, 1);
    assert_eq!(read::<R>(stream, piece), whole);
    assert_eq!(read::<R>(stream, stream.len().max(1)), whole);
}

/// Pieces that streams are made of.
const PIECES: [&[u8]; 20] = [
    b"\x01",
    b"\x02",
    b"\x04\x01",
    b"\x04\x09",
    b"\x08\x05",
    b"\x10\x02",
    b"d",
    b"\x04",
    b"1:",
    b"2:",
    b"3:",
    b"0:",
    b"12:",
    b"4294967295:",
    b"18446744073709551615:",
    b"3:1:2:",
    b"9:4:5:",
    b":",
    b"0",
    b"7",
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        30 => prop::sample::select(&PIECES[..]).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_stream_is_read_alike_wherever_it_is_cut(stream in stream(), piece in 1..9_usize) {
        check::<EntryReader>(&stream, piece);
        check::<DuelReader>(&stream, piece);
        check::<ClerkReader>(&stream, piece);
        check::<ReporterReader>(&stream, piece);
        check::<GuestReader>(&stream, piece);
    }

    #[test]
    fn what_is_written_is_read_as_it_was(played in any::<u64>(), first in any::<u32>(), second in any::<u32>()) {
        let triple = Triple::new(played, 0, 0).expect("it adds up");
        let mut clerk = Clerk::default();
        prop_assume!(first != second);
        let report = Report { verdict: Verdict::FirstWon, first: Player(first), second: Player(second) };
        let mut reporter = Reporter::default();
        let parcel = reporter.report(report);
        prop_assert_eq!(clerk.hear(parcel.bytes()), Ok(Some((Asked::Count(report), parcel.bytes().len()))));
        let told = clerk.tell(triple, triple);
        prop_assert!(reporter.hear(told.bytes()).expect("it is a triple").is_some());
        let second = told.bytes();
        let Some((turnstile_duel::Reported::Triples(triples), _)) = reporter.hear(second).expect("it is a triple") else {
            panic!("both are told");
        };
        prop_assert_eq!(triples, [triple, triple]);
    }
}

#[test]
fn streams_get_far_enough_to_matter() {
    let greeting = read::<EntryReader>(b"\x0112:3:x", 2);
    assert_eq!(greeting, (vec![6], Err(Refusal::OutOfTurn { byte: b'x' })));
    let games = read::<DuelReader>(b"\x04\x01\x08\x02d\x04\x03\x10\x01dd", 1);
    let refused = Err(Refusal::NoClaim { byte: b'd' });
    assert_eq!(games, (vec![2, 2, 1, 2, 2, 1], refused));
    let counts = read::<ClerkReader>(b"1:2:3:\x012:3:2:1:7:8:\x01", 4);
    assert_eq!(counts, (vec![6, 1, 6, 6, 1], Ok(())));
    let answers = read::<ReporterReader>(b"1:1:0:2:0:0:3:1:", 3);
    assert_eq!(answers, (vec![6, 6], Ok(())));
    let told = read::<GuestReader>(b"\x02\x051:0:1:", 1);
    assert_eq!(told, (vec![1, 1, 6], Ok(())));
}
