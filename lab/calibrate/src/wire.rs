//! What a server of known delays and its guests say to each other.

use std::{
    io::{self, ErrorKind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use turnstile_client::resp::{self, ReplyLimits};
use turnstile_load::pace::{Answer, Ended, Garbled, ParsedAnswer, User};

use crate::diary::RequestLog;

/// A request, and its answer, is its number.
pub const FRAME_BYTES: usize = 8;

const HTTP_ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// How requests look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Each is its number, and so is its answer.
    Numbers,
    /// Commands of RESP, to each of which the answer is `+OK`.
    Resp,
    /// Requests of HTTP/1.1 without a body.
    Http,
}

impl Wire {
    /// The first request of some bytes: its length and its number, where it has one; nothing when
    /// more bytes are needed.
    ///
    /// # Errors
    /// The bytes are no request.
    pub(crate) fn request(self, bytes: &[u8]) -> io::Result<Option<(usize, u64)>> {
        let length = match self {
            Self::Numbers => {
                let frame = bytes.first_chunk::<FRAME_BYTES>();
                return Ok(frame.map(|frame| (FRAME_BYTES, u64::from_le_bytes(*frame))));
            }
            Self::Resp => resp::reply_length(bytes, &ReplyLimits::REPLY)
                .map_err(|_malformed| io::Error::from(ErrorKind::InvalidData))?,
            Self::Http => bytes
                .windows(4)
                .position(|end| end == b"\r\n\r\n")
                .map(|end| end + 4),
        };
        Ok(length.map(|length| (length, 0)))
    }

    pub(crate) fn put_answer(self, number: u64, out: &mut Vec<u8>) {
        match self {
            Self::Numbers => out.extend_from_slice(&number.to_le_bytes()),
            Self::Resp => out.extend_from_slice(b"+OK\r\n"),
            Self::Http => out.extend_from_slice(HTTP_ANSWER),
        }
    }
}

pub(crate) const fn put_frame(number: u64, frame: &mut [u8; FRAME_BYTES]) {
    *frame = number.to_le_bytes();
}

/// A guest that numbers its requests, together with all others of its run: in an open loop of one
/// thread the n-th of the schedule has the number n.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    next: Arc<AtomicU64>,
    /// What it writes down, if anything.
    diary: Option<Arc<RequestLog>>,
    now: Option<Instant>,
    /// When the generator last looked in vain.
    looked: Option<Instant>,
}

impl Asker {
    /// So many guests with one count.
    #[must_use]
    pub fn crowd(guests: usize) -> Vec<Self> {
        vec![Self::default(); guests]
    }

    /// The same, who write down what they do.
    #[must_use]
    pub fn witnesses(guests: usize, diary: &Arc<RequestLog>) -> Vec<Self> {
        let witness = Self {
            diary: Some(Arc::clone(diary)),
            ..Self::default()
        };
        vec![witness; guests]
    }

    /// How many all of them have asked.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

impl User for Asker {
    type Ask = u64;

    const OPERATIONS: &'static [&'static str] = &["number"];

    const REQUEST_BYTES_MAX: usize = FRAME_BYTES;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        out.extend_from_slice(&number.to_le_bytes());
        if let (Some(diary), Some(now)) = (&self.diary, self.now) {
            diary.asks(number, now);
        }
        Some(number)
    }

    fn at(&mut self, now: Instant) {
        self.now = Some(now);
    }

    fn looked(&mut self, in_vain: Instant) {
        self.looked = Some(in_vain);
    }

    fn heard(&mut self, number: &u64, _due: u64, _free: u64) -> Option<Ended> {
        if let (Some(diary), Some(looked), Some(now)) = (&self.diary, self.looked, self.now) {
            diary.hears(*number, looked, now);
        }
        None
    }

    fn operation(_number: &u64) -> usize {
        0
    }

    fn hear<'a>(
        &mut self,
        number: &u64,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        match bytes.first_chunk::<FRAME_BYTES>() {
            None => Ok(None),
            Some(frame) if u64::from_le_bytes(*frame) == *number => Ok(Some(ParsedAnswer {
                length: FRAME_BYTES,
                answer: Answer::Done,
            })),
            Some(_other) => Err(Garbled),
        }
    }
}
