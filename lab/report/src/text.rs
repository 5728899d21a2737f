//! Figures and loads as a page says them.

use maud::{Markup, html};
use turnstile_result::{Arrivals, OfferedLoad, Outcome, Point, Verdict};
use turnstile_stats::{
    Interval,
    units::{Count, PerSecond},
};

/// The unit in which a time of so many nanoseconds is best told: how many of them it has, and its
/// name.
pub(crate) fn time_unit(nanos: f64) -> (f64, Option<&'static str>) {
    match nanos.abs() {
        nanos if nanos < 1e3 => (1.0, Some("ns")),
        nanos if nanos < 1e6 => (1e3, Some("\u{b5}s")),
        nanos if nanos < 1e9 => (1e6, Some("ms")),
        _ => (1e9, Some("s")),
    }
}

/// Nanoseconds with three digits: `4.25 ms`.
pub(crate) fn time(nanos: f64) -> String {
    let rounded = three_digits(nanos);
    let (divisor, unit) = time_unit(rounded);
    format!("{} {}", plain(rounded / divisor), unit.unwrap_or_default())
}

pub(crate) fn nanos(nanos: u64) -> String {
    time(turnstile_stats::units::to_float(nanos))
}

/// Three digits, or all of a whole number, without zeros at the end: `4.25`, `20`, `1 266`.
pub(crate) fn plain(value: f64) -> String {
    let rounded = three_digits(value);
    if rounded.abs() >= 100.0 {
        return PerSecond(value).to_string();
    }
    let text = format!("{rounded:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn three_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let power = 10_f64.powf(2.0 - value.abs().log10().floor());
    (value * power).round() / power
}

/// A figure with four digits at most behind it.
pub(crate) fn figure(value: f64) -> String {
    plain(value)
}

pub(crate) fn count(count: u64) -> String {
    Count(count).to_string()
}

/// A count with its noun: `1 check`, `2 checks`.
pub(crate) fn number_of(many: u64, noun: &str) -> String {
    let plural = if many == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(many))
}

pub(crate) fn per_second(rate: f64) -> String {
    if rate < 100.0 {
        return format!("{}/s", plain(rate));
    }
    format!("{}/s", PerSecond(rate))
}

/// A share in per cent: `4.2 %`.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", plain(share * 100.0))
}

/// A length of time in seconds: `18.5 s`.
pub(crate) fn seconds(seconds: f64) -> String {
    time(seconds * 1e9)
}

/// `9 410/s (9 340/s to 9 480/s)`.
pub(crate) fn interval(interval: &Interval, shown: impl Fn(f64) -> String) -> String {
    let Interval {
        low,
        estimate,
        high,
    } = *interval;
    format!("{} ({} to {})", shown(estimate), shown(low), shown(high))
}

/// A text in which what stands between backticks is code.
pub(crate) fn coded(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

pub(crate) fn load(load: &OfferedLoad) -> String {
    match load {
        OfferedLoad::Closed {
            users,
            pipeline,
            think_ns,
        } => {
            let mut text = users_of(*users);
            if *pipeline > 1 {
                text += &format!(" x {pipeline} deep");
            }
            if let Some(think) = think_ns {
                text += &format!(", {} to think", time(*think));
            }
            text
        }
        OfferedLoad::Open { rate, arrivals, .. } => {
            format!("{} {}", per_second(*rate), law(arrivals))
        }
        OfferedLoad::Count { users, requests } => {
            format!("{}, {} requests", users_of(*users), count(*requests))
        }
    }
}

fn users_of(users: u32) -> String {
    match users {
        1 => "1 user".to_owned(),
        users => format!("{} users", count(u64::from(users))),
    }
}

/// How requests arrive.
fn law(arrivals: &Arrivals) -> String {
    match arrivals {
        Arrivals::Fixed => "at equal gaps".to_owned(),
        Arrivals::Poisson => "at random (Poisson)".to_owned(),
        Arrivals::Jitter { share: by } => format!("at gaps that vary by {}", share(*by)),
        Arrivals::Burst { size } => format!("in bursts of {size}"),
        Arrivals::Trace { file } => format!("as in {file}"),
    }
}

/// `closed loop`, `open loop` or `so many requests`.
pub(crate) const fn loop_of(load: &OfferedLoad) -> &'static str {
    match load {
        OfferedLoad::Closed { .. } => "closed loop",
        OfferedLoad::Open { .. } => "open loop",
        OfferedLoad::Count { .. } => "a number of requests",
    }
}

/// The load of a point, and what else tells it from points that are not equal to it.
pub(crate) fn kind(point: &Point, all: &[Point]) -> String {
    let mut name = load(&point.load);
    if all.iter().any(|other| other.series != point.series) {
        name = format!("{}, {name}", point.series);
    }
    let allowed = point.allowed();
    if all.iter().any(|other| other.allowed() != allowed) {
        name += ", ";
        name += allowed.as_deref().unwrap_or("all cores");
    }
    name
}

/// As [`kind`], and which of several equal points it is.
pub(crate) fn point(point: &Point, all: &[Point]) -> String {
    let name = kind(point, all);
    if all.iter().any(|other| other.repeat != point.repeat) {
        return format!("{name}, run {}", point.repeat + 1);
    }
    name
}

pub(crate) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Fails => "fails",
        Outcome::NotTestable => "not testable",
    }
}

/// A phrase as a sentence: with a capital letter and a full stop.
pub(crate) fn sentence(phrase: &str) -> String {
    let mut rest = phrase.chars();
    rest.next().map_or_else(String::new, |first| {
        format!("{}{}.", first.to_uppercase(), rest.as_str())
    })
}

pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fine => "fine",
        Verdict::Missed => "objective missed",
        Verdict::Unsteady => "not steady",
        Verdict::Invalid => "invalid",
        Verdict::Violated => "promise broken",
    }
}

/// Words with blanks in quotes, as a shell wants them.
pub(crate) fn command(line: &[String]) -> String {
    let quoted = line.iter().map(|word| {
        let plain =
            |character: char| character.is_ascii_alphanumeric() || "-_=,./:%@+".contains(character);
        if !word.is_empty() && word.chars().all(plain) {
            return word.clone();
        }
        format!("'{}'", word.replace('\'', "'\\''"))
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_plural_and_a_sentence_begins_large() {
        assert_eq!(number_of(1, "check"), "1 check");
        assert_eq!(number_of(2, "check"), "2 checks");
        assert_eq!(sentence("not steady: it drifts"), "Not steady: it drifts.");
    }

    #[test]
    fn times_have_three_digits_and_their_unit() {
        let rows = [
            (0.0, "0 ns"),
            (412.3, "412 ns"),
            (999.6, "1 \u{b5}s"),
            (42_060.0, "42.1 \u{b5}s"),
            (4_250_000.0, "4.25 ms"),
            (18.5e9, "18.5 s"),
        ];
        for (nanos, shown) in rows {
            assert_eq!(time(nanos), shown);
        }
    }

    #[test]
    fn numbers_lose_their_zeros_and_large_ones_are_grouped() {
        let rows = [(0.0, "0"), (0.5, "0.5"), (20.0, "20"), (9_410.4, "9 410")];
        for (value, shown) in rows {
            assert_eq!(plain(value), shown);
        }
        assert_eq!(share(0.042), "4.2 %");
        assert_eq!([2.5, 9_410.0].map(per_second), ["2.5/s", "9 410/s"]);
    }
}
