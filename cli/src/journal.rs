//! `turnstile journal`: what the journal of a data directory holds.

mod news;
mod stat;

use std::{
    io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use turnstile_embedded::{DirectoryReader, ReadFrom, VerifyError};
use turnstile_json::{
    AUDIT_HEAD, RecordLine, RecordedCommand, RecordedFields, recorded_command, service_names,
};
use turnstile_record::{Record, SERVICE_ENGINE};
use turnstile_sequencer::EngineRecord;
use turnstile_stats::units::Count;
use turnstile_types::{Position, Principal};

use crate::{
    audit::{principal, service},
    terminal, verify,
};

use self::{news::JournalNews, stat::JournalStat};

/// So many bytes of lines are written at once.
const CHUNK_BYTES: usize = 64 * 1_024;

#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Print the records of a data directory. A server may use it
    Dump(DumpArguments),
    /// Print the last records, and those that come, until it is interrupted
    Tail(TailArguments),
    /// Print how much there is: segments, snapshots, records of each service
    Stat(StatArguments),
}

#[derive(Args, Debug)]
pub(crate) struct DumpArguments {
    #[command(flatten)]
    choice: RecordChoice,
    /// Show these positions only: A..B from A to B, A.. from A on, ..B up to B, or one position
    #[arg(long, value_name = "A..B", value_parser = positions)]
    position: Option<RangeInclusive<u64>>,
}

#[derive(Args, Debug)]
pub(crate) struct TailArguments {
    #[command(flatten)]
    choice: RecordChoice,
    /// Begin with this number of records before the end
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 10)]
    lines: u64,
}

#[derive(Args, Debug)]
pub(crate) struct StatArguments {
    /// Data directory. A server may use it; nothing in it is changed
    dir: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Which records are shown, and how.
#[derive(Args, Debug)]
struct RecordChoice {
    /// Data directory. A server may use it; nothing in it is changed
    dir: PathBuf,
    /// Show the records of this service only; engine: the server's own
    #[arg(long, value_parser = any_service)]
    service: Option<u8>,
    /// Show the records of this principal only
    #[arg(long, value_parser = principal)]
    principal: Option<Principal>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// The number of a service, or of the engine.
fn any_service(text: &str) -> Result<u8, String> {
    if text == ENGINE {
        return Ok(SERVICE_ENGINE);
    }
    service(text).map_err(|known| format!("{known}, {ENGINE}"))
}

/// The name of the engine's own records.
const ENGINE: &str = "engine";

/// `A..B`, `A..`, `..B` or `A`, both ends included.
fn positions(text: &str) -> Result<RangeInclusive<u64>, String> {
    let form = || "write A..B, A.., ..B or one position".to_owned();
    let number = |text: &str| text.parse::<u64>().map_err(|_number| form());
    let (begin, end) = match text.split_once("..") {
        None => (number(text)?, number(text)?),
        Some(("", "")) => return Err(form()),
        Some(("", end)) => (1, number(end)?),
        Some((begin, "")) => (number(begin)?, u64::MAX),
        Some((begin, end)) => (number(begin)?, number(end)?),
    };
    if begin == 0 || end < begin {
        return Err("positions begin with 1, and the second is not below the first".to_owned());
    }
    Ok(begin..=end)
}

pub(crate) fn run(command: JournalCommand) -> anyhow::Result<()> {
    match command {
        JournalCommand::Dump(arguments) => dump(arguments),
        JournalCommand::Tail(arguments) => tail(arguments),
        JournalCommand::Stat(StatArguments { dir, json }) => {
            let stat = JournalStat::of(&dir).map_err(|error| verify::no_verdict(&dir, &error))?;
            terminal::line(if json { stat.json() } else { stat.table() })?;
            Ok(())
        }
    }
}

fn dump(arguments: DumpArguments) -> anyhow::Result<()> {
    let dir = arguments.choice.dir.clone();
    let from = match &arguments.position {
        Some(wanted) if *wanted.start() > 1 => ReadFrom::After(Position(wanted.start() - 1)),
        _ => ReadFrom::Oldest,
    };
    let refused = |error: VerifyError| verify::no_verdict(&dir, &error);
    let mut reader = DirectoryReader::open(&dir, from).map_err(refused)?;
    let begin = reader.position();
    let mut writer =
        RecordWriter::new(arguments.choice, arguments.position.unwrap_or(1..=u64::MAX));
    while !writer.is_done()
        && let Some(group) = reader.next_group().map_err(refused)?
    {
        for record in group.records() {
            writer.take(&record)?;
        }
    }
    writer.flush()?;
    if begin > Position(0) && from == ReadFrom::Oldest {
        terminal::note(format_args!(
            "the journal begins after position {begin}: earlier records were removed after a snapshot"
        ));
    }
    terminal::note(format_args!(
        "{} of {} records shown, up to position {}",
        Count(writer.shown),
        Count(writer.read),
        reader.position()
    ));
    torn(&reader);
    Ok(())
}

fn torn(reader: &DirectoryReader) {
    if reader.torn_bytes() > 0 {
        terminal::note(format_args!(
            "a torn tail of {} bytes behind the last record is not shown; the next start cuts it",
            Count(reader.torn_bytes())
        ));
    }
}

fn tail(arguments: TailArguments) -> anyhow::Result<()> {
    let dir = arguments.choice.dir.clone();
    let refused = |error: VerifyError| verify::no_verdict(&dir, &error);
    // What is written from here on rings, so nothing is missed between two looks.
    let mut news = JournalNews::of(&dir)?;
    let mut reader =
        DirectoryReader::open(&dir, ReadFrom::Last(arguments.lines)).map_err(refused)?;
    let begin = reader.last().0.saturating_sub(arguments.lines) + 1;
    let mut writer = RecordWriter::new(arguments.choice, begin..=u64::MAX);
    loop {
        while let Some(group) = reader.next_group().map_err(refused)? {
            for record in group.records() {
                writer.take(&record)?;
            }
        }
        writer.flush()?;
        reader.let_servers_in();
        news.wait()?;
    }
}

/// Writes records as they come.
struct RecordWriter {
    choice: RecordChoice,
    positions: RangeInclusive<u64>,
    chunk: String,
    read: u64,
    shown: u64,
    last: u64,
}

impl RecordWriter {
    fn new(choice: RecordChoice, positions: RangeInclusive<u64>) -> Self {
        let head = if choice.json {
            String::new()
        } else {
            format!("{AUDIT_HEAD}\n")
        };
        Self {
            choice,
            positions,
            chunk: head,
            read: 0,
            shown: 0,
            last: 0,
        }
    }

