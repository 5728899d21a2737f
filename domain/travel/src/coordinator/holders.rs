//! Who has started the open transactions.

use std::collections::BTreeMap;

use turnstile_chassis::{Decode, Encode, OpenCounts};
use turnstile_types::{Malformed, Name, Principal, Reader};

use super::{Coordinator, Goal};
use crate::Xid;

/// The principals that have started the open transactions that other callers must not use. Those of
/// `local` are everybody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransactionHolders {
    by_xid: BTreeMap<Xid, Name>,
    /// How many of them each has.
    counts: OpenCounts,
}

impl TransactionHolders {
    pub(crate) fn insert(&mut self, xid: Xid, holder: Name) {
        self.by_xid.insert(xid, holder);
        self.counts.add(holder);
    }

    /// The transaction has ended.
    pub(super) fn remove(&mut self, xid: Xid) {
        if let Some(holder) = self.by_xid.remove(&xid) {
            self.counts.remove(holder);
        }
    }

    pub(crate) fn get(&self, xid: Xid) -> Option<Principal> {
        self.by_xid.get(&xid).copied().map(Principal)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_xid.is_empty()
    }

    pub(crate) fn xids(&self) -> impl Iterator<Item = Xid> {
        self.by_xid.keys().copied()
    }

    /// Whether they are counted as they are.
    pub(crate) fn are_counted(&self) -> bool {
        let counts: OpenCounts = self.by_xid.values().copied().collect();
        counts == self.counts
    }
}

impl Encode for TransactionHolders {
    fn encode(&self, out: &mut Vec<u8>) {
        self.by_xid.encode(out);
    }
}

impl Decode<'_> for TransactionHolders {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let by_xid = <BTreeMap<Xid, Name>>::decode(reader, field)?;
        let counts = by_xid.values().copied().collect();
        Ok(Self { by_xid, counts })
    }
}

impl Coordinator {
    /// Whose an open transaction is; nothing for one that is everybody's. Nobody has started one that is only
    /// there for a trip: it is the server's.
    pub(crate) fn holder(&self, xid: Xid) -> Option<Principal> {
        let is_of_trip = || {
            let job = self.transactions.get(&xid)?.job.as_ref()?;
            let is_trip = matches!(job.goal, Goal::Book { .. } | Goal::Release { .. });
            is_trip.then(Principal::local)
        };
        self.holders.get(xid).or_else(is_of_trip)
    }

    /// How many open transactions a principal has started. Those of `local` are all that are nobody's, and
    /// trips in one command are among them while they are under way.
    pub(crate) fn open_of(&self, principal: &Principal) -> usize {
        if *principal == Principal::local() {
            return self.transactions.len() - self.holders.by_xid.len();
        }
        self.holders.counts.of(principal) as usize
    }
}
