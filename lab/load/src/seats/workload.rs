//! What the commands of the lab drive: see [`Service`].

use crate::{
    Error, LoadReport, check,
    pace::Progress,
    workload::{Load, Service},
};

/// Seats, for the commands of the lab.
#[derive(Debug)]
pub struct TicketLoad;

impl Service for TicketLoad {
    fn name(&self) -> &'static str {
        "seats"
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        Ok(super::run(load.pace, load.users, progress)?.in_words())
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
