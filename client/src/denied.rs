//! Why a server does not let a client in, or does not let it do something.

use std::{error, fmt, io};

/// What a server found wrong with the key of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// There is none, and the server asks for one.
    NoKey,
    /// The server does not know it, or no longer.
    WrongKey,
    /// The key lacks a right: what the server said of it.
    MissingRight(String),
}

impl Denied {
    /// What an error of a RESP server means by its code; nothing when it is about something else.
    #[must_use]
    pub fn of(error: &str) -> Option<Self> {
        let (code, rest) = error.split_once(' ').unwrap_or((error, ""));
        match code {
            "NOAUTH" => Some(Self::NoKey),
            "WRONGPASS" => Some(Self::WrongKey),
            "NOPERM" => Some(Self::MissingRight(rest.to_owned())),
            _ => None,
        }
    }

    /// Whether an error with this code is about the key.
    #[must_use]
    pub fn is_code(code: &[u8]) -> bool {
        str::from_utf8(code).is_ok_and(|code| Self::of(code).is_some())
    }

    /// What an error of a connection, or of its login, was about.
    #[must_use]
    pub fn within(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<Denied> for io::Error {
    fn from(denied: Denied) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, denied)
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey => {
                f.write_str("the server asks for a key: set TURNSTILE_KEY, or name a --key-file")
            }
            Self::WrongKey => f.write_str(
                "the server does not accept this key: it is unknown, has expired or was revoked",
            ),
            Self::MissingRight(said) => write!(f, "the key may not do this: {said}"),
        }
    }
}

impl error::Error for Denied {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_about_the_key_by_its_code() {
        let missing = Denied::MissingRight("this needs rooms.manage".to_owned());
        for (error, expected) in [
            ("NOAUTH Authentication required.", Some(Denied::NoKey)),
            ("WRONGPASS invalid key", Some(Denied::WrongKey)),
            ("NOPERM this needs rooms.manage", Some(missing)),
            ("NOAUTH", Some(Denied::NoKey)),
            ("NOAUTHORITY", None),
            ("ERR NOAUTH", None),
            ("", None),
        ] {
            assert_eq!(Denied::of(error), expected, "{error}");
        }
        assert!(Denied::is_code(b"NOPERM") && !Denied::is_code(b"BUSY"));
        let wrapped = io::Error::from(Denied::WrongKey);
        assert_eq!(Denied::within(&wrapped), Some(&Denied::WrongKey));
        assert_eq!(Denied::within(&io::ErrorKind::NotFound.into()), None);
    }
}
