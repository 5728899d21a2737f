//! Other id numbers in the place of those that guests have said.

use std::collections::HashMap;

use turnstile_rooms::IdNumber;

/// What a command begins with in which there may be an id number.
const COMMANDS: &[u8] = b"ROOMS.";

const DIGITS: usize = 12;

/// The numbers that a recording has instead of guests' id numbers.
///
/// The first id number of a recording becomes number 0, the next number 1. So the same number is the
/// same guest wherever it is said, nobody learns whose it was, and a replay is answered as the
/// recording was. The check digit is right where that of the id number was.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms(HashMap<[u8; DIGITS], [u8; DIGITS]>);

impl Pseudonyms {
    /// Replaces every word of twelve digits in a whole request, if that is a command of rooms.
    pub(super) fn replace(&mut self, request: &mut [u8]) {
        let separates = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
        let is_length = |word: &[u8]| matches!(word, [b'*' | b'$', ..] | []);
        let command = request.split(separates).find(|word| !is_length(word));
        let is_of_rooms = command
            .and_then(|command| command.get(..COMMANDS.len()))
            .is_some_and(|begin| begin.eq_ignore_ascii_case(COMMANDS));
        if !is_of_rooms {
            return;
        }
        for word in request.split_mut(separates) {
            if let Ok(digits) = <&mut [u8; DIGITS]>::try_from(word)
                && digits.iter().all(u8::is_ascii_digit)
            {
                *digits = self.of(*digits);
            }
        }
    }

    fn of(&mut self, digits: [u8; DIGITS]) -> [u8; DIGITS] {
        let number = self.0.len();
        *self
            .0
            .entry(digits)
            .or_insert_with(|| pseudonym(number, is_valid(&digits)))
    }
}

fn is_valid(digits: &[u8; DIGITS]) -> bool {
    IdNumber::parse(digits, true).is_ok()
}

/// Eleven digits that are the number, and a check digit.
fn pseudonym(number: usize, valid: bool) -> [u8; DIGITS] {
    (0..10)
        .filter_map(|check| format!("{number:011}{check}").into_bytes().try_into().ok())
        .find(|digits| is_valid(digits) == valid)
        .expect("one of ten check digits is right, the others are wrong")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pseudonyms: &mut Pseudonyms, request: &str) -> String {
        let mut bytes = request.as_bytes().to_vec();
        pseudonyms.replace(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_guest_has_one_number_in_a_recording_and_never_the_own() {
        let mut pseudonyms = Pseudonyms::default();
        let mut said = |request: &str| replaced(&mut pseudonyms, request);
        // The check digit of 2341 2341 2346 is right, that of 2341 2341 2345 is not.
        let (first, second) = (pseudonym(0, true), pseudonym(1, false));
        let [first, second] =
            [first, second].map(|digits| String::from_utf8(digits.into()).unwrap());
        assert_eq!(
            said("*3\r\n$12\r\nrooms.cancel\r\n$4\r\nR001\r\n$12\r\n234123412346\r\n"),
            format!("*3\r\n$12\r\nrooms.cancel\r\n$4\r\nR001\r\n$12\r\n{first}\r\n")
        );
        assert_eq!(
            said("ROOMS.BOOK h any a b \"ann\" '234123412345'\r\n"),
            format!("ROOMS.BOOK h any a b \"ann\" '{second}'\r\n")
        );
        assert_eq!(
            said("ROOMS.CANCEL R001 234123412346\n"),
            format!("ROOMS.CANCEL R001 {first}\n")
        );
        assert!(is_valid(first.as_bytes().try_into().unwrap()));
        assert!(!is_valid(second.as_bytes().try_into().unwrap()));
    }

    #[test]
    fn what_is_no_id_number_stays() {
        let mut pseudonyms = Pseudonyms::default();
        for request in [
            "*2\r\n$4\r\nECHO\r\n$12\r\n234123412346\r\n",
            "ROOMS.BOOK h 2341234123461 23412341234 R234123412346\n",
            "\r\n",
        ] {
            assert_eq!(replaced(&mut pseudonyms, request), request);
        }
    }
}
