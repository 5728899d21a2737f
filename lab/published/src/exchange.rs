//! The report on the exchange: many clients with one request each, on one, two and four cores.

use serde::{Deserialize, Serialize};

use crate::EXCHANGE_CORES;

/// One row: five runs, and what was printed about them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timed {
    /// Clients, each with one request.
    pub requests: u64,
    pub cores: u32,
    /// Wall time of each run in milliseconds.
    pub runs: [f64; 5],
    /// Their mean in seconds.
    pub mean: f64,
    /// Their standard deviation in milliseconds.
    pub deviation: f64,
    /// The standard error of the mean in milliseconds.
    pub error: f64,
    /// Requests a second.
    pub throughput: f64,
}

#[derive(Deserialize)]
struct Row {
    requests: u64,
    cores: u32,
    run_1_ms: f64,
    run_2_ms: f64,
    run_3_ms: f64,
    run_4_ms: f64,
    run_5_ms: f64,
    mean_s: f64,
    sd_ms: f64,
    se_ms: f64,
    throughput: f64,
}

/// All rows.
#[must_use]
pub fn exchange() -> Vec<Timed> {
    let rows = EXCHANGE_CORES.rows::<Row>().into_iter();
    rows.map(|row| Timed {
        requests: row.requests,
        cores: row.cores,
        runs: [
            row.run_1_ms,
            row.run_2_ms,
            row.run_3_ms,
            row.run_4_ms,
            row.run_5_ms,
        ],
        mean: row.mean_s,
        deviation: row.sd_ms,
        error: row.se_ms,
        throughput: row.throughput,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was printed of the five runs follows from them, to the last digit but one.
    #[test]
    fn the_figures_are_whole() {
        let table = exchange();
        let axes: Vec<(u64, u32)> = table.iter().map(|row| (row.requests, row.cores)).collect();
        let expected =
            [7_000, 4_000, 1_000].map(|requests| [1, 2, 4].map(|cores| (requests, cores)));
        assert_eq!(axes, expected.concat());
        for row in table {
            let mean = row.runs.iter().sum::<f64>() / 5.0;
            let squares = row.runs.iter().map(|run| (run - mean).powi(2));
            let deviation = (squares.sum::<f64>() / 4.0).sqrt();
            assert!((mean / 1e3 - row.mean).abs() < 0.0013, "{row:?}");
            assert!((deviation - row.deviation).abs() < 0.06, "{row:?}");
            assert!(
                (deviation / 5_f64.sqrt() - row.error).abs() < 0.06,
                "{row:?}"
            );
            let rate = f64::from(u32::try_from(row.requests).unwrap()) / mean * 1e3;
            assert!((rate - row.throughput).abs() < 0.05, "{row:?}");
        }
    }
}
