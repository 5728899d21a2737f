//! The key by which a client shows who it is.

use std::{error, fmt, sync::Arc};

use zeroize::Zeroizing;

use crate::resp;

/// The longest key, in bytes: far more than ours need, and less than a server takes before login.
const BYTES_MAX: usize = 1_024;

/// A secret that a server knows: a key of ours, or the password of a Redis. It is wiped from memory
/// when its last copy goes, and never shown.
#[derive(Clone)]
pub struct AccessKey(Arc<Zeroizing<String>>);

/// The text is empty, too long, or holds something that is not a visible ASCII character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidAccessKey;

impl AccessKey {
    /// # Errors
    /// The text does not have 1 to 1,024 characters, or one of them is not visible ASCII.
    pub fn parse(text: &str) -> Result<Self, InvalidAccessKey> {
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > BYTES_MAX || !is_visible {
            return Err(InvalidAccessKey);
        }
        Ok(Self(Arc::new(Zeroizing::new(text.to_owned()))))
    }

    /// The request that logs in over RESP. It names the default user: a server that asks for no key, as
    /// `dev`, refuses one without a name.
    pub(crate) fn login(&self) -> Zeroizing<Vec<u8>> {
        // Long enough from the start: what grows leaves copies behind.
        let mut request = Zeroizing::new(Vec::with_capacity(self.0.len() + 64));
        resp::put_command(&mut request, &[b"AUTH", b"default", self.0.as_bytes()]);
        request
    }

    /// The value of the header `Authorization` that logs in over HTTP.
    #[must_use]
    pub fn bearer(&self) -> Zeroizing<String> {
        Zeroizing::new(["Bearer ", self.0.as_str()].concat())
    }
}

/// Whether it is the same key in memory: texts are compared by servers only.
impl PartialEq for AccessKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessKey(..)")
    }
}

impl fmt::Display for InvalidAccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key has 1 to 1,024 visible ASCII characters and no blanks")
    }
}

impl error::Error for InvalidAccessKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_visible_text_and_is_never_shown() {
        for text in ["", "two words", "line\n", "t\u{e4}", &"x".repeat(1_025)] {
            assert_eq!(AccessKey::parse(text).unwrap_err(), InvalidAccessKey);
        }
        let key = AccessKey::parse("ts_live_abc_secret").unwrap();
        assert_eq!(format!("{key:?}"), "AccessKey(..)");
        let login = b"*3\r\n$4\r\nAUTH\r\n$7\r\ndefault\r\n$18\r\nts_live_abc_secret\r\n";
        assert_eq!(key.login().as_slice(), login);
        assert_eq!(key.bearer().as_str(), "Bearer ts_live_abc_secret");
        assert_eq!(key, key.clone());
    }
}
