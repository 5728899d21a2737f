//! What is said about single requests: the access log, warnings about slow ones, and spans for a collector.

mod line;
mod notes;
mod queue;
mod spans;
mod traceparent;

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use self::{
    queue::{LineQueue, LineSink, LogSink},
    spans::{SpanSender, TraceSampler},
};
use crate::{
    core::{clock, log_limit::LogLimit},
    counters::Counters,
};

pub use self::{
    line::LineFormat,
    queue::LogPlace,
    spans::{CollectorUrl, InvalidCollectorUrl, Traces},
};
pub(crate) use self::{
    line::{RequestLine, TimeParts, micros},
    notes::{AskTimes, OwedNotes, RequestNote, RequestNotes, SentNotes},
    traceparent::TraceParent,
};

/// The access log, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLog {
    pub place: LogPlace,
    pub format: LineFormat,
}

/// Takes what the doors say about requests. While nobody wants that, a request costs a look at one flag.
#[derive(Debug)]
pub(crate) struct RequestLogs {
    access: Option<Arc<LineQueue>>,
    traced: Option<(TraceSampler, Arc<LineQueue>)>,
    /// A request that takes so long is slow, in microseconds; zero: none is.
    slow_us: AtomicU64,
    slow: Mutex<SlowRequests>,
    is_on: AtomicBool,
    /// Tells the ids of this run from those of others.
    run: String,
    requests: AtomicU64,
}

/// Slow requests since the last line about them.
#[derive(Debug, Default)]
struct SlowRequests {
    limit: LogLimit,
    slowest: Option<RequestLine>,
}

impl RequestLogs {
    /// Says nothing.
    pub(crate) fn off() -> Arc<Self> {
        Arc::new(Self::of(run_name(), None, None))
    }

    /// Opens the access log and begins to send spans, as far as either is wanted.
    ///
    /// # Errors
    /// The file cannot be opened, there is no thread, or there are no random numbers for ids.
    pub(crate) fn begin(
        (access, traces): (Option<&AccessLog>, Option<&Traces>),
        slow: Duration,
        counters: &Arc<Counters>,
    ) -> io::Result<Arc<Self>> {
        let run = run_name();
        let access = access.map(|AccessLog { place, format }| {
            let sink = LogSink::open(place, *format)?;
            let queue = LineQueue::new(queue::ACCESS, Arc::clone(counters));
            emptied("access-log", queue, sink)
        });
        let traced = traces.map(|traces| {
            let sender = SpanSender::new(traces.collector.clone(), &run)?;
            let queue = LineQueue::new(queue::TRACES, Arc::clone(counters));
            let queue = emptied("traces", queue, sender)?;
            io::Result::Ok((TraceSampler::new(traces.one_in), queue))
        });
        let log = Self::of(run, access.transpose()?, traced.transpose()?);
        log.set_slow(slow);
        Ok(Arc::new(log))
    }

    fn of(
        run: String,
        access: Option<Arc<LineQueue>>,
        traced: Option<(TraceSampler, Arc<LineQueue>)>,
    ) -> Self {
        Self {
            is_on: AtomicBool::new(false),
            access,
            traced,
            slow_us: AtomicU64::new(0),
            slow: Mutex::default(),
            run,
            requests: AtomicU64::new(0),
        }
    }

