//! What processes and machine use while a load runs, from `/proc`.

mod proc;
mod stations;
mod threads;

use std::{
    net::{SocketAddr, ToSocketAddrs as _, UdpSocket},
    time::Duration,
};

use rustix::{process::Pid, thread::sched_getaffinity};
use turnstile_client::ServerAddress;
use turnstile_result::{Pressure, Process, Resources, Stall};
use turnstile_stats::units::to_float;

use proc::{Machine, Usage};

use crate::{door, thin::ThinnedSeries};

/// So many samples are kept; when there are more, each second one goes.
const SAMPLES_MAX: usize = 1_024;

/// Who is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// `server`, `generator`, `database`.
    role: String,
    pid: u32,
    /// How many processors it may use; a quota makes it a fraction.
    processors: f64,
}

/// The role of this process.
const GENERATOR: &str = "generator";

impl Watched {
    /// A process, and all that descend from it: a database may be a process for each connection.
    #[must_use]
    pub fn new(role: &str, pid: u32) -> Self {
        let id = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let allowed = id.and_then(|id| sched_getaffinity(Some(id)).ok());
        Self {
            role: role.to_owned(),
            pid,
            processors: allowed.map_or(1.0, |set| to_float(u64::from(set.count()))),
        }
    }

    /// The same under a quota of so many processors.
    #[must_use]
    pub fn within(self, quota: Option<f64>) -> Self {
        let processors = quota.map_or(self.processors, |quota| quota.min(self.processors));
        Self { processors, ..self }
    }

    /// Whether this is its role.
    #[must_use]
    pub fn is(&self, role: &str) -> bool {
        self.role == role
    }

    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.pid
    }
}

/// Looks at processes and the machine now and then, from the start of a run on.
#[derive(Debug)]
pub struct Sampler {
    watched: Vec<Watched>,
    samples: ThinnedSeries<Sample>,
}

#[derive(Clone, Debug)]
struct Sample {
    at: Duration,
    machine: Machine,
    /// Of those who are watched, in their order; none of one that is gone.
    used: Vec<Option<Usage>>,
}

/// The process that listens at an address of this machine, if it may be seen.
#[must_use]
pub fn listener(address: SocketAddr) -> Option<u32> {
    // Sockets take only addresses of this machine.
    UdpSocket::bind((address.ip(), 0)).ok()?;
    proc::listener(address.port())
}

/// Resident memory of this process in bytes, to the page: the short figure of `/proc` may be off by some
/// hundred KiB on each processor. Zero where the system does not tell.
#[must_use]
pub fn own_memory() -> u64 {
    proc::exact_memory().unwrap_or(0)
}

/// The process of the database in which the server at this door keeps a service, if it says where, that
/// is on this machine, and may be seen.
#[must_use]
pub fn database(resp: &ServerAddress) -> Option<u32> {
    let place = door::behind(resp)?;
    // `host:port/name`.
    let (address, _) = place.split_once('/').unwrap_or((&place, ""));
    address.to_socket_addrs().ok()?.find_map(listener)
}

impl Sampler {
    /// Watches the processes that are told, and this one as `generator`.
    #[must_use]
    pub fn new(mut watched: Vec<Watched>) -> Self {
        watched.push(Watched::new(GENERATOR, std::process::id()));
        let mut sampler = Self {
            watched,
            samples: ThinnedSeries::new(SAMPLES_MAX),
        };
        sampler.look(Duration::ZERO);
        sampler
    }

    /// Looks, so long after the start. A look at the start forgets those before: what the preparation
    /// of a run has used is not used by the run.
    pub fn look(&mut self, at: Duration) {
        if at.is_zero() {
            self.samples.clear();
        }
        let watched = &self.watched;
        self.samples.add(|| Sample::of(watched, at));
    }

    /// What was used in a window in which so many answers came, and in each of `bins` pieces of
    /// 100 ms from the start on.
    #[must_use]
    pub fn between(&self, from: Duration, to: Duration, answers: u64, bins: usize) -> Resources {
        // The samples about the window: with those within it, a short one would have none.
        let samples = self.samples.seen();
        let before = samples.partition_point(|sample| sample.at <= from);
        let after = samples.partition_point(|sample| sample.at < to);
        let within = before.saturating_sub(1)..=after.min(samples.len() - 1);
        let first = &samples[*within.start()];
        let last = &samples[*within.end()];
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        if seconds <= 0.0 {
            return Resources::default();
        }
        let within = &samples[within];
        let processes = (0..self.watched.len())
            .filter_map(|number| self.process(number, within, answers, bins))
            .collect();
        let mut resources = of_machine(&first.machine, &last.machine, seconds);
        resources.processes = processes;
        resources.others = others(&resources, &last.machine);
        resources.stations = self.stations(first, last, bins);
        resources.stands = self.stands(from, to);
        resources
    }

