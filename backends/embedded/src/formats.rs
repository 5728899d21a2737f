//! The versions of what is stored.

use turnstile_sequencer::SNAPSHOT_VERSION;

/// A stored format and the newest version of it that this program reads. It reads all older ones too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatVersion {
    /// As its page in `docs/formats` names it.
    pub name: &'static str,
    pub newest: u16,
}

/// All of them. `docs/formats` describes each.
pub const FORMATS: [FormatVersion; 6] = [
    format("journal", turnstile_journal::JOURNAL_VERSION),
    format("record", turnstile_record::VERSION),
    format("entry", turnstile_record::ENTRY_VERSION),
    format("snapshot", turnstile_journal::snapshot::VERSION),
    format("state", SNAPSHOT_VERSION as u16),
    format("id key", crate::id_key::VERSION),
];

const fn format(name: &'static str, newest: u16) -> FormatVersion {
    FormatVersion { name, newest }
}
