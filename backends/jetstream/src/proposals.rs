//! Proposals without a fate: which are to be published, and when again.
//!
//! The module has no clock and no socket, so that its rules are tested alone. A proposal is published
//! until its entry is seen. When brokers do not take proposals, all but one wait, and one after the
//! other is tried, with 50 to 500 ms between them: a cluster without a majority is not flooded with
//! the same 64 proposals. As soon as one is taken, all are published again.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    time::{Duration, Instant},
};

use bytes::Bytes;

use crate::{
    api::BrokerError,
    event::NotTaken,
    id::{ProposalId, Sequence},
    stream::ENTRY_BYTES_MAX,
};

/// Between two tries while brokers do not take proposals.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Proposals that were seen and whose acknowledgement is still told.
const SEEN_MAX: usize = 128;

/// How often the wait for an acknowledgement doubles.
const DOUBLINGS_MAX: u32 = 2;

/// Errors of a publication that the leader finds before it proposes the message to other brokers:
/// resources, storage, message too large, sealed.
const NO_ROOM: [u32; 4] = [10_023, 10_047, 10_054, 10_109];

/// A message was not stored. The reason is in words.
const NOT_STORED: u32 = 10_077;

/// What brokers say when a message would exceed a limit of its stream. In a cluster the leader finds that
/// before it proposes the message.
const LIMITS: [&str; 3] = [
    "maximum bytes exceeded",
    "maximum messages exceeded",
    "maximum messages per subject exceeded",
];

/// The number that the broker knows a proposal by in its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PublicationSlot(pub(crate) u64);

/// What a broker answers to a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublishAnswer {
    /// It is in the stream.
    Stored(Sequence),
    /// It has no room. This try has stored nothing.
    Full(String),
    /// Nothing is known of what becomes of it.
    Unknown,
}

impl PublishAnswer {
    /// Reads what a broker answers to a publication.
    ///
    /// The leader also says [`NOT_STORED`] when it cannot write what most brokers have agreed on, on a
    /// full disk, and the next leader has the entry then. So only what is refused before that is final.
    pub(crate) fn parse(payload: &[u8]) -> Self {
        #[derive(serde::Deserialize)]
        struct Acknowledgement {
            #[serde(default)]
            seq: u64,
            error: Option<BrokerError>,
        }
        match serde_json::from_slice::<Acknowledgement>(payload) {
            Ok(Acknowledgement { seq, error: None }) if seq > 0 => Self::Stored(Sequence(seq)),
            Ok(Acknowledgement {
                error: Some(error), ..
            }) if is_without_room(&error) => Self::Full(error.description),
            _ => Self::Unknown,
        }
    }
}

/// Whether an error says that this try has stored nothing, and that no broker will store it.
fn is_without_room(error: &BrokerError) -> bool {
    NO_ROOM.contains(&error.err_code)
        || error.err_code == NOT_STORED && LIMITS.contains(&error.description.as_str())
}

/// What follows from an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProposalFate {
    Published(ProposalId, Sequence),
    Refused(ProposalId, NotTaken),
}

#[derive(Debug)]
struct Proposal {
    id: ProposalId,
    bytes: Bytes,
    tries: u32,
    /// Until when an answer is waited for; nothing if it is to be published.
    waits_until: Option<Instant>,
    /// The broker has said where it is. It is kept until it is seen there.
    is_stored: bool,
}

/// While brokers do not take proposals.
#[derive(Debug)]
struct Probing {
    since: Instant,
    next: Instant,
    pause: Duration,
    /// The proposal that was tried last.
    last: PublicationSlot,
}

/// One proposal to publish now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Publication {
    pub(crate) slot: PublicationSlot,
    pub(crate) id: ProposalId,
    pub(crate) bytes: Bytes,
}

