//! What the machine owns: a coordinator, four desks, and what is between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use turnstile_types::Position;

use crate::{
    Desk, Event, Outcome, PerDesk, Report, Request, Settings, channel::Channel,
    coordinator::Coordinator, participant::Participant,
};

/// Journeys: what the desks sell, to whom, and in which transactions.
///
/// All roles are here, in every process; the settings say which of them are played. What the
/// coordinator and a desk say to each other is carried until nothing moves: handed over at once
/// where both are played here, put on a line otherwise. So in one process a whole commit is one
/// record, and between processes the same words are parcels.
///
/// Time: before a command is decided, everything that is due at its instant is done, as by
/// [`tick`](turnstile_types::Machine::tick). A command that must wait is told so, and answered by
/// an event when it is free. A refusal changes nothing that is committed.
///
/// A record has promised something when its outcome is firm, or one that it tells late, a parcel that
/// it makes or an event; when it has staged a trip, or given one up that was; or when it has taken the
/// first xid of a block, for whatever. The last vote for a staged trip promises nothing, though it tells
/// that the trip is booked: that was promised when it was staged.
#[derive(Debug)]
pub struct Travel {
    pub(crate) settings: Settings,
    pub(crate) coordinator: Coordinator,
    pub(crate) desks: PerDesk<Participant>,
    /// The coordinator's ends of the lines to desks that are played elsewhere.
    pub(crate) to_desks: PerDesk<Channel<Request>>,
    /// The desks' ends of the lines to a coordinator that is played elsewhere.
    pub(crate) to_coordinator: PerDesk<Channel<Report>>,
    /// The latest answers that were given late.
    pub(crate) late: BTreeMap<Position, Outcome>,
    /// Commands that have been told to wait and are not answered yet: at most one for each transaction.
    pub(crate) pending: BTreeSet<Position>,
    /// What desks have said, until it is carried away.
    pub(crate) reports: VecDeque<(Desk, Report)>,
    /// Room for what a desk says at one request.
    pub(crate) say: Vec<Report>,
    pub(crate) events: Vec<Event>,
    /// Whether trips are staged: since the first start that did so.
    pub(crate) stages: bool,
    /// Whether something firm was done or said by the record that was applied last.
    pub(crate) promised: bool,
    /// The record of the last event, and how many events it has had.
    pub(crate) last_event: (Position, u32),
}
