//! Who else uses the processors, seen by being busy for a second.

use std::{
    thread,
    time::{Duration, Instant},
};

use turnstile_load::{
    processors,
    resources::Sampler,
    validity::{RUN_DELAY_MAX, STEAL_MAX},
};
use turnstile_result::Resources;

use super::{Grade, HealthCheck};

const BUSY: Duration = Duration::from_secs(1);

/// Of the time, for each processor: what nobody notices.
const DELAY_FINE: f64 = 0.01;
const STEAL_FINE: f64 = 0.005;
const PRESSURE_FINE: f64 = 0.1;

const CURE: &str = "stop what else runs here, use --rt, or take another machine";

pub(super) fn all() -> [HealthCheck; 3] {
    let (resources, threads) = be_busy();
    [
        run_delay(&resources, threads),
        steal(&resources),
        pressure(&resources),
    ]
}

/// Keeps all processors but one busy, or the only one: with all of them, our own other threads would
/// be the neighbours.
fn be_busy() -> (Resources, f64) {
    let cores = processors::available();
    let busy = &cores[..cores.len().saturating_sub(1).max(1).min(cores.len())];
    let mut sampler = Sampler::new(Vec::new());
    let start = Instant::now();
    // The samples are taken while the threads live, for the system forgets what they waited.
    thread::scope(|scope| {
        for &core in busy {
            scope.spawn(move || {
                let _stay = processors::stay_on(&[core]);
                while start.elapsed() < BUSY + BUSY / 10 {
                    std::hint::spin_loop();
                }
            });
        }
        thread::park_timeout(BUSY);
        sampler.look(start.elapsed());
    });
    let resources = sampler.between(Duration::ZERO, BUSY, 0, 0);
    let threads = u64::try_from(busy.len().max(1)).unwrap_or(1);
    (resources, turnstile_stats::units::to_float(threads))
}

fn run_delay(resources: &Resources, threads: f64) -> HealthCheck {
    let finding = HealthCheck::new(
        "neighbours",
        "others use the processors: answers wait for them, and rates are theirs as much as ours",
    );
    let own = resources.processes.first();
    let Some(delay) = own.and_then(|own| own.run_delay) else {
        return finding.fine("the system does not tell".to_owned());
    };
    let delay = delay / threads;
    let found = format!(
        "a busy thread could not run {:.1} % of a second",
        delay * 100.0
    );
    finding.is(Grade::up_to(DELAY_FINE, RUN_DELAY_MAX, delay), found, CURE)
}

fn steal(resources: &Resources) -> HealthCheck {
    let finding = HealthCheck::new(
        "steal",
        "the host gives time to other machines, which nothing here can see or prevent",
    );
    let Some(steal) = resources.steal else {
        return finding.fine("the system does not tell".to_owned());
    };
    finding.is(
        Grade::up_to(STEAL_FINE, STEAL_MAX, steal),
        format!("the host gave {:.1} % of the time to others", steal * 100.0),
        "measure when the host is quiet, or on a machine of your own",
    )
}

fn pressure(resources: &Resources) -> HealthCheck {
    let finding = HealthCheck::new(
        "pressure",
        "something always waits for a processor, memory or disk",
    );
    let Some(pressure) = &resources.pressure else {
        return finding.fine("the system does not tell (/proc/pressure)".to_owned());
    };
    let [cpu, memory, io] = [&pressure.cpu, &pressure.memory, &pressure.io].map(|one| one.some);
    let found = format!(
        "some process waited for a processor {:.0} % of the time, for memory {:.0} %, for disks {:.0} %",
        cpu * 100.0,
        memory * 100.0,
        io * 100.0
    );
    let grade = Grade::up_to(PRESSURE_FINE, f64::INFINITY, cpu.max(memory).max(io));
    finding.is(grade, found, CURE)
}
