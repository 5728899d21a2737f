//! The wire of two-player games: any bytes are read alike wherever they are cut, nothing is kept
//! beyond one message, and no message is sent that could meet the one before.

use turnstile_duel::{
    Asked, Claim, Clerk, Duel, DuelSeat, Entry, Heard, Refusal, Triple, limits::MESSAGE_BYTES_MAX,
};

/// Reads `bytes` as a stream, at once and in pieces whose size the first byte chooses.
pub fn run(bytes: &[u8]) {
    let Some((&piece, rest)) = bytes.split_first() else {
        return;
    };
    let piece = usize::from(piece).max(1);
    let (mut one, mut other) = (Entry::default(), Entry::default());
    let greets = |entry: &mut Entry, bytes: &[u8]| Ok(entry.hear(bytes)?.map(|(_, end)| end));
    assert_eq!(
        read(rest, 1, |bytes| greets(&mut one, bytes)),
        read(rest, piece, |bytes| greets(&mut other, bytes))
    );
    let (mut one, mut other) = (Clerk::default(), Clerk::default());
    assert_eq!(
        read(rest, 1, |bytes| counts(&mut one, bytes)),
        read(rest, piece, |bytes| counts(&mut other, bytes))
    );
    let (mut one, mut other) = (Table::new(), Table::new());
    assert_eq!(
        read(rest, 1, |bytes| one.hear(bytes)),
        read(rest, piece, |bytes| other.hear(bytes))
    );
}

/// The lengths of all messages of a stream that comes in pieces, and how it ends.
fn read(
    stream: &[u8],
    piece: usize,
    mut hear: impl FnMut(&[u8]) -> Result<Option<usize>, Refusal>,
) -> (Vec<usize>, Result<(), Refusal>) {
    let (mut lengths, mut start, mut end) = (Vec::new(), 0, 0);
    loop {
        match hear(&stream[start..end]) {
            Err(refusal) => return (lengths, Err(refusal)),
            Ok(Some(length)) => {
                start += length;
                lengths.push(length);
            }
            Ok(None) => {
                assert!(end - start <= MESSAGE_BYTES_MAX.max(piece));
                if end == stream.len() {
                    return (lengths, Ok(()));
                }
                end = (end + piece).min(stream.len());
            }
        }
    }
}

fn triple() -> Triple {
    Triple::new(3, 1, 1).expect("it adds up")
}

fn counts(clerk: &mut Clerk, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
    let heard = clerk.hear(bytes)?;
    if let Some((Asked::Count(_), _)) = heard {
        clerk.tell(triple(), triple());
    }
    Ok(heard.map(|(_, length)| length))
}

/// A duel in which both seats say what the stream says, each in its turn.
struct Table {
    duel: Duel,
    /// Whether the seat may read what it was sent last together with what comes next.
    unread: [bool; 2],
}

impl Table {
    fn new() -> Self {
        let mut table = Self {
            duel: Duel::default(),
            unread: [false; 2],
        };
        table.push();
        table
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        let seat = self.duel.turn();
        let Some((heard, length)) = self.duel.hear(seat, bytes)? else {
            return Ok(None);
        };
        self.unread[seat.index()] = false;
        match heard {
            Heard::Move(play) if play.claim == Claim::Ordinary => self.duel.accept(),
            Heard::Move(_) => self.duel.accept_last(),
            Heard::Done => {
                let other = seat.other();
                self.duel.hear(other, b"d")?;
                self.unread[other.index()] = false;
                self.duel.tell(triple(), triple());
            }
        }
        self.push();
        Ok(Some(length))
    }

    fn push(&mut self) {
        while let Some((to, parcel)) = self.duel.next_parcel() {
            assert!(!self.unread[to.index()], "it could meet the one before");
            self.unread[to.index()] = !parcel.is_marked();
        }
        assert!(DuelSeat::BOTH.iter().any(|seat| self.unread[seat.index()]));
    }
}

#[test]
fn games_go_on_whatever_the_cut() {
    let stream = b"\x04\x01\x04\x02\x08\x03d\x10\x01d\x04\x05d";
    for piece in 1..=255_u8 {
        run(&[&[piece][..], stream].concat());
        run(&[&[piece][..], b"\x0112:7:x"].concat());
        run(&[&[piece][..], b"1:2:3:\x012:3:2:1:7:8:\x01\x01"].concat());
    }
    let mut table = Table::new();
    let refused = Err(Refusal::NoClaim { byte: b'd' });
    let lengths = vec![2, 2, 2, 1, 2, 1, 2];
    assert_eq!(
        read(stream, 3, |bytes| table.hear(bytes)),
        (lengths, refused)
    );
}
