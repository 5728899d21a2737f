//! How hard a point is driven, as the command line says it.

use std::{fs, num::NonZeroUsize, str::FromStr, time::Duration};

use clap::Args;
use turnstile_client::ServerAddress;
use turnstile_load::pace::{Law, Length, Pace, Profile, Rhythm, Think, Wait};

use super::duration;
use crate::exit::Coded;

/// Precision of the mean throughput of a closed loop, if no option sets it.
const PRECISION: f64 = 0.01;

/// Precision of the mean response time of an open loop, which varies more.
const PRECISION_OPEN: f64 = 0.05;

#[derive(Args, Clone, Debug)]
pub(crate) struct Pacing {
    /// Number of users, each with one connection; a user waits for the answer before the next
    /// request
    #[arg(short, long, default_value = "50")]
    pub(super) connections: NonZeroUsize,
    /// Open loop: requests per second on a fixed schedule, however late the answers are; or stages
    /// TIME:RATE that ramp from 0 to each rate in turn, such as 10s:100,1m:500
    #[arg(short, long)]
    rate: Option<Level>,
    #[command(flatten)]
    manner: LoadShape,
    /// Requests in flight on each connection
    #[arg(short = 'P', long, default_value = "1")]
    pipeline: NonZeroUsize,
    #[command(flatten)]
    extent: Extent,
}

/// When users ask, but for how many they are and how often they do.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct LoadShape {
    /// Arrival process for --rate: fixed, poisson (default), jitter:1%, burst:10, or trace:FILE
    /// (one timestamp in seconds per line)
    #[arg(long, value_name = "LAW")]
    arrivals: Option<ArrivalProcess>,
    /// Think time of a user after each answer: 100ms, or exp:100ms for an exponential distribution.
    /// Not with --rate
    #[arg(long)]
    think: Option<Thought>,
    /// Number of active users over time: stages TIME:USERS that ramp from 0 to each number in turn,
    /// such as 10s:10,1m:50. Not with --rate
    #[arg(long)]
    stages: Option<Level>,
    /// Deadline of a request or transaction, from its scheduled instant; later answers count as
    /// late
    #[arg(long, value_parser = duration)]
    deadline: Option<Duration>,
}

/// How long a point takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Extent {
    /// Measure for this long, such as 10s or 500ms. Without it, the end of the warm-up is detected,
    /// and the run goes on until the mean is precise (--precision, --max-time)
    #[arg(short, long, value_parser = duration)]
    duration: Option<Duration>,
    /// Warm up for this long before --duration [default: 1s]
    #[arg(long, requires = "duration", value_parser = duration)]
    warm_up: Option<Duration>,
    /// Stop when the half-width of the mean's 95 % confidence interval is below this [default: 1%
    /// for throughput, 5% for an open loop's response time]
    #[arg(long, conflicts_with = "duration", value_parser = share)]
    precision: Option<f64>,
    /// Longest run; exits with code 96 if the mean is not precise by then [default: 1m]
    #[arg(long, conflicts_with = "duration", value_parser = duration)]
    max_time: Option<Duration>,
    /// Random seed; the same seed sends the same requests at the same instants
    #[arg(long, default_value = "1")]
    pub(super) seed: u64,
    #[command(flatten)]
    waiting: WaitArguments,
}

/// How the generator's threads wait for what is due.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct WaitArguments {
    /// Run generator threads with real-time priority (SCHED_FIFO)
    #[arg(long)]
    rt: bool,
    /// Busy-poll instead of sleeping. Each generator thread uses one full CPU. With --rt, threads
    /// sleep a tenth of the time when nothing is due
    #[arg(long)]
    awake: bool,
}

impl WaitArguments {
    pub(super) const fn wait(self) -> Wait {
        match (self.rt, self.awake) {
            (true, true) => Wait::Alert,
            (true, false) => Wait::RealTime,
            (false, true) => Wait::Awake,
            (false, false) => Wait::Asleep,
        }
    }
}

/// A level over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    profile: Profile,
    /// How long all stages take; none of a level that stays.
    takes: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArrivalProcess(Law);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thought(Think);

