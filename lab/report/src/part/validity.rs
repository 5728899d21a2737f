//! 10: what was checked of generator, machine and figures.

use maud::{Markup, html};
use turnstile_result::{Outcome, Point, Run, Verdict};
use turnstile_stats::operational;

use crate::{curves::are_few, text};

pub(super) fn body(run: &Run) -> Option<Markup> {
    let checked = |point: &Point| !point.validity.is_empty() || !point.laws.is_empty();
    run.points.iter().any(checked).then(|| {
        html! {
            (failed(run))
            @for point in run.points.iter().filter(|point| are_few(run) || crate::rows::failures(point) > 0) {
                details open[run.points.len() == 1] {
                    summary { (text::point(point, &run.points)) " " (badge(point)) }
                    (checks(point))
                    @if !point.laws.is_empty() { (laws(point)) }
                }
            }
        }
    })
}

fn badge(point: &Point) -> Markup {
    let failures = crate::rows::failures(point);
    let class = match point.verdict {
        Verdict::Fine => "good",
        Verdict::Missed | Verdict::Unsteady => "warn",
        Verdict::Invalid | Verdict::Violated => "bad",
    };
    let told = match failures {
        0 => text::verdict(point.verdict).to_owned(),
        1 => format!("{}, 1 check failed", text::verdict(point.verdict)),
        failures => format!("{}, {failures} checks failed", text::verdict(point.verdict)),
    };
    html! { span.badge.(class) { (told) } }
}

/// What failed anywhere, with its cure.
fn failed(run: &Run) -> Markup {
    let failed = || {
        run.points.iter().flat_map(|point| {
            let checks = point
                .validity
                .iter()
                .filter(|check| check.outcome == Outcome::Fails);
            checks.map(move |check| (point, check))
        })
    };
    if failed().next().is_none() {
        return html! { p { "Every check that could be made holds at every point." } };
    }
    html! {
        ul.failed { @for (point, check) in failed() { li {
            strong { (words(&check.check)) } " at " (text::point(point, &run.points)) ": " (check.found) "."
            @if let Some(cure) = &check.cure { " Cure: " (cure) "." }
        } } }
    }
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn checks(point: &Point) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th { "check" } th { "outcome" } th { "found" } } }
            tbody { @for check in &point.validity { tr.(class(check.outcome)) {
                td { (words(&check.check)) } td { (text::outcome(check.outcome)) } td { (check.found) }
            } } }
        } }
    }
}

const fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Fails => "fails",
        Outcome::NotTestable => "untested",
    }
}

fn laws(point: &Point) -> Markup {
    let outcome = |verdict: operational::Verdict| match verdict {
        operational::Verdict::Holds => Outcome::Holds,
        operational::Verdict::Fails => Outcome::Fails,
        operational::Verdict::NotTestable => Outcome::NotTestable,
    };
    html! {
        div.wide { table {
            caption { "Operational laws hold for every system: where one fails, the figures are wrong." }
            thead { tr { th { "law" } th { "outcome" } th { "expected" } th { "found" } } }
            tbody { @for law in &point.laws { @let outcome = outcome(law.verdict); tr.(class(outcome)) {
                td { (law.law) } td { (text::outcome(outcome)) }
                td.n { (text::figure(law.expected)) } td.n { (text::figure(law.found)) }
            } } }
        } }
    }
}
