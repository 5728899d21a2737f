//! Directories of released versions, which every later version opens: `cli/tests/golden/VERSION` holds one of
//! each, with backups of it and the directory of a node, and they stay for ever.
//!
//! `TURNSTILE_BLESS=1` makes what this version lacks, from `commands.txt` and `questions.txt`. While a version
//! is not released, its folder may be removed and made again.

mod backups;
mod nodes;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Once,
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use tempfile::TempDir;
use turnstile_client::Connection;
use turnstile_embedded::{Verdict, verify};

use crate::process::{Server, ask, run, turnstile, words};

/// The key of the administrator of every golden directory.
const KEY: &str = "ts_live_aaaqea727p6p_aadq4fi4emvdcob7izgviw3cnfyho7ufrsjzviniv63l3rgl2lmq";

/// More than the commands of most services, so that a snapshot and a tail behind it are there.
const SNAPSHOT_RECORDS: &str = "90";

const ARCHIVE: &str = "directory.tar.gz";
const ANSWERS: &str = "answers.txt";

/// The file that a version has last of something, and what makes it.
type Maker = (&'static str, fn(&str));

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The golden directories, by their versions. That of this version is made if it is asked for.
fn versions() -> Vec<String> {
    static MADE: Once = Once::new();
    let this = golden().join(env!("CARGO_PKG_VERSION"));
    if std::env::var_os("TURNSTILE_BLESS").is_some() {
        MADE.call_once(|| {
            let makers: [Maker; 3] = [
                (ANSWERS, make),
                (backups::LATER_ANSWERS, backups::make),
                (nodes::NODE_ANSWERS, nodes::make),
            ];
            for (last, make) in makers {
                if !this.join(last).exists() {
                    make(env!("CARGO_PKG_VERSION"));
                }
            }
        });
    }
    let entries = fs::read_dir(golden()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut versions: Vec<String> = folders
        .map(|folder| folder.file_name().into_string().unwrap())
        .collect();
    versions.sort_unstable();
    versions
}

fn unpacked(version: &str) -> TempDir {
    let data = tempfile::tempdir().unwrap();
    unpack(&golden().join(version).join(ARCHIVE), data.path());
    data
}

fn unpack(archive: &Path, into: &Path) {
    let archive = GzDecoder::new(File::open(archive).unwrap());
    tar::Archive::new(archive).unpack(into).unwrap();
}

/// Packs the files of a directory, but for those that hold nothing.
fn packed(data: &Path, archive: &Path) {
    let archive = File::create(archive).unwrap();
    let mut archive = tar::Builder::new(GzEncoder::new(archive, Compression::best()));
    for name in names_in(data) {
        if name != "lock" && name != "reserve" {
            archive
                .append_path_with_name(data.join(&name), &name)
                .unwrap();
        }
    }
    archive
        .into_inner()
        .unwrap()
        .finish()
        .unwrap()
        .flush()
        .unwrap();
}

fn serve(data: &Path) -> Command {
    let mut command = turnstile();
    command.args(["serve", "--resp", "127.0.0.1:0", "--http", "off"]);
    command
        .args(["--segment-bytes", "4194304", "--data"])
        .arg(data);
    command
}

/// The lines of a file that are no comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// What a directory comes to, and what a server on it answers.
fn answers(data: &Path, questions: &str) -> String {
    let mut told = told(&verify(data).unwrap());
    let server = Server::start(&mut serve(data));
    let mut door = server.connect();
    log_in(&mut door);
    for question in lines(questions) {
        let answer = words(&ask(&mut door, question));
        told.push_str(&format!("{question}\n    {answer}\n"));
    }
    server.stop();
    told
}

fn log_in(door: &mut Connection) {
    let answer = ask(door, &format!("AUTH {KEY}"));
    assert_eq!(words(&answer), "OK");
}

fn told(verdict: &Verdict) -> String {
    assert!(verdict.holds(), "{verdict:?}");
    let mut told = format!(
        "# position {}, digest {:032x}\n",
        verdict.journal.last, verdict.hash
    );
    for (count, words) in &verdict.standing {
        told.push_str(&format!("# {count} {words}\n"));
    }
    told
}

/// The lines of answers that say what a directory comes to.
fn head(answers: &str) -> String {
    let lines = answers.lines().take_while(|line| line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_directory_of_every_version_is_read_and_answers_as_it_did() {
    for version in versions() {
        let data = unpacked(&version);
        let expected = fs::read_to_string(golden().join(&version).join(ANSWERS)).unwrap();
        let checked = run(turnstile().args(["upgrade", "--check"]).arg(data.path()));
        assert_eq!(checked.code, Some(0), "{version}: {checked:?}");
        assert_eq!(checked.row("reads it"), "yes", "{version}");
        let wrote = format!("{version}fromposition1on");
        assert_eq!(checked.row("written by"), wrote, "{checked:?}");
        let questions: Vec<&str> = lines(&expected)
            .filter(|line| !line.starts_with("    "))
            .collect();
        let found = answers(data.path(), &questions.join("\n"));
        assert_eq!(found, expected, "{version}");
        // What this version has written behind it belongs to it.
        assert!(verify(data.path()).unwrap().holds(), "{version}");
    }
}

/// Every command by the names of its service and operation, from the page that the declarations make.
fn commands() -> BTreeSet<String> {
    let page = include_str!("../../../docs/reference/operations.md");
    let forms = page.lines().filter(|line| line.ends_with(" [KEY key]"));
    let names = forms.map(|form| form.split(' ').next().unwrap());
    names
        .map(|name| name.to_lowercase().replace('-', "_"))
        .collect()
}

#[test]
fn this_version_has_a_golden_directory_that_holds_every_command() {
    let this = env!("CARGO_PKG_VERSION");
    assert!(
        versions().iter().any(|version| version == this),
        "make that of {this}"
    );
    let data = unpacked(this);
    let dump = run(turnstile()
        .args(["journal", "dump", "--json"])
        .arg(data.path()));
    let held: BTreeSet<String> = dump
        .out
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            format!("{}.{}", text("service"), text("operation"))
        })
        .collect();
    let missing: Vec<String> = commands().difference(&held).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "add them to commands.txt");
    let names: Vec<String> = names_in(data.path());
    assert_eq!(
        names
            .iter()
            .filter(|name| name.starts_with("snapshot-"))
            .count(),
        1
    );
}

fn names_in(data: &Path) -> Vec<String> {
    let entries = fs::read_dir(data).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// Makes the golden directory of this version.
fn make(version: &str) {
    let golden = &golden().join(version);
    let data = tempfile::tempdir().unwrap();
    let mut command = serve(data.path());
    command.args(["--snapshot-records", SNAPSHOT_RECORDS]);
    let server = Server::start(&mut command);
    let mut door = server.connect();
    for line in lines(include_str!("../golden/commands.txt")) {
        let mut answer = words(&ask(&mut door, line));
        if answer.starts_with("-NOAUTH") {
            log_in(&mut door);
            answer = words(&ask(&mut door, line));
        }
        assert!(!answer.starts_with('-'), "{line}: {answer}");
    }
    await_snapshot(data.path(), &mut door);
    server.stop();
    fs::create_dir_all(golden).unwrap();
    packed(data.path(), &golden.join(ARCHIVE));
    let told = answers(data.path(), include_str!("../golden/questions.txt"));
    fs::write(golden.join(ANSWERS), told).unwrap();
}

/// Asks for the server's life until the snapshot is there that a thread of it makes.
fn await_snapshot(data: &Path, door: &mut Connection) {
    let is_snapshot = |name: &String| name.starts_with("snapshot-") && !name.ends_with(".new");
    while !names_in(data).iter().any(is_snapshot) {
        ask(door, "PING");
    }
}
