//! `MULTI`: requests that are kept and executed as one.

use std::fmt;

use turnstile_resp::{
    Arguments, Decoded, Decoder, Encoder, Protocol, Spoken as _,
    catalogue::{Action, Verb},
};
use zeroize::Zeroize as _;

use super::{Next, Session, Surroundings, admission::sentence_of, put_execute_error};
use crate::{
    core::engine::Engine,
    limits::{BATCH_BYTES, BATCH_COMMANDS, BATCH_READS},
};

/// What a record adds to a command's own bytes, at most: prefix, principal, and fixed fields.
const RECORD_EXTRA_BYTES: usize = 512;

/// What stands before a request or an argument, and behind it, at most.
const HEAD_BYTES: usize = 16;

/// A database decides commands one by one: what would hold a batch together is the journal.
const NO_BATCH_IN_CLUSTER: &str = "UNSUPPORTED a node of a cluster has no batches yet";

const NO_BATCH: &str = "UNSUPPORTED a database decides this service, which has no batches there";

/// The requests of one batch, as they will be executed. Each has been understood when it was
/// queued: a batch with a mistake in it is not executed at all.
///
/// They carry id numbers in clear, so their memory is overwritten before it is given back.
#[derive(Default)]
pub(super) struct Batch {
    frames: Vec<u8>,
    commands: usize,
    reads: usize,
    spoiled: bool,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} commands)", self.commands)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.frames.as_mut_slice().zeroize();
    }
}

impl Batch {
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
        let mistake = mistake(engine, action, arguments).or_else(|| {
            (!self.has_room(action, &arguments)).then(|| {
                format!(
                    "ERR a batch has at most {BATCH_COMMANDS} commands, {BATCH_READS} of them reads, \
                     and {BATCH_BYTES} bytes"
                )
            })
        });
        if let Some(mistake) = mistake {
            self.spoil();
            return Err(mistake);
        }
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

macro_rules! mistakes {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// What is wrong with a request that is to be queued.
        fn mistake(
            engine: &mut Engine,
            action: Action,
            arguments: Arguments<'_, '_>,
        ) -> Option<String> {
            match action {
                $(Action::$machine(call) => {
                    type Service = turnstile_services::$name::$machine;
                    if engine.is_away::<Service>() {
                        let is_node = engine.cluster.is_some();
                        let reason = if is_node { NO_BATCH_IN_CLUSTER } else { NO_BATCH };
                        return Some(reason.to_owned());
                    }
                    let request = match Service::parse(call, arguments, engine.door()) {
                        Ok(request) => request,
                        Err(invalid) => return Some(format!("ERR {invalid}")),
                    };
                    let permitted = engine.permit_request::<Service>(&request);
                    permitted.err().map(|denied| sentence_of(&denied))
                })+
                Action::Session(
                    Verb::Subscribe
                    | Verb::Unsubscribe
                    | Verb::PatternSubscribe
                    | Verb::PatternUnsubscribe
                    | Verb::Auth
                    | Verb::Hello,
                ) => Some("ERR this command is not allowed within MULTI".to_owned()),
                Action::Session(_) => None,
            }
        }
    };
}

turnstile_services::services!(mistakes);

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
                self.batch = Some(Batch::default());
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
    /// Commands that wait hold the reply back, but no other command of the batch: all are decided now.
    fn execute(&mut self, batch: &Batch, around: &mut Surroundings<'_>, out: &mut Vec<u8>) -> Next {
        if batch.spoiled {
            let sentence = "EXECABORT Transaction discarded because of previous errors.";
            return self.invalid(around.engine, format_args!("{sentence}"), out);
        }
        let bytes = batch.frames.len() + batch.commands * RECORD_EXTRA_BYTES;
        if let Err(refused) = around.engine.reserve(bytes) {
            put_execute_error(&mut Encoder::new(out, self.protocol), refused);
            return Next::Go;
        }
        Encoder::new(out, self.protocol).array(batch.commands);
        let mut decoder = Decoder::new();
        let mut rest = batch.frames.as_slice();
        let mut next = Next::Go;
        while let Ok(Decoded::Request { arguments, length }) = decoder.decode(rest) {
            let action = around.engine.catalogue.resolve(&arguments);
            let action = action.expect("a request is resolved before it is queued");
            if self.act(around, action, arguments, out) == Next::Close {
                next = Next::Close;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        next
    }
}
