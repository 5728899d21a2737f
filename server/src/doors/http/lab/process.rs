//! The process of a load, and what it prints.

use std::{
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
    thread,
};

use serde::Deserialize;

/// Of a line that a load prints; what is longer counts as several.
const LINE_BYTES: u64 = 4_096;

/// A load as a process. It ends with its standard input, so that it does not outlive the server.
#[derive(Debug)]
pub(super) struct LabProcess(Child);

/// What a load prints.
#[derive(Debug)]
pub(super) struct LabOutput {
    lines: ChildStdout,
    errors: ChildStderr,
}

/// How far a load is: a line of JSON on its standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct LabProgress {
    pub(super) elapsed_ms: u64,
    pub(super) answered: u64,
    pub(super) refused: u64,
    pub(super) failed: u64,
    pub(super) per_second: u64,
    pub(super) p50_ns: Option<u64>,
    pub(super) p99_ns: Option<u64>,
    pub(super) checked: Option<u64>,
    pub(super) violations: Option<u64>,
}

/// One thing that is known of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Progress(LabProgress),
    /// A line of its standard error.
    Message(String),
    /// It prints nothing any more.
    Ended,
}

impl LabProcess {
    pub(super) fn start(program: &Path, arguments: &[OsString]) -> io::Result<(Self, LabOutput)> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let lines = child.stdout.take().expect("it was asked for");
        let errors = child.stderr.take().expect("it was asked for");
        Ok((Self(child), LabOutput { lines, errors }))
    }

    /// Ends it; nothing happens to one that has ended.
    pub(super) fn kill(&mut self) {
        if let Err(failure) = self.0.kill() {
            tracing::warn!(%failure, "a load of the lab cannot be stopped");
        }
    }

    /// Waits for one that prints nothing any more.
    pub(super) fn reap(mut self) {
        match self.0.wait() {
            Ok(status) => tracing::info!(%status, "a load of the lab has ended"),
            Err(failure) => tracing::warn!(%failure, "a load of the lab was lost"),
        }
    }
}

impl LabOutput {
    /// Tells all that is printed, from threads that end with the process.
    pub(super) fn follow(self, tell: impl Fn(Told) + Send + Sync + 'static) {
        let Self { lines, errors } = self;
        let begun = thread::Builder::new()
            .name("lab".to_owned())
            .spawn(move || {
                thread::scope(|scope| {
                    scope.spawn(|| each_line(errors, |line| tell(Told::Message(line.to_owned()))));
                    each_line(lines, |line| {
                        if let Ok(progress) = serde_json::from_str(line) {
                            tell(Told::Progress(progress));
                        }
                    });
                });
                tell(Told::Ended);
            });
        if let Err(failure) = begun {
            tracing::error!(%failure, "a load of the lab cannot be watched");
        }
    }
}

fn each_line(from: impl io::Read, mut heed: impl FnMut(&str)) {
    let (mut input, mut line) = (BufReader::new(from), Vec::new());
    while let Ok(1..) = input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            heed(text);
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_load_tells_how_far_it_is_what_is_wrong_and_that_it_has_ended() {
        let script = r#"
            echo '{"elapsed_ms":1,"planned_ms":9,"answered":2,"refused":1,"failed":0,"per_second":7,"p50_ns":9,"p99_ns":null}'
            echo 'a line for people'
            echo 'no room' >&2"#;
        let arguments = ["-c", script].map(OsString::from);
        let (process, output) = LabProcess::start(Path::new("/bin/sh"), &arguments).unwrap();
        let (told, heard) = mpsc::sync_channel(16);
        output.follow(move |one| told.send(one).unwrap());
        let mut all: Vec<Told> = heard.into_iter().collect();
        process.reap();
        assert_eq!(all.pop(), Some(Told::Ended));
        // Output and errors come in any order.
        all.sort_by_key(|one| matches!(one, Told::Message(_)));
        let progress = LabProgress {
            elapsed_ms: 1,
            answered: 2,
            refused: 1,
            failed: 0,
            per_second: 7,
            p50_ns: Some(9),
            p99_ns: None,
            checked: None,
            violations: None,
        };
        assert_eq!(
            all,
            [
                Told::Progress(progress),
                Told::Message("no room".to_owned())
            ]
        );
    }

    #[test]
    fn a_load_that_is_stopped_ends() {
        let arguments = ["-c", "read -r line"].map(OsString::from);
        let (mut process, output) = LabProcess::start(Path::new("/bin/sh"), &arguments).unwrap();
        let (told, heard) = mpsc::sync_channel(16);
        output.follow(move |one| told.send(one).unwrap());
        process.kill();
        assert_eq!(heard.into_iter().collect::<Vec<_>>(), [Told::Ended]);
        process.reap();
    }
}
