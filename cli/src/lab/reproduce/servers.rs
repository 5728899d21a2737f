//! The servers of an experiment: which doors a run is told, and who runs on which processors.

use anyhow::Context as _;
use turnstile_load::processors;
use turnstile_reproduce::OriginalExperiment;

use super::ways::Kind;
use crate::{
    child::{ArenaServers, Company, Doors, Server},
    lab::{pin, quota::Quota},
};

/// The servers of one column, one after the other.
pub(super) struct ColumnServers {
    experiment: OriginalExperiment,
    kind: Kind,
    places: CpuPlacement,
    own: Option<Own>,
    /// Of the server that runs, where it has less than a processor.
    quota: Option<Quota>,
}

/// Who runs where. The generator has a processor for itself, where there are several: the ancestors
/// had theirs on another machine. Only their exchange shared its machine with its clients, and so ours
/// does.
struct CpuPlacement {
    servers: Vec<usize>,
    generator: Option<Vec<usize>>,
}

enum Own {
    One(Server),
    Five(Company),
    Two(ArenaServers),
}

impl ColumnServers {
    pub(super) fn new(experiment: OriginalExperiment, kind: Kind) -> Self {
        Self {
            experiment,
            kind,
            places: CpuPlacement::of(experiment),
            own: None,
            quota: None,
        }
    }

    /// The processors of the generator, where it does not share them.
    pub(super) fn generator(&self) -> Option<&[usize]> {
        self.places.generator.as_deref()
    }

    /// The flags that name the doors of a server for the next run, on so many cores, or within so much
    /// of one.
    ///
    /// It is a new one for each run, so that none inherits the books of another; what a database keeps
    /// is inherited anyway.
    pub(super) fn doors(
        &mut self,
        cores: Option<u32>,
        quota: Option<f64>,
    ) -> anyhow::Result<Vec<String>> {
        self.quota = None;
        let is_booking = matches!(
            self.experiment,
            OriginalExperiment::BookingMysql | OriginalExperiment::BookingRedis
        );
        let own = match self.own.take() {
            Some(own) if is_booking && matches!(self.kind, Kind::Kept { .. }) => own,
            before => {
                before.map_or(Ok(()), Own::stop)?;
                let mut servers = self.places.servers.clone();
                if let Some(cores) = cores {
                    servers.truncate(usize::try_from(cores)?);
                }
                pin::on(Some(&servers), || self.start())?
            }
        };
        let own = self.own.insert(own);
        if let Some(processors) = quota {
            self.quota = Some(Quota::of(&[own.known().pid()], processors)?);
        }
        own.flags(self.experiment)
    }

    fn start(&self) -> anyhow::Result<Own> {
        let doors = match self.experiment {
            OriginalExperiment::BookingMysql | OriginalExperiment::BookingRedis => Doors::Resp,
            OriginalExperiment::ExchangeCores => Doors::RespAndXml,
            OriginalExperiment::GamesUsers => Doors::RespAndArena,
            OriginalExperiment::TravelOps | OriginalExperiment::TravelRate => Doors::RespAndTravel,
        };
        let told = match &self.kind {
            Kind::Separate if self.experiment == OriginalExperiment::GamesUsers => {
                return ArenaServers::start().map(Own::Two);
            }
            Kind::Separate => return Company::start().map(Own::Five),
            Kind::Embedded => Vec::new(),
            Kind::Kept { flag, url } => vec![((*flag).to_owned(), url.clone())],
        };
        Server::start_with(None, doors, &told).map(Own::One)
    }

    /// Ends the server whatever it is at: the next run gets a new one.
    pub(super) fn abandon(&mut self) {
        self.quota = None;
        self.own = None;
    }

    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        self.quota = None;
        self.own.map_or(Ok(()), Own::stop)
    }
}

impl Own {
    /// The one that clients know.
    const fn known(&self) -> &Server {
        match self {
            Self::One(server) => server,
            Self::Five(company) => company.middleware(),
            Self::Two(arena) => arena.arena(),
        }
    }

    /// The flags that name its doors in an experiment.
    fn flags(&self, experiment: OriginalExperiment) -> anyhow::Result<Vec<String>> {
        let server = self.known();
        let resp = ("--resp", Some(server.resp()));
        let named = match experiment {
            OriginalExperiment::BookingMysql | OriginalExperiment::BookingRedis => vec![resp],
            OriginalExperiment::ExchangeCores => vec![("--xml", server.xml()), resp],
            OriginalExperiment::GamesUsers => vec![("--games-arena", server.arena())],
            OriginalExperiment::TravelOps | OriginalExperiment::TravelRate => {
                vec![("--travel", server.travel()), resp]
            }
        };
        let mut flags = Vec::with_capacity(2 * named.len());
        for (flag, address) in named {
            let address = address.with_context(|| format!("the server named no {flag}"))?;
            flags.extend([flag.to_owned(), address.to_string()]);
        }
        Ok(flags)
    }

    fn stop(self) -> anyhow::Result<()> {
        match self {
            Self::One(server) => server.stop(),
            Self::Five(company) => company.stop(),
            Self::Two(arena) => arena.stop(),
        }
    }
}

impl CpuPlacement {
    fn of(experiment: OriginalExperiment) -> Self {
        let mut servers = processors::available();
        let is_apart = experiment != OriginalExperiment::ExchangeCores && servers.len() > 1;
        let generator = is_apart.then(|| servers.pop().into_iter().collect());
        Self { servers, generator }
    }
}
