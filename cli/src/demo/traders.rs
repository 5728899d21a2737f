//! Traders over XML, until the server is killed under them; and what the next one knows of them.

use std::{io, net::SocketAddr, time::Duration};

use anyhow::Context as _;
use turnstile_load::{exchange, pace::Pace};
use turnstile_stats::units::Count;

use crate::{child::Server, exit::Coded, lab, terminal::Table};

/// Connections, each a trader.
const TRADERS: usize = 8;

/// Requests that each has under way.
const PIPELINE: usize = 16;

const SYMBOLS: usize = 3;

/// Traders whose server was killed.
#[derive(Debug)]
pub(super) struct Traders {
    config: exchange::Config,
    driven: exchange::Driven,
}

impl Traders {
    /// Lets them trade for so long, and kills the server in the middle of it.
    pub(super) fn lose(server: Server, duration: Duration, seed: u64) -> anyhow::Result<Self> {
        let config = exchange::Config {
            door: exchange::Door::Xml,
            pace: Pace {
                threads: lab::default_threads().get(),
                pipeline: PIPELINE,
                seed,
                ..Pace::closed(xml(&server)?, Duration::ZERO, duration)
            },
            proof: Some(server.resp().into()),
            users: TRADERS,
            symbols: SYMBOLS,
            one_shot: None,
        };
        let mut server = Some(server);
        let mut killed: io::Result<()> = Ok(());
        let driven = exchange::drive(&config, &mut |progress| {
            if progress.elapsed > duration / 2
                && let Some(server) = server.take()
            {
                killed = server.kill();
            }
        })
        .context("the traders")?;
        killed.context("SIGKILL")?;
        server.map_or(Ok(()), Server::kill).context("SIGKILL")?;
        Ok(Self { config, driven })
    }

    /// Asks the server that was started again about every order, account and symbol.
    ///
    /// # Errors
    /// Something that was acknowledged is not there, or something is too much: a violation.
    pub(super) fn check(self, server: &Server, table: &mut Table) -> anyhow::Result<()> {
        let pace = Pace {
            address: xml(server)?.into(),
            ..self.config.pace
        };
        let config = exchange::Config {
            pace,
            proof: Some(server.resp().into()),
            ..self.config
        };
        let report = self.driven.prove(&config).context("the traders' proof")?;
        let proof = &report.proof;
        if let Some(coded) = Coded::of_verdict(report.verdict()) {
            return Err(coded.because(&format!("the traders: {report}")).into());
        }
        table.row(
            "traders",
            format_args!(
                "{} orders over XML, {} trades, kill -9 with {} requests under way",
                Count(proof.orders),
                Count(proof.trades),
                proof.unknown
            ),
        );
        table.row(
            "  checked",
            format_args!("{} orders are what was acknowledged", Count(proof.statuses)),
        );
        table.row(
            "  conserved",
            format_args!(
                "{} dollars and {} shares in {} accounts, as put in",
                proof.cash_found, proof.shares_found, proof.accounts
            ),
        );
        Ok(())
    }
}

fn xml(server: &Server) -> anyhow::Result<SocketAddr> {
    server.xml().context("the server named no XML door")
}