/// Longest run whose length follows from its precision, if no option sets it.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Time for the last answers of a trace; the run ends sooner if they come sooner.
const REST: Duration = Duration::from_secs(1);

/// How long a point takes that is one of many.
const BRIEF: Duration = Duration::from_secs(3);

impl Extent {
    /// The same, but 3 s each where nothing was asked.
    pub(super) fn brief(self) -> Self {
        let is_asked = self.duration.is_some() || self.precision.is_some();
        let duration = if is_asked { self.duration } else { Some(BRIEF) };
        Self { duration, ..self }
    }
}

impl Pacing {
    /// Against this door, with so many threads.
    pub(super) fn pace(
        &self,
        address: impl Into<ServerAddress>,
        threads: usize,
    ) -> anyhow::Result<Pace> {
        let law = self.manner.law(Law::Poisson);
        let open = self.rate.is_some() || matches!(law, Law::Trace(_));
        if open && (self.manner.think.is_some() || self.manner.stages.is_some()) {
            let conflict =
                "--think and --stages are about users, who do not decide in an open loop";
            return Err(Coded::usage(conflict.to_owned()).into());
        }
        let is_precise = self.extent.precision.is_some() || self.extent.max_time.is_some();
        if is_precise && self.takes().is_some() {
            let conflict = "--precision and --max-time do not go with a trace or stages, which say how long a run takes";
            return Err(Coded::usage(conflict.to_owned()).into());
        }
        let rhythm = match (&self.rate, &law) {
            (Some(rate), _) => Rhythm::Open {
                law,
                rate: rate.profile.clone(),
            },
            (None, Law::Trace(instants)) => Rhythm::Open {
                rate: Profile::constant(mean_rate(instants)),
                law,
            },
            (None, _) => Rhythm::Closed {
                think: self.manner.think(),
                stages: self.manner.stages(),
            },
        };
        Ok(Pace {
            threads,
            pipeline: self.pipeline.get(),
            length: self.length(open),
            rhythm,
            deadline: self.manner.deadline,
            seed: self.extent.seed,
            wait: self.extent.waiting.wait(),
            ..Pace::closed(address, Duration::ZERO, Duration::ZERO)
        })
    }

    /// How long the trace or the stages take, if there are any.
    fn takes(&self) -> Option<Duration> {
        let staged = [&self.rate, &self.manner.stages]
            .into_iter()
            .find_map(|level| level.as_ref()?.takes);
        self.manner.traced().or(staged)
    }

    fn length(&self, open: bool) -> Length {
        match self.takes() {
            Some(duration) if self.extent.duration.is_none() => Length::Fixed {
                warm_up: Duration::ZERO,
                duration,
            },
            _ => self.extent.length(open),
        }
    }

    /// What is known in the end; none of a run of a given time.
    pub(super) fn goal(pace: &Pace) -> Option<f64> {
        match pace.length {
            Length::Fixed { .. } => None,
            Length::Precise { relative, .. } => Some(relative),
        }
    }

    /// The same, for so long where neither an option nor a trace or stages say how long.
    pub(super) fn lasting(&self, most: Duration) -> Self {
        let mut pacing = self.clone();
        if self.takes().is_none() {
            pacing.extent.duration.get_or_insert(most);
        }
        pacing
    }

    /// So many users in a closed loop.
    pub(super) fn of_users(
        users: NonZeroUsize,
        think: Option<Thought>,
        pipeline: NonZeroUsize,
        extent: Extent,
    ) -> Self {
        Self {
            connections: users,
            rate: None,
            manner: LoadShape {
                think,
                ..LoadShape::default()
            },
            pipeline,
            extent,
        }
    }

    /// So many connections, one request under way on each, at a rate if there is one.
    pub(super) const fn plain(
        connections: NonZeroUsize,
        rate: Option<Level>,
        manner: LoadShape,
        extent: Extent,
    ) -> Self {
        Self {
            connections,
            rate,
            manner,
            pipeline: NonZeroUsize::MIN,
            extent,
        }
    }

