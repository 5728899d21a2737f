//! A text in which the number of a request may stand.

use turnstile_client::resp::put_decimal;

/// What stands for the number of the request: `SET k __n__`.
pub const NUMBER: &str = "__n__";

/// The longest number.
const DIGITS_MAX: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// The number stands between each two of these.
    parts: Vec<Vec<u8>>,
}

impl Template {
    pub(super) fn new(text: &[u8]) -> Self {
        let mark = NUMBER.as_bytes();
        let mut parts = vec![Vec::new()];
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            if let Some(after) = rest.strip_prefix(mark) {
                parts.push(Vec::new());
                rest = after;
                continue;
            }
            parts.last_mut().expect("there is a first part").push(byte);
            rest = after;
        }
        Self { parts }
    }

    /// Appends the text with this number.
    pub(super) fn put(&self, number: u64, out: &mut Vec<u8>) {
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                put_decimal(out, number);
            }
            out.extend_from_slice(part);
        }
    }

    /// The most bytes that it takes.
    pub(super) fn longest(&self) -> usize {
        let texts: usize = self.parts.iter().map(Vec::len).sum();
        texts + (self.parts.len() - 1) * DIGITS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::Template;

    #[test]
    fn the_number_stands_wherever_it_was_asked_for() {
        let rows = [
            ("plain", "plain", 5),
            ("__n__", "42", 20),
            ("a__n__b__n__", "a42b42", 42),
            ("__n_", "__n_", 4),
            ("", "", 0),
        ];
        for (text, shown, longest) in rows {
            let template = Template::new(text.as_bytes());
            let mut out = Vec::new();
            template.put(42, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), shown, "{text}");
            assert_eq!(template.longest(), longest, "{text}");
        }
    }
}
