//! `turnstile audit`: who did what, from the journal of a data directory.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    ops::ControlFlow,
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Args, ValueEnum};
use serde::Serialize;
use turnstile_embedded::{Audited, AuditedCommand, audit};
use turnstile_json::{
    RecordedFields, RecordedOutcome, recorded_command, recorded_outcome, service_names,
};
use turnstile_stats::units::Count;
use turnstile_types::{Name, Position, Principal, Timestamp};

use crate::{terminal, verify};

/// So many bytes of lines are written at once.
const CHUNK_BYTES: usize = 64 * 1_024;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Data directory. A server may use it; nothing in it is changed
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AuditFormat {
    /// Columns for people
    Table,
    /// One JSON object a line
    Jsonl,
}

fn principal(text: &str) -> Result<Principal, String> {
    let name = Name::parse(text.as_bytes());
    name.map(Principal).map_err(|invalid| invalid.to_string())
}

/// The number of a service.
fn service(text: &str) -> Result<u8, String> {
    let names = service_names();
    let found = names.iter().find(|(_, name)| *name == text);
    found.map(|(number, _)| *number).ok_or_else(|| {
        let names: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
        format!("one of {}", names.join(", "))
    })
}

/// An instant, the begin of a date in UTC, or an age.
fn instant(text: &str) -> Result<Timestamp, String> {
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

/// One command, as it is shown.
#[derive(Debug, Serialize)]
struct AuditLine {
    position: u64,
    time: String,
    principal: String,
    door: &'static str,
    address_class: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    service: &'static str,
    operation: &'static str,
    fields: RecordedFields,
    #[serde(flatten)]
    outcome: ShownOutcome,
    /// The position of the record that decided a command that had to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum ShownOutcome {
    Done {
        #[serde(skip_serializing_if = "RecordedFields::is_empty")]
        answer: RecordedFields,
    },
    Refused {
        code: &'static str,
        reason: &'static str,
        #[serde(skip_serializing_if = "RecordedFields::is_empty")]
        data: RecordedFields,
    },
    Waiting,
}

impl From<RecordedOutcome> for ShownOutcome {
    fn from(outcome: RecordedOutcome) -> Self {
        match outcome {
            RecordedOutcome::Done(answer) => Self::Done { answer },
            RecordedOutcome::Refused {
                code,
                sentence: reason,
                data,
            } => Self::Refused { code, reason, data },
            RecordedOutcome::Waiting => Self::Waiting,
        }
    }
}

impl AuditLine {
    fn of(command: &AuditedCommand<'_>) -> Self {
        let read = "the record was decided a moment ago";
        let told = recorded_command(command.service, command.payload).expect(read);
        let outcome = recorded_outcome(command.service, command.outcome).expect(read);
        let origin = command.origin;
        Self {
            position: command.position.0,
            time: command.time.to_string(),
            principal: command.principal.to_string(),
            door: origin.door.word(),
            address_class: origin.address.class.word(),
            address: origin.address.kept.to_string(),
            request_id: origin.request_id.map(|id| id.as_str().to_owned()),
            service: told.service,
            operation: told.operation,
            fields: told.fields,
            outcome: outcome.into(),
            decided_at: None,
        }
    }

    /// One line of columns. Only those whose width is known are aligned: lines are shown as they come.
    fn row(&self) -> String {
        let address = if self.address.is_empty() {
            self.address_class
        } else {
            &self.address
        };
        let mut row = format!(
            "{:>10}  {:<24}  {:<12}  {:<9}  {:<18}  {:<10}  {}.{}",
            self.position,
            self.time,
            self.principal,
            self.door,
            address,
            self.request_id.as_deref().unwrap_or("-"),
            self.service,
            self.operation,
        );
        put_values(&mut row, &self.fields);
        let values = match &self.outcome {
            ShownOutcome::Done { answer } => {
                row.push_str(": done");
                answer
            }
            ShownOutcome::Refused { code, reason, data } => {
                row.push_str(": refused, ");
                row.push_str(code);
                put_values(&mut row, data);
                row.push_str(" (");
                row.push_str(reason);
                row.push(')');
                return row;
            }
            ShownOutcome::Waiting => {
                row.push_str(": waiting");
                return row;
            }
        };
        put_values(&mut row, values);
        row
    }
}

/// `name=value`, a text without quotes where it is one word.
fn put_values(row: &mut String, values: &RecordedFields) {
    for (name, value) in &values.0 {
        let written = match value {
            serde_json::Value::String(text) if is_word(text) => write!(row, " {name}={text}"),
            value => write!(row, " {name}={value}"),
        };
        written.expect("a text takes everything");
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_graphic() && letter != '"')
}

const HEAD: &str = "  POSITION  TIME                      PRINCIPAL     DOOR       ADDRESS             REQUEST     COMMAND\n";

/// Takes commands, and writes those that are asked for.
struct AuditWriter<'a> {
    arguments: &'a Arguments,
    /// Commands that are asked for and wait for their answers, with their services.
    waiting: BTreeMap<Position, (u8, AuditLine)>,
    chunk: String,
    seen: u64,
    shown: u64,
}

