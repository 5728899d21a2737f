//! What the commands of the lab drive: see [`Service`].

use crate::{
    Error, LoadReport, check,
    pace::Progress,
    workload::{Load, Options, Service},
};

/// The exchange, for the commands of the lab.
#[derive(Debug)]
pub struct TradingLoad;

impl Service for TradingLoad {
    fn name(&self) -> &'static str {
        "exchange"
    }

    fn setting(&self, options: &Options) -> Option<(&'static str, String)> {
        Some(("symbols", options.symbols.to_string()))
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let config = super::Config {
            door: super::Door::Resp,
            pace: load.pace.clone(),
            proof: Some(load.pace.address.clone()),
            users: load.users,
            symbols: load.options.symbols,
            one_shot: None,
        };
        Ok(super::run(&config, progress)?.in_words())
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        watch: &mut dyn check::Watch,
    ) -> Result<check::Report, Error> {
        super::check::run(&load.checked(when), load.options.symbols, watch)
    }
}
