//! What one RESP client has agreed on with the server, and how its requests are answered.

mod acl;
mod admission;
mod away;
mod batch;
mod client;
mod cluster;
mod filter;
mod following;
mod hello;
mod late;
mod loading;
mod noting;
mod operator;
mod report;
mod run;
mod speaking;
mod tracking;

use std::{fmt, net::SocketAddr, time::SystemTime};

use turnstile_embedded::{ExecuteError, Services};
use turnstile_resp::{
    Arguments, Call, Encoder, Protocol, Request, Spoken,
    catalogue::{self, Action, Verb},
    travel,
};
use turnstile_travel::LateAnswer;
use turnstile_types::{Hosts, Position};

use crate::{
    core::{
        cluster::{ClusterAsker, Clustered},
        conversation::Surroundings,
        engine::Engine,
        gate::Undecided,
        request_log::{RequestNote, TraceParent},
        shares::{Opens, Shares},
        waiting_room::{LinePlace, NotYourTurn},
    },
    counters::ErrorCode,
};

use self::{
    away::Departing, batch::MultiBatch, following::Following, late::Late, tracking::Tracking,
};

pub(crate) use self::speaking::{RESP, RespSession};

const FORGOTTEN: &str = "ERR the answer to this key came late, and too long ago: it is forgotten";

/// What is done with the connection after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Go,
    /// Close when everything owed is sent.
    Close,
}

/// Whether a client wants replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplyMode {
    On,
    Off,
    /// Not to the next request.
    Skip,
}

/// One client's side of the conversation.
#[derive(Debug)]
struct Session {
    id: u64,
    peer: SocketAddr,
    protocol: Protocol,
    name: String,
    library: String,
    library_version: String,
    replies: ReplyMode,
    batch: Option<MultiBatch>,
    following: Following,
    /// Nothing without `CLIENT TRACKING`.
    tracking: Option<Box<Tracking>>,
    /// The reply that waits for late answers.
    late: Late,
    /// Commands that go to databases when this run is over.
    departing: Vec<Departing>,
    /// The jobs of a batch that the order of a shared log decides, while it is executed.
    executing: Option<Vec<ClusterAsker>>,
    shares: Box<Shares>,
    since_ms: u64,
    /// Whether it has drained the node, and may stay to see it done.
    watches_drain: bool,
    /// Whether its queries are answered from the state of this node, though others may be ahead.
    reads_stale: bool,
    /// The trace of the next request of a service.
    trace: Option<TraceParent>,
    /// What is to be said of the request whose reply is held back.
    noted: Option<Box<RequestNote>>,
}

/// A service whose requests this door answers.
trait Prompt: Opens + Clustered + Spoken {}

impl<M: Opens + Clustered + Spoken> Prompt for M {}

macro_rules! actions {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        impl Session {
            fn act(
                &mut self,
                around: &mut Surroundings<'_>,
                action: Action,
                arguments: Arguments<'_, '_>,
                out: &mut Vec<u8>,
            ) -> Next {
                match action {
                    $(Action::$machine(call) => {
                        type Service = turnstile_services::$name::$machine;
                        self.asked::<Service>(around, call, arguments, out)
                    })+
                    Action::Session(verb) => self.own(around, verb, arguments, out),
                }
            }
        }
    };
}

turnstile_services::services!(actions);

impl Session {
    fn new(id: u64, peer: SocketAddr, since_ms: u64) -> Self {
        Self {
            id,
            peer,
            protocol: Protocol::Resp2,
            name: String::new(),
            library: String::new(),
            library_version: String::new(),
            replies: ReplyMode::On,
            batch: None,
            following: Following::default(),
            tracking: None,
            late: Late::default(),
            departing: Vec::new(),
            executing: None,
            shares: Box::default(),
            since_ms,
            watches_drain: false,
            reads_stale: false,
            trace: None,
            noted: None,
        }
    }

    /// Whether a reply is held back, and with it every request behind it.
    const fn waits(&self) -> bool {
        !self.late.is_empty()
    }

