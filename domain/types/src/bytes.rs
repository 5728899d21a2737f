//! The few ways in which machines write themselves down: little-endian, fixed width, lengths
//! before contents.

use std::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::{Name, Night, Stay, Timestamp};

pub fn put_u8(out: &mut Vec<u8>, value: u8) {
    out.push(value);
}

pub fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// A 16-bit length, then the bytes.
///
/// # Panics
/// When there are more than 65,535 bytes: callers write parsed values, which are shorter.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u16(
        out,
        u16::try_from(bytes.len()).expect("a field has at most 65,535 bytes"),
    );
    out.extend_from_slice(bytes);
}

pub fn put_flag(out: &mut Vec<u8>, flag: bool) {
    put_u8(out, u8::from(flag));
}

pub fn put_instant(out: &mut Vec<u8>, instant: Timestamp) {
    put_u64(out, instant.0);
}

/// Reads what the `put_` functions wrote.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    laps: Option<Laps<'a>>,
}

/// How far a long read has come. Other threads see it, and can stop the read.
#[derive(Debug, Default)]
pub struct ReadProgress {
    done: AtomicU64,
    stops: AtomicBool,
}

/// How a reader notes its progress.
#[derive(Clone, Copy, Debug)]
struct Laps<'a> {
    progress: &'a ReadProgress,
    /// Bytes that there were at the beginning.
    total: usize,
    /// It is noted again when so few bytes are left.
    next: usize,
}

/// Progress is noted after every so many bytes: to write a shared counter costs more than to read a
/// member of a list.
const LAP_BYTES: usize = 64 * 1024;

impl ReadProgress {
    /// Bytes or members that are done.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Notes how many are done.
    pub fn set_done(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// Stops the read at its next [lap](Reader::lap).
    pub fn stop(&self) {
        self.stops.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }
}

/// Bytes that are not what they should be: too short, too long, or a value out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What was being read.
    pub field: &'static str,
}

impl Malformed {
    /// The value is out of range, unless the condition holds.
    ///
    /// # Errors
    /// It does not hold.
    pub const fn unless(holds: bool, field: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { field }) }
    }
}

impl<'a> Reader<'a> {
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            laps: None,
        }
    }

    /// A reader whose progress other threads see.
    #[must_use]
    pub const fn watched(bytes: &'a [u8], progress: &'a ReadProgress) -> Self {
        let total = bytes.len();
        Self {
            rest: bytes,
            laps: Some(Laps {
                progress,
                total,
                next: total,
            }),
        }
    }

    /// Notes how far the read has come, if it is watched. To be called for each member of a list that
    /// may have millions.
    ///
    /// # Errors
    /// The read was [stopped](ReadProgress::stop).
    pub fn lap(&mut self) -> Result<(), Malformed> {
        let left = self.rest.len();
        match &mut self.laps {
            Some(laps) if left <= laps.next => {
                laps.next = left.saturating_sub(LAP_BYTES);
                let done = u64::try_from(laps.total - left).unwrap_or(u64::MAX);
                // Clones may read other parts of the same bytes.
                laps.progress.done.fetch_max(done, Ordering::Relaxed);
                Malformed::unless(
                    !laps.progress.is_stopped(),
                    "the rest: the read was stopped",
                )
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn take(&mut self, length: usize, field: &'static str) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(Malformed { field })?;
        self.rest = rest;
        Ok(head)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(Malformed { field })?;
        self.rest = rest;
        Ok(*head)
    }

    /// # Errors
    /// Fewer bytes are left.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, Malformed> {
        self.array::<1>(field).map(u8::from_le_bytes)
    }

    /// # Errors
    /// Fewer bytes are left.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, Malformed> {
        self.array(field).map(u16::from_le_bytes)
    }

    /// # Errors
    /// Fewer bytes are left.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, Malformed> {
        self.array(field).map(u32::from_le_bytes)
    }

    /// # Errors
    /// Fewer bytes are left.
    pub fn u64(&mut self, field: &'static str) -> Result<u64, Malformed> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// What [`put_bytes`] wrote.
    ///
    /// # Errors
    /// Fewer bytes are left than the length says.
    pub fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], Malformed> {
        let length = self.u16(field)?;
        self.take(usize::from(length), field)
    }

    /// What [`put_flag`] wrote.
    ///
    /// # Errors
    /// No byte is left, or it is no flag.
    pub fn flag(&mut self, field: &'static str) -> Result<bool, Malformed> {
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed { field }),
        }
    }

    /// What [`put_instant`] wrote.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn instant(&mut self, field: &'static str) -> Result<Timestamp, Malformed> {
        self.u64(field).map(Timestamp)
    }

    /// A name written by [`put_bytes`].
    ///
    /// # Errors
    /// The bytes are no name.
    pub fn name(&mut self, field: &'static str) -> Result<Name, Malformed> {
        let bytes = self.bytes(field)?;
        Name::parse(bytes).map_err(|_invalid| Malformed { field })
    }

    /// A stay: its arrival in days, then its nights in one byte.
    ///
    /// # Errors
    /// The bytes are no stay.
    pub fn stay(&mut self, field: &'static str) -> Result<Stay, Malformed> {
        let arrival = Night::from_days(self.u16(field)?);
        let nights = u16::from(self.u8(field)?);
        let departure = arrival.checked_add(nights).ok_or(Malformed { field })?;
        Stay::new(arrival, departure).map_err(|_invalid| Malformed { field })
    }

    /// The next byte, which is not taken.
    #[must_use]
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Whether everything has been read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes are left.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Asserts that nothing is left.
    ///
    /// # Errors
    /// Something is.
    pub const fn finish(self, field: &'static str) -> Result<(), Malformed> {
        Malformed::unless(self.rest.is_empty(), field)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed bytes at `{}`", self.field)
    }
}

impl std::error::Error for Malformed {}
