//! The secret of the id numbers under a passphrase.

use std::{fmt, io};

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::{
    Key, KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use zeroize::Zeroizing;

/// The file's name in a backup.
pub(crate) const NAME: &str = "id.key.sealed";

const MAGIC: [u8; 4] = *b"TSIS";
const VERSION: u16 = 1;
const SALT_BYTES: usize = 16;
const NONCE_BYTES: usize = 24;
const SECRET_BYTES: usize = 16;
const TAG_BYTES: usize = 16;

/// Magic, version, memory, passes, lanes, journal.
const FIXED_BYTES: usize = 4 + 2 + 4 + 4 + 4 + 8;
const HEAD_BYTES: usize = FIXED_BYTES + SALT_BYTES + NONCE_BYTES;
const FILE_BYTES: usize = HEAD_BYTES + SECRET_BYTES + TAG_BYTES;

/// What one guess of the passphrase costs: 64 MiB and some tenths of a second.
const COST: SealCost = SealCost {
    memory_kib: 64 * 1_024,
    passes: 3,
    lanes: 1,
};

/// The highest cost that is read: a damaged file must not take all memory.
const COST_MAX: SealCost = SealCost {
    memory_kib: 1_024 * 1_024,
    passes: 64,
    lanes: 64,
};

/// The shortest passphrase, in bytes: shorter ones are guessed.
pub(crate) const PASSPHRASE_BYTES_MIN: usize = 12;

/// What a passphrase is turned into a key with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SealCost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

/// A passphrase, which is overwritten when it is dropped.
#[derive(Clone)]
pub struct Passphrase(Zeroizing<Vec<u8>>);

/// Why a secret is not sealed, or not opened.
#[derive(Debug)]
pub enum KeyRefusal {
    /// The passphrase is too short to protect anything.
    ShortPassphrase,
    /// The passphrase is another one, or the file is damaged.
    WrongPassphrase,
    /// A newer version sealed it.
    Version(u16),
    /// The file is no sealed secret, or of another journal.
    Form,
    /// The backup has no `id.key`.
    LeftOut,
    /// The backup has it under a passphrase, and none was given.
    NoPassphrase,
    Io(io::Error),
}

impl Passphrase {
    /// # Errors
    /// It is too short.
    pub fn new(bytes: Vec<u8>) -> Result<Self, KeyRefusal> {
        let bytes = Zeroizing::new(bytes);
        if bytes.len() < PASSPHRASE_BYTES_MIN {
            return Err(KeyRefusal::ShortPassphrase);
        }
        Ok(Self(bytes))
    }

    fn key(&self, cost: SealCost, salt: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyRefusal> {
        let SealCost {
            memory_kib,
            passes,
            lanes,
        } = cost;
        let params = Params::new(memory_kib, passes, lanes, Some(32));
        let params = params.map_err(|_params| KeyRefusal::Form)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut key = Zeroizing::new([0; 32]);
        let hashed = argon2.hash_password_into(&self.0, salt, &mut *key);
        hashed.map_err(|_hash| KeyRefusal::Form)?;
        Ok(key)
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase")
    }
}

/// Seals the secret of a journal's id numbers.
pub(crate) fn seal(
    secret: &[u8],
    journal: u64,
    passphrase: &Passphrase,
) -> Result<Vec<u8>, KeyRefusal> {
    let mut random = [0; SALT_BYTES + NONCE_BYTES];
    let filled = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let filled = filled.map_err(|error| KeyRefusal::Io(error.into()))?;
    assert_eq!(
        filled,
        random.len(),
        "the kernel fills up to 256 bytes at once"
    );
    seal_with(secret, journal, passphrase, COST, &random)
}

fn seal_with(
    secret: &[u8],
    journal: u64,
    passphrase: &Passphrase,
    cost: SealCost,
    random: &[u8; SALT_BYTES + NONCE_BYTES],
) -> Result<Vec<u8>, KeyRefusal> {
    let mut file = Vec::with_capacity(FILE_BYTES);
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    for number in [cost.memory_kib, cost.passes, cost.lanes] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    file.extend_from_slice(&journal.to_le_bytes());
    file.extend_from_slice(random);
    let (salt, nonce) = random.split_at(SALT_BYTES);
    let key = passphrase.key(cost, salt)?;
    let sealed = cipher(&key).encrypt(
        &nonce_of(nonce),
        Payload {
            msg: secret,
            aad: &file,
        },
    );
    file.extend(sealed.map_err(|_cipher| KeyRefusal::Form)?);
    Ok(file)
}

/// Opens a sealed secret of this journal.
pub(crate) fn open(
    file: &[u8],
    journal: u64,
    passphrase: &Passphrase,
) -> Result<Zeroizing<Vec<u8>>, KeyRefusal> {
    let mut rest = file.strip_prefix(&MAGIC).ok_or(KeyRefusal::Form)?;
    let version = u16::from_le_bytes(take(&mut rest)?);
    if version != VERSION {
        return Err(KeyRefusal::Version(version));
    }
    if file.len() != FILE_BYTES {
        return Err(KeyRefusal::Form);
    }
    let cost = SealCost {
        memory_kib: u32::from_le_bytes(take(&mut rest)?),
        passes: u32::from_le_bytes(take(&mut rest)?),
        lanes: u32::from_le_bytes(take(&mut rest)?),
    };
    let is_bounded = cost.memory_kib <= COST_MAX.memory_kib
        && cost.passes <= COST_MAX.passes
        && cost.lanes <= COST_MAX.lanes;
    if !is_bounded || u64::from_le_bytes(take(&mut rest)?) != journal {
        return Err(KeyRefusal::Form);
    }
    let salt: [u8; SALT_BYTES] = take(&mut rest)?;
    let nonce: [u8; NONCE_BYTES] = take(&mut rest)?;
    let key = passphrase.key(cost, &salt)?;
    let opened = cipher(&key).decrypt(
        &nonce_of(&nonce),
        Payload {
            msg: rest,
            aad: &file[..HEAD_BYTES],
        },
    );
    let opened = opened.map_err(|_cipher| KeyRefusal::WrongPassphrase)?;
    Ok(Zeroizing::new(opened))
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&Key::from(*key))
}

fn nonce_of(nonce: &[u8]) -> XNonce {
    let nonce: [u8; NONCE_BYTES] = nonce.try_into().expect("it has its fixed length");
    XNonce::from(nonce)
}

fn take<const COUNT: usize>(rest: &mut &[u8]) -> Result<[u8; COUNT], KeyRefusal> {
    let (taken, after) = rest.split_first_chunk().ok_or(KeyRefusal::Form)?;
    *rest = after;
    Ok(*taken)
}

impl fmt::Display for KeyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortPassphrase => write!(
                f,
                "the passphrase is too short: it needs at least {PASSPHRASE_BYTES_MIN} characters"
            ),
            Self::WrongPassphrase => f.write_str("the passphrase does not open id.key.sealed"),
            Self::Version(version) => write!(
                f,
                "id.key.sealed was written by a newer version of this program: it has format {version}, \
                 and this program reads up to {VERSION}"
            ),
            Self::Form => f.write_str("id.key.sealed is damaged, or of another backup"),
            Self::LeftOut => {
                f.write_str("the backup does not hold id.key: name --id-key FILE or --without-id-key")
            }
            Self::NoPassphrase => f.write_str(
                "the backup holds id.key under a passphrase: name --passphrase-file, --ask-passphrase, \
                 --id-key FILE or --without-id-key",
            ),
            Self::Io(error) => write!(f, "the system gives no random bytes: {error}"),
        }
    }
}

