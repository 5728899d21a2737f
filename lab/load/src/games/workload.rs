//! What the commands of the lab drive: see [`Service`].

use crate::{
    Error, LoadReport, check,
    pace::{Pace, Progress},
    workload::{Door, Load, Service},
};

/// Games, for the commands of the lab.
#[derive(Debug)]
pub struct Games;

impl Service for Games {
    fn name(&self) -> &'static str {
        "games"
    }

    fn door(&self) -> Door {
        Door::Arena
    }

    /// Players come in pairs.
    fn together(&self) -> usize {
        2
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let config = super::Config {
            door: if load.resp.as_ref() == Some(&load.pace.address) {
                super::Door::Resp
            } else {
                super::Door::Wire
            },
            pace: Pace {
                patience: Some(super::PATIENCE),
                ..load.pace.clone()
            },
            players: vec![load.users],
            first_player: 1,
            iterations: None,
        };
        let level = super::play(&config, load.users, progress)?;
        Ok(level.load.in_words())
    }

    fn check_settings(&self, load: &Load<'_>) -> Result<(), Error> {
        super::check::judge(load.pace, load.users)
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
