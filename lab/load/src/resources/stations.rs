//! What of that may be full, and what the server's threads were at meanwhile.

use std::time::Duration;

use turnstile_result::{Stands, Station};

use super::{
    Sample, Sampler,
    proc::{Machine, Usage},
    threads::{Place, Threads},
};

/// Seconds in which the busiest disk had something to do, between two looks at the machine.
pub(super) fn busiest_disk(first: &Machine, last: &Machine) -> Option<f64> {
    let each = last.disks.iter().map(|(name, busy)| {
        let before = first.disks.iter().find(|(same, _)| same == name);
        busy - before.map_or(0.0, |(_, before)| *before)
    });
    each.reduce(f64::max)
}

impl Sampler {
    /// Processors and busiest thread of everybody who is watched, then the busiest disk.
    pub(super) fn stations(&self, first: &Sample, last: &Sample, bins: usize) -> Vec<Station> {
        let of_threads = |one: &Usage, next: &Usage| next.of_threads.busiest(&one.of_threads);
        let of_all = |one: &Usage, next: &Usage| Some(next.cpu() - one.cpu());
        type UtilizationRule = fn(&Usage, &Usage) -> Option<f64>;
        let mut stations = Vec::new();
        for (number, watched) in self.watched.iter().enumerate() {
            let kinds: [(&str, f64, UtilizationRule); 2] = [
                ("cpu", watched.processors, of_all),
                ("thread", watched.processors.min(1.0), of_threads),
            ];
            for (kind, servers, of) in kinds {
                let resource = format!("{} {kind}", watched.role);
                let used = |one: &Sample, next: &Sample| {
                    of(one.used[number].as_ref()?, next.used[number].as_ref()?)
                };
                stations.extend(self.station(resource, servers, (first, last), bins, used));
            }
        }
        let used = |one: &Sample, next: &Sample| busiest_disk(&one.machine, &next.machine);
        stations.extend(self.station("disk".to_owned(), 1.0, (first, last), bins, used));
        stations
    }

    fn station(
        &self,
        resource: String,
        servers: f64,
        (first, last): (&Sample, &Sample),
        bins: usize,
        used: impl Fn(&Sample, &Sample) -> Option<f64>,
    ) -> Option<Station> {
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let busy = used(first, last)? / seconds;
        busy.is_finite().then(|| Station {
            resource,
            servers,
            busy: busy.max(0.0),
            bins: self.bins(bins, used),
        })
    }

    /// What the threads of the server were at.
    pub(super) fn stands(&self, from: Duration, to: Duration) -> Option<Stands> {
        let server = self.watched.iter().position(|one| one.is("server"))?;
        let within =
            self.samples.seen().iter().filter(|sample| {
                sample.at >= from && sample.at <= to && sample.at > Duration::ZERO
            });
        let threads: Vec<&Threads> = within
            .filter_map(|sample| Some(&sample.used[server].as_ref()?.of_threads))
            .collect();
        let looks: u32 = threads.iter().map(|threads| threads.looks).sum();
        let mean = |place: Place| {
            let all = threads.iter().map(|threads| threads.at[place as usize]);
            f64::from(all.sum::<u32>()) / f64::from(looks)
        };
        (looks > 0).then(|| Stands {
            looks,
            running: mean(Place::Running),
            lock: mean(Place::Lock),
            disk: mean(Place::Disk),
            asleep: mean(Place::Asleep),
            elsewhere: mean(Place::Elsewhere),
        })
    }
}
