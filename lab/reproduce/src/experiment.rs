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
pub enum OriginalExperiment {
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
    pub extent: ExperimentExtent,
    /// As long and as often as the ancestor measured, with its rules of what is left out.
    pub as_published: bool,
}

/// How many points are measured, and how long each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentExtent {
    /// So few and short that it can only be seen that everything works.
    Brief,
    /// Enough for the conclusions.
    #[default]
    Quick,
    /// Every point that was published, each as long as the lab likes.
    Full,
}

/// A run of the generator.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub series: String,
    /// What `turnstile lab run` is told, but for the addresses.
    pub arguments: Vec<String>,
    /// On how many cores the server may run.
    pub cores: Option<u32>,
    /// How much of a processor it may use, where that is less than one.
    pub quota: Option<f64>,
}

/// All that is measured on each back end, and what is not.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentPlan {
    pub steps: Vec<Step>,
    pub notices: Vec<String>,
}

/// No such experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownExperiment(String);

impl OriginalExperiment {
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

    /// What it is about, at the head of a page.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::BookingMysql => "Room booking on MySQL",
            Self::BookingRedis => "Room booking on Redis",
            Self::ExchangeCores => "The exchange on Postgres and its cores",
            Self::GamesUsers => "Games and their players",
            Self::TravelOps => "The requests of a transaction of travel",
            Self::TravelRate => "Transactions of travel at a rate",
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
                waits for its answers, so that beyond saturation it is a closed loop. Beside \
                theirs our curves are not testable here, because theirs were printed without figures: the \
                tables have ours alone."
                .to_owned(),
            _ => self.source().provenance(),
        }
    }

    /// What to measure on a machine with so many cores.
    #[must_use]
    pub fn plan(self, effort: Effort, cores: u32) -> ExperimentPlan {
        let mut notices = Vec::new();
        let steps = match self {
            Self::BookingMysql | Self::BookingRedis => self.booking_steps(effort),
            Self::ExchangeCores => exchange_steps(effort, cores, &mut notices),
            Self::GamesUsers => games_steps(effort),
            Self::TravelOps => travel_ops_steps(effort),
            Self::TravelRate => travel_rate_steps(effort),
        };
        match effort.extent {
            ExperimentExtent::Brief => notices.push(BRIEF.to_owned()),
            ExperimentExtent::Quick => notices.push(QUICK.to_owned()),
            ExperimentExtent::Full => {}
        }
        ExperimentPlan { steps, notices }
    }

    fn booking_steps(self, effort: Effort) -> Vec<Step> {
        let users: &[usize] = match (self, effort.extent) {
            (_, ExperimentExtent::Brief) => &[1, 10, 50],
            // At least three from saturation on: rules need so many there.
            (Self::BookingMysql, _) => &[1, 10, 50, 100, 200, 300, 400, 500, 600],
            _ => &[1, 3, 5, 8, 10, 15, 25, 40, 60, 80],
        };
        let is_full = effort.extent == ExperimentExtent::Full;
        let points = bookings(self.source()).into_iter();
        let points = points.filter(|point| is_full || users.contains(&point.users));
        let steps = points.map(|point| {
            let mix = if point.series == MIXED {
                "book=70,cancel=30"
            } else {
                "book=100"
            };
            let mut arguments = words(&format!("rooms -c {} --mix {mix}", point.users));
            arguments.extend(words(match (effort.extent, effort.as_published) {
                (ExperimentExtent::Brief, _) => "-d 300ms --warm-up 100ms",
                (ExperimentExtent::Quick, _) => "-d 2500ms --warm-up 500ms",
                (ExperimentExtent::Full, false) => "--precision 1% --max-time 1m",
                (ExperimentExtent::Full, true) => "-d 4m --warm-up 5s",
            }));
            Step::new(&point.series, arguments)
        });
        steps.collect()
    }
}

const BRIEF: &str = "brief: a few points, as short as can be, to see that everything works; its \
    figures and conclusions are worth nothing";

const QUICK: &str = "quick: fewer points, shorter; --full measures all of them";

impl Step {
    fn new(series: &str, arguments: Vec<String>) -> Self {
        Self {
            series: series.to_owned(),
            arguments,
            cores: None,
            quota: None,
        }
    }
}

/// Parts of one processor, each twice the one before: with the whole of it they are as far apart as the
/// one, two and four cores of the ancestor.
pub const QUOTAS: [f64; 2] = [0.25, 0.5];

/// Of how many requests quotas are measured where not everything is.
pub(crate) const QUOTA_REQUESTS: u64 = 7_000;

