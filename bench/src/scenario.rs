//! Scenario files: which servers run under which load, and what is compared. `scenarios/README.md`
//! explains the format.

mod words;

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde::Deserialize;
use toml::Value;

use crate::ratio::Bound;
pub(crate) use words::{Words, usual};

/// One report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    pub(crate) title: String,
    pub(crate) about: String,
    #[serde(default)]
    pub(crate) programs: Vec<String>,
    #[serde(rename = "section")]
    pub(crate) parts: Vec<Part>,
}

/// One section of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) setting: String,
    #[serde(default = "usual_rounds")]
    pub(crate) rounds: usize,
    /// It runs only when it is asked for by its name.
    #[serde(default)]
    pub(crate) on_request: bool,
    #[serde(default)]
    pub(crate) prepare: String,
    #[serde(default = "usual_figures")]
    pub(crate) figures: Vec<FigureColumn>,
    #[serde(rename = "subject")]
    pub(crate) subjects: Vec<Row>,
    #[serde(default, rename = "claim")]
    pub(crate) claims: Vec<Aim>,
}

/// A column: its label, the measure, and by what it is multiplied.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub(crate) struct FigureColumn {
    pub(crate) label: String,
    pub(crate) measure: String,
    pub(crate) factor: f64,
}

/// A row: a server under load, or a floor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) key: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) server: String,
    #[serde(default)]
    pub(crate) arguments: String,
    #[serde(default)]
    pub(crate) backend: Option<BackendChoice>,
    #[serde(default)]
    pub(crate) prepare: String,
    #[serde(default)]
    pub(crate) load: String,
    /// The core of the generator.
    #[serde(default)]
    pub(crate) core: Core,
    #[serde(default)]
    pub(crate) floor: Vec<Floor>,
}

/// A service of the server that is kept in a database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackendChoice {
    pub(crate) service: String,
    pub(crate) home: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Core {
    #[default]
    Client,
    Server,
}

/// What the bare machine needs for one figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Floor {
    pub(crate) figure: String,
    #[serde(default)]
    pub(crate) trips: u32,
    #[serde(default)]
    pub(crate) lines: u32,
    #[serde(default)]
    pub(crate) syncs: u32,
    #[serde(default)]
    pub(crate) at_once: usize,
}

/// What a ratio has to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aim {
    pub(crate) target: String,
    pub(crate) figure: String,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) of: Vec<String>,
    /// The key of a subject, or a number.
    pub(crate) per: String,
    #[serde(default)]
    pub(crate) bound: Option<String>,
}

impl ScenarioFile {
    /// Reads a scenario in which these words stand for numbers.
    pub(crate) fn parse(text: &str, words: Words) -> Result<Self> {
        let value: Value = toml::from_str(text)?;
        let scenario: Self = words::filled(value, words)?.try_into()?;
        for part in &scenario.parts {
            part.check()
                .with_context(|| format!("section {}", part.name))?;
        }
        Ok(scenario)
    }

    pub(crate) fn read(path: &Path, words: Words) -> Result<Self> {
        let shown = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(shown)?;
        Self::parse(&text, words).with_context(shown)
    }
}

impl Part {
    /// Everything that is named is there.
    fn check(&self) -> Result<()> {
        for row in &self.subjects {
            let is_floor = !row.floor.is_empty();
            ensure!(
                is_floor == row.load.is_empty(),
                "{}: a subject has a load or a floor",
                row.key
            );
            row.floor
                .iter()
                .try_for_each(|floor| self.knows(&floor.figure))?;
        }
        for aim in &self.claims {
            self.knows(&aim.figure)?;
            aim.bound()?;
            let numbered = aim.per.parse::<f64>().is_ok();
            let named = aim.of.iter().chain((!numbered).then_some(&aim.per));
            for key in named {
                self.place(key)?;
            }
            let many = aim.of.len() > 1;
            ensure!(numbered || !many, "{}: several per one", aim.target);
        }
        Ok(())
    }

