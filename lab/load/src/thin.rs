//! Keeping what is seen over time within bounds.

/// Each second one goes, the first stays.
pub(crate) fn halve<T>(seen: &mut Vec<T>) {
    let mut stays = false;
    seen.retain(|_one| {
        stays = !stays;
        stays
    });
}

#[cfg(test)]
mod tests {
    use super::halve;

    #[test]
    fn the_first_of_each_pair_stays() {
        for (mut seen, left) in [
            (vec![], vec![]),
            (vec![1], vec![1]),
            (vec![1, 2, 3, 4, 5], vec![1, 3, 5]),
        ] {
            halve(&mut seen);
            assert_eq!(seen, left);
        }
    }
}
