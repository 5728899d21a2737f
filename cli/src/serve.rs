//! `turnstile serve`: a server with a configuration file.

use clap::Args;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use turnstile_embedded::Durability;
use turnstile_types::Position;

use crate::{
    config::{Config, LogFlags},
    config_print,
    exit::Coded,
    logging,
    reading::Reading,
    serving::Opened,
    supervisor::Supervisor,
};

#[derive(Args, Debug)]
#[group(id = "serve")]
pub(crate) struct Arguments {
    #[command(flatten)]
    config: config_print::Arguments,
    /// Start although acknowledged records after this position are lost. A start that fails for
    /// this reason prints the position. Any other loss still stops the start
    #[arg(long, value_name = "POSITION", value_parser = position)]
    accept_loss: Option<Position>,
}

fn position(text: &str) -> Result<Position, String> {
    text.parse().map(Position).map_err(|_no_number| {
        format!("invalid position `{text}`: write the whole number that the refused start printed, such as 1234")
    })
}

pub(crate) fn run(arguments: Arguments, log: &LogFlags) -> anyhow::Result<()> {
    let layers = arguments.config.layers(log)?;
    let mut config = Config::parse(&layers)?;
    check_directory(&mut config)?;
    logging::start(config.log_level.clone(), config.log_format);
    config.server.storage.accept_loss = arguments.accept_loss;
    hide_memory();
    let (arguments, log) = (arguments.config, log.clone());
    let reading = Reading::new(layers, move || arguments.layers(&log));
    let supervisor = Supervisor::from_environment()?;
    let opened = Opened::start(&config, reading, supervisor)?;
    opened.announce()?;
    match opened.recovered()? {
        Some(serving) => serving.until_stopped(),
        None => Ok(()),
    }
}

/// Keeps the process's memory, which holds what guests send, from core dumps and from other processes of
/// the same user. A generator that is not root cannot see the processor time of such a server.
fn hide_memory() {
    let hidden = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    if let Err(failure) = hidden {
        tracing::warn!(%failure, "the memory of this process may be dumped");
    }
}

/// Checks that the directory of the journal is set, unless there is to be none.
fn check_directory(config: &mut Config) -> Result<(), Coded> {
    if config.server.storage.durability == Durability::Memory {
        config.server.data = None;
    } else if config.server.data.is_none() {
        return Err(Coded::usage(
            "storage.data is not set: say where the journal is, in the file, by \
             TURNSTILE__STORAGE__DATA or by --data"
                .to_owned(),
        ));
    }
    Ok(())
}
