//! A run in a few sentences, for the top of a page, a list of runs and a text.

use turnstile_result::{Bottleneck, Curve, Metric, Outcome, Point, Run, Verdict};
use turnstile_stats::pairs;

use crate::{curves, rows, text};

/// What is said of a run first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// What was driven.
    pub target: String,
    /// Each complete in itself.
    pub sentences: Vec<String>,
}

impl Headline {
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let mut sentences = Vec::new();
        sentences.extend(swept(run));
        sentences.extend(found_capacity(run));
        sentences.extend(compared(run));
        sentences.extend(limited(run));
        if sentences.is_empty() {
            sentences.extend(measured(run));
        }
        for objective in &run.objectives {
            let (asked, found) = (&objective.asked, &objective.found);
            let outcome = text::outcome(objective.outcome);
            sentences.push(format!("Objective {asked}: {outcome}, {found}."));
        }
        sentences.extend(refused(run));
        sentences.extend(proven(run));
        if !run.counts_wholes() {
            let (schema, what) = (run.schema, &run.asked.workload);
            sentences.push(format!(
                "A run of schema {schema} may count requests of {what}, not wholes."
            ));
        }
        Self {
            target: target(run),
            sentences,
        }
    }
}

fn target(run: &Run) -> String {
    let server = run.server.as_ref().map(|server| {
        let (version, durability) = (&server.version, &server.durability);
        format!(
            "server {version}, {}, durability {durability}",
            server.back_end
        )
    });
    let address = &run.asked.target.address;
    server.map_or_else(
        || address.clone(),
        |server| format!("{server}, at {address}"),
    )
}

fn swept(run: &Run) -> Vec<String> {
    let curves = curves::of(run);
    let found: Vec<_> = curves
        .iter()
        .filter_map(|curve| Some((curve, curve.found?)))
        .collect();
    if let [(_, found)] = found.as_slice() {
        return along(found);
    }
    let each = found
        .iter()
        .map(|(curve, found)| match (&found.capacity, &found.knee) {
            (Some(capacity), Some(knee)) => format!(
                "{}: {}, and from {} users on they wait for each other.",
                curve.name,
                text::interval(capacity, text::per_second),
                text::interval(knee, text::plain)
            ),
            (Some(capacity), None) => {
                format!(
                    "{}: {}.",
                    curve.name,
                    text::interval(capacity, text::per_second)
                )
            }
            (None, _) => format!("{}: the curve did not bend; {}.", curve.name, found.stopped),
        });
    each.collect()
}

/// Of a sweep with one curve.
fn along(found: &Curve) -> Vec<String> {
    let mut sentences = Vec::new();
    match &found.capacity {
        Some(capacity) => {
            let rate = text::interval(capacity, text::per_second);
            sentences.push(format!("It can do {rate}."));
        }
        None => sentences.push(format!("The curve did not bend: {}.", found.stopped)),
    }
    if let Some(knee) = &found.knee {
        let users = text::interval(knee, text::plain);
        sentences.push(format!(
            "From {users} users on they wait for each other: more users bring longer responses, \
             not more answers."
        ));
    }
    if let Some(demand) = found.demands.first() {
        let (busy, resource) = (
            text::interval(&demand.busy_ns, text::time),
            &demand.resource,
        );
        sentences.push(format!("A request costs most of {resource}: {busy} of it."));
    }
    sentences
}

fn found_capacity(run: &Run) -> Option<String> {
    let capacity = run.capacity.as_ref()?;
    let objectives = capacity.objectives.join(" and ");
    Some(match &capacity.rate {
        Some(rate) => format!(
            "With {objectives} it carries {}: lower it surely meets them, higher it surely does \
             not.",
            text::interval(rate, text::per_second)
        ),
        None => format!(
            "No rate is known to meet {objectives}: {}.",
            capacity.stopped
        ),
    })
}

fn limited(run: &Run) -> Option<String> {
    let found = run.bottleneck.as_ref()?;
    let (users, named, why) = (found.users, &found.named, &found.why);
    if named == Bottleneck::NOTHING {
        return Some(format!("With {users} users no bottleneck is named: {why}."));
    }
    if !found.is_known() {
        return Some(format!(
            "With {users} users no bottleneck of the server is named, for what limits is {named}: {why}."
        ));
    }
    let confirmed = match found.confirmed {
        Some(true) => ", and a change of it changes the throughput",
        Some(false) => ", but a change of it brings nothing",
        None => "",
    };
    Some(format!(
        "With {users} users the bottleneck is {named}{confirmed}: {why}."
    ))
}

