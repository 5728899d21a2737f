//! One frame: its length, then its content.

use crate::{Broken, limits::FRAME_BYTES_MAX};

/// The length before a frame.
const LENGTH_BYTES: usize = 4;

/// The content of the frame that begins at `start`, and where it ends; nothing while it is not whole.
///
/// # Errors
/// The frame is empty or too long.
pub(crate) fn whole_frame(bytes: &[u8], start: usize) -> Result<Option<(&[u8], usize)>, Broken> {
    let rest = bytes.get(start..).unwrap_or_default();
    let Some((length, rest)) = rest.split_first_chunk::<LENGTH_BYTES>() else {
        return Ok(None);
    };
    let announced = u32::from_le_bytes(*length);
    let length = usize::try_from(announced).unwrap_or(usize::MAX);
    if !(1..=FRAME_BYTES_MAX).contains(&length) {
        return Err(Broken::Length(announced));
    }
    let frame = rest.get(..length);
    Ok(frame.map(|frame| (frame, start + LENGTH_BYTES + length)))
}

/// Appends a frame whose kind and content are appended by `put`.
///
/// # Panics
/// When it is too long: parcels and refusals fit.
pub(crate) fn put_frame(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    put(out);
    let length = out.len() - start - LENGTH_BYTES;
    assert!(length <= FRAME_BYTES_MAX, "a frame of {length} bytes");
    let length = u32::try_from(length).expect("it was just compared");
    let place = out.get_mut(start..start + LENGTH_BYTES);
    place
        .expect("it was just appended")
        .copy_from_slice(&length.to_le_bytes());
}
