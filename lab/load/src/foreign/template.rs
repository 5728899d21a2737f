//! A text in which the number of a request may stand.

use turnstile_client::resp::put_decimal;

/// What stands for the number of the request: `SET k __n__`.
pub const NUMBER: &str = "__n__";

/// How a number begins in a text, and how it ends; between them may stand `%100`: the number modulo 100.
const BEGIN: &[u8] = b"__n";
const END: &[u8] = b"__";

/// The longest number.
const DIGITS_MAX: usize = 20;

/// A text with places for the number of a request: `__n__`, or `__n%100__` for the number modulo 100.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    first: Vec<u8>,
    /// Each number, modulo what is said if anything is, and the text after it.
    rest: Vec<(Option<u64>, Vec<u8>)>,
}

impl Template {
    /// Reads a text. What is almost a place for a number is plain text.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let mut template = Self {
            first: Vec::new(),
            rest: Vec::new(),
        };
        let mut left = text;
        while let Some((&byte, after)) = left.split_first() {
            if let Some((modulus, after)) = number(left) {
                template.rest.push((modulus, Vec::new()));
                left = after;
                continue;
            }
            let part = template.rest.last_mut().map(|(_, part)| part);
            part.unwrap_or(&mut template.first).push(byte);
            left = after;
        }
        template
    }

    /// Appends the text with this number.
    pub fn put(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.first);
        for (modulus, part) in &self.rest {
            put_decimal(out, modulus.map_or(number, |modulus| number % modulus));
            out.extend_from_slice(part);
        }
    }

    /// The most bytes that it takes.
    pub(super) fn longest(&self) -> usize {
        let parts = self.rest.iter().map(|(_, part)| DIGITS_MAX + part.len());
        self.first.len() + parts.sum::<usize>()
    }
}

/// The place for a number at the front of a text, and the text behind it.
fn number(text: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let text = text.strip_prefix(BEGIN)?;
    let Some(text) = text.strip_prefix(b"%") else {
        return Some((None, text.strip_prefix(END)?));
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, text) = text.split_at(digits);
    let modulus = str::from_utf8(digits).ok()?.parse().ok();
    let modulus = modulus.filter(|&modulus: &u64| modulus > 0)?;
    Some((Some(modulus), text.strip_prefix(END)?))
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
            ("k__n%10__", "k2", 21),
            ("__n%100____n__", "4242", 40),
            ("__n%0__", "__n%0__", 7),
            ("__n%__", "__n%__", 6),
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
