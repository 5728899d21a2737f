//! Runs the commands that README and the book show, and compares what they print.
//!
//! A block of console lines holds commands after `$ ` and the output of each. The blocks of a page are
//! run in order in an empty folder. `turnstile dev` and `turnstile serve` run until the page ends; a
//! page that starts neither gets `dev`. All doors are on free ports: the test translates the
//! documented ports in commands and back in output. In the output a line `...` stands for any lines.
//!
//! Words after `console` change this. `numbers vary` compares all numbers as equal; positions in the
//! journal and times of day always are. `server stopped` stops the servers of the page first. `not run: REASON` only has
//! `turnstile` parse its command lines.
//!
//! `TURNSTILE_BLESS=1` writes the output into the pages.

use std::{
    env,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::process::{Server, run, settled};

/// The doors with their options and the ports of `dev`; `serve` opens the first two.
const DOORS: [(&str, &str, &str); 6] = [
    ("resp", "--resp", "8479"),
    ("http", "--http", "8470"),
    ("xml", "--xml", "12345"),
    ("travel", "--travel", "12346"),
    ("games-arena", "--games-arena", "21282"),
    ("games-scores", "--games-scores", "21538"),
];

/// Commands that call the RESP door at its usual port unless they have `--resp`.
const CALLERS: [&str; 5] = ["call", "tx list", "tx show", "tx resolve", "rooms import"];

#[test]
fn every_command_in_the_readme_and_the_book_prints_what_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = vec![root.join("README.md")];
    documents(&root.join("docs"), &mut paths);
    let mut failures = String::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let mut page = Page::new(name);
        let fresh = page.run(&text);
        failures += &page.failures;
        if env::var_os("TURNSTILE_BLESS").is_some() {
            fs::write(&path, fresh).unwrap();
        }
    }
    assert!(
        failures.is_empty(),
        "review, then TURNSTILE_BLESS=1\n{failures}"
    );
}

