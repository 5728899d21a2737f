//! Who did what: the lines of an audit, as JSON and as columns, and the page of them that a server answers.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};
use turnstile_chassis::{Cursor, Field, Kind, Value as _};
use turnstile_types::{Audited, AuditedCommand, Origin, Position, Principal, Timestamp};

use crate::{RecordedCommand, RecordedFields, RecordedOutcome, recorded_command, recorded_outcome};

/// The columns of [`AuditLine::row`].
pub const AUDIT_HEAD: &str = "  POSITION  TIME                      PRINCIPAL     DOOR       ADDRESS             REQUEST     COMMAND";

/// One record of the journal: who asked for what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordLine {
    /// The position of the record.
    pub position: u64,
    pub time: String,
    pub principal: String,
    pub door: Cow<'static, str>,
    pub address_class: Cow<'static, str>,
    /// As far as the policy keeps it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Told where records are shown; an audit leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    pub service: Cow<'static, str>,
    pub operation: Cow<'static, str>,
    /// What was asked, without secrets.
    pub fields: RecordedFields,
}

/// One command of the journal, as an audit shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditLine {
    #[serde(flatten)]
    pub record: RecordLine,
    #[serde(flatten)]
    pub outcome: AuditOutcome,
    /// The position of the record that decided a command that had to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<u64>,
}

/// What a command came to, as an audit shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum AuditOutcome {
    Done {
        #[serde(default, skip_serializing_if = "RecordedFields::is_empty")]
        answer: RecordedFields,
    },
    Refused {
        code: Cow<'static, str>,
        reason: Cow<'static, str>,
        #[serde(default, skip_serializing_if = "RecordedFields::is_empty")]
        data: RecordedFields,
    },
    Waiting,
}

/// Which commands an audit shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub principal: Option<Principal>,
    /// The number of a service.
    pub service: Option<u8>,
    /// From this instant on.
    pub since: Option<Timestamp>,
    /// Before this instant.
    pub until: Option<Timestamp>,
    /// Only those that were refused.
    pub refused: bool,
}

/// The lines of an audit, in the order in which the commands were decided.
///
/// A command that has to wait is shown once, when its answer is known.
#[derive(Debug)]
pub struct AuditLines {
    filter: AuditFilter,
    /// Commands that are asked for and wait for their answers, with their services.
    waiting: BTreeMap<Position, (u8, AuditLine)>,
}

/// What a server answers to a request for the audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditPage {
    pub commands: Vec<AuditLine>,
    /// How many commands were read for this page, those that are not shown included.
    pub read: u64,
    /// The position after which the journal begins; above 0, earlier records were removed after a snapshot.
    pub after: u64,
    /// The position of the last record that was read.
    pub position: u64,
    /// Where the next page begins; not set on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<RecordedOutcome> for AuditOutcome {
    fn from(outcome: RecordedOutcome) -> Self {
        match outcome {
            RecordedOutcome::Done(answer) => Self::Done { answer },
            RecordedOutcome::Refused {
                code,
                sentence,
                data,
            } => Self::Refused {
                code: code.into(),
                reason: sentence.into(),
                data,
            },
            RecordedOutcome::Waiting => Self::Waiting,
        }
    }
}

impl AuditFilter {
    /// Whether a command is asked for, whatever it came to.
    fn wants(&self, command: &AuditedCommand<'_>) -> bool {
        let principal = self.principal.as_ref();
        principal.is_none_or(|wanted| wanted == command.principal)
            && self.service.is_none_or(|wanted| wanted == command.service)
            && self.since.is_none_or(|since| command.time >= since)
            && self.until.is_none_or(|until| command.time < until)
    }
}

impl AuditLines {
    #[must_use]
    pub const fn new(filter: AuditFilter) -> Self {
        Self {
            filter,
            waiting: BTreeMap::new(),
        }
    }

    /// Takes what comes next in the journal; a line, if one is to be shown now.
    ///
    /// # Panics
    /// The command was not decided by the machine of its service.
    pub fn take(&mut self, audited: &Audited<'_>) -> Option<AuditLine> {
        let line = match audited {
            Audited::Command(command) if self.filter.wants(command) => {
                let line = AuditLine::of(command);
                if line.outcome == AuditOutcome::Waiting {
                    let waiting = (command.service, line);
                    self.waiting.insert(command.position, waiting);
                    return None;
                }
                line
            }
            Audited::Command(_) => return None,
            Audited::Answer { of, by, outcome } => {
                let (service, line) = self.waiting.remove(of)?;
                let outcome = recorded_outcome(service, outcome).expect("its machine made it");
                AuditLine {
                    outcome: outcome.into(),
                    decided_at: Some(by.0),
                    ..line
                }
            }
        };
        let is_refused = matches!(line.outcome, AuditOutcome::Refused { .. });
        (is_refused || !self.filter.refused).then_some(line)
    }

