//! 5: each kind of request, and which of them the time goes to.

use std::collections::BTreeMap;

use maud::{Markup, html};
use turnstile_result::{Distribution, Point, Run};
use turnstile_stats::units::to_float;

use super::stack::{StackSlice, stack};
use crate::{curves::shown, text};

pub(super) fn body(run: &Run) -> Option<Markup> {
    let points = shown(run);
    let last = *points.last()?;
    let asked = points.iter().any(|point| !point.operations.is_empty());
    asked.then(|| html! {
        @for point in &points {
            // All are there; the most loaded is open.
            details open[std::ptr::eq(*point, last)] {
                summary { (text::point(point, &run.points)) }
                (composition(point))
                (table(point))
            }
        }
        p.note { "Counts are of the whole run of a point with its warm-up, times of the measured window. A refusal (sold out, wrong guest) is an answer; an error is none." }
    })
}

/// Which share of all response time each operation has.
fn composition(point: &Point) -> Markup {
    let total = |response: &Distribution| to_float(response.count) * response.mean_ns;
    let all: f64 = point
        .operations
        .iter()
        .map(|operation| total(&operation.response))
        .sum();
    if all <= 0.0 || point.operations.len() < 2 {
        return html! {};
    }
    let slices = point.operations.iter().map(|operation| {
        let share = total(&operation.response) / all;
        StackSlice {
            name: operation.name.clone(),
            share,
            told: text::share(share),
        }
    });
    stack(
        "Share of all time that users waited, by operation",
        &slices.collect::<Vec<_>>(),
    )
}

fn table(point: &Point) -> Markup {
    let at =
        |of: &Distribution, quantile| of.at(quantile).map_or_else(|| "-".to_owned(), text::nanos);
    let times = |of: &Distribution| {
        html! {
            td.n { (text::count(of.count)) }
            td.n { (text::time(of.mean_ns)) }
            @for quantile in [0.5, 0.9, 0.99, 0.999] { td.n { (at(of, quantile)) } }
            td.n { (text::nanos(of.max_ns)) }
        }
    };
    html! {
        div.wide { table {
            thead { tr { th { "operation" } th { "measured" } th { "mean" } th { "p50" } th { "p90" } th { "p99" } th { "p99.9" } th { "longest" } th { "done" } th { "refused" } th { "errors" } th { "no answer" } th { "late" } } }
            tbody {
                @for operation in &point.operations { tr {
                    td { (operation.name) }
                    (times(&operation.response))
                    td.n { (text::count(operation.done)) }
                    td { (words(&operation.refused)) }
                    td { (words(&operation.errors)) }
                    td.n { (text::count(operation.unknown)) }
                    td.n { (text::count(operation.late)) }
                } }
                @for whole in &point.wholes { tr.whole {
                    td { (whole.name) }
                    (times(&whole.response))
                    td.n { (text::count(whole.done)) }
                    td { (words(&whole.refused)) }
                    td { (words(&whole.errors)) }
                    td {} td {}
                } }
            }
        } }
    }
}

/// `3 sold_out, 1 closed`; nothing where there is none.
fn words(counts: &BTreeMap<String, u64>) -> String {
    let told = counts
        .iter()
        .map(|(word, count)| format!("{} {word}", text::count(*count)));
    told.collect::<Vec<_>>().join(", ")
}
