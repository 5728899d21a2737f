//! One RESP command, over and over: to drive any server by the same loop.

use std::{fmt, net::SocketAddr, time::Duration};

use turnstile_client::resp::{self, ReplyLimits, Token};
use turnstile_stats::{
    Summary,
    units::{Nanos, PerSecond},
};

use crate::{
    Error,
    pace::{self, Answer, Figures, Garbled, Pace, ParsedAnswer, Progress, User},
};

/// What to drive, and how hard.
#[derive(Clone, Debug)]
pub struct Config {
    /// The RESP server.
    pub address: SocketAddr,
    /// Connections.
    pub users: usize,
    /// Generator threads.
    pub threads: usize,
    /// Requests under way on each connection.
    pub pipeline: usize,
    /// Before the measured window.
    pub warm_up: Duration,
    /// The measured window.
    pub duration: Duration,
    /// The command with its arguments.
    pub command: Vec<Vec<u8>>,
}

/// The figures of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    pub figures: Figures,
    /// Response times in nanoseconds.
    pub times: Summary,
    /// Error replies, over the whole run.
    pub errors: u64,
    /// Requests that were never answered.
    pub unknown: u64,
}

/// Runs it.
///
/// # Errors
/// As [`pace::run`].
pub fn run(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    let pace = Pace {
        threads: config.threads,
        pipeline: config.pipeline,
        ..Pace::closed(config.address, config.warm_up, config.duration)
    };
    let arguments: Vec<&[u8]> = config.command.iter().map(Vec::as_slice).collect();
    let repeater = Repeater::new(&arguments)?;
    let users = vec![repeater; config.users];
    let totals = pace::run(&pace, users, progress)?;
    let operation = &totals.tally.operations[0];
    Ok(Report {
        figures: totals.figures(),
        times: totals.times().summary(),
        errors: operation.errors.total(),
        unknown: operation.unknown,
    })
}

/// A user that says the same all the time, and takes any reply for an answer.
#[derive(Clone, Debug)]
pub struct Repeater {
    request: Vec<u8>,
}

impl Repeater {
    /// A user that says this command.
    ///
    /// # Errors
    /// The command is empty or longer than 4 KiB.
    pub fn new(arguments: &[&[u8]]) -> Result<Self, Error> {
        let mut request = Vec::new();
        resp::put_command(&mut request, arguments);
        if arguments.is_empty() || request.len() > Self::REQUEST_BYTES_MAX {
            return Err(Error::Setting("a command has 1 to 4,096 bytes on the wire"));
        }
        Ok(Self { request })
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = &self.figures;
        writeln!(f, "{}", Summary::HEAD)?;
        writeln!(f, "{}", self.times)?;
        writeln!(
            f,
            "{} requests/s, generator {} CPU each, {} errors, {} unknown",
            PerSecond(figures.throughput),
            Nanos(figures.cpu_per_request),
            self.errors,
            self.unknown
        )?;
        write!(f, "{}", figures.little)
    }
}
