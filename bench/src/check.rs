//! What the proof of `lab check` costs: in process, where nothing else is done, and beside real servers.

mod history;
mod pace;
mod served;

use std::path::Path;

use anyhow::Result;
use clap::Args;

use crate::{
    arguments::{Program, RunExtent},
    ground::tell,
    machine::Machine,
    pin,
    ratio::{Bound, Ratio},
    report::Report,
    section::{MeasuredRow, Section, SubjectMetric},
};
use pace::{CheckingCost, PIPELINES};
use served::{CASES, Served, ServedCase};

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    extent: RunExtent,
    #[command(flatten)]
    program: Program,
}

/// Operations among which one is sold twice.
const MILLION: u32 = 1_000_000;

/// Checked operations a second on one core.
const RATE: Bound = Bound::AtLeast(100_000.0);
/// Of what server, generator and checker use.
const SHARE_PERCENT: Bound = Bound::AtMost(5.0);
/// Seconds until one booking in a million that is sold twice is found.
const FOUND_S: Bound = Bound::AtMost(10.0);
/// Seconds for a hundred million operations.
const HUNDRED_MILLION_S: Bound = Bound::AtMost(60.0);

const SHARE: &str = "of the check under load, %";

pub(crate) fn measure(arguments: &CheckArguments) -> Result<Report> {
    let turnstile = arguments.program.path()?;
    let quick = arguments.extent.quick;
    let (rounds, operations, seconds) = if quick {
        (2, MILLION / 5, 2)
    } else {
        (5, 5 * MILLION, 5)
    };
    let machine = Machine::with(&[turnstile.as_path()]);
    // The checks begin before this thread is kept on one core: what they start would stay there, too.
    let served = serve(&turnstile, rounds.min(3), seconds)?;
    pin::pin(pin::CLIENT_CORE)?;
    let (in_process, paces) = in_process(operations, rounds)?;
    let sections = vec![
        in_process,
        found(rounds)?,
        beside(&served, (&paces, seconds)),
    ];
    let told = [
        "The check, measured",
        "`turnstile-bench check` measures again.",
    ];
    Report::written(&arguments.extent, "check", told, (Some(machine), sections))
}

fn in_process(operations: u32, rounds: u64) -> Result<(Section, Vec<CheckingCost>)> {
    let mut paces = Vec::new();
    let mut section = Section::watched("In process", || {
        for seed in 1..=rounds {
            for pipeline in PIPELINES {
                paces.push(pace::measure(operations, pipeline, seed)?);
            }
        }
        let subjects = PIPELINES.map(|pipeline| {
            let figures = vec![
                SubjectMetric::new("telling", of(&paces, pipeline, |pace| pace.telling_ns)),
                SubjectMetric::new("checking", of(&paces, pipeline, |pace| pace.checking_ns)),
            ];
            MeasuredRow::new(format!("pipeline {pipeline}"), figures)
        });
        let setting = format!(
            "{rounds} rounds of {operations} bookings and cancellations in 50 rooms, which an honest server \
             as plain as the model answers, told by 50 users and replayed by the checker, on one core. What \
             it takes to make them is not counted. In nanoseconds for each"
        );
        Ok((setting, subjects.to_vec()))
    })?;
    let both = of(&paces, 1, |pace| pace.telling_ns + pace.checking_ns);
    let spread = |of_ns: fn(f64) -> f64| {
        let values = both.iter().map(|ns| of_ns(*ns));
        Ratio::spread(&values.collect::<Vec<f64>>())
    };
    let target = "operations told and checked, a second on one core";
    section.claim_ratio(target, spread(|ns| 1e9 / ns), RATE);
    let target = "a hundred million of them, by that pace, s";
    section.claim_ratio(target, spread(|ns| ns / 10.0), HUNDRED_MILLION_S);
    Ok((section, paces))
}

