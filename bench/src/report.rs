//! A run as files: JSON is the result, Markdown a view of it.

use std::{
    fmt::{self, Write as _},
    fs,
    path::Path,
};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::{
    machine::Machine,
    pin::{CLIENT_CORE, SERVER_CORE},
    probe::Probe,
    ratio::Ratio,
    section::{Claim, Section, Subject},
};

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// What was measured: `rooms` is written to `rooms.json` and `rooms.md`.
    #[serde(skip)]
    pub(crate) subject: &'static str,
    /// Quick runs are short, and prove only that the benchmark works.
    pub(crate) quick: bool,
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
    pub(crate) not_measured: Vec<NotMeasured>,
}

/// A part that was asked for and could not be measured: a failure of the run, not of a target.
#[derive(Debug, Serialize)]
pub(crate) struct NotMeasured {
    pub(crate) section: &'static str,
    pub(crate) reason: String,
}

impl Report {
    /// Writes its two files, in place of those of an earlier run.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        write_files(self, dir, self.subject)
    }
}

/// Writes a report as `name.json` and `name.md`.
pub(crate) fn write_files<R>(report: &R, dir: &Path, name: &str) -> Result<()>
where
    R: Serialize + fmt::Display,
{
    let context = || format!("cannot write to {}", dir.display());
    fs::create_dir_all(dir).with_context(context)?;
    let mut json = serde_json::to_string_pretty(report)?;
    json.push('\n');
    fs::write(dir.join(format!("{name}.json")), json).with_context(context)?;
    fs::write(dir.join(format!("{name}.md")), report.to_string()).with_context(context)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        let (first, rest) = self.subject.split_at(1);
        let title = first.to_ascii_uppercase() + rest;
        writeln!(f, "# {title}, measured ({length} run)\n")?;
        f.write_str(
            "Each ratio is taken inside a round; quoted are the median, the lowest and the \
             highest of the rounds. The median is judged.\n\n",
        )?;
        f.write_str("| target | bound | measured | verdict |\n|---|---|---|---|\n")?;
        for section in &self.sections {
            writeln!(f, "| **{}** | | | |", section.title)?;
            for claim in &section.claims {
                write_claim(f, claim)?;
            }
        }
        for NotMeasured { section, reason } in &self.not_measured {
            writeln!(f, "\nNot measured: {section}: {reason}")?;
        }
        write_machine(f, &self.machine)?;
        write_programs(f, &self.machine)?;
        for section in &self.sections {
            write_section(f, section)?;
        }
        Ok(())
    }
}

fn write_claim(f: &mut fmt::Formatter<'_>, claim: &Claim) -> fmt::Result {
    let Ratio { median, min, max } = claim.ratio;
    writeln!(
        f,
        "| {} | {} | {median:.2} ({min:.2} .. {max:.2}) | {} |",
        claim.target, claim.bound, claim.verdict
    )
}

/// Where it was measured, and which commit.
pub(crate) fn write_machine(f: &mut fmt::Formatter<'_>, machine: &Machine) -> fmt::Result {
    writeln!(f, "\n## Machine\n")?;
    let rows = [
        ("processor", &machine.cpu),
        ("cores", &machine.cores),
        ("kernel", &machine.kernel),
        ("load average", &machine.load_average),
        ("date", &machine.date),
        ("commit", &machine.commit),
    ];
    write_rows(f, &rows)
}

fn write_programs(f: &mut fmt::Formatter<'_>, machine: &Machine) -> fmt::Result {
    let rows: Vec<(&str, &String)> = machine
        .programs
        .iter()
        .map(|(name, version)| (name.as_str(), version))
        .collect();
    write_rows(f, &rows)?;
    writeln!(
        f,
        "- servers on core {SERVER_CORE}, generators on core {CLIENT_CORE}; CPU is user and \
         system time from /proc, of all threads"
    )
}

fn write_rows(f: &mut fmt::Formatter<'_>, rows: &[(&str, &String)]) -> fmt::Result {
    rows.iter()
        .try_for_each(|(name, value)| writeln!(f, "- {name}: {value}"))
}

