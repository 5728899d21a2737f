//! `turnstile serve`: a server as its configuration says.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use turnstile_embedded::{Durability, Options};
use turnstile_types::Position;

use crate::{
    config::{Config, LogFlags},
    config_print,
    exit::Coded,
    logging,
    serving::Opened,
};

#[derive(Args, Debug)]
#[group(id = "serve")]
pub(crate) struct Arguments {
    #[command(flatten)]
    config: config_print::Arguments,
    /// Serve although acknowledged records after this position are lost, and give them up; a refused
    /// start names the position. Any other loss is still refused
    #[arg(long, value_name = "POSITION")]
    accept_loss: Option<u64>,
}

pub(crate) fn run(arguments: Arguments, log: &LogFlags) -> anyhow::Result<()> {
    let config = Config::parse(&arguments.config.layers(log)?)?;
    let data = directory(&config)?;
    logging::start(config.log_level.clone(), config.log_format);
    if let Some(data) = data {
        std::fs::create_dir_all(data)
            .with_context(|| format!("the data directory {}", data.display()))?;
    }
    let storage = Options {
        accept_loss: arguments.accept_loss.map(Position),
        ..config.storage()
    };
    let opened = Opened::start(&config, data, storage)?;
    opened.announce()?;
    match opened.recovered()? {
        Some(serving) => serving.until_stopped(),
        None => Ok(()),
    }
}

/// Where the journal is: somebody has to say it, unless there is to be none.
fn directory(config: &Config) -> Result<Option<&Path>, Coded> {
    match &config.data {
        _ if config.durability == Durability::Memory => Ok(None),
        Some(data) => Ok(Some(data)),
        None => Err(Coded::usage(
            "storage.data is not set: say where the journal is, in the file, by \
             TURNSTILE__STORAGE__DATA or by --data"
                .to_owned(),
        )),
    }
}
