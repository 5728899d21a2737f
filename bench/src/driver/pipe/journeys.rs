//! The ancestor's transaction of nine requests, in command lines, and the same trip in one command.

use std::{fmt, io::Write as _, thread};

use anyhow::{Result, bail, ensure};
use turnstile_client::resp;

use super::{
    Heard, Talk, call, resp_answer,
    world::{World, is_aborted, started},
};
use crate::{
    dice::{Dice, Zipf},
    driver::{Load, Tally},
    pin::{CLIENT_CORE, pin},
    probe::joined,
    server::Server,
};

/// Locations that everybody wants, the first most of all.
const POPULAR: u32 = 100;

/// How much more than the next.
const SKEW: f64 = 0.99;

/// Requests of one transaction: start, a query of the customer, three times a query and a
/// reservation, commit.
pub(crate) const REQUESTS: usize = 9;

/// Whom a transaction touches beside the customers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Managers {
    /// Three flights.
    One,
    /// A flight, a car and a room.
    Three,
}

/// Where everybody goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// Each to places of its own: nobody is in the way of others.
    Own,
    /// To some more than to others.
    Popular,
}

/// A transaction of nine requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Journey {
    pub(crate) managers: Managers,
    pub(crate) places: Places,
}

/// What became of the transactions of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Travels {
    pub(crate) tally: Tally,
    pub(crate) committed: u32,
    pub(crate) aborted: u32,
}

/// Has every connection travel, one transaction after the other.
pub(crate) fn travel(journey: Journey, server: &Server, load: Load) -> Result<Travels> {
    let address = server.lines();
    let callers = thread::spawn(move || {
        pin(CLIENT_CORE)?;
        call(address, load, |number| Traveler::new(journey, number))
    });
    let (tally, travelers) = joined(callers)?;
    Ok(Travels {
        tally,
        committed: travelers.iter().map(|traveler| traveler.committed).sum(),
        aborted: travelers.iter().map(|traveler| traveler.aborted).sum(),
    })
}

impl Travels {
    /// Committed transactions a second.
    pub(crate) fn rate(&self) -> f64 {
        self.tally.rate * f64::from(self.committed) / f64::from(self.tally.requests)
    }

    pub(crate) fn aborted_percent(&self) -> f64 {
        100.0 * f64::from(self.aborted) / f64::from(self.aborted + self.committed)
    }
}

/// Picks the keys of one connection.
#[derive(Debug)]
struct Itinerary {
    places: Places,
    number: u32,
    round: u32,
    dice: Dice,
    zipf: Zipf,
}

impl Itinerary {
    fn new(places: Places, number: u32) -> Self {
        Self {
            places,
            number: number % World::CONNECTIONS,
            round: 0,
            dice: Dice::new(u64::from(number) << 32),
            zipf: Zipf::new(POPULAR, SKEW),
        }
    }

    /// A customer of this connection, and where the next three parts of a trip go.
    fn next(&mut self) -> (u32, [u32; 3]) {
        self.round += 1;
        let own = self.number * World::KEYS_EACH + self.round % World::KEYS_EACH;
        let keys = match self.places {
            Places::Own => [own; 3],
            Places::Popular => [(); 3].map(|()| self.zipf.draw(&mut self.dice)),
        };
        (World::customer(own), keys)
    }
}

/// What is asked for at one step, in the words of a command line.
pub(crate) fn put_line(
    out: &mut Vec<u8>,
    managers: Managers,
    (step, xid): (usize, u64),
    (customer, keys): (u32, [u32; 3]),
) {
    let part = step.saturating_sub(2) / 2;
    let is_query = step.is_multiple_of(2);
    let to = keys[part.min(2)];
    let written = match (step, managers, part) {
        (0, ..) => writeln!(out, "Start"),
        (1, ..) => writeln!(out, "QueryCustomer,{xid},{customer}"),
        (8, ..) => writeln!(out, "Commit,{xid}"),
        (_, Managers::Three, 1) if is_query => writeln!(out, "QueryCars,{xid},L{to}"),
        (_, Managers::Three, 1) => writeln!(out, "ReserveCar,{xid},{customer},L{to}"),
        (_, Managers::Three, 2) if is_query => writeln!(out, "QueryRooms,{xid},L{to}"),
        (_, Managers::Three, 2) => writeln!(out, "ReserveRoom,{xid},{customer},L{to}"),
        (..) => {
            let number = u32::try_from(part).expect("one of three");
            let flight = World::flight(to, number);
            if is_query {
                writeln!(out, "QueryFlight,{xid},{flight}")
            } else {
                writeln!(out, "ReserveFlight,{xid},{customer},{flight}")
            }
        }
    };
    written.expect("writing to memory does not fail");
}

/// The beginning of the answer to a step that was done.
pub(crate) const fn done(step: usize) -> &'static str {
    match step {
        1 => "Bill for customer",
        0 | 8 => "Transaction",
        2 | 4 | 6 => "Number of",
        _ => "",
    }
}

/// One connection's side of its transactions.
pub(super) struct Traveler {
    managers: Managers,
    itinerary: Itinerary,
    step: usize,
    xid: u64,
    trip: (u32, [u32; 3]),
    committed: u32,
    aborted: u32,
}

impl Traveler {
    pub(super) fn new(journey: Journey, number: u32) -> Self {
        Self {
            managers: journey.managers,
            itinerary: Itinerary::new(journey.places, number),
            step: 0,
            xid: 0,
            trip: (0, [0; 3]),
            committed: 0,
            aborted: 0,
        }
    }
}