    /// The lines of the commands that wait still, in the order of the journal.
    pub fn waiting(&self) -> impl Iterator<Item = &AuditLine> {
        let waiting = self.waiting.values().map(|(_service, line)| line);
        waiting.filter(|_| !self.filter.refused)
    }
}

impl RecordLine {
    /// What the record at this position and time says.
    #[must_use]
    pub fn of(
        (position, time): (Position, Timestamp),
        principal: &Principal,
        origin: &Origin<'_>,
        told: RecordedCommand,
    ) -> Self {
        Self {
            position: position.0,
            time: time.to_string(),
            principal: principal.to_string(),
            door: origin.door.word().into(),
            address_class: origin.address.class.word().into(),
            address: origin.address.kept.to_string(),
            request_id: origin.request_id.map(|id| id.as_str().to_owned()),
            idempotency_key: None,
            service: told.service.into(),
            operation: told.operation.into(),
            fields: told.fields,
        }
    }

    /// One JSON object.
    ///
    /// # Panics
    /// Never: it is made of texts, numbers, lists and objects.
    #[must_use]
    pub fn json(&self) -> String {
        let json = serde_json::to_string(self);
        json.expect("a line is texts, numbers, lists and objects")
    }

    /// One line of columns, under [`AUDIT_HEAD`]. Only those whose width is known are aligned: lines are
    /// shown as they come.
    #[must_use]
    pub fn row(&self) -> String {
        let address = if self.address.is_empty() {
            &self.address_class
        } else {
            &*self.address
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
        row
    }
}

impl AuditLine {
    fn of(command: &AuditedCommand<'_>) -> Self {
        let read = "the record was decided a moment ago";
        let told = recorded_command(command.service, command.payload).expect(read);
        let outcome = recorded_outcome(command.service, command.outcome).expect(read);
        let place = (command.position, command.time);
        Self {
            record: RecordLine::of(place, command.principal, command.origin, told),
            outcome: outcome.into(),
            decided_at: None,
        }
    }

    /// One JSON object.
    ///
    /// # Panics
    /// Never: it is made of texts, numbers, lists and objects.
    #[must_use]
    pub fn json(&self) -> String {
        let json = serde_json::to_string(self);
        json.expect("a line is texts, numbers, lists and objects")
    }

    /// The row of its record, and what it came to.
    #[must_use]
    pub fn row(&self) -> String {
        let mut row = self.record.row();
        match &self.outcome {
            AuditOutcome::Done { answer } => {
                row.push_str(": done");
                put_values(&mut row, answer);
            }
            AuditOutcome::Refused { code, reason, data } => {
                row.push_str(": refused, ");
                row.push_str(code);
                put_values(&mut row, data);
                row.push_str(" (");
                row.push_str(reason);
                row.push(')');
            }
            AuditOutcome::Waiting => row.push_str(": waiting"),
        }
        row
    }

    /// Its members as JSON.
    #[must_use]
    pub fn describe() -> Vec<Field> {
        const NOTHING: fn() -> Vec<Field> = Vec::new;
        let text = || Kind::Text("");
        let fields = |name| Kind::Object {
            name,
            fields: NOTHING,
        };
        let always = |name, meaning, kind| Field {
            name,
            meaning,
            kind,
            is_required: true,
        };
        let sometimes = |name, meaning, kind| Field {
            is_required: false,
            ..always(name, meaning, kind)
        };
        vec![
            always("position", "Of its record", Kind::NUMBER),
            always("time", "", Kind::Instant),
            always("principal", "Who asked", text()),
            always("door", "", text()),
            always(
                "address_class",
                "",
                Kind::OneOf(&["none", "loopback", "private", "public"]),
            ),
            sometimes("address", "As far as audit.addresses keeps it", text()),
            sometimes("request_id", "", text()),
            always("service", "", text()),
            always("operation", "", text()),
            always(
                "fields",
                "What was asked, without secrets",
                fields("AuditedFields"),
            ),
            always("outcome", "", Kind::OneOf(&["done", "refused", "waiting"])),
            sometimes("answer", "What was answered", fields("AuditedFields")),
            sometimes("code", "Of the refusal", text()),
            sometimes("reason", "Of the refusal, for people", text()),
            sometimes("data", "Of the refusal", fields("AuditedFields")),
            sometimes(
                "decided_at",
                "The position of the record that decided a command that had to wait",
                Kind::NUMBER,
            ),
        ]
    }
}

impl AuditPage {
    /// Says where the next page begins: after this position, or before it where the newest come first.
    pub fn go_on_at(&mut self, position: Position) {
        let next = serde_json::to_value(crate::AsJson(&Cursor(position.0)));
        self.next = next.ok().and_then(|next| next.as_str().map(str::to_owned));
    }

