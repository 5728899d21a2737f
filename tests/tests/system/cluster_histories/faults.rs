//! What happens to nodes, brokers, their disks, their networks and their clocks, one thing after the other.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rand::{RngExt as _, rngs::StdRng};
use turnstile_brokers::{Brokers, BrokersSetup, Carriage, PathWay};
use turnstile_tests::{Turnstile, run};
use turnstile_trial::{Volume, VolumeLog};

use super::{fault::Fault, guest::open, history::Wanted, wired::WiredNode};
use crate::{
    cluster_scene::{Answered, ClusterScene, connect},
    crash::{books::Books as _, hotel::Hotel, listing::ask},
};

const NODES: usize = 3;

/// The stream of these nodes.
const STREAM: &str = "LOG_main";

/// Answers before, during and after a fault.
const ANSWERS: usize = 150;

/// How long a fault lasts if there are fewer answers.
const FAULT: Duration = Duration::from_secs(12);

/// How long one lasts after which nothing can be answered.
const SILENT_FAULT: Duration = Duration::from_secs(3);

/// The disk of each broker.
const MEBIBYTES: u32 = 400;

/// How far a clock is set wrong, in seconds. Holds, of 15 minutes, last longer than a round and this.
const CLOCK_SECONDS_MAX: i32 = 180;

/// A node that serves again says so within this; a busy machine needs a fraction.
const NODE_TRIES: u32 = 6_000;

/// Nodes and brokers under trial. What is dropped first uses what is dropped later.
pub(super) struct Trial<'a> {
    scene: &'a ClusterScene,
    nodes: Vec<Option<Turnstile>>,
    places: Vec<WiredNode>,
    brokers: Brokers,
    /// The disks of the brokers, where this machine allows mounts.
    volumes: Option<Vec<Volume>>,
    rng: StdRng,
}

impl<'a> Trial<'a> {
    pub(super) fn start(
        folder: &Path,
        scene: &'a ClusterScene,
        (server, rng): (&turnstile_brokers::NatsServer, StdRng),
    ) -> Self {
        let promise = "that nodes lose nothing when disks of brokers fail";
        let volumes = (0..3).map(|_| Volume::make(MEBIBYTES, promise));
        let volumes: Option<Vec<Volume>> = volumes.collect();
        let data = volumes
            .as_ref()
            .map(|volumes| volumes.iter().map(Volume::data).collect());
        let setup = BrokersSetup {
            are_wired: true,
            data,
            ..BrokersSetup::of(3)
        };
        let brokers = Brokers::start(server, folder, &setup).expect("brokers start");
        let places: Vec<WiredNode> = (0..NODES)
            .map(|number| WiredNode::of(folder, &brokers, number))
            .collect();
        let mut trial = Self {
            scene,
            nodes: places.iter().map(|_| None).collect(),
            places,
            brokers,
            volumes,
            rng,
        };
        for number in 0..NODES {
            trial.places[number].make((number > 0).then_some(&trial.places[0]));
            trial.start_node(number);
        }
        open(trial.nodes[0].as_ref().expect("it runs").resp());
        trial
    }

    /// Whether this machine can do such a thing.
    pub(super) const fn can(&self, fault: Fault) -> bool {
        let needs_a_disk = matches!(fault, Fault::DiskFull | Fault::DiskGone | Fault::PowerCut);
        !needs_a_disk || self.volumes.is_some()
    }

    fn start_node(&mut self, number: usize) {
        let node = self.places[number].start();
        self.scene.set(number, Some(node.resp()));
        self.nodes[number] = Some(node);
    }

    fn kill_node(&mut self, number: usize) {
        self.scene.set(number, None);
        self.nodes[number].take().expect("it runs").kill();
    }

    fn some(&mut self) -> usize {
        self.rng.random_range(0..NODES)
    }

    fn leader(&mut self) -> usize {
        let leader = self.brokers.await_stream_leader(STREAM);
        leader.expect("the stream has a leader")
    }

    fn follower(&mut self) -> usize {
        let ahead = self.rng.random_range(1..NODES);
        (self.leader() + ahead) % NODES
    }

    /// Clients go on meanwhile, or wait.
    fn last(&self) {
        self.scene.see(ANSWERS, FAULT);
    }

