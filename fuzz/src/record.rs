//! Groups of records: any bytes are refused or read, and what is read is written back as it was.

use turnstile_record::{
    Group, GroupBuilder, HEADER_BYTES, Header, Kind, MAGIC, RecordRef, VERSION,
    VERSION_WITHOUT_ORIGINS,
};
use turnstile_types::Author;

/// Reads `bytes` as they are, then with magic, version and checksums put right, so that the fuzzer
/// gets behind them.
pub fn run(bytes: &[u8]) {
    read(bytes);
    if let Some(repaired) = repair(bytes) {
        read(&repaired);
    }
}

fn read(bytes: &[u8]) {
    let Ok(header) = Header::parse(bytes) else {
        return;
    };
    let Ok(group) = Group::parse(bytes, header.place, None) else {
        return;
    };
    assert_eq!(group.records().count() as u64, u64::from(header.records));
    if header.kind != Kind::Records {
        return;
    }
    let written = write(&group);
    if header.version == VERSION {
        assert_eq!(written, bytes[..header.group_bytes()]);
    } else {
        // It is written as this version does, and nothing else has changed.
        let again = Group::parse(&written, header.place, None).expect("it was written just now");
        assert!(group.records().eq(again.records()));
    }
}

fn write(group: &Group<'_>) -> Vec<u8> {
    let header = group.header();
    let mut builder = GroupBuilder::new();
    builder.begin(group.time(), group.first());
    for record in group.records() {
        let position = builder.push(&RecordRef {
            service: record.service,
            author: Author {
                principal: &record.principal,
                origin: &record.origin(),
            },
            key: record.key,
            payload: record.payload,
        });
        assert_eq!(position, record.position);
    }
    let (bytes, link) = builder.finish(header.place, header.chain, header.after_sync);
    if header.version == VERSION {
        assert_eq!(link, header.link());
    }
    bytes.to_vec()
}

fn repair(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let (header, body) = bytes.split_first_chunk_mut::<HEADER_BYTES>()?;
    header[..4].copy_from_slice(&MAGIC);
    let version = u16::from_le_bytes([header[4], header[5]]);
    let version = version.clamp(VERSION_WITHOUT_ORIGINS, VERSION);
    header[4..6].copy_from_slice(&version.to_le_bytes());
    header[44..48].copy_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
    header[52..56].copy_from_slice(&crc32c::crc32c(body).to_le_bytes());
    let checksum = crc32c::crc32c(&header[..56]);
    header[56..].copy_from_slice(&checksum.to_le_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body must get behind the checksums, or a fuzzer would learn nothing.
    #[test]
    fn a_repaired_group_is_read_to_its_last_record() {
        check(include_str!("../../engine/record/golden/group-1.hex"));
        check(include_str!("../../engine/record/golden/group-2.hex"));
    }

    fn check(golden: &str) {
        let digits = golden.split_ascii_whitespace();
        let mut bytes: Vec<u8> = digits
            .map(|digits| u8::from_str_radix(digits, 16).expect("a hex file"))
            .collect();
        let seal = bytes.len() - HEADER_BYTES;
        bytes.truncate(seal);
        run(&bytes);
        for at in 0..seal {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            run(&changed);
            run(&changed[at..]);
        }
        bytes[seal - 1] ^= 1;
        let repaired = repair(&bytes).expect("it has a header");
        let header = Header::parse(&repaired).expect("it is sound again");
        let group = Group::parse(&repaired, header.place, None).expect("so is the body");
        assert_eq!(group.records().count(), 4);
        assert!(Group::parse(&bytes, header.place, None).is_err());
    }
}
