//! The six experiments, and what is measured for each.

use std::{fmt, str::FromStr};

use serde::Serialize;
use turnstile_published::{
    BOOKING_MYSQL, BOOKING_REDIS, EXCHANGE_CORES, GAMES_USERS, MIXED, Source, TRAVEL_OPS, bookings,
    exchange, games,
};

/// One experiment of an ancestor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    BookingMysql,
    BookingRedis,
    ExchangeCores,
    GamesUsers,
    TravelOps,
    TravelRate,
}

/// How much time it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Effort {
    /// Every point that was published, each as long as the lab likes.
    pub full: bool,
    /// As long and as often as the ancestor measured, with its rules of what is left out.
    pub as_published: bool,
}

/// A run of the generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub series: String,
    /// What `turnstile lab run` is told, but for the addresses.
    pub arguments: Vec<String>,
    /// On how many cores the server may run.
    pub cores: Option<u32>,
}

/// All that is measured on each back end, and what is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub notices: Vec<String>,
}

/// No such experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownExperiment(String);

impl Experiment {
    pub const ALL: [Self; 6] = [
        Self::BookingMysql,
        Self::BookingRedis,
        Self::ExchangeCores,
        Self::GamesUsers,
        Self::TravelOps,
        Self::TravelRate,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BookingMysql => "booking-mysql",
            Self::BookingRedis => "booking-redis",
            Self::ExchangeCores => "exchange-cores",
            Self::GamesUsers => "games-users",
            Self::TravelOps => "travel-ops",
            Self::TravelRate => "travel-rate",
        }
    }

    /// The table that was published.
    #[must_use]
    pub const fn source(self) -> Source {
        match self {
            Self::BookingMysql => BOOKING_MYSQL,
            Self::BookingRedis => BOOKING_REDIS,
            Self::ExchangeCores => EXCHANGE_CORES,
            Self::GamesUsers => GAMES_USERS,
            Self::TravelOps | Self::TravelRate => TRAVEL_OPS,
        }
    }

    /// How the published figures came about.
    #[must_use]
    pub fn provenance(self) -> String {
        match self {
            Self::TravelRate => "Travel, 2018: mean response of transactions that 2, 4, 6 and 8 \
                clients begin at rates varied by 1 %, the last 80 of 100 of each client; a client \
                waits for its answers, so that beyond saturation it is a closed loop. The curves \
                were printed without figures: the table has ours alone."
                .to_owned(),
            _ => self.source().provenance(),
        }
    }

    /// What to measure on a machine with so many cores.
    #[must_use]
    pub fn plan(self, effort: Effort, cores: u32) -> Plan {
        let mut notices = Vec::new();
        let steps = match self {
            Self::BookingMysql | Self::BookingRedis => self.booking_steps(effort),
            Self::ExchangeCores => exchange_steps(effort, cores, &mut notices),
            Self::GamesUsers => games_steps(effort),
            Self::TravelOps => travel_ops_steps(effort),
            Self::TravelRate => travel_rate_steps(effort),
        };
        if !effort.full {
            notices.push("quick: fewer points, shorter; --full measures all of them".to_owned());
        }
        Plan { steps, notices }
    }

    fn booking_steps(self, effort: Effort) -> Vec<Step> {
        let quick: &[usize] = match self {
            Self::BookingMysql => &[1, 10, 50, 100, 200, 300, 600],
            _ => &[1, 3, 5, 8, 10, 15, 25, 40, 80],
        };
        let points = bookings(self.source()).into_iter();
        let points = points.filter(|point| effort.full || quick.contains(&point.users));
        let steps = points.map(|point| {
            let mix = if point.series == MIXED {
                "book=70,cancel=30"
            } else {
                "book=100"
            };
            let mut arguments = words(&format!("rooms -c {} --mix {mix}", point.users));
            arguments.extend(words(match (effort.as_published, effort.full) {
                (true, true) => "-d 4m --warm-up 5s",
                (true, false) | (false, false) => "-d 2500ms --warm-up 500ms",
                (false, true) => "--precision 1% --max-time 1m",
            }));
            Step {
                series: point.series,
                arguments,
                cores: None,
            }
        });
        steps.collect()
    }
}

fn exchange_steps(effort: Effort, cores: u32, notices: &mut Vec<String>) -> Vec<Step> {
    let mut steps = Vec::new();
    for row in exchange() {
        if row.cores > cores {
            let left_out = format!("{} cores: left out, this machine has {cores}", row.cores);
            if !notices.contains(&left_out) {
                notices.push(left_out);
            }
            continue;
        }
        let repeats = if effort.full || effort.as_published {
            5
        } else {
            3
        };
        for repeat in 1..=repeats {
            steps.push(Step {
                series: format!("{} requests", row.requests),
                arguments: words(&format!(
                    "exchange --door xml --one-shot {} -c 100 --seed {repeat}",
                    row.requests
                )),
                cores: Some(row.cores),
            });
        }
    }
    steps
}

