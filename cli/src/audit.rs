//! `turnstile audit`: who did what, from the journal of a data directory or of a server.

use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use turnstile_chassis::PAGE_MAX;
use turnstile_client::{Denied, http};
use turnstile_embedded::audit;
use turnstile_json::{AUDIT_HEAD, AuditFilter, AuditLine, AuditLines, AuditPage, service_names};
use turnstile_stats::units::Count;
use turnstile_types::{Audited, Name, Principal, Timestamp};

use crate::{
    address::{self, DoorAddress},
    connect::Security,
    terminal, verify,
};

/// So many bytes of lines are written at once.
const CHUNK_BYTES: usize = 64 * 1_024;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: AuditSource,
    #[command(flatten)]
    security: Security,
    /// Show the commands of this principal only
    #[arg(long, value_parser = principal)]
    principal: Option<Principal>,
    /// Show the commands of this service only
    #[arg(long, value_parser = service)]
    service: Option<u8>,
    /// Show commands from this instant on: 2027-05-01T12:00:00Z, 2027-05-01, or an age such as 30m, 12h
    /// or 7d
    #[arg(long, value_name = "TIME", value_parser = instant)]
    since: Option<Timestamp>,
    /// Show commands before this instant, in the same forms
    #[arg(long, value_name = "TIME", value_parser = instant)]
    until: Option<Timestamp>,
    /// Show refused commands only
    #[arg(long)]
    refused: bool,
    /// Form of the lines
    #[arg(long, value_enum, default_value = "table")]
    format: AuditFormat,
}

/// Where the journal is.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct AuditSource {
    /// Data directory. A server may use it; nothing in it is changed
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// HTTP address of a running server. The key to show needs the role admin
    #[arg(long, value_name = "ADDR", value_parser = address::HTTP)]
    http: Option<DoorAddress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AuditFormat {
    /// Columns for people
    Table,
    /// One JSON object a line
    Jsonl,
}

pub(crate) fn principal(text: &str) -> Result<Principal, String> {
    let name = Name::parse(text.as_bytes());
    name.map(Principal).map_err(|invalid| invalid.to_string())
}

/// The number of a service.
pub(crate) fn service(text: &str) -> Result<u8, String> {
    let names = service_names();
    let found = names.iter().find(|(_, name)| *name == text);
    found.map(|(number, _)| *number).ok_or_else(|| {
        let names: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
        format!("one of {}", names.join(", "))
    })
}

/// An instant, the begin of a date in UTC, or an age.
pub(crate) fn instant(text: &str) -> Result<Timestamp, String> {
    let forms = "an instant such as 2027-05-01T12:00:00Z, a date, or an age such as 30m, 12h or 7d";
    if let Some(age) = age(text) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let then = now.unwrap_or_default().saturating_sub(age);
        return Ok(Timestamp(
            u64::try_from(then.as_millis()).unwrap_or(u64::MAX),
        ));
    }
    let read = |text: &str| Timestamp::parse(text.as_bytes()).ok();
    let found = read(text).or_else(|| read(&format!("{text}T00:00:00Z")));
    found.ok_or_else(|| forms.to_owned())
}