    /// Answers one request at the end of `out`.
    #[inline]
    fn answer(
        &mut self,
        around: &mut Surroundings<'_>,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        if arguments.is_empty() {
            return Next::Go;
        }
        let start = out.len();
        let replies = self.replies;
        let action = match around.engine.catalogue.resolve(&arguments) {
            Ok(Action::Session(Verb::ClientReply)) => {
                self.reply_mode(around.engine, arguments, out);
                return Next::Go;
            }
            Ok(action) => Ok(action),
            Err(unknown) => Err(unknown),
        };
        let next = match action {
            _ if around.engine.is_stranger() && !admission::is_for_strangers(&action) => {
                self.refuse_stranger(around.engine, out)
            }
            Ok(action) => self.unhurried(around, action, arguments, out),
            Err(unknown) => {
                if let Some(batch) = &mut self.batch {
                    batch.spoil();
                }
                self.invalid(around.engine, format_args!("ERR {unknown}"), out)
            }
        };
        // `RESET` turns replies on, and is answered like everything behind it.
        let silent = replies == ReplyMode::Skip || self.replies == ReplyMode::Off;
        if self.waits() {
            self.late.hold(out, start, silent);
        }
        if silent {
            out.truncate(start);
            if self.replies == ReplyMode::Skip {
                self.replies = ReplyMode::On;
            }
        }
        next
    }

    /// Everything but a service request outside a batch.
    fn unhurried(
        &mut self,
        around: &mut Surroundings<'_>,
        action: Action,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        if let Some(refused) = self.refuse_early(around.engine, action, out) {
            return refused;
        }
        if let Some(refused) = self.refuse_unentitled(around.engine, action, out) {
            return refused;
        }
        let leaves_batch = matches!(
            action,
            Action::Session(
                Verb::Exec | Verb::Discard | Verb::Multi | Verb::Watch | Verb::Quit | Verb::Reset
            )
        );
        if !leaves_batch && let Some(batch) = &mut self.batch {
            if let Err(mistake) = batch.queue(around.engine, action, arguments) {
                return self.invalid(around.engine, format_args!("{mistake}"), out);
            }
            Encoder::new(out, self.protocol).simple("QUEUED");
            return Next::Go;
        }
        if self.protocol == Protocol::Resp2
            && !self.following.is_empty()
            && !following::is_allowed(action)
        {
            let sentence = "ERR only (P)SUBSCRIBE, (P)UNSUBSCRIBE, PING, QUIT and RESET are \
                            allowed while a RESP2 connection is subscribed";
            return self.invalid(around.engine, format_args!("{sentence}"), out);
        }
        self.enter_trace(around.engine, action);
        self.act(around, action, arguments, out)
    }

    /// A request to a service.
    fn asked<M: Prompt>(
        &mut self,
        around: &mut Surroundings<'_>,
        call: &'static Call,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next
    where
        Services: Hosts<M>,
    {
        match M::parse(call, arguments, around.engine.door()) {
            Ok(request) => self.decided::<M>(around, &request, out),
            Err(invalid) => return self.invalid(around.engine, format_args!("ERR {invalid}"), out),
        }
        Next::Go
    }

    /// Has a parsed request decided, and answers it. A command that a database decides, or that must
    /// wait, leaves a gap in the reply.
    #[inline]
    fn decided<M: Prompt>(
        &mut self,
        around: &mut Surroundings<'_>,
        request: &Request<'_, M::Command<'_>, M::Query>,
        out: &mut Vec<u8>,
    ) where
        Services: Hosts<M>,
    {
        let is_stale = self.reads_stale
            && matches!(request, Request::Query(query) if around.engine.is_answered_here(query));
        if !is_stale && around.engine.is_away::<M>() {
            return self.send_away::<M>(around, request, out);
        }
        let engine = &mut *around.engine;
        let mut reply = Encoder::new(out, self.protocol);
        match request {
            Request::Command { command, key } => {
                match engine.execute_within::<M>(&mut self.shares, *key, command, None) {
                    Ok(decided) => {
                        let (position, replayed) = (decided.position, decided.replayed);
                        match M::late_ticket(&decided.outcome) {
                            None => {
                                M::put_outcome(&mut reply, &decided.outcome, position, replayed);
                            }
                            Some(ticket) => {
                                let late = engine.late_answer(ticket);
                                self.put_late_answer(late, (position, replayed), out);
                            }
                        }
                    }
                    Err(undecided) => put_undecided(&mut reply, &undecided),
                }
            }
            Request::Query(query) => match engine.query::<M>(query) {
                Ok(answer) => M::put_answer(&mut reply, &answer),
                Err(undecided) => put_undecided(&mut reply, &undecided),
            },
        }
    }

    /// Answers a command of travel that had to wait, or leaves a gap for the answer.
    fn put_late_answer(
        &mut self,
        answer: LateAnswer,
        (position, replayed): (Position, bool),
        out: &mut Vec<u8>,
    ) {
        let mut reply = Encoder::new(out, self.protocol);
        match answer {
            LateAnswer::Given(outcome) => {
                travel::put_outcome(&mut reply, &outcome, position, replayed);
            }
            LateAnswer::Pending => self.late.leave_gap(position, replayed, out),
            LateAnswer::Unknown => reply.error(format_args!("{FORGOTTEN}")),
        }
    }

    fn own(
        &mut self,
        around: &mut Surroundings<'_>,
        verb: Verb,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        match verb {
            Verb::Multi | Verb::Exec | Verb::Discard | Verb::Watch | Verb::Unwatch => {
                return self.transaction(around, verb, out);
            }
            Verb::Subscribe
            | Verb::Unsubscribe
            | Verb::PatternSubscribe
            | Verb::PatternUnsubscribe => return self.follow(around.engine, verb, arguments, out),
            Verb::Hello => return self.hello(around.engine, arguments, out),
            Verb::Auth => return self.auth(around.engine, arguments, out),
            Verb::Select => return self.select(around.engine, arguments, out),
            Verb::ClientSetInfo
            | Verb::ClientSetName
            | Verb::ClientGetName
            | Verb::ClientId
            | Verb::ClientInfo
            | Verb::ClientList
            | Verb::ClientKill
            | Verb::ClientReply
            | Verb::ClientNoEvict
            | Verb::ClientNoTouch
            | Verb::ClientTraceParent => return self.client(around, verb, arguments, out),
            Verb::ClientTracking
            | Verb::ClientTrackingInfo
            | Verb::ClientCaching
            | Verb::ClientRedirection => return self.track(around, verb, arguments, out),
            Verb::ClusterAge | Verb::ClusterStatus | Verb::ClusterDrain | Verb::ClusterStepDown => {
                return self.operate_cluster(around, verb, arguments, out);
            }
            Verb::Scan
            | Verb::Monitor
            | Verb::SlowLogGet
            | Verb::SlowLogLen
            | Verb::SlowLogReset
            | Verb::CommandGetKeys => {
                return self.operate(around.engine, verb, arguments, out);
            }
            _ => {}
        }
        let mut reply = Encoder::new(out, self.protocol);
        match verb {
            Verb::Ping if arguments.len() > 2 => {
                let sentence = catalogue::Unknown::Arity("ping");
                return self.invalid(around.engine, format_args!("ERR {sentence}"), out);
            }
            Verb::Ping => self.ping(arguments, &mut reply),
            Verb::Echo => reply.bulk(arguments.get(1).unwrap_or_default()),
            Verb::ReadOnly | Verb::ReadWrite => {
                self.reads_stale = verb == Verb::ReadOnly;
                reply.ok();
            }
            Verb::Quit => {
                reply.ok();
                return Next::Close;
            }
            Verb::Reset => {
                reply.simple("RESET");
                let shares = std::mem::take(&mut self.shares);
                *self = Self::new(self.id, self.peer, self.since_ms);
                self.shares = shares;
                around.engine.log_out();
            }
            Verb::AclWhoAmI | Verb::AclUsers | Verb::AclList => {
                acl::put(around.engine, verb, &mut reply);
            }
            Verb::AclGetUser => acl::put_user(around.engine, arguments, &mut reply),
            _ => report::put(around.engine, verb, arguments, &mut reply),
        }
        Next::Go
    }

    fn ping(&self, arguments: Arguments<'_, '_>, reply: &mut Encoder<'_>) {
        let message = arguments.get(1);
        if self.protocol == Protocol::Resp2 && !self.following.is_empty() {
            reply.array(2);
            reply.text("pong");
            reply.bulk(message.unwrap_or_default());
            return;
        }
        match message {
            None => reply.simple("PONG"),
            Some(message) => reply.bulk(message),
        }
    }

    /// Answers a request that was not understood.
    fn invalid(&self, engine: &Engine, sentence: fmt::Arguments<'_>, out: &mut Vec<u8>) -> Next {
        engine.counters.error(ErrorCode::Invalid);
        Encoder::new(out, self.protocol).error(sentence);
        Next::Go
    }
}

