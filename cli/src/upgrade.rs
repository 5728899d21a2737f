//! `turnstile upgrade --check`: whether this program reads a directory, and what it would change there.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use turnstile_embedded::{DirectoryVersions, HeldFormat, ProgramStart};
use turnstile_stats::units::Count;
use turnstile_types::Position;

use crate::{
    terminal::{self, Table},
    verify::no_verdict,
};

/// This program's version.
const THIS: &str = env!("CARGO_PKG_VERSION");

#[derive(Args, Debug)]
pub(crate) struct UpgradeArguments {
    /// Say whether this program reads a data directory, what a start would change there, and up to which
    /// record an earlier program reads it. A server may use the directory; nothing in it is changed
    #[arg(long, value_name = "DIR", required = true)]
    check: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &UpgradeArguments) -> anyhow::Result<()> {
    let dir = &arguments.check;
    let found = DirectoryVersions::of(dir).map_err(|error| no_verdict(dir, &error))?;
    let plan = UpgradePlan::of(&found);
    terminal::line(if arguments.json {
        serde_json::to_string(&plan)?
    } else {
        plan.table()
    })?;
    match &found.refusal {
        None => Ok(()),
        Some(refused) => Err(no_verdict(dir, refused)),
    }
}

/// What there is to say about a directory and this program.
#[derive(Debug, Serialize)]
struct UpgradePlan {
    this_program: &'static str,
    /// The versions that wrote it, each with the first position that it could write.
    written_by: Vec<NotedProgram>,
    used_by_a_server: bool,
    last_position: u64,
    formats: Vec<FormatRow>,
    is_readable: bool,
    /// A sentence for each thing that a start of this program would change.
    first_write: Vec<String>,
    /// For each other version that wrote here, the last position that it surely reads.
    also_read_by: Vec<OtherReader>,
}

#[derive(Debug, Serialize)]
struct NotedProgram {
    program: String,
    from: u64,
}

#[derive(Debug, Serialize)]
struct FormatRow {
    name: &'static str,
    oldest: u16,
    newest: u16,
    /// The newest version that this program reads; it reads all older ones too.
    reads: u16,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct OtherReader {
    program: String,
    /// The last position before another version wrote.
    until: u64,
}

impl UpgradePlan {
    fn of(found: &DirectoryVersions) -> Self {
        let writers = found.programs.iter();
        Self {
            this_program: THIS,
            written_by: writers
                .map(|ProgramStart { version, from }| NotedProgram {
                    program: version.clone(),
                    from: from.0,
                })
                .collect(),
            used_by_a_server: found.is_live,
            last_position: found.last.0,
            formats: found.formats.iter().map(FormatRow::of).collect(),
            is_readable: found.refusal.is_none(),
            first_write: match found.refusal {
                None => first_write(found),
                Some(_) => Vec::new(),
            },
            also_read_by: other_readers(&found.programs, found.last, THIS),
        }
    }

    fn table(&self) -> String {
        let mut table = Table::default();
        if self.written_by.is_empty() {
            table.row("written by", "not noted");
        }
        for NotedProgram { program, from } in &self.written_by {
            let from = format!("{program} from position {} on", Count(*from));
            table.row("written by", from);
        }
        table.row("this program", self.this_program);
        table.row("last position", Count(self.last_position));
        for row in &self.formats {
            table.row(format!("format {}", row.name), row.words());
        }
        table.row("reads it", self.verdict());
        for change in &self.first_write {
            table.row("a start", change);
        }
        if self.is_readable && self.first_write.is_empty() {
            table.row("a start", "changes no format and makes no file");
        }
        for OtherReader { program, until } in &self.also_read_by {
            let until = format!("{program} up to position {}", Count(*until));
            table.row("also read by", until);
        }
        if self.also_read_by.is_empty() {
            table.row("also read by", "no other version has written here");
        }
        table.to_string()
    }
}

impl UpgradePlan {
    /// Commands that this program does not know have no format of their own.
    fn verdict(&self) -> String {
        let newer = self.written_by.last().map(|last| &*last.program);
        match newer.filter(|last| is_newer(last, THIS)) {
            _ if !self.is_readable => "NO".to_owned(),
            Some(newer) => {
                format!("its formats, yes; {newer} wrote it last: prove it by turnstile verify")
            }
            None => "yes".to_owned(),
        }
    }
}

/// Whether a version comes after another, number by number.
fn is_newer(version: &str, other: &str) -> bool {
    let numbers = |text: &str| -> Vec<u64> {
        let parts = text.split(['.', '-', '+']);
        parts.map_while(|part| part.parse().ok()).collect()
    };
    numbers(version) > numbers(other)
}

impl FormatRow {
    fn of(held: &HeldFormat) -> Self {
        Self {
            name: held.format.name,
            oldest: held.oldest,
            newest: held.newest,
            reads: held.format.newest,
        }
    }

