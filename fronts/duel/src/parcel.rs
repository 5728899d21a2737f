//! What goes into one send.

use crate::{
    BoardCell, DuelSeat, Greeting, Move, Player, Report, Triple,
    limits::PARCEL_BYTES_MAX,
    scan::{DONE, ONE},
};

/// The byte of a mark. No peer reads it.
const MARK: u8 = 0;

/// One message, whole: it MUST meet the socket in one send, for the peer reads it with one `recv`.
///
/// Where it is [marked](Self::is_marked), its last byte is no part of the message and MUST be sent
/// as TCP's urgent byte (`MSG_OOB`, which marks the last byte of a send). No `recv` reads beyond an
/// urgent byte that it has not come to, and the byte itself is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    bytes: [u8; PARCEL_BYTES_MAX],
    length: usize,
    is_marked: bool,
}

impl Parcel {
    const EMPTY: Self = Self {
        bytes: [0; PARCEL_BYTES_MAX],
        length: 0,
        is_marked: false,
    };

    pub(crate) fn greeting(greeting: Greeting) -> Self {
        let Greeting { own, opponent } = greeting;
        Self::byte(ONE).player(own).player(opponent)
    }

    pub(crate) fn start(seat: DuelSeat) -> Self {
        Self::byte(seat.byte())
    }

    pub(crate) fn play(play: Move) -> Self {
        Self::byte(play.claim.byte()).and(play.cell.number())
    }

    pub(crate) fn cell(cell: BoardCell) -> Self {
        Self::byte(cell.number())
    }

    pub(crate) fn done() -> Self {
        Self::byte(DONE)
    }

    pub(crate) fn report(report: Report) -> Self {
        let verdict = Self::byte(report.verdict.byte()).and(b':');
        verdict.player(report.first).player(report.second)
    }

    pub(crate) fn second_triple() -> Self {
        Self::byte(ONE)
    }

    pub(crate) fn triple(triple: Triple) -> Self {
        let played = Self::EMPTY.number(triple.played());
        played.number(triple.won()).number(triple.lost())
    }

    /// The same with a mark behind it.
    pub(crate) fn marked(self) -> Self {
        Self {
            is_marked: true,
            ..self.and(MARK)
        }
    }

    /// All that is to be sent: the message, and the mark where there is one.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The message without its mark: for a stream that has no urgent byte.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        &self.bytes[..self.length - usize::from(self.is_marked)]
    }

    #[must_use]
    pub const fn is_marked(&self) -> bool {
        self.is_marked
    }

    fn byte(byte: u8) -> Self {
        Self::EMPTY.and(byte)
    }

    fn and(mut self, byte: u8) -> Self {
        self.bytes[self.length] = byte;
        self.length += 1;
        self
    }

    fn player(self, player: Player) -> Self {
        self.number(player.0.into())
    }

    fn number(mut self, number: u64) -> Self {
        let start = self.length;
        let mut rest = number;
        loop {
            let digit = u8::try_from(rest % 10).expect("a digit is less than ten");
            self = self.and(b'0' + digit);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes[start..self.length].reverse();
        self.and(b':')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_no_part_of_the_message() {
        let plain = Parcel::second_triple();
        let marked = plain.marked();
        assert_eq!(
            (plain.bytes(), plain.message()),
            (&b"\x01"[..], &b"\x01"[..])
        );
        assert_eq!(
            (marked.bytes(), marked.message()),
            (&b"\x01\0"[..], &b"\x01"[..])
        );
    }
}
