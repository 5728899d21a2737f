//! What the generator's own work costs, beside generators that everybody knows.
//!
//! Both drive the same server on the same processors, in pairs in an order that chance decides, and
//! what is compared is processor time for each request: requests a second would say more about the
//! neighbours. All that our process used beside the server counts as ours, the recording included.

use std::{
    fmt, fs,
    process::{Command, Stdio},
    str::FromStr,
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use turnstile_load::{
    foreign::{self, Request},
    pace::Pace,
    processors,
};
use turnstile_result::Point;
use turnstile_stats::{
    Interval,
    pairs::{self, LeadingSystem, PairedComparison},
    units::{Nanos, to_float},
};

use crate::{
    CalibrationError, CalibrationSetting, Claim, ProgressWatch, Verdict,
    server::{Server, Setup},
    wire::Wire,
};

/// A difference below this share does not matter, and with fewer pairs there is no interval.
const MARGIN: f64 = 0.02;
pub const PAIRS: usize = 6;

/// A rival that has not ended after so many times its duration never will.
const PATIENCE: u32 = 20;

/// A generator that everybody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rival {
    Wrk,
    RedisBenchmark,
}

/// One load that both drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Match {
    pub rival: Rival,
    pub connections: usize,
    pub pipeline: usize,
    /// Ours must not take more than this share of theirs.
    pub bound: f64,
}

/// How it came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contest {
    pub of: Match,
    /// Nanoseconds of processor time for each request, theirs and ours, in each pair.
    pub pairs: Vec<(f64, f64)>,
    /// Ours over theirs.
    pub ratio: Option<Interval>,
    pub verdict: Verdict,
}

impl Rival {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::RedisBenchmark => "redis-benchmark",
        }
    }

    /// What is played against it.
    #[must_use]
    pub fn matches(self) -> Vec<Match> {
        let one = |connections, pipeline, bound| Match {
            rival: self,
            connections,
            pipeline,
            bound,
        };
        match self {
            Self::Wrk => vec![one(64, 1, 0.8)],
            Self::RedisBenchmark => vec![one(50, 1, 0.6), one(50, 16, 1.0)],
        }
    }
}

/// Plays one match.
///
/// # Errors
/// The server, our generator or the rival could not be started, or the rival said nothing that can be
/// read.
pub fn measure(
    of: Match,
    setting: &CalibrationSetting,
    watch: ProgressWatch<'_>,
) -> Result<Contest, CalibrationError> {
    let mut dice = turnstile_load::dice(setting.seed);
    let mut pairs = Vec::new();
    let mut requests = 0;
    for first in pairs::plan(&mut dice, PAIRS) {
        let mut ours = || ours(of, setting, watch);
        // How many requests redis-benchmark is to send follows from what we reached.
        if requests == 0 {
            requests = ours()?.requests;
        }
        let pair = match first {
            LeadingSystem::Old => {
                let theirs = theirs(of, setting, requests)?;
                (theirs.each(), ours()?.each())
            }
            LeadingSystem::New => {
                let own = ours()?;
                (theirs(of, setting, requests)?.each(), own.each())
            }
        };
        pairs.push(pair);
    }
    let ratio = PairedComparison::of(&pairs, MARGIN).map(|comparison| comparison.ratio);
    let verdict = ratio.map_or(Verdict::NotMeasured, |ratio| {
        Verdict::of(ratio.estimate <= of.bound, true)
    });
    Ok(Contest {
        of,
        pairs,
        ratio,
        verdict,
    })
}

/// What one generator used.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Used {
    requests: u64,
    cpu: Duration,
}

impl Used {
    /// Nanoseconds a request.
    fn each(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e9 / to_float(self.requests.max(1))
    }
}

fn serve(of: Match, setting: &CalibrationSetting) -> Result<Server, CalibrationError> {
    let wire = match of.rival {
        Rival::Wrk => Wire::Http,
        Rival::RedisBenchmark => Wire::Resp,
    };
    Ok(Server::start(Setup::at_once(wire, setting.server_core()))?)
}

fn ours(
    of: Match,
    setting: &CalibrationSetting,
    watch: ProgressWatch<'_>,
) -> Result<Used, CalibrationError> {
    let server = serve(of, setting)?;
    let core = setting.generator_core();
    let stay = core.map(|core| processors::stay_on(&[core])).transpose();
    let stay = stay.map_err(CalibrationError::Processors)?;
    let pace = Pace {
        address: server.address.into(),
        pipeline: of.pipeline,
        ..setting.pace()
    };
    let before = own_time().saturating_sub(server.cpu());
    let point = drive(of, &pace, watch)?;
    let cpu = own_time()
        .saturating_sub(server.cpu())
        .saturating_sub(before);
    drop(stay);
    server.stop()?;
    let requests = point
        .operations
        .iter()
        .map(|operation| operation.done)
        .sum();
    Ok(Used { requests, cpu })
}

fn drive(of: Match, pace: &Pace, watch: ProgressWatch<'_>) -> Result<Point, CalibrationError> {
    let point = match of.rival {
        Rival::Wrk => {
            let request = Request {
                method: "GET".to_owned(),
                host: pace.address.to_string(),
                key: None,
                path: "/".to_owned(),
                headers: Vec::new(),
                body: None,
            };
            foreign::run_http(pace, of.connections, &request, watch)?
        }
        Rival::RedisBenchmark => foreign::run_resp(pace, of.connections, &command(), watch)?,
    };
    Ok(point)
}

