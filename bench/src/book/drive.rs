//! Drives a desk with a stream, and drains its reports on another core.

use std::{
    hint,
    sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use hdrhistogram::Histogram;
use turnstile_capi::{Desk, Order, Told};
use turnstile_trial::Tally;

use super::stream::{Message, MessageVerb};
use crate::{
    pin::{CLIENT_CORE, SERVER_CORE, pin},
    probe::joined,
};

/// Reports that go over to the consumer together: few enough to stay in the first-level cache.
const PARCEL: usize = 256;
/// A parcel goes over when a message has filled it, and one message may report much.
const PARCEL_ROOM: usize = 1 << 14;
/// Parcels on the way. When all are, the consumer is too slow, and the desk waits for it.
const PARCELS: usize = 64;
/// Orders at once on the book for which there is room from the start.
const RESTING: usize = 1 << 20;
/// Latencies above this count as this.
const LATENCY_NS_MAX: u64 = 10_000_000_000;

/// One pass over a stream.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// From the first message until the consumer has seen the last report.
    pub(super) elapsed: Duration,
    pub(super) reports: u64,
    pub(super) checksum: u64,
    /// Allocations of the desk's thread during the second half of the messages.
    pub(super) allocations: u64,
    /// At the end.
    pub(super) resting: u32,
    pub(super) levels: usize,
    /// Of each message, where it was asked for; in nanoseconds.
    pub(super) latency: Option<Histogram<u64>>,
}

/// Drives a new desk.
pub(super) fn pass(messages: &[Message], timed: bool) -> Result<Pass> {
    let (full, parcels) = sync_channel(PARCELS);
    let (back, empty) = sync_channel(PARCELS);
    for _ in 0..PARCELS {
        back.send(Vec::with_capacity(PARCEL_ROOM))?;
    }
    thread::scope(|scope| {
        let consumer = thread::spawn(move || consume(&parcels, &back));
        let engine = scope.spawn(move || -> Result<_> {
            pin(SERVER_CORE)?;
            let desk = Desk::new(RESTING, PARCEL_ROOM);
            let mut engine = DeskEngine { desk, full, empty };
            let start = Instant::now();
            let (first, second) = messages.split_at(messages.len() / 2);
            let mut latency = timed.then(histogram);
            engine.run(first, latency.as_mut())?;
            let before = Tally::now();
            engine.run(second, latency.as_mut())?;
            let allocations = Tally::now().calls_since(before);
            Ok((start, allocations, latency, engine.close()?))
        });
        let (start, allocations, latency, desk) = engine
            .join()
            .unwrap_or_else(|_panic| Err(anyhow::anyhow!("the book panicked")))?;
        let (reports, checksum, end) = joined(consumer)?;
        desk.check().map_err(anyhow::Error::msg)?;
        Ok(Pass {
            elapsed: end - start,
            reports,
            checksum,
            allocations,
            resting: desk.resting(),
            levels: desk.levels(),
            latency,
        })
    })
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LATENCY_NS_MAX, 3).expect("these bounds make a histogram")
}

/// The desk and its two ways to the consumer.
struct DeskEngine {
    desk: Desk,
    full: SyncSender<Vec<Told>>,
    empty: Receiver<Vec<Told>>,
}

impl DeskEngine {
    fn run(&mut self, messages: &[Message], latency: Option<&mut Histogram<u64>>) -> Result<()> {
        let Some(latency) = latency else {
            for message in messages {
                self.handle(message)?;
            }
            return Ok(());
        };
        for message in messages {
            let start = Instant::now();
            self.handle(message)?;
            let ns = u64::try_from(start.elapsed().as_nanos())?;
            latency.saturating_record(ns);
        }
        Ok(())
    }

    #[inline]
    fn handle(&mut self, message: &Message) -> Result<()> {
        let number = u64::from(message.number);
        let (price, quantity) = (u64::from(message.price), u64::from(message.quantity));
        match message.verb {
            MessageVerb::Submit { side, immediate } => self.desk.submit(&Order {
                number,
                side,
                price,
                quantity,
                immediate,
            }),
            MessageVerb::Cancel => self.desk.cancel(number),
            MessageVerb::Modify => self.desk.modify(number, price, quantity),
        }
        if self.desk.reports().len() >= PARCEL {
            self.hand_over()?;
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<()> {
        let empty = spin(&self.empty)?;
        self.full.send(self.desk.fetch(empty))?;
        Ok(())
    }

    fn close(mut self) -> Result<Desk> {
        self.hand_over()?;
        Ok(self.desk)
    }
}

/// Waits for the next one without giving up the core.
fn spin<T>(from: &Receiver<T>) -> Result<T> {
    loop {
        match from.try_recv() {
            Ok(next) => return Ok(next),
            Err(TryRecvError::Empty) => hint::spin_loop(),
            Err(TryRecvError::Disconnected) => anyhow::bail!("the other end is gone"),
        }
    }
}

/// Reads every report; returns their number, their checksum, and when the last one was read.
fn consume(
    parcels: &Receiver<Vec<Told>>,
    back: &SyncSender<Vec<Told>>,
) -> Result<(u64, u64, Instant)> {
    pin(CLIENT_CORE)?;
    let (mut reports, mut sum) = (0, 0);
    while let Ok(mut parcel) = spin(parcels) {
        for told in &parcel {
            sum = checksum(sum, told);
        }
        reports += parcel.len() as u64;
        parcel.clear();
        // The desk may be gone already; then nobody needs the parcel.
        if back.send(parcel).is_err() {
            continue;
        }
    }
    Ok((reports, sum, Instant::now()))
}

fn checksum(sum: u64, told: &Told) -> u64 {
    let kind = u64::from(told.kind) << 32 | u64::from(told.maker_left);
    let words = [kind, told.order, told.maker, told.price, told.quantity];
    words.iter().fold(sum, |sum, word| {
        (sum ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::pass;
    use crate::book::{regime::MarketRegime, stream::OrderFlow};

    #[test]
    fn two_passes_over_one_stream_report_the_same() {
        for regime in MarketRegime::ALL {
            let messages = OrderFlow::of(regime, 30_000);
            let passes = [false, true].map(|timed| pass(&messages, timed).unwrap());
            let [plain, timed] = passes.map(|pass| (pass.reports, pass.checksum, pass.resting));
            assert_eq!(plain, timed, "{regime}");
        }
    }
}
