//! Which deliveries are the next entry of the stream, and which are not.
//!
//! The module has no socket. A consumer of the broker numbers its deliveries, so that a lost one is
//! seen, and each delivery has its place in the stream. Each new consumer begins with the entry that
//! was taken last: if the stream has another one there, brokers have lost entries.

use bytes::Bytes;

use crate::{
    event::{Fatal, LogEntry},
    id::{ProposalId, Sequence},
};

/// After how many consumers that skip the same entry it is given up: each new one may be on a broker
/// whose copy is whole.
const SKIPS_MAX: u32 = 16;

/// The header that holds the id of a proposal.
pub(crate) const ID_HEADER: &str = "Nats-Msg-Id";

/// What a delivery says of itself, in its reply subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivered<'a> {
    pub(crate) consumer: &'a str,
    /// Its place in the stream.
    pub(crate) sequence: Sequence,
    /// Its number among the deliveries of its consumer, from 1.
    pub(crate) number: u64,
}

impl<'a> Delivered<'a> {
    /// Reads `$JS.ACK.<stream>.<consumer>.<tries>.<sequence>.<number>.<time>.<pending>`, or the same
    /// with a domain and an account before the stream and something behind.
    pub(crate) fn parse(reply: &'a str) -> Option<Self> {
        let tokens: Vec<&str> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
        let stream = match tokens.len() {
            7 => 0,
            9.. => 2,
            _ => return None,
        };
        Some(Self {
            consumer: tokens[stream + 1],
            sequence: Sequence(tokens[stream + 3].parse().ok()?),
            number: tokens[stream + 4].parse().ok()?,
        })
    }
}

/// What becomes of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryKind {
    /// It is the next entry.
    Next(LogEntry),
    /// It was taken before.
    Known,
    /// Something is missing before it: a new consumer is needed.
    Missing,
}

#[derive(Debug)]
pub(crate) struct StreamReading {
    /// The entry that comes next.
    next: Sequence,
    last: Option<LogEntry>,
    /// The number of the next delivery of this consumer.
    number: u64,
    skips: u32,
}

impl StreamReading {
    pub(crate) const fn after(sequence: Sequence) -> Self {
        Self {
            next: sequence.next(),
            last: None,
            number: 1,
            skips: 0,
        }
    }

    pub(crate) const fn next(&self) -> Sequence {
        self.next
    }

    /// The last entry that was taken.
    pub(crate) const fn taken(&self) -> Sequence {
        Sequence(self.next.0 - 1)
    }

    /// Where a new consumer begins, if the stream begins at `first`.
    pub(crate) fn start(&self, first: Sequence) -> Sequence {
        match &self.last {
            Some(last) if last.sequence >= first => last.sequence,
            _ => self.next,
        }
    }

    /// A new consumer delivers from now on.
    pub(crate) const fn attached(&mut self) {
        self.number = 1;
    }