fn exchange_steps(effort: Effort, cores: u32, notices: &mut Vec<String>) -> Vec<Step> {
    let is_full = effort.extent == ExperimentExtent::Full;
    let repeats = match (effort.extent, effort.as_published) {
        (ExperimentExtent::Brief, _) => 1,
        (ExperimentExtent::Quick, false) => REPEATS,
        (ExperimentExtent::Quick, true) | (ExperimentExtent::Full, _) => 5,
    };
    let equal_runs = |requests: u64, cores: u32, quota: Option<f64>| {
        (1..=repeats).map(move |repeat| {
            // All at once, as theirs.
            let asked =
                format!("exchange --door xml --one-shot {requests} -c {requests} --seed {repeat}");
            Step {
                cores: Some(cores),
                quota,
                ..Step::new(&requests_of(requests), words(&asked))
            }
        })
    };
    let (mut steps, mut within_quotas) = (Vec::new(), Vec::new());
    for row in exchange() {
        if row.cores <= cores {
            steps.extend(equal_runs(row.requests, row.cores, None));
            continue;
        }
        let left_out = format!(
            "{} cores: not testable here, because this machine has {cores}",
            row.cores
        );
        if !notices.contains(&left_out) {
            notices.push(left_out);
        }
        let is_new = |step: &Step| step.series != requests_of(row.requests);
        if (is_full || row.requests == QUOTA_REQUESTS) && within_quotas.iter().all(is_new) {
            for quota in QUOTAS {
                within_quotas.extend(equal_runs(row.requests, 1, Some(quota)));
            }
        }
    }
    // Last, for not everybody may set quotas.
    steps.extend(within_quotas);
    steps
}

/// The name of a series of the exchange.
pub(crate) fn requests_of(requests: u64) -> String {
    format!("{requests} requests")
}

fn games_steps(effort: Effort) -> Vec<Step> {
    let players: &[usize] = match effort.extent {
        ExperimentExtent::Brief => &[10, 100],
        _ => &[10, 100, 300, 700, 1_100, 1_500, 1_700, 1_900, 2_000, 2_100],
    };
    let is_full = effort.extent == ExperimentExtent::Full;
    let mut steps = Vec::new();
    let levels = games().into_iter().map(|level| level.players);
    for players in levels.filter(|level| is_full || players.contains(level)) {
        let games = match (effort.extent, effort.as_published, players) {
            (ExperimentExtent::Brief, ..) => 20,
            (ExperimentExtent::Full, true, _) => 3_800,
            (_, _, ..=100) => 2_000,
            (ExperimentExtent::Full, ..) => 1_000,
            (ExperimentExtent::Quick, _, ..=1_000) => 200,
            (ExperimentExtent::Quick, ..) => 100,
        };
        let asked = format!("games -c {players} -i {games}");
        steps.push(Step::new(NO_DELAY, words(&asked)));
    }
    let games = if effort.extent == ExperimentExtent::Brief {
        10
    } else {
        50
    };
    for players in [10, 100] {
        let asked = format!("games -c {players} -i {games} --nagle");
        steps.push(Step::new(NAGLE, words(&asked)));
    }
    steps
}

/// Sockets of which what is written leaves at once.
pub(crate) const NO_DELAY: &str = "TCP_NODELAY";
/// Sockets as the ancestor's clients had them.
pub(crate) const NAGLE: &str = "with Nagle's algorithm";

fn travel_ops_steps(effort: Effort) -> Vec<Step> {
    let transactions = match (effort.as_published, effort.extent) {
        (true, _) | (false, ExperimentExtent::Brief) => 100,
        (false, ExperimentExtent::Full) => 20_000,
        (false, ExperimentExtent::Quick) => 2_000,
    };
    let repeats = match effort.extent {
        ExperimentExtent::Brief => 1,
        ExperimentExtent::Quick | ExperimentExtent::Full => REPEATS,
    };
    let pair = |repeat: u32| {
        [(ONE, "one"), (SEVERAL, "several")].map(|(series, managers)| {
            let asked = format!(
                "travel --experiment ops --managers {managers} -n {transactions} --seed {repeat}"
            );
            Step::new(series, words(&asked))
        })
    };
    (1..=repeats).flat_map(pair).collect()
}

/// So many equal runs have an interval that a rule may use.
const REPEATS: u32 = 3;

/// Journeys over one resource manager.
pub(crate) const ONE: &str = "one manager";
/// Journeys over several.
pub(crate) const SEVERAL: &str = "several managers";

fn travel_rate_steps(effort: Effort) -> Vec<Step> {
    let (rates, length) = match effort.extent {
        ExperimentExtent::Full => (
            "20,50,100,200,500,1000,2000,4000,8000,max",
            "-d 10s --warm-up 2s",
        ),
        ExperimentExtent::Quick => ("50,100,500,1000,2000,4000,max", "-d 2s --warm-up 500ms"),
        ExperimentExtent::Brief => ("100,1000,max", "-d 300ms --warm-up 100ms"),
    };
    let steps = [2, 4, 6, 8].map(|clients| {
        let asked = format!("travel --experiment rate -c {clients} -r {rates} {length}");
        Step::new(&format!("{clients} clients"), words(&asked))
    });
    steps.into()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

impl fmt::Display for OriginalExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for OriginalExperiment {
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
        let names = OriginalExperiment::ALL
            .map(OriginalExperiment::name)
            .join(", ");
        write!(f, "`{}` is no experiment: there are {names}, all", self.0)
    }
}

