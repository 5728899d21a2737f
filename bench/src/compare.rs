//! Two builds of our server under the same loads, in turns: what a change is worth.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::{
    contest::{self, Contender, Sample},
    driver::{Order, Speech, Work},
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
    /// How often each is measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

const SPEECHES: [Speech; 4] = [
    Speech::Bookings,
    Speech::Orders(Order::Resp),
    Speech::Orders(Order::RespWithId),
    Speech::Orders(Order::Xml),
];

/// Compares rate and server CPU of everything that is said, 50 x 16.
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
    let mut said = String::new();
    for speech in SPEECHES {
        let contender = Contender {
            kind: Kind::Turnstile(durability),
            work: Work::Speech(speech),
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for round in 0..arguments.rounds {
            let mut turns = [(&old, &mut before), (&new, &mut after)];
            turns.rotate_left(round % 2);
            for (ground, samples) in turns {
                samples.push(contest::sample(ground, contender, old.load(50, 16))?);
            }
        }
        let line = line(contender, &before, &after);
        tell(&line)?;
        said = said + &line + "\n";
    }
    Ok(said)
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
