//! Rot is found and named, and never answered by cutting what was durable.

use turnstile_journal::{Disk, Fault, FaultyDisk, OpenError, Spot};
use turnstile_types::Position;

use crate::{History, commit, disk_with, group, history, long_history, open};

const SEGMENT: &str = "segment-00000001";

fn small() -> History {
    vec![group(1, 1, 30), group(2, 2, 20), group(3, 1, 30)]
}

/// Where the bytes of the journal end that are not zero.
fn used(disk: &FaultyDisk) -> u64 {
    let bytes = disk.contents(SEGMENT);
    (bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1) as u64
}

#[test]
fn after_a_clean_stop_every_flipped_bit_is_refused_or_harmless() {
    let groups = small();
    let disk = disk_with(&groups, true);
    let (header, end) = (4096, used(&disk));
    let seal = end - 60;
    let mut refused = 0;
    let mut harmless = 0;
    for bit in (0..64 * 8).chain(header * 8..(end + 64) * 8) {
        disk.flip(SEGMENT, bit);
        let before = disk.contents(SEGMENT);
        match open(&disk) {
            Err(OpenError::Corrupt { at, position, .. }) => {
                assert!((header..seal).contains(&(bit / 8)), "bit {bit}");
                assert!(u64::from(at.offset) <= bit / 8, "bit {bit}: {at}");
                assert!(position <= Position(4));
                assert_eq!(disk.contents(SEGMENT), before, "nothing was touched");
                refused += 1;
            }
            Err(OpenError::SegmentRotten { .. }) => {
                assert!(bit / 8 < 26, "bit {bit}");
                refused += 1;
            }
            Ok((journal, _)) => {
                assert_eq!(history(&journal), groups, "bit {bit}");
                assert!(!(header..seal).contains(&(bit / 8)), "bit {bit}");
                harmless += 1;
            }
            Err(other) => panic!("bit {bit}: {other}"),
        }
        restore(&disk, &groups);
    }
    let group_bits = (seal - header) * 8;
    assert_eq!(refused, group_bits + 26 * 8);
    // The seal itself, zeros behind it, and the rest of the header's page.
    assert_eq!(harmless, 60 * 8 + 64 * 8 + (64 - 26) * 8);
}

/// Puts the segment's bytes back as they were.
fn restore(disk: &FaultyDisk, groups: &History) {
    let sound = disk_with(groups, true).contents(SEGMENT);
    disk.overwrite(SEGMENT, 0, &sound);
}

/// As after a power cut that took the durable mark of the last groups.
#[test]
fn without_a_mark_only_the_last_group_can_pass_for_a_torn_tail() {
    let groups = small();
    let last = used(&disk_with(&groups[..2].to_vec(), false));
    let end = used(&disk_with(&groups, false));
    for bit in 4096 * 8..end * 8 {
        let mut disk = disk_with(&groups, false);
        disk.flip(SEGMENT, bit);
        disk.kill();
        disk.remove("durable-end").unwrap();
        match open(&disk) {
            Err(OpenError::Corrupt { .. }) => assert!(bit / 8 < last, "bit {bit}"),
            Ok((journal, report)) => {
                assert!(bit / 8 >= last, "bit {bit}");
                assert_eq!(history(&journal), groups[..2]);
                assert!(report.cut_bytes >= end - last - 1, "{report:?}");
            }
            Err(other) => panic!("bit {bit}: {other}"),
        }
    }
}

#[test]
fn a_sector_of_zeros_anywhere_in_the_middle_is_refused_with_its_place() {
    let groups = long_history();
    let mut refused = 0;
    for segment in ["segment-00000001", "segment-00000002"] {
        let pristine = disk_with(&groups, true).contents(segment);
        for from in (4_096..pristine.len()).step_by(512) {
            if pristine[from..from + 512].iter().all(|&byte| byte == 0) {
                continue;
            }
            let disk = disk_with(&groups, true);
            disk.overwrite(segment, from as u64, &[0; 512]);
            let Err(OpenError::Corrupt { at, .. }) = open(&disk) else {
                panic!("the sector at {from} of {segment} is missing and nobody noticed");
            };
            // Where a segment's first header is zeros, the group may as well be missing before it.
            let is_first_header = from == 4_096 && segment != SEGMENT;
            assert!(is_first_header || at.file == segment && at.offset as usize <= from + 511);
            refused += 1;
        }
    }
    assert!(refused > 30, "{refused}");
}

