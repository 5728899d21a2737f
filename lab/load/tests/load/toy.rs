//! A toy server of rooms on real sockets: honest, or with one fault.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use turnstile_client::resp::{ReplyLimits, decode, put_bulk, put_count};

/// What is wrong with a toy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Every tenth booking gets the reference of the one before.
    ReferenceTwice,
    /// Every tenth booking is acknowledged and forgotten.
    BookingLost,
    /// Every tenth cancellation is acknowledged and not done.
    CancelIgnored,
    /// Every tenth booking is written down for another room.
    OtherRoom,
    /// Nobody looks whether a room is taken.
    SoldAgain,
    /// The counter of bookings is one ahead once there are any.
    CountsOneMore,
    /// Every fiftieth booking or cancellation is carried out, but the connection is closed instead of an answer.
    Closes,
    /// Every tenth is carried out, and answered that nobody knows that.
    Unknown,
    /// At the twentieth it recovers, as a server that was killed: until it was asked three times how far
    /// that is, nobody gets another answer.
    Recovers,
    /// Answers come in pieces of seven bytes.
    Dribbles,
    /// Not a fault: every tenth booking is told a place in line instead.
    LetsWait,
}

/// A toy that listens until the process ends.
#[derive(Debug)]
pub(crate) struct Toy {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    fault: Fault,
    position: u64,
    booked: u64,
    cancelled: u64,
    /// How many more questions it is recovering for.
    recovering: u32,
    /// By reference: property, room, arrival, departure, id number.
    bookings: BTreeMap<String, [String; 5]>,
    /// By property, room and arrival: how often it is sold.
    taken: BTreeMap<[String; 3], u64>,
}

impl Toy {
    pub(crate) fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            fault,
            position: 7,
            booked: 0,
            cancelled: 0,
            recovering: 0,
            bookings: BTreeMap::new(),
            taken: BTreeMap::new(),
        }));
        let toy = Self {
            address,
            state: Arc::clone(&state),
        };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&state);
                thread::spawn(move || serve(stream.unwrap(), &state));
            }
        });
        toy
    }

    /// How many bookings and cancellations were carried out.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let state = self.state.lock().unwrap();
        (state.booked, state.cancelled)
    }
}

/// Until the peer closes, or the fault says so.
fn serve(stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let dribbles = state.lock().unwrap().fault == Fault::Dribbles;
    let piece = if dribbles { 7 } else { usize::MAX };
    converse(stream, piece, |words, answers| {
        state.lock().unwrap().answer(words, answers)
    })
}

/// Hands each command to `answer`, until that says that the connection is to be closed, or the peer
/// closes it. Answers leave in pieces of so many bytes.
pub(crate) fn converse(
    mut stream: TcpStream,
    piece: usize,
    mut answer: impl FnMut(&[&str], &mut Vec<u8>) -> bool,
) -> Option<()> {
    stream.set_nodelay(true).unwrap();
    let mut waiting = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        waiting.extend_from_slice(&buffer[..read]);
        let mut answers = Vec::new();
        while let Some((command, used)) = decode(&waiting, &ReplyLimits::REPLY).unwrap() {
            waiting.drain(..used);
            let words: Vec<String> = command
                .as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap().to_owned())
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if answer(&words, &mut answers) {
                return None;
            }
        }
        for piece in answers.chunks(piece) {
            stream.write_all(piece).ok()?;
        }
    }
}

