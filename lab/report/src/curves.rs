//! The points of a run, sorted into curves.

use turnstile_result::{Curve as Found, OfferedLoad, Point, Run, Verdict};

use crate::text;

/// What grows along a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Users,
    Rate,
}

/// Points that differ in their load alone.
#[derive(Clone, Debug)]
pub(crate) struct DrawnCurve<'a> {
    /// Empty where there is no other.
    pub(crate) name: String,
    pub(crate) axis: Axis,
    /// In increasing order of load.
    pub(crate) points: Vec<&'a Point>,
    /// What a sweep found along it.
    pub(crate) found: Option<&'a Found>,
}

/// Whether a point may enter a fit.
pub(crate) const fn is_usable(point: &Point) -> bool {
    !matches!(point.verdict, Verdict::Invalid | Verdict::Violated)
}

/// Where a point is along its axis.
pub(crate) fn place(point: &Point) -> f64 {
    match point.load {
        OfferedLoad::Closed { users, .. } | OfferedLoad::Count { users, .. } => f64::from(users),
        OfferedLoad::Open { rate, .. } => rate,
    }
}

const fn axis(point: &Point) -> Axis {
    match point.load {
        OfferedLoad::Closed { .. } | OfferedLoad::Count { .. } => Axis::Users,
        OfferedLoad::Open { .. } => Axis::Rate,
    }
}

/// What points of one curve have in common.
#[derive(Clone, PartialEq, Eq)]
struct CurveKey<'a> {
    series: &'a str,
    allowed: Option<String>,
    axis: Axis,
}

fn key(point: &Point) -> CurveKey<'_> {
    CurveKey {
        series: &point.series,
        allowed: point.allowed(),
        axis: axis(point),
    }
}

/// All curves of a run, in the order of their first points.
pub(crate) fn of(run: &Run) -> Vec<DrawnCurve<'_>> {
    let mut keys: Vec<CurveKey<'_>> = Vec::new();
    for point in &run.points {
        let key = key(point);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let curves = keys.iter().map(|one| {
        let mut points: Vec<&Point> = run.points.iter().collect();
        points.retain(|point| key(point) == *one);
        points.sort_by(|a, b| place(a).total_cmp(&place(b)));
        let is_of = |found: &&Found| {
            let members = found.points.iter();
            let mut members = members.filter_map(|place| run.points.get(*place as usize));
            members.any(|point| key(point) == *one)
        };
        let sweep = run.sweep.as_ref();
        DrawnCurve {
            name: name(one, &keys),
            axis: one.axis,
            points,
            found: sweep.and_then(|sweep| sweep.curves.iter().find(is_of)),
        }
    });
    curves.collect()
}

/// What tells a curve from the others.
fn name(one: &CurveKey<'_>, keys: &[CurveKey<'_>]) -> String {
    let mut name = Vec::new();
    if keys.iter().any(|other| other.series != one.series) {
        name.push(one.series);
    }
    if keys.iter().any(|other| other.allowed != one.allowed) {
        name.push(one.allowed.as_deref().unwrap_or("all cores"));
    }
    name.join(", ")
}

/// The points of which a page shows the inside: all of few, else some from the least to the most
/// loaded; the usable ones, if there are any.
pub(crate) fn shown(run: &Run) -> Vec<&Point> {
    const SHOWN_MAX: usize = 4;
    let mut points: Vec<&Point> = run.points.iter().filter(|point| is_usable(point)).collect();
    if points.is_empty() {
        points = run.points.iter().collect();
    }
    points.sort_by(|a, b| place(a).total_cmp(&place(b)));
    let all = points.len();
    if all <= SHOWN_MAX {
        return points;
    }
    (0..SHOWN_MAX)
        .map(|number| points[number * (all - 1) / (SHOWN_MAX - 1)])
        .collect()
}

/// Of a run with more points, a page tells only of those what is wrong with them.
const DETAILED_MAX: usize = 40;

/// Whether a page has room for everything about every point.
pub(crate) fn are_few(run: &Run) -> bool {
    run.points.len() <= DETAILED_MAX
}

/// The points about which a page tells everything, in the order in which they were measured if
/// these are all.
pub(crate) fn detailed(run: &Run) -> Vec<&Point> {
    if are_few(run) {
        run.points.iter().collect()
    } else {
        shown(run)
    }
}

/// The usable point with the highest throughput.
pub(crate) fn busiest(run: &Run) -> Option<&Point> {
    let usable = run.points.iter().filter(|point| is_usable(point));
    usable.max_by(|a, b| a.throughput.total_cmp(&b.throughput))
}

/// The point of which a page tells first: where a load was asked about that one, however fast others
/// were; otherwise the busiest.
pub(crate) fn asked(run: &Run) -> Option<&Point> {
    let about = run.bottleneck.as_ref().map(|found| f64::from(found.users));
    let mut points = run.points.iter();
    // What was changed afterwards comes behind.
    let asked =
        points.find(|point| about.is_some_and(|users| place(point).total_cmp(&users).is_eq()));
    asked
        .or_else(|| busiest(run))
        .or_else(|| run.points.first())
}

impl DrawnCurve<'_> {
    /// Whether there is anything along it.
    pub(crate) fn has_several_loads(&self) -> bool {
        let ends = self.points.first().zip(self.points.last());
        ends.is_some_and(|(first, last)| place(first) < place(last))
    }

    /// Whether a load was measured more than once.
    pub(crate) fn has_repeats(&self) -> bool {
        let equal = |pair: &[&Point]| place(pair[0]).total_cmp(&place(pair[1])).is_eq();
        self.points.windows(2).any(equal)
    }

    /// A name for a chart's legend: what is drawn, and of which curve.
    pub(crate) fn legend(&self, what: &str) -> String {
        if self.name.is_empty() {
            return what.to_owned();
        }
        format!("{what}, {}", self.name)
    }

    /// What grows along it, for an axis.
    pub(crate) const fn across(&self) -> &'static str {
        match self.axis {
            Axis::Users => "users",
            Axis::Rate => "requests a second that were due",
        }
    }

    /// A load along it in words.
    pub(crate) fn load(&self, place: f64) -> String {
        match self.axis {
            Axis::Users => format!("{} users", text::plain(place)),
            Axis::Rate => text::per_second(place),
        }
    }
}
