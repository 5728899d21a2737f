//! How much one client may have open in a table that all clients share.
//!
//! Who has a share is a [`ShareOwner`]: a connection, all of HTTP, or all closed connections.

use std::{collections::VecDeque, fmt};

use turnstile_chassis::Needs as _;
use turnstile_embedded::Embedded;
use turnstile_travel::{Travel, Xid};
use turnstile_types::Timestamp;

use crate::{
    limits::{CLOSED_SHARE, EVICTED_PART, HTTP_SHARE, SHARE_LOOKS},
    registry::{Registered, TRANSACTIONS, Table},
};

/// Whose share it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShareOwner {
    #[default]
    Connection,
    /// All clients of HTTP together, whose requests belong to no connection that lasts.
    Http,
    /// All connections that were closed, together.
    Closed,
}

impl ShareOwner {
    /// How many of a table's places it may have, while so many are taken.
    ///
    /// Once more than half of the table is taken, shares shrink with the square of what is free, so
    /// that it takes thousands of greedy connections to fill it. HTTP's share stays, because its
    /// clients cannot be told apart.
    fn bound(self, table: Table, taken: usize) -> usize {
        let part = match self {
            Self::Connection => table.per_connection,
            Self::Http => return table.most / HTTP_SHARE.1 * HTTP_SHARE.0,
            Self::Closed => table.most / CLOSED_SHARE,
        };
        let (free, half) = (table.most.saturating_sub(taken), table.most / 2);
        if free >= half {
            part
        } else {
            (part * free * free / (half * half)).max(1)
        }
    }
}

/// A service with its share in [`Shares`].
pub(crate) trait Opens: Registered {
    fn share(shares: &mut Shares) -> &mut Share<Self::Opened>;
}

/// What one client has opened.
///
/// The machines do not know who opened what: they decide the same whoever asks, and a connection is
/// nothing that a journal keeps. So it is counted at the door. What has ended is noticed when the share
/// is used up, which costs nothing as long as it is not.
#[derive(Debug)]
pub(crate) struct Share<T> {
    open: VecDeque<T>,
    /// The turn of the loop in which it was last asked what has ended.
    asked: Option<u64>,
}

impl<T> Default for Share<T> {
    fn default() -> Self {
        Self {
            open: VecDeque::new(),
            asked: None,
        }
    }
}

impl<T: Copy> Share<T> {
    /// Whether there is room for one more. Only some are asked for, and once in a turn, so that a client
    /// who asks again and again for more costs the others little.
    fn has_room(&mut self, most: usize, turn: u64, is_open: impl Fn(T) -> bool) -> bool {
        if self.open.len() >= most && self.asked != Some(turn) {
            self.asked = Some(turn);
            for _ in 0..self.open.len().min(SHARE_LOOKS) {
                let oldest = self.open.pop_front();
                self.open.extend(oldest.filter(|&id| is_open(id)));
            }
        }
        self.open.len() < most
    }
}

/// What there is when a command comes.
#[derive(Clone, Copy)]
pub(crate) struct ShareContext<'a> {
    pub(crate) backend: &'a Embedded,
    pub(crate) now: Timestamp,
    /// Counts the turns of the loop.
    pub(crate) turn: u64,
}

macro_rules! shares {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The shares of one owner.
        #[derive(Debug, Default)]
        pub(crate) struct Shares {
            owner: ShareOwner,
            /// Whether it was ever asked for room. What a database decides is not counted.
            is_heeded: bool,
            $($name: Share<<turnstile_services::$name::$machine as Registered>::Opened>,)+
        }

        $(
            impl Opens for turnstile_services::$name::$machine {
                fn share(shares: &mut Shares) -> &mut Share<Self::Opened> {
                    &mut shares.$name
                }
            }
        )+
    };
}

turnstile_services::services!(shares);

/// A client has as much open as it may: nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareFull {
    name: &'static str,
    most: usize,
    owner: ShareOwner,
    /// The table is so full that shares have shrunk.
    is_scarce: bool,
}

impl fmt::Display for ShareFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, most, .. } = self;
        let (who, whose) = match self.owner {
            ShareOwner::Connection => ("this connection has", "one connection may"),
            ShareOwner::Http => ("clients of HTTP have", "they may together"),
            ShareOwner::Closed => ("closed connections have", "they may together"),
        };
        let scarce = if self.is_scarce {
            " while most places are taken"
        } else {
            ""
        };
        write!(
            f,
            "{who} {most} {name} open, as many as {whose}{scarce}: end some first"
        )
    }
}

impl std::error::Error for ShareFull {}

impl Shares {
    pub(crate) fn of_http() -> Self {
        Self {
            owner: ShareOwner::Http,
            ..Self::default()
        }
    }