impl AuditWriter<'_> {
    fn is_asked_for(&self, command: &AuditedCommand<'_>) -> bool {
        let Arguments {
            principal,
            service,
            since,
            until,
            ..
        } = self.arguments;
        principal
            .as_ref()
            .is_none_or(|wanted| wanted == command.principal)
            && service.is_none_or(|wanted| wanted == command.service)
            && since.is_none_or(|since| command.time >= since)
            && until.is_none_or(|until| command.time < until)
    }

    fn take(&mut self, audited: &Audited<'_>) -> io::Result<()> {
        match audited {
            Audited::Command(command) => {
                self.seen += 1;
                if !self.is_asked_for(command) {
                    return Ok(());
                }
                let line = AuditLine::of(command);
                if matches!(line.outcome, ShownOutcome::Waiting) {
                    self.waiting
                        .insert(command.position, (command.service, line));
                    Ok(())
                } else {
                    self.put(&line)
                }
            }
            Audited::Answer { of, by, outcome } => {
                let Some((service, line)) = self.waiting.remove(of) else {
                    return Ok(());
                };
                let outcome = recorded_outcome(service, outcome).expect("its machine made it");
                self.put(&AuditLine {
                    outcome: outcome.into(),
                    decided_at: Some(by.0),
                    ..line
                })
            }
        }
    }

    fn put(&mut self, line: &AuditLine) -> io::Result<()> {
        if self.arguments.refused && !matches!(line.outcome, ShownOutcome::Refused { .. }) {
            return Ok(());
        }
        self.shown += 1;
        match self.arguments.format {
            AuditFormat::Table => self.chunk.push_str(&line.row()),
            AuditFormat::Jsonl => {
                let json = serde_json::to_string(line);
                self.chunk
                    .push_str(&json.expect("a line is texts, numbers, lists and objects"));
            }
        }
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

    /// Writes what is left: the commands that nobody has answered, and all that waits to be written.
    fn finish(mut self) -> io::Result<(u64, u64)> {
        for (_service, line) in std::mem::take(&mut self.waiting).into_values() {
            self.put(&line)?;
        }
        self.flush()?;
        Ok((self.seen, self.shown))
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let dir = &arguments.data;
    let mut writer = AuditWriter {
        arguments,
        waiting: BTreeMap::new(),
        chunk: String::new(),
        seen: 0,
        shown: 0,
    };
    if arguments.format == AuditFormat::Table {
        writer.chunk.push_str(HEAD);
    }
    let mut written = Ok(());
    let extent = audit(dir, |audited| {
        written = writer.take(&audited);
        if written.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    written?;
    let extent = extent.map_err(|error| verify::no_verdict(dir, &error))?;
    let (seen, shown) = writer.finish()?;
    if extent.from > Position(0) {
        terminal::note(format_args!(
            "the journal begins after position {}: earlier records were removed after a snapshot",
            extent.from
        ));
    }
    if extent.is_live {
        terminal::note("a server uses the directory: what it acknowledged later is not shown");
    }
    if extent.torn_bytes > 0 {
        terminal::note(format_args!(
            "a torn tail of {} bytes after position {} is not shown; the next start cuts it",
            Count(extent.torn_bytes),
            extent.last
        ));
    }
    terminal::note(format_args!(
        "{} of {} commands shown, up to position {}",
        Count(shown),
        Count(seen),
        extent.last
    ));
    Ok(())
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
