//! Lines on their way to a file or a collector: a bounded queue, and the thread that empties it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{LineFormat, RequestLine};
use crate::{
    core::log_limit::LogLimit,
    counters::{Counter, Counters},
    limits::{ACCESS_LINES, SPANS_GATHERED, TRACED_REQUESTS},
};

/// Who else may read the file: the group. It names principals and addresses.
const MODE: u32 = 0o640;

/// Where the access log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPlace {
    /// Standard error, among the lines of the log.
    Stderr,
    /// A file that is appended to, and made if it is not there.
    File(PathBuf),
}

/// What becomes of lines.
pub(super) trait LineSink {
    /// Takes lines.
    ///
    /// # Errors
    /// It cannot, and they are lost.
    fn take(&mut self, lines: &[RequestLine]) -> io::Result<()>;

    /// What it writes to may have been renamed.
    fn reopen(&mut self) {}
}

/// What a queue is for.
#[derive(Debug)]
pub(super) struct QueuePurpose {
    /// Lines that wait; beyond it they are dropped.
    lines_max: usize,
    /// How long lines wait for others to go with them.
    gather: Duration,
    /// What is said when its lines are dropped, and when some are left at the end.
    dropping: &'static str,
    unfinished: &'static str,
    taken: fn(&Counters) -> &Counter,
    dropped: fn(&Counters) -> &Counter,
}

pub(super) const ACCESS: QueuePurpose = QueuePurpose {
    lines_max: ACCESS_LINES,
    gather: Duration::ZERO,
    dropping: "the access log cannot be written",
    unfinished: "the access log was not written to its end in time",
    taken: |all| &all.access_lines,
    dropped: |all| &all.access_lines_dropped,
};

pub(super) const TRACES: QueuePurpose = QueuePurpose {
    lines_max: TRACED_REQUESTS,
    gather: SPANS_GATHERED,
    dropping: "spans cannot be sent to the collector",
    unfinished: "the last spans were not sent in time",
    taken: |all| &all.traced_requests,
    dropped: |all| &all.traced_requests_dropped,
};

/// Lines that are still to be taken.
#[derive(Debug, Default)]
struct UntakenLines {
    lines: Vec<RequestLine>,
    reopens: bool,
    is_ending: bool,
    has_ended: bool,
}

/// A queue of lines for one sink.
///
/// Whoever answers requests holds the lock while it adds lines, and the thread of the sink holds it while
/// it takes all of them: both are short. When the sink is slower than the requests the queue is full, and
/// lines are dropped and counted; nobody waits for it.
#[derive(Debug)]
pub(super) struct LineQueue {
    purpose: QueuePurpose,
    lines: Mutex<UntakenLines>,
    news: Condvar,
    ended: Condvar,
    counters: Arc<Counters>,
}

impl LineQueue {
    pub(super) fn new(purpose: QueuePurpose, counters: Arc<Counters>) -> Self {
        Self {
            purpose,
            lines: Mutex::default(),
            news: Condvar::new(),
            ended: Condvar::new(),
            counters,
        }
    }

    pub(super) fn add(&self, lines: impl Iterator<Item = RequestLine>) {
        let mut queue = self.lock();
        let mut dropped = 0;
        for line in lines {
            if queue.lines.len() < self.purpose.lines_max {
                queue.lines.push(line);
            } else {
                dropped += 1;
            }
        }
        // Under the lock there is one writer at a time.
        (self.purpose.dropped)(&self.counters).add(dropped);
        drop(queue);
        self.news.notify_one();
    }

    pub(super) fn reopen(&self) {
        self.lock().reopens = true;
        self.news.notify_one();
    }

    /// Has what is in the queue taken, and waits so long for that.
    pub(super) fn end(&self, patience: Duration) {
        let mut queue = self.lock();
        queue.is_ending = true;
        self.news.notify_one();
        let waited = self
            .ended
            .wait_timeout_while(queue, patience, |queue| !queue.has_ended);
        let (queue, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            let lines = queue.lines.len();
            tracing::warn!(lines, "{}", self.purpose.unfinished);
        }
    }

    /// Gives what comes to a sink, until the end.
    pub(super) fn empty_into(&self, mut sink: impl LineSink) {
        let mut taken = Vec::new();
        let mut failures = LogLimit::default();
        while let Some(reopens) = self.take(&mut taken) {
            if reopens {
                sink.reopen();
            }
            let count = u64::try_from(taken.len()).unwrap_or(u64::MAX);
            match sink.take(&taken) {
                Ok(()) => (self.purpose.taken)(&self.counters).add(count),
                Err(failure) => {
                    let queue = self.lock();
                    (self.purpose.dropped)(&self.counters).add(count);
                    drop(queue);
                    if let Some(dropped) = failures.count(count) {
                        tracing::warn!(%failure, dropped, "{}", self.purpose.dropping);
                    }
                }
            }
            taken.clear();
        }
        self.lock().has_ended = true;
        self.ended.notify_all();
    }

