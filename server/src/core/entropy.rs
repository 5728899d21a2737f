//! Random bytes, for secrets and for ids.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Random bytes of the kernel.
///
/// # Errors
/// It has none.
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if filled != N {
        return Err(io::Error::other("too few random bytes"));
    }
    Ok(bytes)
}
