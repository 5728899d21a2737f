//! Directories that were damaged while no server ran: torn tails, rot, and two servers at once.

use std::fs;
use std::path::{Path, PathBuf};

use rand::RngExt as _;
use tempfile::TempDir;
use turnstile_tests::{Turnstile, run};

use super::books::Books as _;
use super::directory::with_small_segments;
use super::hotel::Hotel;
use super::listing::{connect, figure};
use super::load::Lane;
use super::ordeal::Ordeal;
use super::recorder::{Number, Recorder};

/// Requests of a history; all have their answers.
const REQUESTS: usize = 600;

/// The most requests that are sent together, and so may become one group.
const BATCH_MAX: usize = 16;

/// Tails that are torn off, and bits that are flipped.
const DAMAGES: usize = 24;

/// Where the first group begins; before it is the segment's own header.
const FIRST_OFFSET: usize = 4096;

/// The first bytes of a group, the length of its header, and where its fields lie.
const GROUP: &[u8] = b"TSGR";
const HEADER_BYTES: usize = 60;
const POSITION_OFFSET: usize = 24;
const RECORDS_OFFSET: usize = 40;
const BODY_LENGTH_OFFSET: usize = 44;

/// A directory that a killed server left, and what it had acknowledged.
struct History {
    folder: TempDir,
    ordeal: Ordeal<Hotel>,
    /// The first segment up to the last byte that was written.
    used: Vec<u8>,
}

#[test]
fn a_torn_tail_leaves_what_was_before_it() {
    let mut history = History::make("a_torn_tail_leaves");
    let recorder = history.ordeal.recorder.clone();
    let half = history.used.len() / 2;
    for damage in 0..DAMAGES {
        let torn_at = if damage == 0 {
            history.used.len() - 1
        } else {
            history.ordeal.rng.random_range(half..history.used.len())
        };
        let copy = history.copy(|bytes| bytes[torn_at..].fill(0));
        let position = last_position(&history.used, torn_at);
        let refused = refused_as_lost(copy.path(), position, &recorder);
        history.ordeal.must(refused);
        // As after a power cut, which takes the mark too: now it may be a torn write.
        fs::remove_file(copy.path().join("durable-end")).expect("there is a mark");
        let server = Turnstile::serve(copy.path(), "sync");
        let compared = compare_prefix(&server, &recorder, &history.used, torn_at);
        history.ordeal.must(compared);
    }
}

/// Everything in the history was acknowledged, and the durable mark knows it: what is torn off is a loss,
/// and the position after which it begins is named.
fn refused_as_lost(data: &Path, last: u64, recorder: &Recorder<Hotel>) -> Result<(), String> {
    if last == recorder.last_acknowledged() {
        return Ok(());
    }
    let output = run(
        &["serve", "--resp", "127.0.0.1:0", "--http", "off", "--data"],
        data,
    );
    let errors = String::from_utf8_lossy(&output.stderr);
    let hint = format!("--accept-loss {last} to give up");
    if output.status.code() == Some(1) && errors.contains(&hint) {
        return Ok(());
    }
    Err(format!(
        "a loss after position {last} ended with {}, not with {hint}\n{errors}",
        output.status
    ))
}

/// What is served is what the whole groups before the tear say, and nothing else.
fn compare_prefix(
    server: &Turnstile,
    recorder: &Recorder<Hotel>,
    used: &[u8],
    torn_at: usize,
) -> Result<(), String> {
    let mut connection = connect(server.resp())?;
    let position = figure(&mut connection, "position")?;
    let expected = last_position(used, torn_at);
    if position != expected {
        return Err(format!(
            "torn at byte {torn_at}: served up to {position}, not {expected}"
        ));
    }
    let mut prefix = recorder.clone();
    prefix.enter_up_to(position)?;
    prefix.books.compare(&mut connection)
}

/// The position of the last record that is left when everything from `torn_at` on is set to zero.
fn last_position(used: &[u8], torn_at: usize) -> u64 {
    let group = group_at(&used[..torn_at], torn_at);
    let body = u32::from_le_bytes(field(used, group + BODY_LENGTH_OFFSET));
    let body = usize::try_from(body).expect("an address has at least 32 bits");
    let lost = used[torn_at..].iter();
    // Bytes that were zero anyway are not missed.
    let is_whole = lost
        .take((group + HEADER_BYTES + body).saturating_sub(torn_at))
        .all(|&byte| byte == 0);
    let records = u32::from_le_bytes(field(used, group + RECORDS_OFFSET));
    first_position(used, group) - 1 + if is_whole { u64::from(records) } else { 0 }
}

