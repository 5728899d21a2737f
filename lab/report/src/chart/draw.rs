//! A chart as the elements of SVG.

use maud::{Markup, html};
use turnstile_stats::units::count;

use super::{Chart, ChartAnnotation, ChartSeries, Dot, Form};

/// The picture has units of its own: text is about as large as that around it on a phone.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
/// What is left of the figures: the ticks of the upright axis and its name.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

/// With more dots than this a pointer does not meet a single one.
const TOLD_MAX: usize = 40;

/// Where figures are in the picture.
struct Frame<'a>(&'a Chart);

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        LEFT + self.0.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.0.y.place(value) * (HEIGHT - TOP - BOTTOM)
    }

    /// Whether both figures are on their axes.
    fn holds(&self, dot: &Dot) -> bool {
        self.0.x.holds(dot.x) && self.0.y.holds(dot.y)
    }
}

pub(super) fn svg(chart: &Chart, id: &str) -> Markup {
    let frame = Frame(chart);
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    let (title, about) = (format!("{id}-title"), format!("{id}-about"));
    html! {
        svg viewBox=(view) role="img" aria-labelledby={ (title) " " (about) } {
            title id=(title) { (chart.title) }
            desc id=(about) { (chart.described()) }
            (axes(&frame))
            @for mark in &chart.marks { (explained(&frame, mark)) }
            @for series in &chart.series { (drawn(&frame, series)) }
        }
    }
}

fn axes(frame: &Frame<'_>) -> Markup {
    let chart = frame.0;
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let middle = (TOP + bottom) / 2.0;
    let turned = format!("rotate(-90 14 {})", one(middle));
    html! {
        g.axes aria-hidden="true" {
            @for (value, text) in &chart.y.ticks {
                @let y = one(frame.y(*value));
                path.grid d={ "M" (LEFT) " " (y) "H" (right) } {}
                text x=(LEFT - 8.0) y=(y) dy="0.32em" text-anchor="end" { (text) }
            }
            @for (value, text) in &chart.x.ticks {
                @let x = one(frame.x(*value));
                path.tick d={ "M" (x) " " (bottom) "v5" } {}
                text x=(x) y=(bottom + 19.0) text-anchor="middle" { (text) }
            }
            path.base d={ "M" (LEFT) " " (bottom) "H" (right) } {}
            text.name x=((LEFT + right) / 2.0) y=(HEIGHT - 8.0) text-anchor="middle" { (chart.x.label) }
            text.name x="14" y=(one(middle)) transform=(turned) text-anchor="middle" { (chart.y.label) }
        }
    }
}

fn explained(frame: &Frame<'_>, mark: &ChartAnnotation) -> Markup {
    let bottom = HEIGHT - BOTTOM;
    match mark {
        ChartAnnotation::Upright { x, label } => {
            let x = frame.x(*x);
            let (anchor, aside) = if x > WIDTH * 0.7 {
                ("end", -5.0)
            } else {
                ("start", 5.0)
            };
            html! {
                path.rule d={ "M" (one(x)) " " (TOP) "V" (bottom) } {}
                text.note x=(one(x + aside)) y=(bottom - 7.0) text-anchor=(anchor) { (label) }
            }
        }
        ChartAnnotation::Level { y, label } => {
            let y = frame.y(*y);
            html! {
                path.rule d={ "M" (LEFT) " " (one(y)) "H" (WIDTH - RIGHT) } {}
                text.note x=(WIDTH - RIGHT - 4.0) y=(one(y - 5.0)) text-anchor="end" { (label) }
            }
        }
        ChartAnnotation::Strip { from, to, label } => {
            let (from, to) = (frame.x(*from), frame.x(*to));
            let (anchor, at) = if from > WIDTH * 0.55 {
                ("end", to - 4.0)
            } else {
                ("start", from + 4.0)
            };
            html! {
                rect.strip x=(one(from)) y=(TOP) width=(one((to - from).max(1.0))) height=(bottom - TOP) {}
                text.note x=(one(at)) y=(bottom - 7.0) text-anchor=(anchor) { (label) }
            }
        }
    }
}

fn drawn(frame: &Frame<'_>, series: &ChartSeries) -> Markup {
    let colour = format!("s{}", series.colour);
    html! {
        g class=(colour) {
            @match series.form {
                Form::Bars => { (bars(frame, series)) }
                Form::Dots => { (dots(frame, series)) }
                Form::Line => { path.line d=(path(frame, series)) {} }
                Form::Area => { path.band d=(area(frame, series)) {} path.line d=(path(frame, series)) {} }
                Form::Dashed => { path.line.dashed d=(path(frame, series)) {} }
                Form::Marked => {
                    @let middle = middle(series);
                    (band(frame, &middle))
                    path.line d=(path(frame, &middle)) {}
                    (dots(frame, series))
                }
            }
        }
    }
}

