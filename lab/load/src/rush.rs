//! Many callers who want few rooms at the same instant: each room must be sold once, and where the server
//! has a waiting room, the callers must be let in in the order in which they came.

use std::{fmt, sync::Arc, time::Duration};

use turnstile_check::{
    rooms::{Final, Place, Table, Wish as Wanted},
    witnesses,
};
use turnstile_client::{Connection, ServerAddress, resp::Value};
use turnstile_result::Operation;
use turnstile_stats::units::Count;

use crate::{
    Error, LoadReport, Verdict,
    check::{self, When},
    door::{self, refusal},
    error::unfit,
    line::LineWatch,
    pace::{Length, Pace, Progress},
    point,
    reply::IN_LINE,
    rooms::{self, RoomNames, RoomVisitor, What, plan::Queued},
};

/// How long the rush may take, beside the time in line, before what is not answered counts as unknown.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most rooms of a rush: each is listed afterwards.
const ROOMS_MAX: usize = 1_000;

/// The most callers of a rush: ten times those whom a server keeps in line.
const CLIENTS_MAX: usize = 1_000_000;

/// The number of the first room: it is its name, too.
const FIRST_ROOM: u32 = 101;

pub use crate::line::LineFigures;

/// Who wants what.
#[derive(Clone, Debug)]
pub struct Config {
    /// The RESP door.
    pub address: ServerAddress,
    /// Rooms for sale, in a property made for this rush.
    pub rooms: usize,
    /// Callers; each asks until it is let in, with a key of its own.
    pub clients: usize,
    /// Connections that the callers share; more than there are callers are not made. All connect first.
    pub connections: usize,
    /// Generator threads.
    pub threads: usize,
    pub wish: Wish,
}

/// What each client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Any room of the property.
    Any,
    /// Any room of the one type.
    Type,
    /// A room by name: the clients take the names in turn.
    Named,
}

/// How the rush ended.
#[derive(Clone, Debug)]
pub struct Report {
    pub property: String,
    /// Rooms that were to be sold.
    pub rooms: u64,
    /// What the callers saw of the line, if there was one.
    pub line: LineFigures,
    /// Callers who were still in line when the time was over.
    pub left: u64,
    pub load: LoadReport<check::Proof>,
}

impl Config {
    /// How the callers ask a server that lets in so many a second; 0: as many as come.
    #[must_use]
    pub fn pace(&self, rate: u64) -> Pace {
        let clients = u64::try_from(self.clients).expect("callers are bounded");
        let line = Duration::from_secs(clients.checked_div(rate).unwrap_or(0));
        Pace {
            threads: self.threads,
            length: Length::Fixed {
                warm_up: Duration::ZERO,
                duration: PATIENCE + line + line / 4,
            },
            ..Pace::closed(&self.address, Duration::ZERO, PATIENCE)
        }
    }

    fn check(&self) -> Result<(), Error> {
        if self.rooms == 0 || self.rooms > ROOMS_MAX {
            return Err(Error::Setting("a rush is for 1 to 1,000 rooms"));
        }
        if self.clients == 0 || self.clients > CLIENTS_MAX {
            return Err(Error::Setting("a rush has 1 to 1,000,000 clients"));
        }
        Ok(())
    }

    /// The callers, each on a connection by its number.
    fn callers(
        &self,
        connection: usize,
        connections: usize,
    ) -> impl Iterator<Item = (usize, What)> {
        let numbers = (connection..self.clients).step_by(connections);
        numbers.map(|number| (number, self.what(number)))
    }

    /// What the client with this number asks.
    fn what(&self, number: usize) -> What {
        let count = |count: usize| u32::try_from(count).expect("clients and rooms are bounded");
        let id = 300_000_000_000 + u64::from(count(number));
        let wish = Wanted {
            first: FIRST_ROOM,
            rooms: count(self.rooms),
            night: 0,
            nights: 1,
        };
        match self.wish {
            Wish::Any | Wish::Type => What::Pick {
                wish,
                by_type: self.wish == Wish::Type,
                id,
            },
            Wish::Named => What::Book {
                place: Place {
                    room: FIRST_ROOM + count(number % self.rooms),
                    night: 0,
                    nights: 1,
                },
                id,
                guest: 0,
            },
        }
    }
}

