//! Random texts by which this door knows somebody again.

use std::{fmt, io};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize as _, Zeroizing};

use crate::core::entropy::random_bytes;

/// Random bytes of a token.
pub(super) const TOKEN_BYTES: usize = 32;

/// What stands before a session's token where the token against forged requests is made of it.
const CSRF: &[u8] = b"turnstile csrf ";

/// A secret of this door: 64 hexadecimal digits of 256 random bits.
///
/// It is overwritten when it is dropped, and the door keeps its digest only.
pub(super) struct AccessToken(Zeroizing<String>);

impl AccessToken {
    pub(super) fn new(mut random: [u8; TOKEN_BYTES]) -> Self {
        let token = Self(Zeroizing::new(hex(&random)));
        random.zeroize();
        token
    }

    /// One of the kernel's random bytes.
    ///
    /// # Errors
    /// The kernel has none.
    pub(super) fn random() -> io::Result<Self> {
        random_bytes().map(Self::new)
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn digest(&self) -> TokenDigest {
        TokenDigest::of(self.0.as_bytes())
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken")
    }
}

/// Bytes as small hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}

/// SHA-256 of a token. Tokens are looked up by it, so that the time of a look tells nothing about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TokenDigest([u8; 32]);

impl TokenDigest {
    pub(super) fn of(text: &[u8]) -> Self {
        Self(Sha256::digest(text).into())
    }
}

/// The token that a page repeats in a header with every change, made of the token in its cookie. A page of
/// another origin can have the cookie sent, but it cannot read it.
pub(super) fn csrf_token(session_token: &[u8]) -> String {
    let digest = Sha256::new().chain_update(CSRF).chain_update(session_token);
    hex(&digest.finalize())
}

/// Whether this is the token that [`csrf_token`] makes, in a time that tells nothing about it.
pub(super) fn is_csrf_token(session_token: &[u8], shown: &[u8]) -> bool {
    csrf_token(session_token).as_bytes().ct_eq(shown).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_64_digits_and_its_debug_form_shows_none() {
        let token = AccessToken::new([0xa5; TOKEN_BYTES]);
        assert_eq!(token.expose(), "a5".repeat(32));
        assert_eq!(format!("{token:?}"), "AccessToken");
        assert_eq!(token.digest(), TokenDigest::of("a5".repeat(32).as_bytes()));
        let [one, other] = [(); 2].map(|()| AccessToken::random().unwrap());
        assert_ne!(one.expose(), other.expose());
    }

    #[test]
    fn a_page_shows_the_token_of_its_own_session() {
        let (own, other) = (csrf_token(b"own"), csrf_token(b"other"));
        assert_ne!(own, other);
        assert!(is_csrf_token(b"own", own.as_bytes()));
        for wrong in [other.as_bytes(), b"own", b"", &own.as_bytes()[1..]] {
            assert!(!is_csrf_token(b"own", wrong));
        }
    }
}
