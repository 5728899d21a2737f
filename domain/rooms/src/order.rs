//! The order in which rooms are offered: the natural order of their names.

use std::cmp::Ordering;

/// Compares two names in natural order: runs of digits compare as numbers, everything else byte
/// by byte, and names that are equal so far (`7` and `07`) by their bytes.
pub(crate) fn natural(left: &[u8], right: &[u8]) -> Ordering {
    let (mut l, mut r) = (left, right);
    loop {
        let (Some(&a), Some(&b)) = (l.first(), r.first()) else {
            return l.len().cmp(&r.len()).then_with(|| left.cmp(right));
        };
        if a.is_ascii_digit() && b.is_ascii_digit() {
            let (run_l, rest_l) = digits(l);
            let (run_r, rest_r) = digits(r);
            let order = run_l.len().cmp(&run_r.len()).then_with(|| run_l.cmp(run_r));
            if order != Ordering::Equal {
                return order;
            }
            (l, r) = (rest_l, rest_r);
        } else if a != b {
            return a.cmp(&b);
        } else {
            (l, r) = (
                l.get(1..).unwrap_or_default(),
                r.get(1..).unwrap_or_default(),
            );
        }
    }
}

/// The beginning of a name as a number, so that most names are compared without being read: of
/// two names with different keys, the one with the smaller key comes first.
///
/// Sixteen bytes, the first one highest: a byte for each character; for a run of digits a `0`,
/// its length without leading zeros, and two digits to a byte.
pub(crate) fn key(name: &[u8]) -> u128 {
    let mut key = CollationKey { bytes: 0, free: 16 };
    let mut rest = name;
    while let Some((&first, after)) = rest.split_first() {
        if key.free == 0 {
            break;
        }
        if !first.is_ascii_digit() {
            key.push(first);
            rest = after;
            continue;
        }
        let (run, after) = digits(rest);
        key.push(b'0');
        key.push(u8::try_from(run.len()).expect("a name has at most 64 bytes"));
        for pair in run.chunks(2) {
            let digit = |at| pair.get(at).map_or(0, |digit| digit - b'0');
            key.push(16 * digit(0) + digit(1));
        }
        rest = after;
    }
    key.bytes << (8 * key.free)
}

struct CollationKey {
    bytes: u128,
    /// Bytes that are still free.
    free: u32,
}

impl CollationKey {
    /// Adds a byte when one is free.
    const fn push(&mut self, byte: u8) {
        if self.free > 0 {
            self.bytes = self.bytes << 8 | byte as u128;
            self.free -= 1;
        }
    }
}

/// The leading run of digits without its leading zeros, and what follows it.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (run, rest) = text.split_at_checked(end).unwrap_or((text, &[]));
    let start = run
        .iter()
        .position(|&byte| byte != b'0')
        .unwrap_or(run.len());
    (run.get(start..).unwrap_or_default(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_counted_as_people_count() {
        let sorted = "- 0 00 01 1 2 9 10 10a2 10a10 10b 100 A1 a a-1 a1 a1.5 a2 room:9 room:10 room:000000000011 room:12 z";
        let sorted: Vec<&str> = sorted.split(' ').collect();
        for (i, left) in sorted.iter().enumerate() {
            for (j, right) in sorted.iter().enumerate() {
                let keys = key(left.as_bytes()).cmp(&key(right.as_bytes()));
                assert!(keys == i.cmp(&j) || keys.is_eq(), "keys of {left}, {right}");
                assert_eq!(
                    natural(left.as_bytes(), right.as_bytes()),
                    i.cmp(&j),
                    "{left} and {right}"
                );
            }
        }
    }
}
