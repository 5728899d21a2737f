//! Reports on their way from the matching thread to the harness's drainer thread, in blocks.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use turnstile_capi::ReportKind;

use crate::{
    abi::Report,
    entry::{Entry, ReportSink},
};

/// Entries in a block. Handing over a block costs about as much as writing ten entries. A report
/// waits until its block is full or flushed, which takes some microseconds under load.
const BLOCK: usize = 128;

/// A trade takes two entries, of which the second one names the taker.
const ENTRIES_PER_REPORT_MAX: usize = 2;

/// Both ends of a channel. Each belongs to one thread.
#[derive(Debug)]
pub(crate) struct ReportChannel {
    pub(crate) producer: Producer,
    pub(crate) consumer: Consumer,
}

/// The end of the matching thread.
///
/// The consumer sends blocks back when it has read them, and the producer fills the one that came
/// last. So a consumer that keeps up leaves most of the memory untouched, and the caches to the
/// book; a ring would sweep through all of it.
#[derive(Debug)]
pub(crate) struct Producer {
    block: Vec<Entry>,
    empty: Vec<Vec<Entry>>,
    full: SyncSender<Vec<Entry>>,
    back: Receiver<Vec<Entry>>,
}

/// The end of the drainer thread.
#[derive(Debug)]
pub(crate) struct Consumer {
    block: Vec<Entry>,
    read: usize,
    full: Receiver<Vec<Entry>>,
    back: SyncSender<Vec<Entry>>,
}

impl ReportChannel {
    /// A channel with room for this many reports, even if all are trades. All of its memory is
    /// allocated and touched here.
    pub(crate) fn new(reports: usize) -> Self {
        let blocks = (reports * ENTRIES_PER_REPORT_MAX).div_ceil(BLOCK) + 1;
        let (full, filled) = sync_channel(blocks);
        let (back, emptied) = sync_channel(blocks);
        let block = || {
            let mut block = vec![Entry::default(); BLOCK];
            block.clear();
            block
        };
        Self {
            producer: Producer {
                block: block(),
                empty: (0..blocks).map(|_| block()).collect(),
                full,
                back: emptied,
            },
            consumer: Consumer {
                block: Vec::new(),
                read: 0,
                full: filled,
                back,
            },
        }
    }
}

impl Producer {
    /// Adds a report. Returns false if there is no room for it.
    pub(crate) fn push(&mut self, report: &Report) -> bool {
        if self.needs_block() && !self.hand_over() {
            return false;
        }
        let entry = Entry {
            kind: kind(report.kind),
            side: report.side,
            quantity: report.quantity,
            sequence: report.sequence,
            order: report.order,
            price: report.price,
        };
        if entry.kind == ReportKind::Traded {
            let order = report.maker;
            self.put_trade(Entry { order, ..entry }, report.taker);
        } else {
            self.put(entry);
        }
        true
    }

    /// Hands over what was added, and waits for an empty block if there is none.
    #[cold]
    pub(crate) fn flush(&mut self) {
        while !self.hand_over() {
            std::hint::spin_loop();
        }
    }

    /// Hands over the block, in exchange for an empty one. Returns false, and keeps the block, if
    /// there is none.
    fn hand_over(&mut self) -> bool {
        if self.block.is_empty() {
            return true;
        }
        self.empty.extend(self.back.try_iter());
        let Some(empty) = self.empty.pop() else {
            return false;
        };
        let full = std::mem::replace(&mut self.block, empty);
        let sent = self.full.try_send(full);
        sent.expect("the channel has room for all blocks, and both ends live as long as it");
        true
    }

    #[inline]
    fn needs_block(&self) -> bool {
        self.block.len() + ENTRIES_PER_REPORT_MAX > BLOCK
    }
}

impl ReportSink for Producer {
    #[inline]
    fn put(&mut self, entry: Entry) {
        if self.needs_block() {
            self.flush();
        }
        self.block.push(entry);
    }

    #[inline]
    fn put_trade(&mut self, entry: Entry, taker: u64) {
        self.put(entry);
        self.block.push(Entry {
            order: taker,
            ..entry
        });
    }
}

