//! Who runs on which processors: threads and processes inherit those of the thread that makes them.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The highest number that a processor has here.
pub const NUMBER_MAX: usize = CpuSet::MAX_CPU - 1;

/// The processors that this thread may use.
#[must_use]
pub fn available() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_unknown| CpuSet::new());
    (0..=NUMBER_MAX).filter(|&core| set.is_set(core)).collect()
}

/// Whether so many threads leave a processor of the machine to others, and have one each.
#[must_use]
pub fn has_idle(threads: usize) -> bool {
    let told = std::fs::read_to_string("/sys/devices/system/cpu/online");
    let all = told.map_or(0, |told| count(told.trim()));
    all > threads && available().len() >= threads
}

/// Of `0-3,8` there are five.
fn count(ranges: &str) -> usize {
    let counts = ranges.split(',').filter_map(|range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        to.checked_sub(from).map(|more| more + 1)
    });
    counts.sum()
}

/// While this lives, its thread and whatever that makes stay on certain processors.
#[derive(Debug)]
#[must_use]
pub struct PinnedThread {
    before: CpuSet,
}

/// Keeps this thread, and all threads and processes that it makes, on these processors.
///
/// # Errors
/// The system refuses: there are no such processors, or they may not be used.
pub fn stay_on(cores: &[usize]) -> io::Result<PinnedThread> {
    let before = sched_getaffinity(None)?;
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    sched_setaffinity(None, &set)?;
    Ok(PinnedThread { before })
}

impl Drop for PinnedThread {
    fn drop(&mut self) {
        // What could be set before can be set again.
        sched_setaffinity(None, &self.before).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::{NUMBER_MAX, available, count, has_idle, stay_on};

    #[test]
    fn processors_are_counted_by_their_ranges() {
        let counts = ["0", "0-3,8", "", "x"].map(count);
        assert_eq!(counts, [1, 5, 0, 0]);
        assert!(!has_idle(NUMBER_MAX));
    }

    #[test]
    fn threads_that_are_made_meanwhile_stay_there_and_we_do_not() {
        let all = available();
        let first = all[0];
        let stay = stay_on(&[first]).unwrap();
        let within = std::thread::spawn(available).join().unwrap();
        drop(stay);
        assert_eq!((within, available()), (vec![first], all));
        let refused = stay_on(&[NUMBER_MAX]).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    }
}
