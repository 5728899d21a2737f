//! Commands of clients who may have only so much open.

use turnstile_chassis::Needs as _;
use turnstile_contract::Scope;
use turnstile_embedded::{Reply, Services};
use turnstile_types::{Hosts, Key};

use super::Engine;
use crate::{
    core::{
        gate::Undecided,
        shares::{Opens, ShareContext, Shares},
    },
    counters::ErrorCode,
};

impl Engine {
    /// Has a command decided, whose bytes may be known, for a client with these shares.
    ///
    /// # Errors
    /// The caller may not ask for it, its turn has not come, or its share is used up: nothing was done. Or
    /// the journal did not take the command.
    #[inline]
    pub(crate) fn execute_within<M: Opens>(
        &mut self,
        shares: &mut Shares,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
        bytes: Option<&[u8]>,
    ) -> Result<Reply<M>, Undecided>
    where
        Services: Hosts<M>,
    {
        self.check_turn::<M>(key, command)?;
        self.check_share::<M>(shares, key, command)?;
        let reply = self.execute::<M>(key, command, bytes)?;
        self.leave_line::<M>(key, command);
        shares.note::<M>(&reply.outcome, reply.replayed);
        Ok(reply)
    }

    /// Admits a command of a client with these shares that is decided elsewhere, and says what it may name
    /// there. A database knows neither turns nor shares.
    ///
    /// # Errors
    /// The caller may not ask for it, its turn has not come, or its share is used up: nothing was done.
    pub(crate) fn admit_away_within<M: Opens>(
        &mut self,
        shares: &mut Shares,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<Scope, Undecided>
    where
        Services: Hosts<M>,
    {
        if self.cluster.is_some() {
            self.check_turn::<M>(key, command)?;
            self.check_share::<M>(shares, key, command)?;
        }
        let scope = self.admit_away::<M>(key, command)?;
        self.leave_line::<M>(key, command);
        Ok(scope)
    }

    /// Gives the turns that have come.
    pub(crate) fn move_line(&mut self) {
        if let Some(room) = &mut self.waiting_room {
            room.advance(self.now.0);
        }
    }

    /// Where there is a waiting room, lets a booking or a hold go on when its turn has come. A command that
    /// is sent again after it was answered needs no turn.
    #[inline]
    fn check_turn<M: Opens>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<(), Undecided>
    where
        Services: Hosts<M>,
    {
        if self.waiting_room.is_none() || !command.needed().waits_in_line {
            return Ok(());
        }
        // Who may not book gets no place.
        self.permit_command::<M>(key, command)?;
        let (now, principal) = (self.now, &self.caller.principal);
        let is_known = key.is_some_and(|key| self.backend.knows(now, principal, key));
        let Some(room) = self.waiting_room.as_mut().filter(|_| !is_known) else {
            return Ok(());
        };
        let key = key.map(|key| key.as_str());
        if let Err(not_yet) = room.enter(now.0, principal, key) {
            // Whoever asks for its place again and again spends its quota as well.
            self.spend()?;
            self.counters.error(ErrorCode::Busy);
            return Err(Undecided::InLine(not_yet));
        }
        Ok(())
    }

    /// The turn of a command is over. One that was refused before it was decided has kept it.
    #[inline]
    fn leave_line<M: Opens>(&mut self, key: Option<Key<'_>>, command: &M::Command<'_>) {
        if let Some(room) = &mut self.waiting_room
            && let Some(key) = key
            && command.needed().waits_in_line
        {
            room.leave(&self.caller.principal, key.as_str());
        }
    }

    #[inline]
    fn check_share<M: Opens>(
        &mut self,
        shares: &mut Shares,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<(), Undecided> {
        let at = ShareContext {
            backend: &self.backend,
            now: self.now,
            turn: self.counters.turns.get(),
        };
        if let Err(full) = shares.check::<M>(at, command) {
            // A command that is sent again opens nothing more.
            let (now, principal) = (self.now, &self.caller.principal);
            let is_known = key.is_some_and(|key| self.backend.knows(now, principal, key));
            if !is_known {
                self.counters.error(ErrorCode::Busy);
                return Err(Undecided::Share(full));
            }
        }
        Ok(())
    }
}