    /// Whether anybody wants to hear of requests.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Warns of requests that take so long; of none for zero.
    pub(crate) fn set_slow(&self, slow: Duration) {
        let us = micros(slow);
        self.slow_us.store(us, Ordering::Relaxed);
        let is_on = self.queues().next().is_some() || us > 0;
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// An id for a request that brought none.
    pub(crate) fn next_id(&self) -> Box<str> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number:x}", self.run).into()
    }

    /// Says that these requests were answered.
    pub(crate) fn note(&self, lines: impl Iterator<Item = RequestLine>) {
        let slow_us = self.slow_us.load(Ordering::Relaxed);
        let (mut slow, mut slowest) = (0, None);
        let mut traced = Vec::new();
        let looked_at = lines.inspect(|line| {
            if let Some((sampler, _)) = &self.traced
                && sampler.takes(line.trace.as_ref())
            {
                traced.push(line.clone());
            }
            let took = line.parts.total();
            if slow_us > 0 && micros(took) >= slow_us {
                slow += 1;
                keep_slower(&mut slowest, line);
            }
        });
        match &self.access {
            Some(queue) => queue.add(looked_at),
            None => looked_at.for_each(drop),
        }
        if let Some((_, queue)) = &self.traced
            && !traced.is_empty()
        {
            queue.add(traced.into_iter());
        }
        if slow > 0 {
            self.warn(slow, slowest.as_ref());
        }
    }

    /// Warns of slow requests, seldom and of the slowest: a slow disk makes all of them slow.
    #[cold]
    fn warn(&self, count: u64, slowest: Option<&RequestLine>) {
        let mut slow = self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = slowest {
            keep_slower(&mut slow.slowest, line);
        }
        let Some(requests) = slow.limit.count(count) else {
            return;
        };
        let Some(line) = slow.slowest.take() else {
            return;
        };
        drop(slow);
        let parts = &line.parts;
        tracing::warn!(
            requests,
            operation = &*line.operation,
            outcome = &*line.outcome,
            request_id = &*line.request_id,
            peer = line.peer.map(tracing::field::display),
            principal = line.principal.as_ref().map(tracing::field::display),
            traceparent = line.trace.as_ref().map(tracing::field::display),
            us = micros(parts.total()),
            queue_us = micros(parts.queue),
            decide_us = micros(parts.decide),
            sync_us = micros(parts.sync),
            send_us = micros(parts.send),
            "slow requests: the slowest of them"
        );
    }

    /// Opens the file of the access log again.
    pub(crate) fn reopen(&self) {
        if let Some(queue) = &self.access {
            queue.reopen();
        }
    }

    /// Writes and sends what was said, and waits so long for each. What is said from now on may be lost.
    pub(crate) fn end(&self, patience: Duration) {
        for queue in self.queues() {
            queue.end(patience);
        }
    }

    fn queues(&self) -> impl Iterator<Item = &LineQueue> {
        let traced = self.traced.iter().map(|(_, queue)| queue);
        self.access.iter().chain(traced).map(Arc::as_ref)
    }
}

/// Tells this run from others.
fn run_name() -> String {
    format!("r{:x}", clock::run_number())
}

/// The queue, which a thread of this name empties into the sink.
fn emptied(
    name: &str,
    queue: LineQueue,
    sink: impl LineSink + Send + 'static,
) -> io::Result<Arc<LineQueue>> {
    let queue = Arc::new(queue);
    let lines = Arc::clone(&queue);
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(move || lines.empty_into(sink))?;
    Ok(queue)
}

fn keep_slower(slowest: &mut Option<RequestLine>, line: &RequestLine) {
    let took = line.parts.total();
    if slowest.as_ref().is_none_or(|one| one.parts.total() < took) {
        *slowest = Some(line.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::{line::tests::line, *};

    #[test]
    fn it_is_on_while_somebody_wants_to_hear() {
        let log = RequestLogs::off();
        assert!(!log.is_on());
        log.set_slow(Duration::from_micros(1));
        assert!(log.is_on());
        log.set_slow(Duration::ZERO);
        assert!(!log.is_on());
    }

    #[test]
    fn the_slowest_is_kept_until_a_line_is_due() {
        let log = RequestLogs::off();
        log.set_slow(Duration::from_micros(307));
        let slower = |id: &str, us| {
            let mut line = line(id);
            line.parts.sync = Duration::from_micros(us);
            line
        };
        // The first is told at once.
        log.note([line("first")].into_iter());
        let told = log.slow.lock().unwrap().slowest.clone();
        assert_eq!(told, None);
        log.note([slower("a", 400), slower("b", 900), slower("c", 1)].into_iter());
        log.note([slower("d", 500)].into_iter());
        let kept = log.slow.lock().unwrap().slowest.clone();
        assert_eq!(&*kept.unwrap().request_id, "b");
    }
}
