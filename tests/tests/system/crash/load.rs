//! Several connections that keep requests in flight.

use std::collections::VecDeque;
use std::net::SocketAddr;

use rand::{RngExt as _, rngs::StdRng};
use turnstile_client::{Connection, ConnectionError, resp::Value};

use super::books::Books;
use super::listing::connect;
use super::recorder::{Number, Recorder, Reply};

/// About the most requests of one connection that wait for answers.
const DEPTH_MAX: usize = 8;

/// Connections with requests in flight.
#[derive(Debug)]
pub(crate) struct Load {
    lanes: Vec<Lane>,
}

/// One connection, and what it is owed.
#[derive(Debug)]
pub(crate) struct Lane {
    connection: Connection,
    owed: VecDeque<Number>,
    /// The position of its last answer.
    last: u64,
}

impl Load {
    /// So many connections to each of the addresses.
    pub(crate) fn connect(addresses: &[SocketAddr], lanes: usize) -> Result<Self, String> {
        let lanes = addresses.iter().flat_map(|address| vec![*address; lanes]);
        let lanes = lanes.map(Lane::connect);
        Ok(Self {
            lanes: lanes.collect::<Result<_, _>>()?,
        })
    }

    /// Asks and listens until so many answers have come. Requests are in flight then.
    pub(crate) fn run<B: Books>(
        &mut self,
        recorder: &mut Recorder<B>,
        rng: &mut StdRng,
        answers: usize,
    ) -> Result<(), String> {
        let mut missing = answers;
        loop {
            self.ask(recorder, rng)?;
            for lane in &mut self.lanes {
                for _ in 0..rng.random_range(0..=lane.owed.len()) {
                    lane.listen(recorder)?;
                    missing -= 1;
                    if missing == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Every connection sends something.
    pub(crate) fn ask<B: Books>(
        &mut self,
        recorder: &mut Recorder<B>,
        rng: &mut StdRng,
    ) -> Result<(), String> {
        for lane in &mut self.lanes {
            lane.queue(recorder, rng);
            lane.flush().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Every connection sends something to a server that may have ended already.
    pub(crate) fn ask_in_vain<B: Books>(&mut self, recorder: &mut Recorder<B>, rng: &mut StdRng) {
        self.lanes.retain_mut(|lane| {
            lane.queue(recorder, rng);
            lane.flush().is_ok()
        });
    }

    /// Listens to what the server sent before it ended. That, too, was acknowledged.
    pub(crate) fn drain<B: Books>(self, recorder: &mut Recorder<B>) -> Result<(), String> {
        self.lanes
            .into_iter()
            .try_for_each(|lane| lane.drain(recorder))
    }
}

impl Lane {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, String> {
        Ok(Self {
            connection: connect(address)?,
            owed: VecDeque::new(),
            last: 0,
        })
    }

    /// Queues a request.
    pub(crate) fn send<B: Books>(&mut self, recorder: &Recorder<B>, number: Number) {
        let words = recorder.words(number);
        let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        self.connection.send(&words);
        self.owed.push_back(number);
    }

    /// Queues some requests, one at least.
    fn queue<B: Books>(&mut self, recorder: &mut Recorder<B>, rng: &mut StdRng) {
        let depth = rng.random_range(1..=DEPTH_MAX);
        for _ in 0..depth.saturating_sub(self.owed.len()).max(1) {
            let number = recorder.next(rng);
            self.send(recorder, number);
        }
    }

    fn flush(&mut self) -> Result<(), ConnectionError> {
        self.connection.flush()
    }

    /// Waits for the next answer.
    pub(crate) fn listen<B: Books>(&mut self, recorder: &mut Recorder<B>) -> Result<Reply, String> {
        let value = self
            .connection
            .receive()
            .map_err(|error| error.to_string())?;
        self.note(recorder, &value)
    }

    fn note<B: Books>(
        &mut self,
        recorder: &mut Recorder<B>,
        value: &Value,
    ) -> Result<Reply, String> {
        let number = self.owed.pop_front().ok_or("an answer to nothing")?;
        let reply = recorder.note(number, value)?;
        let Reply::Answered(answer) = &reply else {
            return Ok(reply);
        };
        let is_replayed = answer.replayed && !recorder.may_replay;
        if is_replayed || answer.position <= self.last {
            let before = self.last;
            return Err(format!(
                "a first answer is {answer:?}, after position {before}"
            ));
        }
        self.last = answer.position;
        Ok(reply)
    }

    fn drain<B: Books>(mut self, recorder: &mut Recorder<B>) -> Result<(), String> {
        while !self.owed.is_empty() {
            match self.connection.receive() {
                Ok(value) => drop(self.note(recorder, &value)?),
                Err(ConnectionError::Closed) => return Ok(()),
                Err(ConnectionError::Io(error))
                    if error.kind() == std::io::ErrorKind::ConnectionReset =>
                {
                    return Ok(());
                }
                Err(error) => return Err(format!("not closed, but: {error}")),
            }
        }
        Ok(())
    }
}