/// At the beginning of a segment, behind a whole one, such a group passed for a torn tail and was cut.
#[test]
fn a_group_of_a_newer_version_is_refused_wherever_it_lies() {
    for segment in [SEGMENT, "segment-00000002"] {
        let disk = disk_with(&long_history(), false);
        disk.remove("durable-end").unwrap();
        let mut header = disk.contents(segment)[4_096..4_156].to_vec();
        header[4] = 3;
        let checksum = crc32c::crc32c(&header[..56]);
        header[56..].copy_from_slice(&checksum.to_le_bytes());
        disk.overwrite(segment, 4_096, &header);
        let before = disk.contents(segment);
        let refusal = open(&disk).unwrap_err().to_string();
        let expected = format!(
            "{segment} was written by a newer version of this program: it has format 3, and this \
             program reads up to 2; start the version that wrote it"
        );
        assert_eq!(refusal, expected);
        assert_eq!(disk.contents(segment), before, "nothing was changed");
    }
}

#[test]
fn a_missing_segment_is_named() {
    for (name, expected) in [
        ("segment-00000001", "segment-00000001 is missing"),
        ("segment-00000002", "segment-00000002 is missing"),
    ] {
        let disk = disk_with(&long_history(), true);
        disk.remove(name).unwrap();
        assert_eq!(open(&disk).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_segment_of_another_journal_is_refused() {
    let disk = disk_with(&long_history(), true);
    let mut other = FaultyDisk::new(8);
    let (mut journal, _) = open(&other).unwrap();
    for group in long_history() {
        commit(&mut journal, &group).unwrap();
    }
    other.kill();
    disk.overwrite("segment-00000002", 0, &other.contents("segment-00000002"));
    assert!(matches!(open(&disk), Err(OpenError::Foreign { file }) if file == "segment-00000002"));
}

#[test]
fn misdirected_and_lost_writes_never_give_a_wrong_record() {
    let groups = long_history();
    let mut refused = 0;
    for fault in [Fault::MisdirectedWrite, Fault::LostWrite] {
        for seed in 0..20 {
            // Each group is a write of its own and one of the durable mark.
            for write in 0..2 * groups.len() as u64 {
                let mut disk = FaultyDisk::new(seed);
                let (mut journal, _) = open(&disk).unwrap();
                disk.inject(fault, write);
                let mut acked = 0;
                for group in &groups {
                    match commit(&mut journal, group) {
                        Ok(()) => acked += 1,
                        Err(_) => break,
                    }
                }
                disk.crash();
                match open(&disk) {
                    Ok((journal, _)) => {
                        let found = history(&journal);
                        assert_eq!(found, groups[..found.len()]);
                        // Of a disk that lies about its very last write nothing can be known.
                        assert!(found.len() + 1 >= acked, "{fault:?} {seed} {write}");
                    }
                    Err(
                        OpenError::Corrupt { .. }
                        | OpenError::Lost { .. }
                        | OpenError::SegmentRotten { .. },
                    ) => {
                        refused += 1;
                    }
                    Err(other) => panic!("{fault:?} {seed} {write}: {other}"),
                }
            }
        }
    }
    assert!(refused > 700, "most of the time it is noticed: {refused}");
}

/// The torn group itself may lie behind the end only where it belongs: elsewhere, the disk is not to be
/// believed.
#[test]
fn a_last_group_that_was_written_elsewhere_is_no_torn_tail() {
    let groups = small();
    let mut disk = disk_with(&groups, false);
    let bytes = disk.contents(SEGMENT);
    let magic = &bytes[4_096..4_100];
    let start = bytes.windows(4).rposition(|four| four == magic).unwrap();
    let last = bytes[start..start + 512].to_vec();
    disk.overwrite(SEGMENT, start as u64, &vec![0; last.len()]);
    disk.overwrite(SEGMENT, start as u64 + 1_024, &last);
    disk.kill();
    disk.remove("durable-end").unwrap();
    let opened = open(&disk).map(|(journal, _)| history(&journal));
    assert!(
        matches!(opened, Err(OpenError::Corrupt { .. })),
        "{opened:?}"
    );
}

#[test]
fn a_read_that_fails_once_is_tried_again_and_twice_is_an_error() {
    let groups = small();
    let disk = disk_with(&groups, true);
    let mut failed = 0;
    for read in 0..12 {
        disk.inject(Fault::ReadError, read);
        match open(&disk) {
            Ok((journal, _)) => assert_eq!(history(&journal), groups),
            Err(OpenError::Io(_)) => failed += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(failed < 12, "reading a file is tried again");
    let spot = Spot {
        file: SEGMENT.into(),
        offset: 9,
    };
    assert_eq!(spot.to_string(), "segment-00000001 at byte 9");
}
