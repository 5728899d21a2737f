//! `turnstile lab run travel`.

use std::{num::NonZeroUsize, time::Duration};

use clap::{Args, ValueEnum};
use turnstile_load::{
    pace::Law,
    travel::{self, Contention, Experiment, Managers, Processes, Rate},
};

use super::{
    default_threads,
    driven::Driven,
    notebook::{self, Aims, Notebook, OutputArguments},
    pacing::{Extent, LoadShape},
    watching::Behind,
};
use crate::{
    address::{self, DoorAddress},
    child::Doors,
    connect::Security,
    exit::Coded,
    terminal,
};

/// The law of the instants at which transactions are due, as the ancestor had it.
const ARRIVALS: Law = Law::Jitter(0.01);

/// How long a point is measured, and what is left out before.
const DURATION: Duration = Duration::from_secs(2);
const WARM_UP: Duration = Duration::from_millis(500);

/// Transactions of `ops`.
const TRANSACTIONS: u64 = 100;

/// Clients and rates of the ancestor's second experiment.
const CLIENTS: [usize; 4] = [2, 4, 6, 8];
const RATES: [Rate; 7] = [
    Rate::PerSecond(50),
    Rate::PerSecond(100),
    Rate::PerSecond(200),
    Rate::PerSecond(500),
    Rate::PerSecond(1_000),
    Rate::PerSecond(2_000),
    Rate::Most,
];

/// Clients of one point.
const CLIENTS_OF_ONE: usize = 8;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Travel address of the server; default: the lab starts its own server
    #[arg(long, value_name = "ADDR", value_parser = address::LINES)]
    travel: Option<DoorAddress>,
    /// Processes of the lab's own server: middleware and resource managers in one, or separate
    #[arg(long, value_enum, default_value = "one", conflicts_with = "travel")]
    servers: Servers,
    /// RESP address of the same server, to identify it in the report
    #[arg(long, value_name = "ADDR", value_parser = address::RESP, requires = "travel")]
    resp: Option<DoorAddress>,
    #[command(flatten)]
    security: Security,
    /// Number of generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    /// Experiment to run. Default: ops; or one point of rate if its options are given, such as -c 8
    /// -d 2s (8 clients unless -c says otherwise, each as fast as it is answered)
    #[arg(long, value_enum)]
    experiment: Option<TravelMeasure>,
    /// Resource managers of a journey: three flights, or a flight, a car and a room. Default: ops
    /// measures both, rate measures several
    #[arg(long, value_enum)]
    managers: Option<Over>,
    /// ops: number of transactions; the first fifth is not measured [default: 100]
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    transactions: Option<u64>,
    /// rate: numbers of clients, each with a connection, run one after the other [default with
    /// --experiment rate: 2,4,6,8]
    #[arg(short, long, value_name = "CLIENTS,...", value_delimiter = ',')]
    connections: Vec<NonZeroUsize>,
    /// rate: transactions per second of all clients together, or max (each client starts when its
    /// last one has ended), run one after the other [default with --experiment rate:
    /// 50,100,200,500,1000,2000,max]
    #[arg(short, long, value_name = "RATE,...", value_delimiter = ',')]
    rate: Vec<Rate>,
    #[command(flatten)]
    manner: LoadShape,
    #[command(flatten)]
    extent: Extent,
    /// rate: make clients compete: choose journeys by Zipf's law with this exponent, 0 to 10,
    /// instead of keeping clients apart
    #[arg(long, value_name = "EXPONENT", value_parser = exponent)]
    zipf: Option<f64>,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    aims: Aims,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Servers {
    One,
    Separate,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TravelMeasure {
    /// Time of each of the nine requests in a transaction, with one client
    Ops,
    /// Time of a transaction, with several clients at a rate
    Rate,
}

/// Over which resource managers a journey goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Over {
    One,
    Several,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let experiment = arguments.experiment()?;
    let driven = arguments.driven()?;
    let config = travel::Config {
        address: driven.address.clone(),
        witness: driven.resp.clone(),
        processes: driven.is_own().then_some(if driven.is_separate() {
            Processes::Separate
        } else {
            Processes::One
        }),
        threads: arguments.threads.get(),
        experiment,
        seed: arguments.extent.seed,
    };
    let target = driven.target();
    let mut asked = notebook::asked("run", "travel", target, None, config.threads);
    asked.seed = config.seed;
    let mut notebook = Notebook::new(&arguments.output, asked, driven.watched())?;
    let mut measured = Vec::new();
    let mut load = travel::open(&config)?;
    for step in config.steps() {
        let began = notebook.begin(None);
        let point = load.measure(&config, step, &mut |progress| notebook.watch(progress))?;
        measured.push((config.pace(step), began, notebook.used(point)));
    }
    // What each point is worth depends on the proof, which is of all of them.
    let report = load.prove(&config)?;
    for (point, (pace, began, used)) in report.points.iter().zip(measured) {
        notebook.keep_used(point.clone(), used, &pace, began);
    }
    notebook.server(report.server.clone());
    driven.stop()?;
    terminal::line(&report)?;
    notebook.finish(&arguments.aims)
}

