//! Places of streams and sockets, which are limited.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use turnstile_http::Code;

use crate::{
    core::{
        caller::{Caller, NotPermitted},
        quotas::{CountedConnection, Meter},
    },
    counters::ErrorCode,
    doors::http::{Door, access::problem_of_denied, reply::RaisedProblem},
};

/// One of the streams and sockets that may be open at a time.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    door: Arc<Door>,
    of_player: bool,
    /// It counts among the connections of its principal.
    connection: CountedConnection,
}

impl StreamPermit {
    /// For whoever may follow everything.
    pub(crate) fn take(door: &Arc<Door>, caller: &Caller) -> Result<Self, RaisedProblem> {
        Self::take_one(door, caller, (false, door.limits.streams))
    }

    /// For a player.
    pub(crate) fn take_for_player(
        door: &Arc<Door>,
        caller: &Caller,
    ) -> Result<Self, RaisedProblem> {
        let most = door.players_max.load(Ordering::Relaxed);
        Self::take_one(door, caller, (true, most))
    }

    fn take_one(
        door: &Arc<Door>,
        caller: &Caller,
        (of_player, most): (bool, u64),
    ) -> Result<Self, RaisedProblem> {
        let connection = door.gate.meters.of(&caller.principal).connect();
        let connection = connection.map_err(|exceeded| {
            door.counters.error(ErrorCode::QuotaExceeded);
            problem_of_denied(NotPermitted::Quota(exceeded))
        })?;
        let seat = Self {
            door: Arc::clone(door),
            of_player,
            connection,
        };
        if seat.taken().fetch_add(1, Ordering::Relaxed) >= most {
            return Err(RaisedProblem::from(Code::TooManyStreams));
        }
        Ok(seat)
    }

    /// What is counted for its principal.
    pub(crate) const fn meter(&self) -> &Arc<Meter> {
        self.connection.meter()
    }

    fn taken(&self) -> &AtomicU64 {
        if self.of_player {
            &self.door.players
        } else {
            &self.door.streams
        }
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.taken().fetch_sub(1, Ordering::Relaxed);
    }
}
