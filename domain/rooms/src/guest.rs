//! Who a booking is for: a name that may be shown, and an id number that may not.

use std::{fmt, hash::Hasher};

use siphasher::sip::SipHasher24;
use turnstile_chassis::{Decode, Encode, Kind, Show, Value};
use turnstile_types::{Malformed, Reader};

use crate::text::short_text;

short_text! {
    /// A guest's name: 1 to 100 characters, none of them a control character.
    GuestName, InvalidGuestName: "a guest name", 100, "Ada Lovelace"
}

/// A national id number of twelve digits, in clear.
///
/// Personal data: it lives only between the door and [`IdKey::seal`]. It has no `Display`, and
/// its `Debug` is masked, so that it cannot reach a log line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IdNumber(u64);

/// Why some text is not an [`IdNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidIdNumber {
    /// Not twelve decimal digits.
    Form,
    /// The last digit is not the Verhoeff check digit of the others.
    CheckDigit,
}

impl IdNumber {
    /// Twelve digits.
    pub(crate) const KIND: Kind = Kind::Pattern {
        example: "234123412346",
        pattern: "^[0-9]{12}$",
    };

    /// Parses twelve digits; with `verhoeff`, the last must be the check digit.
    ///
    /// # Errors
    /// Another form, or a wrong check digit.
    pub fn parse(text: &[u8], verhoeff: bool) -> Result<Self, InvalidIdNumber> {
        let digits: &[u8; 12] = text.try_into().map_err(|_length| InvalidIdNumber::Form)?;
        let (mut number, mut all_digits) = (0, true);
        for &byte in digits {
            let digit = byte.wrapping_sub(b'0');
            all_digits &= digit < 10;
            number = number * 10 + u64::from(digit);
        }
        if !all_digits {
            return Err(InvalidIdNumber::Form);
        }
        if verhoeff && !verhoeff_holds(text) {
            return Err(InvalidIdNumber::CheckDigit);
        }
        Ok(Self(number))
    }

    fn last_four(self) -> u16 {
        u16::try_from(self.0 % 10_000).expect("four digits fit 16 bits")
    }
}

impl fmt::Debug for IdNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdNumber(********{:04})", self.last_four())
    }
}

impl fmt::Display for InvalidIdNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "an id number has exactly 12 digits",
            Self::CheckDigit => "the id number's check digit is wrong",
        })
    }
}

impl std::error::Error for InvalidIdNumber {}

/// Whether a row of digits ends in its Verhoeff check digit: J. Verhoeff, "Error Detecting Decimal
/// Codes", 1969. The dihedral group of order ten is computed instead of tabled.
fn verhoeff_holds(digits: &[u8]) -> bool {
    /// One application of Verhoeff's permutation; position k applies it k times.
    const PERMUTATION: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let mut sum = 0;
    for (position, digit) in digits.iter().rev().enumerate() {
        let mut value = digit - b'0';
        for _ in 0..position % 8 {
            value = PERMUTATION
                .get(usize::from(value))
                .copied()
                .expect("a digit is below ten");
        }
        sum = dihedral_product(sum, value);
    }
    sum == 0
}

/// The product in the dihedral group of order ten: 0 to 4 are rotations, 5 to 9 reflections.
const fn dihedral_product(left: u8, right: u8) -> u8 {
    match (left < 5, right < 5) {
        (true, true) => (left + right) % 5,
        (true, false) => 5 + (left + right - 5) % 5,
        (false, true) => 5 + (left - right) % 5,
        (false, false) => (left + 5 - right) % 5,
    }
}

/// The secret under which a server seals id numbers. It is made once for each data directory.
#[derive(Clone)]
pub struct IdKey([u8; 16]);

impl IdKey {
    #[must_use]
    pub const fn new(secret: [u8; 16]) -> Self {
        Self(secret)
    }

