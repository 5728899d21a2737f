//! Scenarios as stories: each file is a script of commands with what the machine answers.
//!
//! A line `> words` is a command or a question, the lines under it are the answer, `#` begins a
//! comment. With `UPDATE_SCENARIOS=1` in the environment the answers are written instead of
//! compared; read the difference before you keep it.
//!
//! These words are the same for all machines: `as CALLER`, `after 5m`, `tick`, `deadline`,
//! `events`, and `VERB ? WORDS` for a question. All others are commands.

use std::{fmt::Write as _, fs, path::Path};

use turnstile_types::{Machine, Name, Principal, Timestamp};

use crate::{check_restored, context};

/// The words of one machine's scripts. Each function writes whole lines.
#[derive(Debug)]
pub struct Words<M: Machine> {
    /// Reads a command and applies it.
    pub apply: fn(&mut Stage<M>, &[&str]) -> String,
    /// Reads a question, its verb first, and asks it.
    pub ask: fn(&Stage<M>, &str, &[&str]) -> String,
    pub event: fn(&M::Event) -> String,
}

/// A machine and the time on it.
#[derive(Debug)]
pub struct Stage<M> {
    pub machine: M,
    pub principal: Principal,
    /// Milliseconds since 1970.
    pub now: u64,
    position: u64,
}

impl<M: Machine> Stage<M> {
    fn new() -> Self {
        Self {
            machine: M::empty(),
            principal: Principal::local(),
            // 2027-01-01T00:00:00Z
            now: 1_798_761_600_000,
            position: 0,
        }
    }

    /// Applies a command in a record of its own.
    pub fn apply(&mut self, command: &M::Command<'_>) -> M::Outcome {
        self.position += 1;
        let context = context(self.position, self.now, &self.principal);
        self.machine.apply(&context, command)
    }

    pub fn query(&self, query: &M::Query) -> M::Answer {
        self.machine
            .query(Timestamp(self.now), &self.principal, query)
    }

    /// Plays one line and returns the lines of the answer. Nothing is lost by a restart, wherever
    /// it comes.
    fn play(&mut self, line: &str, words: &Words<M>) -> String {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let mut answer = String::new();
        match parts.as_slice() {
            ["as", caller] => {
                let name = Name::parse(caller.as_bytes()).expect("a caller has a name");
                self.principal = Principal(name);
            }
            ["after", time] => self.now += ms(time),
            ["tick"] => {
                self.position += 1;
                let context = context(self.position, self.now, &self.principal);
                self.machine.tick(&context);
            }
            ["deadline"] => match self.machine.next_deadline() {
                None => answer.push_str("none\n"),
                Some(deadline) => answer = format!("{deadline}\n"),
            },
            ["events"] => self
                .machine
                .drain_events(&mut |event| answer.push_str(&(words.event)(&event))),
            [verb, "?", rest @ ..] => answer = (words.ask)(self, verb, rest),
            command => answer = (words.apply)(self, command),
        }
        assert_eq!(self.machine.check(), Ok(()), "after {line}");
        check_restored(&self.machine);
        answer
    }
}

/// `5ms`, `5s`, `5m`, `5h`, `5d`, in milliseconds.
///
/// # Panics
/// When the text is nothing of the kind.
#[must_use]
pub fn ms(text: &str) -> u64 {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(end.expect("a time has a unit"));
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        other => panic!("no unit of time: {other}"),
    };
    number.parse::<u64>().expect("a time is a number") * unit
}

/// Plays all scripts of a folder, and compares each with what it says. `count`: how many there
/// are, so that none is lost.
///
/// # Panics
/// When one is played differently.
pub fn check_stories<M: Machine>(folder: &Path, count: usize, words: &Words<M>) {
    let files = fs::read_dir(folder).expect("the stories have a folder");
    let mut paths: Vec<_> = files
        .map(|file| file.expect("the folder is read").path())
        .collect();
    paths.sort();
    assert_eq!(paths.len(), count, "every story is played");
    for path in paths {
        check_story(&path, words);
    }
}

fn check_story<M: Machine>(path: &Path, words: &Words<M>) {
    let script = fs::read_to_string(path).expect("a story is a text");
    let played = play(&script, words);
    if std::env::var_os("UPDATE_SCENARIOS").is_some() {
        fs::write(path, &played).expect("a story is written");
        return;
    }
    assert!(
        played == script,
        "{} is played differently:\n{played}",
        path.display()
    );
}

/// The script with the answers of a machine to which nothing has happened yet.
fn play<M: Machine>(script: &str, words: &Words<M>) -> String {
    let mut stage = Stage::new();
    let mut played = String::new();
    let mut skip = false;
    for line in script.lines() {
        if let Some(command) = line.strip_prefix("> ") {
            writeln!(played, "{line}").expect("a string takes all that is written");
            played.push_str(&stage.play(command, words));
            skip = true;
        } else if line.is_empty() || line.starts_with('#') {
            writeln!(played, "{line}").expect("a string takes all that is written");
            skip = false;
        } else {
            assert!(skip, "an answer without a command: {line}");
        }
    }
    played
}
