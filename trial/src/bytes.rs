//! The bytes of commands and outcomes: one form, and nothing else is read.

use std::fmt::Debug;

use turnstile_types::{Machine, Malformed};

/// Two digits for each byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits, which may stand apart.
///
/// # Panics
/// When there are other letters, or half a byte.
#[must_use]
pub fn unhex(text: &str) -> Vec<u8> {
    let digits = text.replace(' ', "");
    (0..digits.len())
        .step_by(2)
        .map(|at| {
            let byte = digits.get(at..at + 2).expect("a byte has two digits");
            u8::from_str_radix(byte, 16).expect("a byte is written in hexadecimal digits")
        })
        .collect()
}

/// The command is written as these bytes and read from them.
///
/// # Panics
/// When it is not.
pub fn check_command<'a, M: Machine>(command: &M::Command<'a>, golden: &'a [u8])
where
    M::Command<'a>: PartialEq,
{
    let mut bytes = Vec::new();
    M::encode_command(command, &mut bytes);
    check_read(&bytes, golden, command, &M::decode_command(golden));
}

/// The outcome is written as these bytes and read from them.
///
/// # Panics
/// When it is not.
pub fn check_outcome<M: Machine>(outcome: &M::Outcome, golden: &[u8]) {
    let mut bytes = Vec::new();
    M::encode_outcome(outcome, &mut bytes);
    check_read(&bytes, golden, outcome, &M::decode_outcome(golden));
}

fn check_read<T: Debug + PartialEq>(
    bytes: &[u8],
    golden: &[u8],
    written: &T,
    read: &Result<T, Malformed>,
) {
    assert_eq!(hex(bytes), hex(golden), "{written:?}");
    assert_eq!(read.as_ref(), Ok(written));
}

/// The bytes are read whole only: cut anywhere they are refused, and one byte more is told as
/// malformed at `field`.
///
/// # Panics
/// When they are read otherwise.
pub fn check_only_whole<T: Debug>(
    bytes: &[u8],
    field: &'static str,
    read: impl Fn(&[u8]) -> Result<T, Malformed>,
) {
    assert!(read(bytes).is_ok(), "{}", hex(bytes));
    for length in 0..bytes.len() {
        let cut = read(bytes.get(..length).expect("a part of them"));
        assert!(cut.is_err(), "{} cut at {length}", hex(bytes));
    }
    let longer = [bytes, &[0]].concat();
    let refused = read(&longer).err();
    assert_eq!(refused, Some(Malformed { field }), "{}", hex(bytes));
}

/// What is read from any bytes at all is written back as the same bytes: there is one form.
///
/// # Panics
/// When something is read that has another form too.
pub fn check_canonical<M: Machine>(bytes: &[u8]) {
    let mut again = Vec::new();
    if let Ok(command) = M::decode_command(bytes) {
        M::encode_command(&command, &mut again);
        assert_eq!(again, bytes);
        again.clear();
    }
    if let Ok(outcome) = M::decode_outcome(bytes) {
        M::encode_outcome(&outcome, &mut again);
        assert_eq!(again, bytes);
    }
}
