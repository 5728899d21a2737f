//! What the bare machine does at this moment: one sync of the disk, one round trip over loopback.

use std::{
    fmt,
    fs::File,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::FileExt as _,
    path::Path,
    sync::{Arc, Barrier},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};

use crate::pin::{CLIENT_CORE, SERVER_CORE, pin};

const BLOCK_BYTES: usize = 4_096;
/// The blocks are overwritten in turn, as a journal overwrites its preallocated segment.
const BLOCKS: usize = 4_096;
const SYNCS: usize = 1_500;

/// Rounds of syncs that begin at once.
const ROUNDS_AT_ONCE: usize = 500;

const MESSAGE_BYTES: usize = 64;
const ROUND_TRIPS: usize = 20_000;
/// Not measured: the first exchanges find cold caches and a new connection.
const WARM_UP_ROUND_TRIPS: usize = 1_000;

/// Two probes of one run may differ by this factor; beyond it, the machine was not the same.
const DRIFT_MAX: f64 = 2.0;

/// The medians of one probe, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct MachineProbe {
    pub(crate) sync_p50_us: f64,
    pub(crate) loopback_p50_us: f64,
}

impl MachineProbe {
    /// Takes about half a second. The file lies in `dir`, where the servers keep theirs.
    pub(crate) fn take(dir: &Path) -> Result<Self> {
        Ok(Self {
            sync_p50_us: median_us(sync_times(dir)?),
            loopback_p50_us: median_us(round_trip_times(CLIENT_CORE)?),
        })
    }

    /// The same with both ends of the loopback on the server's core: nobody has to be woken from
    /// another.
    pub(crate) fn take_on_one_core(dir: &Path) -> Result<Self> {
        Ok(Self {
            sync_p50_us: median_us(sync_times(dir)?),
            loopback_p50_us: median_us(round_trip_times(SERVER_CORE)?),
        })
    }

    /// Whether the machine was the same at both moments.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| a.max(b) <= DRIFT_MAX * a.min(b);
        near(self.sync_p50_us, other.sync_p50_us)
            && near(self.loopback_p50_us, other.loopback_p50_us)
    }
}

impl fmt::Display for MachineProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sync of {BLOCK_BYTES} bytes: p50 {:.1} us; round trip of {MESSAGE_BYTES} bytes over \
             loopback: p50 {:.1} us",
            self.sync_p50_us, self.loopback_p50_us
        )
    }
}

/// The middle of some durations, in microseconds.
///
/// # Panics
/// There are none.
pub(crate) fn median_us(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn sync_times(dir: &Path) -> Result<Vec<Duration>> {
    let dir = dir.to_path_buf();
    let probe = thread::spawn(move || -> Result<Vec<Duration>> {
        pin(SERVER_CORE)?;
        let file = filled(&dir)?;
        let mut times = Vec::with_capacity(SYNCS);
        for nth in 0..SYNCS {
            let start = Instant::now();
            write_and_sync(&file, nth)?;
            times.push(start.elapsed());
        }
        Ok(times)
    });
    joined(probe)
}

/// How long it takes until so many files that are synced at once all are, in microseconds: a disk that
/// does one flush after the other makes those wait who come while one is under way.
pub(crate) fn syncs_at_once_us(dir: &Path, count: usize) -> Result<f64> {
    let barrier = Arc::new(Barrier::new(count + 1));
    let syncing = (0..count).map(|_| {
        let (barrier, dir) = (Arc::clone(&barrier), dir.to_path_buf());
        thread::spawn(move || -> Result<()> {
            let file = pin(SERVER_CORE).and_then(|()| filled(&dir));
            let mut synced = Ok(());
            for nth in 0..ROUNDS_AT_ONCE {
                barrier.wait();
                if let Ok(file) = &file {
                    synced = synced.and_then(|()| write_and_sync(file, nth));
                }
                barrier.wait();
            }
            file.and(synced)
        })
    });
    let syncing: Vec<_> = syncing.collect();
    let waiting = thread::spawn(move || -> Result<Vec<Duration>> {
        let pinned = pin(SERVER_CORE);
        let mut times = Vec::with_capacity(ROUNDS_AT_ONCE);
        for _ in 0..ROUNDS_AT_ONCE {
            let start = Instant::now();
            barrier.wait();
            barrier.wait();
            times.push(start.elapsed());
        }
        pinned?;
        Ok(times)
    });
    let times = joined(waiting)?;
    syncing.into_iter().try_for_each(joined)?;
    Ok(median_us(times))
}

/// A file in which only blocks are overwritten, as in a journal's segment.
fn filled(dir: &Path) -> Result<File> {
    let file =
        tempfile::tempfile_in(dir).with_context(|| format!("cannot write to {}", dir.display()))?;
    fill(&file)?;
    Ok(file)
}

fn write_and_sync(file: &File, nth: usize) -> Result<()> {
    file.write_all_at(&[1; BLOCK_BYTES], offset(nth % BLOCKS))?;
    rustix::fs::fdatasync(file)?;
    Ok(())
}

fn fill(file: &File) -> Result<()> {
    for block in 0..BLOCKS {
        file.write_all_at(&[0; BLOCK_BYTES], offset(block))?;
    }
    file.sync_all().context("cannot sync")
}

fn offset(block: usize) -> u64 {
    u64::try_from(block * BLOCK_BYTES).expect("a file offset fits 64 bits")
}

fn round_trip_times(client_core: usize) -> Result<Vec<Duration>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let echo = thread::spawn(move || -> Result<()> {
        pin(SERVER_CORE)?;
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut message = [0; MESSAGE_BYTES];
        for _ in 0..WARM_UP_ROUND_TRIPS + ROUND_TRIPS {
            stream.read_exact(&mut message)?;
            stream.write_all(&message)?;
        }
        Ok(())
    });
    let client = thread::spawn(move || -> Result<Vec<Duration>> {
        pin(client_core)?;
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut message = [7; MESSAGE_BYTES];
        let mut times = Vec::with_capacity(WARM_UP_ROUND_TRIPS + ROUND_TRIPS);
        for _ in 0..WARM_UP_ROUND_TRIPS + ROUND_TRIPS {
            let start = Instant::now();
            stream.write_all(&message)?;
            stream.read_exact(&mut message)?;
            times.push(start.elapsed());
        }
        Ok(times.split_off(WARM_UP_ROUND_TRIPS))
    });
    let times = joined(client)?;
    joined(echo)?;
    Ok(times)
}

/// The result of a thread of ours.
pub(crate) fn joined<T>(thread: thread::JoinHandle<Result<T>>) -> Result<T> {
    let result = thread.join();
    result.unwrap_or_else(|_panic| Err(anyhow!("a thread of the benchmark panicked")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MachineProbe, median_us};

    #[test]
    fn probes_agree_up_to_a_factor_of_two_in_either_direction() {
        let probe = |sync_p50_us, loopback_p50_us| MachineProbe {
            sync_p50_us,
            loopback_p50_us,
        };
        let first = probe(150.0, 20.0);
        let rows = [
            (probe(300.0, 40.0), true),
            (probe(75.0, 10.0), true),
            (probe(301.0, 20.0), false),
            (probe(150.0, 9.9), false),
        ];
        for (second, agree) in rows {
            assert_eq!(first.agrees(&second), agree, "{second:?}");
            assert_eq!(second.agrees(&first), agree, "{second:?}");
        }
    }

    #[test]
    fn the_median_does_not_see_outliers() {
        let us = Duration::from_micros;
        assert_eq!(median_us(vec![us(900_000), us(2), us(3)]), 3.0);
    }
}
