//! The other nodes of the cluster: what goes to them for partitions that this one does not hold, what comes
//! from them for those that it holds, and what nodes say of themselves.

mod known;
mod message;

use std::time::Instant;

use turnstile_contract::Failure;
use turnstile_jetstream::{NodeLine, NodeMessage, NodeName, ReplyAddress};
use turnstile_record::{EntryBuilder, EntryHead, SharedEntry};
use turnstile_replica::{
    AnsweredRelay, RelayAnswer, RelayHead, RelayLimits, RelayedMessage, RequestRelay, finish_relay,
    read_relay,
};
use turnstile_types::{PartitionNumber, Timestamp};

use super::asker::ClusterAsker;
use crate::core::{caller::Caller, log_limit::LogLimit, remote::Landed};

pub(crate) use self::{
    known::{Announcement, KnownNodes},
    message::{hear_answer, hear_outcome, tell_answer, tell_outcome},
};

/// How often a node says who it is, in milliseconds.
const ANNOUNCED_MS: u64 = 2_000;

/// Messages that are taken in one turn.
const MESSAGES_PER_TURN: usize = 1_024;

/// What a node of several partitions is, and where its cluster's names come from.
#[derive(Clone, Debug)]
pub(crate) struct NodeShare {
    /// All partitions of the cluster, in the order of their numbers.
    pub(crate) partitions: Vec<NodeName>,
    /// A hash of their names.
    pub(crate) list: u64,
}

/// A request of another node, as far as it was looked at.
#[derive(Debug)]
pub(crate) struct NodeRequest<'a> {
    /// The last entry of the first partition that its sender had applied.
    pub(crate) known: u64,
    pub(crate) partition: PartitionNumber,
    pub(crate) is_query: bool,
    /// The caller that asks, whose rights are not looked at yet.
    pub(crate) caller: Caller,
    /// Its service.
    pub(crate) service: u8,
    entry: SharedEntry<'a>,
}

impl NodeRequest<'_> {
    /// The keys and payloads of its records.
    pub(crate) fn records(&self) -> impl Iterator<Item = turnstile_record::Record<'_>> {
        self.entry.records().skip(1)
    }
}

/// What has come from other nodes, or has not.
pub(crate) enum FromNodes {
    /// A request for a partition that this node holds.
    Asked { from: ReplyAddress, bytes: Vec<u8> },
    /// The answer to somebody here.
    Landed(Landed),
}

/// The loop's side of the line to the other nodes.
pub(crate) struct OtherNodes {
    line: NodeLine,
    relay: RequestRelay<ClusterAsker>,
    share: NodeShare,
    own: Announcement,
    known: KnownNodes,
    next_announcement: Timestamp,
    /// Answers that need no message.
    landed: Vec<Landed>,
    has_more: bool,
    /// Requests of other nodes that are not answered yet.
    owed: usize,
    has_left: bool,
    troubles: LogLimit,
}

impl OtherNodes {
    pub(crate) fn new(
        line: NodeLine,
        share: NodeShare,
        (own, known): (Announcement, KnownNodes),
    ) -> Self {
        Self {
            line,
            relay: RequestRelay::new(RelayLimits::USUAL),
            share,
            own,
            known,
            next_announcement: Timestamp(0),
            landed: Vec::new(),
            has_more: false,
            owed: 0,
            has_left: false,
            troubles: LogLimit::default(),
        }
    }

    pub(crate) const fn known(&self) -> &KnownNodes {
        &self.known
    }

    /// What this node says of itself.
    pub(crate) const fn own(&self) -> &Announcement {
        &self.own
    }

    fn name_of(&self, partition: PartitionNumber) -> Option<&NodeName> {
        self.share.partitions.get(usize::from(partition.get()))
    }

    /// Has a node that holds the partition decide what a caller asks for; `by` says who sends it, and what is
    /// known here.
    pub(crate) fn ask(&mut self, now: Timestamp, by: EntryHead, asker: ClusterAsker) {
        let by = EntryHead {
            number: self.relay.next_number(),
            ..by
        };
        let (list, partition) = (self.share.list, asker.partition());
        let Some(bytes) = written(&asker, (list, &by), now) else {
            let reason =
                "what was sent together is too large for another node: send less at a time";
            return self.refuse(asker, reason.to_owned());
        };
        let may_repeat = asker.may_repeat();
        match self.relay.ask(now, (partition, bytes), may_repeat, asker) {
            Ok(message) => self.send(message),
            Err(asker) => {
                let reason = "too many requests wait for other nodes".to_owned();
                self.refuse(asker, reason);
            }
        }
    }

    fn refuse(&mut self, asker: ClusterAsker, reason: String) {
        let failed = asker.fail(&Failure::Unavailable { reason });
        self.landed.extend(failed);
    }

    fn send(&mut self, message: RelayedMessage) {
        let RelayedMessage { number, to, bytes } = message;
        let sent = match self.name_of(to) {
            Some(name) => self.line.ask(number, name, bytes).is_ok(),
            None => false,
        };
        if !sent {
            self.miss(number, to);
        }
    }

    /// Nobody has got a request.
    fn miss(&mut self, number: u64, to: PartitionNumber) {
        if let Some(asker) = self.relay.missed(number) {
            let name = self.name_of(to).map(ToString::to_string);
            let name = name.unwrap_or_default();
            let reason = format!("no node that holds partition {name} can be reached");
            self.refuse(asker, reason);
        }
    }