fn documents(folder: &Path, paths: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            documents(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

/// A page, and what runs while its commands do.
struct Page {
    name: String,
    folder: tempfile::TempDir,
    servers: Vec<Server>,
    /// The documented port of a door and the open one, the newest server's first.
    ports: Vec<(String, String)>,
    failures: String,
}

impl Page {
    fn new(name: String) -> Self {
        Self {
            name,
            folder: tempfile::tempdir().unwrap(),
            servers: Vec::new(),
            ports: Vec::new(),
            failures: String::new(),
        }
    }

    /// Runs the blocks; returns the text with the output that they had.
    fn run(&mut self, text: &str) -> String {
        let mut fresh = String::new();
        let mut lines = (1..).zip(text.lines()).peekable();
        while let Some((_, line)) = lines.next() {
            fresh = fresh + line + "\n";
            if line == "```python" {
                let code = lines
                    .clone()
                    .map_while(|(_, line)| (line != "```").then_some(line));
                self.python(&code.collect::<Vec<&str>>());
            }
            let Some(note) = line.strip_prefix("```console") else {
                continue;
            };
            if note.trim() == "server stopped" {
                self.stop();
            }
            while let Some((number, line)) = lines.next_if(|(_, line)| *line != "```") {
                fresh = fresh + line + "\n";
                let mut command = line.strip_prefix("$ ").unwrap_or_default().to_owned();
                while command.ends_with('\\') {
                    let (_, more) = lines.next().unwrap();
                    fresh = fresh + more + "\n";
                    command = command + "\n" + more;
                }
                let mut shown = Vec::new();
                while let Some((_, line)) =
                    lines.next_if(|(_, line)| !line.starts_with("$ ") && *line != "```")
                {
                    shown.push(line);
                }
                let actual = self.command(number, note.trim(), &command, &shown);
                for line in actual {
                    fresh = fresh + &line + "\n";
                }
            }
        }
        self.stop();
        fresh
    }

    /// Runs a command; returns its output, as far as it is not the one that is shown.
    fn command(&mut self, line: usize, note: &str, command: &str, shown: &[&str]) -> Vec<String> {
        let kept = || shown.iter().map(|line| (*line).to_owned()).collect();
        if note.starts_with("not run: ") {
            if let Some(error) = self.misread(command) {
                writeln!(self.failures, "{}:{line}: $ {command}\n{error}", self.name).unwrap();
            }
            return kept();
        }
        let output = self.output(command);
        let actual: Vec<String> = output.lines().map(|line| self.documented(line)).collect();
        if is_shown(shown, &actual, note == "numbers vary") {
            return kept();
        }
        writeln!(
            self.failures,
            "{}:{line}: $ {command}\n{}",
            self.name,
            actual.join("\n")
        )
        .unwrap();
        actual
    }

    fn output(&mut self, command: &str) -> String {
        if let Some(words) = command.strip_prefix("turnstile dev") {
            return self.start("dev", words, &DOORS);
        }
        if let Some(words) = command.strip_prefix("turnstile serve") {
            return self.start("serve", words, &DOORS[..2]);
        }
        if self.ports.is_empty() {
            self.start("dev", "", &DOORS);
        }
        let ended = run(&mut self.shell(&format!("{{ {}\n}} 2>&1", self.translated(command))));
        ended.out + &ended.err
    }

    /// Runs a script with the Python that has the tested libraries. It prints the comments at its ends
    /// of lines.
    fn python(&mut self, code: &[&str]) {
        let Some(python) = env::var_os("TURNSTILE_TEST_PYTHON") else {
            std::io::stderr()
                .write_all(b"NOT TESTED: Python, which `cargo xtask test` installs\n")
                .unwrap();
            return;
        };
        let comments = code
            .iter()
            .filter_map(|line| Some(line.split_once("  # ")?.1));
        let shown: String = comments.map(|comment| comment.to_owned() + "\n").collect();
        let script = self.translated(&code.join("\n"));
        let mut command = settled(Command::new(python));
        let ended = run(command.arg("-c").arg(script));
        if ended.out != shown {
            writeln!(
                self.failures,
                "{}: Python: {}{}",
                self.name, ended.out, ended.err
            )
            .unwrap();
        }
    }

    /// Starts a server on free ports; returns what it prints.
    fn start(&mut self, how: &str, words: &str, doors: &[(&str, &str, &str)]) -> String {
        let mut line = format!("exec turnstile {how}{words}");
        let mut documented = Vec::new();
        for (name, option, port) in DOORS {
            let given = format!(" {option} 127.0.0.1:");
            if let Some((before, after)) = line.clone().split_once(&given) {
                let end = after.find(|one: char| !one.is_ascii_digit());
                let (port, after) = after.split_at(end.unwrap_or(after.len()));
                line = format!("{before}{given}0{after}");
                documented.push((name, port.to_owned()));
            } else if doors.iter().any(|door| door.0 == name) {
                write!(line, "{given}0").unwrap();
                documented.push((name, port.to_owned()));
            }
        }
        let server = Server::start(&mut self.shell(&line));
        for (name, port) in documented {
            let open = server.door(name).unwrap().port();
            self.ports.insert(0, (port, open.to_string()));
        }
        let printed = server.printed.join("\n") + "\nready\n";
        self.servers.push(server);
        printed
    }

    fn stop(&mut self) {
        for server in self.servers.drain(..) {
            server.stop();
        }
    }

    /// What is wrong with a command line of `turnstile`, if anything is.
    fn misread(&self, command: &str) -> Option<String> {
        command.strip_prefix("turnstile ")?;
        let end = [" #", " | ", " > ", " &"].map(|end| command.find(end));
        let command = &command[..end.into_iter().flatten().min().unwrap_or(command.len())];
        // The help is shown once the words before it have been understood.
        let line = match command.split_once(" -- ") {
            Some((before, after)) => format!("{before} --help -- {after}"),
            None => format!("{command} --help"),
        };
        let ended = run(&mut self.shell(&line));
        (ended.code != Some(0)).then_some(ended.err)
    }

    fn shell(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_turnstile"));
        let mut path = program.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        let mut shell = settled(Command::new("sh"));
        shell.arg("-c").arg(line).env("PATH", path);
        shell.current_dir(self.folder.path());
        shell
    }

    /// A command as this test runs it: on the open ports, with the output of a terminal.
    fn translated(&self, command: &str) -> String {
        let mut line = command.to_owned();
        for caller in CALLERS {
            if !line.contains("--resp") {
                let called = format!("turnstile {caller}");
                line = line.replace(&called, &format!("{called} --resp 127.0.0.1:8479"));
            }
        }
        line = line.replace("redis-cli ", "redis-cli --no-raw ");
        line = line.replace("curl ", "curl --silent --show-error ");
        for (documented, open) in &self.ports {
            line = with_number(&line, documented, open);
        }
        line
    }

    /// A line of output as the page shows it.
    fn documented(&self, line: &str) -> String {
        let mut line = line.trim_end().to_owned();
        for (documented, open) in &self.ports {
            line = with_number(&line, open, documented);
        }
        line = line.replace(&self.folder.path().display().to_string(), "~");
        let temporary = env::temp_dir().join("turnstile-").display().to_string();
        if let Some((before, after)) = line.split_once(&temporary) {
            let rest = after.trim_start_matches(|one: char| one.is_ascii_alphanumeric());
            line = format!("{before}/tmp/turnstile-1KHRp8{rest}");
        }
        line
    }
}

/// A text with another number in the place of one, where that stands alone.
fn with_number(text: &str, number: &str, other: &str) -> String {
    let mut parts = text.split(number);
    let mut new = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_part_of_another = new.ends_with(|one: char| one.is_ascii_alphanumeric())
            || part.starts_with(|one: char| one.is_ascii_alphanumeric());
        new += if is_part_of_another { number } else { other };
        new += part;
    }
    new
}

/// Whether a page shows this output; a line `...` stands for any lines.
fn is_shown(shown: &[&str], actual: &[String], numbers_vary: bool) -> bool {
    let is_same = |shown: &str, actual: &str| {
        without_chance(shown) == without_chance(actual)
            || numbers_vary && shape(shown) == shape(actual)
    };
    match (shown, actual) {
        ([], []) => true,
        (["...", rest @ ..], _) => {
            (0..=actual.len()).any(|skipped| is_shown(rest, &actual[skipped..], numbers_vary))
        }
        ([first, shown @ ..], [line, actual @ ..]) => {
            is_same(first, line) && is_shown(shown, actual, numbers_vary)
        }
        _ => false,
    }
}

/// A line without the time of day and the number behind `position`, which counts the records of the
/// sample data too.
fn without_chance(line: &str) -> String {
    let is_instant = |word: &str| word.len() > 19 && word.ends_with('Z') && word.starts_with("20");
    let parts = line.split_inclusive([' ', '"']);
    let line: String = parts
        .map(|part| match part.trim_end_matches('"') {
            word if is_instant(word) => "#",
            _ => part,
        })
        .collect();
    let Some((before, after)) = line.split_once("position") else {
        return line;
    };
    let digits = |one: char| one.is_ascii_digit();
    let (between, number) = after.split_at(after.find(digits).unwrap_or(after.len()));
    format!(
        "{before}position{between}{}",
        number.trim_start_matches(digits)
    )
}

/// A line without its numbers and the width of its columns. A number includes its unit.
fn shape(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let shape = if word.starts_with(|one: char| one.is_ascii_digit()) {
            "#".to_owned()
        } else {
            word.replace(|one: char| one.is_ascii_digit(), "#")
        };
        if shape != "#" || words.last().is_none_or(|last| last != "#") {
            words.push(shape);
        }
    }
    words.join(" ")
}

