//! The natural order of rooms, for databases that compare bytes.

/// Bytes that sort as people count: a number is its length without leading zeros and its digits.
/// Equal numbers in different writing sort by the name itself, which ends the key behind a zero byte.
///
/// # Panics
/// When it is longer than a name may be.
#[must_use]
pub fn natural_key(name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(2 * name.len() + 4);
    for run in name.chunk_by(|left, right| left.is_ascii_digit() && right.is_ascii_digit()) {
        if !run.iter().all(u8::is_ascii_digit) {
            key.extend_from_slice(run);
            continue;
        }
        let zeros = run.iter().take_while(|&&digit| digit == b'0').count();
        let digits = run.get(zeros..).unwrap_or_default();
        key.push(b'0');
        key.push(u8::try_from(digits.len()).expect("a name has at most 64 bytes"));
        key.extend_from_slice(digits);
    }
    key.push(0);
    key.extend_from_slice(name);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_sort_as_people_count() {
        let sorted = "- 0 00 01 1 2 9 10 10a2 10a10 10b 100 A1 a a-1 a1 a1.5 a2 room:9 \
                      room:10 room:000000000011 room:12 z";
        let keys: Vec<Vec<u8>> = sorted
            .split_whitespace()
            .map(|name| natural_key(name.as_bytes()))
            .collect();
        assert!(keys.is_sorted_by(|left, right| left < right));
    }
}