    /// The same connections at a rate.
    pub(super) fn at_rate(&self, rate: f64, arrivals: &ArrivalProcess) -> Self {
        Self {
            rate: Some(Level {
                profile: Profile::constant(rate),
                takes: None,
            }),
            manner: LoadShape {
                arrivals: Some(arrivals.clone()),
                think: None,
                stages: None,
                deadline: self.manner.deadline,
            },
            ..self.clone()
        }
    }

    /// How long was asked for, if anything was.
    pub(super) const fn duration(&self) -> Option<Duration> {
        self.extent.duration
    }

    pub(super) const fn seed(&self) -> u64 {
        self.extent.seed
    }

    /// Half of the interval of the mean, as a share of it, that a point should reach.
    pub(super) fn precision(&self) -> Option<f64> {
        let open = self.rate.is_some();
        match self.length(open) {
            Length::Fixed { .. } => None,
            Length::Precise { relative, .. } => Some(relative),
        }
    }

    /// The longest that a point takes, in seconds.
    pub(super) fn point_s_max(&self) -> f64 {
        match self.length(self.rate.is_some()) {
            Length::Fixed { warm_up, duration } => (warm_up + duration).as_secs_f64(),
            Length::Precise { most, .. } => most.as_secs_f64(),
        }
    }
}

fn mean_rate(instants: &[u64]) -> f64 {
    let to_float = turnstile_stats::units::to_float;
    let last = instants.last().copied().unwrap_or(0).max(1);
    let count = u64::try_from(instants.len()).expect("a length has at most 64 bits");
    to_float(count) * 1e9 / to_float(last)
}

impl Level {
    /// Whether it changes, and so says how long it takes.
    pub(super) const fn has_stages(&self) -> bool {
        self.takes.is_some()
    }
}

impl LoadShape {
    /// The law of arrivals, if none is told this one.
    pub(super) fn law(&self, default: Law) -> Law {
        let told = self.arrivals.as_ref();
        told.map_or(default, |arrivals| arrivals.0.clone())
    }

    /// How long a trace takes, if the arrivals are one.
    fn traced(&self) -> Option<Duration> {
        match self.law(Law::Poisson) {
            Law::Trace(instants) => Some(Duration::from_nanos(*instants.last()?) + REST),
            Law::Fixed | Law::Poisson | Law::Jitter(_) | Law::Burst(_) => None,
        }
    }

    /// An option of these that was given, if any was.
    pub(super) fn told(&self) -> Option<&'static str> {
        let told = [
            ("--arrivals", self.arrivals.is_some()),
            ("--think", self.think.is_some()),
            ("--stages", self.stages.is_some()),
            ("--deadline", self.deadline.is_some()),
        ];
        let told = told.into_iter().find(|(_, told)| *told);
        told.map(|(option, _)| option)
    }

    pub(super) fn think(&self) -> Think {
        self.think.map_or(Think::None, |thought| thought.0)
    }

    pub(super) fn stages(&self) -> Option<Profile> {
        self.stages.as_ref().map(|stages| stages.profile.clone())
    }

    pub(super) const fn deadline(&self) -> Option<Duration> {
        self.deadline
    }
}

impl Extent {
    /// Whether it is told how long a point takes, or how well it should be known.
    pub(super) const fn is_told(&self) -> bool {
        self.duration.is_some() || self.precision.is_some()
    }

    /// The same, with this time where nothing is told.
    pub(super) const fn or(mut self, duration: Duration, warm_up: Duration) -> Self {
        if !self.is_told() {
            self.duration = Some(duration);
            if self.warm_up.is_none() {
                self.warm_up = Some(warm_up);
            }
        }
        self
    }

    pub(super) fn length(&self, open: bool) -> Length {
        let precision = if open { PRECISION_OPEN } else { PRECISION };
        match self.duration {
            Some(duration) => Length::Fixed {
                warm_up: self.warm_up.unwrap_or(Duration::from_secs(1)),
                duration,
            },
            None => Length::Precise {
                relative: self.precision.unwrap_or(precision),
                most: self.max_time.unwrap_or(MAX_TIME),
            },
        }
    }
}

/// Reads the instants of a file.
fn trace_file(path: &str) -> Result<Law, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    trace(&text).map_err(|line| format!("{path}:{line}: not the seconds of an instant in order"))
}