impl Talk for Traveler {
    fn ask(&mut self, out: &mut Vec<u8>) {
        if self.step == 0 {
            self.trip = self.itinerary.next();
        }
        put_line(out, self.managers, (self.step, self.xid), self.trip);
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Option<Heard>> {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            return Ok(None);
        };
        let line = str::from_utf8(&bytes[..end])?;
        let mut heard = Heard {
            length: end + 1,
            accepted: !is_aborted(line),
        };
        if !heard.accepted {
            (self.step, self.aborted) = (0, self.aborted + 1);
            return Ok(Some(heard));
        }
        let is_done = line.starts_with(done(self.step)) && !line.contains("could not");
        ensure!(is_done, "step {}: {line}", self.step);
        match self.step {
            0 => self.xid = started(line)?,
            1 => match memchr::memmem::find(bytes, b"\n\n") {
                Some(at) => heard.length = at + 2,
                None => return Ok(None),
            },
            8 => self.committed += 1,
            _ => {}
        }
        self.step = (self.step + 1) % REQUESTS;
        Ok(Some(heard))
    }

    /// Nobody leaves with locks in hand.
    fn may_end(&self) -> bool {
        self.step == 0
    }
}

/// One connection that books whole trips over RESP.
pub(super) struct Tripper {
    itinerary: Itinerary,
}

impl Tripper {
    pub(super) fn new(places: Places, number: u32) -> Self {
        Self {
            itinerary: Itinerary::new(places, number),
        }
    }
}

/// Appends the command that books a trip.
pub(crate) fn put_trip(out: &mut Vec<u8>, (customer, [flight, car, room]): (u32, [u32; 3])) {
    let words = [
        format!("flight-{}", World::flight(flight, 0)),
        format!("car-L{car}"),
        format!("room-L{room}"),
    ];
    let [flight, car, room] = &words;
    let customer = customer.to_string();
    let words = [
        "TRAVEL.BOOK",
        customer.as_str(),
        flight.as_str(),
        car.as_str(),
        room.as_str(),
    ];
    resp::put_command(out, &words.map(str::as_bytes));
}

impl Talk for Tripper {
    fn ask(&mut self, out: &mut Vec<u8>) {
        put_trip(out, self.itinerary.next());
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Option<Heard>> {
        let Some((heard, _)) = resp_answer(bytes)? else {
            return Ok(None);
        };
        if !heard.accepted {
            bail!("refused: {}", bytes[..heard.length].escape_ascii());
        }
        Ok(Some(heard))
    }
}

impl fmt::Display for Journey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.managers, self.places)
    }
}

impl fmt::Display for Managers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "one manager",
            Self::Three => "three managers",
        })
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("places of their own"),
            Self::Popular => write!(f, "{POPULAR} places by Zipf {SKEW}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Journey, Managers, Places, REQUESTS, Talk as _, Traveler, put_line};

    fn lines(managers: Managers) -> Vec<String> {
        let line = |step| {
            let mut out = Vec::new();
            put_line(&mut out, managers, (step, 5), (1, [2, 3, 4]));
            String::from_utf8(out).unwrap()
        };
        (0..REQUESTS).map(line).collect()
    }

    #[test]
    fn a_transaction_is_nine_requests() {
        let three = [
            "Start\n",
            "QueryCustomer,5,1\n",
            "QueryFlight,5,2\n",
            "ReserveFlight,5,1,2\n",
            "QueryCars,5,L3\n",
            "ReserveCar,5,1,L3\n",
            "QueryRooms,5,L4\n",
            "ReserveRoom,5,1,L4\n",
            "Commit,5\n",
        ];
        assert_eq!(lines(Managers::Three), three);
        let one = lines(Managers::One);
        assert_eq!(
            one[4..8],
            [
                "QueryFlight,5,1027\n",
                "ReserveFlight,5,1,1027\n",
                "QueryFlight,5,2052\n",
                "ReserveFlight,5,1,2052\n",
            ]
        );
    }

    #[test]
    fn a_traveler_goes_step_by_step_and_begins_anew_when_it_is_aborted() {
        let journey = Journey {
            managers: Managers::Three,
            places: Places::Own,
        };
        let mut traveler = Traveler::new(journey, 2);
        let mut out = Vec::new();
        let mut say = |traveler: &mut Traveler, answer: &[u8]| {
            out.clear();
            traveler.ask(&mut out);
            let heard = traveler.hear(answer).unwrap();
            (
                String::from_utf8(out.clone()).unwrap(),
                heard.map(|heard| heard.length),
            )
        };
        let whole = say(&mut traveler, b"Transaction 9 started\n");
        assert_eq!(whole, ("Start\n".to_owned(), Some(22)));
        assert!(!traveler.may_end());
        let part = say(&mut traveler, b"Bill for customer 33\n1 flight-1 $5\n");
        assert_eq!(part, ("QueryCustomer,9,1000033\n".to_owned(), None));
        let bill = say(&mut traveler, b"Bill for customer 33\n1 flight-1 $5\n\nX");
        assert_eq!(bill.1, Some(36));
        let aborted = say(&mut traveler, b"TransactionAborted: 9: deadlock\n");
        assert_eq!(aborted, ("QueryFlight,9,33\n".to_owned(), Some(32)));
        assert_eq!((traveler.aborted, traveler.may_end()), (1, true));
        assert!(traveler.hear(b"Command exception: what\n").is_err());
    }
}
