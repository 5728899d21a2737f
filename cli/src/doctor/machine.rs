//! This machine: its file system and disk, limits, clock and memory.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rustix::{
    fs::{Mode, OFlags, openat, statfs},
    process::{Resource, getrlimit},
};
use turnstile_server::Limits;
use turnstile_stats::units::{Bytes, Count, Nanos};
use turnstile_types::Timestamp;

use super::{Health, Symptom};
use crate::descriptors;

const SLOW_DISK: &str = "runbooks.md#the-disk-is-slow";
const CLOCK: &str = "runbooks.md#the-clock-jumped";
const LIMITS: &str = "limits.md#too-many-connections";
const MEMORY: &str = "limits.md#memory";
const PAGES: &str = "decisions/0015-large-pages-for-what-is-looked-up.md";

/// File systems by the numbers of `statfs(2)`: those that forget everything, and those whose syncs depend on
/// another machine or program.
const IN_MEMORY: [(u64, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];
const REMOTE: [(u64, &str); 5] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9p"),
];
const LOCAL: [(u64, &str); 5] = [
    (0xef53, "ext4"),
    (0x5846_5342, "XFS"),
    (0x9123_683e, "Btrfs"),
    (0x2fc1_2fc1, "ZFS"),
    (0x794c_7630, "overlay"),
];

/// Where a container keeps its files unless a volume is mounted.
const OVERLAY: &str = "overlay";

const SYNCS: u32 = 30;
const BLOCK_BYTES: usize = 4_096;

/// The median of a sync. Above the first answers are slow; above the second something is broken.
const SYNC_SLOW: Duration = Duration::from_millis(20);
const SYNC_BROKEN: Duration = Duration::from_millis(200);

/// No disk without a cache that survives a power cut writes a block through sooner.
const SYNC_TOO_FAST: Duration = Duration::from_micros(40);

/// With fewer descriptors something is broken.
const DESCRIPTORS_MIN: u64 = 1_024;

/// A state takes in memory some times what its snapshot takes on the disk.
const STATE_PER_SNAPSHOT: u64 = 4;
const MEMORY_LEAST: u64 = 256 << 20;