    fn words(&self) -> String {
        let held = if self.oldest == self.newest {
            self.newest.to_string()
        } else {
            format!("{} to {}", self.oldest, self.newest)
        };
        format!("{held} (read up to {})", self.reads)
    }
}

/// What a start of this program changes in a directory that it reads.
fn first_write(found: &DirectoryVersions) -> Vec<String> {
    let mut changes = Vec::new();
    if found.torn_bytes > 0 {
        let torn = Count(found.torn_bytes);
        changes.push(format!("cuts the torn tail of {torn} bytes"));
    }
    for held in &found.formats {
        if held.written != held.newest {
            let (name, written) = (held.format.name, held.written);
            changes.push(format!(
                "writes {name} {written} instead of {}",
                held.newest
            ));
        }
    }
    if !found.is_key_bound {
        changes.push("makes id.check, which binds id.key to the journal".to_owned());
    }
    if found
        .programs
        .last()
        .is_none_or(|last| last.version != THIS)
    {
        changes.push(format!("notes that {THIS} writes from here on"));
    }
    changes
}

/// For each version but this one, the last position before another one wrote.
fn other_readers(programs: &[ProgramStart], last: Position, this: &str) -> Vec<OtherReader> {
    let mut readers: Vec<OtherReader> = Vec::new();
    for (number, writer) in programs.iter().enumerate() {
        if writer.version == this {
            continue;
        }
        let until = programs
            .get(number + 1)
            .map_or(last.0, |next| next.from.0.saturating_sub(1));
        readers.retain(|earlier| earlier.program != writer.version);
        readers.push(OtherReader {
            program: writer.version.clone(),
            until,
        });
    }
    readers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(version: &str, from: u64) -> ProgramStart {
        ProgramStart {
            version: version.to_owned(),
            from: Position(from),
        }
    }

    #[test]
    fn versions_are_compared_number_by_number() {
        for (version, other, expected) in [
            ("0.2.0", "0.1.0", true),
            ("0.10.0", "0.9.9", true),
            ("0.1.0", "0.1.0", false),
            ("0.1.0-rc1", "0.1.0", false),
            ("0.1.1", "0.2.0", false),
        ] {
            assert_eq!(is_newer(version, other), expected, "{version} {other}");
        }
    }

    #[test]
    fn a_downgrade_reaches_to_the_record_before_the_next_version_wrote() {
        let until = |program: &str, until| OtherReader {
            program: program.to_owned(),
            until,
        };
        let check = |programs: &[ProgramStart], expected: Vec<OtherReader>| {
            assert_eq!(other_readers(programs, Position(40), "3.0.0"), expected);
        };
        check(&[], vec![]);
        check(&[start("3.0.0", 1)], vec![]);
        check(&[start("1.0.0", 1)], vec![until("1.0.0", 40)]);
        check(
            &[start("1.0.0", 1), start("2.0.0", 11), start("3.0.0", 31)],
            vec![until("1.0.0", 10), until("2.0.0", 30)],
        );
    }
}
