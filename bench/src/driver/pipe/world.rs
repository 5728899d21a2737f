//! What travelers travel in: customers, flights, and locations with cars and rooms.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
};

use anyhow::{Result, ensure};

/// Nobody runs out of anything.
const PLENTY: u32 = 100_000_000;

/// Lines that are sent before their answers are read.
const BATCH: usize = 1_000;

/// So many of everything. A connection has some for itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World;

impl World {
    /// Customers, and locations.
    pub(crate) const KEYS: u32 = Self::CONNECTIONS * Self::KEYS_EACH;

    /// Connections with keys of their own.
    pub(crate) const CONNECTIONS: u32 = 64;

    /// Keys of one connection.
    pub(crate) const KEYS_EACH: u32 = 16;

    /// Flights to each location.
    pub(crate) const FLIGHTS_EACH: u32 = 3;

    /// The customer of this key: a number that no sample has.
    pub(crate) const fn customer(key: u32) -> u32 {
        1_000_000 + key
    }

    /// The flight of this number to the location of this key.
    pub(crate) const fn flight(key: u32, number: u32) -> u32 {
        number * Self::KEYS + key
    }

    /// Makes everything, in one transaction.
    pub(crate) fn make(lines: SocketAddr) -> Result<()> {
        let mut client = LinesClient::connect(lines)?;
        let xid = client.start()?;
        let things = (0..Self::KEYS).flat_map(|key| {
            let flights = (0..Self::FLIGHTS_EACH).map(move |number| Self::flight(key, number));
            let flights =
                flights.map(move |flight| format!("AddFlight,{xid},{flight},{PLENTY},100"));
            let others = [
                format!("AddCustomerID,{xid},{}", Self::customer(key)),
                format!("AddCars,{xid},L{key},{PLENTY},50"),
                format!("AddRooms,{xid},L{key},{PLENTY},80"),
            ];
            flights.chain(others)
        });
        client.ask_all(things)?;
        let answer = client.ask(&format!("Commit,{xid}"))?;
        ensure!(answer.ends_with("committed"), "not made: {answer}");
        Ok(())
    }
}

/// Somebody at the door of travel who waits for answers.
#[derive(Debug)]
pub(crate) struct LinesClient(BufReader<TcpStream>);

impl LinesClient {
    pub(crate) fn connect(lines: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(lines)?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Asks, and gives the answer's first line.
    pub(crate) fn ask(&mut self, line: &str) -> Result<String> {
        self.ask_bytes(format!("{line}\n").as_bytes())
    }

    /// Asks with a whole line.
    pub(crate) fn ask_bytes(&mut self, line: &[u8]) -> Result<String> {
        self.0.get_mut().write_all(line)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String> {
        let mut answer = String::new();
        self.0.read_line(&mut answer)?;
        ensure!(answer.ends_with('\n'), "the server hung up");
        answer.pop();
        // A bill ends with an empty line.
        if answer.starts_with("Bill for") {
            let mut line = String::new();
            while line != "\n" {
                line.clear();
                ensure!(self.0.read_line(&mut line)? > 0, "the server hung up");
            }
        }
        Ok(answer)
    }

    /// Starts a transaction; gives its number.
    pub(crate) fn start(&mut self) -> Result<u64> {
        started(&self.ask("Start")?)
    }

    /// Asks many times; nothing may be refused.
    pub(crate) fn ask_all(&mut self, lines: impl IntoIterator<Item = String>) -> Result<()> {
        let mut lines = lines.into_iter().peekable();
        while lines.peek().is_some() {
            let batch: Vec<String> = lines.by_ref().take(BATCH).collect();
            let mut bytes = batch.join("\n");
            bytes.push('\n');
            self.0.get_mut().write_all(bytes.as_bytes())?;
            for line in batch {
                let answer = self.answer()?;
                ensure!(!is_refused(&answer), "{line}: {answer}");
            }
        }
        Ok(())
    }
}

/// The number in `Transaction 7 started`.
pub(crate) fn started(answer: &str) -> Result<u64> {
    let number = answer.strip_prefix("Transaction ");
    let number = number.and_then(|rest| rest.strip_suffix(" started"));
    let number = number.and_then(|number| number.parse().ok());
    number.ok_or_else(|| anyhow::anyhow!("not started: {answer}"))
}

/// Whether an answer says that something was not done.
pub(super) fn is_refused(answer: &str) -> bool {
    answer.contains("could not be")
        || answer.starts_with("InvalidTransaction:")
        || answer.starts_with("Command exception:")
        || is_aborted(answer)
}

pub(super) fn is_aborted(answer: &str) -> bool {
    answer.starts_with("TransactionAborted:")
}

#[cfg(test)]
mod tests {
    use super::{World, is_refused, started};

    #[test]
    fn answers_are_read_as_they_are_meant() {
        assert_eq!(started("Transaction 7 started").unwrap(), 7);
        assert!(started("Transaction 7 committed").is_err());
        let rows = [
            ("Car could not be reserved", true),
            ("TransactionAborted: 7: deadlock", true),
            ("InvalidTransaction: 7", true),
            ("Command exception: no such command", true),
            ("Car Reserved", false),
            ("Number of seats available: 0", false),
        ];
        for (answer, refused) in rows {
            assert_eq!(is_refused(answer), refused, "{answer}");
        }
    }

    #[test]
    fn no_two_locations_share_a_flight() {
        let flights = (0..World::KEYS)
            .flat_map(|key| (0..World::FLIGHTS_EACH).map(move |number| World::flight(key, number)));
        let flights: std::collections::BTreeSet<u32> = flights.collect();
        assert_eq!(flights.len(), 3 * 1_024);
    }
}
