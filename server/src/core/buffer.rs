//! Bytes that wait: what has come and is not yet decoded, and what is owed and not yet sent.

use std::{
    fmt,
    io::{self, Read, Write},
};

use zeroize::Zeroize as _;

use crate::limits::{OUTPUT_KEPT_BYTES, READ_BYTES};

/// The least room for a read, in bytes.
const ROOM_MIN: usize = 4 * 1_024;

/// A buffer of at most so many bytes may be nearly empty: the next requests will fill it again.
const SHRINK_BYTES: usize = 2 * READ_BYTES;

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// Some bytes; the socket may have more when they filled the room.
    Bytes { count: usize, more: bool },
    /// Nothing was there.
    Nothing,
    /// The peer has ended its side.
    End,
    /// Not what is spoken here: nothing more is read.
    Broken,
}

/// Bytes received. An idle connection keeps none: it borrows the loop's buffer for a turn, and
/// only the start of an unfinished request stays behind in its own.
///
/// Requests carry keys and id numbers in clear. So what was consumed, moved or given up is overwritten:
/// all bytes behind `end` are zero.
#[derive(Default)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({} bytes)", self.end - self.start)
    }
}

impl Drop for Input {
    /// What is freed afterwards would be overwritten by nobody: a plain `fill` may be left out then.
    fn drop(&mut self) {
        self.bytes[..self.end].zeroize();
    }
}

impl Input {
    /// The loop's own buffer, with room for a full read.
    pub(crate) fn roomy() -> Self {
        Self {
            bytes: vec![0; READ_BYTES],
            start: 0,
            end: 0,
        }
    }

    pub(crate) fn pending(&self) -> &[u8] {
        self.bytes
            .get(self.start..self.end)
            .expect("the start is before the end")
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        assert!(self.start <= self.end, "only what is there is consumed");
        if self.is_empty() {
            self.clear();
        }
    }

    /// The memory it takes, in bytes.
    pub(crate) const fn size(&self) -> usize {
        self.bytes.capacity()
    }

    /// Gives back the memory of a large request when little has come of the next.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() {
            *self = Self::default();
        } else if self.bytes.len() > SHRINK_BYTES && self.pending().len() < self.bytes.len() / 4 {
            *self = self.kept();
        }
    }

    /// Keeps what is pending in a buffer of its own, with little room beside.
    pub(crate) fn kept(&self) -> Self {
        let pending = self.pending();
        Self {
            bytes: pending.to_vec(),
            start: 0,
            end: pending.len(),
        }
    }

    /// Forgets all bytes and overwrites them.
    pub(crate) fn clear(&mut self) {
        self.bytes[..self.end].fill(0);
        self.start = 0;
        self.end = 0;
    }

    /// Makes room for so many bytes behind what is pending.
    fn make_room(&mut self, wanted: usize) {
        if self.bytes.len() - self.end >= wanted {
            return;
        }
        let pending = self.end - self.start;
        if self.bytes.len() - pending >= wanted {
            self.bytes.copy_within(self.start..self.end, 0);
            self.bytes[pending..self.end].fill(0);
            (self.start, self.end) = (0, pending);
            return;
        }
        // A vector that grows by itself leaves its old bytes behind.
        let mut grown = Vec::with_capacity(pending + wanted);
        grown.extend_from_slice(self.pending());
        grown.resize(pending + wanted, 0);
        *self = Self {
            bytes: grown,
            start: 0,
            end: pending,
        };
    }

    /// Takes bytes that were read elsewhere.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        let end = self.end + bytes.len();
        let room = self.bytes.get_mut(self.end..end);
        room.expect("room was made").copy_from_slice(bytes);
        self.end = end;
    }

    /// Reads once. Room grows with what has really come, never with what was announced.
    pub(crate) fn fill(&mut self, source: &mut impl Read) -> io::Result<Filled> {
        // Only where little is left: all that is pending is copied for more.
        if self.bytes.len() - self.end < ROOM_MIN {
            let pending = self.end - self.start;
            self.make_room(pending.clamp(ROOM_MIN, READ_BYTES).max(pending / 4));
        }
        let room = self
            .bytes
            .get_mut(self.end..)
            .expect("the end is within the buffer");
        let size = room.len();
        match source.read(room) {
            Ok(0) => Ok(Filled::End),
            Ok(count) => {
                self.end += count;
                Ok(Filled::Bytes {
                    count,
                    more: count == size,
                })
            }
            Err(failure) if failure.kind() == io::ErrorKind::WouldBlock => Ok(Filled::Nothing),
            Err(failure) if failure.kind() == io::ErrorKind::Interrupted => Ok(Filled::Bytes {
                count: 0,
                more: true,
            }),
            Err(failure) => Err(failure),
        }
    }
}