impl std::error::Error for UnknownExperiment {}

#[cfg(test)]
mod tests {
    use super::{Effort, ExperimentExtent, MIXED, ONE, OriginalExperiment, QUOTAS, SEVERAL, Step};

    const QUICK: Effort = Effort {
        extent: ExperimentExtent::Quick,
        as_published: false,
    };

    fn steps(experiment: OriginalExperiment, effort: Effort) -> Vec<Step> {
        experiment.plan(effort, 2).steps
    }

    #[test]
    fn a_full_plan_has_every_point_that_was_published() {
        let full = Effort {
            extent: ExperimentExtent::Full,
            ..QUICK
        };
        assert_eq!(steps(OriginalExperiment::BookingMysql, full).len(), 28);
        assert_eq!(steps(OriginalExperiment::BookingRedis, full).len(), 26);
        assert_eq!(
            OriginalExperiment::ExchangeCores.plan(full, 4).steps.len(),
            45
        );
        assert_eq!(steps(OriginalExperiment::GamesUsers, full).len(), 19);
        assert!(steps(OriginalExperiment::BookingMysql, QUICK).len() < 28);
    }

    #[test]
    fn cores_that_are_not_there_are_left_out_with_a_notice_and_quotas_stand_for_them() {
        let plan = OriginalExperiment::ExchangeCores.plan(QUICK, 2);
        assert!(plan.steps.iter().all(|step| step.cores < Some(3)));
        assert_eq!(
            plan.notices[0],
            "4 cores: not testable here, because this machine has 2"
        );
        let quotas = |plan: &[Step]| {
            plan.iter()
                .filter_map(|step| step.quota)
                .collect::<Vec<_>>()
        };
        let [quarter, half] = QUOTAS;
        let expected = [quarter, quarter, quarter, half, half, half];
        assert_eq!(quotas(&plan.steps), expected);
        let full = Effort {
            extent: ExperimentExtent::Full,
            ..QUICK
        };
        let all = steps(OriginalExperiment::ExchangeCores, full);
        assert_eq!(quotas(&all).len(), 3 * 2 * 5);
        let enough = OriginalExperiment::ExchangeCores.plan(QUICK, 4).steps;
        assert!(quotas(&enough).is_empty());
    }

    #[test]
    fn a_brief_plan_has_a_few_runs_of_everything() {
        let brief = Effort {
            extent: ExperimentExtent::Brief,
            ..QUICK
        };
        for experiment in OriginalExperiment::ALL {
            let (few, quick) = (steps(experiment, brief), steps(experiment, QUICK));
            assert!(few.len() <= quick.len(), "{experiment}");
            let notices = experiment.plan(brief, 2).notices.join("\n");
            assert!(notices.contains("are worth nothing"), "{notices}");
        }
        let first = &steps(OriginalExperiment::BookingRedis, brief)[0];
        assert!(
            first
                .arguments
                .join(" ")
                .ends_with("-d 300ms --warm-up 100ms")
        );
    }

    #[test]
    fn as_published_is_as_long_as_they_measured() {
        let published = Effort {
            extent: ExperimentExtent::Full,
            as_published: true,
        };
        let line = |experiment| steps(experiment, published)[0].arguments.join(" ");
        assert_eq!(
            line(OriginalExperiment::BookingMysql),
            "rooms -c 1 --mix book=100 -d 4m --warm-up 5s"
        );
        assert_eq!(line(OriginalExperiment::GamesUsers), "games -c 10 -i 3800");
        assert!(line(OriginalExperiment::TravelOps).ends_with("-n 100 --seed 1"));
        let all_at_once = "exchange --door xml --one-shot 7000 -c 7000 --seed 1";
        assert_eq!(line(OriginalExperiment::ExchangeCores), all_at_once);
    }

    #[test]
    fn a_quick_plan_has_as_many_points_as_the_rules_need() {
        let from = |experiment, series: &str, users: f64| {
            let steps = steps(experiment, QUICK).into_iter();
            let of = steps.filter(|step| step.series == series);
            let users_of = |step: Step| step.arguments[2].parse::<f64>().unwrap();
            of.map(users_of).filter(|found| *found >= users).count()
        };
        for series in ["book", MIXED] {
            assert!(from(OriginalExperiment::BookingMysql, series, 300.0) >= 3);
            assert!(from(OriginalExperiment::BookingRedis, series, 25.0) >= 3);
        }
        let runs = |series: &str| {
            let steps = steps(OriginalExperiment::TravelOps, QUICK).into_iter();
            steps.filter(|step| step.series == series).count()
        };
        assert_eq!([ONE, SEVERAL].map(runs), [3, 3]);
    }

    #[test]
    fn an_experiment_has_a_name() {
        for experiment in OriginalExperiment::ALL {
            assert_eq!(experiment.name().parse(), Ok(experiment));
        }
        let error = "chess"
            .parse::<OriginalExperiment>()
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`chess` is no experiment: there are booking-mysql, "),
            "{error}"
        );
    }
}