    /// Whether no later record is wanted.
    fn is_done(&self) -> bool {
        self.last >= *self.positions.end()
    }

    fn take(&mut self, record: &Record<'_>) -> anyhow::Result<()> {
        self.last = record.position.0;
        if !self.positions.contains(&record.position.0) {
            return Ok(());
        }
        self.read += 1;
        let RecordChoice {
            service, principal, ..
        } = &self.choice;
        let is_wanted = service.is_none_or(|wanted| wanted == record.service)
            && principal.is_none_or(|wanted| wanted == record.principal);
        if !is_wanted {
            return Ok(());
        }
        self.shown += 1;
        let line = line(record);
        let text = if self.choice.json {
            line.json()
        } else {
            line.row()
        };
        self.chunk.push_str(&text);
        self.chunk.push('\n');
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = terminal::write(self.chunk.as_bytes());
        self.chunk.clear();
        written
    }
}

/// What a record says, without secrets.
fn line(record: &Record<'_>) -> RecordLine {
    let told = if record.service == SERVICE_ENGINE {
        engine_command(record.payload)
    } else {
        recorded_command(record.service, record.payload).ok()
    };
    // A journal is looked into also when no machine of this version could read it.
    let told = told.unwrap_or_else(|| RecordedCommand {
        service: name_of(record.service),
        operation: "unreadable",
        fields: RecordedFields::default(),
    });
    let place = (record.position, record.time);
    let mut line = RecordLine::of(place, &record.principal, &record.origin(), told);
    line.idempotency_key = record.key.map(|key| key.as_str().to_owned());
    line
}

fn engine_command(payload: &[u8]) -> Option<RecordedCommand> {
    let mut fields = RecordedFields::default();
    let operation = match EngineRecord::read(payload).ok()? {
        EngineRecord::Tick => "tick",
        EngineRecord::Entry {
            sequence, noted, ..
        } => {
            let mut put = |name: &'static str, value: serde_json::Value| {
                fields.0.push((name.into(), value));
            };
            put("entry", sequence.into());
            if let Some(noted) = noted {
                put("node", noted.node.to_string().into());
                put("incarnation", noted.incarnation.into());
                put("number", noted.number.into());
            }
            "entry"
        }
        EngineRecord::Left => "left_cluster",
        EngineRecord::Snapshot(_) => "stored_snapshot",
    };
    Some(RecordedCommand {
        service: ENGINE,
        operation,
        fields,
    })
}

/// The name of a service by its number in records.
fn name_of(service: u8) -> &'static str {
    if service == SERVICE_ENGINE {
        return ENGINE;
    }
    let names = service_names();
    let found = names.iter().find(|(number, _)| *number == service);
    found.map_or("unknown", |(_, name)| *name)
}

/// The files of a directory with their lengths, by their names.
fn files(dir: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            files.push((name, entry.metadata()?.len()));
        }
    }
    files.sort_unstable();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_a_range_with_both_ends() {
        let good = [
            ("7", 7..=7),
            ("7..9", 7..=9),
            ("7..", 7..=u64::MAX),
            ("..9", 1..=9),
        ];
        for (text, range) in good {
            assert_eq!(positions(text), Ok(range), "{text}");
        }
        for text in ["", "..", "0", "9..7", "a..b", "-1", "1...2", "1..2..3"] {
            assert!(positions(text).is_err(), "{text}");
        }
    }
}
