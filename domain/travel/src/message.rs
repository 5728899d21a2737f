//! What the coordinator and a desk say to each other.

use crate::{Finding, Operation, Xid, channel::Message};

/// From the coordinator to a desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub xid: Xid,
    pub order: Order,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// `first`: the desk has heard nothing of the transaction before.
    Operate {
        first: bool,
        operation: Operation,
    },
    /// The only operation at this desk: who has done it votes at once, unasked.
    Finish {
        operation: Operation,
    },
    /// Asks for a vote.
    Prepare,
    /// The decision, for a desk that voted yes.
    Commit,
    /// Leaves the decision to the only desk that was touched.
    CommitAlone,
    Abort,
    /// The desk need not remember any more how it ended: the coordinator knows it for good.
    Forget,
}

/// From a desk to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub xid: Xid,
    pub say: Say,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    Found(Finding),
    /// The operation waits until these have ended, and `holder` has what it wants.
    Waits {
        holder: Xid,
        before: Vec<Xid>,
    },
    /// The desk knows nothing of the transaction any more.
    Gone,
    Voted(Vote),
    Ended {
        committed: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    Yes,
    /// Yes, and it need not be told the decision: it has changed nothing and let its locks go.
    ReadOnly,
    No,
}

impl Message for Request {
    fn is_firm(&self) -> bool {
        matches!(
            self.order,
            Order::Commit | Order::CommitAlone | Order::Forget
        )
    }
}

impl Message for Report {
    fn is_firm(&self) -> bool {
        matches!(
            self.say,
            Say::Voted(Vote::Yes) | Say::Ended { committed: true }
        )
    }
}