/// Instants in seconds, a line each; else the number of the first line that is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds of a trace are positive and fewer than those of a day"
)]
fn trace(text: &str) -> Result<Law, usize> {
    let mut instants = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let seconds: f64 = line.trim().parse().map_err(|_no_number| number)?;
        let instant = (seconds * 1e9).round() as u64;
        let in_order = instants.last().is_none_or(|last| *last <= instant);
        if !(0.0..86_400.0).contains(&seconds) || !in_order {
            return Err(number);
        }
        instants.push(instant);
    }
    if instants.is_empty() {
        return Err(1);
    }
    Ok(Law::Trace(instants.into()))
}

impl FromStr for ArrivalProcess {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let law = match (name, value) {
            ("fixed", "") => Some(Law::Fixed),
            ("poisson", "") => Some(Law::Poisson),
            ("jitter", share_text) => share(share_text).ok().map(Law::Jitter),
            ("burst", size) => size.parse().ok().filter(|size| *size > 0).map(Law::Burst),
            ("trace", file) if !file.is_empty() => Some(trace_file(file)?),
            _ => None,
        };
        law.map(Self).ok_or_else(|| {
            format!("unknown arrival process `{text}`: write fixed, poisson, jitter:1%, burst:10 or trace:FILE")
        })
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("invalid load `{text}`: write 500, or stages such as 10s:100,1m:500");
        let level = |text: &str| -> Option<f64> {
            text.parse()
                .ok()
                .filter(|level: &f64| level.is_finite() && *level > 0.0)
        };
        if let Some(level) = level(text) {
            return Ok(Self {
                profile: Profile::constant(level),
                takes: None,
            });
        }
        let mut stages = Vec::new();
        let mut takes = Duration::ZERO;
        for stage in text.split(',') {
            let (time, to) = stage.split_once(':').ok_or_else(wrong)?;
            let time = duration(time)?;
            let to = level(to)
                .or_else(|| (to == "0").then_some(0.0))
                .ok_or_else(wrong)?;
            takes += time;
            stages.push((time.as_secs_f64(), to));
        }
        let profile = Profile::of_stages(&stages).map_err(|error| error.to_string())?;
        Ok(Self {
            profile,
            takes: Some(takes),
        })
    }
}

impl FromStr for Thought {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let think = match text.strip_prefix("exp:") {
            Some(mean) => Think::Exponential(duration(mean)?),
            None => Think::Fixed(duration(text)?),
        };
        Ok(Self(think))
    }
}