impl Consumer {
    /// Moves reports to `out` in their order; returns how many.
    pub(crate) fn drain(&mut self, out: &mut [Report]) -> usize {
        let reports = std::iter::from_fn(|| self.next());
        let moved = out.iter_mut().zip(reports);
        moved.map(|(place, report)| *place = report).count()
    }

    #[inline]
    fn next(&mut self) -> Option<Report> {
        if self.read == self.block.len() && !self.next_block() {
            return None;
        }
        let entry = self.block[self.read];
        if entry.kind == ReportKind::Traded {
            let taker = self.block[self.read + 1].order;
            self.read += 2;
            return Some(entry.trade_report(taker));
        }
        self.read += 1;
        Some(entry.report())
    }

    fn next_block(&mut self) -> bool {
        let Ok(full) = self.full.try_recv() else {
            return false;
        };
        let mut read = std::mem::replace(&mut self.block, full);
        self.read = 0;
        if read.capacity() > 0 {
            read.clear();
            let sent = self.back.try_send(read);
            sent.expect("the channel has room for all blocks, and both ends live as long as it");
        }
        true
    }
}

const fn kind(number: u8) -> ReportKind {
    match number {
        0 => ReportKind::Accepted,
        1 => ReportKind::Traded,
        2 => ReportKind::Cancelled,
        3 => ReportKind::Modified,
        4 => ReportKind::NotCancelled,
        _ => ReportKind::NotModified,
    }
}

#[cfg(test)]
mod tests {
    use super::ReportChannel;
    use crate::abi::Report;

    fn report(sequence: u64) -> Report {
        let traded = sequence % 3 == 1;
        Report {
            kind: u8::from(traded),
            sequence,
            order: 7,
            maker: if traded { 7 } else { 0 },
            taker: if traded { sequence + 1 } else { 0 },
            price: -5,
            quantity: 3,
            ..Report::default()
        }
    }

    fn drained(channel: &mut ReportChannel, max: usize) -> Vec<Report> {
        let mut out = vec![Report::default(); max];
        let count = channel.consumer.drain(&mut out);
        out.truncate(count);
        out
    }

    #[test]
    fn a_channel_has_the_room_that_was_asked_for_and_refuses_more() {
        let mut channel = ReportChannel::new(1_000);
        let mut pushed = 0;
        while channel.producer.push(&report(pushed)) {
            pushed += 1;
        }
        assert!((1_000..3_000).contains(&pushed), "{pushed}");
        assert!(!channel.producer.push(&report(pushed)));
        let first = drained(&mut channel, 300);
        assert!(first.iter().copied().eq((0..300).map(report)));
        assert!(channel.producer.push(&report(pushed)));
        channel.producer.flush();
        let rest = drained(&mut channel, 4_000);
        assert!(rest.iter().copied().eq((300..=pushed).map(report)));
    }

    #[test]
    fn a_report_is_seen_after_a_flush_and_no_report_twice() {
        let mut channel = ReportChannel::new(10);
        assert!(channel.producer.push(&report(1)));
        assert_eq!(drained(&mut channel, 4), []);
        channel.producer.flush();
        channel.producer.flush();
        assert_eq!(drained(&mut channel, 4), [report(1)]);
        assert_eq!(drained(&mut channel, 4), []);
    }

    #[test]
    fn two_threads_see_the_same_reports_in_the_same_order() {
        let ReportChannel {
            mut producer,
            mut consumer,
        } = ReportChannel::new(64);
        std::thread::scope(|scope| {
            let pushing = scope.spawn(move || {
                for sequence in 0..50_000 {
                    while !producer.push(&report(sequence)) {
                        std::thread::yield_now();
                    }
                }
                producer.flush();
                producer
            });
            let mut out = [Report::default(); 50];
            let mut seen = 0;
            while seen < 50_000 {
                let count = consumer.drain(&mut out);
                for drained in &out[..count] {
                    assert_eq!(*drained, report(seen));
                    seen += 1;
                }
                std::thread::yield_now();
            }
            pushing.join().unwrap();
        });
    }
}