    /// Answers a request of another node.
    pub(crate) fn answer(&mut self, to: ReplyAddress, answer: &RelayAnswer) {
        self.owed = self.owed.saturating_sub(1);
        if let Err(full) = self.line.answer(to, answer.to_bytes()) {
            self.note_trouble(&full.to_string());
        }
    }

    /// Gets no more requests of other nodes: it ends, or its clients are seen off.
    pub(crate) fn leave(&mut self) {
        if !self.has_left {
            self.has_left = true;
            if let Err(full) = self.line.leave() {
                self.note_trouble(&full.to_string());
            }
        }
    }

    /// Whether another node waits for an answer.
    pub(crate) const fn owes(&self) -> bool {
        self.owed > 0
    }

    /// What has come, as much as a turn may take; and who waits no longer.
    pub(crate) fn take(&mut self, now: Timestamp) -> Vec<FromNodes> {
        let mut taken = Vec::new();
        self.has_more = true;
        for _ in 0..MESSAGES_PER_TURN {
            let Some(message) = self.line.next_message() else {
                self.has_more = false;
                break;
            };
            match message {
                NodeMessage::Asked { from, bytes } => {
                    self.owed += 1;
                    let bytes = bytes.into();
                    taken.push(FromNodes::Asked { from, bytes });
                }
                NodeMessage::Answered { number, bytes } => {
                    let landed = self.take_answer(number, &bytes).into_iter();
                    taken.extend(landed.map(FromNodes::Landed));
                }
                NodeMessage::Missed { number } => {
                    if let Some(to) = self.relay.partition_of(number) {
                        self.miss(number, to);
                    }
                }
                NodeMessage::Announced { bytes } => self.known.hear(Instant::now(), &bytes),
                NodeMessage::Trouble(trouble) => self.note_trouble(&trouble),
            }
        }
        self.tend(now);
        taken.extend(self.landed.drain(..).map(FromNodes::Landed));
        taken
    }

    fn take_answer(&mut self, number: u64, bytes: &[u8]) -> Vec<Landed> {
        let Some(AnsweredRelay {
            caller,
            was_repeated,
        }) = self.relay.answered(number)
        else {
            return Vec::new();
        };
        match RelayAnswer::parse(bytes) {
            Ok(answer) => caller.land(answer, was_repeated),
            Err(malformed) => {
                let reason =
                    format!("another node has answered what this one does not read: {malformed}");
                caller.fail(&Failure::Broken { reason })
            }
        }
    }

    /// Sends again what is due, gives up what has waited too long, and says who this node is.
    fn tend(&mut self, now: Timestamp) {
        let due = self.relay.due(now);
        for message in due.again {
            self.send(message);
        }
        for asker in due.ended {
            let reason = "another node has not answered in time".to_owned();
            let failed = asker.fail(&Failure::Unknown { reason });
            self.landed.extend(failed);
        }
        if now >= self.next_announcement && !self.has_left {
            self.next_announcement = Timestamp(now.0 + ANNOUNCED_MS);
            let said = serde_json::to_vec(&self.own).unwrap_or_default();
            // Whoever hears nobody tries the next time.
            let _full = self.line.announce(said);
        }
    }

    /// When there is something to do though nothing comes.
    pub(crate) fn deadline(&self) -> Timestamp {
        if self.has_more || !self.landed.is_empty() {
            return Timestamp(0);
        }
        let relay = self.relay.deadline().unwrap_or(self.next_announcement);
        relay.min(self.next_announcement)
    }

    fn note_trouble(&mut self, trouble: &str) {
        if let Some(times) = self.troubles.count(1) {
            tracing::warn!(times, "the line to other nodes: {trouble}");
        }
    }

    /// Looks at a request of another node, as far as that needs no state.
    ///
    /// # Errors
    /// Why it is not taken, in words.
    pub(crate) fn read<'a>(
        &self,
        installation: u64,
        bytes: &'a [u8],
    ) -> Result<NodeRequest<'a>, String> {
        let relay = read_relay(bytes)?;
        if relay.head.list != self.share.list {
            return Err("it comes from a node with other partitions".to_owned());
        }
        if relay.by.installation != installation {
            return Err("it comes from another installation".to_owned());
        }
        let partition = PartitionNumber::new(relay.head.partition);
        let partition = partition.filter(|partition| self.name_of(*partition).is_some());
        let partition = partition.ok_or_else(|| "there is no such partition".to_owned())?;
        let first = relay.entry.records().nth(1);
        let first = first.ok_or_else(|| "it asks for nothing".to_owned())?;
        Ok(NodeRequest {
            known: relay.by.applied.0,
            partition,
            is_query: relay.head.is_query,
            caller: Caller::relayed(first.principal, first.origin(), relay.head.credential),
            service: first.service,
            entry: relay.entry,
        })
    }
}

/// The bytes of a request, if another node can take it.
fn written(asker: &ClusterAsker, (list, by): (u64, &EntryHead), now: Timestamp) -> Option<Vec<u8>> {
    let caller = asker.caller()?;
    let mut entry = EntryBuilder::default();
    let about = (asker.partition().get(), asker.is_query());
    RelayHead::new(list, about, caller.credential().clone()).begin(&mut entry);
    let fits = caller.as_author(|author| asker.write(author, &mut entry));
    fits.then(|| finish_relay(entry, by, now))
}
