//! 1: what came out, in plain words.

use maud::{Markup, html};
use turnstile_result::{Curve, Outcome, Run, Verdict};
use turnstile_stats::Interval;

use crate::{curves, summary::Headline, text};

pub(super) fn body(run: &Run) -> Markup {
    let headline = Headline::of(run);
    html! {
        div.verdict.(class(run.verdict)) {
            p.mark { (mark(run.verdict)) " " span.word { (text::verdict(run.verdict)) } span.code { "exit code " (run.exit_code) } }
            p { (meaning(run)) }
        }
        @let tiles = tiles(run);
        @if !tiles.is_empty() {
            dl.tiles { @for tile in &tiles {
                div { dt { (tile.name) } dd { (tile.value) @if !tile.range.is_empty() { small { (tile.range) } } } }
            } }
        }
        ul.said { @for sentence in &headline.sentences { li { (sentence) } } }
    }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fine => "good",
        Verdict::Missed | Verdict::Unsteady => "warn",
        Verdict::Invalid | Verdict::Violated => "bad",
    }
}

/// A sign beside the colour, for who does not see that.
const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fine => "\u{2713}",
        Verdict::Missed | Verdict::Unsteady => "!",
        Verdict::Invalid | Verdict::Violated => "\u{2717}",
    }
}

fn meaning(run: &Run) -> &'static str {
    match run.verdict {
        Verdict::Fine if run.points.iter().any(|point| !curves::is_usable(point)) => {
            "The result uses valid points only. Some points are not valid; they are listed below."
        }
        Verdict::Fine => "The figures are valid.",
        Verdict::Missed => "The figures are valid, but the server missed an objective.",
        Verdict::Unsteady if run.capacity.is_some() => {
            "The highest rate is not known well: between those that surely meet the objectives and those \
             that surely miss them lies too much."
        }
        Verdict::Unsteady => {
            "The server did not settle within the time that was allowed: a mean of what still \
             changes says little."
        }
        Verdict::Invalid => {
            "Do not use these figures: the load generator or the machine failed, not the server. \
             Part 10 says what failed and what to do."
        }
        Verdict::Violated => {
            "The server broke a promise, so its speed does not matter. Part 11 says which."
        }
    }
}

/// A figure that people ask for first.
struct Tile {
    name: &'static str,
    value: String,
    /// Where the truth lies; empty when nobody knows.
    range: String,
}

impl Tile {
    fn new(
        name: &'static str,
        value: String,
        range: Option<Interval>,
        shown: fn(f64) -> String,
    ) -> Self {
        let range = range.map(|range| format!("{} to {}", shown(range.low), shown(range.high)));
        Self {
            name,
            value,
            range: range.unwrap_or_default(),
        }
    }
}

fn tiles(run: &Run) -> Vec<Tile> {
    let mut tiles = capacities(run);
    tiles.extend(ratios(run));
    if let (Some(point), true) = (curves::asked(run), tiles.is_empty()) {
        let response = &point.times.response;
        let rate = text::per_second(point.throughput);
        tiles.push(Tile::new(
            "throughput",
            rate,
            point.throughput_interval,
            text::per_second,
        ));
        let mean = text::time(response.mean_ns);
        tiles.push(Tile::new(
            "mean response",
            mean,
            point.response_interval,
            text::time,
        ));
        if let Some(p99) = response.at(0.99) {
            tiles.push(Tile::new(
                "p99",
                text::nanos(p99),
                point.p99_interval,
                text::time,
            ));
        }
    }
    let rules = || run.points.iter().flat_map(|point| &point.proof);
    let are = |outcome| rules().filter(|rule| rule.outcome == outcome).count();
    let (kept, unknown) = (are(Outcome::Holds), are(Outcome::NotTestable));
    if rules().next().is_some() {
        let mut of = format!("{kept} of {}", rules().count());
        if unknown > 0 {
            of += &format!(", {unknown} not checked");
        }
        tiles.push(Tile::new("promises kept", of, None, text::plain));
    }
    tiles
}

/// How the two of a comparison differ in what people ask for first.
fn ratios(run: &Run) -> Vec<Tile> {
    const FIRST: [(&str, &str); 3] = [
        ("throughput", "throughput, B over A"),
        ("response mean", "mean response, B over A"),
        ("response p99", "p99, B over A"),
    ];
    let shown = |ratio: f64| format!("{ratio:.3}");
    let metrics = run.comparison.iter().flat_map(|found| &found.metrics);
    let tiles = metrics.filter_map(|metric| {
        let (_, name) = FIRST.into_iter().find(|(of, _)| *of == metric.name)?;
        let ratio = metric.ratio;
        Some(Tile::new(name, shown(ratio.estimate), Some(ratio), shown))
    });
    tiles.collect()
}

/// What sweeps and searches found.
fn capacities(run: &Run) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let curves = curves::of(run);
    let most = |found: &Curve| found.capacity.map_or(0.0, |most| most.estimate);
    let found = curves.iter().filter_map(|curve| curve.found);
    let best = found.max_by(|a, b| most(a).total_cmp(&most(b)));
    if let Some(most) = best.and_then(|found| found.capacity) {
        let rate = text::per_second(most.estimate);
        tiles.push(Tile::new("capacity", rate, Some(most), text::per_second));
    }
    if let Some(knee) = best.and_then(|found| found.knee) {
        let users = format!("{} users", text::plain(knee.estimate));
        tiles.push(Tile::new("knee", users, Some(knee), text::plain));
    }
    if let Some(rate) = run.capacity.as_ref().and_then(|capacity| capacity.rate) {
        let most = text::per_second(rate.estimate);
        tiles.push(Tile::new(
            "within the objectives",
            most,
            Some(rate),
            text::per_second,
        ));
    }
    tiles
}