#[test]
fn output_is_compared_as_the_page_says() {
    let compare = |shown: &[&str], actual: &[&str], numbers_vary| {
        let actual: Vec<String> = actual.iter().map(|line| (*line).to_owned()).collect();
        is_shown(shown, &actual, numbers_vary)
    };
    assert!(compare(&["a 1"], &["a 1"], false));
    assert!(!compare(&["a 1"], &["a 2"], false));
    assert!(compare(&["position: 12, 3"], &["position: 4, 3"], false));
    let times = ["2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.125Z"];
    assert!(compare(
        &[&format!("at: {}", times[0])],
        &[&format!("at: {}", times[1])],
        false
    ));
    assert!(!compare(&["position: 12, 3"], &["position: 4, 5"], false));
    assert!(!compare(&["a"], &["a", "b"], false));
    assert!(compare(&["a", "..."], &["a", "b", "c"], false));
    assert!(compare(&["...", "c"], &["a", "b", "c"], false));
    assert!(!compare(&["...", "c"], &["a", "b"], false));
    assert!(compare(&["p99  1.2ms 3 400/s"], &["p99 12us  16/s"], true));
    assert!(!compare(&["p99 1.2ms"], &["mean 1.2ms"], true));
    assert_eq!(with_number("a:80 b8080 c:80", "80", "9"), "a:9 b8080 c:9");
}
