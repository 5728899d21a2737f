//! 6: the run from its start, with what was cut off as warm-up.

use maud::{Markup, html};
use turnstile_result::{Bins, Point, Run};
use turnstile_stats::units::to_float;

use crate::{
    chart::{AxisScale, Chart, ChartAnnotation, ChartSeries, Dot, Form, Unit},
    curves::shown,
    text,
};

/// The most pieces that are drawn; of a longer run, several become one.
const PIECES_MAX: usize = 130;

/// Several bins as one.
struct Piece {
    at_s: f64,
    rate: f64,
    response_ns: f64,
    failed: f64,
}

pub(super) fn body(run: &Run) -> Option<Markup> {
    let points: Vec<&Point> = shown(run)
        .into_iter()
        .filter(|point| point.bins.answered.len() > 1)
        .collect();
    let last = *points.last()?;
    Some(html! {
        @for (number, point) in points.iter().enumerate() {
            details open[std::ptr::eq(*point, last)] {
                summary { (text::point(point, &run.points)) }
                div.charts {
                    @let pieces = pieces(&point.bins);
                    (rates(point, &pieces).markup(&format!("rates-{number}")))
                    (responses(point, &pieces).markup(&format!("responses-{number}")))
                }
                p { (text::sentence(&point.steady.why)) }
            }
        }
    })
}

fn pieces(bins: &Bins) -> Vec<Piece> {
    let width_s = to_float(bins.width_ns) / 1e9;
    let together = bins.answered.len().div_ceil(PIECES_MAX).max(1);
    let chunks = bins.answered.chunks(together).enumerate();
    let pieces = chunks.map(|(number, answered)| {
        let from = number * together;
        let within = |of: &[u64]| -> Vec<f64> {
            of.iter()
                .skip(from)
                .take(answered.len())
                .map(|one| to_float(*one))
                .collect()
        };
        let all: f64 = within(&bins.answered).iter().sum();
        let waited = within(&bins.answered)
            .into_iter()
            .zip(within(&bins.response_ns));
        let waited: f64 = waited.map(|(answered, mean)| answered * mean).sum();
        let length_s = width_s * places(answered.len());
        Piece {
            at_s: width_s * places(from) + length_s / 2.0,
            rate: all / length_s,
            response_ns: if all > 0.0 { waited / all } else { 0.0 },
            failed: within(&bins.failed).iter().sum::<f64>() / length_s,
        }
    });
    pieces.collect()
}

fn places(count: usize) -> f64 {
    to_float(u64::try_from(count).expect("a length has at most 64 bits"))
}

fn along(pieces: &[Piece]) -> AxisScale {
    AxisScale::from_zero(
        "seconds since the start",
        Unit::Number,
        pieces.iter().map(|piece| piece.at_s),
    )
}

fn cut(point: &Point) -> Option<ChartAnnotation> {
    let width_s = to_float(point.bins.width_ns) / 1e9;
    let from = width_s * f64::from(point.steady.from_bin);
    (from > 0.0).then(|| ChartAnnotation::Strip {
        from: 0.0,
        to: from,
        label: "not measured".to_owned(),
    })
}

fn rates(point: &Point, pieces: &[Piece]) -> Chart {
    let dots = |of: fn(&Piece) -> f64| {
        pieces
            .iter()
            .map(|piece| Dot::at(piece.at_s, of(piece)))
            .collect()
    };
    let mut series = vec![ChartSeries::new(
        "answered",
        0,
        Form::Line,
        dots(|piece| piece.rate),
    )];
    if pieces.iter().any(|piece| piece.failed > 0.0) {
        series.push(ChartSeries::new(
            "failed",
            5,
            Form::Bars,
            dots(|piece| piece.failed),
        ));
    }
    Chart {
        title: "Answers a second over time".to_owned(),
        about: "Answers and failures a second since the start of the point.".to_owned(),
        x: along(pieces),
        y: AxisScale::from_zero(
            "answers a second",
            Unit::Number,
            pieces.iter().map(|piece| piece.rate),
        ),
        series,
        marks: cut(point).into_iter().collect(),
    }
}

fn responses(point: &Point, pieces: &[Piece]) -> Chart {
    let answered = pieces.iter().filter(|piece| piece.rate > 0.0);
    let dots: Vec<Dot> = answered
        .map(|piece| Dot::at(piece.at_s, piece.response_ns))
        .collect();
    Chart {
        title: "Mean response over time".to_owned(),
        about: "The mean response of what was answered in each piece of the point.".to_owned(),
        x: along(pieces),
        y: AxisScale::from_zero("mean response", Unit::Time, dots.iter().map(|dot| dot.y)),
        series: vec![ChartSeries::new("mean response", 0, Form::Line, dots)],
        marks: cut(point).into_iter().collect(),
    }
}
