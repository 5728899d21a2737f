//! `turnstile lab reproduce`: the ancestors' experiments on this machine, beside what was published.
//!
//! Each step is a `turnstile lab run` in a process of its own, as anybody would type it; its
//! `run.json` is kept. What is measured and what it says is in the crate `reproduce`.

mod measuring;
mod servers;
mod ways;

use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
    time::Instant,
};

use anyhow::{Context as _, bail};
use clap::Args;
use turnstile_reproduce::{
    Effort, ExperimentExtent, OriginalExperiment, Reproduction, SeriesColumn, Session,
    UnknownExperiment,
};
use turnstile_result::Machine;

use super::write_json;
use crate::{exit::Coded, hidden_value::HiddenValue, terminal};
use ways::{Database, DatabaseUrls};

/// Where results go by default.
const FOLDER: &str = "runs";

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// booking-mysql, booking-redis, exchange-cores, games-users, travel-ops, travel-rate; or all
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<ExperimentChoice>,
    /// Use the durations, repeats and exclusions of the original's authors
    #[arg(long)]
    as_published: bool,
    /// Measure every published point
    #[arg(long)]
    full: bool,
    /// Measure a few points very briefly: a smoke test
    #[arg(long, conflicts_with_all = ["full", "as_published"])]
    brief: bool,
    /// Also measure rooms on the lab's own server with this database as back end; repeatable
    #[arg(long, value_name = "URL", value_parser = HiddenValue::<Database>::new())]
    rooms_backend: Vec<Database>,
    /// Also measure the exchange on the lab's own server with this PostgreSQL as back end;
    /// repeatable
    #[arg(long, value_name = "URL", value_parser = HiddenValue::<Database>::new())]
    exchange_backend: Vec<Database>,
    #[command(flatten)]
    place: Place,
}

/// Where results go.
#[derive(Args, Debug)]
struct Place {
    /// Directory for results; default: a dated one in runs/
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Resume in that directory: runs saved there by the same command are not repeated
    #[arg(long, requires = "output")]
    resume: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExperimentChoice {
    One(OriginalExperiment),
    All,
}

/// What this command has made so far.
struct Made {
    session: Session,
    begun: Instant,
    all: Vec<Reproduction>,
    /// What was measured, for experiments that are compared with others.
    known: Vec<SeriesColumn>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.folder();
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut made = Made::new(arguments);
    for experiment in arguments.experiments() {
        made.make(experiment, arguments, &folder)?;
        // What is there is written at once: the next experiment may be interrupted.
        made.write(&folder)?;
    }
    terminal::line(made.session.summary(&made.all).trim_end())?;
    terminal::line(format_args!("results: {}", folder.display()))?;
    if !made.is_proven() {
        return Err(Coded::violation("the server broke a promise".to_owned()).into());
    }
    let failed: usize = made.all.iter().map(|one| one.failed.len()).sum();
    if failed > 0 {
        bail!("{failed} runs failed; the others were measured");
    }
    Ok(())
}

impl Arguments {
    fn folder(&self) -> PathBuf {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S");
        let dated = || Path::new(FOLDER).join(format!("{now}-reproduce"));
        self.place.output.clone().unwrap_or_else(dated)
    }

    /// Each once, in the order of the reports.
    fn experiments(&self) -> Vec<OriginalExperiment> {
        let wanted = |experiment: &OriginalExperiment| {
            let mut choices = self.experiments.iter();
            choices.any(|choice| {
                matches!(choice, ExperimentChoice::All)
                    || *choice == ExperimentChoice::One(*experiment)
            })
        };
        OriginalExperiment::ALL.into_iter().filter(wanted).collect()
    }

    const fn effort(&self) -> Effort {
        let extent = match (self.full, self.brief) {
            (true, _) => ExperimentExtent::Full,
            (false, true) => ExperimentExtent::Brief,
            (false, false) => ExperimentExtent::Quick,
        };
        Effort {
            extent,
            as_published: self.as_published,
        }
    }

