//! The travel workload: clients who buy journeys in interactive transactions, and the proof that
//! each was sold whole or not at all.
//!
//! A [`Traveller`] speaks the original's lines. Who speaks RESP plans as [`crate::travel::check`] says, with a
//! witness for every answer.

mod bills;
pub mod check;
mod choice;
mod ledger;
mod proof;
mod report;
mod stock;
mod traveller;
mod workload;

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use turnstile_client::ServerAddress;
use turnstile_result::{Point, Server};

pub use proof::Proof;
pub use report::Report;
pub use stock::{Journey, Offer, OfferCatalogue};
pub use traveller::{Ask, Traveller};
pub use turnstile_published::Managers;
pub use workload::JourneyLoad;

use crate::{
    Error, LoadReport, door,
    pace::{self, Law, Length, Pace, Profile, Progress, Rhythm, Think},
    point,
};
use choice::{JourneyChooser, JourneyRule, Zipf};
use ledger::PurchaseCounts;
use traveller::Lost;

/// How long a run of a number of transactions may take.
const COUNTED_MAX: Duration = Duration::from_secs(3_600);

/// How long it may be without an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Of a number of transactions, so many in a hundred come first and are not measured.
const UNMEASURED_PERCENT: u64 = 20;

/// The most clients of one point.
const CLIENTS_MAX: usize = 1_000;

/// What to drive, and how hard.
#[derive(Clone, Debug)]
pub struct Config {
    /// The door of travel, where command lines are taken.
    pub address: ServerAddress,
    /// The RESP door of the same server, which says what server it is.
    pub witness: Option<ServerAddress>,
    /// How travel is played there, where it is known; for the report alone.
    pub processes: Option<Processes>,
    /// Generator threads; one for each core that the generator may use.
    pub threads: usize,
    pub experiment: Experiment,
    /// The same seed chooses the same journeys at the same instants.
    pub seed: u64,
}

/// One of the original's two experiments.
#[derive(Clone, Debug)]
pub enum Experiment {
    /// What each request of a transaction takes, with one client.
    Requests {
        /// How many; the first fifth is not measured.
        transactions: u64,
        /// One after the other.
        managers: Vec<Managers>,
    },
    /// What a transaction takes with several clients who begin them at a rate.
    Rates {
        clients: Vec<usize>,
        rates: Vec<Rate>,
        managers: Managers,
        contention: Contention,
        manner: Manner,
    },
}

/// Clients of one point, paced in any way.
#[derive(Clone, Debug)]
pub struct Clients {
    /// How the door of travel is driven: what is paced are transactions.
    pub pace: Pace,
    /// 1 to 1,000.
    pub number: usize,
    /// The RESP door of the same server, which says what server it is.
    pub witness: Option<ServerAddress>,
    pub managers: Managers,
    pub contention: Contention,
}

/// How each point of several clients is paced, beside its rate: what is paced are transactions.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Of a rate: the law of the instants at which transactions are due.
    pub arrivals: Law,
    /// Of clients who begin when the last has ended: how long they think before.
    pub think: Think,
    /// Of the same: how many of them there are over time; none: all, always.
    pub stages: Option<Profile>,
    pub length: Length,
    /// What a transaction may take from its due instant on.
    pub deadline: Option<Duration>,
}

/// One point of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// What each request of so many transactions of one client takes.
    Requests {
        managers: Managers,
        transactions: u64,
    },
    /// So many clients at a rate.
    Rate {
        clients: usize,
        rate: Rate,
        managers: Managers,
        contention: Contention,
    },
}

/// In which processes the middleware and the managers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processes {
    /// All in one.
    One,
    /// Each in its own.
    Separate,
}

/// How often all clients together begin a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// So many a second, whatever is answered: an open loop.
    PerSecond(u32),
    /// Each when its last one has ended: a closed loop.
    Most,
}

/// Whether clients get into each other's way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contention {
    /// As little as possible: transaction i of client c buys journey (8i + c) modulo 100.
    Apart,
    /// Journeys are chosen by Zipf's law with this exponent.
    Zipf(f64),
}

/// A run whose load is over, and whose proof is not done yet.
#[derive(Debug)]
pub struct Driven {
    /// None where no RESP door is named.
    server: Option<Server>,
    stock: Arc<OfferCatalogue>,
    ledger: Arc<PurchaseCounts>,
    lost: Vec<Lost>,
    points: Vec<Point>,
}

/// Makes flights, cars, rooms and customers, lets clients buy journeys, then proves that each was
/// sold whole or not at all.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not do what is needed.
/// What the server did wrong is in the report's proof.
pub fn run(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    config.check()?;
    drive_on(config, OfferCatalogue::make(&config.address)?, progress)?.prove(config)
}

