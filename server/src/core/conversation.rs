//! The seam between the loop and the fast doors: what a door does, and what its sessions may touch.

use std::{
    fmt,
    net::SocketAddr,
    time::{Duration, Instant},
};

use turnstile_access::Rights;
use turnstile_duel::Parcel;
use turnstile_resp::travel::Decided;
use turnstile_travel::{Desk, Outcome};
use turnstile_types::{Position, Principal, Timestamp};

use crate::{
    core::{
        caller::Caller, engine::Engine, news::News, remote::Landed, request_log::RequestNote,
        shares::Shares, signals::Signals,
    },
    counters::{DoorName, ErrorCode},
};

/// What a client reads that is not served, for a reason.
pub(crate) type Refusing = fn(why: &str) -> Vec<u8>;

/// How the clients of a door prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientProof {
    /// By a key in the protocol; a certificate may do instead.
    Key,
    /// By a certificate where there are authorities, since the protocol carries no key.
    Certificate,
    /// By a certificate of the same installation: they are other processes of it.
    Process,
}

/// A fast door, as the loop knows it.
#[derive(Debug)]
pub(crate) struct FastDoor {
    pub(crate) name: DoorName,
    /// What a client reads that is not served; nothing where the wire has no word for it.
    pub(crate) refusal: Refusing,
    /// Connections at a time, where the door has a bound of its own.
    pub(crate) most: Option<u64>,
    /// Whether its clients are served while the journal is recovered.
    pub(crate) serves_early: bool,
    /// Whether what has come and is not answered is the start of a request, so that its rest can be
    /// late.
    pub(crate) has_frames: bool,
    pub(crate) proof: ClientProof,
}

/// What a request may touch besides its own session and its door.
pub(crate) struct Surroundings<'a> {
    pub(crate) engine: &'a mut Engine,
    /// Where the connection is found.
    pub(crate) place: usize,
    /// Everybody else.
    pub(crate) others: &'a dyn OtherConnections,
    /// The places of others that are to be closed after this request.
    pub(crate) killed: &'a mut Vec<usize>,
    pub(crate) signals: &'a Signals,
}

/// The other connections, as a session sees them.
pub(crate) trait OtherConnections {
    /// Bytes that they keep of requests that are not answered.
    fn held(&self) -> usize;

    /// Those that may be listed, with their places.
    fn listed(&self) -> Vec<(usize, ListedClient<'_>)>;
}

/// A client, as others may list it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedClient<'a> {
    pub(crate) id: u64,
    pub(crate) peer: SocketAddr,
    pub(crate) principal: Principal,
    pub(crate) name: &'a str,
    pub(crate) library: &'a str,
    pub(crate) library_version: &'a str,
    /// The version of its protocol.
    pub(crate) protocol: u8,
    pub(crate) channels: usize,
    pub(crate) patterns: usize,
    pub(crate) since_ms: u64,
}

impl ListedClient<'_> {
    /// How long it has been connected, in whole seconds.
    pub(crate) const fn age_s(&self, now: Timestamp) -> u64 {
        now.0.saturating_sub(self.since_ms) / 1_000
    }
}

/// A connection between two processes of travel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerLine {
    /// The desk whose line this is or is to become, as far as it is known.
    pub(crate) desk: Option<Desk>,
    /// The same once the peer has said hello.
    pub(crate) met: Option<Desk>,
}

/// Why the server does not wait for the rest of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputRefused {
    /// All connections together keep too much.
    TooMuch,
    /// The rest has not come within this.
    TooLate { limit: Duration },
}

impl fmt::Display for InputRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMuch => {
                f.write_str("the server keeps too much unfinished input, try again later")
            }
            Self::TooLate { limit } => {
                write!(f, "the request did not arrive whole within {limit:?}")
            }
        }
    }
}

/// What became of a piece of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes that need not be looked at again.
    pub(crate) length: usize,
    pub(crate) requests: usize,
    pub(crate) next: Continuation,
}

/// How a conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// There may be another request.
    More,
    /// The next request is not whole.
    Incomplete,
    /// The client is to be closed when it has its answers.
    Close,
    /// The client is to be closed at once.
    Drop,
}

/// The server's side of a conversation with one client of a fast door. Most doors need few of these
/// methods; the others have nothing to do by default.
pub(crate) trait Conversation: Sized {
    /// What the sessions of the door share.
    type Shared;

    fn door(&self) -> &'static FastDoor;

