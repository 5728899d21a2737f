//! Servers of somebody else: any RESP command and any HTTP request, each with its number in it.

mod http;
mod template;

use turnstile_client::resp::{self, ReplyLimits, Token};
use turnstile_result::Point;

pub use http::Request;
pub use template::{NUMBER, Template};

use crate::{
    Error,
    pace::{self, Answer, Garbled, Pace, ParsedAnswer, Progress, User},
};

/// The longest command or request.
const REQUEST_BYTES_MAX: usize = 16 * 1024;

/// The longest answer that is not taken before all of it is there.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Drives a RESP server with one command, in which [`NUMBER`] stands for the number of the request.
///
/// # Errors
/// As [`pace::run`], or the command is empty or too long.
pub fn run_resp(
    pace: &Pace,
    users: usize,
    command: &[String],
    progress: &mut dyn FnMut(&Progress),
) -> Result<Point, Error> {
    let arguments: Vec<Template> = command
        .iter()
        .map(|part| Template::new(part.as_bytes()))
        .collect();
    let longest: usize = arguments.iter().map(|part| part.longest() + 32).sum();
    if command.is_empty() || longest > REQUEST_BYTES_MAX {
        return Err(Error::Setting("a command has 1 to 16,000 bytes"));
    }
    let caller = |numbers| CommandUser {
        arguments: arguments.clone(),
        text: Vec::with_capacity(longest),
        numbers,
    };
    let callers = Numbers::of_all(users).map(caller).collect();
    let totals = pace::run(pace, callers, progress)?;
    Ok(totals.point("resp", pace))
}

/// Drives an HTTP server with one request, in which [`NUMBER`] stands for the number of the request.
///
/// # Errors
/// As [`pace::run`], or the request is too long.
pub fn run_http(
    pace: &Pace,
    users: usize,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Point, Error> {
    let browser = http::Browser::new(request)?;
    let browsers = Numbers::of_all(users)
        .map(|numbers| browser.clone().numbered(numbers))
        .collect();
    let totals = pace::run(pace, browsers, progress)?;
    Ok(totals.point("http", pace))
}

/// The numbers of one user's requests: those of all users are different, and follow from the order
/// of its own requests alone.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    next: u64,
    step: u64,
}

impl Numbers {
    fn of_all(users: usize) -> impl Iterator<Item = Self> {
        let step = u64::try_from(users).expect("users are at most 50,000");
        (0..step).map(move |next| Self { next, step })
    }

    const fn take(&mut self) -> u64 {
        let number = self.next;
        self.next += self.step;
        number
    }
}

/// Sends one command over and over, and takes any reply for an answer.
#[derive(Clone, Debug)]
struct CommandUser {
    arguments: Vec<Template>,
    /// One argument with its number.
    text: Vec<u8>,
    numbers: Numbers,
}

impl User for CommandUser {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = &["command"];

    const REQUEST_BYTES_MAX: usize = REQUEST_BYTES_MAX;

    const ANSWER_BYTES_MAX: usize = ANSWER_BYTES_MAX;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let number = self.numbers.take();
        resp::put_count(out, b'*', self.arguments.len());
        for argument in &self.arguments {
            self.text.clear();
            argument.put(number, &mut self.text);
            resp::put_bulk(out, &self.text);
        }
        Some(())
    }

    fn is_replaced(&self) -> bool {
        true
    }

    fn operation((): &()) -> usize {
        0
    }

    fn hear<'a>(&mut self, (): &(), bytes: &'a [u8]) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let reply = resp::reply(bytes, &ReplyLimits::REPLY).map_err(|_malformed| Garbled)?;
        let Some((first, length)) = reply else {
            return Ok(None);
        };
        let answer = match first {
            Token::Error(text) => Answer::Error(crate::door::code(text)),
            _ => Answer::Done,
        };
        Ok(Some(ParsedAnswer { length, answer }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_of_all_users_has_a_number_of_its_own() {
        let mut all: Vec<u64> = Numbers::of_all(3)
            .flat_map(|mut numbers| [numbers.take(), numbers.take()])
            .collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_command_is_sent_with_its_number() {
        let mut caller = CommandUser {
            arguments: [&b"SET"[..], b"key:__n__", b"__n__"]
                .map(Template::new)
                .to_vec(),
            text: Vec::new(),
            numbers: Numbers { next: 7, step: 10 },
        };
        let mut out = Vec::new();
        caller.ask(&mut out).unwrap();
        caller.ask(&mut out).unwrap();
        let both = "*3\r\n$3\r\nSET\r\n$5\r\nkey:7\r\n$1\r\n7\r\n\
            *3\r\n$3\r\nSET\r\n$6\r\nkey:17\r\n$2\r\n17\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), both);
        let error = caller.hear(&(), b"-ERR no\r\n").unwrap().unwrap();
        assert_eq!((error.length, error.answer), (9, Answer::Error(b"ERR")));
        assert_eq!(caller.hear(&(), b"$3\r\nab"), Ok(None));
        assert_eq!(caller.hear(&(), b"nonsense\r\n"), Err(Garbled));
    }

    #[test]
    fn a_command_has_some_words() {
        let pace = Pace::closed(
            std::net::SocketAddr::from(([127, 0, 0, 1], 1)),
            std::time::Duration::ZERO,
            std::time::Duration::from_secs(1),
        );
        for command in [vec![], vec!["x".repeat(REQUEST_BYTES_MAX)]] {
            let error = run_resp(&pace, 1, &command, &mut |_progress| {}).unwrap_err();
            assert!(matches!(error, Error::Setting(_)), "{error}");
        }
    }
}