/// Bytes owed to a connection. Replies are encoded straight into it.
///
/// From the front: what was sent, what may be sent, what the group under way has to release, and
/// what the open group will.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    sent: usize,
    released: usize,
    sealed: usize,
}

impl Output {
    /// Where replies are appended.
    pub(crate) const fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The memory it takes, in bytes.
    pub(crate) const fn size(&self) -> usize {
        self.bytes.capacity()
    }

    pub(crate) fn owed(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// What is owed and may not be sent yet.
    pub(crate) fn held(&self) -> usize {
        self.bytes.len() - self.released
    }

    /// All that is here belongs to the group that is now under way, or to earlier ones.
    pub(crate) const fn seal(&mut self) {
        self.sealed = self.bytes.len();
    }

    /// The group under way is durable: what was sealed may be sent.
    pub(crate) fn release_sealed(&mut self) {
        self.released = self.released.max(self.sealed);
    }

    /// So many bytes of what waits for its group may be sent before it.
    pub(crate) const fn release_ahead(&mut self, bytes: usize) {
        self.released += bytes;
        assert!(
            self.released <= self.bytes.len(),
            "only what is there is sent"
        );
    }

    /// Everything so far is durable and may be sent.
    pub(crate) const fn release(&mut self) {
        self.released = self.bytes.len();
    }

    /// Sends what may be sent until the socket takes no more; answers how many bytes went.
    pub(crate) fn flush(&mut self, sink: &mut impl Write) -> io::Result<usize> {
        let begun = self.sent;
        while self.sent < self.released {
            let owed = self
                .bytes
                .get(self.sent..self.released)
                .expect("only what is there was sent");
            match sink.write(owed) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(failure) if failure.kind() == io::ErrorKind::WouldBlock => break,
                Err(failure) if failure.kind() == io::ErrorKind::Interrupted => {}
                Err(failure) => return Err(failure),
            }
        }
        let count = self.sent - begun;
        if self.owed() == 0 {
            self.forget_sent();
            self.bytes.shrink_to(OUTPUT_KEPT_BYTES);
        } else if self.sent >= self.bytes.len() / 2 {
            self.forget_sent();
        }
        Ok(count)
    }

    /// Gives back the memory when nothing is owed.
    pub(crate) fn rest(&mut self) {
        if self.bytes.is_empty() {
            self.bytes = Vec::new();
        }
    }