fn put_undecided(reply: &mut Encoder<'_>, undecided: &Undecided) {
    match undecided {
        Undecided::Journal(refused) => put_execute_error(reply, *refused),
        Undecided::Backend(failure) => away::put_failure(reply, failure),
        Undecided::Share(full) => reply.error(format_args!("BUSY {full}")),
        Undecided::NotPermitted(denied) => {
            let sentence = admission::sentence_of(denied);
            reply.error(format_args!("{sentence}"));
        }
        Undecided::InLine(NotYourTurn::Wait(line)) => put_place(reply, *line),
        Undecided::InLine(not_yet) => reply.error(format_args!("BUSY {not_yet}")),
    }
}

/// A place in line: 2, the place, and the seconds until its turn and until it is asked for again.
fn put_place(reply: &mut Encoder<'_>, line: LinePlace) {
    let retry_after = NotYourTurn::Wait(line).retry_after_s();
    let numbers = [
        ("place", line.place),
        ("wait_seconds", line.seconds),
        ("retry_after", retry_after.into()),
    ];
    let is_named = reply.protocol() == Protocol::Resp3;
    if is_named {
        reply.map(1 + numbers.len());
        reply.text("outcome");
        reply.text("waiting");
    } else {
        reply.array(1 + numbers.len());
        reply.integer(2);
    }
    for (name, number) in numbers {
        if is_named {
            reply.text(name);
        }
        reply.integer(number);
    }
}

