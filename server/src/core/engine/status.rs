//! What there is in each service, and how the server is.

use std::time::Duration;

use turnstile_embedded::{Hosted, Services};
use turnstile_exchange::Exchange;
use turnstile_rooms::{Answer, Rooms, Totals};
use turnstile_travel::{PerDesk, Travel};
use turnstile_types::Hosts;

use super::Engine;
use crate::core::{
    gate::{PlainTotals, ServerStatus},
    remote::Housed,
};

impl Engine {
    /// Those of rooms.
    pub(crate) fn totals(&self) -> Totals {
        match self.told_totals::<Rooms>() {
            Some(Answer::Totals(totals)) => totals,
            None => Totals::default(),
            other => unreachable!("totals were asked for, not {other:?}"),
        }
    }

    pub(crate) fn exchange_totals(&self) -> turnstile_exchange::Totals {
        match self.told_totals::<Exchange>() {
            Some(turnstile_exchange::Answer::Totals(totals)) => totals,
            None => turnstile_exchange::Totals::default(),
            other => unreachable!("totals were asked for, not {other:?}"),
        }
    }

    /// The totals of a service; where a database decides, as it last told them, if it ever did.
    fn told_totals<M: Housed<Answer: Clone>>(&self) -> Option<M::Answer>
    where
        Services: Hosts<M>,
    {
        let Some(remote) = M::remote(&self.remotes) else {
            let (now, principal) = (self.now, &self.principal);
            return Some(self.backend.query::<M>(now, principal, &M::TOTALS));
        };
        remote.known().totals.clone()
    }

    pub(crate) fn travel_totals(&self) -> turnstile_travel::Totals {
        let query = turnstile_travel::Query::Totals;
        match self
            .backend
            .query::<Travel>(self.now, &self.principal, &query)
        {
            turnstile_travel::Answer::Totals(totals) => totals,
            other => unreachable!("totals were asked for, not {other:?}"),
        }
    }

    /// A service as it is, the open group included.
    pub(crate) fn machine<M: Hosted>(&self) -> &M {
        self.backend.machine()
    }

    pub(crate) fn games_totals(&self) -> turnstile_games::Totals {
        self.backend.games().totals()
    }

    pub(crate) fn status(&self) -> ServerStatus {
        let backend = self.backend.status();
        let age_ms = |oldest| self.now.ms_since(oldest);
        ServerStatus {
            key_age: Duration::from_millis(backend.keys.oldest.map_or(0, age_ms)),
            backend,
            totals: self.totals(),
            exchange: self.exchange_totals(),
            travel: self.travel_totals(),
            games: self.games_totals(),
            plain: PlainTotals::of(&self.backend),
            lines: PerDesk::each(|desk| self.line(desk)),
            databases: self.remotes.status(),
            uptime: Duration::from_secs(self.now.ms_since(self.began) / 1_000),
            read_only: self.fullness.is_full(),
            clock: self.clock.status(),
        }
    }
}
