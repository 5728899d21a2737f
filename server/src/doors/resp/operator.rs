//! What the tools of Redis ask of any server: `SCAN`, `MONITOR`, `SLOWLOG`, `COMMAND GETKEYS`.

use turnstile_resp::{
    Arguments, Encoder,
    catalogue::{self, Verb},
};

use turnstile_http::SecurityEventKind;

use super::{Next, Session};
use crate::core::engine::Engine;

const MONITOR_REFUSED: &str = "ERR MONITOR is refused: requests carry id numbers in clear; SUBSCRIBE \
                               shows what happens, SLOWLOG GET what was slow";

impl Session {
    /// Answers what may be an error, whoever asks.
    pub(super) fn operate(
        &self,
        engine: &mut Engine,
        verb: Verb,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        match verb {
            Verb::Scan => match check_scan(arguments) {
                Ok(()) => put_nothing_found(&mut Encoder::new(out, self.protocol)),
                Err(sentence) => return self.invalid(engine, format_args!("{sentence}"), out),
            },
            Verb::SlowLogGet => match entries_asked(arguments) {
                Some(most) => engine
                    .slow_log
                    .put(most, &mut Encoder::new(out, self.protocol)),
                None => {
                    let sentence = "ERR count should be greater than or equal to -1";
                    return self.invalid(engine, format_args!("{sentence}"), out);
                }
            },
            Verb::SlowLogLen => {
                let count = engine.slow_log.len();
                let count = u64::try_from(count).expect("at most 128");
                Encoder::new(out, self.protocol).integer(count);
            }
            Verb::SlowLogReset => {
                engine.slow_log.clear();
                let by = Some(engine.caller.principal);
                let cleared = SecurityEventKind::SlowLogCleared;
                engine.security.operated(cleared, by, None);
                Encoder::new(out, self.protocol).ok();
            }
            Verb::Monitor => return self.invalid(engine, format_args!("{MONITOR_REFUSED}"), out),
            _ => {
                let request = arguments.behind(2);
                let sentence = catalogue::keyless(&engine.catalogue, &request);
                return self.invalid(engine, format_args!("ERR {sentence}"), out);
            }
        }
        Next::Go
    }
}

/// How many entries of the slow log are asked for: 10 unless it is said, all with -1.
fn entries_asked(arguments: Arguments<'_, '_>) -> Option<usize> {
    match arguments.get(2) {
        None => Some(10),
        Some(b"-1") => Some(usize::MAX),
        Some(word) => std::str::from_utf8(word).ok()?.parse().ok(),
    }
}

/// Whether a scan is written as Redis wants it, although there is nothing to be found.
fn check_scan(arguments: Arguments<'_, '_>) -> Result<(), &'static str> {
    let cursor = arguments.get(1).unwrap_or_default();
    if cursor.is_empty() || !cursor.iter().all(u8::is_ascii_digit) {
        return Err("ERR invalid cursor");
    }
    let options = arguments.behind(2);
    let are_known = options.iter().step_by(2).all(|option| {
        ["MATCH", "COUNT", "TYPE"]
            .iter()
            .any(|known| option.eq_ignore_ascii_case(known.as_bytes()))
    });
    if are_known && options.len().is_multiple_of(2) {
        Ok(())
    } else {
        Err("ERR syntax error")
    }
}

/// The last page, and empty.
fn put_nothing_found(reply: &mut Encoder<'_>) {
    reply.array(2);
    reply.text("0");
    reply.array(0);
}
