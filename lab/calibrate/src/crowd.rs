//! Whether ten thousand users find room on one thread of the generator.

use std::{net::SocketAddr, time::Duration};

use rustix::process::{Resource, getrlimit};
use serde::Serialize;
use turnstile_load::{
    pace::{Pace, Rhythm, Think},
    processors, validity,
};
use turnstile_result::Distribution;
use turnstile_stats::units::{Count, Nanos, PerSecond, to_float};

use crate::{
    CalibrationError, CalibrationSetting, Claim, ProgressWatch, Verdict,
    apart::ServerProcess,
    run::{self, Run},
    server::{Server, Setup},
    wire::{Asker, Wire},
};

/// Users, each on a connection of its own.
pub const USERS: u64 = 10_000;

/// Each thinks so long on average: together they ask a thousand times a second.
const THINK: Duration = Duration::from_secs(10);

/// Descriptors for whatever else is open.
const OTHERS: u64 = 512;

/// How it went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crowd {
    pub users: u64,
    pub throughput: f64,
    /// From the end of a thought to the generator's notice.
    pub lag: Distribution,
    pub lost: u64,
    pub run_delay: Option<f64>,
    pub verdict: Verdict,
}

/// Measures as many of them as the system has descriptors for.
///
/// # Errors
/// The server or the generator could not be started.
pub fn measure(
    setting: &CalibrationSetting,
    watch: ProgressWatch<'_>,
) -> Result<(Crowd, Run), CalibrationError> {
    let server = Doorman::start(setting)?;
    let users = USERS.min(server.users());
    let pace = Pace {
        address: server.address().into(),
        rhythm: Rhythm::Closed {
            think: Think::Exponential(THINK),
            stages: None,
        },
        ..setting.pace()
    };
    let guests = Asker::crowd(usize::try_from(users).expect("there are 10,000 at most"));
    let ran = run::measure("crowd", &pace, guests, setting, watch)?;
    server.stop()?;
    let lag = ran.point.times.lag.clone();
    let lost = ran.point.connections_lost + ran.point.connects_failed;
    let punctual = lag
        .at(0.99)
        .is_some_and(|p99| p99 <= validity::LAG_NANOS_MAX);
    let verdict = if users < USERS {
        Verdict::NotMeasured
    } else {
        ran.keeps(punctual && lost == 0)
    };
    let crowd = Crowd {
        users,
        throughput: ran.point.throughput,
        run_delay: ran.run_delay(),
        lag,
        lost,
        verdict,
    };
    Ok((crowd, ran))
}

/// Who answers the crowd.
#[derive(Debug)]
enum Doorman {
    /// A process of its own.
    Apart(ServerProcess),
    /// A thread of this one, which then holds both ends of each connection.
    Here(Server),
}

impl Doorman {
    fn start(setting: &CalibrationSetting) -> Result<Self, CalibrationError> {
        let Some(program) = &setting.program else {
            let setup = Setup::at_once(Wire::Numbers, setting.server_core());
            return Ok(Self::Here(Server::start(setup)?));
        };
        let core = setting.server_core();
        let stay = core.map(|core| processors::stay_on(&[core])).transpose();
        let _stay = stay.map_err(CalibrationError::Processors)?;
        Ok(Self::Apart(ServerProcess::start(program)?))
    }

    const fn address(&self) -> SocketAddr {
        match self {
            Self::Apart(server) => server.address,
            Self::Here(server) => server.address,
        }
    }

    /// As many as the system has descriptors for.
    fn users(&self) -> u64 {
        let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let ends = match self {
            Self::Apart(_) => 1,
            Self::Here(_) => 2,
        };
        hard.saturating_sub(OTHERS) / ends
    }

    fn stop(self) -> Result<(), CalibrationError> {
        match self {
            Self::Apart(server) => drop(server),
            Self::Here(server) => drop(server.stop()?),
        }
        Ok(())
    }
}

impl Crowd {
    pub(crate) fn claim(&self) -> Claim {
        let p99 = self.lag.at(0.99);
        let p99 = p99.map_or_else(|| "-".to_owned(), |at| Nanos(to_float(at)).to_string());
        let fewer = if self.users < USERS {
            " (the system has no descriptors for more)"
        } else {
            ""
        };
        Claim {
            name: "crowd".to_owned(),
            target: format!(
                "{} users on one thread, lag p99 <= {}",
                Count(USERS),
                Nanos(to_float(validity::LAG_NANOS_MAX))
            ),
            found: format!(
                "{} users{fewer}, {} requests/s, lag p99 {p99}, {} connections lost",
                Count(self.users),
                PerSecond(self.throughput),
                self.lost
            ),
            verdict: self.verdict,
        }
    }
}