    /// The secret itself, for whoever moves a state: seals are worth nothing without it.
    #[must_use]
    pub const fn secret(&self) -> [u8; 16] {
        self.0
    }

    /// A number that servers with this secret have in common, and that tells nothing of it.
    #[must_use]
    pub fn installation(&self) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(b"installation");
        hasher.finish()
    }

    /// What the machine and the journal know of an id number: `SipHash`-2-4 under this key, and
    /// the last four digits, which listings show.
    #[must_use]
    pub fn seal(&self, number: IdNumber) -> GuestId {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write_u64(number.0);
        GuestId {
            seal: hasher.finish(),
            last_four: number.last_four(),
        }
    }
}

impl fmt::Debug for IdKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdKey(secret)")
    }
}

/// A sealed id number: equal for equal numbers under one [`IdKey`], and not readable without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuestId {
    /// The keyed hash of the number.
    pub seal: u64,
    /// The last four digits, 0 to 9999.
    pub last_four: u16,
}

impl GuestId {
    /// The form that every listing shows: eight stars and the last four digits.
    #[must_use]
    pub fn masked(&self) -> String {
        format!("********{:04}", self.last_four)
    }
}

impl Value for GuestId {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(&self.masked())
    }

    fn kind() -> Kind {
        Kind::Text("********2346")
    }
}

impl Encode for GuestId {
    fn encode(&self, out: &mut Vec<u8>) {
        self.seal.encode(out);
        self.last_four.encode(out);
    }
}

impl Decode<'_> for GuestId {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let (seal, last_four) = (reader.u64(field)?, reader.u16(field)?);
        Malformed::unless(last_four <= 9_999, field)?;
        Ok(Self { seal, last_four })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_number_is_twelve_digits_and_never_shown() {
        let number = IdNumber::parse(b"234123412346", false).unwrap();
        assert_eq!(format!("{number:?}"), "IdNumber(********2346)");
        let sealed = IdKey::new([7; 16]).seal(number);
        assert_eq!(sealed.masked(), "********2346");
        assert_ne!(sealed, IdKey::new([8; 16]).seal(number), "the key matters");
        for text in ["23412341234", "2341234123466", "23412341234x", ""] {
            assert_eq!(
                IdNumber::parse(text.as_bytes(), false),
                Err(InvalidIdNumber::Form)
            );
        }
    }

    #[test]
    fn the_check_digit_finds_every_single_error_and_every_swap_of_neighbours() {
        let digits = *b"234123412346";
        assert!(verhoeff_holds(&digits));
        assert!(
            verhoeff_holds(b"2363"),
            "the textbook example 236 has check digit 3"
        );
        for at in 0..digits.len() {
            for digit in (b'0'..=b'9').filter(|&digit| digit != digits[at]) {
                let mut wrong = digits;
                wrong[at] = digit;
                assert!(IdNumber::parse(&wrong, true).is_err());
            }
            if at + 1 < digits.len() && digits[at] != digits[at + 1] {
                let mut swapped = digits;
                swapped.swap(at, at + 1);
                assert!(IdNumber::parse(&swapped, true).is_err());
            }
        }
    }

    #[test]
    fn a_guest_name_has_one_to_a_hundred_characters() {
        let hundred = "\u{e9}".repeat(100);
        assert_eq!(
            GuestName::parse(hundred.as_bytes()).map(|name| name.as_str()),
            Ok(&*hundred)
        );
        let longer = "\u{e9}".repeat(101);
        assert_eq!(
            GuestName::parse(longer.as_bytes()),
            Err(InvalidGuestName::TooLong(101))
        );
        assert_eq!(GuestName::parse(b""), Err(InvalidGuestName::Empty));
        assert_eq!(
            GuestName::parse(b"a\nb"),
            Err(InvalidGuestName::ControlCharacter)
        );
        assert_eq!(GuestName::parse(b"\xff"), Err(InvalidGuestName::NotUtf8));
    }
}