#[derive(Debug)]
pub(crate) struct Proposals {
    by_slot: BTreeMap<PublicationSlot, Proposal>,
    by_id: HashMap<ProposalId, PublicationSlot>,
    /// Proposals whose entry came before the acknowledgement.
    seen: VecDeque<(PublicationSlot, ProposalId)>,
    next_slot: u64,
    acknowledgement: Duration,
    is_connected: bool,
    probing: Option<Probing>,
    retries: u64,
}

impl Proposals {
    pub(crate) fn new(acknowledgement: Duration) -> Self {
        Self {
            by_slot: BTreeMap::new(),
            by_id: HashMap::new(),
            seen: VecDeque::new(),
            next_slot: 1,
            acknowledgement,
            is_connected: true,
            probing: None,
            retries: 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.by_slot.len()
    }

    pub(crate) const fn retries(&self) -> u64 {
        self.retries
    }

    /// Whether brokers take what they get, as far as known.
    pub(crate) const fn are_taken(&self) -> bool {
        self.is_connected && self.probing.is_none()
    }

    /// Since when brokers do not take proposals.
    pub(crate) fn troubled_since(&self) -> Option<Instant> {
        self.probing.as_ref().map(|probing| probing.since)
    }

    /// Takes a new proposal, which [`Self::due`] gives out.
    pub(crate) fn add(&mut self, id: ProposalId, bytes: Bytes) -> Result<(), ProposalFate> {
        if bytes.len() > ENTRY_BYTES_MAX {
            let why = NotTaken::TooLarge {
                bytes: bytes.len(),
                bytes_max: ENTRY_BYTES_MAX,
            };
            return Err(ProposalFate::Refused(id, why));
        }
        let slot = PublicationSlot(self.next_slot);
        self.next_slot += 1;
        self.by_id.insert(id.clone(), slot);
        let proposal = Proposal {
            id,
            bytes,
            tries: 0,
            waits_until: None,
            is_stored: false,
        };
        self.by_slot.insert(slot, proposal);
        Ok(())
    }

    /// The entry of a proposal was seen, or the caller gives it up.
    pub(crate) fn remove(&mut self, id: &ProposalId) -> bool {
        let Some(slot) = self.by_id.remove(id) else {
            return false;
        };
        self.by_slot.remove(&slot).is_some()
    }

    /// An entry of ours was seen: brokers take proposals.
    pub(crate) fn seen(&mut self, id: &ProposalId) {
        let Some(slot) = self.by_id.get(id).copied() else {
            return;
        };
        let was_acknowledged = self.by_slot.get(&slot).is_some_and(|one| one.is_stored);
        self.remove(id);
        self.probing = None;
        if !was_acknowledged {
            self.seen.truncate(SEEN_MAX - 1);
            self.seen.push_front((slot, id.clone()));
        }
    }

    /// The connection is gone, and all answers with it.
    pub(crate) fn disconnected(&mut self) {
        self.is_connected = false;
    }

    /// There is a connection: everything is published again, because answers were lost with the last.
    pub(crate) fn connected(&mut self) {
        self.is_connected = true;
        self.probing = None;
        for proposal in self.by_slot.values_mut() {
            proposal.waits_until = None;
            proposal.is_stored = false;
        }
    }

    /// What is to be published now.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Publication> {
        if !self.is_connected {
            return Vec::new();
        }
        self.notice_silence(now);
        let slots = match &self.probing {
            None => self.unpublished().collect(),
            Some(probing) if now < probing.next => Vec::new(),
            Some(probing) => self.next_to_try(probing.last).into_iter().collect(),
        };
        slots
            .into_iter()
            .map(|slot: PublicationSlot| self.publish(now, slot))
            .collect()
    }

    fn unpublished(&self) -> impl Iterator<Item = PublicationSlot> {
        let is_due =
            |(_, one): &(&PublicationSlot, &Proposal)| one.waits_until.is_none() && !one.is_stored;
        self.by_slot.iter().filter(is_due).map(|(slot, _)| *slot)
    }