/// The file system of a directory, and whether its syncs mean what they say.
pub(super) fn file_system(directory: &Path) -> Vec<Symptom> {
    let kind = match statfs(directory) {
        Ok(told) => u64::try_from(told.f_type).unwrap_or_default(),
        Err(error) => {
            let found = format!("{}: {error}", directory.display());
            return vec![Symptom::new("file system", SLOW_DISK, Health::Wrong, found)];
        }
    };
    let named = |list: &[(u64, &'static str)]| {
        list.iter()
            .find(|(number, _)| *number == kind & 0xffff_ffff)
            .map(|(_, name)| *name)
    };
    let options = mount_options(directory).unwrap_or_default();
    let (health, found) = if let Some(name) = named(&IN_MEMORY) {
        (
            Health::Wrong,
            format!("{name}: a restart of the machine loses everything"),
        )
    } else if let Some(name) = named(&REMOTE) {
        (
            Health::Note,
            format!("{name}: a sync is only as good as that of the other side"),
        )
    } else if options
        .split(',')
        .any(|option| option == "nobarrier" || option == "barrier=0")
    {
        (
            Health::Wrong,
            format!("mounted with {options}: syncs do not reach the disk"),
        )
    } else {
        match named(&LOCAL) {
            Some(OVERLAY) => (
                Health::Note,
                "overlay: the files go with the container unless a volume is mounted".to_owned(),
            ),
            Some(name) => (Health::Ok, name.to_owned()),
            None => (Health::Note, format!("an unknown one, {kind:#x}")),
        }
    };
    let is_in_memory = named(&IN_MEMORY).is_some();
    let mut symptoms = vec![Symptom::new("file system", SLOW_DISK, health, found)];
    symptoms.push(direct(directory));
    symptoms.extend(sync(directory, is_in_memory));
    symptoms
}

/// The options of the mount that holds a directory, those of its file system included.
fn mount_options(directory: &Path) -> Option<String> {
    let device = device_of(directory)?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    options_of(&mounts, &device)
}

/// The numbers of the block device that a directory is on, as the system writes them: `8:1`.
fn device_of(directory: &Path) -> Option<String> {
    let device = fs::metadata(directory).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    Some(format!("{major}:{minor}"))
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue` of device 98:0.
fn options_of(mounts: &str, device: &str) -> Option<String> {
    let mut lines = mounts.lines();
    let line = lines.find(|line| line.split(' ').nth(2) == Some(device))?;
    let (first, last) = line.split_once(" - ")?;
    Some(format!(
        "{},{}",
        first.split(' ').nth(5)?,
        last.split(' ').nth(2)?
    ))
}

/// A file without a name in a directory, or one that is removed at once.
fn scratch(directory: &Path, flags: OFlags) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | flags;
    let unnamed = openat(
        rustix::fs::CWD,
        directory,
        flags | OFlags::TMPFILE,
        Mode::RUSR | Mode::WUSR,
    );
    if let Ok(file) = unnamed {
        return Ok(File::from(file));
    }
    let path = directory.join(format!(".turnstile-doctor-{}", std::process::id()));
    let bits = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(bits)
        .open(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

fn direct(directory: &Path) -> Symptom {
    let (health, found) = match scratch(directory, OFlags::DIRECT) {
        Ok(_file) => (Health::Ok, "writes go past the page cache".to_owned()),
        Err(error) => (
            Health::Note,
            format!("not here ({error}): writes go through the page cache, which costs time"),
        ),
    };
    Symptom::new("O_DIRECT", SLOW_DISK, health, found)
}

/// How long a sync takes, and whether it may lie. Only a power cut proves that it does not.
fn sync(directory: &Path, is_in_memory: bool) -> Vec<Symptom> {
    let times = match syncs(directory) {
        Ok(times) => times,
        Err(error) => {
            let page = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => super::DISK_FULL,
                _ => SLOW_DISK,
            };
            let found = format!("nothing can be written: {error}");
            return vec![Symptom::new("sync", page, Health::Wrong, found)];
        }
    };
    let [median, most] = [times[times.len() / 2], times[times.len() - 1]];
    let health = if median > SYNC_BROKEN {
        Health::Wrong
    } else {
        Health::note_if(median > SYNC_SLOW)
    };
    let found = format!(
        "a block is durable in {} (at most {})",
        Nanos(median.as_secs_f64() * 1e9),
        Nanos(most.as_secs_f64() * 1e9)
    );
    let mut symptoms = vec![Symptom::new("sync", SLOW_DISK, health, found)];
    if !is_in_memory {
        symptoms.push(honesty(median, write_cache(directory).as_deref()));
    }
    symptoms
}

/// A guess.
fn honesty(median: Duration, cache: Option<&str>) -> Symptom {
    let cache = cache.map_or_else(
        || "the system does not tell of its cache".to_owned(),
        |cache| format!("its cache is {cache}"),
    );
    let (health, guess) = if median < SYNC_TOO_FAST {
        (
            Health::Note,
            "a sync is faster than a disk writes: it may lie, unless its cache survives a power cut",
        )
    } else {
        (
            Health::Ok,
            "nothing hints that syncs lie; only a power cut proves it",
        )
    };
    Symptom::new(
        "honest disk",
        SLOW_DISK,
        health,
        format!("a guess: {guess}; {cache}"),
    )
}

/// What the block device of a directory says of its cache.
fn write_cache(directory: &Path) -> Option<String> {
    let block = format!("/sys/dev/block/{}", device_of(directory)?);
    // A partition has its queue at its disk.
    let places = [
        format!("{block}/queue/write_cache"),
        format!("{block}/../queue/write_cache"),
    ];
    let told = places
        .iter()
        .find_map(|place| fs::read_to_string(place).ok())?;
    Some(told.trim().to_owned())
}

/// The times of some syncs, in their order.
fn syncs(directory: &Path) -> io::Result<Vec<Duration>> {
    let mut file = scratch(directory, OFlags::empty())?;
    let mut times = Vec::new();
    for _sync in 0..SYNCS {
        let start = Instant::now();
        file.write_all(&[7; BLOCK_BYTES])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// What this shell allows a program, and what the system has.
pub(super) fn limits() -> Vec<Symptom> {
    let descriptors = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let needed = descriptors::needed(&Limits::STANDARD);
    let health = if descriptors < DESCRIPTORS_MIN {
        Health::Wrong
    } else {
        Health::note_if(descriptors < needed)
    };
    let found = format!(
        "a program started here may open {}; a server with the default limits needs {}",
        bounded(descriptors),
        Count(needed)
    );
    let locked = getrlimit(Resource::Memlock).maximum.unwrap_or(u64::MAX);
    let memlock = format!("{} may be locked; a server locks nothing", bounded(locked));
    vec![
        Symptom::new("descriptors", LIMITS, health, found),
        Symptom::new("memlock", MEMORY, Health::Ok, memlock),
    ]
}

fn bounded(limit: u64) -> String {
    if limit == u64::MAX {
        "any number".to_owned()
    } else {
        Count(limit).to_string()
    }
}

/// The clock beside the last logged time.
pub(super) fn clock(logged: Timestamp) -> Vec<Symptom> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let behind = Duration::from_millis(logged.0).saturating_sub(now);
    let (health, found) = if behind > Duration::from_secs(1) {
        (
            Health::Wrong,
            format!(
                "{} s behind the last record: it went back",
                Count(behind.as_secs())
            ),
        )
    } else {
        (Health::Ok, "not behind the last record".to_owned())
    };
    let mut symptoms = vec![Symptom::new("clock", CLOCK, health, found)];
    let source =
        fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if let Ok(source) = source {
        let source = source.trim();
        let is_slow = matches!(source, "hpet" | "acpi_pm" | "jiffies");
        let found = format!("{source}{}", if is_slow { ": slow to read" } else { "" });
        symptoms.push(Symptom::new(
            "clock source",
            CLOCK,
            Health::note_if(is_slow),
            found,
        ));
    }
    symptoms
}

/// Memory beside what a start needs, and large pages.
pub(super) fn memory(snapshot_bytes: u64) -> Vec<Symptom> {
    let mut symptoms = Vec::new();
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    if let Some(available) = available(&meminfo) {
        let needed = MEMORY_LEAST.max(snapshot_bytes.saturating_mul(STATE_PER_SNAPSHOT));
        let found = format!(
            "{} available; a start takes some {}",
            Bytes(available),
            Bytes(needed)
        );
        let health = Health::wrong_if(available < needed);
        symptoms.push(Symptom::new("memory", MEMORY, health, found));
    }
    let pages = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    if let Ok(pages) = pages {
        let chosen = pages.split(['[', ']']).nth(1).unwrap_or("unknown");
        let is_off = chosen == "never";
        let found = format!("transparent huge pages: {chosen}");
        symptoms.push(Symptom::new(
            "huge pages",
            PAGES,
            Health::note_if(is_off),
            found,
        ));
    }
    symptoms
}

/// What programs may still take, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_found_by_its_device_with_all_its_options() {
        let mounts = "35 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,nobarrier\n\
                      36 35 8:17 / /data rw,noatime - xfs /dev/sdb1 rw,attr2\n";
        let options = |device| options_of(mounts, device);
        assert_eq!(options("8:1").as_deref(), Some("rw,relatime,rw,nobarrier"));
        assert_eq!(options("8:17").as_deref(), Some("rw,noatime,rw,attr2"));
        assert_eq!(options("8:2"), None);
    }

    #[test]
    fn a_sync_that_is_too_fast_is_a_hint_and_no_proof() {
        let fast = honesty(Duration::from_micros(5), Some("write back"));
        assert_eq!(fast.health, Health::Note);
        assert!(fast.found.starts_with("a guess: "), "{fast:?}");
        assert!(fast.found.ends_with("its cache is write back"), "{fast:?}");
        assert_eq!(honesty(Duration::from_millis(1), None).health, Health::Ok);
    }

    #[test]
    fn a_clock_that_is_behind_the_last_record_went_back() {
        assert_eq!(clock(Timestamp(0))[0].health, Health::Ok);
        let ahead = clock(Timestamp(u64::MAX));
        assert_eq!(ahead[0].health, Health::Wrong, "{ahead:?}");
    }
}
