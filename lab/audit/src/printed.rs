//! Points as lines for people.

use std::fmt;

use turnstile_stats::units::{Nanos, PerSecond};

use crate::Point;

/// A line for each point, and one below it for each finding.
pub(crate) fn table(points: &[Point], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_curve = points.iter().any(|point| point.users.is_some());
    if is_curve {
        writeln!(f, "   users  requests/s  response  X (R + Z) / N")?;
    }
    for point in points {
        let holds = if point.findings.is_empty() {
            "  holds"
        } else {
            ""
        };
        if is_curve {
            let shown = |figure: Option<String>| figure.unwrap_or_else(|| "-".to_owned());
            let users = shown(point.users.map(|users| users.to_string()));
            let rate = shown(point.throughput.map(|rate| PerSecond(rate).to_string()));
            let response = shown(point.response.map(|time| Nanos(time * 1e9).to_string()));
            let little = shown(point.little.map(|ratio| format!("{ratio:.2}")));
            writeln!(
                f,
                "{users:>8}  {rate:>10}  {response:>8}  {little:>13}{holds}"
            )?;
        } else {
            writeln!(f, "  {}{holds}", point.name)?;
        }
        for finding in &point.findings {
            writeln!(f, "          {finding}")?;
        }
    }
    Ok(())
}