    fn databases(&self) -> DatabaseUrls<'_> {
        DatabaseUrls {
            rooms: &self.rooms_backend,
            exchange: &self.exchange_backend,
        }
    }

    /// The command as it can be typed again.
    fn command(&self) -> String {
        let mut command = "turnstile lab reproduce".to_owned();
        for choice in &self.experiments {
            command += " ";
            command += match choice {
                ExperimentChoice::All => "all",
                ExperimentChoice::One(experiment) => experiment.name(),
            };
        }
        for (is_asked, flag) in [
            (self.brief, " --brief"),
            (self.full, " --full"),
            (self.as_published, " --as-published"),
        ] {
            command += if is_asked { flag } else { "" };
        }
        command + &self.databases().flags()
    }
}

impl Made {
    fn new(arguments: &Arguments) -> Self {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC");
        Self {
            session: Session {
                command: arguments.command(),
                machine: Machine::this().to_string(),
                began: now.to_string(),
                took_s: 0.0,
                extent: arguments.effort().extent,
                is_release: !cfg!(debug_assertions),
            },
            begun: Instant::now(),
            all: Vec::new(),
            known: Vec::new(),
        }
    }

    fn make(
        &mut self,
        experiment: OriginalExperiment,
        arguments: &Arguments,
        folder: &Path,
    ) -> anyhow::Result<()> {
        let cores = u32::try_from(Machine::this().cores).unwrap_or(u32::MAX);
        let mut plan = experiment.plan(arguments.effort(), cores);
        plan.notices.extend(places(experiment, cores));
        let asked = arguments.experiments();
        let ways = arguments.databases().ways(experiment, &asked);
        let folder = folder.join(experiment.name());
        let resumes = arguments.place.resume;
        let measured = measuring::measure(experiment, plan, &ways, &folder, resumes);
        let reproduction = Reproduction::of(experiment, &measured, &self.known);
        terminal::line(format_args!("# {experiment}\n\n{reproduction}"))?;
        self.all.push(reproduction);
        self.known.extend(measured.columns);
        Ok(())
    }

    /// Whether every promise was kept.
    fn is_proven(&self) -> bool {
        let mut figures = self.known.iter().flat_map(|column| &column.figures);
        figures.all(|figure| figure.is_proven)
    }

    fn write(&mut self, folder: &Path) -> anyhow::Result<()> {
        self.session.took_s = self.begun.elapsed().as_secs_f64();
        let (session, all) = (&self.session, &self.all);
        write_json(all, &folder.join("reproduce.json"))?;
        let pages = all.iter().map(|one| {
            let name = format!("{}.md", one.experiment);
            (name, session.page(one))
        });
        let whole = [
            ("README.md".to_owned(), session.summary(all)),
            (
                "report.html".to_owned(),
                turnstile_report::reproductions(all, session),
            ),
        ];
        for (name, text) in pages.chain(whole) {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// On which processors server and generator run, and how that differs from the ancestor's machines.
fn places(experiment: OriginalExperiment, cores: u32) -> Option<String> {
    if experiment == OriginalExperiment::ExchangeCores {
        return None;
    }
    let theirs = match experiment {
        OriginalExperiment::BookingMysql | OriginalExperiment::BookingRedis => {
            "their server had two cores, their generator a machine of its own"
        }
        OriginalExperiment::GamesUsers => {
            "each of their servers had one core, their generator the four of another machine"
        }
        _ => return (cores > 1).then(|| APART.to_owned()),
    };
    let ours = if cores > 1 {
        APART.to_owned()
    } else {
        "server and generator share the only processor".to_owned()
    };
    Some(format!(
        "a difference: {theirs}; here {ours}; more is not testable here, because this machine has {cores} \
         processors"
    ))
}

const APART: &str = "the generator has a processor for itself, the server the others, and a database \
                     what its owner gave it";

impl FromStr for ExperimentChoice {
    type Err = UnknownExperiment;

    fn from_str(text: &str) -> Result<Self, UnknownExperiment> {
        if text == "all" {
            return Ok(Self::All);
        }
        text.parse().map(Self::One)
    }
}