/// `1%` as 0.01.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("invalid percentage `{text}`: write 1% or 0.5%");
    let percent: f64 = text
        .strip_suffix('%')
        .ok_or_else(wrong)?
        .parse()
        .map_err(|_no_number| wrong())?;
    let sensible = percent > 0.0 && percent <= 100.0;
    sensible.then_some(percent / 100.0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        pacing: Pacing,
    }

    fn pace(words: &[&str]) -> Result<Pace, String> {
        let line = Line::try_parse_from([&["lab"], words].concat());
        let line = line.map_err(|error| error.to_string())?;
        line.pacing
            .pace(super::super::NOWHERE, 2)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_run_goes_on_until_it_is_known_unless_a_time_is_given() {
        let precise = |relative, seconds| Length::Precise {
            relative,
            most: Duration::from_secs(seconds),
        };
        let fixed = |warm_up, duration| Length::Fixed {
            warm_up: Duration::from_millis(warm_up),
            duration: Duration::from_millis(duration),
        };
        let rows: [(&[&str], Length); 7] = [
            (&[], precise(0.01, 60)),
            (&["-r", "10"], precise(0.05, 60)),
            (
                &["--precision", "0.5%", "--max-time", "2m"],
                precise(0.005, 120),
            ),
            (&["-d", "500ms"], fixed(1_000, 500)),
            (&["-d", "2s", "--warm-up", "0s"], fixed(0, 2_000)),
            (&["--stages", "1s:5,2s:0"], fixed(0, 3_000)),
            (&["-r", "1s:50", "-d", "4s"], fixed(1_000, 4_000)),
        ];
        for (words, length) in rows {
            assert_eq!(pace(words).unwrap().length, length, "{words:?}");
        }
    }

    #[test]
    fn every_rhythm_can_be_said() {
        let closed = |think| Rhythm::Closed {
            think,
            stages: None,
        };
        let open = |law| Rhythm::Open {
            law,
            rate: Profile::constant(250.0),
        };
        let tenth = Duration::from_millis(100);
        let rows: [(&[&str], Rhythm); 6] = [
            (&[], closed(Think::None)),
            (&["--think", "100ms"], closed(Think::Fixed(tenth))),
            (&["--think", "exp:100ms"], closed(Think::Exponential(tenth))),
            (&["-r", "250"], open(Law::Poisson)),
            (
                &["-r", "250", "--arrivals", "jitter:1%"],
                open(Law::Jitter(0.01)),
            ),
            (
                &["-r", "250", "--arrivals", "burst:10"],
                open(Law::Burst(10)),
            ),
        ];
        for (words, rhythm) in rows {
            assert_eq!(pace(words).unwrap().rhythm, rhythm, "{words:?}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let rows: [(&[&str], &str); 9] = [
            (&["-r", "10", "--think", "1s"], "are about users"),
            (&["-d", "1s", "--precision", "1%"], "cannot be used with"),
            (&["--warm-up", "1s"], "required"),
            (&["-r", "0"], "invalid load"),
            (&["-r", "1s"], "invalid load"),
            (&["--arrivals", "normal"], "unknown arrival process"),
            (&["--arrivals", "trace:/gone"], "/gone: No such file"),
            (&["--precision", "1"], "invalid percentage"),
            (&["--think", "long"], "is no duration"),
        ];
        for (words, sentence) in rows {
            let told = pace(words).unwrap_err();
            assert!(told.contains(sentence), "{words:?}: {told}");
        }
    }

    /// It ran for as long as any other load, and a second of answers was divided by a minute.
    #[test]
    fn a_trace_says_how_long_its_run_takes_unless_a_time_is_given() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"0\n1.5\n").unwrap();
        let arrivals = format!("trace:{}", file.path().display());
        for (words, seconds) in [(&[][..], 2.5), (&["-d", "1s", "--warm-up", "0s"], 1.0)] {
            let pace = pace(&[&["--arrivals", &arrivals], words].concat()).unwrap();
            let length = Length::Fixed {
                warm_up: Duration::ZERO,
                duration: Duration::from_secs_f64(seconds),
            };
            assert_eq!(pace.length, length, "{words:?}");
        }
        for words in [["--precision", "1%"], ["--max-time", "1m"]] {
            let told = pace(&[&["--arrivals", &arrivals], &words[..]].concat()).unwrap_err();
            assert!(told.contains("with a trace or stages"), "{words:?}: {told}");
        }
    }

    /// A recording cut its trace after 10 s, and a check after a minute.
    #[test]
    fn a_command_that_lasts_for_so_long_leaves_a_trace_and_stages_whole() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"0\n98.5\n").unwrap();
        let arrivals = format!("trace:{}", file.path().display());
        let rows: [(&[&str], f64); 4] = [
            (&["-r", "10"], 11.0),
            (&["--arrivals", &arrivals], 99.5),
            (&["--stages", "1s:5,20s:0"], 21.0),
            (&["--stages", "1s:5,20s:0", "-d", "4s"], 5.0),
        ];
        for (words, seconds) in rows {
            let line = Line::try_parse_from([&["lab"], words].concat()).unwrap();
            let pacing = line.pacing.lasting(Duration::from_secs(10));
            let difference = pacing.point_s_max() - seconds;
            assert!(difference.abs() < 1e-6, "{words:?}: {difference}");
        }
    }

    #[test]
    fn a_trace_is_a_line_of_seconds_each_in_order() {
        let instants = Law::Trace([0, 1_500_000_000, 1_500_000_000].into());
        assert_eq!(trace("0\n1.5\n1.5\n"), Ok(instants));
        for (text, line) in [("", 1), ("0\nx", 2), ("1\n0.5", 2), ("-1", 1), ("NaN", 1)] {
            assert_eq!(trace(text), Err(line), "{text:?}");
        }
    }
}
