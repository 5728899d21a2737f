//! A node of a test: it proposes numbered entries and keeps what it sees.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    time::{Duration, Instant},
};

use turnstile_brokers::Brokers;
use turnstile_jetstream::{
    BrokerLogin, BrokerTimeouts, Fatal, LogEntry, LogEvent, LogSettings, OUTSTANDING_MAX,
    OpenLogError, ProposalId, Sequence, SharedLog, StreamIdentity,
};

/// How long something may take until the test has failed.
const DEADLINE: Duration = Duration::from_secs(120);

/// Settings of a node for these brokers.
pub(crate) fn settings(brokers: &Brokers, node: &str) -> LogSettings {
    let replicas = if brokers.count() >= 3 { 3 } else { 1 };
    LogSettings {
        servers: brokers
            .urls()
            .iter()
            .map(|url| url.parse().expect("a URL"))
            .collect(),
        monitors: brokers.monitors(),
        partition: "main".parse().expect("a name"),
        node: node.parse().expect("a name"),
        replicas,
        stream_bytes_max: 256 << 20,
        snapshot_bytes_max: 256 << 20,
        snapshot_entries: 1_000,
        entry_version_max: None,
        login: BrokerLogin::None,
        tls: None,
        timeouts: BrokerTimeouts {
            open: Duration::from_secs(60),
            ..BrokerTimeouts::USUAL
        },
    }
}

/// Why a log is not opened behind `after` while brokers answer, however long they take.
pub(crate) fn refused(
    mut settings: LogSettings,
    after: u64,
    identity: Option<StreamIdentity>,
) -> OpenLogError {
    settings.timeouts.open = Duration::from_secs(5);
    let opening = Arc::default();
    let opened = SharedLog::open_patiently(&settings, Sequence(after), identity, opening, || {});
    opened.expect_err("there is a reason to refuse")
}

/// A node with what it has proposed and seen.
pub(crate) struct Node {
    pub(crate) log: SharedLog,
    name: String,
    incarnation: u64,
    proposed: u64,
    woken: Receiver<()>,
    pub(crate) entries: Vec<LogEntry>,
    /// Where the broker says that proposals are.
    pub(crate) published: BTreeMap<ProposalId, Sequence>,
    pub(crate) refused: Vec<String>,
    waiting: BTreeSet<ProposalId>,
    pub(crate) fatal: Option<Fatal>,
}

impl Node {
    pub(crate) fn open(settings: &LogSettings, after: u64) -> Result<Self, OpenLogError> {
        let (wake, woken) = sync_channel(1);
        let log = SharedLog::open(settings, Sequence(after), None, move || {
            // One wake-up that waits is enough.
            wake.try_send(()).ok();
        })?;
        Ok(Self {
            log,
            name: settings.node.to_string(),
            incarnation: after + 1,
            proposed: 0,
            woken,
            entries: Vec::new(),
            published: BTreeMap::new(),
            refused: Vec::new(),
            waiting: BTreeSet::new(),
            fatal: None,
        })
    }

    pub(crate) fn of(brokers: &Brokers, name: &str) -> Self {
        Self::open(&settings(brokers, name), 0).expect("the log opens")
    }

    pub(crate) fn id(&self, number: u64) -> ProposalId {
        ProposalId {
            node: self.name.parse().expect("a name"),
            incarnation: self.incarnation,
            number,
        }
    }

    /// The bytes of a proposal, which say whose it is.
    pub(crate) fn bytes(id: &ProposalId) -> Vec<u8> {
        format!("entry of {id}").into_bytes()
    }

    /// Proposes the next entry.
    pub(crate) fn propose(&mut self) -> ProposalId {
        self.proposed += 1;
        let id = self.id(self.proposed);
        let bytes = Self::bytes(&id);
        let proposed = self.log.propose(id.clone(), bytes.into());
        proposed.expect("there is room");
        self.waiting.insert(id.clone());
        id
    }

    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < OUTSTANDING_MAX
    }

    pub(crate) fn outstanding(&self) -> usize {
        self.waiting.len()
    }

    /// Whether a proposal is of this node.
    pub(crate) fn is_of(&self, id: &ProposalId) -> bool {
        id.node.as_str() == self.name
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Waits for so long until something is there, and takes all of it.
    pub(crate) fn take_for(&mut self, time: Duration) {
        self.woken.recv_timeout(time).ok();
        self.take();
    }

    /// Takes all that is there.
    pub(crate) fn take(&mut self) {
        while let Some(event) = self.log.next_event() {
            match event {
                LogEvent::Entry(entry) => {
                    if let Some(id) = &entry.id {
                        self.waiting.remove(id);
                    }
                    self.entries.push(entry);
                }
                LogEvent::Published { id, sequence } => {
                    self.published.insert(id, sequence);
                }
                LogEvent::Refused { id, why } => {
                    self.waiting.remove(&id);
                    self.refused.push(why.to_string());
                }
                LogEvent::Fatal(fatal) => self.fatal = Some(fatal),
                LogEvent::Status(_) | LogEvent::Warning(_) => {}
            }
        }
    }

    /// Takes events until something holds.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.take();
            if holds(self) {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && (self.fatal.is_none()),
                "{}: not {what}: {} entries, {} wait, {:?}, {:?}",
                self.name,
                self.entries.len(),
                self.waiting.len(),
                self.fatal,
                self.log.state(),
            );
            self.woken
                .recv_timeout(left.min(Duration::from_secs(1)))
                .ok();
        }
    }

    pub(crate) fn until_entries(&mut self, count: usize) {
        self.until(&format!("at {count} entries"), |node| {
            node.entries.len() >= count
        });
    }

    /// Waits for the end of the log.
    pub(crate) fn ended(&mut self) -> Fatal {
        let deadline = Instant::now() + DEADLINE;
        while self.fatal.is_none() {
            assert!(
                Instant::now() < deadline,
                "the log goes on: {:?}",
                self.log.state()
            );
            self.woken.recv_timeout(Duration::from_secs(1)).ok();
            self.take();
        }
        self.fatal.clone().expect("it has ended")
    }

    /// Asserts that entries follow each other without a gap from 1, each with the bytes of its id, and
    /// that no id is there twice.
    pub(crate) fn check(&self) {
        let mut ids = BTreeSet::new();
        for (place, entry) in (1..).zip(&self.entries) {
            assert_eq!(entry.sequence, Sequence(place));
            let id = entry.id.clone().expect("it is of a node");
            assert_eq!(entry.bytes, Self::bytes(&id));
            assert!(ids.insert(id.clone()), "{id} is there twice");
        }
    }

    /// Asserts that what was acknowledged to another node is where the broker said.
    pub(crate) fn check_acknowledged(&self, other: &Self) {
        for (id, sequence) in &other.published {
            let mut entries = self.entries.iter();
            let found = entries.find(|entry| entry.id.as_ref() == Some(id));
            let found = found.map(|entry| entry.sequence);
            assert_eq!(found, Some(*sequence), "where {id} was acknowledged");
        }
    }
}