/// `90s`, `30m`, `12h` or `7d`.
fn age(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

impl Arguments {
    fn filter(&self) -> AuditFilter {
        AuditFilter {
            principal: self.principal,
            service: self.service,
            since: self.since,
            until: self.until,
            refused: self.refused,
        }
    }
}

/// Writes lines as they come.
struct AuditWriter {
    format: AuditFormat,
    chunk: String,
    shown: u64,
}

/// How far an audit came.
struct AuditEnd {
    /// Commands that were read.
    read: u64,
    /// The position after which the journal begins.
    after: u64,
    /// The position of the last record that was read.
    position: u64,
    /// What else there is to say.
    notes: Vec<String>,
}

impl AuditWriter {
    fn new(format: AuditFormat) -> Self {
        let mut chunk = String::new();
        if format == AuditFormat::Table {
            chunk.push_str(AUDIT_HEAD);
            chunk.push('\n');
        }
        Self {
            format,
            chunk,
            shown: 0,
        }
    }

    fn put(&mut self, line: &AuditLine) -> io::Result<()> {
        self.shown += 1;
        let text = match self.format {
            AuditFormat::Table => line.row(),
            AuditFormat::Jsonl => line.json(),
        };
        self.chunk.push_str(&text);
        self.chunk.push('\n');
        if self.chunk.len() < CHUNK_BYTES {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = terminal::write(self.chunk.as_bytes());
        self.chunk.clear();
        written
    }

    /// Writes what is left, and says how far it goes.
    fn finish(mut self, end: &AuditEnd) -> io::Result<()> {
        self.flush()?;
        if end.after > 0 {
            terminal::note(format_args!(
                "the journal begins after position {}: earlier records were removed after a snapshot",
                end.after
            ));
        }
        for note in &end.notes {
            terminal::note(note);
        }
        terminal::note(format_args!(
            "{} of {} commands shown, up to position {}",
            Count(self.shown),
            Count(end.read),
            end.position
        ));
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut writer = AuditWriter::new(arguments.format);
    let AuditSource { data, http } = &arguments.source;
    let end = if let Some(directory) = data {
        read_directory(directory, arguments.filter(), &mut writer)?
    } else {
        let door = http.as_ref().context("name --data or --http")?;
        let server = arguments.security.http(door)?;
        read_server(server, &arguments.filter(), &mut writer)?
    };
    Ok(writer.finish(&end)?)
}

fn read_directory(
    directory: &Path,
    filter: AuditFilter,
    writer: &mut AuditWriter,
) -> anyhow::Result<AuditEnd> {
    let mut lines = AuditLines::new(filter);
    let mut read = 0;
    let mut written = Ok(());
    let extent = audit(directory, |audited| {
        read += u64::from(matches!(audited, Audited::Command(_)));
        let line = lines.take(&audited);
        written = line.map_or(Ok(()), |line| writer.put(&line));
        if written.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    written?;
    let extent = extent.map_err(|error| verify::no_verdict(directory, &error))?;
    for line in lines.waiting() {
        writer.put(line)?;
    }
    let live = "a server uses the directory: what it acknowledged later is not shown";
    let mut notes: Vec<String> = extent
        .is_live
        .then(|| live.to_owned())
        .into_iter()
        .collect();
    if extent.torn_bytes > 0 {
        notes.push(format!(
            "a torn tail of {} bytes after position {} is not shown; the next start cuts it",
            Count(extent.torn_bytes),
            extent.last
        ));
    }
    Ok(AuditEnd {
        read,
        after: extent.from.0,
        position: extent.last.0,
        notes,
    })
}

fn read_server(
    mut server: http::Connection,
    filter: &AuditFilter,
    writer: &mut AuditWriter,
) -> anyhow::Result<AuditEnd> {
    let target = target(filter);
    let (mut read, mut cursor) = (0, None::<String>);
    loop {
        let next = cursor.map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
        let page = ask_for_page(&mut server, &format!("{target}{next}"))?;
        read += page.read;
        for line in &page.commands {
            writer.put(line)?;
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(AuditEnd {
                read,
                after: page.after,
                position: page.position,
                notes: Vec::new(),
            });
        }
    }
}

/// The path and the query of a filter. Names and instants need no escapes in it.
fn target(filter: &AuditFilter) -> String {
    let mut target = format!("/v1/audit?limit={PAGE_MAX}");
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            target.push_str(&format!("&{name}={value}"));
        }
    };
    let service = |number| {
        let names = service_names();
        let found = names.iter().find(|(known, _)| *known == number);
        found.map(|(_, name)| (*name).to_owned())
    };
    add("principal", filter.principal.map(|one| one.to_string()));
    add("service", filter.service.and_then(service));
    add("since", filter.since.map(|since| since.to_string()));
    add("until", filter.until.map(|until| until.to_string()));
    add("refused", filter.refused.then(|| "true".to_owned()));
    target
}

fn ask_for_page(server: &mut http::Connection, target: &str) -> anyhow::Result<AuditPage> {
    let answer = server.get(target)?;
    match answer.status {
        200 => {
            let page = serde_json::from_slice(&answer.body);
            page.context("the server answered no page of an audit")
        }
        403 => Err(Denied::MissingRight(problem(403, &answer.body)).into()),
        status => {
            let problem = problem(status, &answer.body);
            Err(anyhow!("the server refused the audit: {problem}"))
        }
    }
}

/// What a problem of the server says.
pub(crate) fn problem(status: u16, body: &[u8]) -> String {
    let problem: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let said = ["detail", "title"]
        .iter()
        .find_map(|name| problem[name].as_str());
    said.map_or_else(|| format!("status {status}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_also_a_date_or_an_age() {
        assert_eq!(
            instant("2027-05-01T12:00:00Z"),
            Ok(Timestamp(1_809_172_800_000))
        );
        assert_eq!(instant("2027-05-01"), Ok(Timestamp(1_809_129_600_000)));
        let ages = [
            ("90s", 90),
            ("30m", 1_800),
            ("12h", 43_200),
            ("7d", 604_800),
        ];
        for (text, seconds) in ages {
            assert_eq!(age(text), Some(Duration::from_secs(seconds)), "{text}");
            assert!(instant(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "h",
            "-1h",
            "1w",
            "yesterday",
            "2027-13-01",
            "99999999999999999999d",
        ] {
            assert_eq!(age(text), None, "{text}");
            assert!(instant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_service_is_named_as_everywhere() {
        assert_eq!(service("rooms"), Ok(1));
        let error = service("room").unwrap_err();
        assert!(
            error.starts_with("one of rooms, exchange, travel, games, seats"),
            "{error}"
        );
    }
}
