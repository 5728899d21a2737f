//! The order of the rooms of a property, as bytes that a database compares.

use turnstile_types::Name;

/// Begins the place of a loose room, one of the type `open` in an open property: no name has it.
const LOOSE: u8 = 0xff;

/// Where a room lies among others by its name: numbers by their value, all else byte by byte.
///
/// A byte for each character; for a run of digits a `0`, how many there are without leading zeros,
/// and those. Then a zero, so that a shorter name comes first, and the name, which tells apart what
/// is equal so far.
pub(super) fn natural_place(name: &Name) -> Vec<u8> {
    let mut place = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if !first.is_ascii_digit() {
            place.push(first);
            rest = after;
            continue;
        }
        let end = rest.iter().position(|byte| !byte.is_ascii_digit());
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        let zeros = run.iter().take_while(|&&digit| digit == b'0').count();
        let digits = run.get(zeros..).expect("the zeros are part of the run");
        place.push(b'0');
        place.push(u8::try_from(digits.len()).expect("a name has at most 64 bytes"));
        place.extend_from_slice(digits);
        rest = after;
    }
    place.push(0);
    place.extend_from_slice(name.as_bytes());
    place
}

/// Where a loose room lies: by the position at which it was first named.
pub(super) fn loose_place(room: i64) -> Vec<u8> {
    let mut place = vec![LOOSE];
    place.extend_from_slice(&room.to_be_bytes());
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_compare_as_people_count() {
        let names = [
            "-9", ".", "0", "00", "01", "1", "1-1", "1a", "2", "9", "010", "10", "99a-1", "99a-2",
            "99a-10", "100", "a", "a-9", "a-10", "a10", "b", "b:", "ba",
        ];
        let places: Vec<Vec<u8>> = names
            .iter()
            .map(|name| natural_place(&Name::parse(name.as_bytes()).unwrap()))
            .collect();
        let mut sorted = places.clone();
        sorted.sort();
        assert_eq!(sorted, places);
        assert!(sorted.last() < Some(&loose_place(1)));
        assert!(loose_place(255) < loose_place(256));
    }
}
