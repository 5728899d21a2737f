//! What the commands of the lab drive: see [`Service`].

use crate::{
    Error, LoadReport, check,
    pace::Progress,
    workload::{Door, Load, Options, Service},
};

/// Travel, for the commands of the lab.
#[derive(Debug)]
pub struct JourneyLoad;

impl Service for JourneyLoad {
    fn name(&self) -> &'static str {
        "travel"
    }

    fn door(&self) -> Door {
        Door::Travel
    }

    fn setting(&self, options: &Options) -> Option<(&'static str, String)> {
        Some(("managers", options.managers.to_string()))
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let clients = super::Clients {
            pace: load.pace.clone(),
            number: load.users,
            witness: load.resp.clone(),
            managers: load.options.managers,
            contention: super::Contention::Apart,
        };
        Ok(super::measure(&clients, progress)?.in_words())
    }

    fn check_settings(&self, load: &Load<'_>) -> Result<(), Error> {
        super::check::judge(load.pace)
    }

    /// Locks are waited for, and transactions left open, so briefly that both end many times in a run.
    fn flags_when_checked(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("--travel-wait-ms", "500"),
            ("--travel-lifetime-ms", "1000"),
        ]
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        watch: &mut dyn check::Watch,
    ) -> Result<check::Report, Error> {
        // Of a server of the lab's own it is known how long locks are waited for.
        let hold_late_ms_max = load.own.then_some(super::check::HOLD_LATE_MS_MAX);
        super::check::run(&load.checked(when), hold_late_ms_max, watch)
    }
}
