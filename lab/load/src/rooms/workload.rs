//! What the commands of the lab drive: see [`Service`].

use crate::{
    Error, LoadReport, check,
    pace::Progress,
    workload::{Load, Options, Service},
};

/// Rooms, for the commands of the lab.
#[derive(Debug)]
pub struct BookingLoad;

impl Service for BookingLoad {
    fn name(&self) -> &'static str {
        "rooms"
    }

    fn setting(&self, options: &Options) -> Option<(&'static str, String)> {
        Some(("mix", options.mix.to_string()))
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let config = super::Config {
            pace: load.pace.clone(),
            users: load.users,
            mix: load.options.mix,
        };
        Ok(super::run(&config, progress)?.in_words())
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        watch: &mut dyn check::Watch,
    ) -> Result<check::Report, Error> {
        super::check::run(&load.checked(when), watch)
    }
}
