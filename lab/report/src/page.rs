//! The page: one file, which asks nobody for anything.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use turnstile_result::Run;

use crate::{part, summary::Headline, text};

pub(crate) const STYLE: &str = include_str!("style.css");

/// Nothing may be loaded from anywhere, should a text ever contain what looks like it.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// How large a page may be with the figures in it: what a mail takes, and a phone on its way loads.
const BYTES_MAX: usize = 290_000;

pub(crate) fn page(run: &Run) -> String {
    let empty = shell(run, &html! {}).into_string();
    let room = BYTES_MAX.saturating_sub(empty.len());
    shell(run, &figures(run, room)).into_string()
}

fn shell(run: &Run, figures: &Markup) -> Markup {
    let title = format!("{} {}", run.asked.command, run.asked.workload);
    let parts = part::all(run);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Lab report: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#verdict" { "To the verdict" }
                header {
                    p.kicker { "Turnstile lab, " (run.lab) }
                    h1 { (heading(run)) }
                    p.meta { (began(run)) }
                }
                nav aria-label="Parts" { ol {
                    @for part in &parts { li { a.absent[part.is_absent] href={ "#" (part.id) } { (part.short) } } }
                } }
                main {
                    @for (number, part) in (1..).zip(&parts) {
                        section id=(part.id) aria-labelledby={ (part.id) "-h" } {
                            h2 id={ (part.id) "-h" } { span.number { (number) } " " (part.title) }
                            (part.body)
                        }
                    }
                }
                footer { p { "Figures within 95 % intervals, where one is given. The form of the figures: schema " (run.schema) "." } }
                (figures)
            }
        }
    }
}

/// What was done to what, in a line.
fn heading(run: &Run) -> String {
    let what = match run.asked.command.as_str() {
        "sweep" => "swept over loads",
        "capacity" => "searched for its capacity",
        "compare" => "compared",
        "reproduce" => "as its ancestor was measured",
        _ => "under load",
    };
    let workload = &run.asked.workload;
    let mut name = workload.clone();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    match run.asked.settings.get("mix") {
        Some(mix) => format!("{name} ({mix}) {what}"),
        None => format!("{name} {what}"),
    }
}

fn began(run: &Run) -> Markup {
    let began = run.began.replace('T', " ").replace('Z', " UTC");
    let points = run.points.len();
    let points = if points == 1 {
        "one point".to_owned()
    } else {
        format!("{points} points")
    };
    html! { (began) ", " (text::seconds(run.took_s)) ", " (points) ", " (Headline::of(run).target) }
}

/// The figures themselves, whole, or without what the charts show, or as a table: what there is room
/// for. No text in them can end the element early.
fn figures(run: &Run, room: usize) -> Markup {
    let held = |run: &Run| run.to_json().replace('<', "\\u003c");
    let fits = |json: &String| json.len() <= room;
    let json = Some(held(run))
        .filter(fits)
        .or_else(|| Some(held(&lean(run))).filter(fits));
    let table = crate::csv(run).replace('<', "");
    html! {
        @if let Some(json) = json {
            script type="application/json" id="run" { (PreEscaped(json)) }
        } @else if table.len() <= room {
            script type="text/csv" id="points" { (PreEscaped(table)) }
        }
    }
}

/// Without what is only there to be drawn.
fn lean(run: &Run) -> Run {
    let mut lean = run.clone();
    for point in &mut lean.points {
        let times = &mut point.times;
        let all = [
            &mut times.response,
            &mut times.service,
            &mut times.lag,
            &mut times.wait,
        ];
        let operations = point
            .operations
            .iter_mut()
            .map(|operation| &mut operation.response);
        for distribution in all.into_iter().chain(operations).chain(&mut point.censored) {
            distribution.buckets.clear();
        }
        for whole in &mut point.wholes {
            whole.response.buckets.clear();
            whole.service.buckets.clear();
        }
        point.bins.answered.clear();
        point.bins.response_ns.clear();
        point.bins.failed.clear();
        for process in &mut point.resources.processes {
            process.busy.clear();
        }
    }
    lean
}
