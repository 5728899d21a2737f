//! Processors: how many, and what one may do with them.

use std::{env, path::Path, thread};

use turnstile_load::{priority, processors};

use super::{Grade, HealthCheck, told};

pub(super) fn cores() -> HealthCheck {
    let finding = HealthCheck::new(
        "cores",
        "server and generator take time from each other: throughput is that of both together",
    );
    let own = processors::available().len();
    let found = format!("{own} processors may be used");
    let grade = if own < 2 { Grade::Warn } else { Grade::Ok };
    finding.is(
        grade,
        found,
        "take a machine with two processors or more, or read processor time instead of rates",
    )
}

pub(super) fn pinning() -> HealthCheck {
    let finding = HealthCheck::new(
        "pinning",
        "server and generator cannot be kept apart, and move from one processor to another",
    );
    let all = processors::available();
    let tried = thread::spawn(move || {
        let last = all.last().copied().unwrap_or(0);
        let _stay = processors::stay_on(&[last])?;
        let there = processors::available() == [last];
        std::io::Result::Ok(there)
    });
    match tried.join() {
        Ok(Ok(true)) => {
            finding.fine("threads stay on the processor that they are given".to_owned())
        }
        Ok(Ok(false)) => finding.is(
            Grade::Warn,
            "threads do not stay where they are put".to_owned(),
            CURE_PINNING,
        ),
        Ok(Err(error)) => finding.is(Grade::Warn, format!("refused: {error}"), CURE_PINNING),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

const CURE_PINNING: &str = "run outside of the sandbox that forbids sched_setaffinity";

pub(super) fn quota() -> HealthCheck {
    let finding = HealthCheck::new(
        "quota",
        "when it is used up everything stands still until the next period, which looks like a slow server",
    );
    let Some(quota) = allowed_processors() else {
        return finding.fine("no limit on processor time".to_owned());
    };
    let cores = processors::available().len();
    let all = turnstile_stats::units::to_float(u64::try_from(cores).unwrap_or(u64::MAX));
    let grade = if quota >= all {
        Grade::Ok
    } else if quota >= 2.0 {
        Grade::Warn
    } else {
        Grade::Bad
    };
    finding.is(
        grade,
        format!("the control group allows {quota:.2} of {cores} processors"),
        "lift the limit (cpu.max, --cpus), or use --pin on fewer processors than it allows",
    )
}

/// Processors that the control group allows; nothing without a limit.
fn allowed_processors() -> Option<f64> {
    let group = told("/proc/self/cgroup")?;
    let own = group.lines().find_map(|line| line.strip_prefix("0::/"));
    let least = least_quota(Path::new("/sys/fs/cgroup"), own.unwrap_or(""));
    least.or_else(|| {
        let folder = Path::new("/sys/fs/cgroup/cpu");
        let of = |name: &str| told(folder.join(name))?.parse::<f64>().ok();
        let quota = of("cpu.cfs_quota_us").filter(|quota| *quota > 0.0)?;
        Some(quota / of("cpu.cfs_period_us")?)
    })
}

/// The least that a group, or one above it, allows.
fn least_quota(root: &Path, group: &str) -> Option<f64> {
    let group = root.join(group);
    let groups = group
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    groups
        .filter_map(|folder| parse_max(&told(folder.join("cpu.max"))?))
        .reduce(f64::min)
}

/// `50000 100000` is half a processor, `max 100000` no limit.
fn parse_max(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

pub(super) fn real_time() -> HealthCheck {
    let finding = HealthCheck::new(
        "real time",
        "--rt is refused: on a busy machine requests leave late",
    );
    match priority::try_out() {
        Err(_refused) => finding.is(
            Grade::Warn,
            "real-time priority is refused".to_owned(),
            "run as root, or raise the limit of rtprio (ulimit -r, CAP_SYS_NICE)",
        ),
        Ok(()) => {
            let share = told("/proc/sys/kernel/sched_rt_runtime_us");
            let share = share.as_deref().and_then(|text| text.parse::<f64>().ok());
            let limit = share.filter(|share| *share > 0.0).map_or_else(
                || "without a limit".to_owned(),
                |share| format!("for {:.0} % of each second", share / 1e4),
            );
            finding.fine(format!("--rt is allowed, {limit}"))
        }
    }
}

pub(super) fn perf() -> HealthCheck {
    let finding = HealthCheck::new(
        "perf",
        "where time goes inside of a program cannot be seen, or only without hardware counters",
    );
    let path = env::var_os("PATH").unwrap_or_default();
    let there = env::split_paths(&path).any(|folder| folder.join("perf").is_file());
    let paranoid = told("/proc/sys/kernel/perf_event_paranoid");
    let paranoid: i32 = paranoid.and_then(|text| text.parse().ok()).unwrap_or(4);
    let counters = Path::new("/sys/bus/event_source/devices/cpu").exists();
    let root = rustix::process::geteuid().is_root();
    let allowed = paranoid <= 1 || root;
    let found = format!(
        "perf is {}installed, may{} be used (perf_event_paranoid {paranoid}), {} hardware counters",
        if there { "" } else { "not " },
        if allowed { "" } else { " not" },
        if counters { "with" } else { "without" }
    );
    let grade = if there && allowed {
        Grade::Ok
    } else {
        Grade::Warn
    };
    finding.is(
        grade,
        found,
        "install linux-perf, and set kernel.perf_event_paranoid to 1",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{least_quota, parse_max};

    #[test]
    fn a_limit_of_any_group_above_counts() {
        let root = tempfile::tempdir().unwrap();
        let group = "user.slice/user-1000.slice/session-3.scope";
        fs::create_dir_all(root.path().join(group)).unwrap();
        let limit = |group: &str, text: &str| {
            fs::write(root.path().join(group).join("cpu.max"), text).unwrap();
        };
        assert_eq!(least_quota(root.path(), group), None);
        limit(group, "max 100000\n");
        limit("user.slice/user-1000.slice", "100000 100000\n");
        limit("user.slice", "300000 100000\n");
        assert_eq!(least_quota(root.path(), group), Some(1.0));
        assert_eq!(least_quota(root.path(), ""), None);
    }

    #[test]
    fn a_limit_is_a_share_of_a_period() {
        assert_eq!(parse_max("50000 100000"), Some(0.5));
        assert_eq!((parse_max("max 100000"), parse_max("")), (None, None));
    }
}