    /// Does something, lets it last, mends it, and waits until everybody serves again. Gives the longest time
    /// without an answer to anybody.
    pub(super) fn strike(&mut self, fault: Fault) -> Duration {
        self.scene.must_see(ANSWERS);
        self.scene.longest_gap();
        match fault {
            Fault::NodeKilled
            | Fault::NodePaused
            | Fault::NodeLosesData
            | Fault::AllNodesKilled
            | Fault::ClockJumps
            | Fault::ClocksApart => self.strike_node(fault),
            Fault::NodeDeaf
            | Fault::NodeMute
            | Fault::NodeCutOff
            | Fault::NodeSlow
            | Fault::NodeFlapping => self.strike_network_of_node(fault),
            Fault::BrokersOneWay
            | Fault::LeaderCutOff
            | Fault::BrokersSlow
            | Fault::BrokersFlapping => self.strike_network(fault),
            Fault::LeaderKilled
            | Fault::FollowerKilled
            | Fault::AllBrokersKilled
            | Fault::LeaderPaused
            | Fault::FollowerPaused => self.strike_broker(fault),
            Fault::BrokerLosesData
            | Fault::BitsFlip
            | Fault::DiskFull
            | Fault::DiskGone
            | Fault::PowerCut => self.strike_disk(fault),
        }
        self.brokers.await_ready().expect("brokers serve again");
        self.brokers
            .await_copies()
            .expect("each broker has all of the log again");
        self.scene.must_see(ANSWERS);
        let gap = self.scene.longest_gap();
        for number in 0..NODES {
            self.await_node(number);
        }
        gap
    }

    fn strike_node(&mut self, fault: Fault) {
        let number = self.some();
        match fault {
            Fault::NodePaused => {
                self.node(number).pause();
                self.last();
                self.node(number).go_on();
            }
            Fault::AllNodesKilled => {
                for number in 0..NODES {
                    self.kill_node(number);
                }
                for number in 0..NODES {
                    self.start_node(number);
                }
            }
            Fault::ClockJumps => {
                let seconds = self
                    .rng
                    .random_range(-CLOCK_SECONDS_MAX..=CLOCK_SECONDS_MAX);
                self.places[number].set_clock(seconds);
                self.last();
            }
            Fault::ClocksApart => {
                for number in 0..NODES {
                    self.kill_node(number);
                    self.last();
                    let step = i32::try_from(number).expect("few") - 1;
                    self.places[number].set_clock(step * CLOCK_SECONDS_MAX);
                    self.start_node(number);
                }
            }
            _ => {
                self.kill_node(number);
                if fault == Fault::NodeLosesData {
                    self.places[number].lose_data();
                }
                self.last();
                self.start_node(number);
            }
        }
    }

    fn strike_network_of_node(&mut self, fault: Fault) {
        let number = self.some();
        let place = &self.places[number];
        match fault {
            Fault::NodeDeaf => place.carry(PathWay::Back, Carriage::Held),
            Fault::NodeMute => place.carry(PathWay::There, Carriage::Held),
            Fault::NodeSlow => place.carry_both(Carriage::Slow(Duration::from_millis(50))),
            Fault::NodeFlapping => {
                place.carry_both(Carriage::Flapping(Duration::from_millis(300)));
            }
            _ => place.carry_both(Carriage::Held),
        }
        self.last();
        self.places[number].carry_both(Carriage::Open);
    }

    fn strike_network(&mut self, fault: Fault) {
        let (leader, follower) = (self.leader(), self.follower());
        match fault {
            Fault::BrokersOneWay => {
                let (from, to) = if self.rng.random_bool(0.5) {
                    (leader, follower)
                } else {
                    (follower, leader)
                };
                self.brokers.carry(from, to, Carriage::Held);
            }
            Fault::LeaderCutOff => self.brokers.carry_all(leader, Carriage::Held),
            _ => {
                let carriage = if fault == Fault::BrokersSlow {
                    Carriage::Slow(Duration::from_millis(25))
                } else {
                    Carriage::Flapping(Duration::from_millis(700))
                };
                for number in 0..NODES {
                    self.brokers.carry_all(number, carriage);
                }
            }
        }
        self.last();
        for number in 0..NODES {
            self.brokers.carry_all(number, Carriage::Open);
        }
    }

    fn strike_broker(&mut self, fault: Fault) {
        let number = match fault {
            Fault::LeaderKilled | Fault::LeaderPaused => self.leader(),
            _ => self.follower(),
        };
        match fault {
            Fault::LeaderPaused | Fault::FollowerPaused => {
                self.brokers.pause(number);
                self.last();
                self.brokers.resume(number);
            }
            Fault::AllBrokersKilled => {
                self.brokers.kill_all();
                self.scene.see(ANSWERS, SILENT_FAULT);
                self.brokers.restart_all().expect("brokers start again");
            }
            _ => {
                self.brokers.kill(number);
                self.last();
                self.brokers.restart(number).expect("it starts again");
            }
        }
    }