impl State {
    /// Carries out a command and appends its answer; whether to close instead.
    fn answer(&mut self, words: &[&str], out: &mut Vec<u8>) -> bool {
        let (done_before, said_before) = (self.booked + self.cancelled, out.len());
        if self.recovering > 0 {
            if let ["INFO"] = *words {
                self.recovering -= 1;
                put_bulk(out, b"loading:1\r\n");
            } else {
                out.extend_from_slice(b"-LOADING this toy recovers\r\n");
            }
            return false;
        }
        match *words {
            ["INFO"] => put_bulk(out, self.info().as_bytes()),
            ["PING"] => out.extend_from_slice(b"+PONG\r\n"),
            ["GARBLE"] => out.extend_from_slice(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            ["ROOMS.BOOK", property, room, arrival, departure, _, id] => {
                assert!(id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_digit()));
                self.book([property, room, arrival, departure, id], out);
            }
            ["ROOMS.CANCEL", reference, id] => self.cancel(reference, id, out),
            ["ROOMS.LOOK-UP", reference] => match self.bookings.get(reference) {
                Some([_, room, arrival, departure, _]) => {
                    let fields = [
                        ("reference", reference),
                        ("state", "booked"),
                        ("room", room),
                        ("arrival", arrival),
                        ("departure", departure),
                    ];
                    put_count(out, b'*', 2 * fields.len());
                    for (name, value) in fields {
                        put_bulk(out, name.as_bytes());
                        put_bulk(out, value.as_bytes());
                    }
                }
                None => put_answer(out, 0, &["not_found"], &[]),
            },
            _ => out.extend_from_slice(b"-ERR unknown command\r\n"),
        }
        let done = self.booked + self.cancelled;
        let is_every = |number: u64| done > done_before && done.is_multiple_of(number);
        match self.fault {
            Fault::Closes => is_every(50),
            Fault::Recovers if is_every(20) && done == 20 => {
                self.recovering = 3;
                true
            }
            Fault::Unknown if is_every(10) => {
                out.truncate(said_before);
                out.extend_from_slice(b"-UNKNOWN it was done or not\r\n");
                false
            }
            _ => false,
        }
    }

    fn info(&self) -> String {
        let ahead = u64::from(self.fault == Fault::CountsOneMore && self.booked > 0);
        format!(
            "# Server\r\nturnstile_version:0.1.0\r\ndurability:memory\r\nrooms_backend:embedded\r\nposition:{}\r\n\
             rooms_booked_total:{}\r\nrooms_cancelled_total:{}\r\nrooms_bookings:{}\r\n",
            self.position,
            self.booked + ahead,
            self.cancelled,
            self.bookings.len()
        )
    }

    fn is_tenth(&self, fault: Fault) -> bool {
        self.fault == fault && self.position.is_multiple_of(10)
    }

    fn book(&mut self, words: [&str; 5], out: &mut Vec<u8>) {
        let [property, room, arrival, departure, id] = words;
        if self.is_tenth(Fault::LetsWait) {
            self.position += 1;
            return put_answer(out, 2, &[], &[7, 12, 6]);
        }
        let key = [property.to_owned(), room.to_owned(), arrival.to_owned()];
        if self.taken.contains_key(&key) && self.fault != Fault::SoldAgain {
            return put_answer(out, 0, &["sold_out", arrival], &[]);
        }
        let number = self.position - u64::from(self.is_tenth(Fault::ReferenceTwice));
        let reference = format!("R{number:05}");
        self.position += 1;
        put_answer(out, 1, &[&reference, room], &[self.position]);
        if self.is_tenth(Fault::BookingLost) {
            return;
        }
        let noted = if self.is_tenth(Fault::OtherRoom) {
            "elsewhere"
        } else {
            room
        };
        self.booked += 1;
        *self.taken.entry(key).or_insert(0) += 1;
        let booking = [property, noted, arrival, departure, id];
        self.bookings.insert(reference, booking.map(str::to_owned));
    }

    fn cancel(&mut self, reference: &str, id: &str, out: &mut Vec<u8>) {
        let Some([property, room, arrival, _, booked_by]) = self.bookings.get(reference) else {
            return put_answer(out, 0, &["not_found"], &[]);
        };
        if booked_by != id {
            return put_answer(out, 0, &["wrong_guest"], &[]);
        }
        let key = [property.clone(), room.clone(), arrival.clone()];
        self.position += 1;
        put_answer(out, 1, &[], &[self.position]);
        if !self.is_tenth(Fault::CancelIgnored) {
            self.taken.remove(&key);
            self.bookings.remove(reference);
            self.cancelled += 1;
        }
    }
}

/// An array: a number, then texts, then numbers.
fn put_answer(out: &mut Vec<u8>, first: u64, texts: &[&str], numbers: &[u64]) {
    put_count(out, b'*', 1 + texts.len() + numbers.len());
    out.extend_from_slice(format!(":{first}\r\n").as_bytes());
    for text in texts {
        put_bulk(out, text.as_bytes());
    }
    for number in numbers {
        out.extend_from_slice(format!(":{number}\r\n").as_bytes());
    }
}
