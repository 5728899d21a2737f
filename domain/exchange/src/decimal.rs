//! Exact decimals: as callers write them, and as cash is kept.

use std::fmt;

use turnstile_chassis::{Bytes, Decode, Encode, Kind, Show, Value};
use turnstile_types::{Malformed, Reader};

/// Digits after the point of every amount of cash. A symbol's price scale and quantity scale
/// together are at most this, so that price x quantity is exact.
pub const CASH_SCALE: u8 = 8;

/// The most digits after the point that a decimal may be written with.
const DIGITS_MAX: u8 = 18;

/// A decimal number without a sign, as it was written: `units / 10^scale`, the zeros at its end
/// dropped, so that equal numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    units: u64,
    scale: u8,
}

turnstile_chassis::readable!(Decimal, InvalidDecimal, Kind::Decimal);

impl Value for Decimal {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.decimal(self.units.into(), self.scale)
    }

    fn kind() -> Kind {
        Kind::Decimal
    }
}

impl Value for Cash {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.decimal(self.0, CASH_SCALE)
    }

    fn kind() -> Kind {
        Kind::Decimal
    }
}

/// Why some text is no [`Decimal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidDecimal {
    Empty,
    /// The byte offset of the first character that does not belong.
    Character(usize),
    /// More than 18 digits after the point, or a number beyond 64 bits without it.
    TooLong,
}

impl Decimal {
    pub const ZERO: Self = Self { units: 0, scale: 0 };

    /// A number of `units / 10^scale`.
    ///
    /// # Panics
    /// When the scale is above 18.
    #[must_use]
    pub const fn new(units: u64, scale: u8) -> Self {
        assert!(scale <= DIGITS_MAX, "a decimal has at most 18 digits");
        if units == 0 {
            return Self::ZERO;
        }
        let mut number = Self { units, scale };
        // Most numbers end in many zeros: shares are whole, prices are in cents.
        number.drop_zeros(16, 10_000_000_000_000_000);
        number.drop_zeros(8, 100_000_000);
        number.drop_zeros(4, 10_000);
        number.drop_zeros(2, 100);
        number.drop_zeros(1, 10);
        number
    }

    /// Drops so many zeros after the point, if there are.
    #[inline]
    const fn drop_zeros(&mut self, zeros: u8, power: u64) {
        if self.scale >= zeros && self.units.is_multiple_of(power) {
            self.units /= power;
            self.scale -= zeros;
        }
    }

    /// Reads digits with at most one point, and a digit on at least one side of it: `125`,
    /// `145.67`, `.5`, `5.`. No sign, no exponent, no blanks.
    ///
    /// # Errors
    /// Anything else, and what does not fit.
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Self, InvalidDecimal> {
        match Self::parse_short(text) {
            Some(number) => Ok(number),
            None => Self::parse_any(text),
        }
    }

    /// Reads a number that cannot be too long; none: that one, or no number.
    #[inline]
    fn parse_short(text: &[u8]) -> Option<Self> {
        if text.len() > usize::from(DIGITS_MAX) {
            return None;
        }
        let (mut units, mut digits, mut scale, mut has_point) = (0, 0_u8, 0_u8, false);
        for &byte in text {
            match byte {
                b'0'..=b'9' => {
                    units = units * 10 + u64::from(byte - b'0');
                    digits += 1;
                    scale += u8::from(has_point);
                }
                b'.' if !has_point => has_point = true,
                _ => return None,
            }
        }
        (digits > 0).then(|| Self::new(units, scale))
    }

    fn parse_any(text: &[u8]) -> Result<Self, InvalidDecimal> {
        let (mut units, mut digits) = (0_u64, 0_usize);
        let mut scale = None;
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    digits += 1;
                    if let Some(scale) = &mut scale {
                        // Zeros at the end say nothing, however many there are.
                        if byte == b'0' && text.iter().skip(at).all(|&rest| rest == b'0') {
                            break;
                        }
                        *scale += 1;
                    }
                    units = units
                        .checked_mul(10)
                        .and_then(|units| units.checked_add(u64::from(byte - b'0')))
                        .ok_or(InvalidDecimal::TooLong)?;
                }
                b'.' if scale.is_none() => scale = Some(0_usize),
                _ => return Err(InvalidDecimal::Character(at)),
            }
        }
        if digits == 0 {
            return Err(if text.is_empty() {
                InvalidDecimal::Empty
            } else {
                InvalidDecimal::Character(0)
            });
        }
        let scale = u8::try_from(scale.unwrap_or(0)).map_err(|_large| InvalidDecimal::TooLong)?;
        if scale > DIGITS_MAX {
            return Err(InvalidDecimal::TooLong);
        }
        Ok(Self::new(units, scale))
    }

    #[must_use]
    pub const fn units(self) -> u64 {
        self.units
    }

    /// Digits after the point; the last is not zero.
    #[must_use]
    pub const fn scale(self) -> u8 {
        self.scale
    }

    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.units == 0
    }

    /// The number in units of `10^-scale`; none when it has more digits than that, or too many.
    #[must_use]
    pub fn at_scale(self, scale: u8) -> Option<u128> {
        let more = scale.checked_sub(self.scale)?;
        let power = 10_u64.checked_pow(u32::from(more))?;
        Some(u128::from(self.units) * u128::from(power))
    }
}

