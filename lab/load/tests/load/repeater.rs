//! A user that says the same all the time.

use turnstile_client::resp::{self, ReplyLimits, Token};
use turnstile_load::pace::{Answer, Garbled, ParsedAnswer, User};

/// Says one command of RESP over and over, and takes any reply for an answer.
#[derive(Clone, Debug)]
pub(crate) struct Repeater {
    request: Vec<u8>,
}

impl Repeater {
    pub(crate) fn new(command: &str) -> Self {
        let mut request = Vec::new();
        resp::put_command(&mut request, &[command.as_bytes()]);
        Self { request }
    }
}

impl User for Repeater {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = &["command"];

    const REQUEST_BYTES_MAX: usize = 4_096;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice(&self.request);
        Some(())
    }

    fn operation((): &()) -> usize {
        0
    }

    fn hear<'a>(&mut self, (): &(), bytes: &'a [u8]) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let reply = resp::reply(bytes, &ReplyLimits::REPLY).map_err(|_malformed| Garbled)?;
        Ok(reply.map(|(first, length)| {
            let answer = match first {
                Token::Error(text) => Answer::Error(text),
                _ => Answer::Done,
            };
            ParsedAnswer { length, answer }
        }))
    }
}
