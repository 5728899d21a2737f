//! What the coordinator and a desk say to each other.

use turnstile_chassis::Bytes;

use crate::{Finding, Operation, Xid};

/// From the coordinator to a desk.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub struct Request {
    pub xid: Xid,
    pub order: Order,
}

#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Order {
    /// `first`: the desk has heard nothing of the transaction before.
    #[byte(0x01)]
    Operate { first: bool, operation: Operation },
    /// The only operation at this desk: who has done it votes at once, unasked.
    #[byte(0x07)]
    Finish { operation: Operation },
    /// Asks for a vote.
    #[byte(0x02)]
    Prepare,
    /// The decision, for a desk that voted yes.
    #[byte(0x03)]
    Commit,
    /// Leaves the decision to the only desk that was touched.
    #[byte(0x04)]
    CommitAlone,
    #[byte(0x05)]
    Abort,
    /// The desk need not remember any more how it ended: the coordinator knows it for good.
    #[byte(0x06)]
    Forget,
}

/// From a desk to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub struct Report {
    pub xid: Xid,
    pub say: Say,
}

#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Say {
    #[byte(0x01)]
    Found(Finding),
    /// The operation waits until these have ended, and `holder` has what it wants.
    #[byte(0x02)]
    Waits { holder: Xid, before: Vec<Xid> },
    /// The desk knows nothing of the transaction any more.
    #[byte(0x03)]
    Gone,
    #[byte(0x04)]
    Voted(Vote),
    #[byte(0x05)]
    Ended { committed: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Vote {
    #[byte(0x01)]
    Yes,
    /// Yes, and it need not be told the decision: it has changed nothing and let its locks go.
    #[byte(0x02)]
    ReadOnly,
    #[byte(0x03)]
    No,
}

/// What a coordinator or a desk says.
pub(crate) trait Message: Clone {
    /// Whether it must be durable before it is sent.
    fn is_firm(&self) -> bool;
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
