//! `MULTI`: requests that are kept and executed as one.

use turnstile_exchange::Exchange;
use turnstile_resp::{
    Arguments, Decoded, Decoder, Encoder, Protocol,
    catalogue::{Action, Verb},
    exchange, games, rooms, travel,
};
use turnstile_rooms::Rooms;

use super::{Next, Session, Surroundings, put_execute_error};
use crate::{
    core::{engine::Engine, remote::Housed as _},
    limits::{BATCH_BYTES, BATCH_COMMANDS, BATCH_READS},
    registry::plain_services,
};

/// What a record adds to a command's own bytes, at most: prefix, principal, and fixed fields.
const RECORD_EXTRA_BYTES: usize = 512;

/// A database decides commands one by one: what would hold a batch together is the journal.
const NO_BATCH: &str = "UNSUPPORTED a database decides this service, which has no batches there";

/// The requests of one batch, as they will be executed. Each has been understood when it was
/// queued: a batch with a mistake in it is not executed at all.
#[derive(Debug, Default)]
pub(super) struct Batch {
    frames: Vec<u8>,
    commands: usize,
    reads: usize,
    spoiled: bool,
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
        let bytes: usize = arguments.iter().map(|argument| argument.len() + 16).sum();
        if is_read(action) && self.reads == BATCH_READS {
            return false;
        }
        self.commands < BATCH_COMMANDS && self.frames.len() + bytes <= BATCH_BYTES
    }

    fn push(&mut self, action: Action, arguments: &Arguments<'_, '_>) {
        let mut frame = Encoder::new(&mut self.frames, Protocol::Resp2);
        frame.array(arguments.len());
        for argument in arguments.iter() {
            frame.bulk(argument);
        }
        self.commands += 1;
        self.reads += usize::from(is_read(action));
    }
}

/// Whether the answer may be long, however short the request is.
fn is_read(action: Action) -> bool {
    match action.call() {
        Some(call) => call.may_be_long(),
        None => !matches!(action, Action::Session(Verb::Ping | Verb::Echo)),
    }
}

macro_rules! plain {
    ($($name:ident: $types:ident::$machine:ident),+ $(,)?) => {
        /// What is wrong with a request to a service of which nothing is special.
        fn plain_mistake(action: Action, arguments: Arguments<'_, '_>) -> Option<String> {
            let invalid = match action {
                $(Action::$machine(call) => turnstile_resp::$name::parse(call, arguments).err(),)+
                _ => None,
            };
            invalid.map(|invalid| format!("ERR {invalid}"))
        }
    };
}

plain_services!(plain);

impl Session {
    /// Keeps a request for `EXEC`.
    pub(super) fn queue(
        &mut self,
        engine: &Engine,
        action: Action,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let mistake = match action {
            Action::Rooms(_) if Rooms::remote(&engine.remotes).is_some() => {
                Some(NO_BATCH.to_owned())
            }
            Action::Exchange(_) if Exchange::remote(&engine.remotes).is_some() => {
                Some(NO_BATCH.to_owned())
            }
            Action::Rooms(verb) => rooms::parse(verb, arguments, engine.door())
                .err()
                .map(|invalid| format!("ERR {invalid}")),
            Action::Exchange(verb) => exchange::parse(verb, arguments)
                .err()
                .map(|invalid| format!("ERR {invalid}")),
            Action::Games(verb) => games::parse(verb, arguments)
                .err()
                .map(|invalid| format!("ERR {invalid}")),
            Action::Travel(verb) => travel::parse(verb, arguments)
                .err()
                .map(|invalid| format!("ERR {invalid}")),
            Action::Session(
                Verb::Subscribe
                | Verb::Unsubscribe
                | Verb::PatternSubscribe
                | Verb::PatternUnsubscribe
                | Verb::Hello,
            ) => Some("ERR this command is not allowed within MULTI".to_owned()),
            action => plain_mistake(action, arguments),
        };
        let Some(batch) = &mut self.batch else {
            unreachable!("requests are queued within MULTI only");
        };
        let mistake = mistake.or_else(|| {
            (!batch.has_room(action, &arguments)).then(|| {
                format!(
                    "ERR a batch has at most {BATCH_COMMANDS} commands, {BATCH_READS} of them reads, \
                     and {BATCH_BYTES} bytes"
                )
            })
        });
        if let Some(mistake) = mistake {
            batch.spoil();
            return self.invalid(engine, format_args!("{mistake}"), out);
        }
        batch.push(action, &arguments);
        Encoder::new(out, self.protocol).simple("QUEUED");
        Next::Go
    }

    pub(super) fn transaction(
        &mut self,
        around: &mut Surroundings<'_>,
        verb: Verb,
        out: &mut Vec<u8>,
    ) -> Next {
        let sentence = match (verb, self.batch.is_some()) {
            (Verb::Exec, true) => return self.execute(around, out),
            (Verb::Multi, false) => {
                self.batch = Some(Batch::default());
                None
            }
            (Verb::Discard, true) => {
                self.batch = None;
                None
            }
            (Verb::Multi, true) => Some("ERR MULTI calls can not be nested"),
            (Verb::Watch, true) => Some("ERR WATCH inside MULTI is not allowed"),
            (Verb::Exec, false) => Some("ERR EXEC without MULTI"),
            (Verb::Discard, false) => Some("ERR DISCARD without MULTI"),
            _ => None,
        };
        match sentence {
            None => Encoder::new(out, self.protocol).ok(),
            Some(sentence) => return self.invalid(around.engine, format_args!("{sentence}"), out),
        }
        Next::Go
    }

    /// Executes the batch: its records lie side by side in one group, so a crash keeps all or none.
    /// Commands that wait hold the reply back, but no other command of the batch: all are decided now.
    fn execute(&mut self, around: &mut Surroundings<'_>, out: &mut Vec<u8>) -> Next {
        let Some(batch) = self.batch.take() else {
            unreachable!("a batch is executed within MULTI only");
        };
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
