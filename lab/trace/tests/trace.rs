//! Traces are read as they were written, up to the last whole entry, and nothing damaged is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fs;

use turnstile_seed::Random;
use turnstile_trace::{Broken, Entry, Kind, StreamHash, Trace, TraceWriter};

/// Two connections, three requests, as every version must read them.
const GOLDEN: &[u8] = include_bytes!("golden-1.lab");

fn write() -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!(
        "turnstile-trace-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let mut trace = TraceWriter::create(&folder).unwrap();
    let first = trace.open(5).unwrap();
    trace
        .put(Kind::Request, first, 1_000, b"*1\r\n$4\r\nPING\r\n")
        .unwrap();
    let second = trace.open(1_500).unwrap();
    trace
        .put(Kind::Request, second, 2_000, b"*1\r\n$4\r\nINFO\r\n")
        .unwrap();
    trace.put(Kind::Answer, first, 2_500, b"+PONG\r\n").unwrap();
    trace.put(Kind::Request, first, 1 << 40, b"").unwrap();
    trace.put(Kind::Closed, second, 1 << 41, b"").unwrap();
    assert_eq!((first, second), (0, 1));
    let (connections, requests, _) = trace.summary();
    assert_eq!((connections, requests), (2, 3));
    let bytes = fs::read(&folder).unwrap();
    assert!(
        TraceWriter::create(&folder).is_err(),
        "nothing is written over"
    );
    fs::remove_file(&folder).unwrap();
    bytes
}

fn kinds(trace: &Trace) -> Vec<(Kind, u32, u64, usize)> {
    let row = |one: Entry<'_>| (one.kind, one.connection, one.at, one.payload.len());
    trace.entries().map(row).collect()
}

#[test]
fn the_bytes_are_those_of_the_golden_file() {
    assert_eq!(write(), GOLDEN);
    let trace = Trace::of_bytes(GOLDEN.to_vec()).unwrap();
    let rows = [
        (Kind::Opened, 0, 5, 0),
        (Kind::Request, 0, 1_000, 14),
        (Kind::Opened, 1, 1_500, 0),
        (Kind::Request, 1, 2_000, 14),
        (Kind::Answer, 0, 2_500, 7),
        (Kind::Request, 0, 1 << 40, 0),
        (Kind::Closed, 1, 1 << 41, 0),
    ];
    assert_eq!((kinds(&trace), trace.torn()), (rows.to_vec(), 0));
}

#[test]
fn a_truncated_trace_is_read_to_its_last_whole_entry() {
    let whole = kinds(&Trace::of_bytes(GOLDEN.to_vec()).unwrap());
    let mut read = Vec::new();
    for cut in 16..GOLDEN.len() {
        let trace = Trace::of_bytes(GOLDEN[..cut].to_vec()).unwrap();
        let found = kinds(&trace);
        assert_eq!(found, whole[..found.len()], "{cut}");
        read.push(found.len());
    }
    assert!(
        read.is_sorted() && read.contains(&0) && read.contains(&6),
        "{read:?}"
    );
    for cut in 0..16 {
        let error = Trace::of_bytes(GOLDEN[..cut].to_vec());
        assert!(matches!(error, Err(Broken::NoTrace)), "{cut}");
    }
    // What the system has not written yet may be zeros.
    let mut unwritten = GOLDEN.to_vec();
    unwritten.resize(GOLDEN.len() + 100, 0);
    let trace = Trace::of_bytes(unwritten).unwrap();
    assert_eq!((kinds(&trace), trace.torn()), (whole, 100));
}

#[test]
fn a_changed_bit_is_never_read_as_something_else() {
    let mut random = Random::new(1);
    for _ in 0..2_000 {
        let mut bytes = GOLDEN.to_vec();
        let at = random.below(u64::try_from(bytes.len()).unwrap());
        bytes[usize::try_from(at).unwrap()] ^= 1 << random.below(8);
        let found = Trace::of_bytes(bytes);
        let told = match found {
            Err(Broken::NoTrace) => at < 8,
            Err(Broken::Version(_)) => (8..16).contains(&at),
            Err(Broken::Damaged { offset }) => offset >= 16 && u64::try_from(offset).unwrap() <= at,
            Err(Broken::Io(_)) | Ok(_) => false,
        };
        assert!(told, "bit at {at}");
    }
}

#[test]
fn a_stream_has_one_hash_however_connections_take_turns() {
    let hash = |parts: &[(u32, &str)]| {
        let mut hash = StreamHash::default();
        for (connection, text) in parts {
            hash.add(*connection, text.as_bytes());
        }
        hash.value()
    };
    let one = hash(&[(0, "ab"), (1, "cd"), (0, "e")]);
    assert_eq!(one, hash(&[(0, "a"), (0, "be"), (1, "cd")]));
    assert_ne!(one, hash(&[(0, "abe"), (1, "ce")]));
    assert_ne!(one, hash(&[(1, "abe"), (0, "cd")]));
}
