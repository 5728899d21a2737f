//! A report as two files: JSON is the result, Markdown a view of it.

use std::{
    fmt::{self, Write as _},
    fs,
    path::Path,
};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::{
    arguments::RunExtent,
    ground::tell,
    machine::Machine,
    pin::{CLIENT_CORE, SERVER_CORE},
    probe::MachineProbe,
    ratio::Ratio,
    section::{Claim, FigureValues, MeasuredRow, Section, SubjectMetric},
};

/// What a command of this program measures.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) title: String,
    /// How it was measured, and which command measures it again.
    pub(crate) about: String,
    /// Quick runs are short, and prove only that the benchmark works.
    pub(crate) quick: bool,
    /// None where the figures depend on no machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<Machine>,
    pub(crate) sections: Vec<Section>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_measured: Vec<NotMeasured>,
}

/// A part that was asked for and could not be measured: a failure of the run, not of a target.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct NotMeasured {
    pub(crate) section: String,
    pub(crate) reason: String,
}

impl Report {
    /// Makes the report of some sections, titled and with how to measure them again, and writes it as
    /// [`write`](Self::write) does. `machine` is the one before anything was measured.
    pub(crate) fn written(
        extent: &RunExtent,
        name: &str,
        [title, about]: [&str; 2],
        (machine, sections): (Option<Machine>, Vec<Section>),
    ) -> Result<Self> {
        let report = Self {
            title: title.to_owned(),
            about: about.to_owned(),
            quick: extent.quick,
            machine,
            sections,
            not_measured: Vec::new(),
        };
        report.write(extent.out(false), name)?;
        Ok(report)
    }

    /// Writes `name.json` and `name.md`, in place of those of an earlier run, if there is a place for them.
    pub(crate) fn write(&self, dir: Option<&Path>, name: &str) -> Result<()> {
        let Some(dir) = dir else {
            return tell("a quick run or a part: no files are written without --out");
        };
        let context = || format!("cannot write to {}", dir.display());
        fs::create_dir_all(dir).with_context(context)?;
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        fs::write(dir.join(format!("{name}.json")), json).with_context(context)?;
        fs::write(dir.join(format!("{name}.md")), self.to_string()).with_context(context)
    }

    /// Reads a report that was kept.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let context = || format!("cannot read {}", path.display());
        let text = fs::read(path).with_context(context)?;
        serde_json::from_slice(&text).with_context(context)
    }

    /// Fails where a part could not be measured.
    pub(crate) fn check(&self) -> Result<()> {
        let whole = self.not_measured.is_empty();
        ensure!(whole, "not everything was measured");
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        writeln!(f, "# {} ({length} run)\n", self.title)?;
        writeln!(
            f,
            "{} A cell shows the median of the rounds (lowest .. highest), and a ratio is taken inside \
             each round. The median is judged.\n",
            self.about
        )?;
        if self
            .sections
            .iter()
            .any(|section| !section.claims.is_empty())
        {
            f.write_str("| target | bound | measured | verdict |\n|---|---|---|---|\n")?;
        }
        for section in &self.sections {
            if section.claims.is_empty() {
                continue;
            }
            writeln!(f, "| **{}** | | | |", section.title)?;
            for claim in &section.claims {
                write_claim(f, claim)?;
            }
        }
        for NotMeasured { section, reason } in &self.not_measured {
            writeln!(f, "\nNot measured: {section}: {reason}")?;
        }
        if let Some(machine) = &self.machine {
            write_machine(f, machine)?;
        }
        for section in &self.sections {
            write_section(f, section)?;
        }
        Ok(())
    }
}

fn write_claim(f: &mut fmt::Formatter<'_>, claim: &Claim) -> fmt::Result {
    let Claim {
        target,
        bound,
        ratio,
        verdict,
    } = claim;
    writeln!(f, "| {target} | {bound} | {} | {verdict} |", shown(ratio))
}

fn write_machine(f: &mut fmt::Formatter<'_>, machine: &Machine) -> fmt::Result {
    writeln!(f, "\n## Machine\n")?;
    let rows = [
        ("processor", &machine.cpu),
        ("cores", &machine.cores),
        ("kernel", &machine.kernel),
        ("load average", &machine.load_average),
        ("date", &machine.date),
        ("commit", &machine.commit),
    ];
    let programs = machine.programs.iter();
    let programs = programs.map(|(name, version)| (name.as_str(), version));
    for (name, value) in rows.into_iter().chain(programs) {
        writeln!(f, "- {name}: {value}")?;
    }
    writeln!(
        f,
        "- servers on core {SERVER_CORE}, generators on core {CLIENT_CORE}; CPU is user and \
         system time from /proc, of all threads"
    )
}

