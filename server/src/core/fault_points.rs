//! Fault points: a process of travel ends itself at a named moment of a commit, so that tests can see
//! what the others make of it.

mod kept;

use std::{collections::BTreeSet, io, path::Path, process};

use turnstile_travel::{
    Answer, Body, Desk, Desks, Order, Parcel, PerDesk, Query, Report, Request, Say,
    TransactionState, TransactionView, Travel, Xid,
};
use turnstile_types::{Machine as _, Principal, Timestamp};

use self::kept::RecoveryList;

/// Whether this build has fault points at all: those with debug assertions do.
pub const HAS_FAULT_POINTS: bool = cfg!(debug_assertions);

/// How a process ends at a fault point.
pub const FAULT_EXIT: i32 = 96;

/// Whose fault point it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Middleware,
    Desk(Desk),
}

// The moments of the middleware, by the numbers of the ancestor.

/// No request for a vote has left.
const BEFORE_ASKING: u8 = 1;
/// All have left, and no vote has been taken.
const AFTER_ASKING: u8 = 2;
/// A vote has been taken, and others are missing.
const AFTER_SOME_VOTES: u8 = 3;
/// The last vote has come, and nothing is decided.
const BEFORE_DECIDING: u8 = 4;
/// It is committed, and nobody has been told: the decision is durable, or what was staged and all
/// votes are.
const AFTER_DECIDING: u8 = 5;
/// One desk has been told.
const AFTER_TELLING_SOME: u8 = 6;
/// All have been told.
const AFTER_TELLING_ALL: u8 = 7;
/// The process has started anew, and nothing of that is durable.
const IN_RECOVERY: u8 = 8;

// The moments of a desk.

/// It is asked for its vote, and has not voted.
const BEFORE_VOTING: u8 = 1;
/// The vote is durable where it must be, and has not left.
const AFTER_VOTING: u8 = 2;
/// The vote has left.
const AFTER_ANSWERING: u8 = 3;
/// The decision has come, and nothing is done about it.
const BEFORE_APPLYING: u8 = 4;
/// The process has started anew, and nothing of that is durable.
const IN_RECOVERY_OF_DESK: u8 = 5;

/// The parcels of a two-phase commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A request for a vote.
    Ask,
    Vote,
    Decision,
}

/// At which moments this process is to end itself, and what it has seen of commits.
///
/// The machine knows nothing of them: the parcels that come and go say how far a commit has got. A
/// mode holds until the process ends; that of a recovery is kept in a file until it fires. Where
/// travel is played by one process, a commit is one record, and there are two moments only: before
/// that record is durable, and after.
#[derive(Debug)]
pub(crate) struct FaultPoints {
    is_allowed: bool,
    middleware: u8,
    desks: PerDesk<u8>,
    kept: RecoveryList,
    has_recovered: bool,
    /// Transactions whose votes were asked for.
    asked: BTreeSet<Xid>,
    /// What was put on connections and has not left.
    unsent: Vec<(Desk, Xid, Kind)>,
    /// A transaction whose last vote has come in the open group.
    voted: Option<Xid>,
    /// Whether the process is to end as soon as the open group is durable.
    ends_when_durable: bool,
}

impl FaultPoints {
    /// Of a process that keeps its data there.
    pub(crate) fn new(is_allowed: bool, directory: Option<&Path>) -> Self {
        Self {
            is_allowed: is_allowed && HAS_FAULT_POINTS,
            middleware: 0,
            desks: PerDesk::default(),
            kept: RecoveryList::new(directory),
            has_recovered: false,
            asked: BTreeSet::new(),
            unsent: Vec::new(),
            voted: None,
            ends_when_durable: false,
        }
    }

    pub(crate) const fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// Whether some moment of a commit is waited for. Then groups are made durable one by one.
    pub(crate) fn is_armed(&self) -> bool {
        self.middleware > 0 || self.desks.iter().any(|(_, &mode)| mode > 0)
    }

