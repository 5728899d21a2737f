//! The memory that the control group of this process may take.

use std::{fs, path::Path};

/// Where the system shows control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// An older system says so when a group is not bounded.
const UNBOUNDED: u64 = 1 << 62;

/// Bytes that the control group of this process may take, or a group around it if that is less; nothing where
/// none is bounded.
#[must_use]
pub fn memory_limit() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    tightest(Path::new(GROUPS), &own)
}

/// The least limit of the groups that `own` names, and of all around them. A container sees its own group as
/// the outermost one.
fn tightest(groups: &Path, own: &str) -> Option<u64> {
    let limits = own.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next(), parts.next());
        let (root, file) = match controllers {
            Some("") => (groups.to_owned(), "memory.max"),
            _ => (groups.join("memory"), "memory.limit_in_bytes"),
        };
        let is_of_memory = controllers.is_some_and(|list| {
            list.is_empty() || list.split(',').any(|controller| controller == "memory")
        });
        let path = path.filter(|_| is_of_memory);
        let around = path
            .into_iter()
            .flat_map(|path| Path::new(path).ancestors());
        around.filter_map(move |group| {
            let group = root.join(group.strip_prefix("/").unwrap_or(group));
            let limit = fs::read_to_string(group.join(file)).ok()?;
            limit.trim().parse().ok()
        })
    });
    limits.filter(|&limit| limit < UNBOUNDED).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_group_around_a_process_bounds_it() {
        let system = tempfile::tempdir().unwrap();
        let groups = system.path();
        let bound = |group: &str, file: &str, limit: &str| {
            fs::create_dir_all(groups.join(group)).unwrap();
            fs::write(groups.join(group).join(file), limit).unwrap();
        };
        let own = "0::/system.slice/turnstile.service\n";
        assert_eq!(tightest(groups, own), None);
        bound("system.slice", "memory.max", "max\n");
        assert_eq!(tightest(groups, own), None);
        bound("system.slice/turnstile.service", "memory.max", "4096\n");
        bound("system.slice/other.service", "memory.max", "1\n");
        assert_eq!(tightest(groups, own), Some(4_096));
        bound("system.slice", "memory.max", "1024\n");
        assert_eq!(tightest(groups, own), Some(1_024));

        let older = "5:cpu,cpuacct:/\n4:memory:/a/b\n0::/\n";
        bound("memory", "memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(tightest(groups, older), None);
        bound("memory/a", "memory.limit_in_bytes", "2048\n");
        assert_eq!(tightest(groups, older), Some(2_048));
        assert_eq!(tightest(groups, "nonsense\n4:memory"), None);
    }
}
