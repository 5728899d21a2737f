//! What the server answered, taken apart.

use std::collections::BTreeMap;

use turnstile_client::resp::Value;

/// The answer to a request that may change something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Where the request stands in the order of all.
    pub(crate) position: u64,
    /// It is the answer to an earlier request with the same key.
    pub(crate) replayed: bool,
    /// Everything else, by name.
    pub(crate) fields: BTreeMap<String, String>,
}

impl Answer {
    /// Reads the RESP3 form.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        let mut fields = fields(value).ok_or_else(|| format!("no outcome: {value}"))?;
        let replayed = fields.remove("replayed").is_some();
        let position = fields.remove("position").and_then(|text| text.parse().ok());
        Ok(Self {
            position: position.ok_or_else(|| format!("an outcome without a position: {value}"))?,
            replayed,
            fields,
        })
    }

    /// A field as it came.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }

    /// A field that is a number.
    pub(crate) fn number(&self, field: &str) -> Option<u64> {
        self.text(field)?.parse().ok()
    }

    /// Whether both tell of the same one effect.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        (self.position, &self.fields) == (other.position, &other.fields)
    }
}

/// A map as text.
pub(crate) fn fields(value: &Value) -> Option<BTreeMap<String, String>> {
    let Value::Map(pairs) = value else {
        return None;
    };
    let text = |(name, value): &(Value, Value)| Some((text(name)?, text(value)?));
    pairs.iter().map(text).collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(values) => {
            let texts: Option<Vec<String>> = values.iter().map(text).collect();
            Some(texts?.join(","))
        }
        other => other.as_str().map(str::to_owned),
    }
}