    /// What one process used from the first to the last of these samples, if it was there at both.
    fn process(
        &self,
        number: usize,
        samples: &[Sample],
        answers: u64,
        bins: usize,
    ) -> Option<Process> {
        let (first, last) = (samples.first()?, samples.last()?);
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let (first, last) = (first.used[number].as_ref()?, last.used[number].as_ref()?);
        let share = |from: f64, to: f64| ((to - from) / seconds).max(0.0);
        let rate = |from: Option<u64>, to: Option<u64>| {
            Some(to_float(to?.saturating_sub(from?)) / seconds)
        };
        let (user, system) = (
            share(first.user, last.user),
            share(first.system, last.system),
        );
        let watched = &self.watched[number];
        Some(Process {
            role: watched.role.clone(),
            pid: watched.pid,
            threads: last.threads,
            user,
            system,
            run_delay: waited(samples, number).map(|waited| waited / seconds),
            memory_bytes: last.memory_bytes,
            disk_written: rate(first.written, last.written),
            disk_read: rate(first.read, last.read),
            busy: self.bins(bins, |one, next| {
                Some(next.used[number].as_ref()?.cpu() - one.used[number].as_ref()?.cpu())
            }),
            cpu_per_answer_ns: (user + system) * seconds * 1e9 / to_float(answers.max(1)),
        })
    }

    /// How much of something was used in each bin, as a share of its time: between two samples as
    /// much in each of their bins. `used`: seconds between a sample and the next.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a share of processors needs few digits"
    )]
    fn bins(&self, bins: usize, used: impl Fn(&Sample, &Sample) -> Option<f64>) -> Vec<f32> {
        let mut known = self
            .samples
            .seen()
            .windows(2)
            .filter_map(|pair| {
                let time = pair[1].at.checked_sub(pair[0].at)?.as_secs_f64();
                let busy = used(&pair[0], &pair[1])? / time;
                busy.is_finite().then_some((pair[1].at, busy.max(0.0)))
            })
            .peekable();
        let mut last = 0.0;
        let shares = (0_u32..).take(bins).map(|bin| {
            let middle = Duration::from_millis(100) * bin + Duration::from_millis(50);
            while known.next_if(|(until, _)| *until < middle).is_some() {}
            if let Some((_, busy)) = known.peek() {
                last = *busy;
            }
            last as f32
        });
        shares.collect()
    }
}

impl Sample {
    fn of(watched: &[Watched], at: Duration) -> Self {
        // A server may have started its own database.
        let all: Vec<u32> = watched.iter().map(Watched::pid).collect();
        let used = |one: &Watched| {
            // The lab's own servers descend from this process, too.
            if one.role == GENERATOR {
                proc::usage(one.pid)
            } else {
                proc::usage_of_family(one.pid, &all)
            }
        };
        Self {
            at,
            machine: proc::machine(),
            used: watched.iter().map(used).collect(),
        }
    }
}

/// Seconds in which threads could have run but did not, from look to look: those of a thread that has
/// ended are not told any more.
fn waited(samples: &[Sample], number: usize) -> Option<f64> {
    let told = samples
        .iter()
        .filter_map(|sample| sample.used[number].as_ref()?.of_threads.run_delay);
    let told: Vec<f64> = told.collect();
    let each = told.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0));
    (told.len() > 1).then(|| each.sum())
}

