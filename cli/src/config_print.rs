//! `turnstile config print`: the effective configuration, checked, with origins.

use std::path::PathBuf;

use clap::Args;

use crate::{
    config::{Config, Flags, Layers, LogFlags},
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: Flags,
}

impl Arguments {
    /// Puts the layers over each other.
    pub(crate) fn layers(&self, log: &LogFlags) -> anyhow::Result<Layers> {
        let layers = match &self.config {
            Some(path) => Layers::defaults().file(path)?,
            None => Layers::defaults(),
        };
        let variables = std::env::vars_os().map(|(name, value)| {
            let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
            (text(name), text(value))
        });
        Ok(layers.environment(variables)?.flags(&self.flags, log))
    }
}

pub(crate) fn run(arguments: &Arguments, log: &LogFlags) -> anyhow::Result<()> {
    let layers = arguments.layers(log)?;
    Config::parse(&layers)?.settings()?;
    terminal::line(layers.to_string().trim_end())?;
    Ok(())
}
