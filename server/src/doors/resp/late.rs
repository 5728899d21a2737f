//! Replies that are held back, because a command in them waits.

use turnstile_resp::{
    Encoder, Protocol,
    travel::{self, Decided},
};
use turnstile_travel::Outcome;
use turnstile_types::Position;

use super::away::Elsewhere;

const ENDING: &str = "ERR the server is stopping, whatever is open will be aborted";

/// One reply with gaps for answers that come later. It is sent when the last has come: that of a
/// command that waits is one gap, that of `EXEC` may have several among what is answered already.
#[derive(Debug, Default)]
pub(super) struct Late {
    bytes: Vec<u8>,
    gaps: Vec<Gap>,
    /// Whether the client wants no reply.
    silent: bool,
}

#[derive(Debug)]
struct Gap {
    /// Where in the reply its answer belongs.
    at: usize,
    awaits: Awaited,
    answer: Option<Vec<u8>>,
}

/// What has come for a gap from where its request was decided.
#[derive(Debug)]
pub(super) enum ForGap {
    Answer(Vec<u8>),
    /// The command waits: its answer comes under this ticket.
    Waits {
        ticket: Position,
        /// Whether it is the answer to an earlier request with the same key.
        replayed: bool,
    },
}

/// What fills a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// The late answer of travel under this ticket.
    Ticket {
        ticket: Position,
        /// Whether it is the answer to an earlier request with the same key.
        replayed: bool,
    },
    /// The next answer from there.
    From(Elsewhere),
}