    /// Answers the requests at the start of `bytes`, up to `budget` of them, at the end of `out`.
    fn run(
        &mut self,
        shared: &mut Self::Shared,
        around: &mut Surroundings<'_>,
        input: (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress;

    /// What others may know of the client, where the door lists its clients; it is of this principal.
    fn listed(&self, _principal: Principal) -> Option<ListedClient<'_>> {
        None
    }

    /// What its client has open in tables that all share, where its door counts that.
    fn into_shares(self) -> Option<Shares> {
        None
    }

    /// Whether it is told of events that it did not ask for one by one.
    fn follows(&self) -> bool {
        false
    }

    /// Whether a client with these rights may go on with what it does unasked.
    fn may_go_on(&self, _rights: &Rights) -> bool {
        true
    }

    /// Appends an event, a channel and what is told on it, to what a follower is owed.
    fn put_message(&self, _message: (&str, &str), _out: &mut Vec<u8>) {}

    /// Whether it stays when the node is drained: it is no client's, or that of the operator who watches.
    fn outlasts_drain(&self) -> bool {
        false
    }

    /// The line, where the client is another process of travel.
    fn peer(&self) -> Option<PeerLine> {
        None
    }

    /// Whether its client is owed late answers. It is not [run](Self::run) before it has them:
    /// answers keep the order of the requests.
    fn waits(&self) -> bool {
        false
    }

    /// Names the tickets of the late answers that its client is owed.
    fn awaited(&self, _name: &mut impl FnMut(Position)) {}

    /// Tells a late answer, as soon as every other is there that its reply waits for.
    fn put_late(&mut self, _late: (Position, Decided), _outcome: &Outcome, _out: &mut Vec<u8>) {}

    /// Whether its client waits for desks in other processes to have their fault points.
    fn is_arming(&self) -> bool {
        false
    }

    /// Answers that client when they have them; says whether it did.
    fn settle_arming(&mut self, _engine: &Engine, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Tells what a database has answered to this client, if it is still the one.
    fn put_landed(&mut self, _client: u64, _landed: Landed, _out: &mut Vec<u8>) {}

    /// Takes the note of the request that late answers have completed, if there is one.
    fn take_note(&mut self) -> Option<RequestNote> {
        None
    }

    /// Bytes that it keeps of requests that are not answered, beside the input.
    fn held(&self) -> usize {
        0
    }

    /// Memory of an answer that is not whole yet, in bytes. It counts as unread, although the client
    /// cannot read it: it is memory that the client has asked for.
    fn unfinished_answer(&self) -> usize {
        0
    }

    /// Answers a request that never came whole, where the wire has a word for it.
    fn refuse_input(&mut self, _why: InputRefused, _out: &mut Vec<u8>) {}

    /// The client will send no more, and has left these bytes.
    fn end_of_input(&self, _engine: &Engine, _left: &[u8], _out: &mut Vec<u8>) {}

    /// The server stops: a request that waits will not be answered by the machine any more.
    fn end(&mut self, _out: &mut Vec<u8>) {}

    /// Whether its client waits for a database and for nothing else: that will be answered soon, be it
    /// by a failure.
    fn waits_for_database(&self) -> bool {
        let mut tickets = 0_usize;
        self.awaited(&mut |_| tickets += 1);
        self.waits() && tickets == 0 && !self.is_arming()
    }

    /// Counts and answers a request that never came whole.
    fn break_off_input(&mut self, engine: &Engine, why: InputRefused, out: &mut Vec<u8>) {
        engine.counters.error(match why {
            InputRefused::TooMuch => ErrorCode::Busy,
            InputRefused::TooLate { .. } => ErrorCode::RequestTimeout,
        });
        tracing::info!(door = ?self.door().name, "refused an unfinished request: {why}");
        self.refuse_input(why, out);
    }
}

/// What the loop is to do with a connection, by its place, because of what another client said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// Say this, in one piece.
    Send { place: usize, parcel: Parcel },
    /// Have the system acknowledge what has come, for nothing will be answered.
    Acknowledge { place: usize },
    /// Close it when it has heard everything.
    Close { place: usize },
}

/// The fast doors together: what their sessions share, and what they do unasked.
pub(crate) trait DoorSet: Sized {
    type Session: Conversation<Shared = Self>;

    /// Begins the conversation with a client that was accepted; there is none at a door that is not fast.
    fn welcome(
        &self,
        door: DoorName,
        client: (u64, SocketAddr),
        since_ms: u64,
    ) -> Option<Self::Session>;

    /// Who comes to a door from there, as far as the door and the configuration say.
    fn caller_at(&self, door: DoorName, peer: SocketAddr) -> Caller;

    /// Begins a line to this desk; appends what is said first.
    fn dial_desk(engine: &Engine, desk: Desk, out: &mut Vec<u8>) -> Self::Session;

    /// Begins the connection that the doors dial.
    fn dial() -> Self::Session;

    /// The connection that the doors dial themselves, if they have one.
    fn dialed(&self) -> Option<&impl Dialed>;

    fn dialed_mut(&mut self) -> Option<&mut impl Dialed>;

    /// Whether somebody wants to know what happens in games.
    fn follows_games(&self) -> bool;

    /// Whether there is something to do at the start of a turn.
    fn is_busy(&self) -> bool;

    /// Decides what it means that connections have ended.
    fn see_off(&mut self, engine: &mut Engine);

    /// Hears what has happened, now that it is durable.
    fn learn(&mut self, engine: &mut Engine, news: &News);

    fn take_errands(&mut self) -> Vec<Errand>;

    /// Gives back the memory of errands that are done.
    fn keep_room(&mut self, done: Vec<Errand>);

    /// The connection at this place has ended.
    fn leave(&mut self, session: &Self::Session, place: usize);
}

/// A connection that this process dials, and dials again when it has ended.
pub(crate) trait Dialed {
    fn place(&self) -> Option<usize>;

    /// The address to dial, when it is time to.
    fn dials(&self, now: Instant) -> Option<SocketAddr>;

    /// How long the loop may sleep before it dials.
    fn until_due(&self, now: Instant) -> Option<Duration>;

    /// The connection is dialed; appends what is said first.
    fn begin(&mut self, place: usize, out: &mut Vec<u8>);

    /// The connection has ended, or never was one.
    fn lose(&mut self, now: Instant);

    /// Appends what is to be told, about as much as there is room for; answers whether there was
    /// anything.
    fn put(&mut self, engine: &Engine, owed: usize, out: &mut Vec<u8>) -> bool;
}
