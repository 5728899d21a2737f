//! `turnstile lab reproduce`: the ancestors' experiments on this machine, beside what was published.
//!
//! Each step is a `turnstile lab run` in a process of its own, as anybody would type it; its
//! `run.json` is kept. What is measured and what it says is in the crate `reproduce`.

mod servers;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    str::FromStr,
};

use anyhow::{Context as _, ensure};
use clap::Args;
use turnstile_reproduce::{
    Column, Effort, Experiment, Figure, Reproduction, Step, Storage, UnknownExperiment,
};
use turnstile_result::{Load, Machine, Point, Run};

use super::{pin, write_json};
use crate::{exit::Coded, terminal};
use servers::Servers;

/// Where results go by default.
const FOLDER: &str = "runs";

/// Names of requests, in the order of the published table of travel.
const PARTS: [&[&str]; 4] = [
    &["start"],
    &["query_customer", "query_flight", "query_car", "query_room"],
    &["reserve_flight", "reserve_car", "reserve_room"],
    &["commit"],
];

/// The place of the whole transaction behind its parts.
const TRANSACTION: f64 = 5.0;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// booking-mysql, booking-redis, exchange-cores, games-users, travel-ops, travel-rate; or all
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<Choice>,
    /// As long and as often as the ancestor's authors measured, with their rules of what is left out
    #[arg(long)]
    as_published: bool,
    /// Every point that was published
    #[arg(long)]
    full: bool,
    /// Of rooms, also measure a server of the lab's own that keeps them in this database, as
    /// `turnstile dev` has it; several times for several
    #[arg(long, value_name = "URL")]
    rooms_backend: Vec<Database>,
    /// Of the exchange, also measure a server of the lab's own that keeps it in this Postgres;
    /// several times for several
    #[arg(long, value_name = "URL")]
    exchange_backend: Vec<Database>,
    /// Directory for results; by default a dated one in runs/
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Go on in that directory: what was asked in the same words and is kept there is not measured again
    #[arg(long, requires = "output")]
    resume: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    One(Experiment),
    All,
}

/// A database that keeps rooms.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Database {
    storage: Storage,
    url: String,
}

/// One way to run what is measured: a column beside the published one.
#[derive(Clone, Debug)]
struct Way {
    name: String,
    storage: Storage,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A server of the lab's own.
    Embedded,
    /// Travel in five processes.
    Separate,
    /// A server of the lab's own that is told by this flag to keep its service in a database.
    Kept { flag: &'static str, url: String },
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.folder();
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut all = Vec::new();
    let mut proven = true;
    for experiment in arguments.experiments() {
        let (reproduction, kept) =
            reproduce(experiment, arguments, &folder.join(experiment.name()))?;
        terminal::line(&reproduction)?;
        proven &= kept;
        all.push(reproduction);
        // What is there is written at once: the next experiment may be interrupted.
        write(&all, &folder)?;
    }
    terminal::line(format_args!("results: {}", folder.display()))?;
    if proven {
        return Ok(());
    }
    Err(Coded::violation("the server broke a promise".to_owned()).into())
}

impl Arguments {
    fn folder(&self) -> PathBuf {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S");
        let dated = || Path::new(FOLDER).join(format!("{now}-reproduce"));
        self.output.clone().unwrap_or_else(dated)
    }

    /// Each once, in the order of the reports.
    fn experiments(&self) -> impl Iterator<Item = Experiment> {
        let wanted = |experiment: &Experiment| {
            let mut choices = self.experiments.iter();
            choices
                .any(|choice| matches!(choice, Choice::All) || *choice == Choice::One(*experiment))
        };
        Experiment::ALL.into_iter().filter(wanted)
    }

    const fn effort(&self) -> Effort {
        Effort {
            full: self.full,
            as_published: self.as_published,
        }
    }

