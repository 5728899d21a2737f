//! Power cuts: all brokers lose what their disks were not told to keep, while nodes propose.

use std::time::Duration;

use serde_json::Value;
use turnstile_brokers::{Brokers, BrokersSetup, Syncing};
use turnstile_jetstream::Fatal;
use turnstile_trial::{Injection, Volume, VolumeLog};

use crate::{
    Cluster,
    node::{Node, refused, settings},
    operate,
};

/// How often the power goes.
const CUTS: u32 = 4;

/// After how many cuts in vain the rig is known not to cut.
const VAIN_CUTS_MAX: u32 = 4;

/// Entries before a cut.
const ENTRIES: usize = 150;

/// Proposals under way when the power goes.
const OUTSTANDING: usize = 16;

/// The size of each disk.
const MEBIBYTES: u32 = 400;

/// Brokers with a disk each, whose power can be cut.
struct Rig {
    cluster: Cluster,
    volumes: Vec<Volume>,
}

impl Rig {
    fn new(syncing: Syncing, promise: &str) -> Option<Self> {
        let volumes = (0..3).map(|_| Volume::make(MEBIBYTES, promise));
        let volumes: Vec<Volume> = volumes.collect::<Option<_>>()?;
        let cluster = Cluster::with(&BrokersSetup {
            syncing,
            data: Some(volumes.iter().map(Volume::data).collect()),
            ..BrokersSetup::of(3)
        });
        Some(Self { cluster, volumes })
    }

    const fn brokers(&mut self) -> &mut Brokers {
        &mut self.cluster.brokers
    }

    /// The power goes, and comes back.
    fn cut(&mut self) {
        // A broker that lives on without its disk is another fault than a power cut.
        for number in 0..3 {
            self.brokers().pause(number);
        }
        for volume in &self.volumes {
            volume.cut(VolumeLog::Lost);
        }
        self.brokers().kill_all();
        for volume in &mut self.volumes {
            volume.remount();
        }
        self.brokers().restart_all().expect("they start");
    }
}

/// Proposes until so many more were seen, and leaves some under way.
fn load(node: &mut Node) {
    let wanted = node.entries.len() + ENTRIES;
    while node.entries.len() < wanted {
        while node.outstanding() < OUTSTANDING {
            node.propose();
        }
        node.take_for(Duration::from_millis(5));
        assert_eq!(node.fatal, None);
    }
}

/// Whoever has these entries is told that the brokers have lost some.
fn assert_short(brokers: &Brokers, acknowledged: u64) {
    let told = refused(settings(brokers, "a"), acknowledged, None).to_string();
    assert!(told.contains("lost entries"), "{told}");
}

#[test]
fn brokers_that_sync_always_lose_no_acknowledged_entry() {
    let promise = "that acknowledged entries survive when all brokers lose power";
    let Some(mut rig) = Rig::new(Syncing::Always, promise) else {
        return;
    };
    let mut node = Node::of(rig.brokers(), "a");
    for cut in 1..=CUTS {
        load(&mut node);
        rig.cut();
        let acknowledged = node.published.values().map(|sequence| sequence.0).max();
        let mut fresh = Node::of(rig.brokers(), "fresh");
        let count = usize::try_from(acknowledged.expect("there are some")).expect("few");
        fresh.until_entries(count);
        fresh.check();
        fresh.check_acknowledged(&node);
        // The node goes on with the same log, and what was under way has its fate.
        node.until("without proposals", |node| node.outstanding() == 0);
        node.check();
        assert_eq!(fresh.entries[..count], node.entries[..count], "cut {cut}");
    }
}

/// The rig is worth nothing if it does not cut: brokers that sync every two minutes must lose entries
/// that they have acknowledged.
#[test]
fn brokers_that_do_not_sync_lose_acknowledged_entries() {
    let promise = "that the power cuts of these tests lose what brokers did not sync";
    let mut lost = false;
    for _ in 0..VAIN_CUTS_MAX {
        let Some(mut rig) = Rig::new(Syncing::Default, promise) else {
            return;
        };
        let mut node = Node::of(rig.brokers(), "a");
        load(&mut node);
        let acknowledged = node.published.values().map(|sequence| sequence.0).max();
        let acknowledged = acknowledged.expect("there are some");
        rig.cut();
        // The stream is gone, or ends too early.
        let told = operate(rig.brokers(), "STREAM.INFO.LOG_main", &Value::Null);
        let last = told["state"]["last_seq"].as_u64();
        if last.is_none_or(|last| last < acknowledged) {
            assert_short(rig.brokers(), acknowledged);
            // Nor does the node go on that had seen them. Which end it comes to depends on what is left.
            assert_ne!(node.ended(), Fatal::Ended);
            lost = true;
            break;
        }
    }
    assert!(
        lost,
        "{VAIN_CUTS_MAX} cuts took nothing: this rig does not cut"
    );
}

/// From now on no sync of a process reaches its disk, and it is told so.
fn fail_syncs(pid: u32) -> Injection {
    let syncs = "--trace=fsync,fdatasync";
    let fail = "--inject=fsync,fdatasync:error=EIO";
    Injection::into(pid, &["--follow-forks", syncs, fail])
}

/// Brokers look at no error of a sync. Brokers that live on while the disks under all of them fail
/// acknowledge what no disk has, and it goes with the power. Nodes notice, and stop. When this fails, brokers
/// have learned it, and docs/cluster.md can say so.
#[test]
fn brokers_acknowledge_what_their_disks_did_not_sync() {
    let promise = "that nodes notice what brokers lose whose disks fail under them";
    let Some(mut rig) = Rig::new(Syncing::Always, promise) else {
        return;
    };
    let mut node = Node::of(rig.brokers(), "a");
    load(&mut node);
    let last = |node: &Node| node.published.values().map(|sequence| sequence.0).max();
    let durable = last(&node).expect("there are some");
    let failing = (0..3).map(|number| rig.brokers().pid(number).expect("it runs"));
    let failing: Vec<Injection> = failing.map(fail_syncs).collect();
    load(&mut node);
    let acknowledged = last(&node).expect("there are some");
    assert!(acknowledged > durable, "brokers acknowledge nothing more");
    rig.cut();
    drop(failing);
    assert_short(rig.brokers(), acknowledged);
    assert_ne!(node.ended(), Fatal::Ended);
}