#[test]
fn rot_in_the_middle_is_refused_with_its_place() {
    let mut history = History::make("rot_in_the_middle");
    for _ in 0..DAMAGES {
        let end = history.used.len() / 2;
        let at = history.ordeal.rng.random_range(FIRST_OFFSET..end);
        let bit = history.ordeal.rng.random_range(0..8);
        let copy = history.copy(|bytes| bytes[at] ^= 1 << bit);
        let before = contents(copy.path());

        let group = group_at(&history.used, at + 1);
        let position = first_position(&history.used, group);
        let place = format!("segment-00000001 at byte {group}, position {position}:");
        for (arguments, code) in [
            (
                &["serve", "--resp", "127.0.0.1:0", "--http", "off", "--data"][..],
                1,
            ),
            (&["verify"], 97),
        ] {
            let output = run(arguments, copy.path());
            let errors = String::from_utf8_lossy(&output.stderr);
            let is_refused = output.status.code() == Some(code) && errors.contains(&place);
            history.ordeal.must(if is_refused {
                Ok(())
            } else {
                Err(format!(
                    "bit {bit} of byte {at} flipped: {arguments:?} ended with {}, not naming \
                     {place}\n{errors}",
                    output.status
                ))
            });
        }
        assert!(
            contents(copy.path()) == before,
            "a refused directory was changed"
        );
    }
}

#[test]
fn a_second_server_is_turned_away_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = Turnstile::serve(folder.path(), "sync");
    for arguments in [
        &["serve", "--resp", "127.0.0.1:0", "--http", "off", "--data"][..],
        &["verify"],
    ] {
        let second = run(arguments, folder.path());
        let errors = String::from_utf8_lossy(&second.stderr);
        assert_eq!(second.status.code(), Some(1), "{errors}");
        assert!(
            errors.contains("another process has the journal's directory"),
            "{errors}"
        );
    }
    let mut connection = connect(first.resp()).expect("the first server serves on");
    assert_eq!(figure(&mut connection, "position"), Ok(0));
}

impl History {
    fn make(test: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut ordeal = Ordeal::<Hotel>::new(test);
        with_small_segments(folder.path());
        let server = Turnstile::serve(folder.path(), "sync");
        ordeal.open(&server);
        let asked = ask(&server, &mut ordeal);
        ordeal.must(asked);
        server.kill();
        let mut used = fs::read(segment(folder.path())).expect("it can be read");
        let last = used.iter().rposition(|&byte| byte != 0);
        used.truncate(last.expect("something was written") + 1);
        Self {
            folder,
            ordeal,
            used,
        }
    }

    /// A copy whose first segment is damaged.
    fn copy(&self, damage: impl FnOnce(&mut [u8])) -> TempDir {
        let copy = tempfile::tempdir().expect("a temporary folder");
        let mut files = contents(self.folder.path());
        let first = segment(self.folder.path());
        let damaged = files.iter_mut().find(|(path, _)| *path == first);
        damage(&mut damaged.expect("there is a first segment").1);
        for (path, bytes) in files {
            let name = path.file_name().expect("files have names");
            fs::write(copy.path().join(name), bytes).expect("there is space");
        }
        copy
    }
}

/// Asks in batches of many lengths, so that there are groups of many lengths.
fn ask(server: &Turnstile, ordeal: &mut Ordeal<Hotel>) -> Result<(), String> {
    let mut lane = Lane::connect(server.resp())?;
    while ordeal.recorder.records.len() < REQUESTS {
        let batch = ordeal.rng.random_range(1..=BATCH_MAX);
        let numbers: Vec<Number> = (0..batch)
            .map(|_| ordeal.recorder.next(&mut ordeal.rng))
            .collect();
        for &number in &numbers {
            lane.send(&ordeal.recorder, number);
        }
        for _ in numbers {
            lane.listen(&mut ordeal.recorder)?;
        }
    }
    Ok(())
}

fn segment(folder: &Path) -> PathBuf {
    folder.join("segment-00000001")
}

/// Every file of a directory.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = fs::read_dir(folder).expect("the directory is there");
    let mut contents: Vec<_> = files
        .map(|file| file.expect("it can be read").path())
        .map(|path| {
            let bytes = fs::read(&path).expect("it can be read");
            (path, bytes)
        })
        .collect();
    contents.sort();
    contents
}

/// Where the last group that begins before `end` begins.
fn group_at(bytes: &[u8], end: usize) -> usize {
    let begins = |&at: &usize| bytes[at..].starts_with(GROUP);
    (FIRST_OFFSET..end)
        .rev()
        .find(begins)
        .expect("a group begins there")
}

fn first_position(bytes: &[u8], group: usize) -> u64 {
    u64::from_le_bytes(field(bytes, group + POSITION_OFFSET))
}

fn field<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let field = bytes.get(offset..).and_then(|rest| rest.first_chunk());
    *field.expect("the original is whole")
}
