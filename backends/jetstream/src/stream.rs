//! The stream of a log: its name, its configuration, and how another one differs from it.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::settings::LogSettings;

/// The largest message that brokers take by default.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// The largest entry: the rest of a message is for its header.
pub const ENTRY_BYTES_MAX: usize = MESSAGE_BYTES_MAX - 1_024;

/// For how long the broker drops a repetition of an id: two minutes, in nanoseconds.
const DUPLICATE_WINDOW_NANOS: u64 = 120_000_000_000;

/// Fields that say nothing of what the stream does with entries: free text, and where the broker keeps it.
const FREE: [&str; 4] = ["metadata", "description", "placement", "consumer_limits"];

/// The name of the stream of a partition.
pub(crate) fn name(settings: &LogSettings) -> String {
    format!("LOG_{}", settings.partition)
}

/// The subject on which this node publishes.
pub(crate) fn subject(settings: &LogSettings) -> String {
    format!("log.{}.{}", settings.partition, settings.node)
}

/// What the stream must be: replicated, on disks, refusing entries rather than dropping old ones.
pub(crate) fn wanted(settings: &LogSettings) -> Value {
    json!({
        "name": name(settings),
        "subjects": [format!("log.{}.>", settings.partition)],
        "retention": "limits",
        "storage": "file",
        "num_replicas": settings.replicas,
        "discard": "new",
        "max_bytes": settings.stream_bytes_max,
        "max_msg_size": MESSAGE_BYTES_MAX,
        "max_age": 0,
        "max_msgs": -1,
        "max_msgs_per_subject": -1,
        "max_consumers": -1,
        "duplicate_window": DUPLICATE_WINDOW_NANOS,
        "deny_delete": true,
        "deny_purge": false,
        "allow_direct": false,
        "allow_rollup_hdrs": false,
        "mirror_direct": false,
        "sealed": false,
        "no_ack": false,
        "compression": "none",
    })
}

/// A field in which a stream is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub field: String,
    /// In JSON.
    pub wanted: String,
    /// In JSON.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            wanted,
            found,
        } = self;
        write!(f, "{field} is {found}, not {wanted}")
    }
}

/// Every field in which two configurations differ. A field that only one has must say nothing there,
/// so that a field of a newer broker cannot change what the stream does.
pub(crate) fn differences(wanted: &Value, found: &Value) -> Vec<Difference> {
    let empty = Map::new();
    let wanted = wanted.as_object().unwrap_or(&empty);
    let found = found.as_object().unwrap_or(&empty);
    let mut fields: Vec<&String> = wanted.keys().chain(found.keys()).collect();
    fields.sort();
    fields.dedup();
    fields
        .into_iter()
        .filter(|field| !FREE.contains(&field.as_str()))
        .filter_map(|field| {
            let of = |config: &Map<String, Value>| config.get(field).cloned();
            let (wanted, found) = (of(wanted), of(found));
            let is_same = match (&wanted, &found) {
                (Some(wanted), Some(found)) => wanted == found,
                (Some(only), None) | (None, Some(only)) => says_nothing(only),
                (None, None) => true,
            };
            let text = |value: Option<Value>| value.unwrap_or(Value::Null).to_string();
            (!is_same).then(|| Difference {
                field: field.clone(),
                wanted: text(wanted),
                found: text(found),
            })
        })
        .collect()
}

/// Whether a value is what a broker takes a missing field for.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => matches!(number.as_i64(), Some(0 | -1)),
        Value::String(text) => text.is_empty() || text == "none" || text == "default",
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: &Value, expected: &[&str]) {
        let wanted = json!({ "replicas": 3, "sealed": false, "max_age": 0, "discard": "new" });
        let mut found = wanted.clone();
        for (field, value) in change.as_object().expect("an object") {
            found[field] = value.clone();
        }
        let told: Vec<String> = differences(&wanted, &found)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn differences_are_named_field_by_field() {
        check(&json!({}), &[]);
        check(&json!({ "metadata": { "_nats.level": "1" } }), &[]);
        check(
            &json!({ "allow_msg_ttl": false, "persist_mode": "default" }),
            &[],
        );
        check(
            &json!({ "replicas": 1, "discard": "old", "allow_msg_ttl": true }),
            &[
                "allow_msg_ttl is true, not null",
                "discard is \"old\", not \"new\"",
                "replicas is 1, not 3",
            ],
        );
        check(
            &json!({ "persist_mode": "async", "mirror": { "name": "X" } }),
            &[
                "mirror is {\"name\":\"X\"}, not null",
                "persist_mode is \"async\", not null",
            ],
        );
    }

    #[test]
    fn a_missing_field_is_a_difference_only_if_it_would_say_something() {
        let wanted = json!({ "max_age": 0, "deny_delete": true });
        let told = differences(&wanted, &json!({}));
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].field, "deny_delete");
    }
}