/// What both say to a server of RESP.
fn command() -> Vec<String> {
    ["SET", "key", "xxx"].map(str::to_owned).to_vec()
}

/// User and system time of all threads of this process.
fn own_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn theirs(
    of: Match,
    setting: &CalibrationSetting,
    requests: u64,
) -> Result<Used, CalibrationError> {
    let server = serve(of, setting)?;
    let core = setting.generator_core();
    let stay = core.map(|core| processors::stay_on(&[core])).transpose();
    let stay = stay.map_err(CalibrationError::Processors)?;
    let seconds = (setting.warm_up + setting.duration).as_secs().max(1);
    let mut command = Command::new("timeout");
    command.arg((seconds * u64::from(PATIENCE)).to_string());
    command.arg(of.rival.name());
    match of.rival {
        Rival::Wrk => {
            command.args(["-t", "1", "-c", &of.connections.to_string()]);
            command.args(["-d", &format!("{seconds}s")]);
            command.arg(format!("http://{}/", server.address));
        }
        Rival::RedisBenchmark => {
            command.args(["-h", "127.0.0.1", "--csv"]);
            command.args(["-p", &server.address.port().to_string()]);
            command.args(["-c", &of.connections.to_string()]);
            command.args(["-P", &of.pipeline.to_string()]);
            command.args(["-n", &requests.to_string()]);
            command.args(self::command());
        }
    }
    let ended = run(of.rival, &mut command)?;
    drop(stay);
    server.stop()?;
    let requests = match of.rival {
        Rival::Wrk => ended.requests,
        Rival::RedisBenchmark => requests,
    };
    Ok(Used { requests, ..ended })
}

fn run(rival: Rival, command: &mut Command) -> Result<Used, CalibrationError> {
    let failed = |reason: String| CalibrationError::Rival {
        name: rival.name(),
        reason,
    };
    let before = time_of_children().ok_or_else(|| failed("/proc says nothing".to_owned()))?;
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let after = time_of_children().unwrap_or(before);
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().last().unwrap_or("it said nothing").to_owned();
        return Err(failed(format!("{}: {said}", output.status)));
    }
    let requests = match rival {
        Rival::Wrk => {
            let counted = requests_of_wrk(&text);
            counted.ok_or_else(|| failed("its output has no count of requests".to_owned()))?
        }
        Rival::RedisBenchmark => 0,
    };
    Ok(Used {
        requests,
        cpu: after.saturating_sub(before),
    })
}

fn requests_of_wrk(output: &str) -> Option<u64> {
    output.lines().find_map(|line| {
        let (count, rest) = line.trim().split_once(' ')?;
        rest.starts_with("requests in ")
            .then(|| count.parse().ok())?
    })
}

/// User and system time of all children that have ended, and of theirs, in ticks of the system.
fn time_of_children() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let all = to_float(ticks(13)? + ticks(14)?);
    let each = to_float(rustix::param::clock_ticks_per_second());
    Some(Duration::from_secs_f64(all / each))
}

impl Contest {
    pub(crate) fn claim(&self) -> Claim {
        let mean = |part: fn(&(f64, f64)) -> f64| {
            let all: Vec<f64> = self.pairs.iter().map(part).collect();
            Nanos(turnstile_stats::sample::mean(&all))
        };
        let found = self.ratio.map_or_else(
            || "too few pairs".to_owned(),
            |ratio| {
                format!(
                    "{ratio:.3} of it: {} a request, {} takes {}",
                    mean(|pair| pair.1),
                    self.of.rival,
                    mean(|pair| pair.0)
                )
            },
        );
        Claim {
            name: self.of.to_string(),
            target: format!("processor time <= {} of it", self.of.bound),
            found,
            verdict: self.verdict,
        }
    }
}

impl fmt::Display for Rival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rival {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Wrk, Self::RedisBenchmark]
            .into_iter()
            .find(|rival| rival.name() == text)
            .ok_or_else(|| format!("`{text}` is no rival: write wrk or redis-benchmark"))
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} connections", self.rival, self.connections)?;
        if self.pipeline > 1 {
            write!(f, " x {}", self.pipeline)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Rival, requests_of_wrk, time_of_children};

    #[test]
    fn wrk_says_how_many_it_sent() {
        let output =
            "Running 3s test @ http://127.0.0.1:1/\n  153120 requests in 3.00s, 40MB read\n";
        assert_eq!(requests_of_wrk(output), Some(153_120));
        assert_eq!(requests_of_wrk("connection refused"), None);
    }

    #[test]
    fn children_that_have_ended_have_used_something() {
        let before = time_of_children().unwrap();
        let burn = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let ended = std::process::Command::new("sh").args(["-c", burn]).status();
        assert!(ended.unwrap().success());
        assert!(time_of_children().unwrap() > before);
    }

    #[test]
    fn a_rival_is_called_by_its_name() {
        assert_eq!("wrk".parse(), Ok(Rival::Wrk));
        assert_eq!("redis-benchmark".parse(), Ok(Rival::RedisBenchmark));
        let told = "ab".parse::<Rival>().unwrap_err();
        assert!(told.contains("`ab` is no rival"), "{told}");
    }
}
