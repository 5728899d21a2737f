//! A page about an ancestor's experiment that was made again.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use turnstile_reproduce::{CellUnit, Fate, ReproducedFigure, Reproduction, Row, Session, Table};

use crate::{
    chart::{AxisScale, Chart, ChartSeries, Dot, Form, Unit},
    page::{POLICY, STYLE},
    text,
};

/// Nanoseconds in a second: charts have times in those.
const NANOS: f64 = 1e9;

pub(crate) fn page(all: &[Reproduction], session: &Session) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "The originals' experiments again" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.kicker { "Turnstile lab" }
                    h1 { "The originals' experiments again" }
                    p.meta { (session.how(session.took_s)) }
                    pre.wrapped { (session.command) }
                }
                nav aria-label="Experiments" { ol {
                    @for one in all { li { a href={ "#" (one.experiment) } { (one.experiment) } } }
                } }
                main {
                    (verdicts(all))
                    @for one in all { (experiment(one)) }
                }
            }
        }
    }
}

/// All conclusions of all experiments, in a word each.
fn verdicts(all: &[Reproduction]) -> Markup {
    let count = |fate| all.iter().map(|one| one.count(fate)).sum::<usize>();
    html! {
        section id="conclusions" {
            h2 { "What became of their conclusions" }
            p {
                (count(Fate::Confirmed)) " confirmed, " (count(Fate::Refuted)) " refuted, "
                (count(Fate::NotTestable)) " not testable here."
            }
            div.wide { table {
                thead { tr { th { "conclusion" } th { "here" } th { "experiment" } } }
                tbody { @for one in all { @for conclusion in &one.conclusions { tr.(class(conclusion.fate)) {
                    td { (&conclusion.claim) } td.n { (conclusion.fate.name()) }
                    td { a href={ "#" (one.experiment) } { (one.experiment) } }
                } } } }
            } }
        }
    }
}

fn experiment(one: &Reproduction) -> Markup {
    html! {
        section id=(one.experiment) {
            h2 { (one.experiment.title()) }
            p { (one.provenance) }
            @if !one.notices.is_empty() { ul.said { @for notice in &one.notices { li { (notice) } } } }
            @if one.left_out() > 0 { p { "Invalid figures are shown hollow and left out of every conclusion: "
                @for (number, column) in one.left_out.iter().enumerate() {
                    @if number > 0 { ", " } (column.invalid) " of " (column.figures) " of " (&column.column)
                } "." } }
            @if !one.failed.is_empty() { ul.said { @for failed in &one.failed { li { strong { "not measured: " } (failed) } } } }
            h3 { "Its conclusions" }
            div.wide { table {
                thead { tr { th { "conclusion" } th { "here" } th { "why" } } }
                tbody { @for conclusion in &one.conclusions { tr.(class(conclusion.fate)) {
                    td { (&conclusion.claim) } td.n { (conclusion.fate.name()) } td { (conclusion.why) }
                } } }
            } }
            div.charts {
                @for (number, table) in one.tables.iter().enumerate() {
                    @for (place, series) in names(table).into_iter().enumerate() {
                        (chart(one, table, series).markup(&format!("{}-{number}-{place}", one.experiment)))
                    }
                }
            }
            @for table in &one.tables { (figures(one, table)) }
        }
    }
}

const fn class(fate: Fate) -> &'static str {
    match fate {
        Fate::Confirmed => "holds",
        Fate::Refuted => "fails",
        Fate::NotTestable => "untested",
    }
}

/// The series of a table, in order.
fn names(table: &Table) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in &table.rows {
        if !names.contains(&row.series.as_str()) {
            names.push(&row.series);
        }
    }
    names
}

