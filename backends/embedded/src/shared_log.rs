//! A back end whose order is that of a log shared with other servers.

use turnstile_replica::{AppliedEntry, NotApplied, Replica, SettledJob};
use turnstile_sequencer::{ExecuteError, State};
use turnstile_types::PartitionFounding;

use crate::{Embedded, Recovery, Services, snapshots::SnapshotFile};

impl Embedded {
    /// From now on entries of a shared log say what happens, and this directory has a copy of it. Nobody is
    /// told of this start: for the others nothing has ended. If the log has still to begin, the settings by
    /// which this back end was configured are part of what it begins with: records at the instant of the
    /// last one, so that all servers with the same beginning and settings come to the same.
    ///
    /// # Errors
    /// The settings could not be kept. The process must stop.
    pub fn join_shared_log(&mut self) -> Result<(), ExecuteError> {
        let mut start = std::mem::take(&mut self.start);
        let state = self.sequencer.state();
        if state.shared().is_none() {
            let began = state.time();
            start.keep_settings();
            start.tell(&mut self.sequencer, began)?;
            self.commit().map_err(|_failure| ExecuteError::Stopped)?;
        }
        Ok(())
    }

    /// Makes what is kept here one of several partitions, durably.
    ///
    /// # Errors
    /// The journal did not take it.
    pub fn found(&mut self, founding: PartitionFounding) -> Result<(), ExecuteError> {
        self.sequencer.found(founding)?;
        self.commit().map_err(|_failure| ExecuteError::Stopped)?;
        Ok(())
    }

    /// Applies the next entry of the shared log, by its number and bytes, and settles the jobs of this
    /// server. As after [`execute`](Self::execute), answers wait for [`commit`](Self::commit).
    ///
    /// # Errors
    /// Final: the process must stop.
    pub fn apply_entry<T>(
        &mut self,
        replica: &mut Replica<T>,
        entry: (u64, &[u8]),
        settle: &mut dyn FnMut(SettledJob<T>, &State<Services>),
    ) -> Result<AppliedEntry<T>, NotApplied> {
        replica.apply(&mut self.sequencer, entry, settle)
    }

    /// Has a snapshot made of the state as it is now, once it is durable, on a thread of its own; `take`
    /// gets its file there. A back end without a directory has none.
    pub fn want_snapshot(&mut self, take: impl FnOnce(SnapshotFile) + Send + 'static) {
        let position = self.sequencer.state().position();
        let is_durable = !self.sequencer.is_open() && !self.sequencer.is_under_way();
        let Some(snapshots) = &mut self.snapshots else {
            take(Err("there is no directory".to_owned()));
            return;
        };
        snapshots.want(position, Box::new(take));
        if is_durable {
            self.note_durable(0, position);
        }
    }

    /// Makes a snapshot of the state as it is, and waits for it: for a start, while nobody commits.
    ///
    /// # Errors
    /// Something is not durable, or the disk fails.
    pub fn make_snapshot(&mut self) -> SnapshotFile {
        if self.sequencer.is_open() || self.sequencer.is_under_way() {
            return Err("not all is durable".to_owned());
        }
        // One thread does all such work, and what it does now ends unheard while nobody commits.
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.wait();
        }
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        // Whoever waits for it waits until it comes.
        self.want_snapshot(move |file| drop(tell.send(file)));
        let made = told.recv();
        made.unwrap_or_else(|_gone| Err("no thread makes it".to_owned()))
    }

    /// Keeps the latest events of each service of those that happened, as a start does with what it
    /// replays. To be used after each entry while nobody follows yet, and ended by
    /// [`finish_catching_up`](Self::finish_catching_up).
    pub fn keep_latest_events(&mut self) {
        let machines = self.sequencer.state_mut().machines_mut();
        self.recents.take_from(machines);
    }

    /// What was applied since the start belongs to it from now on.
    pub fn finish_catching_up(&mut self, found: &mut Recovery) {
        self.recents.finish();
        found.events_after = self.recents.complete_after();
        found.position = self.sequencer.state().position();
    }
}
