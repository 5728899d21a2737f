//! When a certificate expires.

use rustls::pki_types::CertificateDer;
use turnstile_types::Timestamp;

use super::names::{SEQUENCE, element};

/// The tags of the two forms of an instant: with two digits of the year, and with four.
const SHORT: u8 = 0x17;
const LONG: u8 = 0x18;

/// The tag of the version, which old certificates leave out.
const VERSION: u8 = 0xa0;

/// The end of a certificate's time; nothing where it cannot be read.
pub(super) fn expiry_of(certificate: &CertificateDer<'_>) -> Option<Timestamp> {
    let (SEQUENCE, certificate, _) = element(certificate)? else {
        return None;
    };
    let (SEQUENCE, mut fields, _) = element(certificate)? else {
        return None;
    };
    if let Some((VERSION, _, rest)) = element(fields) {
        fields = rest;
    }
    // Number, algorithm and issuer stand before the time.
    for _ in 0..3 {
        fields = element(fields)?.2;
    }
    let (SEQUENCE, times, _) = element(fields)? else {
        return None;
    };
    let (_, _, end) = element(times)?;
    let (form, end, _) = element(end)?;
    instant(form, end)
}

fn instant(form: u8, text: &[u8]) -> Option<Timestamp> {
    let text = str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let text = match form {
        // RFC 5280: 50 and later are of the last century.
        SHORT if *text >= *"50" => format!("19{text}"),
        SHORT => format!("20{text}"),
        LONG => text.to_owned(),
        _ => return None,
    };
    if text.len() != 14 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
    let days = days_since_1970(year, month, day)?;
    Some(Timestamp(
        (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000,
    ))
}

/// The number of a date, 0 for the first of 1970. Years begin in March here, so that a leap day is the last
/// of its year.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year < 1970 {
        return None;
    }
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read_in_both_forms() {
        for ((year, month, day), expected) in [
            ((2027, 5, 1), Some(Timestamp(1_809_129_600_000))),
            ((2049, 12, 31), Some(Timestamp(2_524_521_600_000))),
            ((2050, 1, 1), Some(Timestamp(2_524_608_000_000))),
            ((2400, 2, 29), Some(Timestamp(13_574_563_200_000))),
            ((1999, 12, 31), Some(Timestamp(946_598_400_000))),
        ] {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_before = date_time_ymd(1990, 1, 1);
            params.not_after = date_time_ymd(year, month, day);
            let own = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            assert_eq!(expiry_of(own.der()), expected, "{year}");
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        let own = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let own = own.self_signed(&KeyPair::generate().unwrap()).unwrap();
        for length in 0..60 {
            let cut = CertificateDer::from(&own.der()[..length]);
            assert_eq!(expiry_of(&cut), None, "{length}");
        }
        for text in [
            &b"991231235959"[..],
            b"99123123595Z",
            b"991331235959Z",
            b"9912312359x9Z",
        ] {
            assert_eq!(instant(SHORT, text), None, "{}", text.escape_ascii());
        }
    }
}
