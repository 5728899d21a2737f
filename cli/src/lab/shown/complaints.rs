//! Warnings about the points of a run, as lines of text.

use std::fmt;

use turnstile_result::{Outcome, Point, Verdict};

use super::load;

/// Something that is wrong, with the first point that has it.
#[derive(Debug, PartialEq)]
struct Complaint {
    kind: String,
    told: String,
    /// Whether others of its kind say something else: a broken rule is told by its name, what else is
    /// wrong by the figures of the first point.
    is_rule: bool,
    /// What was found, of which each has a line of its own.
    findings: Vec<String>,
}

/// Each thing that is wrong once, with the first point that has it, and how many more have it.
pub(super) fn write(f: &mut fmt::Formatter<'_>, points: &[Point]) -> fmt::Result {
    let mut seen: Vec<(Complaint, String, usize)> = Vec::new();
    for (number, point) in (1..).zip(points) {
        let which = match points.len() {
            1 => "the run".to_owned(),
            _ => format!("point {number} ({})", load(point)),
        };
        for one in wrongs(point) {
            match seen.iter_mut().find(|(first, ..)| first.is_like(&one)) {
                Some((_, _, more)) => *more += 1,
                None => seen.push((one, which.clone(), 0)),
            }
        }
    }
    for (one, which, more) in seen {
        write!(f, "{}: {which}: {}", one.kind, one.told)?;
        match more {
            0 => writeln!(f)?,
            more => writeln!(f, " (and {more} more points)")?,
        }
        for finding in &one.findings {
            writeln!(f, "  {finding}")?;
        }
    }
    Ok(())
}

impl Complaint {
    fn new(kind: impl Into<String>, told: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            told: told.into(),
            is_rule: false,
            findings: Vec::new(),
        }
    }

    /// Whether one of them stands for both.
    fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && (!self.is_rule || self.told == other.told)
    }
}

/// Each thing that is wrong with a point.
fn wrongs(point: &Point) -> Vec<Complaint> {
    let broken = point.proof.iter().filter_map(|rule| {
        let kind = match rule.outcome {
            Outcome::Holds => return None,
            Outcome::Fails => "VIOLATED",
            Outcome::NotTestable => "NOT PROVEN",
        };
        Some(Complaint {
            is_rule: true,
            findings: rule.violations.clone(),
            ..Complaint::new(kind, &*rule.rule)
        })
    });
    let failed = point
        .validity
        .iter()
        .filter(|check| check.outcome == Outcome::Fails);
    let invalid = failed.map(|check| {
        let cure = check.cure.as_deref().unwrap_or_default();
        Complaint::new(
            format!("INVALID ({})", check.check),
            format!("{}. Try: {cure}", check.found),
        )
    });
    let unsteady = (point.verdict == Verdict::Unsteady)
        .then(|| Complaint::new("UNSTEADY", &*point.steady.why));
    broken.chain(invalid).chain(unsteady).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use turnstile_result::{Outcome, Point, Rule, Validity};

    struct Written<'a>(&'a [Point]);

    impl fmt::Display for Written<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            super::write(f, self.0)
        }
    }

    /// A point that breaks these rules, by what was found.
    fn point(broken: &[(&str, &[&str])], late: Option<&str>) -> Point {
        let rule = |(rule, found): &(&str, &[&str])| Rule {
            rule: (*rule).to_owned(),
            outcome: Outcome::Fails,
            violations: found.iter().map(|found| (*found).to_owned()).collect(),
            found: Vec::new(),
        };
        let invalid = late.map(|found| Validity {
            check: "generator_lag".to_owned(),
            outcome: Outcome::Fails,
            found: found.to_owned(),
            cure: Some("a processor of its own".to_owned()),
        });
        Point {
            proof: broken.iter().map(rule).collect(),
            validity: invalid.into_iter().collect(),
            ..Point::blank("resp")
        }
    }

    #[test]
    fn each_finding_has_a_line_and_each_rule_is_told_once() {
        let (order, bookings) = ("replayed in their order", "every booking stands");
        let first = point(
            &[(order, &["7 is gone", "8 is gone"]), (bookings, &["R9"])],
            Some("p99 of 1ms"),
        );
        let one = "VIOLATED: the run: replayed in their order\n  7 is gone\n  8 is gone\n\
                   VIOLATED: the run: every booking stands\n  R9\n\
                   INVALID (generator_lag): the run: p99 of 1ms. Try: a processor of its own\n";
        assert_eq!(Written(std::slice::from_ref(&first)).to_string(), one);
        let others = [
            first,
            point(&[(order, &["9 is gone"])], Some("p99 of 2ms")),
            point(&[(order, &["3 is gone"])], None),
        ];
        let all = Written(&others).to_string();
        let lines: Vec<&str> = all.lines().collect();
        assert_eq!(lines.len(), 6, "{all}");
        assert!(
            lines[0].starts_with("VIOLATED: point 1 (")
                && lines[0].ends_with(": replayed in their order (and 2 more points)"),
            "{all}"
        );
        assert_eq!(lines[1..3], ["  7 is gone", "  8 is gone"]);
        assert!(lines[3].ends_with(": every booking stands"), "{all}");
        assert!(lines[5].ends_with("(and 1 more points)"), "{all}");
    }
}
