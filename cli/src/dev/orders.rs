//! Disk faults ordered through standard input, for `lab check`.

use std::str::FromStr;

use turnstile_embedded::Trouble;

use crate::terminal;

/// What every server of this process is in for.
pub(super) static TROUBLE: Trouble = Trouble::new();

/// The length of the journal's segments where a disk is full at times: few requests fill one, so that
/// the next is wanted soon.
pub(super) const SEGMENT_BYTES: u32 = 128 << 10;

/// One line of standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The n-th sync from now on fails, with most of what it was for.
    FailSync(u32),
    /// The n-th sync and all later ones lose what they are for, and say that all is well.
    LoseSync(u32),
    /// There is no room on the disk, or there is again.
    Fill(bool),
}

impl FromStr for Order {
    type Err = &'static str;

    fn from_str(line: &str) -> Result<Self, &'static str> {
        let (word, number) = line.split_once(' ').unwrap_or((line, ""));
        let nth = number.parse().ok().filter(|nth| *nth > 0);
        match (word, nth) {
            ("sync-error", Some(nth)) => Ok(Self::FailSync(nth)),
            ("sync-lost", Some(nth)) => Ok(Self::LoseSync(nth)),
            ("full-disk", None) if number.is_empty() => Ok(Self::Fill(true)),
            ("room", None) if number.is_empty() => Ok(Self::Fill(false)),
            _ => Err("an order is `sync-error N`, `sync-lost N`, `full-disk` or `room`"),
        }
    }
}

/// Does what a line says, and repeats the line on standard output when it counts; what it does not say
/// is told to the log.
pub(super) fn heed(line: &str) {
    match line.parse() {
        Ok(Order::FailSync(nth)) => TROUBLE.fail_sync(nth),
        Ok(Order::LoseSync(nth)) => TROUBLE.lose_sync(nth),
        Ok(Order::Fill(is_full)) => TROUBLE.fill(is_full),
        Err(usage) => {
            tracing::error!(line, "unknown order: {usage}");
            return;
        }
    }
    // Whoever gave it need not listen.
    terminal::line(line).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_word_and_where_it_counts_a_number() {
        for (line, order) in [
            ("sync-error 3", Ok(Order::FailSync(3))),
            ("sync-lost 1", Ok(Order::LoseSync(1))),
            ("full-disk", Ok(Order::Fill(true))),
            ("room", Ok(Order::Fill(false))),
        ] {
            assert_eq!(line.parse(), order, "{line}");
        }
        for line in [
            "",
            "sync-error",
            "sync-error 0",
            "sync-lost -1",
            "room 2",
            "full",
        ] {
            let refused = line.parse::<Order>();
            assert!(refused.is_err(), "{line}: {refused:?}");
        }
    }
}