fn chart(one: &Reproduction, table: &Table, name: &str) -> Chart {
    let scale = match table.unit {
        CellUnit::PerSecond | CellUnit::Percent => 1.0,
        CellUnit::Seconds => NANOS,
    };
    let rows: Vec<&Row> = table.rows.iter().filter(|row| row.series == name).collect();
    let theirs = rows.iter().filter_map(|row| {
        let range = row.published_range;
        Some(Dot {
            range: range.map(|(low, high)| (low * scale, high * scale)),
            ..Dot::at(row.x, row.published? * scale)
        })
    });
    let theirs: Vec<Dot> = theirs.collect();
    let mut series = Vec::new();
    if !theirs.is_empty() {
        series.push(ChartSeries::new("published", 1, Form::Marked, theirs));
    }
    for (number, column) in one.columns.iter().enumerate() {
        let dots: Vec<Dot> = rows
            .iter()
            .filter_map(|row| Some(dot(row.x, &row.ours[number]?, scale)))
            .collect();
        if !dots.is_empty() {
            // The second colour is theirs.
            let colour = if number == 0 { 0 } else { number + 1 };
            series.push(ChartSeries::new(column.clone(), colour, Form::Marked, dots));
        }
    }
    let heights: Vec<f64> = series
        .iter()
        .flat_map(|series| &series.dots)
        .flat_map(|dot| {
            let (low, high) = dot.range.unwrap_or((dot.y, dot.y));
            [low, dot.y, high]
        })
        .filter(|height| *height > 0.0)
        .collect();
    let (up, unit) = match table.unit {
        CellUnit::PerSecond => ("a second", Unit::Number),
        CellUnit::Seconds => ("time", Unit::Time),
        CellUnit::Percent => ("per cent of one processor", Unit::Number),
    };
    Chart {
        title: format!("{}: {name}", table.title),
        about: "What was published and what was measured here.".to_owned(),
        x: across(table, &rows),
        y: AxisScale::log(up, unit, heights.into_iter()),
        series,
        marks: Vec::new(),
    }
}

fn dot(x: f64, cell: &ReproducedFigure, scale: f64) -> Dot {
    Dot {
        x,
        y: cell.value * scale,
        range: cell.range.map(|(low, high)| (low * scale, high * scale)),
        is_invalid: !cell.is_usable,
    }
}

/// Places that are no numbers are told by their names.
fn across(table: &Table, rows: &[&Row]) -> AxisScale {
    let is_named = rows.iter().all(|row| row.name.parse::<f64>().is_err());
    let places = rows.iter().map(|row| row.x);
    if is_named || rows.len() < 4 {
        let most = places.fold(1.0, f64::max) + 0.5;
        let ticks = rows.iter().map(|row| (row.x, row.name.clone())).collect();
        return AxisScale::with_ticks(&table.across, 0.0, most, ticks);
    }
    let least = places
        .clone()
        .filter(|place| *place > 0.0)
        .fold(f64::INFINITY, f64::min);
    let most = places.clone().fold(0.0, f64::max);
    if most / least > 20.0 {
        return AxisScale::log(&table.across, Unit::Number, places);
    }
    AxisScale::from_zero(&table.across, Unit::Number, places)
}

fn figures(one: &Reproduction, table: &Table) -> Markup {
    let cell = |cell: &ReproducedFigure| {
        let mut shown = table.unit.shown(cell.value);
        if let Some((low, high)) = cell.range {
            shown += &format!(" ({} to {})", table.unit.shown(low), table.unit.shown(high));
        }
        shown
    };
    html! {
        details { summary { (table.title) ", point by point" } div.wide { table {
            thead { tr {
                th { "" } th { (table.across) } th { "published" }
                @for column in &one.columns { th { (column) } th { "ours / theirs" } }
            } }
            tbody { @for row in &table.rows { tr {
                td { (row.series) } td.n { (row.name) }
                td.n { (row.theirs(table.unit)) }
                @for (number, ours) in row.ours.iter().enumerate() {
                    td.n { @if let Some(ours) = ours { (cell(ours)) @if !ours.is_usable { " (invalid)" } } @else { "-" } }
                    td.n { (row.ratio(number).map_or_else(|| "-".to_owned(), text::plain)) }
                }
            } } }
        } } }
    }
}