    /// Checks that this client may open what the command opens.
    ///
    /// # Errors
    /// Its share is used up.
    #[inline]
    pub(crate) fn check<M: Opens>(
        &mut self,
        at: ShareContext<'_>,
        command: &M::Command<'_>,
    ) -> Result<(), ShareFull> {
        self.is_heeded = true;
        match M::TABLE {
            Some(table) if command.needed().opens => self.check_table::<M>(at, table),
            Some(_) | None => Ok(()),
        }
    }

    fn check_table<M: Opens>(
        &mut self,
        ShareContext { backend, now, turn }: ShareContext<'_>,
        table: Table,
    ) -> Result<(), ShareFull> {
        let owner = self.owner;
        let share = M::share(self);
        if share.open.is_empty() {
            return Ok(());
        }
        let most = owner.bound(table, M::taken(backend));
        let has_room = share.has_room(most, turn, |id| M::is_open(backend, now, id));
        let have = share.open.len();
        if has_room {
            return Ok(());
        }
        Err(ShareFull {
            name: table.name,
            most: have,
            owner,
            is_scarce: most < owner.bound(table, 0),
        })
    }

    /// Notes what a command has opened.
    #[inline]
    pub(crate) fn note<M: Opens>(&mut self, outcome: &M::Outcome, is_replayed: bool) {
        if let Some(id) = M::opened(outcome).filter(|_| self.is_heeded && !is_replayed) {
            M::share(self).open.push_back(id);
        }
    }
}

/// The transactions that closed connections have left open, the oldest first.
///
/// A client may go on with its transaction on another connection, so they are not aborted at once. But
/// they are the first to go when room is needed.
#[derive(Debug, Default)]
pub(crate) struct LeftOpen(VecDeque<Xid>);

impl LeftOpen {
    /// A connection with these shares was closed.
    pub(crate) fn add(&mut self, shares: Shares, travel: &Travel) {
        let left = shares.travel.open.into_iter();
        self.0.extend(left.filter(|&xid| travel.is_open(xid)));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many are too many. Some more than those, so that it is not asked each time which have ended
    /// by themselves.
    pub(crate) fn surplus(&mut self, travel: &Travel) -> usize {
        let most = ShareOwner::Closed.bound(TRANSACTIONS, travel.open_transactions());
        if self.0.len() <= most {
            return 0;
        }
        self.0.retain(|&xid| travel.is_open(xid));
        let kept = most - most / EVICTED_PART;
        self.0.len().saturating_sub(kept)
    }

    pub(crate) fn oldest(&self) -> Option<Xid> {
        self.0.front().copied()
    }

    pub(crate) fn forget_oldest(&mut self) {
        self.0.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_room_again_when_something_has_ended() {
        let mut share = Share::default();
        share.open.extend(1..=3);
        let room = |share: &mut Share<u32>, turn, is_open: fn(u32) -> bool| {
            share.has_room(3, turn, is_open)
        };
        assert!(!room(&mut share, 1, |_| true));
        assert!(!room(&mut share, 1, |_| false), "once in a turn");
        assert!(room(&mut share, 2, |id| id != 2));
        assert_eq!(share.open, [1, 3]);
        // Nothing is asked while there is room.
        assert!(room(&mut share, 3, |_| panic!("there is room")));
    }

    #[test]
    fn shares_shrink_when_little_is_free_and_leave_something_to_a_newcomer() {
        let bound = |owner: ShareOwner, taken| owner.bound(TRANSACTIONS, taken);
        let (one, closed) = (ShareOwner::Connection, ShareOwner::Closed);
        assert_eq!((bound(one, 0), bound(one, 50_000)), (1_000, 1_000));
        assert_eq!((bound(one, 75_000), bound(one, 90_000)), (250, 40));
        assert_eq!((bound(one, 99_999), bound(one, 100_000)), (1, 1));
        assert_eq!(
            (bound(closed, 50_000), bound(closed, 90_000)),
            (10_000, 400)
        );
        assert_eq!(bound(ShareOwner::Http, 99_000), 75_000);
        // Greedy connections, on top of HTTP and of those closed.
        let mut taken = bound(ShareOwner::Http, 0) + bound(closed, bound(ShareOwner::Http, 0));
        for _ in 0..2_500 {
            taken += bound(one, taken);
        }
        assert!(taken < TRANSACTIONS.most, "{taken}");
    }

    #[test]
    fn a_large_share_is_looked_through_in_parts() {
        let mut share = Share::default();
        let most = 2 * SHARE_LOOKS;
        share.open.extend(0..most);
        let last = most - 1;
        assert!(!share.has_room(most, 1, |id| id != last));
        assert!(share.has_room(most, 2, |id| id != last));
    }
}
