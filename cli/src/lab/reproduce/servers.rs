//! The servers of an experiment, and which doors a run is told.

use anyhow::Context as _;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use turnstile_reproduce::Experiment;

use super::Kind;
use crate::child::{Doors, Server};

/// Where a run starts its server itself there is none here.
pub(super) struct Servers {
    experiment: Experiment,
    kind: Kind,
    own: Option<Server>,
}

impl Servers {
    pub(super) fn new(experiment: Experiment, kind: Kind) -> Self {
        Self {
            experiment,
            kind,
            own: None,
        }
    }

    /// The flags that name the doors of a server for the next run, on so many cores.
    pub(super) fn doors(&mut self, cores: Option<u32>) -> anyhow::Result<Vec<String>> {
        match (&self.kind, self.experiment) {
            (Kind::Kept(url), _) => {
                if self.own.is_none() {
                    let kept = [("--rooms-backend".to_owned(), url.clone())];
                    self.own = Some(Server::start_with(None, Doors::Resp, &kept)?);
                }
                let resp = self.own.as_ref().map(Server::resp);
                Ok(resp.map_or_else(Vec::new, |resp| vec!["--resp".to_owned(), resp.to_string()]))
            }
            (Kind::Separate, _) => Ok(vec!["--servers".to_owned(), "separate".to_owned()]),
            // A new one for each run, so that none inherits the books of another.
            (Kind::Embedded, Experiment::ExchangeCores) => {
                self.stop_own()?;
                let server = self.own.insert(on_cores(cores, Doors::RespAndXml)?);
                let xml = server.xml().context("it was started with an XML door")?;
                let flags = [
                    "--xml",
                    &xml.to_string(),
                    "--resp",
                    &server.resp().to_string(),
                ];
                Ok(flags.map(str::to_owned).to_vec())
            }
            (Kind::Embedded, _) => Ok(Vec::new()),
        }
    }

    fn stop_own(&mut self) -> anyhow::Result<()> {
        self.own.take().map_or(Ok(()), Server::stop)
    }

    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        self.stop_own()
    }
}

/// A server on the first cores of this machine: a process is born where its parent may run.
fn on_cores(cores: Option<u32>, doors: Doors) -> anyhow::Result<Server> {
    let Some(cores) = cores else {
        return Server::start(None, doors);
    };
    let all = sched_getaffinity(None).context("the processors of this process")?;
    let mut first = CpuSet::new();
    let allowed = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
    for cpu in allowed.take(usize::try_from(cores)?) {
        first.set(cpu);
    }
    sched_setaffinity(None, &first).context("fewer processors")?;
    let server = Server::start(None, doors);
    sched_setaffinity(None, &all).context("all processors again")?;
    server
}
