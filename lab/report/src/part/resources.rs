//! 7: what processes and machine used, and at which stage the users stand.

use maud::{Markup, html};
use turnstile_result::{Point, Process, Run};
use turnstile_stats::units::Bytes;

use super::{
    limits,
    stack::{StackSlice, stack},
};
use crate::{
    chart::{AxisScale, Chart, ChartSeries, Dot, Form, Unit},
    curves::{self, is_usable, shown},
    text,
};

pub(super) fn body(run: &Run) -> Option<Markup> {
    let has_processes = run
        .points
        .iter()
        .any(|point| !point.resources.processes.is_empty());
    let stages = run.points.iter().any(|point| standing(point).is_some());
    (has_processes || stages || run.bottleneck.is_some()).then(|| html! {
        @if let Some(found) = &run.bottleneck { (limits::body(found)) }
        @for point in shown(run) {
            @if let Some(slices) = standing(point) {
                (stack(&format!("Where a request spends its time: {}", text::point(point, &run.points)), &slices))
            }
        }
        @if has_processes && run.points.len() > 1 { div.charts { (busy(run).markup("busy")) } }
        (demands(run))
        @if has_processes { (processes(run)) (machine(run)) }
    })
}

/// The parts of the mean response; by Little's law also of the users who wait.
fn standing(point: &Point) -> Option<Vec<StackSlice>> {
    let split = &point.split;
    let parts = [
        ("behind earlier requests", split.backlog_ns),
        ("late generator", split.lag_ns),
        ("sending", split.sending_ns),
        ("network and server", split.answering_ns),
        ("reading the answer", split.reading_ns),
    ];
    let all: f64 = parts.iter().map(|(_, nanos)| nanos).sum();
    (all > 0.0).then(|| {
        let slices = parts.into_iter().map(|(name, nanos)| StackSlice {
            name: name.to_owned(),
            share: nanos / all,
            told: text::time(nanos),
        });
        slices.collect()
    })
}

/// Processors that each role uses against the answers.
fn busy(run: &Run) -> Chart {
    let mut roles: Vec<&str> = Vec::new();
    for process in run
        .points
        .iter()
        .flat_map(|point| &point.resources.processes)
    {
        if !roles.contains(&process.role.as_str()) {
            roles.push(&process.role);
        }
    }
    let series = roles.iter().enumerate().map(|(colour, role)| {
        let mut dots: Vec<Dot> = Vec::new();
        for point in &run.points {
            let of = point
                .resources
                .processes
                .iter()
                .filter(|process| process.role == *role);
            let used: f64 = of.map(|process| process.user + process.system).sum();
            dots.push(Dot {
                is_invalid: !is_usable(point),
                ..Dot::at(point.throughput, used)
            });
        }
        dots.sort_by(|a, b| a.x.total_cmp(&b.x));
        ChartSeries::new(*role, colour, Form::Dots, dots)
    });
    let series: Vec<ChartSeries> = series.collect();
    let heights = series
        .iter()
        .flat_map(|series| &series.dots)
        .map(|dot| dot.y);
    Chart {
        title: "Processors in use".to_owned(),
        about: "Processors that each process kept busy, against the answers a second. Through a straight line goes what a request costs.".to_owned(),
        x: AxisScale::from_zero("answers a second", Unit::Number, run.points.iter().map(|point| point.throughput)),
        y: AxisScale::from_zero("processors in use", Unit::Number, heights),
        series,
        marks: Vec::new(),
    }
}

/// What a request asks of each resource, and so what that allows.
fn demands(run: &Run) -> Markup {
    let curves = curves::of(run);
    let rows = || {
        curves
            .iter()
            .filter_map(|curve| Some((curve, curve.found?)))
            .flat_map(|(curve, found)| {
                found
                    .demands
                    .iter()
                    .map(move |demand| (curve.name.as_str(), demand))
            })
    };
    if rows().next().is_none() {
        return html! {};
    }
    html! {
        div.wide { table {
            caption { "What one request asks of each resource. The one that allows the least is the bottleneck, if nothing that cannot be seen here allows less." }
            thead { tr { th { "" } th { "resource" } th { "busy for one request" } th { "there are" } th { "so at most" } } }
            tbody { @for (curve, demand) in rows() { tr {
                td { (curve) } td { (demand.resource) }
                td.n { (text::interval(&demand.busy_ns, text::time)) }
                td.n { (text::plain(demand.servers)) }
                td.n { (demand.capacity.map_or_else(|| "-".to_owned(), |one| text::interval(&one, text::per_second))) }
            } } }
        } }
    }
}

fn processes(run: &Run) -> Markup {
    let bytes = |rate: Option<f64>| {
        rate.map_or_else(
            || "-".to_owned(),
            |rate| format!("{}/s", Bytes(whole(rate))),
        )
    };
    let row = |name: &str, process: &Process| {
        html! { tr {
            td { (name) } td { (process.role) }
            td.n { (text::plain(process.user)) } td.n { (text::plain(process.system)) }
            td.n { (process.run_delay.map_or_else(|| "-".to_owned(), text::share)) }
            td.n { (text::time(process.cpu_per_answer_ns)) }
            td.n { (Bytes(process.memory_bytes)) } td.n { (process.threads) }
            td.n { (bytes(process.disk_written)) } td.n { (bytes(process.disk_read)) }
        } }
    };
    let points = curves::detailed(run);
    html! {
        div.wide { table {
            caption { "Processes in the window of each point. User and system are processors: 2 is two of them busy all the time. Run delay is time in which a thread could have run, but another one did." }
            thead { tr { th { "load" } th { "process" } th { "user" } th { "system" } th { "run delay" } th { "CPU of an answer" } th { "memory" } th { "threads" } th { "written" } th { "read" } } }
            tbody { @for point in points { @for process in &point.resources.processes {
                (row(&text::point(point, &run.points), process))
            } } }
        } }
    }
}

fn machine(run: &Run) -> Markup {
    let points = curves::detailed(run);
    let share = |of: Option<f64>| of.map_or_else(|| "-".to_owned(), text::share);
    html! {
        details { summary { "The machine meanwhile" } div.wide { table {
            thead { tr { th { "load" } th { "processors busy" } th { "processors that others had" } th { "stolen by the host" } th { "waited for CPU" } th { "for disk" } th { "for memory" } th { "disk busy" } th { "network" } } }
            tbody { @for point in points { @let of = &point.resources; tr {
                td { (text::point(point, &run.points)) }
                td.n { (share(of.busy)) }
                td.n { (of.others.map_or_else(|| "-".to_owned(), text::plain)) }
                td.n { (share(of.steal)) }
                td.n { (share(of.pressure.map(|pressure| pressure.cpu.some))) }
                td.n { (share(of.pressure.map(|pressure| pressure.io.some))) }
                td.n { (share(of.pressure.map(|pressure| pressure.memory.some))) }
                td.n { (share(of.disk_busy)) }
                td.n { (of.network_bytes.map_or_else(|| "-".to_owned(), |rate| format!("{}/s", Bytes(whole(rate))))) }
            } } }
        } } }
    }
}

/// A rate of bytes without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate of bytes is positive, and far below 2^64"
)]
const fn whole(rate: f64) -> u64 {
    rate as u64
}
