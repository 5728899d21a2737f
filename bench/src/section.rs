//! One part of the report: what was compared under which load, round by round.

use anyhow::Result;
use serde::Serialize;

use crate::{
    ground::Ground,
    probe::Probe,
    ratio::{Bound, Ratio, Verdict},
};

/// With two cores for two ends, others who use more than this take it from one of the ends.
pub(crate) const NEIGHBOURS_PERCENT_MAX: f64 = 25.0;

/// Measures one part of the claims.
pub(crate) type Measure = fn(&Ground) -> Result<Section>;

/// A part by the name that it is asked for by.
pub(crate) type Part = (&'static str, Measure);

/// A part of the report, with the probes that ran right before and after it.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// Load, rounds, and what a reader must know to believe the figures.
    pub(crate) setting: String,
    pub(crate) before: Probe,
    pub(crate) after: Probe,
    /// What others used while it was measured, in percent of a core.
    pub(crate) neighbours_percent: f64,
    pub(crate) subjects: Vec<Subject>,
    pub(crate) claims: Vec<Claim>,
}

/// Something that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) figures: Vec<Figure>,
}

/// One property of a subject: a value for each round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<f64>,
}

/// A ratio of two figures, and what it has to be.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Claim {
    pub(crate) target: String,
    pub(crate) bound: Bound,
    pub(crate) ratio: Ratio,
    pub(crate) verdict: Verdict,
}

impl Section {
    /// Judges figure `name` of subject `ours` against the same figure of `peer`.
    ///
    /// # Panics
    /// There are no such subjects, or they have no such figure.
    pub(crate) fn claim(
        &mut self,
        target: &str,
        name: &str,
        (ours, peer): (usize, usize),
        bound: Bound,
    ) {
        let values = |subject: usize| {
            let figures = &self.subjects[subject].figures;
            let figure = figures.iter().find(|figure| figure.name == name);
            &figure
                .expect("each subject of a section has the same figures")
                .values
        };
        let ratio = Ratio::of(values(ours), values(peer));
        self.claim_ratio(target, ratio, bound);
    }

    /// Judges a ratio that was computed elsewhere.
    pub(crate) fn claim_ratio(&mut self, target: &str, ratio: Ratio, bound: Bound) {
        self.claims.push(Claim {
            target: target.to_owned(),
            bound,
            verdict: bound.judge(&ratio, self.quiet()),
            ratio,
        });
    }

    /// Whether the machine was the same before and after, and ours alone.
    pub(crate) fn quiet(&self) -> bool {
        let alone = self.neighbours_percent <= NEIGHBOURS_PERCENT_MAX;
        alone && self.before.agrees(&self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::{Claim, Figure, Section, Subject};
    use crate::{
        probe::Probe,
        ratio::{Bound, Ratio, Verdict},
    };

    fn section(after_us: f64, neighbours_percent: f64) -> Section {
        let probe = |sync_p50_us| Probe {
            sync_p50_us,
            loopback_p50_us: 20.0,
        };
        let subject = |name: &str, values: &[f64]| Subject {
            name: name.to_owned(),
            figures: vec![
                Figure {
                    name: "other",
                    values: vec![1.0; values.len()],
                },
                Figure {
                    name: "rate",
                    values: values.to_vec(),
                },
            ],
        };
        Section {
            title: "a",
            setting: String::new(),
            before: probe(100.0),
            after: probe(after_us),
            neighbours_percent,
            subjects: vec![subject("ours", &[4.0, 9.0]), subject("peer", &[2.0, 3.0])],
            claims: Vec::new(),
        }
    }

    #[test]
    fn a_claim_compares_one_figure_of_two_subjects() {
        let rows = [
            (150.0, 0.0, Verdict::Missed),
            (150.0, 20.0, Verdict::Missed),
            (250.0, 0.0, Verdict::NoisyNotJudged),
            (150.0, 30.0, Verdict::NoisyNotJudged),
        ];
        for (after_us, neighbours_percent, verdict) in rows {
            let mut section = section(after_us, neighbours_percent);
            section.claim("thrice the rate", "rate", (0, 1), Bound::AtLeast(3.0));
            let expected = Claim {
                target: "thrice the rate".into(),
                bound: Bound::AtLeast(3.0),
                ratio: Ratio {
                    median: 2.5,
                    min: 2.0,
                    max: 3.0,
                },
                verdict,
            };
            assert_eq!(section.claims, [expected]);
        }
    }
}