impl Usage {
    /// Seconds of processors.
    fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

/// Processors that were busy with what is not watched.
fn others(resources: &Resources, machine: &Machine) -> Option<f64> {
    let busy = resources.busy? * f64::from(machine.times?.processors);
    let watched = resources.processes.iter().map(Process::used);
    Some((busy - watched.sum::<f64>()).max(0.0))
}

fn of_machine(first: &Machine, last: &Machine, seconds: f64) -> Resources {
    let of_time = |part: fn(&proc::CpuTimes) -> f64| {
        let (from, to) = (first.times?, last.times?);
        let all = to.all - from.all;
        (all > 0.0).then(|| ((part(&to) - part(&from)) / all).max(0.0))
    };
    let stall = |of: fn(&Machine) -> Option<Stall>| {
        let (from, to) = (of(first)?, of(last)?);
        Some(Stall {
            some: ((to.some - from.some) / seconds).max(0.0),
            full: ((to.full - from.full) / seconds).max(0.0),
        })
    };
    let pressure = || {
        Some(Pressure {
            cpu: stall(|machine| machine.cpu_stall)?,
            memory: stall(|machine| machine.memory_stall)?,
            io: stall(|machine| machine.io_stall)?,
        })
    };
    Resources {
        pressure: pressure(),
        steal: of_time(|times| times.stolen),
        busy: of_time(|times| times.busy),
        network_bytes: last
            .sent
            .zip(first.sent)
            .map(|(to, from)| to_float(to.saturating_sub(from)) / seconds),
        disk_busy: stations::busiest_disk(first, last).map(|busy| (busy / seconds).clamp(0.0, 1.0)),
        ..Resources::default()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn what_this_process_burns_is_seen() {
        let mut sampler = Sampler::new(Vec::new());
        let start = std::time::Instant::now();
        let mut sum = 0_u64;
        let used = || proc::usage(std::process::id()).unwrap().user;
        let before = used();
        while used() < before + 0.05 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let end = start.elapsed() + Duration::from_millis(1);
        sampler.look(end);
        let resources = sampler.between(Duration::ZERO, end, 10, 3);
        let [own] = &resources.processes[..] else {
            panic!("{resources:?}");
        };
        assert_eq!((&*own.role, own.pid), ("generator", std::process::id()));
        assert!(own.user > 0.0 && own.cpu_per_answer_ns > 0.0, "{own:?}");
        assert!(own.memory_bytes > 100_000 && own.threads > 0, "{own:?}");
        assert_eq!(own.busy.len(), 3);
        let names: Vec<&str> = resources
            .stations
            .iter()
            .map(|one| &*one.resource)
            .collect();
        assert_eq!(names[..2], ["generator cpu", "generator thread"]);
        let [cpu, thread] = &resources.stations[..2] else {
            panic!("{resources:?}");
        };
        assert!(thread.busy > 0.0 && thread.servers < 1.5, "{thread:?}");
        assert_eq!((cpu.bins.len(), thread.bins.len()), (3, 3));
    }

    #[test]
    fn what_a_thread_waited_counts_after_its_end() {
        let mut sampler = Sampler::new(Vec::new());
        sampler.samples.clear();
        for (second, delay) in [(0, 1.0), (1, 1.5), (2, 2.0), (3, 0.25)] {
            let mut used = proc::usage(std::process::id()).unwrap();
            used.of_threads.run_delay = Some(delay);
            sampler.samples.add(|| Sample {
                at: Duration::from_secs(second),
                machine: Machine::default(),
                used: vec![Some(used)],
            });
        }
        let resources = sampler.between(Duration::ZERO, Duration::from_secs(3), 1, 0);
        let waited = resources.processes[0].run_delay.unwrap();
        assert!((waited - 1.0 / 3.0).abs() < 1e-9, "{waited}");
    }

    #[test]
    fn a_look_at_the_start_forgets_the_preparation() {
        let mut sampler = Sampler::new(Vec::new());
        sampler.look(Duration::ZERO);
        sampler.look(Duration::from_secs(1));
        let seen: Vec<Duration> = sampler.samples.seen().iter().map(|one| one.at).collect();
        assert_eq!(seen, [Duration::ZERO, Duration::from_secs(1)]);
    }

    #[test]
    fn a_process_that_is_not_there_and_a_window_without_time_tell_nothing() {
        let gone = Watched::new("server", u32::MAX);
        let mut sampler = Sampler::new(vec![gone]);
        sampler.look(Duration::from_secs(1));
        let resources = sampler.between(Duration::ZERO, Duration::from_secs(1), 1, 0);
        let roles: Vec<&str> = resources.processes.iter().map(|one| &*one.role).collect();
        assert_eq!(roles, ["generator"]);
        let later = Duration::from_secs(2);
        assert_eq!(sampler.between(later, later, 1, 0), Resources::default());
    }

    #[test]
    fn who_listens_is_found() {
        let listener_here = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener_here.local_addr().unwrap();
        assert_eq!(listener(address), Some(std::process::id()));
        let elsewhere = SocketAddr::new([192, 0, 2, 1].into(), address.port());
        assert_eq!(listener(elsewhere), None);
        let wildcard = SocketAddr::new([0, 0, 0, 0].into(), address.port());
        assert_eq!(listener(wildcard), Some(std::process::id()));
        drop(listener_here);
        assert_eq!(listener(address), None);
    }

    /// A server that says this of its back ends.
    fn says(backends: String) -> ServerAddress {
        let door = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = door.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = door.accept().unwrap();
            let asked = b"*2\r\n$4\r\nINFO\r\n$8\r\nbackends\r\n";
            let mut bytes = vec![0; asked.len()];
            stream.read_exact(&mut bytes).unwrap();
            assert_eq!(bytes, asked);
            let answer = format!("${}\r\n{backends}\r\n", backends.len());
            stream.write_all(answer.as_bytes()).unwrap();
        });
        address.into()
    }

    #[test]
    fn the_database_that_a_server_names_is_found_on_this_machine() {
        let database_here = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = database_here.local_addr().unwrap().port();
        let place = |place: &str| format!("rooms_backend:x\r\nrooms_backend_place:{place}\r\n");
        let here = place(&format!("127.0.0.1:{port}/hotel"));
        assert_eq!(database(&says(here)), Some(std::process::id()));
        let elsewhere = place(&format!("192.0.2.1:{port}/hotel"));
        assert_eq!(database(&says(elsewhere)), None);
        assert_eq!(
            database(&says("rooms_backend:embedded\r\n".to_owned())),
            None
        );
    }

    #[test]
    fn however_long_a_run_is_its_samples_fit() {
        let mut sampler = Sampler::new(Vec::new());
        for look in 1..10_000 {
            sampler.look(Duration::from_millis(100) * look);
        }
        let samples = sampler.samples.seen();
        assert!(samples.len() <= SAMPLES_MAX);
        assert!(samples.is_sorted_by_key(|sample| sample.at));
        assert_eq!(samples[0].at, Duration::ZERO);
        let last = samples.last().unwrap().at;
        assert!(last > Duration::from_secs(990), "{last:?}");
    }
}
