//! What goes wrong in a history, and when.

use turnstile_journal::{Disk, Fault};

use crate::history::History;

impl History {
    pub(crate) fn change_disk_space(&mut self) {
        match self.random.below(24) {
            0 => self.disk.limit(Some(0)),
            1 => self.disk.limit(None),
            _ => {}
        }
    }

    pub(crate) fn inject_during_recovery(&mut self) {
        let faults = [
            Fault::ReadError,
            Fault::WriteError,
            Fault::SyncError,
            Fault::PowerCut,
        ];
        let fault = self.random.pick(&faults);
        self.disk.inject(fault, self.random.below(12));
    }

    pub(crate) fn inject_during_life(&mut self) {
        let survivable = [
            Fault::WriteError,
            Fault::SyncError,
            Fault::SyncError,
            Fault::DirectoryError,
            Fault::PowerCut,
            Fault::PowerCut,
        ];
        let damaging = [Fault::LostWrite, Fault::MisdirectedWrite];
        let after = self.random.below(40);
        if self.random.one_in(6) {
            self.is_damaged = true;
            self.disk.inject(self.random.pick(&damaging), after);
        } else {
            self.disk.inject(self.random.pick(&survivable), after);
        }
    }

    /// Flips one bit of what lies on the disk, where something lies.
    pub(crate) fn rot(&mut self) {
        let Ok(mut names) = self.disk.list() else {
            return;
        };
        names.sort_unstable();
        if names.is_empty() {
            return;
        }
        let name = names
            [usize::try_from(self.random.below(names.len() as u64)).expect("below the length")]
        .clone();
        let bytes = self.disk.contents(&name);
        let used = bytes
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |last| last + 1);
        if used > 0 {
            self.disk.flip(&name, self.random.below(used as u64 * 8));
            self.is_damaged = true;
        }
    }
}