fn write_section(f: &mut fmt::Formatter<'_>, section: &Section) -> fmt::Result {
    writeln!(f, "\n## {}\n\n{}.", section.title, section.setting)?;
    if let Some(conditions) = conditions(section) {
        writeln!(f, "{conditions}.")?;
    }
    let Some(first) = section.subjects.first() else {
        return Ok(());
    };
    let names = first.figures.iter().map(|figure| figure.name.as_str());
    let names: Vec<&str> = names.collect();
    writeln!(f, "\n| | {} |", names.join(" | "))?;
    let alignments = first.figures.iter().map(|figure| match figure.values {
        FigureValues::Numbers(_) => "---:|",
        FigureValues::Text(_) => "---|",
    });
    writeln!(f, "|---|{}", alignments.collect::<String>())?;
    for MeasuredRow { name, figures } in &section.subjects {
        let cells = figures.iter().map(|figure| format!(" {} |", cell(figure)));
        writeln!(f, "| {name} |{}", cells.collect::<String>())?;
    }
    Ok(())
}

/// What the machine and its neighbours did meanwhile.
fn conditions(section: &Section) -> Option<String> {
    let mut text = String::new();
    if let (Some(before), Some(after)) = (&section.before, &section.after) {
        let both = |value: fn(&MachineProbe) -> f64| {
            format!("{:.1} and {:.1} us", value(before), value(after))
        };
        let sync = both(|probe| probe.sync_p50_us);
        let loopback = both(|probe| probe.loopback_p50_us);
        text = format!(
            "Probes before and after: sync {sync}, loopback round trip {loopback}; neighbours"
        );
    }
    let percent = section.neighbours_percent?;
    if text.is_empty() {
        text.push_str("Neighbours");
    }
    write!(text, " used {percent:.0} % of a core").ok()?;
    if !section.is_quiet() {
        text.push_str("; **noisy: not judged**");
    }
    Some(text)
}

fn cell(figure: &SubjectMetric) -> String {
    match &figure.values {
        FigureValues::Numbers(values) if values.is_empty() => "-".to_owned(),
        FigureValues::Numbers(values) => shown(&Ratio::spread(values)),
        FigureValues::Text(text) => text.clone(),
    }
}

/// The median and the ends, with as many digits as matter; one value alone.
fn shown(ratio: &Ratio) -> String {
    let Ratio { median, min, max } = *ratio;
    let is_whole = [median, min, max].iter().all(|value| value.fract() == 0.0);
    let digits = if is_whole || median >= 1_000.0 { 0 } else { 2 };
    let is_one = min.total_cmp(&max).is_eq();
    if is_one {
        return format!("{median:.digits$}");
    }
    format!("{median:.digits$} ({min:.digits$} .. {max:.digits$})")
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Report, cell, conditions, shown};
    use crate::{
        probe::MachineProbe,
        ratio::Ratio,
        section::{Section, SubjectMetric},
    };

    #[test]
    fn a_cell_shows_as_many_digits_as_matter() {
        let rows: [(&[f64], &str); 6] = [
            (&[2_000.4, 3_000.0, 1_000.0], "2000 (1000 .. 3000)"),
            (&[0.5, 0.25, 1.0], "0.50 (0.25 .. 1.00)"),
            (&[10.0, 10.0], "10"),
            (&[10.25], "10.25"),
            (&[1.0, 2.0, 3.0], "2 (1 .. 3)"),
            (&[], "-"),
        ];
        for (values, expected) in rows {
            assert_eq!(cell(&SubjectMetric::new("a", values.to_vec())), expected);
        }
        assert_eq!(cell(&SubjectMetric::text("a", "words")), "words");
        assert_eq!(shown(&Ratio::spread(&[1.5])), "1.50");
    }

    #[test]
    fn a_noisy_section_says_so() {
        let section = |after_us| {
            let probe = |sync_p50_us| MachineProbe {
                sync_p50_us,
                loopback_p50_us: 20.0,
            };
            Section {
                before: Some(probe(100.0)),
                after: Some(probe(after_us)),
                neighbours_percent: Some(3.2),
                ..Section::new("t", "s", Vec::new())
            }
        };
        let quiet = "Probes before and after: sync 100.0 and 150.0 us, loopback round trip 20.0 and \
                     20.0 us; neighbours used 3 % of a core";
        assert_eq!(conditions(&section(150.0)).as_deref(), Some(quiet));
        let noisy = quiet.replace("150.0", "250.0") + "; **noisy: not judged**";
        assert_eq!(conditions(&section(250.0)), Some(noisy));
        let alone = Section {
            before: None,
            ..section(250.0)
        };
        let expected = Some("Neighbours used 3 % of a core");
        assert_eq!(conditions(&alone).as_deref(), expected);
    }

    #[test]
    fn each_kept_page_is_the_view_of_its_result() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let mut seen = 0;
        for entry in fs::read_dir(&results).unwrap() {
            let path = entry.unwrap().path();
            let is_ours = |path: &Path| {
                let text = fs::read_to_string(path).unwrap();
                text.contains("\"sections\"")
            };
            if path.extension().is_none_or(|extension| extension != "json") || !is_ours(&path) {
                continue;
            }
            let page = fs::read_to_string(path.with_extension("md")).unwrap();
            let report = Report::read(&path).unwrap();
            assert_eq!(report.to_string(), page, "{}", path.display());
            seen += 1;
        }
        assert_eq!(seen, 18, "results of this program");
    }
}
