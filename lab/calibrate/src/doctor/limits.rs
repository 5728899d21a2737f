//! Limits of the system that a load meets.

use rustix::process::{Resource, getrlimit};
use turnstile_stats::units::Count;

use super::{Grade, HealthCheck, told};

/// As many users as one thread of the generator is meant for, and what else is open.
const DESCRIPTORS: u64 = 10_500;
const DESCRIPTORS_MIN: u64 = 1_024;

/// A load without lasting connections uses one for a minute each.
const PORTS: u64 = 20_000;
const PORTS_MIN: u64 = 1_000;

/// A storm of new connections is as long.
const BACKLOG: u64 = 4_096;
const BACKLOG_MIN: u64 = 128;

pub(super) fn all() -> [HealthCheck; 3] {
    [descriptors(), ports(), backlog()]
}

fn descriptors() -> HealthCheck {
    let finding = HealthCheck::new(
        "descriptors",
        "as many users cannot connect: each is a socket",
    );
    let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let grade = at_least(DESCRIPTORS, DESCRIPTORS_MIN, hard);
    let found = if hard == u64::MAX {
        "as many files as one likes may be open".to_owned()
    } else {
        format!("{} files may be open", Count(hard))
    };
    finding.is(
        grade,
        found,
        "raise the hard limit (ulimit -Hn, LimitNOFILE of systemd)",
    )
}

fn ports() -> HealthCheck {
    let finding = HealthCheck::new(
        "ports",
        "with a connection for each request they are used up: connecting fails for a minute",
    );
    let range = told("/proc/sys/net/ipv4/ip_local_port_range");
    let Some(ports) = range.as_deref().and_then(parse_range) else {
        return finding.fine("the system does not tell its range of ports".to_owned());
    };
    finding.is(
        at_least(PORTS, PORTS_MIN, ports),
        format!("{} ports to connect from", Count(ports)),
        "widen net.ipv4.ip_local_port_range",
    )
}

/// `32768 60999` are 28,232.
fn parse_range(text: &str) -> Option<u64> {
    let mut ends = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (from, to) = (ends.next()?.ok()?, ends.next()?.ok()?);
    to.checked_sub(from).map(|ports| ports + 1)
}

fn backlog() -> HealthCheck {
    let finding = HealthCheck::new(
        "backlog",
        "of many who connect at once most are dropped, and try again a second later",
    );
    let most = told("/proc/sys/net/core/somaxconn");
    let Some(most) = most.and_then(|text| text.parse().ok()) else {
        return finding.fine("the system does not tell how many may wait to connect".to_owned());
    };
    finding.is(
        at_least(BACKLOG, BACKLOG_MIN, most),
        format!("{} may wait to connect at a door", Count(most)),
        "raise net.core.somaxconn to 4096",
    )
}

const fn at_least(fine: u64, bearable: u64, found: u64) -> Grade {
    if found >= fine {
        Grade::Ok
    } else if found >= bearable {
        Grade::Warn
    } else {
        Grade::Bad
    }
}

#[cfg(test)]
mod tests {
    use super::{Grade, at_least, parse_range};

    #[test]
    fn a_range_has_both_its_ends() {
        assert_eq!(parse_range("32768\t60999"), Some(28_232));
        assert_eq!((parse_range("5 4"), parse_range("5")), (None, None));
    }

    #[test]
    fn more_is_better() {
        let grades = [9, 10, 99, 100].map(|found| at_least(100, 10, found));
        assert_eq!(grades, [Grade::Bad, Grade::Warn, Grade::Warn, Grade::Ok]);
    }
}