/// The shortest form: `125`, `145.67`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        put(f, u128::from(self.units), self.scale)
    }
}

impl Encode for Decimal {
    fn encode(&self, out: &mut Vec<u8>) {
        self.units.encode(out);
        self.scale.encode(out);
    }
}

/// Only the shortest form is read.
impl Decode<'_> for Decimal {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let (units, scale) = (reader.u64(field)?, reader.u8(field)?);
        Malformed::unless(scale <= DIGITS_MAX, field)?;
        let number = Self::new(units, scale);
        Malformed::unless(number.scale == scale, field)?;
        Ok(number)
    }
}

/// An amount of cash in units of `10^-8`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct Cash(pub u128);

/// The shortest form: `125`, `145.67`.
impl fmt::Display for Cash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        put(f, self.0, CASH_SCALE)
    }
}

fn put(f: &mut fmt::Formatter<'_>, units: u128, scale: u8) -> fmt::Result {
    let one = 10_u128.pow(u32::from(scale));
    let (whole, mut part) = (units / one, units % one);
    write!(f, "{whole}")?;
    if part == 0 {
        return Ok(());
    }
    let mut width = usize::from(scale);
    while part.is_multiple_of(10) {
        part /= 10;
        width -= 1;
    }
    write!(f, ".{part:0width$}")
}

impl fmt::Display for InvalidDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a number has at least one digit"),
            Self::Character(at) => {
                write!(
                    f,
                    "a number is digits with at most one point, character {} is not",
                    at + 1
                )
            }
            Self::TooLong => f.write_str("the number has more digits than can be kept"),
        }
    }
}

impl std::error::Error for InvalidDecimal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_read_exactly_and_shown_in_its_shortest_form() {
        let rows: [(&str, Result<&str, InvalidDecimal>); 16] = [
            ("125", Ok("125")),
            ("145.67", Ok("145.67")),
            ("0145.6700", Ok("145.67")),
            ("0.00000001", Ok("0.00000001")),
            (".5", Ok("0.5")),
            ("5.", Ok("5")),
            ("1.0000000000000000000000", Ok("1")),
            ("18446744073709551615", Ok("18446744073709551615")),
            ("18446744073709551616", Err(InvalidDecimal::TooLong)),
            ("0.0000000000000000001", Err(InvalidDecimal::TooLong)),
            ("", Err(InvalidDecimal::Empty)),
            (".", Err(InvalidDecimal::Character(0))),
            ("-1", Err(InvalidDecimal::Character(0))),
            ("1e5", Err(InvalidDecimal::Character(1))),
            ("1.2.3", Err(InvalidDecimal::Character(3))),
            ("1 ", Err(InvalidDecimal::Character(1))),
        ];
        for (text, expected) in rows {
            let found = Decimal::parse(text.as_bytes()).map(|number| number.to_string());
            assert_eq!(found.as_deref().map_err(|&error| error), expected, "{text}");
        }
    }

    #[test]
    fn short_texts_are_read_like_all_others() {
        let letters = b"0159.x";
        let count = letters.len().pow(6);
        for number in 0..count {
            let mut rest = number;
            let text: Vec<u8> = std::iter::from_fn(|| {
                let letter = (rest > 0).then(|| letters[rest % letters.len()])?;
                rest /= letters.len();
                Some(letter)
            })
            .collect();
            let slowly = Decimal::parse_any(&text);
            assert_eq!(Decimal::parse(&text), slowly, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn zeros_at_the_end_are_dropped_however_many() {
        for zeros in 0..=18_u8 {
            for scale in 0..=18_u8 {
                let units = 7 * 10_u64.pow(u32::from(zeros));
                let dropped = zeros.min(scale);
                let expected = Decimal {
                    units: 7 * 10_u64.pow(u32::from(zeros - dropped)),
                    scale: scale - dropped,
                };
                assert_eq!(Decimal::new(units, scale), expected, "{zeros} of {scale}");
            }
        }
        assert_eq!(Decimal::new(0, 18), Decimal::ZERO);
    }

    #[test]
    fn a_decimal_is_scaled_only_when_no_digit_is_lost() {
        let number = Decimal::parse(b"1.25").unwrap();
        assert_eq!(number.at_scale(2), Some(125));
        assert_eq!(number.at_scale(4), Some(12_500));
        assert_eq!(number.at_scale(1), None);
        assert_eq!(Cash(12_500_000_000).to_string(), "125");
        assert_eq!(Cash(1).to_string(), "0.00000001");
    }
}
