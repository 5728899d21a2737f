//! `MULTI`: requests that are kept and executed as one.

use std::fmt;

use turnstile_chassis::{PartitionRoute, Routed};
use turnstile_embedded::Services;
use turnstile_resp::{
    Arguments, Decoded, Decoder, Encoder, Protocol, Request, Spoken as _,
    catalogue::{Action, Verb},
};
use turnstile_types::{Hosts, PartitionNumber};
use zeroize::Zeroize as _;

use super::{Next, Prompt, Session, Surroundings, admission::sentence_of, put_execute_error};
use crate::{
    core::engine::Engine,
    limits::{BATCH_BYTES, BATCH_COMMANDS, BATCH_READS},
};

/// What a record adds to a command's own bytes, at most: prefix, principal, and fixed fields.
const RECORD_EXTRA_BYTES: usize = 512;

/// What stands before a request or an argument, and behind it, at most.
const HEAD_BYTES: usize = 16;

/// A database decides commands one by one: what would hold a batch together is the journal.
const NO_BATCH: &str = "UNSUPPORTED a database decides this service, which has no batches there";

/// A batch is one run of one order, and each partition has an order of its own.
const ASKS_ALL: &str = "UNSUPPORTED several partitions answer this query, and a batch is decided by one: send \
                        it without MULTI";

/// The requests of one batch, as they will be executed. Each has been understood when it was
/// queued: a batch with a mistake in it is not executed at all.
///
/// They carry id numbers in clear, so their memory is overwritten before it is given back.
#[derive(Default)]
pub(super) struct MultiBatch {
    frames: Vec<u8>,
    commands: usize,
    reads: usize,
    spoiled: bool,
    /// Who decides it, where there are several partitions and it asks anything.
    decider: Option<BatchDecider>,
}

/// The partition that decides a batch.
#[derive(Clone, Copy, Debug)]
struct BatchDecider {
    partition: PartitionNumber,
    /// The only service that it asks, if it has commands and nothing else.
    service: Option<u8>,
}

impl fmt::Debug for MultiBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} commands)", self.commands)
    }
}

impl Drop for MultiBatch {
    fn drop(&mut self) {
        self.frames.as_mut_slice().zeroize();
    }
}

impl MultiBatch {
    pub(super) const fn spoil(&mut self) {
        self.spoiled = true;
    }

    /// The memory it takes, in bytes.
    pub(super) const fn size(&self) -> usize {
        self.frames.capacity()
    }

    fn has_room(&self, action: Action, arguments: &Arguments<'_, '_>) -> bool {
        let bytes = size_of(arguments);
        if is_read(action) && self.reads == BATCH_READS {
            return false;
        }
        self.commands < BATCH_COMMANDS && self.frames.len() + bytes <= BATCH_BYTES
    }

    /// Who decides this batch when a request is in it, too; nobody in particular where there is one order.
    ///
    /// # Errors
    /// A sentence that says why no single order decides all of it.
    fn decider_with<M: Prompt>(
        &self,
        engine: &Engine,
        request: &Request<'_, M::Command<'_>, M::Query>,
    ) -> Result<Option<BatchDecider>, String> {
        let Some(partitions) = &engine.partitions else {
            return Ok(None);
        };
        let (route, partition) = match request {
            Request::Command { command, .. } => (command.route(), engine.partition_of(command)),
            Request::Query(query) => (query.route(), engine.partition_of(query)),
        };
        if matches!(route, PartitionRoute::All | PartitionRoute::Pages(_)) {
            return Err(ASKS_ALL.to_owned());
        }
        let of_commands = request.command().map(|_| M::SERVICE);
        let service = match self.decider {
            None => of_commands,
            Some(before) if before.partition != partition => {
                let [one, other] = [before.partition, partition].map(|one| partitions.name_of(one));
                return Err(format!(
                    "UNSUPPORTED partition {other} decides this and partition {one} what the batch has \
                     before it: a batch is decided by one. Send one for each, or commands without MULTI, \
                     each under a key"
                ));
            }
            Some(before) => of_commands.filter(|_| before.service == of_commands),
        };
        if service.is_none() && !partitions.holds(partition) {
            return Err(format!(
                "UNSUPPORTED a batch for a partition of another node has commands of one service and \
                 nothing else: {}",
                engine.holders_of(partition, "resp")
            ));
        }
        Ok(Some(BatchDecider { partition, service }))
    }