    /// The columns of an experiment: here other back ends come beside the embedded one.
    fn ways(&self, experiment: Experiment) -> Vec<Way> {
        let mut ways = vec![Way {
            name: match experiment {
                Experiment::TravelOps => "one process".to_owned(),
                _ => "embedded".to_owned(),
            },
            storage: Storage::Embedded,
            kind: Kind::Embedded,
        }];
        match experiment {
            Experiment::BookingMysql | Experiment::BookingRedis => {
                let kept = |database| Way::kept(database, "--rooms-backend");
                ways.extend(self.rooms_backend.iter().map(kept));
            }
            Experiment::ExchangeCores => {
                let kept = |database| Way::kept(database, "--exchange-backend");
                ways.extend(self.exchange_backend.iter().map(kept));
            }
            Experiment::TravelOps => ways.push(Way {
                name: "five processes".to_owned(),
                storage: Storage::Embedded,
                kind: Kind::Separate,
            }),
            Experiment::GamesUsers | Experiment::TravelRate => {}
        }
        // Each has a folder of its own.
        for number in 1..ways.len() {
            let (before, way) = ways.split_at_mut(number);
            if before.iter().any(|other| other.name == way[0].name) {
                way[0].name = format!("{} {}", way[0].name, number + 1);
            }
        }
        ways
    }
}

impl Way {
    fn kept(database: &Database, flag: &'static str) -> Self {
        Self {
            name: database.name(),
            storage: database.storage,
            kind: Kind::Kept {
                flag,
                url: database.url.clone(),
            },
        }
    }
}

impl Database {
    /// As it heads a column: of MySQL and MariaDB with the engine of the tables.
    fn name(&self) -> String {
        let name = self.storage.name();
        if self.storage != Storage::Mysql {
            return name.to_owned();
        }
        let is_memory = self.url.to_lowercase().contains("engine=memory");
        format!("{name} {}", if is_memory { "MEMORY" } else { "InnoDB" })
    }
}

/// The result, and whether every promise was kept.
fn reproduce(
    experiment: Experiment,
    arguments: &Arguments,
    folder: &Path,
) -> anyhow::Result<(Reproduction, bool)> {
    let cores = u32::try_from(Machine::this().cores).unwrap_or(u32::MAX);
    let mut plan = experiment.plan(arguments.effort(), cores);
    if cores > 1 && experiment != Experiment::ExchangeCores {
        let apart = "the generator has a processor for itself, the server the others, and a \
            database what its owner gave it";
        plan.notices.push(apart.to_owned());
    }
    let mut columns = Vec::new();
    for way in arguments.ways(experiment) {
        let mut figures = Vec::new();
        let mut servers = Servers::new(experiment, way.kind.clone());
        for (number, step) in (1..).zip(&plan.steps) {
            let folder = folder
                .join(way.name.replace(' ', "-"))
                .join(format!("{number:02}"));
            if let Some(run) = kept(step, &folder).filter(|_run| arguments.resume) {
                figures.extend(figures_of(experiment, step, &run));
                continue;
            }
            terminal::note(format_args!(
                "{experiment}, {}: {}",
                way.name,
                step.arguments.join(" ")
            ));
            let doors = servers.doors(step.cores)?;
            let measured = pin::on(servers.generator(), || measure(step, &doors, &folder));
            figures.extend(figures_of(experiment, step, &measured?));
        }
        servers.stop()?;
        columns.push(Column {
            name: way.name,
            storage: way.storage,
            figures,
        });
    }
    let kept = columns
        .iter()
        .flat_map(|column| &column.figures)
        .all(|figure| figure.is_proven);
    Ok((Reproduction::of(experiment, plan.notices, &columns), kept))
}

/// What a run before this one has left there, if it was asked for in the words of this step.
fn kept(step: &Step, folder: &Path) -> Option<Run> {
    let run = Run::read(&fs::read(folder.join("run.json")).ok()?).ok()?;
    // Behind the program, `lab run`, and before the doors.
    let asked = run.asked.line.get(3..)?;
    asked.starts_with(&step.arguments).then_some(run)
}

/// One step: a run of this same binary, as its `run.json` has it.
fn measure(step: &Step, doors: &[String], folder: &Path) -> anyhow::Result<Run> {
    let binary = std::env::current_exe().context("the path of this binary")?;
    let mut command = Command::new(binary);
    command
        .args(["lab", "run"])
        .args(&step.arguments)
        .args(doors);
    command.arg("--quiet").arg("-o").arg(folder);
    let output = command
        .stdin(Stdio::null())
        .output()
        .context("a run of the lab")?;
    let file = folder.join("run.json");
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(
        file.exists(),
        "`lab run {}`: {}",
        step.arguments.join(" "),
        told.trim()
    );
    let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
    Run::read(&bytes).with_context(|| file.display().to_string())
}

fn figures_of(experiment: Experiment, step: &Step, run: &Run) -> Vec<Figure> {
    let points = run.points.iter();
    points
        .flat_map(|point| figures(experiment, step, point))
        .collect()
}

/// What a point is in the tables of an experiment.
fn figures(experiment: Experiment, step: &Step, point: &Point) -> Vec<Figure> {
    let series = step.series.as_str();
    match experiment {
        Experiment::BookingMysql | Experiment::BookingRedis => {
            vec![Figure::of(point, series)]
        }
        Experiment::GamesUsers => vec![Figure::of_games(point, series)],
        Experiment::ExchangeCores => vec![Figure {
            x: f64::from(step.cores.unwrap_or_default()),
            ..Figure::of(point, series)
        }],
        Experiment::TravelOps => {
            let parts = (1_u32..).zip(PARTS);
            let parts =
                parts.map(|(x, names)| Figure::of_requests(point, series, f64::from(x), names));
            let whole = Figure {
                x: TRANSACTION,
                ..Figure::of(point, series)
            };
            parts.chain([whole]).collect()
        }
        Experiment::TravelRate => {
            let x = match point.load {
                Load::Open { rate, .. } => rate,
                Load::Closed { .. } | Load::Count { .. } => 0.0,
            };
            vec![Figure {
                x,
                ..Figure::of(point, series)
            }]
        }
    }
}

fn write(all: &[Reproduction], folder: &Path) -> anyhow::Result<()> {
    write_json(&all, &folder.join("reproduce.json"))?;
    let machine = Machine::this().to_string();
    let text: Vec<String> = all.iter().map(ToString::to_string).collect();
    let files = [
        ("reproduce.md", format!("{machine}\n\n{}", text.join("\n"))),
        (
            "report.html",
            turnstile_report::reproductions(all, &machine),
        ),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

impl FromStr for Choice {
    type Err = UnknownExperiment;

    fn from_str(text: &str) -> Result<Self, UnknownExperiment> {
        if text == "all" {
            return Ok(Self::All);
        }
        text.parse().map(Self::One)
    }
}

impl FromStr for Database {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let storage = match text.split_once("://").map(|(scheme, _)| scheme) {
            Some("mysql" | "mariadb") => Storage::Mysql,
            Some("redis" | "rediss") => Storage::Redis,
            Some("postgres" | "postgresql") => Storage::Postgres,
            _ => return Err("a database is mysql://..., redis://... or postgres://...".to_owned()),
        };
        Ok(Self {
            storage,
            url: text.to_owned(),
        })
    }
}
