//! A small travel agency on real sockets: the real machine and the real codec, in memory, honest or
//! with one fault.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use turnstile_lines::{Ask, LineScan, Lines, Options, Wording, put_exception, put_outcome, read};
use turnstile_travel::{
    Command, CustomerId, Done, EventKind, Item, Outcome, Settings, Step, Travel, Trip, Xid,
};
use turnstile_types::{Context, Machine as _, Position, Principal, Timestamp};

/// How often whoever waits lets the time of the machine pass.
const TICK: Duration = Duration::from_millis(20);

/// What is wrong with an agency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Every tenth room is acknowledged, but not reserved.
    RoomForgotten,
    /// Every tenth car is reserved twice.
    CarTwice,
    /// Every tenth flight is reserved for another customer.
    OtherCustomer,
    /// The hundredth reservation finds a seat more on its flight.
    Seat,
    /// The hundredth reservation raises the price.
    Price,
    /// The hundredth journey is committed, says the answer, but it is aborted.
    CommitForgotten,
    /// A summary leaves out its first item.
    SummaryShort,
    /// A summary adds a dollar to its totals.
    WrongTotal,
    /// Every twentieth commit of a journey is done, but the connection is closed instead of an answer.
    Closes,
    /// The same, but it is not done.
    ClosesBefore,
    /// As `Closes`, and nobody remembers those transactions afterwards.
    ClosesAndForgets,
    /// The same, but their last room is not reserved.
    ClosesInPart,
    /// Every twentieth car is reserved, but the connection is closed instead of an answer.
    ClosesWithin,
    /// After thirty journeys nobody is served any more.
    Dies,
}

/// An agency that listens until the process ends.
#[derive(Debug)]
pub(crate) struct Agency {
    pub(crate) address: SocketAddr,
}

struct State {
    fault: Fault,
    travel: Travel,
    begun: Instant,
    position: u64,
    reservations: BTreeMap<&'static str, u64>,
    /// Transactions that have reserved something and were not to be committed yet.
    buying: BTreeSet<Xid>,
    /// How many of them were to be committed, and the last of them.
    commits: u64,
    last: Xid,
    forgotten: BTreeSet<Xid>,
    /// Answers that somebody waits for.
    late: BTreeMap<Position, Outcome>,
}

struct Desk {
    state: Mutex<State>,
    answered: Condvar,
}

/// What becomes of a connection.
#[derive(PartialEq, Eq)]
enum Next {
    Goes,
    Closes,
}

impl Agency {
    pub(crate) fn open(fault: Fault) -> Self {
        let mut state = State {
            fault,
            travel: Travel::empty(),
            begun: Instant::now(),
            position: 0,
            reservations: BTreeMap::new(),
            buying: BTreeSet::new(),
            commits: 0,
            last: Xid(0),
            forgotten: BTreeSet::new(),
            late: BTreeMap::new(),
        };
        // What a lost connection leaves open does not stand in the way for long.
        let settings = Settings {
            lifetime_ms: 300,
            ..Settings::FIRST
        };
        state.apply(&Command::Configure(settings));
        let desk = Arc::new(Desk {
            state: Mutex::new(state),
            answered: Condvar::new(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let desk = Arc::clone(&desk);
                thread::spawn(move || attend(stream.unwrap(), &desk));
            }
        });
        Self { address }
    }
}

/// Until the peer closes, or the fault says so.
fn attend(mut stream: TcpStream, desk: &Desk) -> Option<()> {
    stream.set_nodelay(true).unwrap();
    let (mut lines, mut waiting, mut answers) = (Lines::default(), Vec::new(), Vec::new());
    let mut buffer = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        waiting.extend_from_slice(&buffer[..read]);
        while let LineScan::Line { line, consumed } = lines.next(&waiting) {
            if answer(desk, &waiting[line], &mut answers) == Next::Closes {
                return None;
            }
            waiting.drain(..consumed);
        }
        stream.write_all(&answers).ok()?;
        answers.clear();
    }
}

fn answer(desk: &Desk, line: &[u8], out: &mut Vec<u8>) -> Next {
    let (command, wording) = match read(line) {
        Ok(Ask::Command { command, wording }) => (command, wording),
        Ok(other) => panic!("only commands are said here, not {other:?}"),
        Err(why) => {
            put_exception(out, why);
            return Next::Goes;
        }
    };
    let mut state = desk.state.lock().unwrap();
    if state.fault == Fault::Dies && state.commits >= 30 {
        return Next::Closes;
    }
    let mut outcome = state.sell(&command);
    desk.answered.notify_all();
    if let Outcome::Waiting { ticket } = outcome {
        outcome = loop {
            if let Some(outcome) = state.late.remove(&ticket) {
                break outcome;
            }
            state = desk.answered.wait_timeout(state, TICK).unwrap().0;
            state.tick();
            desk.answered.notify_all();
        };
    }
    let next = state.after(&command, &outcome);
    if next == Next::Goes {
        state.tell(wording, outcome, out);
    }
    next
}

