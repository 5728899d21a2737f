//! Keys in clear, which whoever asks shows and nobody keeps.

use std::fmt;

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::{KeyDigest, KeyId, key_id};

/// The longest name of an environment.
const ENVIRONMENT_MAX: usize = 16;

/// Characters of the secret: five bits each, of 256.
const SECRET_LENGTH: usize = 52;

/// The characters of ids and secrets that are made here: five bits each, as in RFC 4648.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A key in clear: `ts_ENVIRONMENT_ID_SECRET`.
///
/// The environment (`live`, `test`) is for people: 1 to 16 small letters or digits. The id names the key.
/// The secret has 256 random bits in 52 characters. The text is overwritten when it is dropped, and
/// `Debug` shows no secret.
pub struct SecretKey {
    text: Zeroizing<Box<str>>,
    id: KeyId,
}

/// Text that is no [`SecretKey`]. It does not say where it differs from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSecretKey;

impl SecretKey {
    /// What every key begins with, so that searches for lost secrets find it.
    pub const MARK: &str = "ts_";

    /// Makes a key of random bits: the caller has the source of randomness.
    ///
    /// # Errors
    /// The environment is not 1 to 16 small letters or digits.
    pub fn new(
        environment: &str,
        id_random: [u8; 8],
        secret: [u8; 32],
    ) -> Result<Self, InvalidSecretKey> {
        let secret = Zeroizing::new(secret);
        let mut text = Zeroizing::new(String::with_capacity(
            Self::MARK.len() + ENVIRONMENT_MAX + key_id::LENGTH + SECRET_LENGTH + 2,
        ));
        if environment.len() > ENVIRONMENT_MAX {
            return Err(InvalidSecretKey);
        }
        text.push_str(Self::MARK);
        text.push_str(environment);
        text.push('_');
        put_characters(&id_random, key_id::LENGTH, &mut text);
        text.push('_');
        put_characters(&*secret, SECRET_LENGTH, &mut text);
        Self::parse(text.as_bytes())
    }

    /// Parses the text of a key.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidSecretKey> {
        let text = str::from_utf8(text).map_err(|_invalid| InvalidSecretKey)?;
        let mut parts = text
            .strip_prefix(Self::MARK)
            .ok_or(InvalidSecretKey)?
            .split('_');
        let (Some(environment), Some(id), Some(secret), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(InvalidSecretKey);
        };
        let is_short = (1..=ENVIRONMENT_MAX).contains(&environment.len());
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_secret = |byte: u8| ALPHABET.contains(&byte);
        let is_key = is_short
            && environment.bytes().all(is_plain)
            && secret.len() == SECRET_LENGTH
            && secret.bytes().all(is_secret);
        let id = KeyId::parse(id.as_bytes()).map_err(|_invalid| InvalidSecretKey)?;
        is_key
            .then(|| Self {
                text: Zeroizing::new(text.into()),
                id,
            })
            .ok_or(InvalidSecretKey)
    }

    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// SHA-256 of the whole text.
    #[must_use]
    pub fn digest(&self) -> KeyDigest {
        KeyDigest::new(Sha256::digest(self.text.as_bytes()).into())
    }

    /// The whole text, to show it once to its owner, or to log in with it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }
}

/// Appends so many characters of five bits each, those that are missing at the end as zeros.
fn put_characters(bits: &[u8], characters: usize, out: &mut String) {
    for at in 0..characters {
        let bit = |at: usize| {
            let byte = bits.get(at / 8).copied().unwrap_or(0);
            usize::from(byte >> (7 - at % 8) & 1)
        };
        let place = (at * 5..at * 5 + 5).fold(0, |place, at| place << 1 | bit(at));
        out.push(ALPHABET.get(place).copied().map_or('a', char::from));
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.id)
    }
}

impl fmt::Display for InvalidSecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key looks like ts_ENVIRONMENT_ID_SECRET")
    }
}

impl std::error::Error for InvalidSecretKey {}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SecretKey {
        let secret = std::array::from_fn(|at| u8::try_from(at * 7).unwrap());
        SecretKey::new("live", [0, 1, 2, 3, 250, 251, 252, 253], secret).unwrap()
    }

    #[test]
    fn a_key_is_written_in_base_32_and_reads_back_from_its_text() {
        let text = "ts_live_aaaqea727p6p_aadq4fi4emvdcob7izgviw3cnfyho7ufrsjzviniv63l3rgl2lmq";
        let key = key();
        assert_eq!((key.expose(), key.id().as_str()), (text, "aaaqea727p6p"));
        let again = SecretKey::parse(text.as_bytes()).unwrap();
        assert_eq!((again.id(), again.digest()), (key.id(), key.digest()));
    }

    /// The digest that `printf %s KEY | sha256sum` writes.
    #[test]
    fn the_digest_is_that_of_the_whole_text() {
        let text = format!("ts_test_abcdefghijkl_{}", "a".repeat(52));
        let key = SecretKey::parse(text.as_bytes()).unwrap();
        let known = "5bdba4dd9879879be62183a6d4d8cc5f84c5c858cdb5adc0bb78625b8aeb1b0b";
        assert_eq!(key.digest().hex(), known);
    }

    #[test]
    fn nothing_of_the_secret_is_shown_but_by_name() {
        let key = key();
        let shown = format!("{key:?}");
        assert_eq!(shown, format!("SecretKey({})", key.id()));
    }

    #[test]
    fn every_bit_of_the_secret_changes_the_key() {
        let first = key();
        for bit in 0..256 {
            let mut secret: [u8; 32] = std::array::from_fn(|at| u8::try_from(at * 7).unwrap());
            secret[bit / 8] ^= 1 << (bit % 8);
            let other = SecretKey::new("live", [0, 1, 2, 3, 250, 251, 252, 253], secret).unwrap();
            assert_ne!(first.digest(), other.digest(), "bit {bit}");
        }
    }

    #[test]
    fn other_text_is_no_key() {
        let secret = "a".repeat(52);
        let wrong = [
            String::new(),
            "ts_".into(),
            format!("ts_test_abcdefghijkl_{}", &secret[1..]),
            format!("ts_test_abcdefghijkl_{secret}a"),
            format!("ts_test_abcdefghijkl_{}", secret.replace('a', "A")),
            format!("ts_test_abcdefghijkl_{}", secret.replace('a', "1")),
            format!("ts_test_abcdefghijk_{secret}"),
            format!("ts_test_Abcdefghijkl_{secret}"),
            format!("ts__abcdefghijkl_{secret}"),
            format!("ts_abcdefghijklmnopq_abcdefghijkl_{secret}"),
            format!("ts_te-st_abcdefghijkl_{secret}"),
            format!("sk_test_abcdefghijkl_{secret}"),
            format!("ts_test_abcdefghijkl_{secret}_"),
            format!(" ts_test_abcdefghijkl_{secret}"),
        ];
        for text in wrong {
            assert!(SecretKey::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(SecretKey::parse(b"ts_\xff").is_err());
        for environment in ["", "Live", "li_ve", "abcdefghijklmnopq"] {
            assert!(
                SecretKey::new(environment, [0; 8], [0; 32]).is_err(),
                "{environment}"
            );
        }
    }
}
