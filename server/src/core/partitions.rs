//! Several partitions in one process: the loop of the first has the doors, and hands what another decides
//! to the loop of that.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, SyncSender, TrySendError},
    },
};

use turnstile_types::{PartitionNumber, Position, Timestamp};

use crate::{
    core::{
        cluster::ClusterAsker,
        feed::{FeedPlaces, Feeds, ToldEvents},
        gate::{Gate, TotalsOfServices},
        node_status::ClusterStatus,
        remote::{Landed, ReturnPath},
    },
    limits::{RELAYED_MAX, RELAYED_PER_PARTITION_MAX, RIGHTS_KNOWN_MS},
};

/// How a partition stands, as its loop said last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionFigures {
    /// The last position that was applied.
    pub(crate) position: Position,
    pub(crate) cluster: ClusterStatus,
    pub(crate) totals: TotalsOfServices,
}

/// Where a loop says how its partition stands.
type SharedFigures = Arc<Mutex<Option<PartitionFigures>>>;

/// What it said last.
fn last_of(figures: &SharedFigures) -> Option<PartitionFigures> {
    *figures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the loop with the doors and that of a partition tell each other about events.
#[derive(Debug, Default)]
struct EventBell {
    /// Somebody at the doors wants to hear of them.
    is_wanted: AtomicBool,
    /// There may be some that nobody has taken.
    has_rung: AtomicBool,
}

/// Another partition, for those who follow what happens there.
#[derive(Clone, Debug)]
pub(crate) struct FollowedPartition {
    pub(crate) name: String,
    pub(crate) feeds: Feeds,
    figures: SharedFigures,
}

impl FollowedPartition {
    /// The last position that was applied there, as its loop said last.
    pub(crate) fn position(&self) -> Position {
        last_of(&self.figures).map_or(Position(0), |figures| figures.position)
    }

    /// How it stands among those that share its log, as its loop said last.
    pub(crate) fn cluster(&self) -> ClusterStatus {
        last_of(&self.figures).map_or_else(ClusterStatus::default, |figures| figures.cluster)
    }
}

/// The way from the loop with the doors to that of another partition.
pub(crate) struct PartitionLine {
    pub(crate) name: String,
    jobs: SyncSender<ClusterAsker>,
    gate: Gate,
    has_put: bool,
    figures: SharedFigures,
    feeds: Feeds,
    bell: Arc<EventBell>,
    /// What was told of its events, while anybody follows them.
    told: Option<FeedPlaces>,
}

/// The end of such a way: what the loop of another partition is asked, and where its answers go.
pub(crate) struct PartitionHome {
    jobs: Receiver<ClusterAsker>,
    way: ReturnPath,
    figures: SharedFigures,
    bell: Arc<EventBell>,
}

/// A way that is not built to its end: the loop at the other end has no gate yet.
pub(crate) struct OpenLine {
    jobs: SyncSender<ClusterAsker>,
    figures: SharedFigures,
    bell: Arc<EventBell>,
}

/// A way to the loop of another partition, whose answers go this way.
pub(crate) fn line(way: ReturnPath) -> (OpenLine, PartitionHome) {
    let (sender, jobs) = mpsc::sync_channel(RELAYED_PER_PARTITION_MAX);
    let figures = SharedFigures::default();
    let bell = Arc::<EventBell>::default();
    let open = OpenLine {
        jobs: sender,
        figures: Arc::clone(&figures),
        bell: Arc::clone(&bell),
    };
    let home = PartitionHome {
        jobs,
        way,
        figures,
        bell,
    };
    (open, home)
}

impl OpenLine {
    /// The partition at its end, of this name, for those who follow it.
    pub(crate) fn followed(&self, name: String, feeds: Feeds) -> FollowedPartition {
        FollowedPartition {
            name,
            feeds,
            figures: Arc::clone(&self.figures),
        }
    }

    /// The way to the partition of this name, whose loop has this gate and tells its events in these feeds.
    pub(crate) fn to(self, name: String, gate: Gate, feeds: Feeds) -> PartitionLine {
        PartitionLine {
            name,
            jobs: self.jobs,
            gate,
            has_put: false,
            figures: self.figures,
            feeds,
            bell: self.bell,
            told: None,
        }
    }
}

impl PartitionLine {
    /// How the partition stands, as its loop said last.
    pub(crate) fn figures(&self) -> Option<PartitionFigures> {
        last_of(&self.figures)
    }

    /// Hears of all that happens there from now on.
    fn begin_following(&mut self) {
        // Before the places are taken: what is published after that rings.
        self.bell.is_wanted.store(true, Ordering::SeqCst);
        self.told.get_or_insert_with(|| self.feeds.ends());
    }

    fn end_following(&mut self) {
        if self.told.take().is_some() {
            self.bell.is_wanted.store(false, Ordering::SeqCst);
        }
    }

    /// Adds what has happened there since the last call.
    fn tell_on(&mut self, told: &mut ToldEvents) {
        if let Some(places) = &mut self.told
            && self.bell.has_rung.swap(false, Ordering::SeqCst)
        {
            self.feeds.tell_on(places, &self.name, told);
        }
    }
}

impl PartitionHome {
    pub(crate) fn next(&self) -> Option<ClusterAsker> {
        self.jobs.try_recv().ok()
    }

    /// Gives answers to who asked.
    pub(crate) fn answer(&self, landed: impl IntoIterator<Item = Landed>) {
        let mut has_told = false;
        for one in landed {
            self.way.tell(one);
            has_told = true;
        }
        if has_told {
            self.way.ring();
        }
    }

    /// Something may have happened that the loop with the doors tells.
    pub(crate) fn ring_for_events(&self) {
        if self.bell.is_wanted.load(Ordering::SeqCst) {
            self.bell.has_rung.store(true, Ordering::SeqCst);
            self.way.ring();
        }
    }

    /// Says how the partition stands.
    pub(crate) fn publish(&self, figures: &PartitionFigures) {
        let known = self.figures.lock();
        *known.unwrap_or_else(PoisonError::into_inner) = Some(*figures);
    }
}

/// A query that all partitions are asked: the answers that are still to come, and the sum of those that
/// have.
struct Gathering {
    left: usize,
    sum: Landed,
}

/// The other partitions, as the loop with the doors knows them.
pub(crate) struct Partitions {
    /// The names of all, in the order of their numbers.
    names: Vec<String>,
    /// In the order of their numbers, from the second on; nothing for one that this node does not hold.
    lines: Vec<Option<PartitionLine>>,
    /// Requests that other partitions have not answered yet.
    outstanding: usize,
    /// All changes of rights are known here that were ordered before this instant.
    rights_as_of: Option<Timestamp>,
    gatherings: HashMap<u64, Gathering>,
    last_gathering: u64,
}

impl Partitions {
    /// All partitions by their names, and the ways to those behind the first that this node holds.
    pub(crate) fn new(names: Vec<String>, lines: Vec<Option<PartitionLine>>) -> Self {
        Self {
            names,
            lines,
            outstanding: 0,
            rights_as_of: None,
            gatherings: HashMap::new(),
            last_gathering: 0,
        }
    }

    /// How many partitions there are, the first among them.
    pub(crate) fn count(&self) -> u8 {
        u8::try_from(1 + self.lines.len()).expect("partitions are limited")
    }

    /// The ways to those that this node holds.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &PartitionLine> {
        self.lines.iter().flatten()
    }

    /// Whether this node holds a partition.
    pub(crate) fn holds(&self, partition: PartitionNumber) -> bool {
        match usize::from(partition.get()).checked_sub(1) {
            None => true,
            Some(place) => self.lines.get(place).is_some_and(Option::is_some),
        }
    }

    /// The name of a partition.
    pub(crate) fn name_of(&self, partition: PartitionNumber) -> &str {
        let name = self.names.get(usize::from(partition.get()));
        name.map_or("", String::as_str)
    }

    /// The first partition that this node does not hold.
    pub(crate) fn unheld(&self) -> Option<PartitionNumber> {
        let missing = self.lines.iter().position(Option::is_none)?;
        PartitionNumber::new(u8::try_from(missing + 1).ok()?)
    }

    /// Has all that happens in other partitions told here from now on.
    pub(crate) fn begin_following(&mut self) {
        let lines = self.lines.iter_mut().flatten();
        lines.for_each(PartitionLine::begin_following);
    }

    /// Nobody follows any more.
    pub(crate) fn end_following(&mut self) {
        let lines = self.lines.iter_mut().flatten();
        lines.for_each(PartitionLine::end_following);
    }

    /// What has happened in other partitions since the last call; nothing while nobody follows them.
    pub(crate) fn tell_on(&mut self) -> ToldEvents {
        let mut told = ToldEvents::default();
        for line in self.lines.iter_mut().flatten() {
            line.tell_on(&mut told);
        }
        told
    }

    /// Hands a request to the loop of its partition, when the turn ends; or gives it back, when too many
    /// wait.
    pub(crate) fn put(
        &mut self,
        at: PartitionNumber,
        asker: ClusterAsker,
    ) -> Result<(), Box<ClusterAsker>> {
        let line = usize::from(at.get())
            .checked_sub(1)
            .and_then(|place| self.lines.get_mut(place)?.as_mut());
        let jobs = asker.jobs();
        let Some(line) = line.filter(|_| self.outstanding + jobs <= RELAYED_MAX) else {
            return Err(Box::new(asker));
        };
        match line.jobs.try_send(asker) {
            Ok(()) => {
                line.has_put = true;
                self.outstanding += jobs;
                Ok(())
            }
            Err(TrySendError::Full(asker) | TrySendError::Disconnected(asker)) => {
                Err(Box::new(asker))
            }
        }
    }

    /// Wakes the loops that were asked something in this turn.
    pub(crate) fn depart(&mut self) {
        for line in self.lines.iter_mut().flatten() {
            if std::mem::take(&mut line.has_put) {
                line.gate.wake();
            }
        }
    }

    /// Another partition has answered a request.
    pub(crate) const fn note_answered(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// All changes of rights are known here that were ordered before this instant.
    pub(crate) fn note_rights(&mut self, as_of: Timestamp) {
        self.rights_as_of = self.rights_as_of.max(Some(as_of));
    }

    /// Whether what is known of rights is new enough for what another partition decides.
    pub(crate) fn are_rights_known(&self, now: Timestamp) -> bool {
        let is_new = |as_of| now.ms_since(as_of) <= RIGHTS_KNOWN_MS;
        self.rights_as_of.is_some_and(is_new)
    }

    /// Begins to gather the answers of all partitions to a query; the sum so far has none. Answers the
    /// number by which their askers are known.
    pub(crate) fn gather(&mut self, sum: Landed) -> u64 {
        self.last_gathering += 1;
        let left = usize::from(self.count());
        self.gatherings
            .insert(self.last_gathering, Gathering { left, sum });
        self.last_gathering
    }

    /// Adds an answer to those that are gathered: the sum, when it is the last.
    pub(crate) fn add(&mut self, number: u64, part: Landed) -> Option<Landed> {
        let gathering = self.gatherings.get_mut(&number)?;
        gathering.sum.add(part);
        gathering.left -= 1;
        if gathering.left > 0 {
            return None;
        }
        let whole = self.gatherings.remove(&number)?;
        Some(whole.sum)
    }
}