    /// What this delivery is.
    ///
    /// # Errors
    /// The stream is not what it was.
    pub(crate) fn judge(
        &mut self,
        delivered: Delivered<'_>,
        id: Option<ProposalId>,
        bytes: Bytes,
    ) -> Result<DeliveryKind, Fatal> {
        if delivered.number < self.number {
            return Ok(DeliveryKind::Known);
        }
        if delivered.number > self.number {
            return Ok(DeliveryKind::Missing);
        }
        self.number += 1;
        let sequence = delivered.sequence;
        let entry = LogEntry {
            sequence,
            id,
            bytes,
        };
        if sequence < self.next {
            return match &self.last {
                Some(last) if last.sequence == sequence && *last != entry => {
                    Err(Fatal::Rewritten { sequence })
                }
                _ => Ok(DeliveryKind::Known),
            };
        }
        if sequence > self.next {
            self.skips += 1;
            if self.skips >= SKIPS_MAX {
                return Err(Fatal::Gap {
                    wanted: self.next,
                    found: sequence,
                });
            }
            return Ok(DeliveryKind::Missing);
        }
        self.skips = 0;
        self.next = sequence.next();
        self.last = Some(entry.clone());
        Ok(DeliveryKind::Next(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reading says of deliveries, each `number@sequence:bytes`; `|` is a new consumer.
    fn check(after: u64, deliveries: &str, expected: &str) {
        let mut reading = StreamReading::after(Sequence(after));
        let mut told = Vec::new();
        for delivery in deliveries.split(' ') {
            if delivery == "|" {
                reading.attached();
                continue;
            }
            let (number, rest) = delivery.split_once('@').expect("a number");
            let (sequence, bytes) = rest.split_once(':').expect("bytes");
            let delivered = Delivered {
                consumer: "c",
                sequence: Sequence(sequence.parse().expect("a sequence")),
                number: number.parse().expect("a number"),
            };
            let bytes = Bytes::copy_from_slice(bytes.as_bytes());
            told.push(match reading.judge(delivered, None, bytes) {
                Ok(DeliveryKind::Next(entry)) => entry.sequence.to_string(),
                Ok(DeliveryKind::Known) => "known".to_owned(),
                Ok(DeliveryKind::Missing) => "missing".to_owned(),
                Err(fatal) => format!("{fatal:?}"),
            });
        }
        assert_eq!(told.join(" "), expected, "{deliveries}");
    }

    #[test]
    fn entries_are_taken_in_order_each_once() {
        check(0, "1@1:a 2@2:b 2@2:b 1@1:a 3@3:c", "1 2 known known 3");
        check(40, "1@41:a 2@42:b", "41 42");
    }

    #[test]
    fn a_lost_delivery_is_missing() {
        check(0, "1@1:a 3@3:c | 1@1:a 2@2:b 3@3:c", "1 missing known 2 3");
    }

    #[test]
    fn a_new_consumer_may_begin_with_what_was_taken() {
        check(0, "1@1:a 2@2:b | 1@2:b 2@3:c", "1 2 known 3");
        check(0, "1@1:a 2@2:b | 1@3:c", "1 2 3");
    }

    #[test]
    fn another_entry_in_the_same_place_is_fatal() {
        check(
            0,
            "1@1:a 2@2:b | 1@2:x",
            "1 2 Rewritten { sequence: Sequence(2) }",
        );
    }

    #[test]
    fn an_entry_that_every_consumer_skips_is_a_gap() {
        let skipping = ["1@7:x"; 16].join(" | ");
        let missing = ["missing"; 15].join(" ");
        check(
            4,
            &skipping,
            &format!("{missing} Gap {{ wanted: Sequence(5), found: Sequence(7) }}"),
        );
    }

    #[test]
    fn a_consumer_that_does_not_skip_ends_the_suspicion() {
        let skipping = ["1@7:x"; 15].join(" | ");
        let missing = ["missing"; 15].join(" ");
        check(
            4,
            &format!("{skipping} | 1@5:a 2@8:x"),
            &format!("{missing} 5 missing"),
        );
    }

    #[test]
    fn a_delivery_is_read_in_both_forms() {
        let expected = Delivered {
            consumer: "c-1",
            sequence: Sequence(42),
            number: 7,
        };
        for reply in [
            "$JS.ACK.LOG_main.c-1.1.42.7.1700000000.0",
            "$JS.ACK.hub.ACC.LOG_main.c-1.1.42.7.1700000000.0.Xy",
            "$JS.ACK._.ACC.LOG_main.c-1.1.42.7.1700000000.0",
        ] {
            assert_eq!(Delivered::parse(reply), Some(expected), "{reply}");
        }
        for reply in ["", "$JS.ACK.", "$JS.ACK.a.b.c.d.e.f.g", "_INBOX.a"] {
            assert_eq!(Delivered::parse(reply), None, "{reply}");
        }
    }
}
