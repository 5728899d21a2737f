//! What a message costs in our library alone: no queue, no drainer, no harness.

use std::{fs, hint::black_box, path::Path, thread};

use anyhow::{Context as _, Result, ensure};
use turnstile_harness::{
    Entry, ReportSink, Session,
    abi::{Cancel, Modify, NewOrder},
};

use crate::{
    pin::{SERVER_CORE, pin},
    process::cpu_of_this_thread,
};

/// Magic number, version, count.
const HEADER_BYTES: usize = 16;
const MAGIC: u64 = 0x4d45_4257_5f30_3031;
const RECORD_BYTES: usize = 40;

enum Message {
    New(NewOrder),
    Cancel(Cancel),
    Modify(Modify),
}

/// Looks at each report and drops it.
#[derive(Default)]
struct Count(u64);

impl ReportSink for Count {
    #[inline]
    fn put(&mut self, entry: Entry) {
        black_box(&entry);
        self.0 += 1;
    }

    #[inline]
    fn put_trade(&mut self, entry: Entry, taker: u64) {
        black_box(taker);
        self.put(entry);
    }
}

/// CPU time per message of a new session, in nanoseconds.
pub(super) fn ns_per_message(workload: &Path) -> Result<f64> {
    let bytes =
        fs::read(workload).with_context(|| format!("cannot read {}", workload.display()))?;
    let messages =
        read(&bytes).with_context(|| format!("{} is no workload", workload.display()))?;
    let pass = || -> Result<f64> {
        pin(SERVER_CORE)?;
        let (mut session, mut count) = (Session::new(), Count::default());
        let start = cpu_of_this_thread();
        for message in &messages {
            match message {
                Message::New(order) => session.submit(order, &mut count),
                Message::Cancel(cancel) => session.cancel(cancel, &mut count),
                Message::Modify(modify) => session.modify(modify, &mut count),
            }
        }
        let elapsed = cpu_of_this_thread() - start;
        ensure!(count.0 >= messages.len() as u64, "a message had no report");
        let messages = f64::from(u32::try_from(messages.len())?);
        Ok(elapsed.as_secs_f64() * 1e9 / messages)
    };
    // A thread of its own is pinned to the core, and nobody else.
    thread::scope(|scope| {
        let passed = scope.spawn(pass).join();
        passed.unwrap_or_else(|_panic| Err(anyhow::anyhow!("the book panicked")))
    })
}

fn read(bytes: &[u8]) -> Option<Vec<Message>> {
    let (header, records) = bytes.split_at_checked(HEADER_BYTES)?;
    if number(header, 0)? != MAGIC || !records.len().is_multiple_of(RECORD_BYTES) {
        return None;
    }
    records.chunks_exact(RECORD_BYTES).map(message).collect()
}

fn message(record: &[u8]) -> Option<Message> {
    let &[kind, side, immediate, _, ..] = record else {
        return None;
    };
    let quantity = u32::from_le_bytes(record.get(4..8)?.try_into().ok()?);
    let (sequence, order) = (number(record, 8)?, number(record, 16)?);
    let price = number(record, 24)?.cast_signed();
    Some(match kind {
        0 => Message::New(NewOrder {
            order,
            sequence,
            price,
            quantity,
            side,
            immediate,
            reserved: [0; 2],
        }),
        1 => Message::Cancel(Cancel { order, sequence }),
        2 => Message::Modify(Modify {
            order,
            sequence,
            price,
            quantity,
            side,
            reserved: [0; 3],
        }),
        _ => return None,
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Message, RECORD_BYTES, read};

    fn workload(kind: u8) -> Vec<u8> {
        let mut bytes = super::MAGIC.to_le_bytes().to_vec();
        bytes.extend([1, 0, 0, 0, 1, 0, 0, 0]);
        bytes.extend([kind, 1, 1, 0, 9, 0, 0, 0]);
        for number in [5, 6, -7_i64, 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_workload_is_read_as_the_harness_writes_it() {
        let [Message::New(order)] = &read(&workload(0)).unwrap()[..] else {
            panic!("one new order was written");
        };
        let read_back = (order.sequence, order.order, order.price, order.quantity);
        assert_eq!(read_back, (5, 6, -7, 9));
        assert_eq!((order.side, order.immediate), (1, 1));
        assert!(
            matches!(&read(&workload(1)).unwrap()[..], [Message::Cancel(cancel)] if cancel.order == 6)
        );
        assert!(
            matches!(&read(&workload(2)).unwrap()[..], [Message::Modify(modify)] if modify.price == -7)
        );
    }

    #[test]
    fn what_is_no_workload_is_refused() {
        let good = workload(0);
        let cut = &good[..good.len() - RECORD_BYTES / 2];
        let other = [&[0; 16], &good[16..]].concat();
        for bad in [cut, &other, &workload(3), b"short"] {
            assert!(read(bad).is_none());
        }
    }
}
