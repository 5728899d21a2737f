//! The configuration of a server, and the origin of each value.
//!
//! Four layers, each over the one before: defaults, the TOML file, the environment
//! (`TURNSTILE__SECTION__KEY`), flags. All of them carry text, so that one parser checks a value
//! wherever it came from, and its error can name the place. [`options::OPTIONS`] declares every option
//! once; flags, file, environment, `config print` and the reference page follow from it.

mod bounds;
mod cluster;
mod file;
mod flags;
mod layers;
mod operating;
mod option;
mod options;
mod role;
#[cfg(test)]
mod tests;
mod values;

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tracing_subscriber::EnvFilter;
use turnstile_embedded::Durability;
use turnstile_server::{CollectorUrl, LogPlace, ScoresWire, Settings, TlsFiles};
use turnstile_travel::Desk;

use crate::{exit::Coded, lab_runs, logging};

use cluster::ConfiguredCluster;

pub(crate) use flags::{Flags, LogFlags};
pub(crate) use layers::Layers;
pub(crate) use option::suggestion;
pub(crate) use role::Role;

/// A configuration whose values are valid, each by itself.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// What the server gets as it is.
    pub(crate) server: Settings,
    /// The part of travel or games that this process runs.
    pub(crate) role: Role,
    travel: turnstile_travel::Settings,
    games: turnstile_games::Settings,
    tls: ConfiguredTls,
    cluster: ConfiguredCluster,
    lab: ConfiguredLab,
    /// The addresses of the resource managers in other processes.
    desks: Vec<(Desk, SocketAddr)>,
    /// The address of the scores process.
    scores: Option<SocketAddr>,
    scores_wire: ScoresWire,
    pub(crate) log_level: EnvFilter,
    pub(crate) log_format: logging::Format,
    access_log: Option<LogPlace>,
    traces: ConfiguredTraces,
}

/// The files of TLS, which only make sense together.
#[derive(Clone, Debug, Default)]
struct ConfiguredTls {
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    client_ca: Option<PathBuf>,
}

/// Which requests a collector of traces is told of.
#[derive(Clone, Debug, Default)]
struct ConfiguredTraces {
    collector: Option<CollectorUrl>,
    one_in: u64,
}

/// What loads that operators start over HTTP need.
#[derive(Clone, Debug, Default)]
struct ConfiguredLab {
    results: Option<PathBuf>,
    key_file: Option<PathBuf>,
}

impl Config {
    /// Where the results of loads go that operators start over HTTP, if nothing else was said.
    pub(crate) fn keep_lab_results(&mut self, folder: &Path) {
        let results = &mut self.lab.results;
        results.get_or_insert_with(|| folder.to_owned());
    }

    /// What every load is told that operators start over HTTP.
    pub(crate) fn lab_target(&self, resp: SocketAddr) -> Vec<OsString> {
        lab_runs::target(resp, self.certificate(), self.lab.key_file.as_deref())
    }

    /// The file of the server's certificate, where its doors are encrypted.
    pub(crate) fn certificate(&self) -> Option<&Path> {
        self.tls.certificate.as_deref()
    }
}

impl ConfiguredTls {
    /// # Errors
    /// One file is there without another that it needs.
    fn files(&self) -> Result<Option<TlsFiles>, Coded> {
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => Ok(Some(TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
                client_ca: self.client_ca.clone(),
            })),
            (Some(_), None) => Err(Coded::usage(
                "tls.certificate needs its private key: set tls.key".to_owned(),
            )),
            (None, Some(_)) => Err(Coded::usage(
                "tls.key needs its certificate: set tls.certificate".to_owned(),
            )),
            (None, None) if self.client_ca.is_some() => Err(Coded::usage(
                "tls.client_ca needs TLS: set tls.certificate and tls.key".to_owned(),
            )),
            (None, None) => Ok(None),
        }
    }
}

impl Config {
    /// Checks every value.
    ///
    /// # Errors
    /// The first value that is wrong, and where it came from.
    pub(crate) fn parse(layers: &Layers) -> Result<Self, Coded> {
        let mut config = Self::blank();
        layers.apply(&mut config)?;
        Ok(config)
    }

    /// What the options are set on. No value of an option that has a default is seen.
    fn blank() -> Self {
        Self {
            server: Settings {
                commit: env!("TURNSTILE_COMMIT"),
                ..Settings::closed(turnstile_embedded::Options::with(Durability::Sync))
            },
            role: Role::All,
            travel: turnstile_travel::Settings::FIRST,
            games: turnstile_games::Settings::FIRST,
            tls: ConfiguredTls::default(),
            cluster: ConfiguredCluster::default(),
            lab: ConfiguredLab::default(),
            desks: Vec::new(),
            scores: None,
            scores_wire: ScoresWire::Numbered,
            log_level: EnvFilter::default(),
            log_format: logging::Format::Text,
            access_log: None,
            traces: ConfiguredTraces::default(),
        }
    }
}