    /// One JSON object.
    ///
    /// # Panics
    /// Never: it is made of texts, numbers, lists and objects.
    #[must_use]
    pub fn json(&self) -> String {
        let json = serde_json::to_string(self);
        json.expect("a page is texts, numbers, lists and objects")
    }

    /// Its members as JSON.
    #[must_use]
    pub fn describe() -> Vec<Field> {
        let line = Kind::Object {
            name: "AuditLine",
            fields: AuditLine::describe,
        };
        let always = |name, meaning, kind| Field {
            name,
            meaning,
            kind,
            is_required: true,
        };
        vec![
            always("commands", "", Kind::List(Box::new(line))),
            always(
                "read",
                "How many commands were read for this page, those that are not shown included",
                Kind::NUMBER,
            ),
            always(
                "after",
                "The position after which the journal begins; above 0, earlier records were removed after a snapshot",
                Kind::NUMBER,
            ),
            always(
                "position",
                "The position of the last record that was read",
                Kind::NUMBER,
            ),
            Field {
                is_required: false,
                ..always(
                    "next",
                    "Where the next page begins; not set on the last one",
                    Cursor::kind(),
                )
            },
        ]
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    fn lines() -> [AuditLine; 3] {
        let fields = RecordedFields(vec![
            ("zeal".into(), json!("two words")),
            ("a".into(), json!(["x", 1])),
        ]);
        let record = RecordLine {
            position: 7,
            time: "2027-05-01T12:00:00.000Z".to_owned(),
            principal: "shop".to_owned(),
            door: "http".into(),
            address_class: "public".into(),
            address: "192.0.2.0/24".to_owned(),
            request_id: Some("r-1".to_owned()),
            idempotency_key: None,
            service: "travel".into(),
            operation: "book".into(),
            fields: fields.clone(),
        };
        let line = AuditLine {
            record: record.clone(),
            outcome: AuditOutcome::Done {
                answer: fields.clone(),
            },
            decided_at: Some(9),
        };
        let refused = AuditLine {
            record: RecordLine {
                address: String::new(),
                request_id: None,
                ..record
            },
            decided_at: None,
            outcome: AuditOutcome::Refused {
                code: "sold_out".into(),
                reason: "No room".into(),
                data: fields,
            },
        };
        let waiting = AuditLine {
            outcome: AuditOutcome::Waiting,
            ..refused.clone()
        };
        [line, refused, waiting]
    }

    #[test]
    fn a_line_reads_back_from_its_json_with_its_fields_in_their_order() {
        for line in lines() {
            let read: AuditLine = serde_json::from_str(&line.json()).unwrap();
            assert_eq!(
                (&read, read.row(), read.json()),
                (&line, line.row(), line.json())
            );
        }
    }

    #[test]
    fn what_is_described_is_what_lines_and_pages_have() {
        let names = |fields: Vec<Field>| -> BTreeSet<&str> {
            fields.iter().map(|field| field.name).collect()
        };
        let mut seen = BTreeSet::new();
        let mut always: Option<BTreeSet<String>> = None;
        for line in lines() {
            let json: serde_json::Value = serde_json::from_str(&line.json()).unwrap();
            let members: BTreeSet<String> = json.as_object().unwrap().keys().cloned().collect();
            seen.extend(members.clone());
            always = Some(always.map_or_else(|| members.clone(), |known| &known & &members));
        }
        let described = AuditLine::describe();
        let required = described.iter().filter(|field| field.is_required);
        let required: BTreeSet<String> = required.map(|field| field.name.to_owned()).collect();
        assert_eq!(Some(required), always);
        let described: BTreeSet<String> = names(described).into_iter().map(str::to_owned).collect();
        assert_eq!(described, seen);
        let mut page = AuditPage::default();
        page.go_on_at(Position(10));
        let json: serde_json::Value = serde_json::from_str(&page.json()).unwrap();
        let members: BTreeSet<&str> = json
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(members, names(AuditPage::describe()));
        assert_eq!(json["next"], "c000000000000000a");
    }

    #[test]
    fn a_row_shows_one_word_without_quotes_and_everything_else_as_json() {
        let [_, refused, waiting] = lines();
        let begin = "         7  2027-05-01T12:00:00.000Z  shop          http       public              -           \
                     travel.book zeal=\"two words\" a=[\"x\",1]: ";
        assert_eq!(
            refused.row(),
            format!("{begin}refused, sold_out zeal=\"two words\" a=[\"x\",1] (No room)")
        );
        assert_eq!(waiting.row(), format!("{begin}waiting"));
    }
}