impl Late {
    pub(super) const fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// The memory it takes, in bytes.
    pub(super) const fn size(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn tickets(&self) -> impl Iterator<Item = Position> {
        self.gaps.iter().filter_map(|gap| match gap.awaits {
            Awaited::Ticket { ticket, .. } => Some(ticket),
            Awaited::From(_) => None,
        })
    }

    /// The answer under this ticket belongs at the end of `out`.
    pub(super) fn leave_gap(&mut self, ticket: Position, replayed: bool, out: &[u8]) {
        self.add_gap(Awaited::Ticket { ticket, replayed }, out);
    }

    /// The next answer from there belongs at the end of `out`.
    pub(super) fn leave_gap_for(&mut self, from: Elsewhere, out: &[u8]) {
        self.add_gap(Awaited::From(from), out);
    }

    fn add_gap(&mut self, awaits: Awaited, out: &[u8]) {
        self.gaps.push(Gap {
            at: out.len(),
            awaits,
            answer: None,
        });
    }

    /// Holds the reply back that begins at `start`.
    pub(super) fn hold(&mut self, out: &mut Vec<u8>, start: usize, silent: bool) {
        self.bytes = out.split_off(start);
        self.silent = silent;
        for gap in &mut self.gaps {
            gap.at -= start;
        }
    }

    /// Fills the gaps under a ticket, and sends the reply if it is whole.
    pub(super) fn fill(
        &mut self,
        late: (Position, Decided),
        outcome: &Outcome,
        protocol: Protocol,
        out: &mut Vec<u8>,
    ) {
        for gap in &mut self.gaps {
            match gap.awaits {
                Awaited::Ticket {
                    ticket: awaited,
                    replayed,
                } if awaited == late.0 => {
                    let mut answer = Vec::new();
                    let mut reply = Encoder::new(&mut answer, protocol);
                    travel::put_late(&mut reply, outcome, late, replayed);
                    gap.answer = Some(answer);
                }
                Awaited::Ticket { .. } | Awaited::From(_) => {}
            }
        }
        self.send_whole(out);
    }

    /// Fills the first gaps that wait for answers from there, and sends the reply if it is whole.
    pub(super) fn fill_from(
        &mut self,
        from: Elsewhere,
        answers: impl IntoIterator<Item = ForGap>,
        out: &mut Vec<u8>,
    ) {
        let gaps = self
            .gaps
            .iter_mut()
            .filter(|gap| gap.awaits == Awaited::From(from) && gap.answer.is_none());
        for (gap, landed) in gaps.zip(answers) {
            match landed {
                ForGap::Answer(answer) => gap.answer = Some(answer),
                ForGap::Waits { ticket, replayed } => {
                    gap.awaits = Awaited::Ticket { ticket, replayed };
                }
            }
        }
        self.send_whole(out);
    }

    fn send_whole(&mut self, out: &mut Vec<u8>) {
        if self.gaps.iter().all(|gap| gap.answer.is_some()) {
            self.send(out);
        }
    }

    /// The server stops: the reply will never be whole. What it has may not be durable yet, so that
    /// nothing of it is told.
    pub(super) fn end(&mut self, protocol: Protocol, out: &mut Vec<u8>) {
        let Self { gaps, silent, .. } = std::mem::take(self);
        if !gaps.is_empty() && !silent {
            Encoder::new(out, protocol).error(format_args!("{ENDING}"));
        }
    }

    fn send(&mut self, out: &mut Vec<u8>) {
        let Self {
            bytes,
            gaps,
            silent,
        } = std::mem::take(self);
        if silent {
            return;
        }
        let mut from = 0;
        for gap in gaps {
            out.extend_from_slice(bytes.get(from..gap.at).unwrap_or_default());
            out.extend(gap.answer.unwrap_or_default());
            from = gap.at;
        }
        out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use turnstile_travel::{Done, Xid};

    use super::*;

    const DECIDED: Decided = Decided {
        position: Position(6),
        ordinal: 2,
    };

    #[test]
    fn who_speaks_resp3_is_told_where_a_late_answer_was_decided() {
        let mut late = Late::default();
        let mut out = Vec::new();
        late.leave_gap(Position(4), false, &out);
        late.hold(&mut out, 0, false);
        let added = Outcome::Done(Done::Added);
        late.fill((Position(4), DECIDED), &added, Protocol::Resp3, &mut out);
        let whole = "%4\r\n$7\r\noutcome\r\n$4\r\ndone\r\n$7\r\ndecided\r\n:6\r\n\
                     $7\r\nordinal\r\n:2\r\n$8\r\nposition\r\n:4\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), whole);
    }

    #[test]
    fn a_reply_is_sent_when_the_last_gap_is_filled_in_whatever_order() {
        let (first, second) = (Position(4), Position(5));
        let mut late = Late::default();
        let mut out = b"+before\r\n*4\r\n".to_vec();
        late.leave_gap(first, false, &out);
        out.extend(b":1\r\n");
        late.leave_gap(second, false, &out);
        late.leave_gap(first, true, &out);
        late.hold(&mut out, 9, false);
        assert_eq!(out, b"+before\r\n");
        let tickets: Vec<_> = late.tickets().collect();
        assert_eq!(tickets, [first, second, first]);
        let started = Outcome::Done(Done::Started { xid: Xid(7) });
        late.fill((second, DECIDED), &started, Protocol::Resp2, &mut out);
        assert_eq!(out, b"+before\r\n");
        let added = Outcome::Done(Done::Added);
        late.fill((first, DECIDED), &added, Protocol::Resp2, &mut out);
        let whole = "+before\r\n*4\r\n*2\r\n:1\r\n:4\r\n:1\r\n*3\r\n:1\r\n:7\r\n:5\r\n\
                     *3\r\n:1\r\n:4\r\n$8\r\nreplayed\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), whole);
        assert!(late.is_empty());
    }

    #[test]
    fn a_client_without_replies_is_told_nothing() {
        let ticket = Position(4);
        let added = Outcome::Done(Done::Added);
        for has_come in [true, false] {
            let mut late = Late::default();
            let mut out = Vec::new();
            late.leave_gap(ticket, false, &out);
            late.hold(&mut out, 0, true);
            if has_come {
                late.fill((ticket, DECIDED), &added, Protocol::Resp2, &mut out);
            } else {
                late.end(Protocol::Resp2, &mut out);
            }
            assert_eq!(out, b"");
            assert!(late.is_empty());
        }
    }
}
