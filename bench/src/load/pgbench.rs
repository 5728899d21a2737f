//! What pgbench says at its end.

use anyhow::{Context as _, Result};

/// Transactions a second, and how many there were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) rate: f64,
    pub(crate) transactions: u32,
}

/// Reads what it printed.
pub(crate) fn told(said: &str) -> Result<Told> {
    let after = |begin: &str| said.lines().find_map(|line| line.strip_prefix(begin));
    let rate = after("tps = ").and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok());
    let transactions = after("number of transactions actually processed: ");
    // With a number of transactions to do, it says `done/to do`.
    let transactions = transactions.and_then(|rest| rest.split('/').next()?.trim().parse().ok());
    rate.zip(transactions)
        .map(|(rate, transactions)| Told { rate, transactions })
        .with_context(|| format!("pgbench said: {said}"))
}

#[cfg(test)]
mod tests {
    use super::{Told, told};

    #[test]
    fn the_rate_is_read_from_what_pgbench_says() {
        let said = "number of transactions actually processed: 5\n\
                    tps = 1234.5 (without initial connection time)\n";
        let expected = Told {
            rate: 1_234.5,
            transactions: 5,
        };
        assert_eq!(told(said).unwrap(), expected);
        assert_eq!(told(&said.replace(": 5", ": 5/10")).unwrap(), expected);
        assert!(told("pgbench: error").is_err());
    }
}
