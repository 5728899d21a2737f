//! 11: the promises of the server that were checked after the load.

use maud::{Markup, html};
use turnstile_result::{Outcome, Run};

use crate::text;

/// A promise over all points.
struct Promise<'a> {
    rule: &'a str,
    held: usize,
    failed: usize,
    untested: usize,
    violations: Vec<(String, &'a str)>,
}

pub(super) fn body(run: &Run) -> Option<Markup> {
    let promises = promises(run);
    (!promises.is_empty()).then(|| html! {
        div.wide { table {
            thead { tr { th { "promise" } th { "outcome" } th { "points" } } }
            tbody { @for promise in &promises { tr.(class(promise)) {
                td { (promise.rule) } td { (outcome(promise)) }
                td.n { (promise.held + promise.failed + promise.untested) }
            } } }
        } }
        @for promise in promises.iter().filter(|promise| !promise.violations.is_empty()) {
            h3 { (promise.rule) }
            ul.failed { @for (point, violation) in &promise.violations { li { (violation) " (" (point) ")" } } }
        }
    })
}

fn promises(run: &Run) -> Vec<Promise<'_>> {
    let mut promises: Vec<Promise<'_>> = Vec::new();
    for point in &run.points {
        for rule in &point.proof {
            let found = promises
                .iter()
                .position(|promise| promise.rule == rule.rule);
            let place = found.unwrap_or_else(|| {
                promises.push(Promise {
                    rule: &rule.rule,
                    held: 0,
                    failed: 0,
                    untested: 0,
                    violations: Vec::new(),
                });
                promises.len() - 1
            });
            let promise = &mut promises[place];
            match rule.outcome {
                Outcome::Holds => promise.held += 1,
                Outcome::Fails => promise.failed += 1,
                Outcome::NotTestable => promise.untested += 1,
            }
            let name = text::point(point, &run.points);
            promise.violations.extend(
                rule.violations
                    .iter()
                    .map(|one| (name.clone(), one.as_str())),
            );
        }
    }
    promises
}

const fn class(promise: &Promise<'_>) -> &'static str {
    match (promise.failed, promise.held) {
        (0, 0) => "untested",
        (0, _) => "holds",
        _ => "fails",
    }
}

fn outcome(promise: &Promise<'_>) -> String {
    match (promise.failed, promise.held, promise.untested) {
        (0, 0, _) => "not testable".to_owned(),
        (0, _, 0) => "holds".to_owned(),
        (0, _, untested) => format!("holds, {untested} not testable"),
        (failed, ..) => format!("fails at {failed}"),
    }
}
