//! Clients book while their keys are rotated and revoked, their rights are withdrawn and given again, and
//! the server is killed. Nothing is done with a key after its end was acknowledged, and the history of all
//! of it is linearizable.

mod model;
mod scene;

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use turnstile_check::{
    CheckedSoFar, Checker, Findings, Seen, Witness as Line,
    rooms::{InlineReference, NoHold, Operation, Released},
    witnesses,
};
use turnstile_client::{Connection, ConnectionError, resp::Value};
use turnstile_tests::Turnstile;

use self::{
    model::{GuardedTable, Told},
    scene::{Place, Scene},
};
use crate::{
    crash::{
        answer::Answer,
        books::Books as _,
        hotel::Hotel,
        listing::{everything, figure},
        witness::{Witness, told},
    },
    guards::{add, connect, guard, key, logged_in, put, with_key},
};

const PRINCIPALS: u8 = 3;
const CLIENTS_OF_EACH: u8 = 2;

/// Keys that are added after the first of each principal: all numbers of keys are bits of 64.
const ROTATIONS: u8 = 36;

/// After so many rotations the server is killed, with a revocation on its way.
const ROTATIONS_PER_KILL: u8 = 9;

/// Operations of clients between two changes of who may what.
const OPERATIONS_BETWEEN: usize = 40;

/// The administrator and those who try keys, at either door.
const OTHERS: usize = 3;

/// One that books, by whichever key its principal has.
struct Guest<'a> {
    number: u8,
    scene: &'a Scene,
    line: Line<Told>,
    connection: Option<(Connection, u8)>,
    books: Hotel,
    rng: StdRng,
    asked: u32,
}

impl Guest<'_> {
    fn work(&mut self) {
        while !self.scene.is_over() {
            if self.ask() {
                self.scene.note_progress();
            }
        }
    }

    /// Asks for one thing until it is known what has become of it; says whether it was decided.
    fn ask(&mut self) -> bool {
        let request = self.books.next(&mut self.rng);
        self.asked += 1;
        let words = Hotel::words(&request, &format!("{}-{}", self.number, self.asked));
        let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        self.line.at(Instant::now());
        self.line.asks();
        // The keys with which it was sent and got no answer.
        let mut sent = 0_u64;
        let (seen, heard) = loop {
            let (connection, key) = self.connected();
            match connection.command(&words) {
                Ok(Value::Error(error)) if is_denial(&error) => {
                    let has_ended = error.starts_with("NOAUTH");
                    if has_ended {
                        self.connection = None;
                    }
                    if sent == 0 {
                        break (Seen::Reading, Told::Denied(key));
                    }
                }
                Ok(value) => {
                    let answer = Answer::parse(&value).expect("an outcome");
                    let keys = if answer.replayed { sent } else { 1 << key };
                    let operation = told(&request, &answer);
                    let operation = operation.unwrap_or_else(|| panic!("{request:?}: {answer:?}"));
                    self.books.learn(&request, &answer);
                    break (Seen::At(answer.position), Told::Rooms { keys, operation });
                }
                Err(ConnectionError::Denied(_)) => self.connection = None,
                Err(_lost) => {
                    self.connection = None;
                    sent |= 1 << key;
                }
            }
        };
        self.line.at(Instant::now());
        self.line.hears(seen, heard);
        seen != Seen::Reading
    }

    /// Its connection, or a new one by the key that its principal has now.
    fn connected(&mut self) -> (&mut Connection, u8) {
        let Self {
            connection, scene, ..
        } = self;
        if connection.is_none() {
            let principal = self.number % PRINCIPALS;
            *connection = Some(loop {
                let key = scene.current(principal);
                let new = with_key(scene.place().resp, key.into());
                if let Ok(new) = connect(new) {
                    break (new, key);
                }
            });
        }
        let (connection, key) = connection.as_mut().expect("it was just made");
        (connection, *key)
    }
}

fn is_denial(error: &str) -> bool {
    let words = ["NOAUTH", "NOPERM", "WRONGPASS"];
    words.iter().any(|word| error.starts_with(word))
}

/// Tries keys, old and new ones.
struct Prober<'a> {
    scene: &'a Scene,
    line: Line<Told>,
    rng: StdRng,
    tries: fn(Place, u8) -> Option<bool>,
}