    /// Whether its commands go to another partition in one request.
    fn is_one_job(&self) -> bool {
        let elsewhere = self
            .decider
            .filter(|one| one.partition != PartitionNumber::FIRST);
        elsewhere.is_some_and(|one| one.service.is_some())
    }

    /// Keeps a request for `EXEC`.
    ///
    /// # Errors
    /// A sentence that says why it cannot be kept; the batch will not be executed.
    pub(super) fn queue(
        &mut self,
        engine: &mut Engine,
        action: Action,
        arguments: Arguments<'_, '_>,
    ) -> Result<(), String> {
        let judged = judge(self, engine, (action, arguments)).and_then(|decider| {
            if self.has_room(action, &arguments) {
                return Ok(decider);
            }
            Err(format!(
                "ERR a batch has at most {BATCH_COMMANDS} commands, {BATCH_READS} of them reads, \
                 and {BATCH_BYTES} bytes"
            ))
        });
        self.decider = judged.inspect_err(|_mistake| self.spoil())?;
        self.push(action, &arguments);
        Ok(())
    }

    fn push(&mut self, action: Action, arguments: &Arguments<'_, '_>) {
        let wanted = self.frames.len() + size_of(arguments) + HEAD_BYTES;
        if self.frames.capacity() < wanted {
            // A vector that grows by itself leaves its old bytes behind.
            let mut grown = Vec::with_capacity(wanted.max(2 * self.frames.capacity()));
            grown.extend_from_slice(&self.frames);
            self.frames.as_mut_slice().zeroize();
            self.frames = grown;
        }
        let mut frame = Encoder::new(&mut self.frames, Protocol::Resp2);
        frame.array(arguments.len());
        for argument in arguments.iter() {
            frame.bulk(argument);
        }
        self.commands += 1;
        self.reads += usize::from(is_read(action));
    }
}

/// The bytes of a request in a batch, at most, without its head.
fn size_of(arguments: &Arguments<'_, '_>) -> usize {
    let arguments = arguments.iter();
    arguments.map(|argument| argument.len() + HEAD_BYTES).sum()
}

/// Whether the answer may be long, however short the request is.
fn is_read(action: Action) -> bool {
    match action.call() {
        Some(call) => call.may_be_long(),
        None => !matches!(action, Action::Session(Verb::Ping | Verb::Echo)),
    }
}

/// Looks at a request of a service that is to be queued: who decides the batch then.
fn judge_request<M: Prompt>(
    batch: &MultiBatch,
    engine: &mut Engine,
    request: &Request<'_, M::Command<'_>, M::Query>,
) -> Result<Option<BatchDecider>, String>
where
    Services: Hosts<M>,
{
    let decider = batch.decider_with::<M>(engine, request)?;
    let permitted = match (decider, request) {
        (Some(one), request) if one.partition != PartitionNumber::FIRST => match request {
            // The partition knows what it is about.
            Request::Command { command, key } => engine.permit_away::<M>(*key, command).map(drop),
            Request::Query(query) => engine.permit_query_away::<M>(query).map(drop),
        },
        _ => engine.permit_request::<M>(request),
    };
    permitted.map_err(|denied| sentence_of(&denied))?;
    Ok(decider)
}

