//! Reloading the configuration while a server runs.

use std::fmt;

use turnstile_server::Stopper;

use crate::{
    config::{Config, Layers},
    descriptors, logging,
};

type Read = Box<dyn Fn() -> anyhow::Result<Layers> + Send>;

/// The configuration that a server runs by, and how to read it again.
pub(crate) struct Reading {
    layers: Layers,
    read: Read,
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

    /// Reads it again. The server takes over what it can; the log says what that is, and what needs a
    /// restart. With a configuration that is wrong, everything stays as it is.
    pub(crate) fn again(&mut self, server: &Stopper) {
        let read = (self.read)().and_then(|layers| {
            let config = Config::parse(&layers)?;
            Ok((layers, config))
        });
        let (layers, config) = match read {
            Ok(read) => read,
            Err(failure) => {
                let failure = format!("{failure:#}");
                tracing::error!(failure, "the configuration is not reloaded: it is wrong");
                server.note_failed_reload();
                return;
            }
        };
        let mut changes = self.layers.changes(&layers);
        // A database has room for the answers of as many connections as there were at the start.
        let databases = &config.server.databases;
        if (databases.rooms.is_some() || databases.exchange.is_some())
            && changes.live.contains(&CONNECTIONS)
        {
            changes.fixed.push(CONNECTIONS);
            changes.live.retain(|path| *path != CONNECTIONS);
        }
        if !changes.fixed.is_empty() {
            let fields = changes.fixed.join(", ");
            tracing::warn!(fields, "these settings have changed and need a restart");
        }
        self.take_over(layers, config, &changes.live, server);
    }

    fn take_over(&mut self, layers: Layers, config: Config, live: &[&str], server: &Stopper) {
        let mut limits = config.server.limits;
        descriptors::allow(&limits);
        if !live.contains(&CONNECTIONS)
            && let Ok(running) = Config::parse(&self.layers)
        {
            limits.connections = running.server.limits.connections;
        }
        server.set_limits(&limits);
        match server.reload_tls() {
            Ok(true) => tracing::info!("new connections get the new certificate"),
            Ok(false) => {}
            Err(failure) => {
                let failure = failure.to_string();
                tracing::error!(
                    failure,
                    "the certificate is not reloaded: the old one stays"
                );
                server.note_failed_reload();
            }
        }
        let is_logging = logging::reload(config.log_level);
        assert!(is_logging, "a server logs until it ends");
        let changed = live.join(", ");
        tracing::info!(changed, "the configuration is reloaded");
        server.note_reload(&changed);
        self.layers.take_live(layers, live);
    }
}

const CONNECTIONS: &str = "limits.connections";

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}