/// A figure of the rounds with so many requests in flight.
fn of(paces: &[CheckingCost], pipeline: usize, figure: fn(&CheckingCost) -> f64) -> Vec<f64> {
    let those = paces.iter().filter(|pace| pace.pipeline == pipeline);
    those.map(figure).collect()
}

fn found(rounds: u64) -> Result<Section> {
    const FOUND: &str = "found after, s";
    let mut section = Section::watched("A planted fault", || {
        let seconds = (1..=rounds).map(|seed| pace::find(MILLION, seed));
        let seconds = SubjectMetric::new(FOUND, seconds.collect::<Result<_>>()?);
        let setting = "One booking in a million is sold twice".to_owned();
        Ok((setting, vec![MeasuredRow::new("rooms", vec![seconds])]))
    })?;
    let ratio = Ratio::spread(section.subjects[0].values(FOUND));
    let target = "one booking in a million that is sold twice, found after s";
    section.claim_ratio(target, ratio, FOUND_S);
    Ok(section)
}

/// All cases in turn, for so many rounds, and what neighbours used meanwhile.
fn serve(turnstile: &Path, rounds: u64, seconds: u32) -> Result<(Vec<Vec<Served>>, Section)> {
    let mut all = vec![Vec::new(); CASES.len()];
    let section = Section::watched("Beside servers", || {
        for _ in 0..rounds {
            for (case, served) in CASES.into_iter().zip(&mut all) {
                let one = served::measure(turnstile, case, seconds)?;
                tell(&format!("{case:?}: {one:?}"))?;
                served.push(one);
            }
        }
        Ok((String::new(), Vec::new()))
    })?;
    Ok((all, section))
}

/// The section of the servers, once it is known what telling costs.
fn beside(
    (all, watched): &(Vec<Vec<Served>>, Section),
    (paces, seconds): (&[CheckingCost], u32),
) -> Section {
    let rounds = all.first().map_or(0, Vec::len);
    let setting = format!(
        "`lab check` with 50 users and a durable server of its own for {seconds} s, {rounds} times, all with \
         exit code 0. *Checked* are operations and readings; a whole transaction of travel is one. *All* is \
         the processor time of server, generator and checker. Replayed *afterwards*, what users tell is only \
         written down (*keeping*) while the load runs, and the share is of what is used until it ends. \
         **Judged above is, with one request under way, the replay meanwhile; with 16 (a server at its \
         limit, with little time for each) the replay afterwards**, which is there for that. Both ways are \
         shown"
    );
    let mut section = Section {
        neighbours_percent: watched.neighbours_percent,
        ..Section::new("Beside servers", setting, Vec::new())
    };
    for (case, rounds) in CASES.into_iter().zip(all) {
        let telling = of(paces, case.pipeline, |pace| pace.telling_ns);
        let telling = Ratio::spread(&telling).median;
        let each =
            |figure: &dyn Fn(&Served) -> f64| rounds.iter().map(figure).collect::<Vec<f64>>();
        let shares = each(&|served| served.share_percent(case.way, telling));
        if case.is_judged() {
            let ratio = Ratio::spread(&shares);
            section.claim_ratio(&target(case), ratio, SHARE_PERCENT);
        }
        let figures = vec![
            SubjectMetric::new("checked a second", each(&|served| served.rate)),
            SubjectMetric::new("checking, ns each", each(&|served| served.checking_ns)),
            SubjectMetric::new("keeping, ns each", each(&|served| served.keeping_ns)),
            SubjectMetric::new("all, ns each", each(&|served| served.all_ns)),
            SubjectMetric::new(SHARE, shares),
        ];
        let ServedCase {
            service,
            pipeline,
            way,
        } = case;
        let name = format!("{service}, pipeline {pipeline}, replayed {}", way.word());
        section.subjects.push(MeasuredRow::new(name, figures));
    }
    section
}

fn target(case: ServedCase) -> String {
    format!(
        "share of all processor time under load, {}, 50 users x {}, replayed {}, %",
        case.service,
        case.pipeline,
        case.way.word()
    )
}
