//! `turnstile lab doctor`.

use std::{env, path::PathBuf};

use clap::Args;
use turnstile_calibrate::doctor::{Grade, examine};

use super::write_json;
use crate::{exit::Coded, terminal};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Data directory whose disk is checked; default: the one of the lab's own servers
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Also write the findings to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    terminal::note("looking at the machine for some seconds");
    let data = arguments.data.clone().unwrap_or_else(env::temp_dir);
    let examination = examine(&data);
    terminal::line(&examination)?;
    if let Some(path) = &arguments.json {
        write_json(&examination, path)?;
    }
    match examination.worst() {
        Grade::Ok | Grade::Warn => Ok(()),
        Grade::Bad => {
            let told = "what is measured on this machine cannot be trusted";
            Err(Coded::invalid(told.to_owned()).into())
        }
    }
}