    fn forget_sent(&mut self) {
        self.bytes.drain(..self.sent);
        self.released -= self.sent;
        self.sealed = self.sealed.saturating_sub(self.sent);
        self.sent = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket that takes some bytes and then no more, until asked again.
    struct Narrow {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = bytes.len().min(self.room);
            self.taken.extend_from_slice(&bytes[..count]);
            self.room -= count;
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn requests_that_were_read_leave_nothing_behind() {
        let request = b"ROOMS.BOOK hotel ... 8001015009087";
        let is_blank = |input: &Input| input.bytes.iter().all(|&byte| byte == 0);

        let mut input = Input::roomy();
        input.fill(&mut &request[..]).unwrap();
        input.consume(10);
        assert!(!is_blank(&input), "the rest is pending");
        input.consume(request.len() - 10);
        assert!(is_blank(&input));

        input.fill(&mut &request[..]).unwrap();
        let kept = input.kept();
        input.clear();
        assert!(is_blank(&input));
        assert_eq!(kept.pending(), request);

        // What is moved to the front leaves nothing behind it.
        let mut input = Input::default();
        input.append(&[1; 60]);
        input.append(&[2; 40]);
        input.consume(90);
        input.append(&[3; 50]);
        assert_eq!(input.pending(), [&[2; 10][..], &[3; 50]].concat());
        input.consume(60);
        assert!(is_blank(&input));
    }

    #[test]
    fn a_byte_more_of_a_long_request_is_read_without_a_copy_of_what_is_there() {
        let mut input = Input::default();
        input.append(&[1; 1 << 20]);
        input.fill(&mut &[2][..]).unwrap();
        let place = input.bytes.as_ptr();
        for _ in 0..100_000 {
            input.fill(&mut &[3][..]).unwrap();
        }
        assert_eq!(input.bytes.as_ptr(), place);
        assert_eq!(input.pending().len(), (1 << 20) + 100_001);
        // It grows by a part of what has come.
        assert!(input.size() <= (1 << 20) / 4 * 5, "{}", input.size());
    }

    #[test]
    fn what_is_owed_is_sent_once_and_in_order() {
        let mut output = Output::default();
        let mut socket = Narrow {
            taken: Vec::new(),
            room: 0,
        };
        let mut expected = Vec::new();
        for round in 0..40_u8 {
            let reply = [round; 7];
            output.tail().extend_from_slice(&reply);
            expected.extend_from_slice(&reply);
            output.release();
            socket.room = 5;
            output.flush(&mut socket).unwrap();
            assert_eq!(socket.taken.len() + output.owed(), expected.len());
        }
        socket.room = usize::MAX;
        output.flush(&mut socket).unwrap();
        assert_eq!((socket.taken, output.owed()), (expected, 0));
    }

    #[test]
    fn nothing_is_sent_before_its_group_released_it() {
        let mut output = Output::default();
        let mut socket = Narrow {
            taken: Vec::new(),
            room: usize::MAX,
        };
        let mut send = |output: &mut Output| {
            output.flush(&mut socket).unwrap();
            String::from_utf8(socket.taken.clone()).unwrap()
        };
        output.tail().extend_from_slice(b"first,");
        output.seal();
        output.tail().extend_from_slice(b"second,");
        assert_eq!(send(&mut output), "");
        output.release_sealed();
        assert_eq!(send(&mut output), "first,");
        output.release_sealed();
        assert_eq!(
            send(&mut output),
            "first,",
            "the second group has not landed"
        );
        output.seal();
        output.tail().extend_from_slice(b"third");
        output.release_sealed();
        assert_eq!(send(&mut output), "first,second,");
        assert_eq!((output.owed(), output.held()), (5, 5));
        output.release();
        assert_eq!(send(&mut output), "first,second,third");
    }

    #[test]
    fn what_need_not_wait_is_sent_ahead_of_its_group() {
        let mut output = Output::default();
        let mut socket = Narrow {
            taken: Vec::new(),
            room: usize::MAX,
        };
        output.tail().extend_from_slice(b"soft,firm");
        output.release_ahead(5);
        output.flush(&mut socket).unwrap();
        assert_eq!((&socket.taken[..], output.held()), (&b"soft,"[..], 4));
        output.release();
        output.flush(&mut socket).unwrap();
        assert_eq!((&socket.taken[..], output.owed()), (&b"soft,firm"[..], 0));
    }

    #[test]
    fn input_grows_with_what_came() {
        let stream: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        let mut source = &stream[..];
        let mut input = Input::default();
        while let Filled::Bytes { .. } = input.fill(&mut source).unwrap() {
            let pending = input.pending().len();
            assert!(input.bytes.len() <= pending * 2 + ROOM_MIN);
        }
        assert_eq!(input.pending(), stream);
        input.consume(299_990);
        assert_eq!(input.kept().pending(), &stream[299_990..]);
        input.shrink();
        assert_eq!((input.pending(), input.size()), (&stream[299_990..], 10));
    }
}
