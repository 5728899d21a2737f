//! Snapshots: the same state from the same bytes, and nothing from others.

use turnstile_types::{Machine, ReadProgress, Reader, hash_of};

/// The snapshot of a machine.
#[must_use]
pub fn bytes_of<M: Machine>(machine: &M) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.snapshot(&mut bytes);
    bytes
}

/// Reads a machine from its own snapshot: it is sound and has the same hash.
///
/// # Panics
/// When it is not, or has another.
pub fn check_restored<M: Machine>(machine: &M) -> M {
    assert_eq!(machine.check(), Ok(()));
    let bytes = bytes_of(machine);
    let restored = M::restore(&bytes).expect("a machine reads its own snapshot");
    assert_eq!(restored.check(), Ok(()));
    assert!(bytes_of(&restored) == bytes, "written as it was read");
    assert_eq!(hash_of(&restored), hash_of(machine));
    restored
}

/// A part of a snapshot is none, nor is more than one.
///
/// # Panics
/// When a machine is read from either.
pub fn check_cut_or_continued<M: Machine>(machine: &M) {
    let mut bytes = bytes_of(machine);
    for length in 0..bytes.len() {
        let cut = M::restore(bytes.get(..length).expect("a part of them"));
        assert!(cut.is_err(), "cut at {length}");
    }
    bytes.push(0);
    assert!(M::restore(&bytes).is_err(), "continued");
}

/// The progress of reading a snapshot can be seen, and the read can be stopped.
///
/// # Panics
/// When the machine, which is not empty, is read without a lap.
pub fn check_watched<M: Machine>(machine: &M) {
    let bytes = bytes_of(machine);
    let read = |progress: &ReadProgress| M::restore_from(&mut Reader::watched(&bytes, progress));
    let progress = ReadProgress::default();
    assert!(read(&progress).is_ok(), "it is not stopped");
    assert!(
        (1..=bytes.len() as u64).contains(&progress.done()),
        "{progress:?}"
    );
    progress.stop();
    assert!(read(&progress).is_err(), "stopped");
}

/// A bit changed anywhere gives another state that is sound and written as just these bytes, or
/// none. Returns how many of the bits were refused, and how many bytes there are.
///
/// # Panics
/// When a changed bit gives anything else.
pub fn check_changed<M: Machine>(machine: &M) -> (usize, usize) {
    let mut bytes = bytes_of(machine);
    let mut refused = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            flip(&mut bytes, at, bit);
            match M::restore(&bytes) {
                Ok(changed) => {
                    assert_eq!(changed.check(), Ok(()), "bit {bit} of byte {at}");
                    assert!(bytes_of(&changed) == bytes, "bit {bit} of byte {at}");
                }
                Err(_) => refused += 1,
            }
            flip(&mut bytes, at, bit);
        }
    }
    (refused, bytes.len())
}

fn flip(bytes: &mut [u8], at: usize, bit: u32) {
    *bytes.get_mut(at).expect("one of the bytes") ^= 1 << bit;
}
