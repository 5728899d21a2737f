//! Power cuts: an ext4 loses everything that was not synced, while the server is at work.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rand::RngExt as _;
use turnstile_tests::{Turnstile, run};
use turnstile_trial::{Volume, VolumeLog};

use super::directory::{FIRST_OFFSET, SEGMENT_BYTES, with_small_segments};
use super::hotel::Hotel;
use super::listing::{connect, figure};
use super::load::Load;
use super::ordeal::Ordeal;

/// How often the power goes.
const CUTS: u32 = 50;

/// The most answers before a cut.
const ANSWERS_MAX: usize = 150;

/// The volume's size: some of the server's own segments, of 64 MiB, fit in.
const MEBIBYTES: u32 = 400;

/// After how many cuts in vain the rig is known not to cut.
const VAIN_CUTS_MAX: u32 = 10;

#[test]
fn a_power_cut_takes_nothing_that_was_answered() {
    let promise = "that acknowledged bookings survive a power cut";
    let Some(mut volume) = Volume::make(MEBIBYTES, promise) else {
        return;
    };
    let mut ordeal = Ordeal::<Hotel>::new("a_power_cut_takes_nothing");
    with_small_segments(&volume.data());
    ordeal.open(&Turnstile::serve(&volume.data(), "sync"));
    let mut half_made = 0;
    for cut in 1..=CUTS {
        if cut % 3 == 0 {
            half_made += u32::from(cut_power_while_a_segment_is_made(&volume));
            volume.remount();
        }
        let server = Turnstile::serve(&volume.data(), "sync");
        ordeal.check(&server);
        let load = ordeal.load(&server, ANSWERS_MAX);
        cut_power(&volume, &mut ordeal, server, load);
        volume.remount();
    }
    ordeal.check(&Turnstile::serve(&volume.data(), "sync"));
    let verdict = run(&["verify"], &volume.data());
    assert!(verdict.status.success(), "{verdict:?}");
    assert!(
        half_made > 0,
        "no power cut met a segment that was being made"
    );
    let count = segments(&volume.data()).len();
    assert!(
        count > 2,
        "no power cut came after the small segments: there are {count}"
    );
}

/// The power goes while the server starts and makes a segment; says whether it made one.
fn cut_power_while_a_segment_is_made(volume: &Volume) -> bool {
    remove_spare_segment(&volume.data());
    let mut is_half_made = false;
    Turnstile::kill_while_it_starts(&volume.data(), || {
        is_half_made = has_half_made_segment(&volume.data());
        if is_half_made {
            volume.cut(VolumeLog::Flushed);
        }
        is_half_made
    });
    is_half_made
}

/// The power goes; the server is killed too, or notices by itself, and then says nothing more.
fn cut_power(volume: &Volume, ordeal: &mut Ordeal<Hotel>, server: Turnstile, mut load: Load) {
    let is_flushed = ordeal.rng.random_bool(0.5);
    volume.cut(if is_flushed {
        VolumeLog::Flushed
    } else {
        VolumeLog::Lost
    });
    if ordeal.rng.random_bool(0.5) {
        server.kill();
        ordeal.drain(load);
        return;
    }
    load.ask_in_vain(&mut ordeal.recorder, &mut ordeal.rng);
    ordeal.drain(load);
    let status = server.ended();
    assert!(!status.success(), "a server without a disk ended well");
}

/// The teeth of the rig: answers that did not wait for the disk must get lost.
#[test]
fn a_power_cut_takes_answers_that_did_not_wait_for_the_disk() {
    let promise = "that the power cuts of these tests lose what was not synced";
    let Some(mut volume) = Volume::make(MEBIBYTES, promise) else {
        return;
    };
    let mut ordeal = Ordeal::<Hotel>::new("a_power_cut_takes_answers");
    with_small_segments(&volume.data());
    ordeal.open(&Turnstile::serve(&volume.data(), "sync"));
    let mut has_lost = false;
    for _ in 0..VAIN_CUTS_MAX {
        let server = Turnstile::serve(&volume.data(), "os");
        let load = ordeal.load(&server, ANSWERS_MAX);
        volume.cut(VolumeLog::Lost);
        server.kill();
        ordeal.drain(load);
        volume.remount();
        let server = Turnstile::serve(&volume.data(), "os");
        let connected = connect(server.resp());
        let position = figure(&mut ordeal.must(connected), "position");
        if ordeal.must(position) < ordeal.recorder.last_acknowledged() {
            has_lost = true;
            break;
        }
    }
    assert!(
        has_lost,
        "{VAIN_CUTS_MAX} cuts took nothing: this rig does not cut"
    );
}

/// Removes the segment that was made ready and holds nothing, so that the server makes it again,
/// beside the load, and the power goes in the middle of it. A small one is left to be filled.
fn remove_spare_segment(data: &Path) {
    let segments = segments(data);
    let last = segments.last().expect("a journal has a segment");
    let file = File::open(last).expect("it can be read");
    let is_small = file.metadata().expect("it has a length").len() <= SEGMENT_BYTES.into();
    let mut first_group = [0; 4];
    let read = file.read_exact_at(&mut first_group, FIRST_OFFSET);
    read.expect("a segment is longer than its header");
    if !is_small && first_group == [0; 4] {
        fs::remove_file(last).expect("it can be removed");
    }
}

/// The segments of a journal, the oldest first.
fn segments(data: &Path) -> Vec<PathBuf> {
    let mut segments = files(data);
    segments.retain(|path| path.extension().is_none() && has_segment_name(path));
    segments.sort();
    segments
}

/// Whether the power went while a segment was being made.
fn has_half_made_segment(data: &Path) -> bool {
    let mut files = files(data).into_iter();
    files.any(|path| path.extension().is_some() && has_segment_name(&path))
}

fn has_segment_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("segment-"))
}

fn files(data: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(data).expect("the directory is there");
    files
        .map(|file| file.expect("it can be read").path())
        .collect()
}
