//! What a crash leaves behind the last durable group is cut, whatever it is.

use turnstile_journal::{
    Disk, Durability, Fate, FaultyDisk, Journal, Log, Options, Spot, Unsynced,
};

use crate::{History, OPTIONS, commit, disk_with, group, history, open};

/// Where the first group begins in a segment.
const FIRST: usize = 4096;

const SEGMENT: &str = "segment-00000001";

/// The file of a journal with two groups, and where the second one begins and ends.
fn two_groups() -> (Vec<u8>, usize, usize) {
    let one = disk_with(&vec![group(1, 2, 300)], false).contents(SEGMENT);
    let both = disk_with(&vec![group(1, 2, 300), group(2, 3, 2_000)], false).contents(SEGMENT);
    let used = |bytes: &[u8]| bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    (both.clone(), used(&one), used(&both))
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_and_counted() {
    let (whole, start, end) = two_groups();
    let kept = vec![group(1, 2, 300)];
    for torn in start..end {
        let disk = disk_with(&vec![], false);
        let mut bytes = whole.clone();
        bytes[torn..].fill(0);
        disk.overwrite(SEGMENT, 0, &bytes);
        let (mut journal, report) = open_again(&disk);
        assert_eq!(history(&journal), kept, "torn at {torn}");
        // Zeros at the end of what was written cannot be told from the segment's own.
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        let cut = used.saturating_sub(start);
        let spot = (cut > 0).then(|| Spot {
            file: SEGMENT.into(),
            offset: u32::try_from(start).unwrap(),
        });
        assert_eq!((report.cut_bytes, report.cut_at), (cut as u64, spot));
        commit(&mut journal, &group(9, 1, 50)).unwrap();
        drop(journal);
        let (journal, report) = open_again(&disk);
        assert_eq!(report.cut_bytes, 0, "the cut leaves only zeros");
        assert_eq!(history(&journal), vec![group(1, 2, 300), group(9, 1, 50)]);
    }
}

/// Opens after the process died and the machine stayed up.
fn open_again(disk: &FaultyDisk) -> (Journal<FaultyDisk>, turnstile_journal::Report) {
    let mut disk = disk.clone();
    disk.kill();
    open(&disk).unwrap()
}

#[test]
fn of_a_group_that_was_not_synced_any_subset_of_pages_leaves_all_or_nothing() {
    let before: History = vec![group(1, 2, 300), group(2, 1, 10)];
    let last = group(3, 5, 2_000);
    let all: History = [before.clone(), vec![last.clone()]].concat();
    let mut whole = 0;
    // The last group touches three pages; eight subsets, each page also torn in the middle.
    for subset in 0..27 {
        let mut disk = disk_with(&vec![before[0].clone()], false);
        disk.kill();
        let (mut journal, _) = Journal::open(disk.clone(), OS).unwrap();
        // The first group of a start is synced.
        commit(&mut journal, &before[1]).unwrap();
        commit(&mut journal, &last).unwrap();
        let mut left = subset;
        disk.crash_with(|_| {
            let fate = [Fate::Kept, Fate::Lost, Fate::Torn(0b0101_1010)][left % 3];
            left /= 3;
            fate
        });
        let (journal, report) = open(&disk).unwrap();
        let found = history(&journal);
        assert!(
            found == before || found == all,
            "subset {subset}: {found:?}"
        );
        assert_eq!(report.groups, found.len() as u64);
        whole += usize::from(found == all);
    }
    assert_eq!(whole, 1, "only the subset of all pages is the group");
}

const OS: Options = Options {
    durability: Durability::Os,
    ..OPTIONS
};

#[test]
fn unsynced_groups_of_os_durability_are_cut_from_the_first_hole_on() {
    let groups: History = (1..=6).map(|seed| group(seed, 1, 1_500)).collect();
    let mut lengths = vec![0; groups.len() + 1];
    for lost in 0..4 {
        let mut disk = FaultyDisk::new(1);
        let (mut journal, _) = Journal::open(disk.clone(), OS).unwrap();
        for group in &groups {
            commit(&mut journal, group).unwrap();
        }
        disk.crash_with(|unsynced| match unsynced {
            Unsynced::Page { page, .. } if page == lost => Fate::Lost,
            Unsynced::Page { .. } | Unsynced::Entry => Fate::Kept,
        });
        let (journal, _) = Journal::open(disk.clone(), OS).unwrap();
        let found = history(&journal);
        assert_eq!(found, groups[..found.len()], "lost page {lost}");
        lengths[found.len()] += 1;
    }
    // Page 0 has no groups and was synced, like the first group, which page 1 goes back to; each of the
    // others begins or continues a group.
    assert_eq!(lengths, [0, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn an_old_tail_never_comes_alive_behind_a_shorter_group() {
    let mut disk = disk_with(&vec![group(1, 1, 10)], false);
    disk.kill();
    let (mut journal, _) = Journal::open(disk.clone(), OS).unwrap();
    // The first group of a start is synced.
    commit(&mut journal, &group(5, 1, 10)).unwrap();
    for seed in 2..=4 {
        commit(&mut journal, &group(seed, 1, 1_990)).unwrap();
    }
    // The first of three unsynced groups is lost, the later ones are whole.
    disk.crash_with(|unsynced| match unsynced {
        Unsynced::Page { page: 1, .. } => Fate::Torn(0b0000_0001),
        Unsynced::Page { .. } | Unsynced::Entry => Fate::Kept,
    });
    let (mut journal, report) = open(&disk).unwrap();
    assert!(report.cut_bytes > 4_000, "{report:?}");
    // Exactly as long as the lost group, so that the old ones would line up.
    commit(&mut journal, &group(7, 1, 1_990)).unwrap();
    disk.crash();
    let (journal, report) = open(&disk).unwrap();
    let kept = vec![group(1, 1, 10), group(5, 1, 10), group(7, 1, 1_990)];
    assert_eq!(history(&journal), kept);
    assert_eq!(report.cut_bytes, 0);
}

#[test]
fn a_clean_stop_is_known_as_one() {
    let disk = disk_with(&vec![group(1, 1, 10)], true);
    let sealed = disk.contents(SEGMENT);
    let (journal, report) = open(&disk).unwrap();
    assert!(report.clean);
    journal.close().unwrap();
    assert_eq!(disk.contents(SEGMENT), sealed, "one seal is enough");
    let (mut journal, _) = open(&disk).unwrap();
    commit(&mut journal, &group(2, 1, 10)).unwrap();
    drop(journal);
    let (_journal, report) = open(&disk).unwrap();
    assert!(!report.clean);
}

#[test]
fn unfinished_files_and_foreign_names_are_no_part_of_the_journal() {
    let groups = vec![group(1, 1, 10)];
    let disk = disk_with(&groups, true);
    for name in [
        "segment-00000002.new",
        "snapshot-00000000000000000009.new",
        "notes.new",
    ] {
        disk.create(name, 5_000).unwrap();
    }
    let (journal, _) = open(&disk).unwrap();
    assert_eq!(history(&journal), groups);
    let mut names = disk.list().unwrap();
    names.sort();
    assert_eq!(
        names,
        ["durable-end", "notes.new", SEGMENT, "segment-00000002"]
    );
    assert_eq!(disk.contents(SEGMENT).len() % FIRST, 0);
}

/// A group goes to the next segment when it does not fit with a seal behind it, and not before: a seal
/// that had no room would make the file longer.
#[test]
fn a_segment_is_filled_to_the_byte_that_its_seal_leaves() {
    let header = turnstile_record::HEADER_BYTES;
    let overhead = 8 + "local".len() + 1;
    let whole = 16_384 - FIRST - 2 * header - overhead;
    for (bytes, in_next) in [(whole, false), (whole + 1, true)] {
        let disk = FaultyDisk::new(1);
        let (mut journal, _) = open(&disk).unwrap();
        // The first segment holds a little, so that the offset counts as well.
        commit(&mut journal, &group(1, 1, 100)).unwrap();
        let used = header + overhead + 100;
        commit(&mut journal, &group(2, 1, bytes - used)).unwrap();
        journal.close().unwrap();
        let is_used = |name| {
            disk.contents(name)
                .get(FIRST)
                .is_some_and(|&byte| byte != 0)
        };
        assert_eq!(is_used("segment-00000002"), in_next, "{bytes}");
        assert_eq!(disk.contents(SEGMENT).len(), 16_384, "{bytes}");
        assert!(open(&disk).unwrap().1.clean, "{bytes}");
    }
}