fn games_steps(effort: Effort) -> Vec<Step> {
    const QUICK: [usize; 8] = [10, 100, 300, 700, 1_100, 1_500, 2_000, 2_100];
    let mut steps = Vec::new();
    let levels = || games().into_iter().map(|level| level.players);
    for players in levels().filter(|players| effort.full || QUICK.contains(players)) {
        let games = match (effort.full, effort.as_published, players) {
            (true, true, _) => 3_800,
            (_, _, ..=100) => 2_000,
            (true, ..) => 1_000,
            (false, ..) => 200,
        };
        steps.push(Step {
            series: NO_DELAY.to_owned(),
            arguments: words(&format!("games -c {players} -i {games}")),
            cores: None,
        });
    }
    for players in [10, 100] {
        steps.push(Step {
            series: NAGLE.to_owned(),
            arguments: words(&format!("games -c {players} -i 50 --nagle")),
            cores: None,
        });
    }
    steps
}

/// Sockets of which what is written leaves at once.
pub(crate) const NO_DELAY: &str = "TCP_NODELAY";
/// Sockets as the ancestor's clients had them.
pub(crate) const NAGLE: &str = "with Nagle's algorithm";

fn travel_ops_steps(effort: Effort) -> Vec<Step> {
    let transactions = match (effort.as_published, effort.full) {
        (true, _) => 100,
        (false, true) => 20_000,
        (false, false) => 2_000,
    };
    let step = |series: &str, managers: &str| Step {
        series: series.to_owned(),
        arguments: words(&format!(
            "travel --experiment ops --managers {managers} -n {transactions}"
        )),
        cores: None,
    };
    vec![step(ONE, "one"), step(SEVERAL, "several")]
}

/// Journeys over one resource manager.
pub(crate) const ONE: &str = "one manager";
/// Journeys over several.
pub(crate) const SEVERAL: &str = "several managers";

fn travel_rate_steps(effort: Effort) -> Vec<Step> {
    let (rates, length) = if effort.full {
        (
            "20,50,100,200,500,1000,2000,4000,8000,max",
            "-d 10s --warm-up 2s",
        )
    } else {
        ("50,100,500,1000,2000,4000,max", "-d 2s --warm-up 500ms")
    };
    let steps = [2, 4, 6, 8].map(|clients| Step {
        series: format!("{clients} clients"),
        arguments: words(&format!(
            "travel --experiment rate -c {clients} -r {rates} {length}"
        )),
        cores: None,
    });
    steps.into()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Experiment {
    type Err = UnknownExperiment;

    fn from_str(text: &str) -> Result<Self, UnknownExperiment> {
        let found = Self::ALL
            .into_iter()
            .find(|experiment| experiment.name() == text);
        found.ok_or_else(|| UnknownExperiment(text.to_owned()))
    }
}

impl fmt::Display for UnknownExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Experiment::ALL.map(Experiment::name).join(", ");
        write!(f, "`{}` is no experiment: there are {names}, all", self.0)
    }
}

impl std::error::Error for UnknownExperiment {}

#[cfg(test)]
mod tests {
    use super::{Effort, Experiment, Step};

    const QUICK: Effort = Effort {
        full: false,
        as_published: false,
    };

    fn steps(experiment: Experiment, effort: Effort) -> Vec<Step> {
        experiment.plan(effort, 2).steps
    }

    #[test]
    fn a_full_plan_has_every_point_that_was_published() {
        let full = Effort {
            full: true,
            ..QUICK
        };
        assert_eq!(steps(Experiment::BookingMysql, full).len(), 28);
        assert_eq!(steps(Experiment::BookingRedis, full).len(), 26);
        assert_eq!(Experiment::ExchangeCores.plan(full, 4).steps.len(), 45);
        assert_eq!(steps(Experiment::GamesUsers, full).len(), 19);
        assert!(steps(Experiment::BookingMysql, QUICK).len() < 28);
    }

    #[test]
    fn cores_that_are_not_there_are_left_out_with_a_notice() {
        let plan = Experiment::ExchangeCores.plan(QUICK, 2);
        assert!(plan.steps.iter().all(|step| step.cores < Some(3)));
        assert_eq!(plan.notices[0], "4 cores: left out, this machine has 2");
    }

    #[test]
    fn as_published_is_as_long_as_they_measured() {
        let published = Effort {
            full: true,
            as_published: true,
        };
        let line = |experiment| steps(experiment, published)[0].arguments.join(" ");
        assert_eq!(
            line(Experiment::BookingMysql),
            "rooms -c 1 --mix book=100 -d 4m --warm-up 5s"
        );
        assert_eq!(line(Experiment::GamesUsers), "games -c 10 -i 3800");
        assert!(line(Experiment::TravelOps).ends_with("-n 100"));
    }

    #[test]
    fn an_experiment_has_a_name() {
        for experiment in Experiment::ALL {
            assert_eq!(experiment.name().parse(), Ok(experiment));
        }
        let error = "chess".parse::<Experiment>().unwrap_err().to_string();
        assert!(
            error.starts_with("`chess` is no experiment: there are booking-mysql, "),
            "{error}"
        );
    }
}
