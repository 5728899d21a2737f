//! A history in a file while it is made, to be checked afterwards.
//!
//! The file is a sequence of turns: how far everything was known (position and instant), the length of
//! what was told by then, each in eight bytes, the lowest first, and what was told. It is nothing
//! beyond the run that wrote it.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, ErrorKind, Read as _, Seek as _, Write as _},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::{
    Model,
    horizon::KnownUpTo,
    replay::{Findings, HistoryReplay},
    witness::{COLLECT_INTERVAL, Chronicle},
};

/// The bytes before what was told in a turn.
const HEAD_BYTES: usize = 24;

/// No turn is longer: outboxes have bounds, but for the last letter of each.
const TURN_BYTES_MAX: u64 = 1 << 30;

/// Writes down what users tell; its memory is that of what they tell in some hundredths of a second.
#[derive(Debug)]
pub struct Spool<O> {
    chronicle: Chronicle<O>,
    file: BufWriter<File>,
}

/// A history that is whole.
#[derive(Debug)]
pub struct Spooled {
    file: File,
    /// How many bytes it takes.
    pub bytes: u64,
}

impl<O> Spool<O> {
    /// Into a new file there, which is gone when the program ends: its name is taken away at once.
    ///
    /// # Errors
    /// There cannot be such a file.
    pub fn new(chronicle: Chronicle<O>, path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        std::fs::remove_file(path)?;
        let file = BufWriter::new(file);
        Ok(Self { chronicle, file })
    }

    /// Writes until the load is over, then the rest.
    ///
    /// # Errors
    /// Something could not be written. Users are not held up by that: what they tell is lost then.
    pub fn run(mut self, over: &AtomicBool) -> io::Result<Spooled> {
        while !over.load(Ordering::SeqCst) {
            self.keep()?;
            thread::park_timeout(COLLECT_INTERVAL);
        }
        self.finish()
    }

    /// Writes what was told since the last time.
    ///
    /// # Errors
    /// It could not be written.
    pub fn keep(&mut self) -> io::Result<()> {
        let known = self.chronicle.collect();
        self.write(known)
    }

    /// Writes the rest: nobody asks any more.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(mut self) -> io::Result<Spooled> {
        self.chronicle.collect();
        self.write(KnownUpTo::ALL)?;
        let mut file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        let bytes = file.stream_position()?;
        file.rewind()?;
        Ok(Spooled { file, bytes })
    }

    fn write(&mut self, known: KnownUpTo) -> io::Result<()> {
        let pieces = self.chronicle.pieces();
        let length: usize = pieces.map(<[u8]>::len).sum();
        let length = u64::try_from(length).expect("64 bits hold it");
        for number in [known.position, known.instant, length] {
            self.file.write_all(&number.to_le_bytes())?;
        }
        let mut pieces = self.chronicle.pieces();
        pieces.try_for_each(|piece| self.file.write_all(piece))
    }
}

impl Spooled {
    /// Replays it all; the model as the replay leaves it, and what was found.
    ///
    /// # Errors
    /// It cannot be read, or is not what was written.
    pub fn check<M: Model>(self, model: M) -> io::Result<(M, Findings)> {
        let mut file = BufReader::new(self.file);
        let mut replay = HistoryReplay::new(model);
        let (mut head, mut turn) = ([0; HEAD_BYTES], Vec::new());
        loop {
            file.read_exact(&mut head)?;
            let (known, length) = read(&head)?;
            turn.clear();
            let read = file.by_ref().take(length).read_to_end(&mut turn)?;
            if u64::try_from(read).is_ok_and(|read| read < length) {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let garbled = |error| io::Error::new(ErrorKind::InvalidData, error);
            replay.take(&turn).map_err(garbled)?;
            replay.advance(known);
            if known == KnownUpTo::ALL {
                return Ok(replay.end());
            }
        }
    }
}

/// How far everything was known in a turn, and the length of what was told.
fn read(head: &[u8; HEAD_BYTES]) -> io::Result<(KnownUpTo, u64)> {
    let (numbers, _) = head.as_chunks();
    let [position, instant, length] = [0, 1, 2].map(|place| u64::from_le_bytes(numbers[place]));
    if length > TURN_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    Ok((KnownUpTo { position, instant }, length))
}