macro_rules! judges {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Looks at a request that is to be queued: who decides the batch then.
        ///
        /// # Errors
        /// A sentence that says what is wrong with it.
        fn judge(
            batch: &MultiBatch,
            engine: &mut Engine,
            (action, arguments): (Action, Arguments<'_, '_>),
        ) -> Result<Option<BatchDecider>, String> {
            match action {
                $(Action::$machine(call) => {
                    type Service = turnstile_services::$name::$machine;
                    if engine.is_away::<Service>() && engine.cluster.is_none() {
                        return Err(NO_BATCH.to_owned());
                    }
                    let request = Service::parse(call, arguments, engine.door());
                    let request = request.map_err(|invalid| format!("ERR {invalid}"))?;
                    judge_request::<Service>(batch, engine, &request)
                })+
                Action::Session(
                    Verb::Subscribe
                    | Verb::Unsubscribe
                    | Verb::PatternSubscribe
                    | Verb::PatternUnsubscribe
                    | Verb::Auth
                    | Verb::Hello,
                ) => Err("ERR this command is not allowed within MULTI".to_owned()),
                Action::Session(_) => Ok(batch.decider),
            }
        }
    };
}

turnstile_services::services!(judges);

impl Session {
    pub(super) fn transaction(
        &mut self,
        around: &mut Surroundings<'_>,
        verb: Verb,
        out: &mut Vec<u8>,
    ) -> Next {
        let sentence = match (verb, self.batch.take()) {
            (Verb::Exec, Some(batch)) => return self.execute(&batch, around, out),
            (Verb::Multi, None) => {
                self.batch = Some(MultiBatch::default());
                None
            }
            (Verb::Exec, None) => Some("ERR EXEC without MULTI"),
            (Verb::Discard, None) => Some("ERR DISCARD without MULTI"),
            (Verb::Discard, Some(_)) | (_, None) => None,
            (verb, Some(batch)) => {
                self.batch = Some(batch);
                match verb {
                    Verb::Multi => Some("ERR MULTI calls can not be nested"),
                    Verb::Watch => Some("ERR WATCH inside MULTI is not allowed"),
                    _ => None,
                }
            }
        };
        match sentence {
            None => Encoder::new(out, self.protocol).ok(),
            Some(sentence) => return self.invalid(around.engine, format_args!("{sentence}"), out),
        }
        Next::Go
    }

    /// Executes the batch: its records lie side by side in one group, so a crash keeps all or none.
    /// Commands that wait hold the reply back, but no other command of the batch: all are decided now. In a
    /// cluster they stand side by side in one entry of one partition, with the queries between them.
    fn execute(
        &mut self,
        batch: &MultiBatch,
        around: &mut Surroundings<'_>,
        out: &mut Vec<u8>,
    ) -> Next {
        if batch.spoiled {
            let sentence = "EXECABORT Transaction discarded because of previous errors.";
            return self.invalid(around.engine, format_args!("{sentence}"), out);
        }
        let is_ordered = around.engine.cluster.is_some();
        let bytes = batch.frames.len() + batch.commands * RECORD_EXTRA_BYTES;
        if !is_ordered && let Err(refused) = around.engine.reserve(bytes) {
            put_execute_error(&mut Encoder::new(out, self.protocol), refused);
            return Next::Go;
        }
        self.executing = (is_ordered && !batch.is_one_job()).then(Vec::new);
        Encoder::new(out, self.protocol).array(batch.commands);
        let mut decoder = Decoder::new();
        let mut rest = batch.frames.as_slice();
        let mut next = Next::Go;
        while let Ok(Decoded::Request { arguments, length }) = decoder.decode(rest) {
            let action = around.engine.catalogue.resolve(&arguments);
            let action = action.expect("a request is resolved before it is queued");
            // Its client may have lost a right since it was queued.
            let refused = self.refuse_unentitled(around.engine, action, out);
            let done = refused.unwrap_or_else(|| self.act(around, action, arguments, out));
            if done == Next::Close {
                next = Next::Close;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        around
            .engine
            .send_batch(self.executing.take().unwrap_or_default());
        next
    }
}
