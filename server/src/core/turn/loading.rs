//! Turns while the journal is recovered: clients are let in and told so, and nothing is decided.

use std::sync::{
    Arc,
    mpsc::{Receiver, SyncSender, TryRecvError},
};

use mio::Events;
use turnstile_access::Access;
use turnstile_embedded::Recovery;

use super::{Broken, FastLoop};
use crate::{
    core::{conversation::DoorSet, engine::RecoveredEngine, news::News},
    limits::EVENTS,
    registry::SomeServices,
};

/// What the thread that recovers hands to the loop.
pub(crate) struct RecoveredState {
    pub(crate) recovered: RecoveredEngine,
    pub(crate) found: Recovery,
}

/// What the loop waits for, and whom it tells; `E` is why there is nothing to wait for.
pub(crate) struct RecoveryLine<E> {
    pub(crate) arrives: Receiver<Result<RecoveredState, E>>,
    pub(crate) started: SyncSender<Result<Recovery, E>>,
}

impl<D: DoorSet> FastLoop<D> {
    /// Serves when the state has arrived, until it is stopped; then closes the back end. Whoever waits
    /// for the start hears nothing when it is stopped before.
    pub(crate) fn run<E>(mut self, arrivals: RecoveryLine<E>) -> Result<(), Broken> {
        let RecoveryLine { arrives, started } = arrivals;
        let started_well = match self.await_recovery(&arrives)? {
            None => return Ok(()),
            Some(Err(failure)) => started.send(Err(failure)).is_err(),
            Some(Ok(arrival)) => {
                let found = self.take_up(arrival);
                started.send(Ok(found)).is_ok()
            }
        };
        drop((arrives, started));
        if !started_well {
            return Ok(());
        }
        let mut replayed = News::default();
        self.engine.gather_news(&mut replayed, SomeServices::ALL);
        self.publish(&mut replayed, SomeServices::ALL);
        self.turn_to_the_end()
    }

    /// Lets clients in until the state arrives; nothing when the server is stopped before.
    fn await_recovery<E>(
        &mut self,
        arrives: &Receiver<Result<RecoveredState, E>>,
    ) -> Result<Option<Result<RecoveredState, E>>, Broken> {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            self.wait(&mut events)?;
            // What is asked through the gate waits for the services.
            self.asks_wait = false;
            if self.signals.is_ending() {
                return Ok(None);
            }
            match arrives.try_recv() {
                Ok(arrival) => return Ok(Some(arrival)),
                Err(TryRecvError::Disconnected) => return Ok(None),
                Err(TryRecvError::Empty) => {}
            }
            self.engine.counters.turns.add(1);
            self.engine.begin_idle_turn();
            self.accept();
            self.serve()?;
            self.hand_over()?;
            self.sweep();
        }
    }

    /// The services are there from now on. The doors know it last.
    fn take_up(&mut self, arrival: RecoveredState) -> Recovery {
        let RecoveredState { recovered, found } = arrival;
        let took = u64::try_from(found.took.as_nanos()).unwrap_or(u64::MAX);
        self.engine.counters.recovery_ns.set(took);
        self.engine.counters.recovery_records.set(found.records);
        self.feeds.begin_after(&found);
        self.asks_wait = true;
        // Whoever hears of the end of the recovery finds the keys.
        self.inbox
            .publish(Arc::new(recovered.backend.machine::<Access>().clone()));
        self.engine.take_up(recovered);
        self.heed_access();
        found
    }
}