fn write_section(f: &mut fmt::Formatter<'_>, section: &Section) -> fmt::Result {
    writeln!(f, "\n## {}\n\n{}.", section.title, section.setting)?;
    writeln!(f, "Probes before and after: {}.\n", probes(section))?;
    let Some(first) = section.subjects.first() else {
        return Ok(());
    };
    let names = first.figures.iter().map(|figure| figure.name);
    let names: Vec<&str> = names.collect();
    writeln!(f, "| | {} |", names.join(" | "))?;
    writeln!(f, "|---{}|", "|---:".repeat(names.len()))?;
    for subject in &section.subjects {
        writeln!(f, "| {} |{}", subject.name, cells(subject)?)?;
    }
    Ok(())
}

fn probes(section: &Section) -> String {
    let both = |value: fn(&Probe) -> f64| {
        format!(
            "{:.1} and {:.1} us",
            value(&section.before),
            value(&section.after)
        )
    };
    let sync = both(|probe| probe.sync_p50_us);
    let loopback = both(|probe| probe.loopback_p50_us);
    let noisy = if section.quiet() {
        ""
    } else {
        "; **noisy: not judged**"
    };
    let neighbours = section.neighbours_percent;
    format!(
        "sync {sync}, loopback round trip {loopback}; neighbours used {neighbours:.0} % of a \
         core{noisy}"
    )
}

fn cells(subject: &Subject) -> Result<String, fmt::Error> {
    let mut cells = String::new();
    for figure in &subject.figures {
        let Ratio { median, min, max } = Ratio::spread(&figure.values);
        let digits = if median >= 1_000.0 { 0 } else { 2 };
        write!(
            cells,
            " {median:.digits$} ({min:.digits$} .. {max:.digits$}) |"
        )?;
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::{cells, probes, write_claim};
    use crate::{
        probe::Probe,
        ratio::Bound,
        section::{Figure, Section, Subject},
    };

    struct Line<'a>(&'a super::Claim);

    impl std::fmt::Display for Line<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write_claim(f, self.0)
        }
    }

    fn section(after_us: f64) -> Section {
        let probe = |sync_p50_us| Probe {
            sync_p50_us,
            loopback_p50_us: 20.0,
        };
        let subject = |name: &str, values: [f64; 3]| Subject {
            name: name.to_owned(),
            figures: vec![Figure {
                name: "requests/s",
                values: values.to_vec(),
            }],
        };
        Section {
            title: "t",
            setting: "s".to_owned(),
            before: probe(100.0),
            after: probe(after_us),
            neighbours_percent: 3.2,
            subjects: vec![
                subject("a", [2_000.4, 3_000.0, 1_000.0]),
                subject("b", [10.0, 10.0, 10.0]),
            ],
            claims: Vec::new(),
        }
    }

    #[test]
    fn a_claim_is_one_row_with_its_spread() {
        let mut section = section(100.0);
        section.claim("faster", "requests/s", (0, 1), Bound::AtLeast(300.0));
        let row = "| faster | >= 300 | 200.04 (100.00 .. 300.00) | **missed** |\n";
        assert_eq!(Line(&section.claims[0]).to_string(), row);
    }

    #[test]
    fn a_subject_is_one_row_of_medians_with_as_many_digits_as_matter() {
        let section = section(100.0);
        let rows = section
            .subjects
            .iter()
            .map(|subject| cells(subject).unwrap());
        let expected = [" 2000 (1000 .. 3000) |", " 10.00 (10.00 .. 10.00) |"];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_noisy_section_says_so() {
        let quiet = "sync 100.0 and 150.0 us, loopback round trip 20.0 and 20.0 us; \
                     neighbours used 3 % of a core";
        assert_eq!(probes(&section(150.0)), quiet);
        let noisy = "sync 100.0 and 250.0 us, loopback round trip 20.0 and 20.0 us; \
                     neighbours used 3 % of a core; **noisy: not judged**";
        assert_eq!(probes(&section(250.0)), noisy);
    }
}
