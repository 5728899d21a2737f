//! What every crash test does: load a server, and after its crash compare what it knows with what
//! it had answered.

use std::env;
use std::net::SocketAddr;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use turnstile_client::Connection;
use turnstile_tests::Turnstile;

use super::answer::Answer;
use super::books::Books;
use super::listing::{connect, figure};
use super::load::Load;
use super::recorder::{Number, Recorder, Reply};

/// The variable that makes a test repeat its requests and its moments.
const SEED: &str = "TURNSTILE_TEST_SEED";

/// Connections of a load.
const LANES: usize = 5;

/// How many requests that had their answer are asked again after a crash.
const RETRIES: usize = 40;

/// A server's history through crashes.
#[derive(Debug)]
pub(crate) struct Ordeal<B: Books> {
    crashes: u32,
    /// Requests that a crash left without an answer and that had happened all the same.
    happened: u32,
    /// Requests that a crash left without an answer and that had not happened.
    forgotten: u32,
    pub(crate) rng: StdRng,
    pub(crate) recorder: Recorder<B>,
}

impl<B: Books> Ordeal<B> {
    /// Begins with the seed of the environment, or with a new one. The harness shows it when the
    /// test fails in whatever way. The moment of a crash depends on the machine too, so a failure
    /// may need some runs to be seen again.
    #[expect(
        clippy::print_stdout,
        reason = "the harness shows it when the test fails"
    )]
    pub(crate) fn new(test: &'static str) -> Self {
        let given = env::var(SEED).ok();
        let seed = given.map_or_else(rand::random, |text| {
            text.parse()
                .unwrap_or_else(|_| panic!("{SEED} is not a number: {text}"))
        });
        println!(
            "to send the same requests again:\n\
             {SEED}={seed} cargo test -p turnstile-tests --test system {test}"
        );
        Self {
            crashes: 0,
            happened: 0,
            forgotten: 0,
            rng: StdRng::seed_from_u64(seed),
            recorder: Recorder::new(),
        }
    }

    /// The number of the next crash, from 1, if there is to be one: there are so many in any case, and
    /// up to four times as many until both fates were met. Which of them a crash meets is chance.
    pub(crate) fn next_crash(&self, crashes: u32) -> Option<u32> {
        let most = if self.has_met_both() { 1 } else { 4 } * crashes;
        (self.crashes < most).then_some(self.crashes + 1)
    }

    /// Whether of what was not answered some had happened and some had not.
    const fn has_met_both(&self) -> bool {
        self.happened > 0 && self.forgotten > 0
    }

    /// Asserts that the crashes have met both fates.
    pub(crate) fn must_have_met_both(&self) {
        assert!(
            self.has_met_both(),
            "of what was not answered {} had happened and {} had not: both must be met",
            self.happened,
            self.forgotten
        );
    }

    /// What must hold.
    pub(crate) fn must<T>(&self, result: Result<T, String>) -> T {
        let requests = self.recorder.records.len();
        result.unwrap_or_else(|failure| {
            panic!(
                "{failure}\nafter {} crashes and {requests} requests",
                self.crashes
            )
        })
    }

    /// Sends to a new directory what must be there before everything else.
    pub(crate) fn open(&self, server: &Turnstile) {
        let connected = connect(server.resp());
        let mut connection = self.must(connected);
        for words in B::opening() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.must(super::listing::ask(&mut connection, &words));
        }
    }

    /// Loads a server until it has acknowledged a random number of requests, and leaves more in
    /// flight.
    pub(crate) fn load(&mut self, server: &Turnstile, most: usize) -> Load {
        self.load_all(&[server.resp()], most)
    }

    /// The same with several servers.
    pub(crate) fn load_all(&mut self, doors: &[SocketAddr], most: usize) -> Load {
        let answers = self.rng.random_range(1..=most);
        let connected = Load::connect(doors, LANES);
        let mut load = self.must(connected);
        self.go_on(&mut load, answers);
        if self.rng.random_bool(0.5) {
            let asked = load.ask(&mut self.recorder, &mut self.rng);
            self.must(asked);
        }
        load
    }

    /// Loads it with so many more acknowledged requests.
    pub(crate) fn go_on(&mut self, load: &mut Load, answers: usize) {
        let ran = load.run(&mut self.recorder, &mut self.rng, answers);
        self.must(ran);
    }

    /// Listens to what the server had sent before it ended.
    pub(crate) fn drain(&mut self, load: Load) {
        self.crashes += 1;
        let drained = load.drain(&mut self.recorder);
        self.must(drained);
    }

    /// Compares a server that came back with what it had answered before.
    pub(crate) fn check(&mut self, server: &Turnstile) {
        let recovered = self.recovered(server);
        let recovered = self.must(recovered);
        let checked = self.compare(server, Some(recovered));
        self.must(checked);
    }

    /// The same with a server whose database remembers, and knows no position of a journal.
    pub(crate) fn check_database(&mut self, server: &Turnstile) {
        let checked = self.compare(server, None);
        self.must(checked);
    }

    /// The last position that a server came back with.
    fn recovered(&self, server: &Turnstile) -> Result<u64, String> {
        let recovered = figure(&mut connect(server.resp())?, "position")?;
        let acknowledged = self.recorder.last_acknowledged();
        if recovered < acknowledged {
            return Err(format!(
                "position {acknowledged} was acknowledged, and the server came back with {recovered}"
            ));
        }
        Ok(recovered)
    }

    fn compare(&mut self, server: &Turnstile, recovered: Option<u64>) -> Result<(), String> {
        let mut connection = connect(server.resp())?;
        self.ask_what_was_not_answered(&mut connection, recovered)?;
        self.ask_again_what_was_answered(&mut connection)?;
        self.recorder.enter()?;
        self.recorder.books.compare(&mut connection)
    }

    /// Each has one effect: it happened before the crash, or it happens now, and then never again.
    fn ask_what_was_not_answered(
        &mut self,
        connection: &mut Connection,
        recovered: Option<u64>,
    ) -> Result<(), String> {
        for number in (self.recorder.entered..self.recorder.records.len()).map(Number) {
            let refused = match &self.recorder.records[number.0].reply {
                Reply::Answered(_) => continue,
                Reply::NotDone => true,
                Reply::Missing => false,
            };
            let answer = ask(connection, &self.recorder, number)?;
            let record = &self.recorder.records[number.0];
            let had_happened = recovered.map(|recovered| answer.position <= recovered);
            let is_wrong = had_happened.is_some_and(|happened| happened != answer.replayed);
            if is_wrong || (refused && answer.replayed) {
                return Err(format!(
                    "{record:?}, asked again at position {recovered:?}, was answered {answer:?}"
                ));
            }
            let again = ask(connection, &self.recorder, number)?;
            if !again.replayed || !again.is_as(&answer) {
                return Err(format!(
                    "{record:?} was answered {answer:?} and then {again:?}"
                ));
            }
            self.happened += u32::from(answer.replayed);
            self.forgotten += u32::from(!answer.replayed);
            self.recorder.settle(number, answer);
        }
        Ok(())
    }

    /// A client that asks again gets the same answer, also when it had one.
    fn ask_again_what_was_answered(&mut self, connection: &mut Connection) -> Result<(), String> {
        let count = self.recorder.records.len();
        for retry in 0..RETRIES.min(count) {
            let number = Number(if retry % 2 == 0 {
                count - 1 - retry
            } else {
                self.rng.random_range(0..count)
            });
            let record = &self.recorder.records[number.0];
            let Reply::Answered(first) = &record.reply else {
                return Err(format!("{record:?} was never answered"));
            };
            let again = ask(connection, &self.recorder, number)?;
            if !again.replayed || !again.is_as(first) {
                return Err(format!("{record:?} is now answered {again:?}"));
            }
        }
        Ok(())
    }
}

fn ask<B: Books>(
    connection: &mut Connection,
    recorder: &Recorder<B>,
    number: Number,
) -> Result<Answer, String> {
    let words = recorder.words(number);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Answer::parse(&super::listing::ask(connection, &words)?)
}
