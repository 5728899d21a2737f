//! The order in which rooms are offered: as people count them.

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
                assert_eq!(
                    natural(left.as_bytes(), right.as_bytes()),
                    i.cmp(&j),
                    "{left} and {right}"
                );
            }
        }
    }
}
