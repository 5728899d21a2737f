//! The subjects of client certificates.

use std::fmt;

use turnstile_chassis::{Decode, Encode, Kind, Show, Value, put_text, read_text};
use turnstile_types::{Malformed, Reader};

use crate::limits::CERTIFICATE_SUBJECT_BYTES_MAX;

/// What a client certificate is issued to: its common name, or one of its alternative names. 1 to 255
/// printable ASCII characters, with no space at the beginning or the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertificateSubject(Box<str>);

/// Text that is no [`CertificateSubject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCertificateSubject;

impl CertificateSubject {
    const KIND: Kind = Kind::Pattern {
        example: "desk-1.example.org",
        pattern: "^[!-~]([ -~]{0,253}[!-~])?$",
    };

    /// # Errors
    /// It is empty, longer than 255 bytes, not printable ASCII, or begins or ends with a space.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidCertificateSubject> {
        let is_printable = |byte: &u8| matches!(byte, b' '..=b'~');
        let is_subject = (1..=CERTIFICATE_SUBJECT_BYTES_MAX).contains(&text.len())
            && text.iter().all(is_printable)
            && text.trim_ascii().len() == text.len();
        let text = str::from_utf8(text).ok().filter(|_| is_subject);
        let text = text.ok_or(InvalidCertificateSubject)?;
        Ok(Self(text.into()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for CertificateSubject {
    fn borrow(&self) -> &str {
        &self.0
    }
}

turnstile_chassis::readable!(
    CertificateSubject,
    InvalidCertificateSubject,
    CertificateSubject::KIND
);

impl Value for CertificateSubject {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(&self.0)
    }

    fn kind() -> Kind {
        Self::KIND
    }
}

impl Encode for CertificateSubject {
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(self.0.as_bytes(), out);
    }
}

impl Decode<'_> for CertificateSubject {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::parse(read_text(reader, field)?).map_err(|_invalid| Malformed { field })
    }
}

impl fmt::Display for CertificateSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for InvalidCertificateSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the subject of a certificate is 1 to {CERTIFICATE_SUBJECT_BYTES_MAX} printable ASCII \
             characters, with no space at its beginning or end"
        )
    }
}

impl std::error::Error for InvalidCertificateSubject {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_printable_and_has_no_space_around_it() {
        for text in [
            "x",
            "desk-1.example.org",
            "Travel Desk 1",
            "spiffe://a/b",
            &"x".repeat(255),
        ] {
            let subject = CertificateSubject::parse(text.as_bytes()).unwrap();
            assert_eq!(subject.as_str(), text);
        }
        for text in ["", " x", "x ", "a\nb", "caf\u{e9}", &"x".repeat(256)] {
            let subject = CertificateSubject::parse(text.as_bytes());
            assert_eq!(subject, Err(InvalidCertificateSubject), "{text}");
        }
    }
}
