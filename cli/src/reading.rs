//! Reloading the configuration while a server runs.

use std::fmt;

use turnstile_server::{ReloadDone, ReloadOutcome, ReloadRefused, Stopper};
use turnstile_types::Principal;

use crate::{
    config::{Config, Layers},
    descriptors, logging,
};

type LayerSource = Box<dyn Fn() -> anyhow::Result<Layers> + Send>;

/// The configuration that a server runs by, and how to read it again.
pub(crate) struct Reading {
    layers: Layers,
    read: LayerSource,
}

impl Reading {
    pub(crate) fn new(
        layers: Layers,
        read: impl Fn() -> anyhow::Result<Layers> + Send + 'static,
    ) -> Self {
        Self {
            layers,
            read: Box::new(read),
        }
    }

    /// Reads it again, for SIGHUP or for a principal that asks over HTTP. The server takes over all that
    /// has changed, or nothing; the log and the events of security say what came of it.
    ///
    /// # Errors
    /// The configuration or a file of TLS is wrong, or a setting has changed that needs a restart.
    pub(crate) fn again(&mut self, server: &Stopper, by: Option<Principal>) -> ReloadOutcome {
        // Whoever has renamed the file says so by SIGHUP, whatever else there is to read.
        server.reopen_access_log();
        let outcome = self.take_over(server);
        let by_whom = by.map_or_else(String::new, |by| by.to_string());
        match &outcome {
            Ok(done) => {
                let changed = done.changed.join(", ");
                let certificate = done.certificate;
                tracing::info!(
                    changed,
                    certificate,
                    by = by_whom,
                    "the configuration is reloaded"
                );
                server.note_reload(done, by);
            }
            Err(refused) => {
                tracing::error!(
                    %refused,
                    by = by_whom,
                    "the configuration is not reloaded: nothing has changed"
                );
                server.note_failed_reload(by);
            }
        }
        outcome
    }

    fn take_over(&mut self, server: &Stopper) -> ReloadOutcome {
        let read = (self.read)().and_then(|layers| {
            let config = Config::parse(&layers)?;
            Ok((layers, config))
        });
        let (layers, config) =
            read.map_err(|failure| ReloadRefused::Wrong(format!("{failure:#}")))?;
        let mut changes = self.layers.changes(&layers);
        // A database has room for the answers of as many connections as there were at the start.
        let databases = &config.server.databases;
        if (databases.rooms.is_some() || databases.exchange.is_some())
            && changes.live.contains(&CONNECTIONS)
        {
            changes.fixed.push(CONNECTIONS);
        }
        if !changes.fixed.is_empty() {
            return Err(ReloadRefused::NeedsRestart(changes.fixed));
        }
        let (limits, origins) = (config.server.limits, &config.server.http_origins);
        let certificate = server
            .take_over(&limits, origins)
            .map_err(|wrong| ReloadRefused::Wrong(wrong.to_string()))?;
        descriptors::allow(&limits);
        let is_logging = logging::reload(config.log_level);
        assert!(is_logging, "a server logs until it ends");
        self.layers = layers;
        Ok(ReloadDone {
            changed: changes.live.into_iter().map(Into::into).collect(),
            certificate,
        })
    }
}

const CONNECTIONS: &str = "limits.connections";

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}
