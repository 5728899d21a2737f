//! How many descriptors this process may have open: each connection is one.

use std::{error, fmt};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The hard limit, which only the system's administrator raises, is below what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFilesLimited {
    pub needed: u64,
    pub allowed: u64,
}

/// Raises the soft limit where it is below what is needed, as far as the hard one allows. It is low
/// for programs that know no more than 1,024 descriptors; this is none.
///
/// # Errors
/// The hard limit is lower. Then the soft limit is as high as it.
pub fn allow(needed: u64) -> Result<(), OpenFilesLimited> {
    let limits = getrlimit(Resource::Nofile);
    let hard = limits.maximum.unwrap_or(u64::MAX);
    let wanted = needed.min(hard);
    let mut allowed = limits.current.unwrap_or(u64::MAX);
    if allowed < wanted {
        let raised = Rlimit {
            current: Some(wanted),
            maximum: limits.maximum,
        };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            allowed = wanted;
        }
    }
    if allowed < needed {
        return Err(OpenFilesLimited { needed, allowed });
    }
    Ok(())
}

impl fmt::Display for OpenFilesLimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, allowed } = self;
        write!(
            f,
            "{needed} descriptors are needed and the system allows {allowed}: raise its hard limit \
             (`ulimit -Hn`, LimitNOFILE of systemd)"
        )
    }
}

impl error::Error for OpenFilesLimited {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_as_far_as_the_hard_one_allows() {
        let hard = getrlimit(Resource::Nofile).maximum;
        let soft = || getrlimit(Resource::Nofile).current;
        let low = Rlimit {
            current: Some(64),
            maximum: hard,
        };
        setrlimit(Resource::Nofile, low).unwrap();
        assert_eq!((allow(64), soft()), (Ok(()), Some(64)));
        assert_eq!((allow(65), soft()), (Ok(()), Some(65)));
        if let Some(allowed) = hard {
            let needed = allowed + 1;
            let expected = Err(OpenFilesLimited { needed, allowed });
            assert_eq!((allow(needed), soft()), (expected, hard));
        }
    }
}
