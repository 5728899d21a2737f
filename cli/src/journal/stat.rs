//! How much a journal holds.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;
use turnstile_embedded::{BackendOpenError, DirectoryReader, ReadFrom, VerifyError};
use turnstile_journal::{is_segment, snapshot};
use turnstile_stats::units::Count;

use super::{files, name_of};
use crate::terminal::Table;

/// Figures of the journal of a directory.
#[derive(Debug, Default, Serialize)]
pub(super) struct JournalStat {
    /// In 16 hexadecimal digits.
    journal: String,
    is_live: bool,
    segments: usize,
    segment_bytes: u64,
    snapshots: Vec<SnapshotStat>,
    groups: u64,
    records: u64,
    /// Of records, without the heads of their groups.
    record_bytes: u64,
    largest_group_bytes: usize,
    first_position: Option<u64>,
    first_time: Option<String>,
    last_position: u64,
    last_time: Option<String>,
    torn_bytes: u64,
    services: BTreeMap<&'static str, RecordFigures>,
}

#[derive(Debug, Serialize)]
struct SnapshotStat {
    position: u64,
    bytes: u64,
}

/// The records of one service.
#[derive(Debug, Default, Serialize)]
struct RecordFigures {
    records: u64,
    payload_bytes: u64,
}

impl JournalStat {
    pub(super) fn of(dir: &Path) -> Result<Self, VerifyError> {
        let mut reader = DirectoryReader::open(dir, ReadFrom::Oldest)?;
        let mut stat = Self {
            journal: format!("{:016x}", reader.journal()),
            is_live: reader.is_live(),
            torn_bytes: reader.torn_bytes(),
            ..Self::default()
        };
        let files = files(dir).map_err(|cause| BackendOpenError::Directory {
            path: dir.to_owned(),
            cause,
        })?;
        for (name, bytes) in files {
            if is_segment(&name) {
                stat.segments += 1;
                stat.segment_bytes += bytes;
            } else if let Some(position) = snapshot::position(&name) {
                stat.snapshots.push(SnapshotStat {
                    position: position.0,
                    bytes,
                });
            }
        }
        while let Some(group) = reader.next_group()? {
            if group.is_seal() {
                continue;
            }
            let time = group.time().to_string();
            stat.groups += 1;
            stat.record_bytes += u64::from(group.header().body_bytes);
            stat.largest_group_bytes = stat.largest_group_bytes.max(group.header().group_bytes());
            stat.first_position.get_or_insert_with(|| group.first().0);
            stat.first_time.get_or_insert_with(|| time.clone());
            stat.last_time = Some(time);
            for record in group.records() {
                let service = stat.services.entry(name_of(record.service)).or_default();
                service.records += 1;
                service.payload_bytes += u64::try_from(record.payload.len()).unwrap_or(u64::MAX);
                stat.records += 1;
            }
        }
        stat.last_position = reader.position().0;
        Ok(stat)
    }

    /// One JSON object.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("figures are texts and numbers")
    }

    /// Rows for people.
    pub(super) fn table(&self) -> String {
        let mut table = Table::default();
        let live = if self.is_live { "yes" } else { "no" };
        table.row("journal", &self.journal);
        table.row("used by a server", live);
        let segments = format!("{} ({} bytes)", self.segments, Count(self.segment_bytes));
        table.row("segments", segments);
        for snapshot in &self.snapshots {
            let label = format!("snapshot at {}", Count(snapshot.position));
            table.row(label, format_args!("{} bytes", Count(snapshot.bytes)));
        }
        let at = |position: Option<u64>, time: &Option<String>| match (position, time) {
            (Some(position), Some(time)) => format!("{} ({time})", Count(position)),
            _ => "none".to_owned(),
        };
        table.row("first position", at(self.first_position, &self.first_time));
        let last = Some(self.last_position);
        table.row("last position", at(last, &self.last_time));
        table.row("groups", Count(self.groups));
        let largest = u64::try_from(self.largest_group_bytes).unwrap_or(u64::MAX);
        table.row("largest group", format_args!("{} bytes", Count(largest)));
        let records = format!(
            "{} ({} bytes)",
            Count(self.records),
            Count(self.record_bytes)
        );
        table.row("records", records);
        for (name, of) in &self.services {
            let figures = format!(
                "{} ({} bytes of payload)",
                Count(of.records),
                Count(of.payload_bytes)
            );
            table.row(format!("  {name}"), figures);
        }
        if self.torn_bytes > 0 {
            table.row(
                "torn tail",
                format_args!("{} bytes", Count(self.torn_bytes)),
            );
        }
        table.to_string()
    }
}