    /// The one after the last that was tried, around in a circle.
    fn next_to_try(&self, last: PublicationSlot) -> Option<PublicationSlot> {
        if self.waits(last) {
            return None;
        }
        let after = self.unpublished().find(|slot| *slot > last);
        after.or_else(|| self.unpublished().next())
    }

    fn waits(&self, slot: PublicationSlot) -> bool {
        let proposal = self.by_slot.get(&slot);
        proposal.is_some_and(|one| one.waits_until.is_some())
    }

    fn publish(&mut self, now: Instant, slot: PublicationSlot) -> Publication {
        let proposal = self.by_slot.get_mut(&slot).expect("it is one of ours");
        let doublings = proposal.tries.min(DOUBLINGS_MAX);
        proposal.waits_until = Some(now + self.acknowledgement * (1 << doublings));
        self.retries += u64::from(proposal.tries > 0);
        proposal.tries += 1;
        let publication = Publication {
            slot,
            id: proposal.id.clone(),
            bytes: proposal.bytes.clone(),
        };
        if let Some(probing) = &mut self.probing {
            probing.last = slot;
        }
        publication
    }

    /// Whose answer is late is unknown.
    fn notice_silence(&mut self, now: Instant) {
        let is_late = |one: &Proposal| one.waits_until.is_some_and(|until| until <= now);
        let late: Vec<PublicationSlot> = self
            .by_slot
            .iter()
            .filter(|(_, one)| is_late(one))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in late {
            self.is_unknown(now, slot);
        }
    }

    fn is_unknown(&mut self, now: Instant, slot: PublicationSlot) {
        let Some(proposal) = self.by_slot.get_mut(&slot) else {
            return;
        };
        if proposal.waits_until.take().is_none() && self.probing.is_some() {
            return;
        }
        let pause = match &self.probing {
            None => PAUSE_MIN,
            // One trouble may come as many answers: only that to a try counts.
            Some(probing) if probing.last != slot => return,
            Some(probing) => (probing.pause * 2).min(PAUSE_MAX),
        };
        let since = self.probing.as_ref().map_or(now, |probing| probing.since);
        self.probing = Some(Probing {
            since,
            next: now + pause,
            pause,
            last: slot,
        });
    }

    /// A broker has answered.
    pub(crate) fn answered(
        &mut self,
        now: Instant,
        slot: PublicationSlot,
        answer: PublishAnswer,
    ) -> Option<ProposalFate> {
        match answer {
            PublishAnswer::Unknown => {
                self.is_unknown(now, slot);
                None
            }
            PublishAnswer::Stored(sequence) => {
                let Some(proposal) = self.by_slot.get_mut(&slot) else {
                    let place = self.seen.iter().position(|(seen, _)| *seen == slot)?;
                    let (_, id) = self.seen.remove(place)?;
                    return Some(ProposalFate::Published(id, sequence));
                };
                proposal.is_stored = true;
                proposal.waits_until = None;
                let fate = ProposalFate::Published(proposal.id.clone(), sequence);
                self.probing = None;
                Some(fate)
            }
            PublishAnswer::Full(broker) => {
                let proposal = self.by_slot.get(&slot)?;
                // An earlier try may still become an entry.
                if proposal.tries > 1 {
                    self.is_unknown(now, slot);
                    return None;
                }
                let id = proposal.id.clone();
                self.remove(&id);
                Some(ProposalFate::Refused(id, NotTaken::Full { broker }))
            }
        }
    }

    /// When [`Self::due`] is to be asked again, without anything else happening.
    pub(crate) fn next_moment(&self) -> Option<Instant> {
        if !self.is_connected {
            return None;
        }
        let silence = self.by_slot.values().filter_map(|one| one.waits_until);
        let has_unpublished = self.unpublished().next().is_some();
        let may_try = |probing: &&Probing| has_unpublished && !self.waits(probing.last);
        let probe = self.probing.as_ref().filter(may_try);
        silence.chain(probe.map(|probing| probing.next)).min()
    }
}

#[cfg(test)]
mod tests;