impl Prober<'_> {
    fn work(&mut self) {
        while !self.scene.is_over() {
            let newest = self.scene.newest();
            let key = self.rng.random_range(newest.saturating_sub(5)..=newest);
            let place = self.scene.place();
            self.line.at(Instant::now());
            self.line.asks();
            let permitted = (self.tries)(place, key);
            self.line.at(Instant::now());
            match permitted {
                Some(true) => self.line.hears(Seen::Reading, Told::Permitted(key)),
                Some(false) => self.line.hears(Seen::Reading, Told::Denied(key)),
                None => self.line.hears_nothing(),
            }
        }
    }
}

/// Asks for totals over RESP; nothing: the server is not there.
fn tries_resp(place: Place, key: u8) -> Option<bool> {
    let mut connection = match connect(with_key(place.resp, key.into())) {
        Ok(connection) => connection,
        Err(ConnectionError::Denied(_)) => return Some(false),
        Err(_lost) => return None,
    };
    match connection.command(&[b"ROOMS.GET-TOTALS"]) {
        Ok(Value::Error(error)) if is_denial(&error) => Some(false),
        Ok(Value::Error(error)) => panic!("{error}"),
        Ok(_totals) => Some(true),
        // The key has ended after the login.
        Err(_lost) => None,
    }
}

/// The same over HTTP.
fn tries_http(place: Place, number: u8) -> Option<bool> {
    let asked = |address: SocketAddr| -> io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        let key = key(number.into());
        write!(
            stream,
            "GET /v1/rooms/totals HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Authorization: Bearer {}\r\n\r\n",
            key.expose()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = asked(place.http).ok()?;
    let status = answer.strip_prefix("HTTP/1.1 ")?.get(..3)?;
    match status {
        "200" => Some(true),
        // The last stands for a wrong key after too many wrong ones.
        "401" | "403" | "429" => Some(false),
        _ => panic!("{answer}"),
    }
}

/// Whoever says who may do what.
struct Administrator<'a> {
    scene: &'a Scene,
    line: Line<Told>,
    connection: Connection,
    asked: u32,
}

impl Administrator<'_> {
    fn change(&mut self, command: &str, told: Told) {
        self.begin(command);
        let answer = self.connection.receive().expect("the server lives");
        self.finish(&answer, told);
    }

    fn begin(&mut self, command: &str) {
        self.asked += 1;
        self.line.at(Instant::now());
        self.line.asks();
        self.send(command);
    }

    fn send(&mut self, command: &str) {
        let command = format!("{command} KEY root-{}", self.asked);
        let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
        self.connection.send(&words);
        self.connection.flush().expect("the server lives");
    }

    fn finish(&mut self, answer: &Value, told: Told) {
        let answer = Answer::parse(answer).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(answer.text("outcome"), Some("done"), "{answer:?}");
        self.line.at(Instant::now());
        self.line.hears(Seen::At(answer.position), told);
    }

    /// Gives each principal a new key and takes the old one away, over and over, and kills the server.
    fn rotate(&mut self, mut server: Turnstile, start: impl Fn() -> Turnstile) -> Turnstile {
        for old in 0..ROTATIONS {
            let (principal, new) = (old % PRINCIPALS, old + PRINCIPALS);
            let (id, digest) = (key(new.into()).id(), key(new.into()).digest().hex());
            self.change(
                &format!("ACCESS.ADD-KEY p{principal} {id} {digest}"),
                Told::Added(new),
            );
            self.scene.give(principal, new);
            self.scene.await_progress(OPERATIONS_BETWEEN);
            let other = (principal + 1) % PRINCIPALS;
            self.change(
                &format!("ACCESS.WITHDRAW-GRANT p{other} rooms.user"),
                Told::Withdrawn(other),
            );
            self.scene.await_progress(OPERATIONS_BETWEEN);
            self.change(
                &format!("ACCESS.GRANT p{other} rooms.user *"),
                Told::Granted(other),
            );
            let revoke = format!("ACCESS.REVOKE-KEY {}", key(old.into()).id());
            self.begin(&revoke);
            if old % ROTATIONS_PER_KILL == ROTATIONS_PER_KILL - 1 {
                self.scene.leave();
                server.kill();
                server = start();
                self.scene.come(Place::of(&server));
                self.connection = logged_in(server.resp());
                self.send(&revoke);
            }
            let answer = self.connection.receive().expect("the server lives");
            self.finish(&answer, Told::Revoked(old));
        }
        self.scene.await_progress(OPERATIONS_BETWEEN);
        server
    }
}

