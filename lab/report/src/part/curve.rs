//! 2: throughput and response against load, with what bounds them.

use maud::{Markup, html};
use turnstile_result::{Point, Run};

use crate::{
    chart::{AxisScale, Chart, ChartAnnotation, ChartSeries, Dot, Form, Unit},
    curves::{self, Axis, DrawnCurve, is_usable, place},
    rows, text,
};

/// How many points a bound is drawn through.
const STEPS: u32 = 60;

pub(super) fn body(run: &Run) -> Option<Markup> {
    let curves = curves::of(run);
    let drawn = |axis: Axis| -> Vec<&DrawnCurve<'_>> {
        let of = curves.iter().filter(|curve| curve.axis == axis);
        of.filter(|curve| curve.has_several_loads()).collect()
    };
    let both = [drawn(Axis::Users), drawn(Axis::Rate)];
    if both.iter().all(Vec::is_empty) {
        return (run.points.len() > 1).then(|| table(run));
    }
    Some(html! {
        div.charts { @for curves in both.iter().filter(|curves| !curves.is_empty()) {
            @let axis = if curves[0].axis == Axis::Users { "users" } else { "rate" };
            (throughput(curves).markup(&format!("throughput-{axis}")))
            (response(curves).markup(&format!("response-{axis}")))
        } }
        (explained(&curves))
        (table(run))
    })
}

fn dots(
    points: &[&Point],
    figure: impl Fn(&Point) -> Option<(f64, Option<(f64, f64)>)>,
) -> Vec<Dot> {
    let dots = points.iter().filter_map(|point| {
        let (y, range) = figure(point)?;
        Some(Dot {
            x: place(point),
            y,
            range,
            is_invalid: !is_usable(point),
        })
    });
    dots.collect()
}

fn across(curves: &[&DrawnCurve<'_>]) -> AxisScale {
    let places = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| place(point)));
    let (least, most) = places
        .clone()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), place| {
            (least.min(place), most.max(place))
        });
    let name = curves[0].across();
    // Ladders that double crowd at the left of a plain axis.
    if least > 0.0 && most / least >= 20.0 {
        return AxisScale::log(name, Unit::Number, places);
    }
    AxisScale::from_zero(name, Unit::Number, places)
}