/// Where several sound points are at one place, their mean: a line through each of them would only go up
/// and down there. Their ranges together are its range.
fn middle(series: &ChartSeries) -> ChartSeries {
    let sound: Vec<&Dot> = series.dots.iter().filter(|dot| !dot.is_invalid).collect();
    let here = |a: &&Dot, b: &&Dot| a.x.total_cmp(&b.x).is_eq();
    let dots = sound.chunk_by(here).map(|equal| {
        let ranges = equal.iter().map(|dot| dot.range);
        let whole = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        Dot {
            x: equal[0].x,
            y: equal.iter().map(|dot| dot.y).sum::<f64>() / count(equal.len()),
            range: ranges.reduce(|a, b| Some(whole(a?, b?))).flatten(),
            is_invalid: false,
        }
    });
    ChartSeries {
        dots: dots.collect(),
        ..series.clone()
    }
}

/// Through all that may be used and is on the axes.
fn path(frame: &Frame<'_>, series: &ChartSeries) -> String {
    let sound = series.dots.iter().filter(|dot| !dot.is_invalid);
    let places = sound
        .filter(|dot| frame.holds(dot))
        .map(|dot| format!("{} {}", one(frame.x(dot.x)), one(frame.y(dot.y))));
    let places: Vec<String> = places.collect();
    format!("M{}", places.join("L"))
}

/// What is below the line.
fn area(frame: &Frame<'_>, series: &ChartSeries) -> String {
    let (Some(first), Some(last)) = (series.dots.first(), series.dots.last()) else {
        return String::new();
    };
    let (from, to, bottom) = (frame.x(first.x), frame.x(last.x), HEIGHT - BOTTOM);
    let line = path(frame, series);
    format!("{line}L{} {bottom}L{} {bottom}Z", one(to), one(from))
}

/// Where the truth lies, as far as every point tells.
fn band(frame: &Frame<'_>, series: &ChartSeries) -> Markup {
    let sound = series.dots.iter().filter(|dot| !dot.is_invalid);
    let ends: Vec<(f64, f64, f64)> = sound
        .filter_map(|dot| dot.range.map(|(low, high)| (dot.x, low, high)))
        .collect();
    if ends.len() < 2 {
        return html! {};
    }
    let place = |x: f64, y: f64| format!("{} {}", one(frame.x(x)), one(frame.y(y)));
    let upper = ends.iter().map(|(x, _, high)| place(*x, *high));
    let lower = ends.iter().rev().map(|(x, low, _)| place(*x, *low));
    let corners: Vec<String> = upper.chain(lower).collect();
    html! { path.band d={ "M" (corners.join("L")) "Z" } {} }
}

fn dots(frame: &Frame<'_>, series: &ChartSeries) -> Markup {
    let shown = series.dots.iter().filter(|dot| frame.holds(dot));
    html! {
        @for dot in shown {
            @let (x, y) = (one(frame.x(dot.x)), one(frame.y(dot.y)));
            @if let Some((low, high)) = dot.range {
                path.range d={ "M" (x) " " (one(frame.y(low))) "V" (one(frame.y(high))) } {}
            }
            circle.dot.hollow[dot.is_invalid] cx=(x) cy=(y) r="3.6" {
                @if series.dots.len() <= TOLD_MAX { title { (told(frame.0, series, dot)) } }
            }
        }
    }
}

/// What a pointer over a dot shows.
fn told(chart: &Chart, series: &ChartSeries, dot: &Dot) -> String {
    let invalid = if dot.is_invalid { " (invalid)" } else { "" };
    let (x, y) = (chart.x.shown(dot.x), chart.y.shown(dot.y));
    format!("{}: {y} at {x}{invalid}", series.name)
}

/// Upright bars, as wide as the place between neighbours allows.
fn bars(frame: &Frame<'_>, series: &ChartSeries) -> Markup {
    let places: Vec<f64> = series.dots.iter().map(|dot| frame.x(dot.x)).collect();
    let gaps = places.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let width = (gaps.fold(24.0, f64::min) - 1.0).max(1.5);
    let bottom = HEIGHT - BOTTOM;
    html! {
        @for (dot, x) in series.dots.iter().zip(&places).filter(|(dot, _)| dot.y > 0.0) {
            @let y = frame.y(dot.y);
            rect.bar x=(one(x - width / 2.0)) y=(one(y)) width=(one(width)) height=(one((bottom - y).max(0.5))) {
                title { (told(frame.0, series, dot)) }
            }
        }
    }
}

pub(super) fn swatch(series: &ChartSeries) -> Markup {
    let colour = format!("s{}", series.colour);
    html! {
        svg.swatch.(colour) viewBox="0 0 24 12" aria-hidden="true" {
            @match series.form {
                Form::Bars => { rect.bar x="4" y="1" width="16" height="10" {} }
                Form::Dots => { circle.dot cx="12" cy="6" r="4" {} }
                Form::Line => { path.line d="M0 6H24" {} }
                Form::Area => { rect.band x="2" y="1" width="20" height="10" {} path.line d="M2 2H22" {} }
                Form::Dashed => { path.line.dashed d="M0 6H24" {} }
                Form::Marked => { path.line d="M0 6H24" {} circle.dot cx="12" cy="6" r="4" {} }
            }
        }
    }
}

pub(super) fn hollow_swatch() -> Markup {
    html! {
        svg.swatch viewBox="0 0 24 12" aria-hidden="true" { circle.dot.hollow cx="12" cy="6" r="4" {} }
    }
}

/// A place in the picture with one digit behind the point.
fn one(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
