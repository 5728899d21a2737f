//! 9: equal measurements side by side, and two systems in pairs.

use maud::{Markup, html};
use turnstile_result::{Comparison, Point, Run};
use turnstile_stats::{Interval, pairs, sample};

use crate::{
    chart::{AxisScale, Chart, ChartAnnotation, ChartSeries, Dot, Form},
    curves::is_usable,
    summary, text,
};

pub(super) fn body(run: &Run) -> Option<Markup> {
    let groups = groups(run);
    if groups.is_empty() && run.comparison.is_none() {
        return None;
    }
    Some(html! {
        @if !groups.is_empty() {
            div.charts { (chart(run, &groups).markup("repeats-throughput")) }
            (table(run, &groups))
        }
        @if let Some(comparison) = &run.comparison { (compared(comparison)) }
    })
}

/// Points that are equal but for their repeat, where there are several.
fn groups(run: &Run) -> Vec<Vec<&Point>> {
    let mut groups: Vec<Vec<&Point>> = Vec::new();
    for point in &run.points {
        let is_equal = |other: &&Point| {
            (&other.series, &other.load, other.cores) == (&point.series, &point.load, point.cores)
        };
        match groups.iter_mut().find(|group| group.iter().any(is_equal)) {
            Some(group) => group.push(point),
            None => groups.push(vec![point]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn usable(group: &[&Point]) -> Vec<f64> {
    let points = group.iter().filter(|point| is_usable(point));
    points.map(|point| point.throughput).collect()
}

fn chart(run: &Run, groups: &[Vec<&Point>]) -> Chart {
    let (mut runs, mut means, mut ticks) = (Vec::new(), Vec::new(), Vec::new());
    for (number, group) in (1_u32..).zip(groups) {
        let at = f64::from(number);
        ticks.push((at, text::kind(group[0], &run.points)));
        runs.extend(group.iter().map(|point| Dot {
            is_invalid: !is_usable(point),
            ..Dot::at(at - 0.15, point.throughput)
        }));
        means.extend(Interval::of_mean(&usable(group)).map(|mean| Dot {
            range: Some((mean.low, mean.high)),
            ..Dot::at(at + 0.15, mean.estimate)
        }));
    }
    let wide = f64::from(u32::try_from(groups.len()).expect("a run has few points")) + 1.0;
    let ends = means.iter().filter_map(|mean| mean.range);
    let heights = runs
        .iter()
        .map(|run| run.y)
        .chain(ends.flat_map(|(low, high)| [low, high]));
    let heights: Vec<f64> = heights.collect();
    // Many names do not fit.
    if ticks.len() > 4 {
        ticks.retain(|(at, _)| at.rem_euclid((wide / 4.0).ceil()) < 0.5);
    }
    Chart {
        title: "Every run as a dot, and their mean".to_owned(),
        about: "Answers a second of each of several equal runs, and where their mean lies."
            .to_owned(),
        x: AxisScale::with_ticks("equal runs", 0.0, wide, ticks),
        y: AxisScale::around("answers a second", heights.into_iter()),
        series: vec![
            ChartSeries::new("runs", 0, Form::Dots, runs),
            ChartSeries::new("mean of the runs", 1, Form::Dots, means),
        ],
        marks: Vec::new(),
    }
}

fn table(run: &Run, groups: &[Vec<&Point>]) -> Markup {
    html! {
        div.wide { table {
            caption { "The noise floor is how far equal runs lie apart (standard deviation as a share of the mean): a smaller difference of two single runs means nothing." }
            thead { tr { th { "load" } th { "runs" } th { "mean" } th { "noise floor" } } }
            tbody { @for group in groups {
                @let rates = usable(group);
                tr {
                    td { (text::kind(group[0], &run.points)) }
                    td.n { (rates.len()) }
                    td.n { (Interval::of_mean(&rates).map_or_else(|| "-".to_owned(), |one| text::interval(&one, text::per_second))) }
                    td.n { @if rates.len() > 1 { (text::share(sample::variance(&rates).sqrt() / sample::mean(&rates))) } @else { "-" } }
                }
            } }
        } }
    }
}

fn compared(comparison: &Comparison) -> Markup {
    let (a, b) = (&comparison.a, &comparison.b);
    let margin = comparison.margin;
    html! {
        h3 { (b) " against " (a) }
        @if let Some(caution) = comparison.caution() {
            p.warn { "These runs were not interleaved: " (caution) "." }
        }
        div.charts { (ratios(comparison).markup("ratios")) }
        div.wide { table {
            caption { "Ratio of " (b) " over " (a) ", geometric mean of the pairs. The same is: surely within " (text::share(margin)) "." }
            thead { tr { th { "figure" } th { "ratio" } th { "chance" } th { "of all" } th { "verdict" } } }
            tbody { @for metric in &comparison.metrics { tr {
                td { (metric.name) }
                td.n { (text::interval(&metric.ratio, |ratio| format!("{ratio:.3}"))) }
                td.n { (format!("{:.3}", metric.chance)) }
                td.n { (format!("{:.3}", metric.chance_of_all)) }
                td { (summary::verdict(metric)) @if let pairs::Verdict::Same = metric.verdict { " within " (text::share(margin)) } }
            } } }
        } }
    }
}

/// Each figure's ratio with its interval, from left to right.
fn ratios(comparison: &Comparison) -> Chart {
    let mut ticks = Vec::new();
    let mut dots = Vec::new();
    for (number, metric) in (1..).zip(&comparison.metrics) {
        let at = f64::from(number);
        ticks.push((at, metric.name.replace("response ", "")));
        let ratio = metric.ratio;
        dots.push(Dot {
            range: Some((ratio.low, ratio.high)),
            ..Dot::at(at, ratio.estimate)
        });
    }
    let ends = comparison
        .metrics
        .iter()
        .flat_map(|metric| [metric.ratio.low, metric.ratio.high]);
    let far = ends
        .map(|end| (end - 1.0).abs())
        .fold(comparison.margin * 1.5, f64::max)
        * 1.1;
    let marks = [1.0 - far, 1.0 - far / 2.0, 1.0, 1.0 + far / 2.0, 1.0 + far];
    let up = marks.map(|mark| (mark, format!("{mark:.2}"))).to_vec();
    let wide = f64::from(u32::try_from(dots.len()).expect("there are few metrics")) + 1.0;
    Chart {
        title: "Ratios".to_owned(),
        about: "The ratio of both systems for each figure, with its interval.".to_owned(),
        x: AxisScale::with_ticks("figure", 0.0, wide, ticks),
        y: AxisScale::with_ticks("ratio", 1.0 - far, 1.0 + far, up),
        series: vec![ChartSeries::new("ratio", 0, Form::Dots, dots)],
        marks: vec![
            ChartAnnotation::Level {
                y: 1.0 + comparison.margin,
                label: "the same".to_owned(),
            },
            ChartAnnotation::Level {
                y: 1.0 - comparison.margin,
                label: String::new(),
            },
        ],
    }
}
