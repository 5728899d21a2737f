//! 8: what more cores of the server, or more of their time, bring.

use std::collections::BTreeMap;

use maud::{Markup, html};
use turnstile_result::{Run, Usl};
use turnstile_stats::Interval;

use crate::{
    chart::{AxisScale, Chart, ChartSeries, Dot, Form, Unit},
    text,
};

pub(super) fn body(run: &Run) -> Option<Markup> {
    let sweep = run.sweep.as_ref()?;
    // Where quotas are given, each is tried on each number of cores.
    let mut groups: BTreeMap<Option<u32>, Vec<(f64, Interval)>> = BTreeMap::new();
    for curve in &sweep.curves {
        let on = curve.cores.filter(|_cores| curve.quota.is_some());
        let allowed = curve.quota.or_else(|| curve.cores.map(f64::from));
        let row = allowed.zip(curve.capacity);
        groups.entry(on).or_default().extend(row);
    }
    let laws = groups
        .into_iter()
        .filter_map(|(on, rows)| of_group(on, rows, sweep.scaling.as_ref()));
    let all: Vec<Markup> = laws.collect();
    (!all.is_empty()).then(|| html! { @for one in all { (one) } })
}

/// `on`: the cores of a server that may use a part of their time.
fn of_group(on: Option<u32>, mut rows: Vec<(f64, Interval)>, law: Option<&Usl>) -> Option<Markup> {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let &(fewest, first) = rows.first()?;
    let &(most, last) = rows.last()?;
    if fewest >= most {
        return None;
    }
    let (title, id) = match on {
        Some(cores) => (
            format!("Capacity by what the server may use of {cores} cores"),
            format!("cores-{cores}"),
        ),
        None => (
            "Capacity by cores of the server".to_owned(),
            "cores".to_owned(),
        ),
    };
    let capacity = rows.iter().map(|(cores, capacity)| Dot {
        range: Some((capacity.low, capacity.high)),
        ..Dot::at(*cores, capacity.estimate)
    });
    let linear = [fewest, most].map(|cores| Dot::at(cores, first.estimate * cores / fewest));
    let mut series = vec![
        ChartSeries::new("capacity", 0, Form::Marked, capacity.collect()),
        ChartSeries::new("as many times as cores", 2, Form::Dashed, linear.to_vec()),
    ];
    if let Some(law) = law {
        let at = |cores: f64| {
            let (sigma, kappa) = (law.sigma.estimate, law.kappa.estimate);
            law.rate.estimate * cores
                / (1.0 + sigma * (cores - 1.0) + kappa * cores * (cores - 1.0))
        };
        let steps = (0..=40).map(|step| fewest + (most - fewest) * f64::from(step) / 40.0);
        series.push(ChartSeries::new(
            "scalability law",
            1,
            Form::Line,
            steps.map(|cores| Dot::at(cores, at(cores))).collect(),
        ));
    }
    let elasticity = (last.estimate / first.estimate).ln() / (most / fewest).ln();
    let heights = rows.iter().map(|(_, capacity)| capacity.high);
    let chart = Chart {
        title,
        about: "How many answers a second the server can give on a number of cores, or so much of their time.".to_owned(),
        x: AxisScale::from_zero(
            "cores of the server",
            Unit::Number,
            rows.iter().map(|(cores, _)| *cores),
        ),
        y: AxisScale::from_zero("answers a second", Unit::Number, heights),
        series,
        marks: Vec::new(),
    };
    Some(html! {
        div.charts { (chart.markup(&id)) }
        p { "From " (text::plain(fewest)) " to " (text::plain(most)) " cores the capacity grows "
            (format!("{:.2}", last.estimate / first.estimate)) " times: elasticity "
            (format!("{elasticity:.2}")) ", where 1 is all that cores can bring and 0 is nothing." }
        @if let Some(law) = law {
            p { "Contention " (text::interval(&law.sigma, |value| format!("{value:.3}"))) ", coherence "
                (text::interval(&law.kappa, |value| format!("{value:.4}")))
                @if let Some(peak) = law.peak { "; beyond " (text::plain(peak)) " cores it falls" } "." }
        }
    })
}
