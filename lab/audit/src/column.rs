//! What a column means, by its name.

/// What is in a column; with each time how many of its units are a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Column {
    Users,
    Throughput,
    Response(f64),
    Think(f64),
    Run(f64),
    /// Of the runs, or where there are none, the response.
    Mean(f64),
    Deviation(f64),
    Error(f64),
    /// With how many of its units are the whole: 100 for per cent.
    Utilization(f64),
    Cores,
    Requests,
    /// No law knows it. Where it is not numbers, it tells series apart.
    Other,
}

/// A time whose unit is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoUnit;

/// How many of a unit are a second, by the last word of the column's name.
const UNITS: [(&str, f64); 4] = [("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0)];

impl Column {
    /// What a name in the first line means. Case does not matter, and what is neither letter nor
    /// digit parts words.
    pub(crate) fn of(name: &str) -> Result<Self, NoUnit> {
        let name = name.to_lowercase().replace('%', " percent ");
        let words = name.split(|character: char| !character.is_ascii_alphanumeric());
        let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        if let Some(rate) = Self::rate(&words) {
            return Ok(rate);
        }
        let unit = words.last().and_then(|last| seconds(last));
        if unit.is_some() {
            words.pop();
        }
        if words.len() > 1 {
            words.retain(|word| *word != "mean");
        }
        let timed = |column: fn(f64) -> Self| unit.map(column).ok_or(NoUnit);
        match words.as_slice() {
            ["response" | "r" | "latency"] | ["response", "time"] => timed(Self::Response),
            ["think" | "z"] | ["think", "time"] => timed(Self::Think),
            ["run", _] => timed(Self::Run),
            ["mean" | "average" | "avg"] => timed(Self::Mean),
            ["sd" | "stdev"] | ["standard", "deviation"] => timed(Self::Deviation),
            ["se"] | ["standard", "error"] => timed(Self::Error),
            words => Ok(Self::count(words)),
        }
    }

    /// What is a second, as the words of a name say it.
    fn rate(words: &[&str]) -> Option<Self> {
        const COUNTED: [&str; 6] = ["req", "requests", "ops", "operations", "tx", "transactions"];
        let is_rate = match words {
            ["throughput" | "x" | "rps" | "tps" | "qps"] | ["per", "second"] => true,
            [what, "s"] | [what, "per", "second"] => COUNTED.contains(what),
            _ => false,
        };
        is_rate.then_some(Self::Throughput)
    }

    fn count(words: &[&str]) -> Self {
        match words {
            [
                "users" | "n" | "clients" | "connections" | "threads" | "players" | "concurrency"
                | "vus",
            ] => Self::Users,
            ["utilization" | "utilisation" | "util" | "cpu" | "u"] => Self::Utilization(1.0),
            [
                "utilization" | "utilisation" | "util" | "cpu" | "u",
                "percent",
            ] => Self::Utilization(100.0),
            ["cores" | "servers"] => Self::Cores,
            ["requests"] => Self::Requests,
            _ => Self::Other,
        }
    }
}

fn seconds(word: &str) -> Option<f64> {
    let mut units = UNITS.into_iter();
    units.find_map(|(unit, seconds)| (unit == word).then_some(seconds))
}

#[cfg(test)]
mod tests {
    use super::{Column, NoUnit};

    #[test]
    fn a_name_says_what_and_in_which_unit() {
        let rows = [
            ("users", Ok(Column::Users)),
            ("N", Ok(Column::Users)),
            ("throughput", Ok(Column::Throughput)),
            ("req/s", Ok(Column::Throughput)),
            ("Requests per second", Ok(Column::Throughput)),
            ("requests", Ok(Column::Requests)),
            ("response_ms", Ok(Column::Response(1e3))),
            ("Mean response (us)", Ok(Column::Response(1e6))),
            ("R s", Ok(Column::Response(1.0))),
            ("latency", Err(NoUnit)),
            ("mean_s", Ok(Column::Mean(1.0))),
            ("think_ns", Ok(Column::Think(1e9))),
            ("run_3_ms", Ok(Column::Run(1e3))),
            ("se_ms", Ok(Column::Error(1e3))),
            ("cpu", Ok(Column::Utilization(1.0))),
            ("CPU %", Ok(Column::Utilization(100.0))),
            ("p99_ms", Ok(Column::Other)),
            ("series", Ok(Column::Other)),
        ];
        for (name, column) in rows {
            assert_eq!(Column::of(name), column, "{name}");
        }
    }
}
