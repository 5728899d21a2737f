//! `turnstile-sim`: many histories, or one seed again.

use std::{
    fmt::Debug,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use clap::Parser;
use turnstile_sim::{
    Bug, ClusterBug, ClusterHistory, ClusterSummary, History, HistorySummary, PartitionBug,
    PartitionHistory, PartitionSummary, Violation,
};

/// Runs the real engine on a simulated disk and clock, and judges what it promises.
#[derive(Debug, Parser)]
#[command(name = "turnstile-sim", version)]
struct Arguments {
    /// The first seed; without --histories or --seconds, the only one.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many histories to run.
    #[arg(long)]
    histories: Option<u64>,
    /// For how many seconds to run histories.
    #[arg(long, conflicts_with = "histories")]
    seconds: Option<u64>,
    /// Run histories of several nodes on a shared log, instead of one server.
    #[arg(long)]
    cluster: bool,
    /// Run histories of several partitions over several nodes.
    #[arg(long, conflicts_with = "cluster")]
    partitions: bool,
    /// On how many threads.
    #[arg(long, default_value_t = 2)]
    threads: u64,
}

/// What one thread did: how many histories, and what they went through.
type ThreadResult<S> = Result<(u64, S), (u64, Violation)>;

/// What histories of one kind went through.
trait HistoryTally: Default + Debug + Send {
    /// Runs the history of a seed.
    fn of(seed: u64) -> Result<Self, Violation>;

    fn add(&mut self, other: &Self);
}

impl HistoryTally for HistorySummary {
    fn of(seed: u64) -> Result<Self, Violation> {
        History::run(seed, Bug::None)
    }

    fn add(&mut self, other: &Self) {
        self.add(other);
    }
}

impl HistoryTally for ClusterSummary {
    fn of(seed: u64) -> Result<Self, Violation> {
        ClusterHistory::run(seed, ClusterBug::None)
    }

    fn add(&mut self, other: &Self) {
        self.add(other);
    }
}

impl HistoryTally for PartitionSummary {
    fn of(seed: u64) -> Result<Self, Violation> {
        PartitionHistory::run(seed, PartitionBug::None)
    }

    fn add(&mut self, other: &Self) {
        self.add(other);
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.cluster {
        report::<ClusterSummary>(&arguments, " --cluster")
    } else if arguments.partitions {
        report::<PartitionSummary>(&arguments, " --partitions")
    } else {
        report::<HistorySummary>(&arguments, "")
    }
}

#[expect(clippy::print_stdout, reason = "a command line program")]
fn report<S: HistoryTally>(arguments: &Arguments, kind: &str) -> ExitCode {
    let begun = Instant::now();
    match run::<S>(arguments, begun) {
        Ok((histories, summary)) => {
            let seconds = begun.elapsed().as_secs_f64();
            println!("{histories} histories, 0 violations, {seconds:.1} s");
            println!("{summary:?}");
            ExitCode::SUCCESS
        }
        Err((seed, violation)) => {
            println!("seed {seed}: {violation}");
            println!("again: cargo run --profile sim -p turnstile-sim --{kind} --seed {seed}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the histories on the threads: thread k takes each k-th seed.
fn run<S: HistoryTally>(arguments: &Arguments, begun: Instant) -> ThreadResult<S> {
    let until = arguments
        .seconds
        .map(|seconds| begun + Duration::from_secs(seconds));
    let only_one = if until.is_some() { u64::MAX } else { 1 };
    let count = arguments.histories.unwrap_or(only_one);
    let next = AtomicU64::new(0);
    let share = || -> ThreadResult<S> {
        let mut summary = S::default();
        let mut done = 0;
        while until.is_none_or(|until| Instant::now() < until) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let seed = arguments.seed.wrapping_add(number);
            let history = S::of(seed).map_err(|violation| (seed, violation))?;
            summary.add(&history);
            done += 1;
        }
        Ok((done, summary))
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.threads.max(1))
            .map(|_| scope.spawn(share))
            .collect();
        let mut total = (0, S::default());
        for thread in threads {
            let (done, summary) = thread.join().expect("a history does not panic")?;
            total.0 += done;
            total.1.add(&summary);
        }
        Ok(total)
    })
}
