//! Quantities as people read them: three digits and a unit.

use std::fmt;

/// A duration in nanoseconds: `412ns`, `7.93us`, `233us`, `4.25ms`, `12.0s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nanos(pub f64);

/// Operations in a second: `942`, `9 410`, `1 266 801`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerSecond(pub f64);

/// A whole number in groups of three digits: `1 266 801`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

/// Bytes with a binary prefix: `512 B`, `1.50 KiB`, `64.0 MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scaled, unit) = match self.0 {
            ns if ns < 999.5 => (ns, "ns"),
            ns if ns < 999.5e3 => (ns / 1e3, "us"),
            ns if ns < 999.5e6 => (ns / 1e6, "ms"),
            ns => (ns / 1e9, "s"),
        };
        if unit == "ns" {
            return f.pad(&format!("{scaled:.0}ns"));
        }
        f.pad(&format!("{}{unit}", Digits(scaled)))
    }
}

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&grouped(&format!("{:.0}", self.0)))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&grouped(&self.0.to_string()))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut scaled = to_float(self.0) / 1024.0;
        let mut unit = "KiB";
        for larger in ["MiB", "GiB", "TiB"] {
            if scaled < 1023.5 {
                break;
            }
            scaled /= 1024.0;
            unit = larger;
        }
        f.pad(&format!("{} {unit}", Digits(scaled)))
    }
}

/// Three digits, as many as fit of them behind the point.
struct Digits(f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = match self.0 {
            value if value < 9.995 => 2,
            value if value < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{:.decimals$}", self.0)
    }
}

/// A count as a float: exact below 2^53, which is every count of a run.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "a statistic of more than 2^53 operations may be off by one part in 2^53"
)]
pub const fn to_float(count: u64) -> f64 {
    count as f64
}

/// A sum of times in nanoseconds as a float: all that wait behind a server that is too slow may wait for more
/// than 64 bits hold.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "a sum of more than 2^53 nanoseconds may be off by one part in 2^53"
)]
pub const fn long_to_float(sum: u128) -> f64 {
    sum as f64
}

/// A number of items as a float: exact, for memory holds no 2^53 items.
///
/// # Panics
/// Never: a length has at most 64 bits.
#[must_use]
pub fn count(items: usize) -> f64 {
    to_float(u64::try_from(items).expect("a length has at most 64 bits"))
}

fn grouped(number: &str) -> String {
    let digits = number.trim_start_matches('-');
    let mut text = String::with_capacity(number.len() * 4 / 3 + 1);
    text.push_str(&number[..number.len() - digits.len()]);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Count, Nanos, PerSecond};

    #[test]
    fn thousands_are_grouped_behind_the_sign() {
        let rows = [-1.0, -500.0, -123_456.0, 500.0, 123_456.0];
        let shown = rows.map(|rate| PerSecond(rate).to_string());
        assert_eq!(shown, ["-1", "-500", "-123 456", "500", "123 456"]);
    }

    #[test]
    fn durations_have_three_digits_and_the_unit_that_fits() {
        let rows = [
            (0.0, "0ns"),
            (412.3, "412ns"),
            (999.6, "1.00us"),
            (7_934.0, "7.93us"),
            (42_060.0, "42.1us"),
            (99_960.0, "100us"),
            (233_400.0, "233us"),
            (999_600.0, "1.00ms"),
            (4_250_000.0, "4.25ms"),
            (12_000_000_000.0, "12.0s"),
            (3_600_000_000_000.0, "3600s"),
        ];
        for (ns, shown) in rows {
            assert_eq!(Nanos(ns).to_string(), shown);
        }
        assert_eq!(format!("{:>8}|", Nanos(412.0)), "   412ns|");
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        let rows = [
            (0, "0"),
            (942, "942"),
            (9_410, "9 410"),
            (1_266_801, "1 266 801"),
        ];
        for (count, shown) in rows {
            assert_eq!(Count(count).to_string(), shown);
        }
        assert_eq!(PerSecond(9_409.7).to_string(), "9 410");
        assert_eq!(format!("{:>7}|", PerSecond(100.2)), "    100|");
    }

    #[test]
    fn bytes_have_a_binary_prefix() {
        let rows = [
            (1_023, "1023 B"),
            (1_536, "1.50 KiB"),
            (64 << 20, "64.0 MiB"),
            ((1 << 30) - 1, "1.00 GiB"),
            (300 << 40, "300 TiB"),
        ];
        for (bytes, shown) in rows {
            assert_eq!(Bytes(bytes).to_string(), shown);
        }
    }
}