impl std::error::Error for KeyRefusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cost that tests can pay often.
    const CHEAP: SealCost = SealCost {
        memory_kib: 8,
        passes: 1,
        lanes: 1,
    };

    fn passphrase(text: &str) -> Passphrase {
        Passphrase::new(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn a_secret_comes_back_under_its_passphrase_and_for_its_journal_only() {
        let secret = [7; SECRET_BYTES];
        let right = passphrase("correct horse battery");
        let sealed = seal(&secret, 9, &right).unwrap();
        assert_eq!(*open(&sealed, 9, &right).unwrap(), secret);
        let wrong = open(&sealed, 9, &passphrase("correct horse batterz"));
        assert!(matches!(wrong, Err(KeyRefusal::WrongPassphrase)));
        assert!(matches!(open(&sealed, 8, &right), Err(KeyRefusal::Form)));
        assert_ne!(seal(&secret, 9, &right).unwrap(), sealed, "a new salt");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_sealed_secret_is_refused() {
        let right = passphrase("correct horse battery");
        let sealed = seal_with(&[7; SECRET_BYTES], 9, &right, CHEAP, &[3; 40]).unwrap();
        assert_eq!(sealed.len(), FILE_BYTES);
        for bit in 0..sealed.len() * 8 {
            let mut bytes = sealed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // More than some MiB and passes would take minutes of a test; more than the bound is refused.
            let is_dear = [7, 8, 10, 14].contains(&(bit / 8));
            if is_dear {
                continue;
            }
            assert!(open(&bytes, 9, &right).is_err(), "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(open(&sealed[..length], 9, &right).is_err(), "{length}");
        }
    }

    #[test]
    fn a_short_passphrase_protects_nothing() {
        assert!(matches!(
            Passphrase::new(b"elevenchars".to_vec()),
            Err(KeyRefusal::ShortPassphrase)
        ));
    }

    /// The byte map of `docs/formats/backup.md`, and bytes that other libraries computed.
    #[test]
    fn a_sealed_secret_of_version_1_has_these_bytes() {
        let right = passphrase("correct horse battery");
        let secret: [u8; 16] = std::array::from_fn(|index| u8::try_from(index).unwrap());
        let random = std::array::from_fn(|index| u8::try_from(index + 64).unwrap());
        let sealed = seal_with(&secret, 0x0123_4567_89ab_cdef, &right, CHEAP, &random).unwrap();
        let golden = include_str!("../golden/id-key-sealed-1.hex").replace('\n', "");
        assert_eq!(turnstile_trial::hex(&sealed), golden);
    }
}
