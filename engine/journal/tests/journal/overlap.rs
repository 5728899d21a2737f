//! Groups that go to the disk while the next is made.

use std::io;
use std::sync::{Arc, Condvar, Mutex};

use turnstile_journal::{
    Chores, CommitError, Disk, DiskFile, Fault, FaultyDisk, FaultyFile, FaultyLock, Journal, Log,
    LogThread, Options, Progress,
};

use crate::{History, OPTIONS, build, commit, group, history, long_history, open};

const BESIDE: Options = Options {
    chores: Chores::Background,
    ..OPTIONS
};

fn submit<D: Disk>(journal: &mut Journal<D>, payloads: &[Vec<u8>]) -> Result<(), CommitError> {
    build(journal, payloads);
    journal.submit()
}

fn is_durable(progress: &Result<Progress, CommitError>) -> bool {
    matches!(progress, Ok(Progress::Durable { .. }))
}

/// A disk whose syncs of files wait while it is held.
#[derive(Clone, Debug)]
struct Held {
    disk: FaultyDisk,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

#[derive(Debug)]
struct HeldFile {
    file: FaultyFile,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl Held {
    fn new(seed: u64) -> Self {
        Self {
            disk: FaultyDisk::new(seed),
            gate: Arc::default(),
        }
    }

    fn hold(&self, is_held: bool) {
        *self.gate.0.lock().unwrap() = is_held;
        self.gate.1.notify_all();
    }

    fn file(&self, file: FaultyFile) -> HeldFile {
        let gate = Arc::clone(&self.gate);
        HeldFile { file, gate }
    }
}

impl Disk for Held {
    type File = HeldFile;
    type Lock = FaultyLock;

    fn lock(&self) -> io::Result<Option<FaultyLock>> {
        self.disk.lock()
    }