fn throughput(curves: &[&DrawnCurve<'_>]) -> Chart {
    let x = across(curves);
    let mut series = Vec::new();
    let mut marks = Vec::new();
    for (colour, curve) in curves.iter().enumerate() {
        let found = dots(&curve.points, |point| {
            let range = point
                .throughput_interval
                .map(|interval| (interval.low, interval.high));
            Some((point.throughput, range))
        });
        series.push(ChartSeries::new(
            curve.legend("answered"),
            colour,
            Form::Marked,
            found,
        ));
        let bound = bounds(curve, &x);
        if !bound.is_empty() {
            series.push(ChartSeries::new(
                curve.legend("no more is possible"),
                colour,
                Form::Dashed,
                bound,
            ));
        }
        if let (Some(found), true) = (curve.found, curves.len() == 1) {
            marks.extend(found.knee.map(|knee| ChartAnnotation::Upright {
                x: knee.estimate,
                label: format!("knee {}", text::plain(knee.estimate)),
            }));
        }
    }
    let measured = curves.iter().flat_map(|curve| &curve.points);
    let highest = measured.map(|point| {
        point
            .throughput_interval
            .map_or(point.throughput, |interval| interval.high)
    });
    let most = highest.fold(0.0, f64::max) * 1.05;
    Chart {
        title: "Answers a second".to_owned(),
        about: "How many requests a second were answered, against how many asked.".to_owned(),
        y: AxisScale::from_zero("answers a second", Unit::Number, std::iter::once(most)),
        x,
        series,
        marks,
    }
}

/// What a lone user's response and the capacity allow; of a rate, what is offered.
fn bounds(curve: &DrawnCurve<'_>, x: &AxisScale) -> Vec<Dot> {
    let bound = |users: f64| -> Option<f64> {
        match (curve.axis, curve.found) {
            (Axis::Rate, _) => Some(users),
            (Axis::Users, Some(found)) => {
                let (lone, capacity) = (found.lone_ns?.estimate, found.capacity?.estimate);
                Some((users / (lone / 1e9)).min(capacity))
            }
            (Axis::Users, None) => None,
        }
    };
    let places = (0..=STEPS).map(|step| x.high() * f64::from(step) / f64::from(STEPS));
    let knee = curve
        .found
        .and_then(|found| found.knee)
        .map(|knee| knee.estimate);
    let mut places: Vec<f64> = places.chain(knee).collect();
    places.sort_by(f64::total_cmp);
    places
        .into_iter()
        .filter_map(|users| Some(Dot::at(users, bound(users)?)))
        .collect()
}

/// Of one curve mean, median and p99; of several p99 alone.
fn response(curves: &[&DrawnCurve<'_>]) -> Chart {
    let mut series = Vec::new();
    if let [curve] = curves {
        let mean = dots(&curve.points, |point| {
            let range = point
                .response_interval
                .map(|interval| (interval.low, interval.high));
            Some((point.times.response.mean_ns, range))
        });
        let p50 = dots(&curve.points, |point| {
            Some((to_float(point.times.response.at(0.5)?), None))
        });
        series.push(ChartSeries::new("mean", 0, Form::Marked, mean));
        series.push(ChartSeries::new("p50", 2, Form::Marked, p50));
    }
    for (number, curve) in curves.iter().enumerate() {
        let p99 = dots(&curve.points, |point| {
            let range = point
                .p99_interval
                .map(|interval| (interval.low, interval.high));
            Some((to_float(point.times.response.at(0.99)?), range))
        });
        let colour = if curves.len() == 1 { 1 } else { number };
        series.push(ChartSeries::new(
            curve.legend("p99"),
            colour,
            Form::Marked,
            p99,
        ));
    }
    series.retain(|series| !series.dots.is_empty());
    let heights = series
        .iter()
        .flat_map(|series| &series.dots)
        .map(|dot| dot.y);
    Chart {
        title: if curves.len() == 1 {
            "Response"
        } else {
            "Response, p99"
        }
        .to_owned(),
        about: "How long a request took, against how many asked.".to_owned(),
        x: across(curves),
        y: AxisScale::log("response", Unit::Time, heights),
        marks: Vec::new(),
        series,
    }
}

fn to_float(nanos: u64) -> f64 {
    turnstile_stats::units::to_float(nanos)
}

/// What the rules say of each curve, the headline first.
fn explained(curves: &[DrawnCurve<'_>]) -> Markup {
    let found: Vec<_> = curves
        .iter()
        .filter_map(|curve| Some((curve, curve.found?)))
        .collect();
    if found.is_empty() {
        return html! {};
    }
    let users = |found: Option<f64>| found.map_or_else(|| "-".to_owned(), text::plain);
    html! {
        div.wide { table {
            caption { "Where it bends, by several rules. The knee is capacity x response of a lone user; the others are beside it, for they depend on the loads that were tried." }
            thead { tr { th { "" } th { "capacity" } th { "a lone user waits" } th { "knee" } th { "two segments" } th { "Kneedle" } th { "95 % of the most" } } }
            tbody { @for (curve, found) in &found { tr {
                td { @if curve.name.is_empty() { "all points" } @else { (curve.name) } }
                td.n { (found.capacity.map_or_else(|| "-".to_owned(), |one| text::interval(&one, text::per_second))) }
                td.n { (found.lone_ns.map_or_else(|| "-".to_owned(), |one| text::interval(&one, |nanos| text::time(nanos.max(0.0))))) }
                td.n { (found.knee.map_or_else(|| "-".to_owned(), |one| text::interval(&one, |users| curve.load(users)))) }
                td.n { (users(found.other_rules.two_segments)) }
                td.n { (users(found.other_rules.kneedle)) }
                td.n { (users(found.other_rules.share_of_most)) }
            } } }
        } }
        @for (curve, found) in &found { p { @if !curve.name.is_empty() { (curve.name) ": " } "The ladder ended because " (found.stopped) "." } }
    }
}

fn table(run: &Run) -> Markup {
    let at = |point: &Point, quantile| {
        point
            .times
            .response
            .at(quantile)
            .map_or_else(|| "-".to_owned(), text::nanos)
    };
    html! {
        div.wide { table {
            caption { "All points, in the order in which they were measured. Little's law says found over expected users: 1 when the clock misses nothing." }
            thead { tr { th { "load" } th { "answers" } th { "\u{b1} 95 %" } th { "mean" } th { "p50" } th { "p99" } th { "p99.9" } th { "little" } th { "steady" } th { "lag p99" } th { "verdict" } } }
            tbody { @for point in &run.points { tr.hollow[!is_usable(point)] {
                td { (text::point(point, &run.points)) }
                td.n { (text::per_second(point.throughput)) }
                td.n { (point.throughput_interval.map_or_else(|| "-".to_owned(), |one| text::share(one.relative()))) }
                td.n { (text::time(point.times.response.mean_ns)) }
                td.n { (at(point, 0.5)) } td.n { (at(point, 0.99)) } td.n { (at(point, 0.999)) }
                td.n { (rows::little(point)) }
                td.n { @if point.steady.steady { "from " (text::seconds(point.warm_up_s)) } @else { "no" } }
                td.n { (point.times.lag.at(0.99).map_or_else(|| "-".to_owned(), text::nanos)) }
                td { (text::verdict(point.verdict)) }
            } } }
        } }
    }
}