/// Clients who buy journeys however they are paced: one point.
///
/// # Errors
/// As of [`run`].
pub fn measure(
    clients: &Clients,
    progress: &mut dyn FnMut(&Progress),
) -> Result<LoadReport<Proof>, Error> {
    let Clients { pace, number, .. } = clients;
    check_clients(*number, clients.contention)?;
    let mut driven = Driven::open(
        clients.witness.as_ref(),
        OfferCatalogue::make(&pace.address)?,
    )?;
    let settings = (clients.managers, clients.contention);
    driven.drive_clients(pace, *number, settings, None, progress)?;
    let proof = driven.proof(&pace.address)?;
    let mut point = driven.points.remove(0);
    point.proof = vec![proof.rule()];
    Ok(LoadReport {
        server: driven.server,
        proof,
        point,
    })
}

/// Makes what is sold, for a run whose [steps](Config::steps) are [measured](Driven::measure) one by
/// one.
///
/// # Errors
/// As of [`run`].
pub fn open(config: &Config) -> Result<Driven, Error> {
    config.check()?;
    Driven::open(
        config.witness.as_ref(),
        OfferCatalogue::make(&config.address)?,
    )
}

/// The first part of [`run`], all but the proof, on a stock that is there already.
///
/// # Errors
/// As of [`run`].
pub fn drive_on(
    config: &Config,
    stock: OfferCatalogue,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Driven, Error> {
    config.check()?;
    let mut driven = Driven::open(config.witness.as_ref(), stock)?;
    for step in config.steps() {
        driven.measure(config, step, progress)?;
    }
    Ok(driven)
}

impl Driven {
    fn open(witness: Option<&ServerAddress>, stock: OfferCatalogue) -> Result<Self, Error> {
        let server = witness
            .map(|address| door::facts(&mut door::connect(address)?, "travel")?.server())
            .transpose()?;
        let stock = Arc::new(stock);
        Ok(Self {
            server,
            ledger: Arc::new(PurchaseCounts::of(&stock)),
            stock,
            lost: Vec::new(),
            points: Vec::new(),
        })
    }

    /// Measures one point; gives it as far as it is known before the proof.
    ///
    /// # Errors
    /// As of [`run`].
    pub fn measure(
        &mut self,
        config: &Config,
        step: Step,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<&Point, Error> {
        let pace = config.pace(step);
        match step {
            Step::Requests {
                managers,
                transactions,
            } => {
                let settings = (managers, Contention::Apart);
                let took = self.drive_clients(&pace, 1, settings, Some(transactions), progress)?;
                if let Some(point) = self.points.last_mut() {
                    point::count(point, took, 1, transactions);
                }
            }
            Step::Rate {
                clients,
                managers,
                contention,
                ..
            } => {
                let settings = (managers, contention);
                self.drive_clients(&pace, clients, settings, None, progress)?;
            }
        }
        Ok(self.points.last().expect("a point was measured"))
    }

    /// The second part of [`run`]. `config` may name other addresses than the load had: those of a
    /// server that was killed and started again on the same data.
    ///
    /// # Errors
    /// As of [`run`].
    pub fn prove(mut self, config: &Config) -> Result<Report, Error> {
        let proof = self.proof(&config.address)?;
        for point in &mut self.points {
            point.proof = vec![proof.rule()];
        }
        Ok(Report {
            server: self.server,
            config: config.clone(),
            proof,
            points: self.points,
        })
    }

    fn proof(&self, address: &ServerAddress) -> Result<Proof, Error> {
        proof::prove(address, &self.stock, &self.ledger, &self.lost)
    }

    /// Measures a point of so many clients, each of whom buys this many journeys if it is said, and keeps
    /// it; how long it took.
    fn drive_clients(
        &mut self,
        pace: &Pace,
        clients: usize,
        (managers, contention): (Managers, Contention),
        transactions: Option<u64>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Duration, Error> {
        let traveller = |number| {
            let choice = self.choice(pace.seed, managers, contention, (number, clients));
            let traveller = Traveller::new(&self.stock, &self.ledger, choice);
            match transactions {
                None => traveller,
                Some(count) => traveller.limited(count, count * UNMEASURED_PERCENT / 100),
            }
        };
        let travellers = (0..clients).map(traveller).collect();
        let mut totals = pace::run(pace, travellers, progress)?;
        let point = point::point(&managers.to_string(), pace, &totals, Vec::new());
        self.points.push(point);
        let travellers = totals.users.drain(..);
        self.lost.extend(travellers.map(Traveller::into_lost));
        Ok(totals.took)
    }

    fn choice(
        &self,
        seed: u64,
        managers: Managers,
        contention: Contention,
        client: (usize, usize),
    ) -> JourneyChooser {
        let journeys = self.stock.over(managers);
        let rule = match contention {
            Contention::Apart => JourneyRule::Apart,
            Contention::Zipf(theta) => JourneyRule::Zipf(Zipf::new(journeys.len(), theta)),
        };
        let customers = self.stock.customers.len();
        JourneyChooser::new(rule, journeys, customers, client, seed)
    }
}

impl Config {
    fn check(&self) -> Result<(), Error> {
        let sound = match &self.experiment {
            Experiment::Requests { transactions, .. } => (1..=10_000_000).contains(transactions),
            Experiment::Rates {
                clients,
                rates,
                contention,
                ..
            } => {
                for &number in clients {
                    check_clients(number, *contention)?;
                }
                rates.iter().all(|rate| *rate != Rate::PerSecond(0))
            }
        };
        if sound {
            return Ok(());
        }
        Err(Error::Setting(
            "there are 1 to 10,000,000 transactions, and rates above 0",
        ))
    }

    /// The points, in the order in which they are measured.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        match &self.experiment {
            Experiment::Requests {
                transactions,
                managers,
            } => {
                let step = |&managers: &Managers| Step::Requests {
                    managers,
                    transactions: *transactions,
                };
                managers.iter().map(step).collect()
            }
            Experiment::Rates {
                clients,
                rates,
                managers,
                contention,
                ..
            } => {
                let step = |clients, rate| Step::Rate {
                    clients,
                    rate,
                    managers: *managers,
                    contention: *contention,
                };
                let of = |&clients| rates.iter().map(move |&rate| step(clients, rate));
                clients.iter().flat_map(of).collect()
            }
        }
    }

    /// How a point is paced.
    #[must_use]
    pub fn pace(&self, step: Step) -> Pace {
        let pace = Pace {
            threads: self.threads,
            seed: self.seed,
            ..Pace::closed(&self.address, Duration::ZERO, COUNTED_MAX)
        };
        let (Experiment::Rates { manner, .. }, Step::Rate { rate, .. }) = (&self.experiment, step)
        else {
            return Pace {
                patience: Some(PATIENCE),
                ..pace
            };
        };
        let rhythm = match rate {
            Rate::Most => Rhythm::Closed {
                think: manner.think,
                stages: manner.stages.clone(),
            },
            Rate::PerSecond(rate) => Rhythm::Open {
                law: manner.arrivals.clone(),
                rate: Profile::constant(f64::from(rate)),
            },
        };
        Pace {
            rhythm,
            length: manner.length,
            deadline: manner.deadline,
            ..pace
        }
    }
}

fn check_clients(number: usize, contention: Contention) -> Result<(), Error> {
    let theta = match contention {
        Contention::Apart => 0.0,
        Contention::Zipf(theta) => theta,
    };
    if (1..=CLIENTS_MAX).contains(&number) && (0.0..=10.0).contains(&theta) {
        return Ok(());
    }
    Err(Error::Setting(
        "there are 1 to 1,000 clients, and an exponent from 0 to 10",
    ))
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(rate) => f.pad(&rate.to_string()),
            Self::Most => f.pad("max"),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Most);
        }
        let rate = text.parse().ok().filter(|rate| *rate > 0);
        rate.map(Self::PerSecond)
            .ok_or_else(|| format!("`{text}` is no rate: write transactions a second, or max"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_or_the_most() {
        assert_eq!("250".parse(), Ok(Rate::PerSecond(250)));
        assert_eq!("max".parse(), Ok(Rate::Most));
        for text in ["", "0", "-1", "1.5", "most"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_before_anything_is_asked() {
        let rates = |clients, rate, contention| Experiment::Rates {
            clients: vec![4, clients],
            rates: vec![Rate::Most, rate],
            managers: Managers::Several,
            contention,
            manner: Manner {
                arrivals: Law::Fixed,
                think: Think::None,
                stages: None,
                length: Length::Fixed {
                    warm_up: Duration::ZERO,
                    duration: Duration::from_millis(1),
                },
                deadline: None,
            },
        };
        let requests = |transactions| Experiment::Requests {
            transactions,
            managers: vec![Managers::One],
        };
        for experiment in [
            rates(0, Rate::Most, Contention::Apart),
            rates(CLIENTS_MAX + 1, Rate::Most, Contention::Apart),
            rates(1, Rate::PerSecond(0), Contention::Apart),
            rates(1, Rate::Most, Contention::Zipf(-0.1)),
            rates(1, Rate::Most, Contention::Zipf(f64::NAN)),
            requests(0),
        ] {
            let config = Config {
                address: std::net::SocketAddr::from(([127, 0, 0, 1], 1)).into(),
                witness: None,
                processes: None,
                threads: 1,
                experiment,
                seed: 1,
            };
            let error = run(&config, &mut |_progress| {}).unwrap_err();
            assert!(matches!(error, Error::Setting(_)), "{error}");
        }
    }
}