fn put_execute_error(reply: &mut Encoder<'_>, refused: ExecuteError) {
    match refused {
        ExecuteError::KeyReused { .. } => reply.error(format_args!("IDEMMISMATCH {refused}")),
        ExecuteError::KeysFull { .. } => reply.error(format_args!("BUSY {refused}")),
        ExecuteError::ReadOnly => reply.error(format_args!("READONLY {refused}")),
        ExecuteError::TooLarge | ExecuteError::Stopped => {
            reply.error(format_args!("ERR {refused}"));
        }
    }
}

/// The clock as `TIME` answers it: seconds and microseconds.
fn put_time(reply: &mut Encoder<'_>) {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    reply.array(2);
    reply.shown(since.as_secs());
    reply.shown(since.subsec_micros());
}

/// `COMMAND` and its subcommands.
fn put_catalogue(
    engine: &Engine,
    verb: Verb,
    arguments: Arguments<'_, '_>,
    reply: &mut Encoder<'_>,
) {
    let names = arguments.iter().skip(2);
    match verb {
        Verb::CommandCount => catalogue::count(reply),
        Verb::CommandList => catalogue::list(reply),
        Verb::CommandDocs => catalogue::docs(reply, &engine.catalogue, names),
        Verb::CommandInfo => catalogue::info(reply, &engine.catalogue, names),
        _ => catalogue::every(reply),
    }
}
