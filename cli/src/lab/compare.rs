//! `turnstile lab compare`: two servers by runs in pairs, or two runs that were kept.

use std::{
    collections::BTreeSet,
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use turnstile_load::contrast;
use turnstile_result::{Comparison, Point, Run, Server, Target, Verdict};
use turnstile_stats::pairs::{LeadingSystem, plan};

use super::{
    notebook::{self, Notebook, OutputArguments},
    pacing::{Pacing, share},
    shown,
    subject::TestedServers,
};
use crate::{
    address::{self, DoorAddress},
    exit::Coded,
    terminal,
};

#[derive(Args, Debug)]
#[command(mut_arg("what", |what| what.required(false)))]
pub(crate) struct Arguments {
    /// A: program of a server, address of a running one, or run.json of a saved run
    #[arg(value_name = "A")]
    a: String,
    /// B: the same
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    subject: TestedServers,
    #[command(flatten)]
    pacing: Pacing,
    /// Number of pairs of runs
    #[arg(long, default_value = "6")]
    pairs: NonZeroUsize,
    /// Smallest difference that matters
    #[arg(long, default_value = "2%", value_parser = share)]
    margin: f64,
    #[command(flatten)]
    output: OutputArguments,
}

/// One of the two.
#[derive(Debug)]
enum Contender {
    Measured(ComparedServer),
    Kept(Box<Run>),
}

/// A server to measure.
#[derive(Debug)]
enum ComparedServer {
    Program(PathBuf),
    Address(DoorAddress),
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (a, b) = (
        Contender::parse(&arguments.a)?,
        Contender::parse(&arguments.b)?,
    );
    match (&a, &b) {
        (Contender::Kept(a), Contender::Kept(b)) => kept(arguments, a, b),
        (Contender::Kept(_), _) | (_, Contender::Kept(_)) => {
            let wrong =
                "a kept run is compared with a kept run: a new one would meet another machine";
            Err(Coded::usage(wrong.to_owned()).into())
        }
        (Contender::Measured(_), Contender::Measured(_)) if !arguments.subject.is_said() => {
            let wrong = "which workload? write compare A B rooms, or another that `lab run` knows";
            Err(Coded::usage(wrong.to_owned()).into())
        }
        (Contender::Measured(a), Contender::Measured(b)) => interleaved(arguments, a, b),
    }
}

/// Runs pairs in an order that chance decides, each on a server that was started for it where it is a
/// program.
fn interleaved(
    arguments: &Arguments,
    a: &ComparedServer,
    b: &ComparedServer,
) -> anyhow::Result<()> {
    let subject = &arguments.subject;
    let target = Target {
        address: format!("{} and {}", arguments.a, arguments.b),
        own: matches!(
            (a, b),
            (ComparedServer::Program(_), ComparedServer::Program(_))
        ),
        tls: false,
        authenticated: false,
    };
    let asked = subject.asked("compare", target, &arguments.pacing);
    let mut notebook = Notebook::new(&arguments.output, asked, Vec::new())?;
    let mut dice = turnstile_load::dice(arguments.pacing.seed());
    let mut pairs = Vec::new();
    for first in plan(&mut dice, arguments.pairs.get()) {
        let mut measure =
            |server: &ComparedServer, name: &str| arguments.measure(server, name, &mut notebook);
        let pair = match first {
            LeadingSystem::Old => {
                let old = measure(a, "a")?;
                (old, measure(b, "b")?)
            }
            LeadingSystem::New => {
                let new = measure(b, "b")?;
                (measure(a, "a")?, new)
            }
        };
        pairs.push(pair);
        let points = notebook.points();
        let ratio = points[pair.1].throughput / points[pair.0].throughput;
        let (done, of) = (pairs.len(), arguments.pairs);
        notebook.note(&format!("pair {done} of {of}: b does {ratio:.3} of a"));
    }
    arguments.conclude(notebook, &pairs, true)
}

/// Pairs the points of two runs in their order.
fn kept(arguments: &Arguments, a: &Run, b: &Run) -> anyhow::Result<()> {
    check_alike(a, b)?;
    let (of_a, of_b) = (&a.asked.target, &b.asked.target);
    for (what, of_a, of_b) in [
        ("TLS", of_a.tls, of_b.tls),
        ("a key", of_a.authenticated, of_b.authenticated),
    ] {
        if of_a != of_b {
            let with = if of_a { "a" } else { "b" };
            terminal::note(format_args!(
                "only {with} was measured with {what}, whose cost is part of the difference"
            ));
        }
    }
    for difference in differences(a, b) {
        terminal::note(format_args!("{difference}: part of the difference"));
    }
    let target = Target {
        address: format!("{} and {}", arguments.a, arguments.b),
        own: false,
        tls: of_a.tls || of_b.tls,
        authenticated: of_a.authenticated || of_b.authenticated,
    };
    let asked = notebook::asked("compare", &a.asked.workload, target, None, 0);
    let mut notebook = Notebook::new(&arguments.output, asked, Vec::new())?;
    let mut pairs = Vec::new();
    for (a, b) in a.points.iter().zip(&b.points) {
        if a.load != b.load {
            let (a, b) = (shown::load(a), shown::load(b));
            return Err(Coded::usage(format!("{a} cannot be compared with {b}")).into());
        }
        let points = &mut notebook.run().points;
        points.extend([(a, "a"), (b, "b")].map(|(point, name)| Point {
            series: name.to_owned(),
            ..point.clone()
        }));
        pairs.push((points.len() - 2, points.len() - 1));
    }
    arguments.conclude(notebook, &pairs, false)
}

/// Refuses runs that did not measure the same.
fn check_alike(a: &Run, b: &Run) -> Result<(), Coded> {
    let workloads = [&a.asked.workload, &b.asked.workload];
    if workloads[0] != workloads[1] {
        let [a, b] = workloads;
        let wrong = format!("a run of {a} cannot be compared with a run of {b}");
        return Err(Coded::usage(wrong));
    }
    if a.counts_wholes() != b.counts_wholes() {
        let (a, b, what) = (a.schema, b.schema, &a.asked.workload);
        let wrong = format!(
            "a run of schema 1 may count requests of {what}, one of schema 2 counts wholes: schema {a} \
             cannot be compared with schema {b}"
        );
        return Err(Coded::usage(wrong));
    }
    let points = [a.points.len(), b.points.len()];
    if points[0] != points[1] {
        let [a, b] = points;
        let wrong = format!("a has {a} points and b has {b}: only equal series are compared");
        return Err(Coded::usage(wrong));
    }
    Ok(())
}

/// What else was not the same in two runs: settings of the workload, and of the server.
fn differences(a: &Run, b: &Run) -> Vec<String> {
    let of_server = |name, value: fn(&Server) -> &str| {
        let [a, b] = [a, b].map(|run| run.server.as_ref().map(value));
        (name, a, b)
    };
    let mut rows = vec![
        of_server("durability", |server| &server.durability),
        of_server("back end", |server| &server.back_end),
    ];
    let settings = [&a.asked.settings, &b.asked.settings];
    let names: BTreeSet<&str> = settings
        .iter()
        .flat_map(|settings| settings.keys().map(String::as_str))
        .collect();
    rows.extend(names.into_iter().map(|name| {
        let [a, b] = settings.map(|settings| settings.get(name).map(String::as_str));
        (name, a, b)
    }));
    let differing = rows.into_iter().filter(|(_, a, b)| a != b);
    let shown = differing.map(|(name, a, b)| {
        let [a, b] = [a, b].map(|value| value.unwrap_or("not recorded"));
        format!("{name} is {a} in a and {b} in b")
    });
    shown.collect()
}

impl Arguments {
    fn measure(
        &self,
        server: &ComparedServer,
        name: &str,
        notebook: &mut Notebook,
    ) -> anyhow::Result<usize> {
        let (subject, program) = match server {
            ComparedServer::Program(path) => (self.subject.clone(), Some(path.as_path())),
            ComparedServer::Address(address) => (self.subject.at(address.clone()), None),
        };
        let opened = subject.open(program, None)?;
        let place = opened.measure(&self.pacing, notebook)?;
        let target = opened.target();
        opened.stop()?;
        let run = notebook.run();
        run.asked.target.tls |= target.tls;
        run.asked.target.authenticated |= target.authenticated;
        name.clone_into(&mut run.points[place].series);
        Ok(place)
    }

    fn conclude(
        &self,
        mut notebook: Notebook,
        places: &[(usize, usize)],
        interleaved: bool,
    ) -> anyhow::Result<()> {
        let points = notebook.points();
        let pairs: Vec<(&Point, &Point)> = places
            .iter()
            .map(|&(a, b)| (&points[a], &points[b]))
            .filter(|(a, b)| a.verdict.max(b.verdict) < Verdict::Invalid)
            .collect();
        let (metrics, shape) = (
            contrast::metrics(&pairs, self.margin),
            contrast::shape(&pairs, self.margin),
        );
        let apart = contrast::apart(&pairs);
        let enough = !metrics.is_empty();
        let place = |place: usize| u32::try_from(place).expect("points are few");
        notebook.run().comparison = Some(Comparison {
            a: self.a.clone(),
            b: self.b.clone(),
            interleaved,
            margin: self.margin,
            pairs: places.iter().map(|&(a, b)| (place(a), place(b))).collect(),
            metrics,
            shape,
            apart,
        });
        notebook.finish_as(if enough {
            Verdict::Fine
        } else {
            Verdict::Invalid
        })
    }
}

impl Contender {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let path = Path::new(text);
        if !path.exists() {
            match address::ANY.read(text) {
                Ok(address) => return Ok(Self::Measured(ComparedServer::Address(address))),
                // The text may hold a key.
                Err(wrong) if text.contains("://") || text.contains('@') => {
                    return Err(Coded::usage(wrong).into());
                }
                Err(_no_address) => {}
            }
        }
        let file = if path.is_dir() {
            path.join("run.json")
        } else {
            path.to_owned()
        };
        if file
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let shown = || file.display().to_string();
            let bytes = fs::read(&file).with_context(shown)?;
            return Ok(Self::Kept(Box::new(Run::read(&bytes).with_context(shown)?)));
        }
        if !file.is_file() {
            let wrong = format!("`{text}` is no program, no address, and no kept run");
            return Err(Coded::usage(wrong).into());
        }
        let program = fs::canonicalize(&file).with_context(|| text.to_owned())?;
        Ok(Self::Measured(ComparedServer::Program(program)))
    }
}

#[cfg(test)]
mod tests {
    use super::{ComparedServer, Contender};

    #[test]
    fn a_side_is_an_address_a_kept_run_or_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        assert!(matches!(
            Contender::parse("127.0.0.1:1").unwrap(),
            Contender::Measured(ComparedServer::Address(_))
        ));
        std::fs::write(path("program"), "").unwrap();
        assert!(matches!(
            Contender::parse(&path("program")).unwrap(),
            Contender::Measured(ComparedServer::Program(_))
        ));
        for text in ["nothing", &path(""), &path("none.json")] {
            assert!(Contender::parse(text).is_err(), "{text}");
        }
        std::fs::write(path("run.json"), "{\"schema\":7}").unwrap();
        let told = format!("{:#}", Contender::parse(&path("")).unwrap_err());
        assert!(told.contains("schema 7"), "{told}");
    }
}