fn compared(run: &Run) -> Vec<String> {
    let Some(comparison) = &run.comparison else {
        return Vec::new();
    };
    let (a, b) = (&comparison.a, &comparison.b);
    let mut sentences = vec![format!("A is {a}, B is {b}; a ratio is B over A.")];
    let verdicts = comparison
        .metrics
        .iter()
        .map(|metric| format!("B against A, {}: {}.", metric.name, verdict(metric)));
    sentences.extend(verdicts);
    if let Some(caution) = comparison.caution() {
        sentences.push(format!("The runs were not interleaved: {caution}."));
    }
    sentences
}

/// What two systems are to each other in one figure.
pub(crate) fn verdict(metric: &Metric) -> String {
    let ratio = text::interval(&metric.ratio, |ratio| format!("{ratio:.3}"));
    match metric.verdict {
        pairs::Verdict::Same => format!("the same, ratio {ratio}"),
        pairs::Verdict::Higher => format!("higher, ratio {ratio}"),
        pairs::Verdict::Lower => format!("lower, ratio {ratio}"),
        pairs::Verdict::CannotTell { more_pairs } => {
            format!("cannot tell, ratio {ratio}; {more_pairs} more pairs would settle it")
        }
    }
}

fn measured(run: &Run) -> Option<String> {
    let point = curves::busiest(run).or_else(|| run.points.first())?;
    let rate = point.throughput_interval.as_ref().map_or_else(
        || text::per_second(point.throughput),
        |interval| text::interval(interval, text::per_second),
    );
    let mean = text::time(point.times.response.mean_ns);
    let tail = point
        .times
        .response
        .at(0.99)
        .map_or_else(String::new, |p99| {
            format!(", and one in a hundred longer than {}", text::nanos(p99))
        });
    let name = text::point(point, &run.points);
    Some(format!(
        "With {name}: {rate} answered, {mean} each on average{tail}."
    ))
}

fn refused(run: &Run) -> Vec<String> {
    let invalid = |is_behind: bool| {
        let points = run.points.iter();
        points
            .filter(move |point| {
                point.verdict == Verdict::Invalid && point.is_behind() == is_behind
            })
            .count()
    };
    let mut sentences = Vec::new();
    match invalid(true) {
        0 => {}
        1 => sentences.push(
            "The server fell behind one rate: that point is drawn hollow and used for the capacity alone."
                .to_owned(),
        ),
        rates => sentences.push(format!(
            "The server fell behind {rates} rates: those points are drawn hollow and used for the capacity \
             alone."
        )),
    }
    match invalid(false) {
        0 => {}
        1 => sentences
            .push("One point is invalid: it is drawn hollow and used for nothing.".to_owned()),
        points => sentences.push(format!(
            "{points} points are invalid: they are drawn hollow and used for nothing."
        )),
    }
    sentences
}

fn proven(run: &Run) -> Option<String> {
    let rules = || run.points.iter().flat_map(|point| &point.proof);
    let are = |outcome| rules().filter(|rule| rule.outcome == outcome).count();
    let (broken, unknown) = (are(Outcome::Fails), are(Outcome::NotTestable));
    let all = rules().count();
    let answers: u64 = run.points.iter().flat_map(answers).sum();
    match (all, broken, unknown) {
        (0, ..) => None,
        (_, 0, 0) => Some(format!(
            "Everything acknowledged is there, and nothing else: {} over {}.",
            text::number_of(all as u64, "check"),
            text::number_of(answers, "request")
        )),
        (_, 0, unknown) => Some(format!("{unknown} of {all} promises could not be checked.")),
        (_, broken, _) => Some(format!("{broken} of {all} promises were broken.")),
    }
}

/// Over the whole run of a point, warm-up included.
fn answers(point: &Point) -> impl Iterator<Item = u64> {
    point
        .operations
        .iter()
        .map(|operation| operation.done + operation.refused.values().sum::<u64>())
}

/// The run as a text for a pull request or a mail.
#[must_use]
pub fn markdown(run: &Run) -> String {
    let headline = Headline::of(run);
    let (command, workload) = (&run.asked.command, &run.asked.workload);
    let verdict = text::verdict(run.verdict);
    let mut text = format!("# Lab {command} {workload}: {verdict}\n\n");
    text += &format!("{}, {}. {}.\n\n", run.began, headline.target, run.machine);
    for sentence in &headline.sentences {
        text += &format!("* {sentence}\n");
    }
    text += &rows::markdown(run);
    text += &format!("\n    {}\n", text::command(&run.asked.line));
    text
}
