//! Who runs on which processors: threads and processes inherit those of the thread that makes them.

use std::collections::BTreeMap;

use turnstile_load::processors::{self, NUMBER_MAX};

use crate::terminal;

/// Processors of a server and of the generator; where none are named, all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pins {
    pub(super) server: Option<Vec<usize>>,
    pub(super) generator: Option<Vec<usize>>,
}

impl Pins {
    /// For `run.json`.
    pub(super) fn named(&self) -> BTreeMap<String, Vec<u32>> {
        let named = [("server", &self.server), ("generator", &self.generator)];
        named
            .into_iter()
            .filter_map(|(who, cores)| {
                let number = |&core: &usize| u32::try_from(core).expect("processors are few");
                Some((who.to_owned(), cores.as_ref()?.iter().map(number).collect()))
            })
            .collect()
    }
}

/// `server=0,gen=1`; several processors as `server=0-3`.
pub(super) fn parse(text: &str) -> Result<Pins, String> {
    let wrong =
        || format!("`{text}` names no processors: write server=0,gen=1 or server=0-2,gen=3");
    let mut pins = Pins::default();
    for part in text.split(',') {
        let (who, which) = part.split_once('=').ok_or_else(wrong)?;
        let (from, to) = which.split_once('-').unwrap_or((which, which));
        let number = |text: &str| text.parse::<usize>().ok().filter(|&one| one <= NUMBER_MAX);
        let (from, to) = number(from).zip(number(to)).ok_or_else(wrong)?;
        if from > to {
            return Err(wrong());
        }
        let cores = Some((from..=to).collect());
        match who {
            "server" => pins.server = cores,
            "gen" => pins.generator = cores,
            _ => return Err(wrong()),
        }
    }
    Ok(pins)
}

/// Does something on these processors, with all threads and processes that it makes.
pub(super) fn on<T>(cores: Option<&[usize]>, something: impl FnOnce() -> T) -> T {
    let Some(cores) = cores else {
        return something();
    };
    let _there = processors::stay_on(cores)
        .inspect_err(|error| {
            terminal::note(format_args!(
                "cannot use processors {cores:?} alone: {error}"
            ));
        })
        .ok();
    something()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_numbers_and_ranges() {
        let pins = parse("server=0-2,gen=3").unwrap();
        assert_eq!(
            (pins.server, pins.generator),
            (Some(vec![0, 1, 2]), Some(vec![3]))
        );
        for text in [
            "",
            "server",
            "server=",
            "server=x",
            "server=2-1",
            "else=1",
            "gen=99999",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
