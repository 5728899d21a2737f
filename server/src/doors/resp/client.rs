//! `CLIENT`: what connections are called and what they want.

use std::fmt::Write;

use turnstile_resp::{Arguments, Encoder, catalogue::Verb};

use super::{Next, ReplyMode, Session, Surroundings, filter::ClientFilter};
use crate::{
    core::{conversation::ListedClient, engine::Engine, request_log::TraceParent},
    limits::LABEL_BYTES,
};

/// A word by which a client calls itself: visible ASCII without blanks.
pub(super) fn label(word: &[u8]) -> Result<String, &'static str> {
    if word.len() > LABEL_BYTES || !word.iter().all(u8::is_ascii_graphic) {
        return Err("ERR names are at most 256 visible characters without spaces or newlines");
    }
    Ok(String::from_utf8_lossy(word).into_owned())
}

impl Session {
    pub(super) fn client(
        &mut self,
        around: &mut Surroundings<'_>,
        verb: Verb,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let mut reply = Encoder::new(out, self.protocol);
        match verb {
            Verb::ClientSetName | Verb::ClientSetInfo => match self.rename(verb, arguments) {
                Ok(()) => reply.ok(),
                Err(sentence) => {
                    return self.invalid(around.engine, format_args!("{sentence}"), out);
                }
            },
            Verb::ClientGetName if self.name.is_empty() => reply.null(),
            Verb::ClientGetName => reply.text(&self.name),
            Verb::ClientId => reply.integer(self.id),
            Verb::ClientNoEvict | Verb::ClientNoTouch => match arguments.get(2) {
                Some(word) if is_one_of(word, &["ON", "OFF"]) => reply.ok(),
                _ => return self.invalid(around.engine, format_args!("ERR syntax error"), out),
            },
            Verb::ClientTraceParent => {
                match TraceParent::parse(arguments.get(2).unwrap_or_default()) {
                    Ok(trace) => {
                        self.trace = Some(trace);
                        reply.ok();
                    }
                    Err(invalid) => {
                        return self.invalid(around.engine, format_args!("ERR {invalid}"), out);
                    }
                }
            }
            Verb::ClientInfo => reply.text(&line(
                self.listed(around.engine.caller.principal),
                around.engine,
            )),
            Verb::ClientKill => return self.kill(around, arguments, out),
            _ => match ClientFilter::parse(arguments, false) {
                Ok(filter) => reply.text(&self.lines(around, &filter)),
                Err(sentence) => {
                    return self.invalid(around.engine, format_args!("{sentence}"), out);
                }
            },
        }
        Next::Go
    }

    /// `CLIENT LIST`: a line for each connection that is meant, its own first.
    fn lines(&self, around: &Surroundings<'_>, filter: &ClientFilter<'_>) -> String {
        let engine = &*around.engine;
        let others = around.others.listed().into_iter();
        let own = (!filter.skips_me()).then(|| self.listed(engine.caller.principal));
        own.into_iter()
            .chain(others.map(|(_, client)| client))
            .filter(|client| filter.fits(client, engine.now()))
            .map(|client| line(client, engine))
            .collect()
    }

    /// `CLIENT KILL`: others are closed at once, whatever they are owed; the connection itself when
    /// it has its answer.
    fn kill(
        &self,
        around: &mut Surroundings<'_>,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let by_address = arguments.len() == 3;
        let filter = if by_address {
            Ok(ClientFilter::of_address(
                arguments.get(2).unwrap_or_default(),
            ))
        } else {
            ClientFilter::parse(arguments, true)
        };
        let filter = match filter {
            Ok(filter) => filter,
            Err(sentence) => return self.invalid(around.engine, format_args!("{sentence}"), out),
        };
        let (now, own) = (around.engine.now(), around.engine.caller.principal);
        let others = around.others.listed().into_iter();
        let meant = others.filter(|(_, client)| filter.fits(client, now));
        let before = around.killed.len();
        around.killed.extend(meant.map(|(place, _)| place));
        let is_own = !filter.skips_me() && filter.fits(&self.listed(own), now);
        let count = around.killed.len() - before + usize::from(is_own);
        if by_address && count == 0 {
            return self.invalid(around.engine, format_args!("ERR No such client"), out);
        }
        let mut reply = Encoder::new(out, self.protocol);
        if by_address {
            reply.ok();
        } else {
            reply.integer(u64::try_from(count).expect("there are fewer connections than ports"));
        }
        if is_own { Next::Close } else { Next::Go }
    }

    fn rename(&mut self, verb: Verb, arguments: Arguments<'_, '_>) -> Result<(), &'static str> {
        let word = |place| label(arguments.get(place).unwrap_or_default());
        if verb == Verb::ClientSetName {
            self.name = word(2)?;
            return Ok(());
        }
        match arguments.get(2) {
            Some(attribute) if attribute.eq_ignore_ascii_case(b"LIB-NAME") => {
                self.library = word(3)?;
            }
            Some(attribute) if attribute.eq_ignore_ascii_case(b"LIB-VER") => {
                self.library_version = word(3)?;
            }
            _ => return Err("ERR Unrecognized option: LIB-NAME and LIB-VER are known"),
        }
        Ok(())
    }

    /// `CLIENT REPLY`: the only request that is answered by what it asks for.
    pub(super) fn reply_mode(
        &mut self,
        engine: &Engine,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) {
        let word = arguments.get(2).unwrap_or_default();
        if word.eq_ignore_ascii_case(b"ON") {
            self.replies = ReplyMode::On;
            Encoder::new(out, self.protocol).ok();
        } else if word.eq_ignore_ascii_case(b"OFF") {
            self.replies = ReplyMode::Off;
        } else if word.eq_ignore_ascii_case(b"SKIP") {
            if self.replies == ReplyMode::On {
                self.replies = ReplyMode::Skip;
            }
        } else {
            self.invalid(engine, format_args!("ERR syntax error"), out);
        }
    }
}

/// One line of `CLIENT LIST`, in the words that Redis tools read.
fn line(client: ListedClient<'_>, engine: &Engine) -> String {
    let mut line = String::with_capacity(192);
    let age = client.age_s(engine.now());
    let ListedClient {
        id,
        peer,
        principal,
        name,
        library,
        library_version,
        protocol,
        channels,
        patterns,
        ..
    } = client;
    writeln!(
        line,
        "id={id} addr={peer} name={name} age={age} db=0 sub={channels} psub={patterns} \
         user={principal} lib-name={library} lib-ver={library_version} resp={protocol}",
    )
    .expect("writing to memory does not fail");
    line
}

pub(super) fn is_one_of(word: &[u8], allowed: &[&str]) -> bool {
    allowed
        .iter()
        .any(|allowed| word.eq_ignore_ascii_case(allowed.as_bytes()))
}