/// Asserts that the history is linearizable, and is one worth the name.
fn must_be_right(findings: Findings) {
    let charges = [findings.order, findings.answers, findings.seen];
    let sentences: Vec<String> = charges
        .into_iter()
        .flat_map(|one| one.sentences())
        .collect();
    assert!(sentences.is_empty(), "{sentences:#?}");
    assert!(!findings.overflowed && findings.unknown == 0);
    let counts = (findings.replayed, findings.readings);
    let is_enough = counts.0 > u64::from(ROTATIONS) * 40 && counts.1 > 100;
    assert!(is_enough, "operations and readings: {counts:?}");
}

#[test]
fn nothing_is_done_with_a_key_after_its_end_was_acknowledged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let start = || Turnstile::serve_http(folder.path(), &[]);
    let server = start();
    let mut root = guard(server.resp());
    for words in Hotel::opening() {
        put(&mut root, &words.join(" "));
    }
    for principal in 0..PRINCIPALS {
        let name = format!("p{principal}");
        add(&mut root, &name, "rooms.user *", principal.into());
    }
    let position = figure(&mut root, "position").expect("INFO has it");
    let guests = PRINCIPALS * CLIENTS_OF_EACH;
    let (mut lines, chronicle) = witnesses::<Told>(usize::from(guests) + OTHERS, 1, position);
    let checker = Checker::new(GuardedTable::new(), chronicle);
    let scene = Scene::new(Place::of(&server), PRINCIPALS);
    let seed = rand::random::<u64>();
    println!("seed {seed}");
    let mut seeds = (seed..).map(StdRng::seed_from_u64);
    let mut rng = || seeds.next().expect("there are many");
    let (checked, so_far) = (AtomicBool::new(false), CheckedSoFar::default());
    let (server, (model, findings)) = thread::scope(|scope| {
        let checking = scope.spawn(|| checker.run(&checked, &so_far));
        let mut working = Vec::new();
        for tries in [tries_resp, tries_http] {
            let line = lines.pop().expect("there is one for each");
            let (scene, rng) = (&scene, rng());
            let mut prober = Prober {
                scene,
                line,
                rng,
                tries,
            };
            working.push(scope.spawn(move || prober.work()));
        }
        let line = lines.pop().expect("there is one for each");
        for (number, line) in (0..guests).zip(lines) {
            let mut guest = Guest {
                number,
                scene: &scene,
                line,
                connection: None,
                books: Hotel::default(),
                rng: rng(),
                asked: 0,
            };
            working.push(scope.spawn(move || guest.work()));
        }
        let mut administrator = Administrator {
            scene: &scene,
            line,
            connection: root,
            asked: 0,
        };
        let server = administrator.rotate(server, start);
        scene.end();
        for work in working {
            work.join().expect("it works to its end");
        }
        checked.store(true, Ordering::SeqCst);
        (server, checking.join().expect("the check ends"))
    });
    must_be_right(findings);
    // What stands is what was booked, and by nobody else.
    let listed = everything(&mut logged_in(server.resp())).expect("the server lists it");
    let compared = Witness(model.rooms).compare(&listed);
    compared.unwrap_or_else(|failure| panic!("{failure}"));
}

/// The teeth of this check: a booking behind the end of its key, and readings that cannot be.
#[test]
fn what_is_done_with_a_key_after_its_end_is_found() {
    let (mut lines, chronicle) = witnesses::<Told>(1, 1, 0);
    let mut line = lines.pop().expect("one");
    let release = Operation::Release {
        reference: InlineReference::parse(b"R00").expect("a reference"),
        answer: Released::Refused(NoHold::Gone),
    };
    let rooms = Told::Rooms {
        keys: 1,
        operation: release,
    };
    for (seen, told) in [
        (Seen::Reading, Told::Permitted(0)),
        (Seen::At(1), Told::Revoked(0)),
        (Seen::At(2), rooms),
        (Seen::Reading, Told::Permitted(0)),
        (Seen::Reading, Told::Denied(1)),
    ] {
        line.at(Instant::now());
        line.asks();
        line.at(Instant::now());
        line.hears(seen, told);
    }
    let (_, findings) = Checker::new(GuardedTable::new(), chronicle).finish();
    assert_eq!(findings.answers.sentences().len(), 1);
    assert_eq!(findings.seen.sentences().len(), 2);
}
