//! The teller: it tells a distant scores server what matches came to.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use turnstile_duel::{Report, Reported, Reporter, Triple, Verdict};
use turnstile_games::{Command, MatchResult, Standing, Tally};
use turnstile_parcels::{Commands, put_command};

use crate::{
    core::{conversation::Dialed, engine::Engine},
    doors::duel::{DuelRefusal, number_of},
    limits::{DIAL_REST_MAX, DIAL_REST_MIN, RESULTS_OUTPUT_BYTES},
};

/// What a distant scores server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoresWire {
    /// Results with numbers: each is counted once, whatever happens to either process.
    Numbered,
    /// The ancestor's wire, on which a result has no name: one that was sent when the connection
    /// broke is sent again, and may be counted twice.
    Ancestor,
}

/// The one connection to the scores.
///
/// The results themselves are kept by the machine until they are acknowledged; here is only how far
/// they have been sent. With each new connection everything is sent again.
#[derive(Debug)]
pub(crate) struct ScoresConnection {
    address: SocketAddr,
    wire: ScoresWire,
    place: Option<usize>,
    line: Line,
    dials_at: Instant,
    dials: u64,
    /// How long it rests before the next dial.
    rest: Duration,
}

#[derive(Debug)]
enum Line {
    /// The last result that was put on the connection.
    Numbered {
        commands: Commands,
        sent: u64,
    },
    Ancestor(Reporter),
}

impl ScoresConnection {
    pub(crate) fn new(address: SocketAddr, wire: ScoresWire) -> Self {
        Self {
            address,
            wire,
            place: None,
            line: Line::Ancestor(Reporter::default()),
            dials_at: Instant::now(),
            dials: 0,
            rest: DIAL_REST_MIN,
        }
    }

    /// A connection has ended, be it the one to the scores.
    pub(crate) fn lose_at(&mut self, place: usize) {
        if self.place == Some(place) {
            self.lose(Instant::now());
        }
    }

    /// Takes what the scores say at the start of `bytes`: what the arena is to note of it and its length,
    /// or nothing while it is not whole.
    pub(super) fn hear(
        &mut self,
        engine: &Engine,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<(Option<Command>, usize)>, DuelRefusal> {
        Ok(match &mut self.line {
            Line::Numbered { commands, .. } => match commands.next(bytes)? {
                None => None,
                Some((command @ Command::Acknowledge { .. }, length)) => {
                    Some((Some(command), length))
                }
                Some(_) => return Err(DuelRefusal::OtherWay),
            },
            Line::Ancestor(reporter) => reporter.hear(bytes)?.map(|(reported, length)| {
                let acknowledged = match reported {
                    Reported::Counted(parcel) => {
                        out.extend_from_slice(parcel.bytes());
                        None
                    }
                    Reported::Triples(triples) => {
                        let oldest = engine.games().unreported(0).next();
                        let number = oldest.map_or(0, |parcel| parcel.number);
                        let standings = triples.map(standing);
                        Some(Command::Acknowledge { number, standings })
                    }
                };
                (acknowledged, length)
            }),
        })
    }

    /// The scores have taken a result: the next dial is soon again.
    pub(super) const fn note_success(&mut self) {
        self.rest = DIAL_REST_MIN;
    }

    /// A number for this dial that no client has: those count from 1.
    pub(super) const fn id(&self) -> u64 {
        u64::MAX - self.dials
    }
}

impl Dialed for ScoresConnection {
    fn place(&self) -> Option<usize> {
        self.place
    }

    fn dials(&self, now: Instant) -> Option<SocketAddr> {
        let is_due = self.place.is_none() && self.dials_at <= now;
        is_due.then_some(self.address)
    }

    fn until_due(&self, now: Instant) -> Option<Duration> {
        let waits = self.place.is_none();
        waits.then(|| self.dials_at.saturating_duration_since(now))
    }

    fn begin(&mut self, place: usize, out: &mut Vec<u8>) {
        self.place = Some(place);
        self.dials += 1;
        self.line = match self.wire {
            ScoresWire::Numbered => Line::Numbered {
                commands: Commands::dialing(out),
                sent: 0,
            },
            ScoresWire::Ancestor => Line::Ancestor(Reporter::default()),
        };
    }

    fn lose(&mut self, now: Instant) {
        if let Line::Ancestor(reporter) = &self.line
            && reporter.is_in_doubt()
        {
            tracing::warn!("the scores did not confirm a result: sending it again");
        }
        self.place = None;
        self.dials_at = now + self.rest;
        self.rest = (self.rest * 2).min(DIAL_REST_MAX);
    }

    fn put(&mut self, engine: &Engine, owed: usize, out: &mut Vec<u8>) -> bool {
        let games = engine.games();
        let begun = out.len();
        match &mut self.line {
            Line::Numbered { sent, .. } => {
                let end = begun + RESULTS_OUTPUT_BYTES.saturating_sub(owed);
                for parcel in games.unreported(*sent) {
                    if out.len() >= end {
                        break;
                    }
                    *sent = parcel.number;
                    put_command(out, &Command::Deliver(parcel));
                }
            }
            Line::Ancestor(reporter) if reporter.is_idle() => {
                let oldest = games.unreported(0).next();
                if let Some(report) = oldest.and_then(|parcel| report(&parcel.result)) {
                    out.extend_from_slice(reporter.report(report).bytes());
                }
            }
            Line::Ancestor(_) => {}
        }
        out.len() > begun
    }
}

/// A result in the words of the wire; none where a player's name is no number.
fn report(result: &MatchResult) -> Option<Report> {
    let [first, second] = result.players.each_ref().map(number_of);
    Some(Report {
        verdict: match result.verdict {
            turnstile_games::Verdict::FirstWon => Verdict::FirstWon,
            turnstile_games::Verdict::SecondWon => Verdict::SecondWon,
            turnstile_games::Verdict::Drawn => Verdict::Drawn,
        },
        first: first?,
        second: second?,
    })
}

fn standing(triple: Triple) -> Standing {
    let tally = Tally::of(triple.played(), triple.won(), triple.lost());
    Standing {
        tally: tally.expect("who has won and lost so often has played as often"),
        ratings: None,
    }
}
