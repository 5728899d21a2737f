//! One part of a report: what was measured, round by round, and what it has to be.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::{
    ground::Ground,
    probe::MachineProbe,
    process::Neighbours,
    ratio::{Bound, Ratio, Verdict},
};

/// The highest use of a core by other processes, in percent, at which a bound is judged. Server and
/// client need both cores.
pub(crate) const NEIGHBOURS_PERCENT_MAX: f64 = 25.0;

/// A part of a report.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// Load, rounds, and what a reader must know to believe the figures.
    pub(crate) setting: String,
    /// What the bare machine did right before and right after, where that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<MachineProbe>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<MachineProbe>,
    /// Use of the machine by other processes during the measurement, in percent of a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) neighbours_percent: Option<f64>,
    pub(crate) subjects: Vec<MeasuredRow>,
    pub(crate) claims: Vec<Claim>,
}

/// Something that was measured: a row of the table.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct MeasuredRow {
    pub(crate) name: String,
    pub(crate) figures: Vec<SubjectMetric>,
}

/// One property of a subject: a cell of its row.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct SubjectMetric {
    pub(crate) name: String,
    pub(crate) values: FigureValues,
}

/// A value for each round, or words.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum FigureValues {
    Numbers(Vec<f64>),
    Text(String),
}

/// A ratio of two figures, or a figure alone, and what it has to be.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Claim {
    pub(crate) target: String,
    pub(crate) bound: Bound,
    pub(crate) ratio: Ratio,
    pub(crate) verdict: Verdict,
}

impl MeasuredRow {
    pub(crate) fn new(name: impl Into<String>, figures: Vec<SubjectMetric>) -> Self {
        let name = name.into();
        Self { name, figures }
    }

    /// The values of a figure.
    ///
    /// # Panics
    /// There is no such figure, or it is a text.
    pub(crate) fn values(&self, name: &str) -> &[f64] {
        let figure = self.figures.iter().find(|figure| figure.name == name);
        match figure.map(|figure| &figure.values) {
            Some(FigureValues::Numbers(values)) => values,
            _ => panic!("{} has no figure {name}", self.name),
        }
    }
}

impl SubjectMetric {
    pub(crate) fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        let (name, values) = (name.into(), FigureValues::Numbers(values));
        Self { name, values }
    }

    /// A figure with one value.
    pub(crate) fn one(name: impl Into<String>, value: f64) -> Self {
        Self::new(name, vec![value])
    }

    pub(crate) fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (name, values) = (name.into(), FigureValues::Text(text.into()));
        Self { name, values }
    }
}

impl Section {
    /// A part that depends on no machine, or on one that is watched for the whole report.
    pub(crate) fn new(
        title: impl Into<String>,
        setting: impl Into<String>,
        subjects: Vec<MeasuredRow>,
    ) -> Self {
        Self {
            title: title.into(),
            setting: setting.into(),
            before: None,
            after: None,
            neighbours_percent: None,
            subjects,
            claims: Vec::new(),
        }
    }

    /// Measures between two probes of the machine, and watches what other processes use. `measure`
    /// returns the setting and the rows.
    pub(crate) fn between_probes(
        ground: &Ground,
        title: impl Into<String>,
        measure: impl FnOnce() -> Result<(String, Vec<MeasuredRow>)>,
    ) -> Result<Self> {
        let before = ground.probe()?;
        let neighbours = Neighbours::watch()?;
        let (setting, subjects) = measure()?;
        Ok(Self {
            before: Some(before),
            after: Some(ground.probe()?),
            neighbours_percent: Some(neighbours.percent()?),
            ..Self::new(title, setting, subjects)
        })
    }

    /// Measures and watches what other processes use, without probes.
    pub(crate) fn watched(
        title: impl Into<String>,
        measure: impl FnOnce() -> Result<(String, Vec<MeasuredRow>)>,
    ) -> Result<Self> {
        let neighbours = Neighbours::watch()?;
        let (setting, subjects) = measure()?;
        Ok(Self {
            neighbours_percent: Some(neighbours.percent()?),
            ..Self::new(title, setting, subjects)
        })
    }

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
        let values = |subject: usize| self.subjects[subject].values(name);
        let ratio = Ratio::of(values(ours), values(peer));
        self.claim_ratio(target, ratio, bound);
    }

    /// Judges a ratio that was computed elsewhere.
    pub(crate) fn claim_ratio(&mut self, target: &str, ratio: Ratio, bound: Bound) {
        self.claims.push(Claim {
            target: target.to_owned(),
            bound,
            verdict: bound.judge(&ratio, self.is_quiet()),
            ratio,
        });
    }

    /// Whether the machine was the same before and after, and no other process used much of it.
    pub(crate) fn is_quiet(&self) -> bool {
        let alone = self.neighbours_percent.unwrap_or(0.0) <= NEIGHBOURS_PERCENT_MAX;
        let probes = self.before.as_ref().zip(self.after.as_ref());
        alone && probes.is_none_or(|(before, after)| before.agrees(after))
    }
}

#[cfg(test)]
mod tests {
    use super::{Claim, MeasuredRow, Section, SubjectMetric};
    use crate::{
        probe::MachineProbe,
        ratio::{Bound, Ratio, Verdict},
    };

    fn section(after_us: f64, neighbours_percent: f64) -> Section {
        let probe = |sync_p50_us| MachineProbe {
            sync_p50_us,
            loopback_p50_us: 20.0,
        };
        let subject = |name: &str, values: &[f64]| {
            let other = SubjectMetric::new("other", vec![1.0; values.len()]);
            MeasuredRow::new(
                name,
                vec![other, SubjectMetric::new("rate", values.to_vec())],
            )
        };
        let subjects = vec![subject("ours", &[4.0, 9.0]), subject("peer", &[2.0, 3.0])];
        Section {
            before: Some(probe(100.0)),
            after: Some(probe(after_us)),
            neighbours_percent: Some(neighbours_percent),
            ..Section::new("a", "", subjects)
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
