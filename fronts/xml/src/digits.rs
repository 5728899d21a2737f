//! Numbers as bytes, without the cost of the formatting machinery.

use turnstile_exchange::Decimal;

/// A number of 64 bits has at most this many digits.
const DIGITS_MAX: usize = 20;

/// A number in decimal.
struct NumberText {
    /// Filled from the back.
    digits: [u8; DIGITS_MAX],
    from: usize,
}

impl NumberText {
    /// At least `width` digits, zeros before the number where it has fewer.
    #[inline]
    fn new(number: u64, width: usize) -> Self {
        let mut digits = [b'0'; DIGITS_MAX];
        let mut from = DIGITS_MAX;
        let mut rest = number;
        while rest > 0 {
            from -= 1;
            digits[from] = b'0' + u8::try_from(rest % 10).expect("a digit is below ten");
            rest /= 10;
        }
        Self {
            from: from.min(DIGITS_MAX - width),
            digits,
        }
    }

    #[inline]
    fn shown(&self) -> &[u8] {
        self.digits.get(self.from..).expect("it starts within")
    }
}

#[inline]
pub(crate) fn put_integer(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(NumberText::new(number, 1).shown());
}

/// The shortest form: a point only where a digit stands behind it, and a digit before it.
pub(crate) fn put_decimal(out: &mut Vec<u8>, number: Decimal) {
    let scale = usize::from(number.scale());
    let digits = NumberText::new(number.units(), scale + 1);
    let (whole, part) = digits.shown().split_at(digits.shown().len() - scale);
    out.extend_from_slice(whole);
    if !part.is_empty() {
        out.push(b'.');
        out.extend_from_slice(part);
    }
}

/// Puts the length of what begins at `start` into a line before it.
pub(crate) fn put_length_line(out: &mut Vec<u8>, start: usize) {
    let length = u64::try_from(out.len() - start).expect("a length fits 64 bits");
    let line = NumberText::new(length, 1);
    let line = line.shown().iter().copied().chain([b'\n']);
    out.splice(start..start, line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_has_its_shortest_form() {
        let rows = [
            "0",
            "7",
            "125",
            "145.67",
            "0.5",
            "0.00000001",
            "18446744073709551615",
        ];
        for text in rows {
            let mut out = Vec::new();
            put_decimal(&mut out, Decimal::parse(text.as_bytes()).unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        let mut out = Vec::new();
        put_decimal(&mut out, Decimal::parse(b"1.844674407370955161").unwrap());
        assert_eq!(out, b"1.844674407370955161");
    }

    #[test]
    fn a_length_stands_before_what_it_counts() {
        let mut out = b"before".to_vec();
        out.extend_from_slice(&[b'x'; 12]);
        put_length_line(&mut out, 6);
        assert_eq!(out, b"before12\nxxxxxxxxxxxx");
    }
}
