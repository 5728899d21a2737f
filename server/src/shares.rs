//! How much one client may have open in a table that all clients share.

use std::{collections::VecDeque, fmt};

use turnstile_embedded::{Embedded, Reply};
use turnstile_exchange::Exchange;
use turnstile_games::{Games, MatchId};
use turnstile_rooms::{EntryState, Reference, Rooms};
use turnstile_travel::{Travel, Xid};
use turnstile_types::{Machine, Principal, Timestamp};

use crate::limits::{
    HOLDS_PER_CONNECTION, HTTP_SHARE, MATCHES_PER_CONNECTION, SHARE_LOOKS,
    TRANSACTIONS_PER_CONNECTION,
};

/// A table with a bound that all clients share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// What is in it, in the plural.
    name: &'static str,
    /// How many there may be.
    most: usize,
    /// How many of them one connection may have opened.
    per_connection: usize,
}

/// A machine whose commands may open something in such a table.
pub(crate) trait Opens: Machine {
    type Id: Copy + fmt::Debug;

    /// The table in which a command opens something, if it does.
    fn table(command: &Self::Command<'_>) -> Option<Table>;

    /// What was opened.
    fn opened(outcome: &Self::Outcome) -> Option<Self::Id>;

    /// Whether that is still open.
    fn is_open(backend: &Embedded, now: Timestamp, id: Self::Id) -> bool;

    fn share(shares: &mut Shares) -> &mut Share<Self::Id>;
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
pub(crate) struct Asking<'a> {
    pub(crate) backend: &'a Embedded,
    pub(crate) now: Timestamp,
    /// Counts the turns of the loop.
    pub(crate) turn: u64,
}

/// The shares of one connection, or of all of HTTP together, which has no connections that last.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    is_http: bool,
    transactions: Share<Xid>,
    holds: Share<Reference>,
    matches: Share<MatchId>,
    nothing: Share<()>,
}

/// A client has as much open as it may: nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareFull {
    name: &'static str,
    most: usize,
    is_http: bool,
}

impl fmt::Display for ShareFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, most, .. } = self;
        let (who, whose) = if self.is_http {
            ("clients of HTTP have", "they may together")
        } else {
            ("this connection has", "one connection may")
        };
        write!(
            f,
            "{who} {most} {name} open, as many as {whose}: end some first"
        )
    }
}

impl std::error::Error for ShareFull {}

impl Shares {
    pub(crate) fn of_http() -> Self {
        Self {
            is_http: true,
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
        at: Asking<'_>,
        command: &M::Command<'_>,
    ) -> Result<(), ShareFull> {
        match M::table(command) {
            None => Ok(()),
            Some(table) => self.check_table::<M>(at, table),
        }
    }

    fn check_table<M: Opens>(
        &mut self,
        Asking { backend, now, turn }: Asking<'_>,
        table: Table,
    ) -> Result<(), ShareFull> {
        let is_http = self.is_http;
        let most = if is_http {
            table.most / HTTP_SHARE.1 * HTTP_SHARE.0
        } else {
            table.per_connection
        };
        let has_room = M::share(self).has_room(most, turn, |id| M::is_open(backend, now, id));
        has_room.then_some(()).ok_or(ShareFull {
            name: table.name,
            most,
            is_http,
        })
    }

    /// Notes what a command has opened.
    #[inline]
    pub(crate) fn note<M: Opens>(&mut self, reply: &Reply<M>) {
        if let Some(id) = M::opened(&reply.outcome).filter(|_| !reply.replayed) {
            M::share(self).open.push_back(id);
        }
    }
}

impl Opens for Travel {
    type Id = Xid;

    fn table(command: &Self::Command<'_>) -> Option<Table> {
        matches!(command, turnstile_travel::Command::Start).then_some(Table {
            name: "transactions",
            most: turnstile_travel::limits::TRANSACTIONS_MAX,
            per_connection: TRANSACTIONS_PER_CONNECTION,
        })
    }

    fn opened(outcome: &Self::Outcome) -> Option<Xid> {
        match outcome {
            turnstile_travel::Outcome::Done(turnstile_travel::Done::Started { xid }) => Some(*xid),
            _ => None,
        }
    }

    fn is_open(backend: &Embedded, _now: Timestamp, xid: Xid) -> bool {
        backend.travel().is_open(xid)
    }

    fn share(shares: &mut Shares) -> &mut Share<Xid> {
        &mut shares.transactions
    }
}

impl Opens for Rooms {
    type Id = Reference;

    fn table(command: &Self::Command<'_>) -> Option<Table> {
        matches!(command, turnstile_rooms::Command::Hold { .. }).then_some(Table {
            name: "holds",
            most: turnstile_rooms::limits::HOLDS_PER_PRINCIPAL_MAX as usize,
            per_connection: HOLDS_PER_CONNECTION,
        })
    }

    fn opened(outcome: &Self::Outcome) -> Option<Reference> {
        match outcome {
            turnstile_rooms::Outcome::Done(turnstile_rooms::Done::Held { reference, .. }) => {
                Some(*reference)
            }
            _ => None,
        }
    }

    fn is_open(backend: &Embedded, now: Timestamp, reference: Reference) -> bool {
        let query = turnstile_rooms::Query::LookUp { reference };
        match backend.query::<Self>(now, &Principal::local(), &query) {
            turnstile_rooms::Answer::Entry(entry) => {
                matches!(entry.state, EntryState::Held { .. })
            }
            _ => false,
        }
    }

    fn share(shares: &mut Shares) -> &mut Share<Reference> {
        &mut shares.holds
    }
}

impl Opens for Games {
    type Id = MatchId;

    fn table(command: &Self::Command<'_>) -> Option<Table> {
        use turnstile_games::Command;
        let begins = matches!(
            command,
            Command::Challenge { .. } | Command::Seek { .. } | Command::Begin { .. }
        );
        begins.then_some(Table {
            name: "matches",
            most: turnstile_games::limits::OPEN_MATCHES_MAX as usize,
            per_connection: MATCHES_PER_CONNECTION,
        })
    }

    fn opened(outcome: &Self::Outcome) -> Option<MatchId> {
        match outcome {
            turnstile_games::Outcome::Done(turnstile_games::Done::Begun(begun)) => Some(begun.id),
            _ => None,
        }
    }

    fn is_open(backend: &Embedded, now: Timestamp, match_id: MatchId) -> bool {
        let query = turnstile_games::Query::Match { match_id };
        match backend.query::<Self>(now, &Principal::local(), &query) {
            turnstile_games::Answer::Match(view) => view.is_some_and(|view| view.ending.is_none()),
            _ => false,
        }
    }

    fn share(shares: &mut Shares) -> &mut Share<MatchId> {
        &mut shares.matches
    }
}

impl Opens for Exchange {
    type Id = ();

    /// Open orders are bounded for each account.
    fn table(_command: &Self::Command<'_>) -> Option<Table> {
        None
    }

    fn opened(_outcome: &Self::Outcome) -> Option<()> {
        None
    }

    fn is_open(_backend: &Embedded, _now: Timestamp, (): ()) -> bool {
        false
    }

    fn share(shares: &mut Shares) -> &mut Share<()> {
        &mut shares.nothing
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
    fn a_large_share_is_looked_through_in_parts() {
        let mut share = Share::default();
        let most = 2 * SHARE_LOOKS;
        share.open.extend(0..most);
        let last = most - 1;
        assert!(!share.has_room(most, 1, |id| id != last));
        assert!(share.has_room(most, 2, |id| id != last));
    }
}
