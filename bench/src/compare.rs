//! Two builds of our server under the same loads, in turns: what a change is worth.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::{
    contest::{self, Contender, Sample},
    driver::{Journey, Load, Managers, Order, Places, Speech, Work},
    ground::{Ground, tell},
    ratio::Ratio,
    server::{Durability, Kind},
};

#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// The release binary of before
    old: PathBuf,
    /// The release binary of after
    new: PathBuf,
    /// Where servers keep their files: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    /// Compare them durable, and not in memory
    #[arg(long)]
    durable: bool,
    /// Compare only what has one of these words in its name
    #[arg(long)]
    only: Vec<String>,
    /// How often each is measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

const SPEECHES: [Speech; 7] = [
    Speech::Bookings,
    Speech::Orders(Order::Resp),
    Speech::Orders(Order::RespWithId),
    Speech::Orders(Order::Xml),
    Speech::Itineraries(Places::Own),
    Speech::Matches,
    Speech::Journeys(Journey {
        managers: Managers::Three,
        places: Places::Own,
    }),
];

/// Compares rate and server CPU of everything that is said.
pub(crate) fn measure(arguments: Compare) -> Result<String> {
    let [old, new] = [arguments.old, arguments.new].map(|turnstile| Ground {
        turnstile,
        scratch: arguments.scratch.clone(),
        quick: false,
    });
    let durability = if arguments.durable {
        Durability::Sync
    } else {
        Durability::Memory
    };
    let only = arguments.only;
    let mut said = String::new();
    for speech in SPEECHES.into_iter().filter(|speech| {
        let said = speech.to_string();
        only.is_empty() || only.iter().any(|words| said.contains(words.as_str()))
    }) {
        let contender = Contender {
            kind: Kind::Turnstile(durability),
            work: Work::Speech(speech),
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for round in 0..arguments.rounds {
            let mut turns = [(&old, &mut before), (&new, &mut after)];
            turns.rotate_left(round % 2);
            for (ground, samples) in turns {
                samples.push(contest::sample(ground, contender, load(ground, speech))?);
            }
        }
        let line = line(contender, &before, &after);
        tell(&line)?;
        said = said + &line + "\n";
    }
    Ok(said)
}

/// How a speech is given: most of them pipelined.
const fn load(ground: &Ground, speech: Speech) -> Load {
    match speech {
        Speech::Journeys(_) => Load {
            requests: 900_000,
            ..ground.load(64, 1)
        },
        Speech::Bookings | Speech::Orders(_) | Speech::Itineraries(_) | Speech::Matches => {
            ground.load(50, 16)
        }
    }
}

fn line(contender: Contender, before: &[Sample], after: &[Sample]) -> String {
    let ratio = |figure: fn(&Sample) -> f64| {
        let values = |samples: &[Sample]| samples.iter().map(figure).collect::<Vec<f64>>();
        let Ratio { median, min, max } = Ratio::of(&values(after), &values(before));
        format!("{median:.3} ({min:.3} .. {max:.3})")
    };
    format!(
        "{contender}: rate {}, server CPU {}",
        ratio(|sample| sample.rate),
        ratio(|sample| sample.server_us)
    )
}