    /// Has somebody who is played here end at this moment; 0 is never.
    ///
    /// # Errors
    /// That of a recovery cannot be kept.
    pub(crate) fn arm(&mut self, who: Who, mode: u8) -> io::Result<()> {
        let (armed, in_recovery) = match who {
            Who::Middleware => (&mut self.middleware, IN_RECOVERY),
            Who::Desk(desk) => (self.desks.at_mut(desk), IN_RECOVERY_OF_DESK),
        };
        if mode == in_recovery {
            return self.kept.keep(who, true);
        }
        *armed = mode;
        if mode == 0 {
            self.kept.keep(who, false)?;
        }
        if !self.is_armed() {
            self.asked.clear();
            self.unsent.clear();
            self.voted = None;
        }
        Ok(())
    }

    /// Nobody who is played here is to end any more.
    ///
    /// # Errors
    /// As [`arm`](Self::arm).
    pub(crate) fn reset(&mut self) -> io::Result<()> {
        self.arm(Who::Middleware, 0)?;
        Desk::ALL
            .into_iter()
            .try_for_each(|desk| self.arm(Who::Desk(desk), 0))
    }

    /// Travel has been told that it has started anew.
    pub(crate) fn recover(&mut self) {
        if std::mem::replace(&mut self.has_recovered, true) || !self.is_allowed {
            return;
        }
        match self.kept.take() {
            Ok(true) => end("recovery"),
            Ok(false) => {}
            Err(failure) => tracing::error!(%failure, "the file of fault points cannot be read"),
        }
    }

    /// A parcel has come, and travel is as it was before. Answers with the transaction of whose awaited
    /// votes it has one.
    pub(crate) fn arriving(&self, travel: &Travel, parcel: &Parcel) -> Option<Xid> {
        if !self.is_armed() {
            return None;
        }
        let desk = parcel.desk;
        match content(parcel) {
            Some((xid, Kind::Vote)) => {
                let (awaited, is_asking) = awaited(travel, xid);
                if awaited.sole() == Some(desk) && !is_asking {
                    self.reach(Who::Middleware, BEFORE_DECIDING);
                }
                return awaited.contains(desk).then_some(xid);
            }
            Some((_, Kind::Ask)) => self.reach(Who::Desk(desk), BEFORE_VOTING),
            Some((xid, Kind::Decision)) if travel.is_in_doubt(desk, xid) => {
                self.reach(Who::Desk(desk), BEFORE_APPLYING);
            }
            Some((_, Kind::Decision)) | None => {}
        }
        None
    }

    /// A vote that was awaited has been taken.
    pub(crate) fn took_vote(&mut self, travel: &Travel, xid: Xid) {
        self.reach(Who::Middleware, AFTER_SOME_VOTES);
        let state = view(travel, xid).map(|view| view.state);
        if let Some(TransactionState::Committing | TransactionState::Committed) = state {
            self.voted = Some(xid);
        }
    }

    /// A parcel is being put on its connection.
    pub(crate) fn put(&mut self, parcel: &Parcel) {
        if !self.is_armed() {
            return;
        }
        let Some((xid, kind)) = content(parcel) else {
            return;
        };
        match kind {
            Kind::Ask => {
                self.reach(Who::Middleware, BEFORE_ASKING);
                self.asked.insert(xid);
            }
            Kind::Decision if !self.asked.contains(&xid) => return,
            Kind::Decision | Kind::Vote => {}
        }
        self.unsent.push((parcel.desk, xid, kind));
    }

    /// What the group owes may leave now, with what is put of commits.
    pub(crate) fn before_sending(&mut self) {
        if self.ends_when_durable {
            end("commit");
        }
        if self.voted.take().is_some() {
            self.reach(Who::Middleware, AFTER_DECIDING);
        }
        for &(desk, _, kind) in &self.unsent {
            match kind {
                Kind::Decision => self.reach(Who::Middleware, AFTER_DECIDING),
                Kind::Vote => self.reach(Who::Desk(desk), AFTER_VOTING),
                Kind::Ask => {}
            }
        }
    }

