//! The disk that a server would keep its data on.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
    time::Instant,
};

use rustix::fs::statvfs;
use turnstile_stats::{
    Histogram,
    units::{Bytes, Nanos, to_float},
};

use super::{Grade, HealthCheck};

const FREE_BYTES: (u64, u64) = (4 << 30, 256 << 20);

/// A sync of one block; a durable server answers no sooner.
const SYNC_NANOS: (f64, f64) = (10e6, 100e6);
const SYNCS: u32 = 50;
const BLOCK_BYTES: usize = 4_096;

pub(super) fn all(directory: &Path) -> [HealthCheck; 2] {
    [free(directory), sync(directory)]
}

fn free(directory: &Path) -> HealthCheck {
    let finding = HealthCheck::new(
        "free disk",
        "a durable server fills it: a long run ends with a full disk",
    );
    let cure = "make room, or name another directory (--data)";
    match statvfs(directory) {
        Ok(disk) => {
            let bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
            let grade = if bytes >= FREE_BYTES.0 {
                Grade::Ok
            } else if bytes >= FREE_BYTES.1 {
                Grade::Warn
            } else {
                Grade::Bad
            };
            let found = format!("{} free in {}", Bytes(bytes), directory.display());
            finding.is(grade, found, cure)
        }
        Err(error) => finding.is(
            Grade::Bad,
            format!("{}: {error}", directory.display()),
            cure,
        ),
    }
}

fn sync(directory: &Path) -> HealthCheck {
    let finding = HealthCheck::new(
        "sync",
        "every durable answer waits for one: the disk is measured, not the server",
    );
    let cure =
        "take a disk with a cache that survives a power cut, or name another directory (--data)";
    match syncs(directory) {
        Ok(times) => {
            let median = to_float(times.quantile(0.5));
            let found = format!(
                "a block is durable in {} (at most {})",
                Nanos(median),
                Nanos(to_float(times.max()))
            );
            finding.is(
                Grade::up_to(SYNC_NANOS.0, SYNC_NANOS.1, median),
                found,
                cure,
            )
        }
        Err(error) => {
            let found = format!("nothing can be written to {}: {error}", directory.display());
            finding.is(Grade::Bad, found, cure)
        }
    }
}

/// Writes a block and has it made durable, over and over, as a journal does.
fn syncs(directory: &Path) -> io::Result<Histogram> {
    let path = directory.join(format!(".turnstile-doctor-{}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    let mut times = Histogram::new();
    let measured = (0..SYNCS).try_for_each(|_sync| {
        let start = Instant::now();
        file.write_all(&[7; BLOCK_BYTES])?;
        file.sync_data()?;
        times.record(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        Ok(())
    });
    let removed = fs::remove_file(&path);
    measured.and(removed).map(|()| times)
}
