//! 4: the whole distribution, from due and from sent.

use maud::{Markup, html};
use turnstile_result::{Distribution, OfferedLoad, Point, Run};
use turnstile_stats::units::to_float;

use crate::{
    chart::{AxisScale, Chart, ChartSeries, Dot, Form, Unit},
    curves::shown,
    text,
};

/// So many samples must be above what is drawn.
const ABOVE_MIN: u64 = 10;

pub(super) fn body(run: &Run) -> Option<Markup> {
    let points: Vec<&Point> = shown(run)
        .into_iter()
        .filter(|point| point.times.response.count > 0)
        .collect();
    let first = *points.first()?;
    let is_alone = points.len() == 1;
    let is_open = points
        .iter()
        .any(|point| matches!(point.load, OfferedLoad::Open { .. }));
    Some(html! {
        div.charts {
            (spread(run, &points, is_alone).markup("spread"))
            @let busiest = points.last().copied().unwrap_or(first);
            (frequencies(run, busiest).markup("frequencies"))
        }
        p { (text::coded(why(is_open))) }
        @if is_open { (corrected(run, &points)) }
    })
}

const fn why(is_open: bool) -> &'static str {
    if is_open {
        "Why there are two figures: the schedule was fixed before the run. Response counts from \
         when a request was due, also when it could not be sent because the server was still busy \
         with others; service counts from when it was sent. A clock that starts at the send leaves \
         the waiting out, and tells a shorter tail the worse the server is."
    } else {
        "In a closed loop a user who waits asks nothing. A stall delays one request of each user \
         and hides those that would have come meanwhile, so the tail of arrivals at a rate is \
         longer than this one: `-r` measures it."
    }
}

/// How long each share of requests took at most.
fn spread(run: &Run, points: &[&Point], is_alone: bool) -> Chart {
    let mut series = Vec::new();
    for (colour, point) in points.iter().enumerate() {
        let name = if is_alone {
            "response, from due".to_owned()
        } else {
            text::point(point, &run.points)
        };
        series.push(ChartSeries::new(
            name,
            colour,
            Form::Line,
            line(&point.times.response),
        ));
        if is_alone {
            series.push(ChartSeries::new(
                "service, from sent",
                1,
                Form::Dashed,
                line(&point.times.service),
            ));
        }
    }
    series.retain(|series| !series.dots.is_empty());
    let dots = || series.iter().flat_map(|series| &series.dots);
    let deepest = dots().map(|dot| dot.x).fold(1.0, f64::max).ceil();
    let ticks = (0_i32..).map(|nines| (f64::from(nines), nines_of(nines)));
    let ticks = ticks.take_while(|(nines, _)| *nines <= deepest).collect();
    Chart {
        title: "Percentiles of the response".to_owned(),
        about: "How long each share of the requests took at most.".to_owned(),
        x: AxisScale::with_ticks("share of requests that took no longer", 0.0, deepest, ticks),
        y: AxisScale::log("response", Unit::Time, dots().map(|dot| dot.y)),
        series,
        marks: Vec::new(),
    }
}

/// 0, 90 %, 99 %, 99.9 %, ...
fn nines_of(nines: i32) -> String {
    match nines {
        0 => "0 %".to_owned(),
        1 => "90 %".to_owned(),
        nines => {
            let digits = usize::try_from(nines - 2).unwrap_or_default();
            format!("{:.digits$} %", 100.0 - 100.0 * 0.1_f64.powi(nines))
        }
    }
}

/// Up to where ten samples are above.
fn line(distribution: &Distribution) -> Vec<Dot> {
    let mut below = 0;
    let mut dots = Vec::new();
    for &(at, samples) in &distribution.buckets {
        below += samples;
        let above = distribution.count.saturating_sub(below);
        if above < ABOVE_MIN {
            break;
        }
        let nines = (to_float(distribution.count) / to_float(above)).log10();
        dots.push(Dot::at(nines, to_float(at)));
    }
    dots
}

/// How many responses took about so long.
fn frequencies(run: &Run, point: &Point) -> Chart {
    let response = &point.times.response;
    let all = to_float(response.count);
    let dots = response.buckets.iter().map(|&(at, samples)| {
        let width = doublings(to_float(at));
        Dot::at(to_float(at), to_float(samples) / all / width)
    });
    let dots: Vec<Dot> = dots.filter(|dot| dot.y >= 0.002).collect();
    Chart {
        title: format!(
            "How often a response took so long: {}",
            text::point(point, &run.points)
        ),
        about: "The share of the responses, for each doubling of the time.".to_owned(),
        x: AxisScale::log("response", Unit::Time, dots.iter().map(|dot| dot.x)),
        y: AxisScale::from_zero(
            "share for each doubling",
            Unit::Share,
            dots.iter().map(|dot| dot.y),
        ),
        series: vec![ChartSeries::new("responses", 0, Form::Area, dots)],
        marks: Vec::new(),
    }
}

/// How wide the bucket that ends here is, in doublings: eight equally wide ones make one.
fn doublings(end: f64) -> f64 {
    let width = 2_f64.powf((end * 0.999).log2().floor()) / 8.0;
    (end / (end - width).max(width)).log2().max(1e-3)
}

fn corrected(run: &Run, points: &[&Point]) -> Markup {
    let at =
        |of: &Distribution, quantile| of.at(quantile).map_or_else(|| "-".to_owned(), text::nanos);
    html! {
        div.wide { table {
            thead { tr { th { "load" } th { "clock" } th { "mean" } th { "p50" } th { "p90" } th { "p99" } th { "p99.9" } th { "longest" } } }
            tbody { @for point in points { @for (clock, of) in [("from due", &point.times.response), ("from sent", &point.times.service)] { tr {
                td { (text::point(point, &run.points)) } td { (clock) }
                td.n { (text::time(of.mean_ns)) }
                @for quantile in [0.5, 0.9, 0.99, 0.999] { td.n { (at(of, quantile)) } }
                td.n { (text::nanos(of.max_ns)) }
            } } } }
        } }
    }
}
