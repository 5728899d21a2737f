//! The kinds of things that go wrong.

use std::fmt;

/// Something that goes wrong, and is mended after a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    NodeKilled,
    NodePaused,
    NodeLosesData,
    AllNodesKilled,
    ClockJumps,
    ClocksApart,
    /// The node hears nothing of the brokers.
    NodeDeaf,
    /// The brokers hear nothing of the node.
    NodeMute,
    NodeCutOff,
    NodeSlow,
    NodeFlapping,
    LeaderKilled,
    FollowerKilled,
    AllBrokersKilled,
    LeaderPaused,
    FollowerPaused,
    /// What one broker sends to another does not arrive.
    BrokersOneWay,
    LeaderCutOff,
    BrokersSlow,
    BrokersFlapping,
    BrokerLosesData,
    BitsFlip,
    DiskFull,
    DiskGone,
    PowerCut,
}

impl Fault {
    pub(super) const ALL: [Self; 25] = [
        Self::NodeKilled,
        Self::NodePaused,
        Self::NodeLosesData,
        Self::AllNodesKilled,
        Self::ClockJumps,
        Self::ClocksApart,
        Self::NodeDeaf,
        Self::NodeMute,
        Self::NodeCutOff,
        Self::NodeSlow,
        Self::NodeFlapping,
        Self::LeaderKilled,
        Self::FollowerKilled,
        Self::AllBrokersKilled,
        Self::LeaderPaused,
        Self::FollowerPaused,
        Self::BrokersOneWay,
        Self::LeaderCutOff,
        Self::BrokersSlow,
        Self::BrokersFlapping,
        Self::BrokerLosesData,
        Self::BitsFlip,
        Self::DiskFull,
        Self::DiskGone,
        Self::PowerCut,
    ];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NodeKilled => "a node is killed",
            Self::NodePaused => "a node stands still (SIGSTOP)",
            Self::NodeLosesData => "a node is killed and loses its directory",
            Self::AllNodesKilled => "all nodes are killed",
            Self::ClockJumps => "the clock of a node jumps by up to 3 minutes",
            Self::ClocksApart => "all nodes start again, 3 minutes apart",
            Self::NodeDeaf => "a node hears nothing of the brokers",
            Self::NodeMute => "the brokers hear nothing of a node",
            Self::NodeCutOff => "a node is cut off from the brokers",
            Self::NodeSlow => "a node is 100 ms from the brokers",
            Self::NodeFlapping => "the network of a node flaps",
            Self::LeaderKilled => "the broker that leads is killed",
            Self::FollowerKilled => "another broker is killed",
            Self::AllBrokersKilled => "all brokers are killed",
            Self::LeaderPaused => "the broker that leads stands still",
            Self::FollowerPaused => "another broker stands still",
            Self::BrokersOneWay => "one way between two brokers is cut",
            Self::LeaderCutOff => "the broker that leads is cut off from the others",
            Self::BrokersSlow => "the brokers are 50 ms from each other",
            Self::BrokersFlapping => "the network between brokers flaps",
            Self::BrokerLosesData => "a broker is killed and loses its directory",
            Self::BitsFlip => "bits flip in the files of a broker",
            Self::DiskFull => "the disk of a broker is full",
            Self::DiskGone => "the disk of a broker goes, and the broker lives on",
            Self::PowerCut => "all brokers lose power",
        })
    }
}