    /// Waits for lines and takes all of them, and says whether the sink is to be opened again; nothing at
    /// the end.
    fn take(&self, taken: &mut Vec<RequestLine>) -> Option<bool> {
        let idle =
            |queue: &mut UntakenLines| queue.lines.is_empty() && !queue.reopens && !queue.is_ending;
        let queue = self.news.wait_while(self.lock(), idle);
        let mut queue = queue.unwrap_or_else(PoisonError::into_inner);
        if !self.purpose.gather.is_zero() {
            let has_room = |queue: &mut UntakenLines| {
                !queue.is_ending && queue.lines.len() < self.purpose.lines_max / 2
            };
            let gathered = self
                .news
                .wait_timeout_while(queue, self.purpose.gather, has_room);
            queue = gathered.unwrap_or_else(PoisonError::into_inner).0;
        }
        if queue.lines.is_empty() && !queue.reopens {
            return None;
        }
        std::mem::swap(&mut queue.lines, taken);
        Some(std::mem::take(&mut queue.reopens))
    }

    fn lock(&self) -> MutexGuard<'_, UntakenLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes lines to a file or standard error.
#[derive(Debug)]
pub(super) struct LogSink {
    format: LineFormat,
    /// Nothing for standard error.
    file: Option<(PathBuf, File)>,
    /// Whether the last write has failed, perhaps in the middle of a line.
    is_torn: bool,
}

impl LogSink {
    pub(super) fn open(place: &LogPlace, format: LineFormat) -> io::Result<Self> {
        let file = match place {
            LogPlace::Stderr => None,
            LogPlace::File(path) => Some((path.clone(), open(path)?)),
        };
        Ok(Self {
            format,
            file,
            is_torn: false,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let was_torn = std::mem::replace(&mut self.is_torn, true);
        let mut place: Box<dyn io::Write> = match &mut self.file {
            None => Box::new(io::stderr().lock()),
            Some((_, file)) => Box::new(file),
        };
        if was_torn {
            place.write_all(b"\n")?;
        }
        place.write_all(bytes)?;
        self.is_torn = false;
        Ok(())
    }
}

impl LineSink for LogSink {
    fn take(&mut self, lines: &[RequestLine]) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            line.put(self.format, &mut text);
        }
        self.write(text.as_bytes())
    }

    /// Opens the file again, which may have been renamed. If that fails, the old one is written on.
    fn reopen(&mut self) {
        let Some((path, file)) = &mut self.file else {
            return;
        };
        match open(path) {
            Ok(opened) => *file = opened,
            Err(failure) => {
                let path = path.display();
                tracing::warn!(%failure, %path, "the access log cannot be opened again");
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(MODE)
        .open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{super::line::tests::line, *};

    #[test]
    fn a_disk_that_takes_nothing_costs_lines_and_holds_nobody_up() {
        let counters = Arc::new(Counters::default());
        let queue = LineQueue::new(ACCESS, Arc::clone(&counters));
        // Nobody writes.
        queue.add((0..ACCESS_LINES + 3).map(|_| line("r")));
        assert_eq!(counters.access_lines_dropped.get(), 3);
        assert_eq!(queue.lock().lines.len(), ACCESS_LINES);
        let (full, none) = (LogPlace::File("/dev/full".into()), 0);
        queue.lock().is_ending = true;
        queue.empty_into(LogSink::open(&full, LineFormat::Text).unwrap());
        let all = u64::try_from(ACCESS_LINES).unwrap() + 3;
        let counted = (
            counters.access_lines.get(),
            counters.access_lines_dropped.get(),
        );
        assert_eq!(counted, (none, all));
    }

    #[test]
    fn a_file_that_was_renamed_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let [path, old] = ["access.log", "access.log.1"].map(|name| folder.path().join(name));
        let queue = LineQueue::new(ACCESS, Arc::default());
        let mut sink = LogSink::open(&LogPlace::File(path.clone()), LineFormat::Text).unwrap();
        sink.write(b"first\n").unwrap();
        fs::rename(&path, &old).unwrap();
        sink.write(b"second\n").unwrap();
        queue.reopen();
        queue.add([line("r-3")].into_iter());
        queue.lock().is_ending = true;
        queue.empty_into(sink);
        assert_eq!(fs::read_to_string(old).unwrap(), "first\nsecond\n");
        let new = fs::read_to_string(path).unwrap();
        assert_eq!(new.lines().count(), 1, "{new}");
        assert!(new.ends_with("request_id=r-3\n"), "{new}");
    }
}