impl Arguments {
    /// The server that was named, or one of our own.
    fn driven(&self) -> anyhow::Result<Driven> {
        let behind = Behind::default();
        match (&self.travel, self.servers) {
            (Some(door), _) => {
                let address = self.security.keyless(door)?;
                let resp = self.security.named_resp(self.resp.as_ref())?;
                Ok(Driven::named(address, resp, behind))
            }
            (None, Servers::One) => Driven::start(Doors::RespAndTravel, "--travel", behind),
            (None, Servers::Separate) => Driven::start_travel(),
        }
    }

    fn experiment(&self) -> anyhow::Result<Experiment> {
        let wrong = |sentence: &str| Err(Coded::usage(sentence.to_owned()).into());
        match (self.experiment, self.told_of_rate()) {
            (Some(TravelMeasure::Ops), Some(option)) => wrong(&format!(
                "{option} is about several clients: it needs --experiment rate, or no --experiment"
            )),
            (Some(TravelMeasure::Ops) | None, None) => Ok(Experiment::Requests {
                transactions: self.transactions.unwrap_or(TRANSACTIONS),
                managers: match self.managers {
                    None => vec![Managers::One, Managers::Several],
                    Some(over) => vec![over.managers()],
                },
            }),
            (Some(TravelMeasure::Rate), _) | (None, Some(_)) if self.transactions.is_some() => {
                wrong("-n counts the transactions of --experiment ops; of clients -d says how long")
            }
            (Some(TravelMeasure::Rate), _) => self.rates(&CLIENTS, &RATES),
            (None, Some(_)) => self.rates(&[CLIENTS_OF_ONE], &[Rate::Most]),
        }
    }

    /// An option that only points of several clients have, if any was given.
    fn told_of_rate(&self) -> Option<&'static str> {
        let told = [
            ("-c", !self.connections.is_empty()),
            ("-r", !self.rate.is_empty()),
            ("--zipf", self.zipf.is_some()),
            ("-d or --precision", self.extent.is_told()),
        ];
        let told = told.into_iter().find(|(_, told)| *told);
        told.map(|(option, _)| option)
            .or_else(|| self.manner.told())
    }

    /// Points of clients at rates: these where none were asked for.
    fn rates(&self, clients: &[usize], rates: &[Rate]) -> anyhow::Result<Experiment> {
        let asked = self.connections.iter().map(|clients| clients.get());
        let asked: Vec<usize> = asked.collect();
        let rates = if self.rate.is_empty() {
            rates.to_vec()
        } else {
            self.rate.clone()
        };
        // At a rate throughput is given, and responses are what is to be known.
        let is_open = rates.iter().all(|rate| *rate != Rate::Most);
        Ok(Experiment::Rates {
            clients: if asked.is_empty() {
                clients.to_vec()
            } else {
                asked
            },
            rates,
            managers: self.managers.map_or(Managers::Several, Over::managers),
            contention: self.zipf.map_or(Contention::Apart, Contention::Zipf),
            manner: travel::Manner {
                arrivals: self.manner.law(ARRIVALS),
                think: self.manner.think(),
                stages: self.manner.stages(),
                length: self.extent.clone().or(DURATION, WARM_UP).length(is_open),
                deadline: self.manner.deadline(),
            },
        })
    }
}

impl Over {
    pub(super) const fn managers(self) -> Managers {
        match self {
            Self::One => Managers::One,
            Self::Several => Managers::Several,
        }
    }
}

fn exponent(text: &str) -> Result<f64, String> {
    let exponent = text
        .parse()
        .ok()
        .filter(|number| (0.0..=10.0).contains(number));
    exponent.ok_or_else(|| format!("`{text}` is no exponent from 0 to 10"))
}