impl State {
    fn context<'a>(&mut self, principal: &'a Principal) -> Context<'a> {
        self.position += 1;
        let now = self.begun.elapsed().as_millis().try_into().unwrap();
        Context {
            position: Position(self.position),
            now: Timestamp(now),
            principal,
        }
    }

    fn apply(&mut self, command: &Command) -> Outcome {
        let principal = Principal::local();
        let context = self.context(&principal);
        let outcome = self.travel.apply(&context, command);
        self.keep_late();
        outcome
    }

    fn tick(&mut self) {
        let principal = Principal::local();
        let context = self.context(&principal);
        self.travel.tick(&context);
        self.keep_late();
    }

    fn keep_late(&mut self) {
        let late = &mut self.late;
        self.travel.drain_events(&mut |event| {
            if let EventKind::Answered { ticket, outcome } = event.kind {
                late.insert(ticket, outcome);
            }
        });
    }

    /// Whether this is one of every so many reservations at a desk.
    fn is_nth(&mut self, desk: &'static str, every: u64) -> bool {
        let count = self.reservations.entry(desk).or_default();
        *count += 1;
        count.is_multiple_of(every)
    }

    /// Carries a command out, as the fault has it.
    fn sell(&mut self, command: &Command) -> Outcome {
        let Command::Within { xid, step } = command else {
            return self.apply(command);
        };
        match step {
            Step::Reserve { customer, trip } => {
                self.buying.insert(*xid);
                let [item] = trip.items() else {
                    panic!("the lab reserves one by one")
                };
                self.reserve(command, *xid, *customer, *item)
            }
            Step::Commit => self.commit(command, *xid),
            _ => self.apply(command),
        }
    }

    fn reserve(
        &mut self,
        command: &Command,
        xid: Xid,
        customer: CustomerId,
        item: Item,
    ) -> Outcome {
        let desk = item.desk().code();
        let within = |step| Command::Within { xid, step };
        let reserve = |customer| {
            within(Step::Reserve {
                customer,
                trip: Trip::of(item),
            })
        };
        let add = |count, price| within(Step::Add { item, count, price });
        match (self.fault, desk) {
            (Fault::RoomForgotten, "rooms") if self.is_nth(desk, 10) => {
                Outcome::Done(Done::Reserved)
            }
            (Fault::ClosesInPart, "rooms") if (self.commits + 1).is_multiple_of(20) => {
                Outcome::Done(Done::Reserved)
            }
            (Fault::CarTwice, "cars") if self.is_nth(desk, 10) => {
                self.apply(command);
                self.apply(command)
            }
            (Fault::OtherCustomer, "flights") if self.is_nth(desk, 10) => {
                self.apply(&reserve(CustomerId(customer.0 ^ 1)))
            }
            (Fault::Seat, "flights") if self.is_nth(desk, 100) => {
                self.apply(&add(1, 0));
                self.apply(command)
            }
            (Fault::Price, "flights") if self.is_nth(desk, 100) => {
                self.apply(&add(0, 101));
                self.apply(command)
            }
            _ => self.apply(command),
        }
    }

    fn commit(&mut self, command: &Command, xid: Xid) -> Outcome {
        if self.forgotten.contains(&xid) {
            return Outcome::Refused(turnstile_travel::Refusal::UnknownTransaction);
        }
        if !self.buying.remove(&xid) {
            return self.apply(command);
        }
        self.commits += 1;
        self.last = xid;
        match (self.fault, self.commits) {
            (Fault::CommitForgotten, 100) => {
                self.apply(&Command::Abort { xid });
                Outcome::Done(Done::Committed)
            }
            (Fault::ClosesBefore, commits) if commits.is_multiple_of(20) => {
                Outcome::Done(Done::Committed)
            }
            _ => self.apply(command),
        }
    }

    /// Whether the answer is told, or the connection closed.
    fn after(&mut self, command: &Command, outcome: &Outcome) -> Next {
        let Command::Within { xid, step } = command else {
            return Next::Goes;
        };
        let closes = match (self.fault, step, outcome) {
            (Fault::ClosesWithin, Step::Reserve { trip, .. }, _) => {
                matches!(trip.items(), [Item::Car(_)]) && self.is_nth("cars", 20)
            }
            (
                Fault::Closes | Fault::ClosesBefore | Fault::ClosesAndForgets | Fault::ClosesInPart,
                Step::Commit,
                Outcome::Done(_),
            ) => self.last == *xid && self.commits.is_multiple_of(20),
            _ => false,
        };
        if !closes {
            return Next::Goes;
        }
        // Whoever asks again is told.
        self.last = Xid(0);
        if matches!(self.fault, Fault::ClosesAndForgets | Fault::ClosesInPart) {
            self.forgotten.insert(*xid);
        }
        Next::Closes
    }

    fn tell(&self, wording: Wording, mut outcome: Outcome, out: &mut Vec<u8>) {
        let start = out.len();
        if let (Fault::SummaryShort, Outcome::Done(Done::Summary(bills))) =
            (self.fault, &mut outcome)
            && let Some(bill) = bills.iter_mut().find(|bill| !bill.lines.is_empty())
        {
            bill.lines.remove(0);
        }
        let summary = matches!(outcome, Outcome::Done(Done::Summary(_)));
        put_outcome(out, Options::default(), wording, &outcome);
        if self.fault == Fault::WrongTotal && summary {
            let text = String::from_utf8(out.split_off(start)).unwrap();
            out.extend_from_slice(text.replacen("Total $", "Total $1", 1).as_bytes());
        }
    }
}