/// Makes a property, lets the clients loose, and looks at what was sold.
///
/// # Errors
/// The rush could not be made. What the server did wrong is in the report.
pub fn run(config: &Config, mut progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    config.check()?;
    let mut door = door::connect(&config.address)?;
    let (_, unproven) = door::info(&mut door)?;
    // A position never comes twice, so nobody has made this property before.
    let property = format!("rush-{}", unproven.position);
    prepare(&mut door, &property, config.rooms)?;
    let (server, before) = door::info(&mut door)?;
    let facts = door::facts(&mut door, "rooms")?;
    // Another server has no waiting room, or none that it tells of.
    let rate = facts.count("waiting_room_rate").unwrap_or(0);
    let rooms = u32::try_from(config.rooms).expect("rooms are at most 1,000");
    let end = FIRST_ROOM + rooms;
    let names = RoomNames::new("", 1);
    let connections = config.connections.min(config.clients);
    let (witnesses, chronicle) = witnesses(connections, 1, before.position);
    let watch = Arc::new(LineWatch::new(rate));
    let clients = (0..).zip(witnesses).map(|(connection, witness)| {
        let wants = config.callers(connection, connections);
        let plan = Queued::new(&property, wants, Arc::clone(&watch));
        RoomVisitor::new(&property, names.clone(), plan, Some(witness))
    });
    let table = Table::new(end, 1).with_slack(rooms::check::slack_ms(&server));
    let checked = check::Config {
        pace: config.pace(rate),
        when: When::Meanwhile,
        users: connections,
    };
    let (clients, table) = (clients.collect(), (table, chronicle));
    let driven = check::drive(&checked, clients, table, &mut progress, |_client| {})?;
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect_again(&config.address)?;
    check::speak_resp3(&mut door)?;
    let mut last = Final::of(driven.model, (0, 0));
    for room in FIRST_ROOM..end {
        let standing = rooms::check::standing(&mut door, (&property, &names), (room, 1))?;
        let standing = standing.into_iter().map(|(one, place, _)| (one, place));
        last.room(room, &standing.collect::<Vec<_>>());
    }
    let (_, after) = door::info(&mut door)?;
    let totals = driven.totals;
    let mut account = last.account();
    let counts = rooms::check::counted(before, after, &account);
    check::compare_counts(&mut account.charge, &counts);
    let rule = "in the end exactly those rooms are sold that the replay leaves, none of them twice, and \
                the server's counters say so";
    let mut proof = check::Proof::new(driven.findings, driven.cost, (rule, account.charge), false);
    let (mut line, mut left) = (LineFigures::default(), 0);
    for plan in totals.users.iter().map(RoomVisitor::plan) {
        line.add(plan.figures());
        left += plan.left();
    }
    proof.rules.extend(watch.rules(&line));
    let mut point = point::point("rooms", &checked.pace, &totals, proof.rules.clone());
    let count = |count: usize| u64::try_from(count).expect("callers and connections are bounded");
    point::count(
        &mut point,
        totals.took,
        count(connections),
        count(config.clients),
    );
    point.check = Some(proof.cost());
    Ok(Report {
        property,
        rooms: u64::from(rooms),
        line,
        left,
        load: LoadReport {
            server: Some(server),
            proof,
            point,
        },
    })
}

fn prepare(door: &mut Connection, property: &str, rooms: usize) -> Result<(), Error> {
    let mut done = |command: &'static str, words: &[&str]| {
        let words = std::iter::once(command).chain(words.iter().copied());
        let words: Vec<&[u8]> = words.map(str::as_bytes).collect();
        let answer = door.command(&words)?;
        if matches!(answer, Value::Error(_)) || refusal(&answer).is_some() {
            return Err(unfit(command, &answer));
        }
        Ok(())
    };
    done("ROOMS.ADD-PROPERTY", &[property])?;
    for room in (FIRST_ROOM..).take(rooms) {
        done("ROOMS.ADD-ROOM", &[property, &room.to_string(), "rush"])?;
    }
    Ok(())
}

impl Report {
    fn book(&self) -> &Operation {
        &self.load.point.operations[0]
    }

    #[must_use]
    pub fn sold(&self) -> u64 {
        self.book().done
    }

    #[must_use]
    pub fn refused(&self) -> u64 {
        let decided = |(reason, _): &(&String, &u64)| reason.as_bytes() != IN_LINE;
        let decided = self.book().refused.iter().filter(decided);
        decided.map(|(_, count)| count).sum()
    }

    /// Requests that were answered by an error, or never.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.book().errors.values().sum::<u64>() + self.book().unknown
    }

    #[must_use]
    pub fn asked(&self) -> u64 {
        self.sold() + self.refused() + self.failed()
    }

    /// Sales beyond one of each room.
    #[must_use]
    pub fn twice(&self) -> u64 {
        self.sold().saturating_sub(self.rooms)
    }

    /// What the run is worth, and with which code a command that made it should end.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.load.verdict() {
            Verdict::Fine if self.failed() + self.left > 0 => Verdict::Invalid,
            verdict => verdict,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [asked, sold, refused, twice] =
            [self.asked(), self.sold(), self.refused(), self.twice()].map(Count);
        writeln!(
            f,
            "{asked} asked, {sold} sold, {refused} refused, {twice} twice; {} for sale",
            Count(self.rooms)
        )?;
        if self.line.waited > 0 {
            writeln!(f, "line: {}", self.line)?;
        }
        if self.left > 0 {
            writeln!(
                f,
                "{} were still in line when the time was over",
                Count(self.left)
            )?;
        }
        self.load.fmt(f)
    }
}
