//! 3: the hockey stick: the tail against what is carried.

use maud::{Markup, html};
use turnstile_result::{Distribution, Point, Run};
use turnstile_stats::units::to_float;

use crate::{
    chart::{AxisScale, Chart, ChartAnnotation, ChartSeries, Dot, Form, Unit},
    curves::{self, Axis, DrawnCurve, is_usable},
    text,
};

pub(super) fn body(run: &Run) -> Option<Markup> {
    let mut curves = curves::of(run);
    curves.retain(DrawnCurve::has_several_loads);
    if curves.iter().any(|curve| curve.axis == Axis::Rate) {
        curves.retain(|curve| curve.axis == Axis::Rate);
    }
    let is_open = curves.first()?.axis == Axis::Rate;
    let series = series(&curves, is_open);
    let is_drawn = series.iter().any(|series| series.dots.len() > 1);
    is_drawn.then(|| {
        html! {
            div.charts { (chart(run, series).markup("stick-p99")) }
            p { (text::coded(why(is_open))) }
        }
    })
}

const fn why(is_open: bool) -> &'static str {
    if is_open {
        "Response counts from the instant at which a request was due: this is what the \
         sender of it feels. Service counts from when it was sent. Where both part, requests had to wait \
         before they could be sent; a tool that starts its clock at the send would not see it."
    } else {
        "A closed loop: past the knee more users do not bring more answers, so points pile up at \
         the right while the tail grows. What a rate of arrivals would feel, `-r` measures."
    }
}

fn series(curves: &[DrawnCurve<'_>], is_open: bool) -> Vec<ChartSeries> {
    let dots = |curve: &DrawnCurve<'_>, of: fn(&Point) -> &Distribution| -> Vec<Dot> {
        let dots = curve.points.iter().filter_map(|point| {
            Some(Dot {
                x: point.throughput,
                y: to_float(of(point).at(0.99)?),
                range: None,
                is_invalid: !is_usable(point),
            })
        });
        dots.collect()
    };
    let mut series = Vec::new();
    for (number, curve) in curves.iter().enumerate() {
        let colour = if curves.len() == 1 { 1 } else { number };
        let response = dots(curve, |point| &point.times.response);
        series.push(ChartSeries::new(
            curve.legend("response p99"),
            colour,
            // A line through repeats would go to and fro.
            if curve.has_repeats() {
                Form::Dots
            } else {
                Form::Marked
            },
            response,
        ));
        if is_open && !curve.has_repeats() {
            let colour = if curves.len() == 1 { 0 } else { number };
            let service = dots(curve, |point| &point.times.service);
            series.push(ChartSeries::new(
                curve.legend("service p99"),
                colour,
                Form::Dashed,
                service,
            ));
        }
    }
    series
}

fn chart(run: &Run, series: Vec<ChartSeries>) -> Chart {
    let dots = || series.iter().flat_map(|series| &series.dots);
    let (x, y) = (
        AxisScale::from_zero("answers a second", Unit::Number, dots().map(|dot| dot.x)),
        AxisScale::log("p99", Unit::Time, dots().map(|dot| dot.y)),
    );
    let capacity = run.capacity.as_ref().and_then(|capacity| capacity.rate);
    let marks = capacity.map(|rate| ChartAnnotation::Strip {
        from: rate.low,
        to: rate.high,
        label: "the objectives end here".to_owned(),
    });
    Chart {
        title: "The slowest in a hundred".to_owned(),
        about: "The 99th percentile of the response against the answers a second.".to_owned(),
        x,
        y,
        series,
        marks: marks.into_iter().collect(),
    }
}
