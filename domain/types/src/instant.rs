//! Instants as callers write them.

use std::fmt;

use crate::{InvalidNight, Night, Timestamp};

/// Why some text is no instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidInstant {
    /// Not of the form `YYYY-MM-DDThh:mm:ssZ`.
    Form,
    Date(InvalidNight),
    /// No such time of day, or distance from UTC.
    Clock,
    /// Before 1970, in UTC.
    Range,
}

impl Timestamp {
    /// Reads an instant in the form of RFC 3339: `2026-12-24T17:30:00Z`, with up to nine digits of
    /// a fraction, in UTC or at a distance from it (`+05:30`). Milliseconds are kept; a part of one
    /// is cut off.
    ///
    /// # Errors
    /// Another form, or no instant from 1970-01-01 to 2149-06-06.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidInstant> {
        let (date, rest) = text.split_at_checked(10).ok_or(InvalidInstant::Form)?;
        let night = Night::parse(date).map_err(|invalid| match invalid {
            InvalidNight::Form => InvalidInstant::Form,
            InvalidNight::Calendar | InvalidNight::Range => InvalidInstant::Date(invalid),
        })?;
        let &[
            b'T' | b't',
            h1,
            h2,
            b':',
            m1,
            m2,
            b':',
            s1,
            s2,
            ref rest @ ..,
        ] = rest
        else {
            return Err(InvalidInstant::Form);
        };
        let (hour, minute, second) = (pair(h1, h2)?, pair(m1, m2)?, pair(s1, s2)?);
        let (ms, zone) = fraction_ms(rest)?;
        if hour > 23 || minute > 59 || second > 59 {
            return Err(InvalidInstant::Clock);
        }
        let minutes = u64::from(night.days()) * 1_440 + hour * 60 + minute;
        let minutes = in_utc(minutes, zone)?;
        Ok(Self((minutes * 60 + second) * 1_000 + ms))
    }
}

fn pair(tens: u8, ones: u8) -> Result<u64, InvalidInstant> {
    if tens.is_ascii_digit() && ones.is_ascii_digit() {
        Ok(u64::from(tens - b'0') * 10 + u64::from(ones - b'0'))
    } else {
        Err(InvalidInstant::Form)
    }
}

/// The milliseconds of a fraction, if there is one, and what stands behind it.
fn fraction_ms(text: &[u8]) -> Result<(u64, &[u8]), InvalidInstant> {
    let Some(text) = text.strip_prefix(b".") else {
        return Ok((0, text));
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=9).contains(&digits) {
        return Err(InvalidInstant::Form);
    }
    let (digits, rest) = text.split_at(digits);
    let ms = [100, 10, 1]
        .iter()
        .zip(digits)
        .map(|(unit, digit)| unit * u64::from(digit - b'0'))
        .sum();
    Ok((ms, rest))
}

/// Minutes since 1970 at some distance from UTC, as they are in UTC.
fn in_utc(minutes: u64, zone: &[u8]) -> Result<u64, InvalidInstant> {
    let (sign, hours, part) = match *zone {
        [b'Z' | b'z'] => return Ok(minutes),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => (sign, pair(h1, h2)?, pair(m1, m2)?),
        _ => return Err(InvalidInstant::Form),
    };
    if hours > 23 || part > 59 {
        return Err(InvalidInstant::Clock);
    }
    let distance = hours * 60 + part;
    match sign {
        b'+' => minutes.checked_sub(distance).ok_or(InvalidInstant::Range),
        _ => Ok(minutes + distance),
    }
}

impl fmt::Display for InvalidInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("an instant has the form YYYY-MM-DDThh:mm:ssZ"),
            Self::Date(invalid) => invalid.fmt(f),
            Self::Clock => f.write_str("there is no such time of day"),
            Self::Range => f.write_str("an instant is not before 1970"),
        }
    }
}

impl std::error::Error for InvalidInstant {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_instant_is_read_in_the_form_of_rfc_3339() {
        let rows = [
            ("1970-01-01T00:00:00Z", Ok(0)),
            ("2026-12-24T10:04:05.678Z", Ok(1_798_106_645_678)),
            ("2026-12-24t10:04:05.678999999z", Ok(1_798_106_645_678)),
            ("2026-12-24T15:34:05.6+05:30", Ok(1_798_106_645_600)),
            ("2026-12-24T09:04:05-01:00", Ok(1_798_106_645_000)),
            ("2026-12-24", Err(InvalidInstant::Form)),
            ("2026-12-24 10:04:05Z", Err(InvalidInstant::Form)),
            ("2026-12-24T10:04:05", Err(InvalidInstant::Form)),
            ("2026-12-24T10:04Z", Err(InvalidInstant::Form)),
            ("2026-12-24T10:04:05.Z", Err(InvalidInstant::Form)),
            ("2026-12-24T10:04:05.0123456789Z", Err(InvalidInstant::Form)),
            ("2026-12-24T10:04:05Zulu", Err(InvalidInstant::Form)),
            ("2026-12-24T1x:04:05Z", Err(InvalidInstant::Form)),
            ("2026-12-24T24:00:00Z", Err(InvalidInstant::Clock)),
            ("2026-12-24T10:04:60Z", Err(InvalidInstant::Clock)),
            ("2026-12-24T10:04:05+24:00", Err(InvalidInstant::Clock)),
            ("1970-01-01T00:00:00+00:01", Err(InvalidInstant::Range)),
            (
                "2026-02-30T10:04:05Z",
                Err(InvalidInstant::Date(InvalidNight::Calendar)),
            ),
        ];
        for (text, expected) in rows {
            let expected = expected.map(Timestamp);
            assert_eq!(Timestamp::parse(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_instant_is_read_as_it_is_shown(ms in 0_u64..u64::from(u16::MAX) * 86_400_000) {
            let instant = Timestamp(ms);
            prop_assert_eq!(Timestamp::parse(instant.to_string().as_bytes()), Ok(instant));
        }

        #[test]
        fn any_text_is_an_instant_or_not(text in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(instant) = Timestamp::parse(&text) {
                prop_assert_eq!(Timestamp::parse(instant.to_string().as_bytes()), Ok(instant));
            }
        }
    }
}