    /// All that was put on the connection of this line has left.
    pub(crate) fn sent(&mut self, desk: Desk) {
        let sent: Vec<_> = self
            .unsent
            .extract_if(.., |(at, _, _)| *at == desk)
            .collect();
        for (_, xid, kind) in sent {
            let is_last = !self
                .unsent
                .iter()
                .any(|other| (other.1, other.2) == (xid, kind));
            match kind {
                Kind::Vote => self.reach(Who::Desk(desk), AFTER_ANSWERING),
                Kind::Decision => self.reach(Who::Middleware, AFTER_TELLING_SOME),
                Kind::Ask => {}
            }
            match kind {
                Kind::Ask if is_last => self.reach(Who::Middleware, AFTER_ASKING),
                Kind::Decision if is_last => {
                    self.reach(Who::Middleware, AFTER_TELLING_ALL);
                    self.asked.remove(&xid);
                }
                Kind::Ask | Kind::Decision | Kind::Vote => {}
            }
        }
    }

    /// The connection of this line has ended.
    pub(crate) fn lost(&mut self, desk: Desk) {
        self.unsent.retain(|(at, _, _)| *at != desk);
    }

    /// A transaction was committed where everybody is in this process: what would come before the
    /// decision comes before its record is durable, and what would come after it, after.
    pub(crate) fn committed_here(&mut self) {
        let desks = self.desks.iter();
        let armed = desks.map(|(_, &mode)| (mode, BEFORE_APPLYING));
        for (mode, first_after) in armed.chain([(self.middleware, AFTER_DECIDING)]) {
            if mode >= first_after {
                self.ends_when_durable = true;
            } else if mode > 0 {
                end("commit");
            }
        }
    }

    /// Ends the process, if it was told to end at this moment.
    fn reach(&self, who: Who, mode: u8) {
        let (armed, name) = match who {
            Who::Middleware => (self.middleware, "middleware"),
            Who::Desk(desk) => (*self.desks.at(desk), desk.code()),
        };
        if armed == mode {
            end(name);
        }
    }
}

/// What of a two-phase commit is in a parcel, and for which transaction. An order to abort is a
/// decision only where votes were asked for.
const fn content(parcel: &Parcel) -> Option<(Xid, Kind)> {
    match &parcel.body {
        Body::Request(Some(Request { xid, order })) => match order {
            Order::Prepare | Order::Finish { .. } => Some((*xid, Kind::Ask)),
            Order::Commit | Order::Abort => Some((*xid, Kind::Decision)),
            Order::Operate { .. } | Order::CommitAlone | Order::Forget => None,
        },
        Body::Report(Some(Report {
            xid,
            say: Say::Voted(_),
        })) => Some((*xid, Kind::Vote)),
        Body::Request(None) | Body::Report(_) => None,
    }
}

fn view(travel: &Travel, xid: Xid) -> Option<TransactionView> {
    let query = Query::Transaction { xid };
    match travel.query(Timestamp(0), &Principal::local(), &query) {
        Answer::Transaction(view) => view,
        _ => None,
    }
}

/// The desks whose votes are missing, and whether others are still to be asked for theirs.
fn awaited(travel: &Travel, xid: Xid) -> (Desks, bool) {
    let Some(view) = view(travel, xid) else {
        return (Desks::NONE, false);
    };
    match view.state {
        TransactionState::Preparing => (view.awaited, false),
        TransactionState::Active | TransactionState::Waiting => (view.touched, true),
        _ => (Desks::NONE, false),
    }
}

#[expect(
    clippy::exit,
    reason = "a fault point is the end of the process at that very moment, without a last word"
)]
fn end(of: &str) -> ! {
    tracing::error!(of, "a fault point ends the process");
    process::exit(FAULT_EXIT)
}