    fn knows(&self, figure: &str) -> Result<()> {
        let known = self.figures.iter().any(|column| column.label == figure);
        ensure!(known, "there is no figure `{figure}`");
        Ok(())
    }

    /// The place of a subject.
    pub(crate) fn place(&self, key: &str) -> Result<usize> {
        let place = self.subjects.iter().position(|row| row.key == key);
        place.with_context(|| format!("there is no subject `{key}`"))
    }
}

impl Aim {
    pub(crate) fn bound(&self) -> Result<Bound> {
        let bound = self.bound.as_deref().map_or(Ok(Bound::None), str::parse);
        bound.map_err(|error: String| anyhow!(error))
    }
}

impl TryFrom<Vec<String>> for FigureColumn {
    type Error = String;

    fn try_from(words: Vec<String>) -> Result<Self, String> {
        let (label, measure, factor) = match words.as_slice() {
            [label, measure] => (label, measure, "1"),
            [label, measure, factor] => (label, measure, factor.as_str()),
            _ => return Err("a figure has a label, a measure and perhaps a factor".to_owned()),
        };
        let factor = factor.parse();
        Ok(Self {
            label: label.clone(),
            measure: measure.clone(),
            factor: factor.map_err(|_malformed| format!("{label}: the factor is a number"))?,
        })
    }
}

const fn usual_rounds() -> usize {
    5
}

fn usual_figures() -> Vec<FigureColumn> {
    let column = |(label, measure): (&str, &str)| FigureColumn {
        label: label.to_owned(),
        measure: measure.to_owned(),
        factor: 1.0,
    };
    let columns = [
        ("requests/s", "rate"),
        ("server CPU, us/request", "server us"),
        ("client CPU, us/request", "client us"),
        ("refused, %", "refused %"),
    ];
    columns.map(column).to_vec()
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

#[cfg(test)]
mod tests {
    use super::{ScenarioFile, usual};

    const HEAD: &str = "title = 't'\nabout = 'a'\n[[section]]\nname = 's'\ntitle = 't'\nsetting = 's'\n\
                        [[section.subject]]\nkey = 'a'\nname = 'a'\nserver = 'turnstile'\nload = 'lab rooms'\n";

    fn told(claim: &str) -> String {
        let text = format!("{HEAD}[[section.claim]]\ntarget = 't'\n{claim}");
        let scenario = ScenarioFile::parse(&text, usual(true));
        scenario.map_or_else(|error| format!("{error:#}"), |_| "fine".to_owned())
    }

    #[test]
    fn a_claim_names_subjects_and_figures_that_are_there() {
        let rows = [
            (
                "figure = 'requests/s'\nof = 'a'\nper = '2'\nbound = '>= 1'",
                "fine",
            ),
            ("figure = 'requests/s'\nof = ['a', 'a']\nper = '2'", "fine"),
            (
                "figure = 'p50'\nof = 'a'\nper = 'a'",
                "section s: there is no figure `p50`",
            ),
            (
                "figure = 'requests/s'\nof = 'b'\nper = 'a'",
                "section s: there is no subject `b`",
            ),
            (
                "figure = 'requests/s'\nof = 'a'\nper = 'b'",
                "section s: there is no subject `b`",
            ),
            (
                "figure = 'requests/s'\nof = ['a', 'a']\nper = 'a'",
                "section s: t: several per one",
            ),
            (
                "figure = 'requests/s'\nof = 'a'\nper = 'a'\nbound = '2'",
                "section s: `2` is no bound: write >= 2 or <= 0.5",
            ),
        ];
        for (claim, expected) in rows {
            assert_eq!(told(claim), expected, "{claim}");
        }
    }

    #[test]
    fn a_subject_has_a_load_or_a_floor() {
        let text = HEAD.replace("load = 'lab rooms'\n", "");
        let error = ScenarioFile::parse(&text, usual(true)).unwrap_err();
        let expected = "section s: a: a subject has a load or a floor";
        assert_eq!(format!("{error:#}"), expected);
    }
}