    fn lock_to_read(&self) -> io::Result<Option<FaultyLock>> {
        self.disk.lock_to_read()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<HeldFile> {
        Ok(self.file(self.disk.create(name, bytes)?))
    }

    fn open(&self, name: &str) -> io::Result<HeldFile> {
        Ok(self.file(self.disk.open(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.disk.sync_directory()
    }

    fn random(&self) -> io::Result<u64> {
        self.disk.random()
    }
}

impl DiskFile for HeldFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut is_held = self.gate.0.lock().unwrap();
        while *is_held {
            is_held = self.gate.1.wait(is_held).unwrap();
        }
        drop(is_held);
        self.file.sync_data()
    }

    fn forget_cache(&self) -> io::Result<()> {
        self.file.forget_cache()
    }
}

#[test]
fn a_group_is_under_way_until_its_sync_returns_and_the_next_is_made_meanwhile() {
    let mut disk = Held::new(1);
    let (mut journal, _) = Journal::open(disk.clone(), BESIDE).unwrap();
    assert_ne!(journal.log_thread(), LogThread::None);
    let (first, second) = (group(1, 3, 50), group(2, 2, 70));
    disk.hold(true);
    submit(&mut journal, &first).unwrap();
    build(&mut journal, &second);
    assert_eq!(journal.settle().unwrap(), Progress::UnderWay);
    disk.hold(false);
    journal.await_settled();
    assert!(is_durable(&journal.settle()));
    journal.submit().unwrap();
    journal.await_settled();
    assert!(is_durable(&journal.settle()));
    drop(journal);
    disk.disk.crash();
    assert_eq!(history(&open(&disk.disk).unwrap().0), vec![first, second]);
}

#[test]
fn a_commit_waits_for_the_group_under_way_and_comes_after_it() {
    for chores in [Chores::Background, Chores::Inline] {
        let mut disk = FaultyDisk::new(4);
        let options = Options { chores, ..OPTIONS };
        let (mut journal, _) = Journal::open(disk.clone(), options).unwrap();
        submit(&mut journal, &group(1, 1, 10)).unwrap();
        commit(&mut journal, &group(2, 1, 10)).unwrap();
        assert!(is_durable(&journal.settle()));
        drop(journal);
        disk.crash();
        let served = history(&open(&disk).unwrap().0);
        assert_eq!(served, [group(1, 1, 10), group(2, 1, 10)]);
    }
}

#[test]
fn a_failure_beside_the_caller_is_final() {
    for chores in [Chores::Background, Chores::Inline] {
        for fault in [Fault::WriteError, Fault::SyncError] {
            let disk = FaultyDisk::new(9);
            // The next segment is there already: the fault must not meet a thread that makes it.
            open(&disk).unwrap().0.close().unwrap();
            let options = Options { chores, ..OPTIONS };
            let (mut journal, _) = Journal::open(disk.clone(), options).unwrap();
            commit(&mut journal, &group(1, 1, 10)).unwrap();
            disk.inject(fault, 0);
            let submitted = submit(&mut journal, &group(2, 1, 10));
            journal.await_settled();
            let error = submitted.and_then(|()| journal.settle().map(drop));
            match (fault, error) {
                (Fault::WriteError, Err(CommitError::Write(_)))
                | (Fault::SyncError, Err(CommitError::Sync(_))) => {}
                (_, other) => panic!("{chores:?}, {fault:?}: {other:?}"),
            }
            for later in [
                journal.settle().map(drop),
                journal.commit(),
                journal.submit(),
            ] {
                assert!(matches!(later, Err(CommitError::Poisoned)), "{later:?}");
            }
        }
    }
}

/// Who waits in a commit or in the end for the group under way hears of its failure there: nobody
/// has asked what became of it before.
#[test]
fn a_failure_beside_the_caller_is_told_to_whoever_waits_for_it() {
    for chores in [Chores::Background, Chores::Inline] {
        for ends in [false, true] {
            let disk = FaultyDisk::new(9);
            open(&disk).unwrap().0.close().unwrap();
            let options = Options { chores, ..OPTIONS };
            let (mut journal, _) = Journal::open(disk.clone(), options).unwrap();
            disk.inject(Fault::SyncError, 0);
            submit(&mut journal, &group(1, 1, 10)).unwrap();
            let outcome = if ends {
                journal.close()
            } else {
                journal.commit()
            };
            assert!(
                matches!(outcome, Err(CommitError::Sync(_))),
                "{chores:?}, {ends}: {outcome:?}"
            );
        }
    }
}

/// Overlaps every group with the making of the next, until the power goes.
fn run(disk: &FaultyDisk, groups: &History, acked: &mut History) -> Result<(), CommitError> {
    let Ok((mut journal, _)) = open(disk) else {
        return Ok(());
    };
    for (index, group) in groups.iter().enumerate() {
        build(&mut journal, group);
        if index > 0 {
            assert!(is_durable(&Ok(journal.settle()?)));
            acked.push(groups[index - 1].clone());
        }
        journal.submit()?;
    }
    journal.settle()?;
    acked.extend(groups.last().cloned());
    Ok(())
}

#[test]
fn a_cut_at_any_operation_loses_at_most_the_group_under_way() {
    let groups = long_history();
    let mut cuts = 0;
    for operation in 0..120 {
        let mut disk = FaultyDisk::new(operation);
        disk.inject(Fault::PowerCut, operation);
        let mut acked = History::new();
        cuts += usize::from(run(&disk, &groups, &mut acked).is_err());
        disk.crash();
        let (journal, _) = open(&disk).unwrap();
        let served = history(&journal);
        assert!(served.len() >= acked.len(), "cut at {operation}");
        assert!(served.len() <= acked.len() + 1, "cut at {operation}");
        assert_eq!(served, groups[..served.len()], "cut at {operation}");
    }
    assert!(cuts > 40, "{cuts}");
}

#[test]
fn who_carries_groups_is_told_by_name() {
    let names = [LogThread::RealTime, LogThread::Ordinary, LogThread::None];
    assert_eq!(
        names.map(|thread| thread.to_string()),
        ["real-time", "ordinary", "none"]
    );
}