    fn strike_disk(&mut self, fault: Fault) {
        match fault {
            Fault::BrokerLosesData => {
                let number = self.some();
                self.replace_disk(number);
            }
            Fault::BitsFlip => {
                let number = self.follower();
                if self.rng.random_bool(0.5) {
                    self.brokers.stop(number);
                } else {
                    self.brokers.kill(number);
                }
                let data = self.brokers.data(number).to_owned();
                flip(&data, &mut self.rng);
                self.brokers.restart(number).expect("it starts");
                self.last();
                // Nobody leaves a disk in use that has changed what it was given.
                self.replace_disk(number);
            }
            Fault::DiskFull => {
                let number = self.some();
                let ballast = self
                    .volumes
                    .as_ref()
                    .map(|volumes| volumes[number].fill_up());
                self.last();
                ballast.expect("the fault needs a disk").free();
                // A broker whose disk was full takes nothing until it is started again.
                self.brokers.restart(number).expect("it starts");
            }
            Fault::DiskGone => {
                let number = self.some();
                let volumes = self.volumes.as_mut().expect("the fault needs disks");
                volumes[number].cut(VolumeLog::Lost);
                self.last();
                self.brokers.kill(number);
                let volumes = self.volumes.as_mut().expect("the fault needs disks");
                volumes[number].remount();
                self.brokers.restart(number).expect("it starts");
            }
            _ => {
                // The power is gone for all at once, and no broker lives on without its disk.
                for number in 0..NODES {
                    self.brokers.pause(number);
                }
                let volumes = self.volumes.as_mut().expect("the fault needs disks");
                for volume in volumes.iter() {
                    volume.cut(VolumeLog::Lost);
                }
                self.brokers.kill_all();
                for volume in volumes {
                    volume.remount();
                }
                self.brokers.restart_all().expect("brokers start again");
            }
        }
    }

    /// A broker comes back with nothing, and gets its copy from the others.
    fn replace_disk(&mut self, number: usize) {
        self.brokers.wipe(number).expect("its data goes");
        self.last();
        self.brokers.restart(number).expect("it starts");
    }

    fn node(&self, number: usize) -> &Turnstile {
        self.nodes[number].as_ref().expect("it runs")
    }

    /// Waits until a node answers by itself.
    fn await_node(&self, number: usize) {
        let address = self.node(number).resp();
        for _ in 0..NODE_TRIES {
            let mut connection = connect(address);
            let asked = connection
                .as_mut()
                .map(|connection| ask(connection, &["ROOMS.LIST-PROPERTIES"]));
            if matches!(asked, Some(Ok(_))) {
                return;
            }
            thread::park_timeout(Duration::from_millis(20));
        }
        panic!("node {number} does not serve any more");
    }

    /// All nodes list what the books say, end well, and have directories without a fault.
    pub(super) fn compare(mut self, history: &[Answered<Wanted>], books: &mut Hotel) {
        assert!(history.len() > ANSWERS, "{} answers", history.len());
        for number in 0..NODES {
            let address = self.node(number).resp();
            let mut connection = connect(address).expect("a node");
            let compared = books.compare(&mut connection);
            compared.unwrap_or_else(|why| panic!("node {number}: {why}"));
        }
        for node in self.nodes.drain(..).flatten() {
            assert!(node.stop().success(), "a node ends well");
        }
        for place in &self.places {
            let verified = run(&["verify"], place.data());
            assert!(verified.status.success(), "{verified:?}");
        }
    }
}

/// Flips a few bits in the blocks of the log's files.
fn flip(data: &Path, rng: &mut StdRng) {
    let is_block = |path: &PathBuf| {
        let text = path.display().to_string();
        let has_something = fs::metadata(path).is_ok_and(|file| file.len() > 0);
        text.contains(STREAM) && text.ends_with(".blk") && has_something
    };
    let blocks: Vec<PathBuf> = files(data).into_iter().filter(is_block).collect();
    assert!(!blocks.is_empty(), "the stream has a block");
    for _ in 0..rng.random_range(1..=4) {
        let block = &blocks[rng.random_range(0..blocks.len())];
        let mut bytes = fs::read(block).expect("it can be read");
        let at = rng.random_range(0..bytes.len());
        bytes[at] ^= 1 << rng.random_range(0..8);
        fs::write(block, bytes).expect("it can be written");
    }
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).expect("the folder can be read");
    let paths = listed.map(|file| file.expect("it is listed").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}
