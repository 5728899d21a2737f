//! Levels that a run stood at, one after the other: a mean over two of them is that of neither.
//!
//! The levels are those that explain the bins best when each change of level has its price: PELT, of
//! R. Killick, P. Fearnhead and I. Eckley, "Optimal detection of changepoints with a linear
//! computational cost", 2012. Neighbouring bins of a run resemble each other, which looks like many
//! small changes of level. The price therefore grows with how far they do (as in a first-order
//! autoregression), which is found from the differences of neighbours: few of them see a change.

use serde::{Deserialize, Serialize};

use crate::{sample, steady::Unsteady, units::count};

/// A level that lasted for fewer bins is part of the noise: a second, in bins of 100 ms.
const BINS_MIN: usize = 10;

/// A change of level costs so many times the noise and the logarithm of the number of bins.
const PRICE: f64 = 8.0;

/// Changes smaller than this share of the mean are not told.
pub const CHANGE_MIN: f64 = 0.05;

/// Neighbours that resemble each other more than so would make every price endless.
const MEMORY_MAX: f64 = 0.95;

/// So many of the differences between bins are looked at, the smaller ones: the others may be changes
/// of level. The mean square of those of normal deviates is this share of that of all.
const KEPT: f64 = 0.9;
const KEPT_OF_NORMAL: f64 = 0.623;

/// A stretch at one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelStretch {
    /// The first bin, and the first after it.
    pub from: usize,
    pub to: usize,
    pub mean: f64,
}

/// The levels of a run, in order: one when it stood at one level, none for an empty run. A change is
/// told when the levels before and after differ by [`CHANGE_MIN`].
#[must_use]
pub fn of(bins: &[f64]) -> Vec<LevelStretch> {
    let price = PRICE * noise(bins) * count(bins.len().max(2)).ln();
    let mut regimes = levels(bins, &changes(bins, price, true));
    let close = |pair: &[LevelStretch]| {
        let scale = pair[0].mean.abs().max(pair[1].mean.abs());
        (pair[0].mean - pair[1].mean).abs() < CHANGE_MIN * scale
    };
    while let Some(at) = regimes.windows(2).position(close) {
        let kept: Vec<usize> = regimes.iter().skip(1).map(|regime| regime.from).collect();
        let kept: Vec<usize> = kept
            .into_iter()
            .filter(|&from| from != regimes[at + 1].from)
            .collect();
        regimes = levels(bins, &kept);
    }
    regimes
}

/// What is wrong with a mean over these bins, the first of which is the `first` of a run; nothing when
/// they stand at one level.
#[must_use]
pub fn several(bins: &[f64], first: usize) -> Option<Unsteady> {
    let regimes = of(bins);
    let change = |pair: &[LevelStretch]| pair[1].mean / pair[0].mean - 1.0;
    let largest = regimes
        .windows(2)
        .max_by(|one, other| change(one).abs().total_cmp(&change(other).abs()))?;
    Some(Unsteady::Levels {
        levels: regimes.len(),
        bin: first + largest[1].from,
        change: change(largest),
    })
}

/// The stretches between these first bins.
fn levels(bins: &[f64], changes: &[usize]) -> Vec<LevelStretch> {
    if bins.is_empty() {
        return Vec::new();
    }
    let froms = std::iter::once(0).chain(changes.iter().copied());
    let tos = changes.iter().copied().chain([bins.len()]);
    froms
        .zip(tos)
        .map(|(from, to)| LevelStretch {
            from,
            to,
            mean: sample::mean(&bins[from..to]),
        })
        .collect()
}

/// The variance of a mean of many bins, times their number.
fn noise(bins: &[f64]) -> f64 {
    let apart = |lag: usize| {
        let pairs = bins.iter().zip(bins.iter().skip(lag));
        let mut squares: Vec<f64> = pairs.map(|(one, other)| (one - other).powi(2)).collect();
        squares.sort_by(f64::total_cmp);
        let kept = (0..squares.len()).filter(|&at| count(at) < KEPT * count(squares.len()));
        let kept = &squares[..kept.count()];
        if kept.is_empty() {
            return 0.0;
        }
        // Half of the variance of a difference is that of a bin, less what the two have in common.
        sample::mean(kept) / KEPT_OF_NORMAL / 2.0
    };
    let (near, far) = (apart(1), apart(2));
    let least = least_noise(bins);
    if near <= 0.0 {
        return least;
    }
    let memory = (far / near - 1.0).clamp(0.0, MEMORY_MAX);
    (near / (1.0 - memory) * (1.0 + memory) / (1.0 - memory)).max(least)
}

/// Bins of a few answers each differ by whole answers: a rate between two such levels goes to and fro, with
/// at most a quarter of the square of their distance as its variance.
fn least_noise(bins: &[f64]) -> f64 {
    let steps = bins.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let step = steps
        .filter(|&step| step > 0.0)
        .fold(f64::INFINITY, f64::min);
    if step.is_finite() {
        step * step / 4.0
    } else {
        f64::MIN_POSITIVE
    }
}

/// The first bins of all levels but the first, for a price of each change. `prunes`: whether beginnings
/// that cannot become best any more are left out, which changes nothing but the time it takes.
fn changes(bins: &[f64], price: f64, prunes: bool) -> Vec<usize> {
    let sums = sums(bins, |bin| bin);
    let squares = sums_of_squares(bins);
    let cost = |from: usize, to: usize| {
        let sum = sums[to] - sums[from];
        (squares[to] - squares[from] - sum * sum / count(to - from)).max(0.0)
    };
    let mut best = vec![f64::INFINITY; bins.len() + 1];
    best[0] = -price;
    let mut last = vec![0; bins.len() + 1];
    // Beginnings, and from which end on another beginning is better for good.
    let mut open = vec![(0, usize::MAX)];
    for to in BINS_MIN..=bins.len() {
        for &(from, _) in &open {
            let all = best[from] + cost(from, to) + price;
            if to - from >= BINS_MIN && all < best[to] {
                (best[to], last[to]) = (all, from);
            }
        }
        for (from, beaten) in &mut open {
            if best[*from] + cost(*from, to) > best[to] {
                // A level that begins here must have lasted first.
                *beaten = (*beaten).min(to + BINS_MIN);
            }
        }
        if prunes {
            open.retain(|&(_, beaten)| to < beaten);
        }
        let next = to + 1 - BINS_MIN;
        if next >= BINS_MIN {
            open.push((next, usize::MAX));
        }
    }
    let mut changes = Vec::new();
    let mut at = bins.len();
    while last[at] > 0 {
        at = last[at];
        changes.push(at);
    }
    changes.reverse();
    changes
}

/// Sums of all before each place.
fn sums(bins: &[f64], of: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    sums.extend(bins.iter().map(|&bin| {
        sum += of(bin);
        sum
    }));
    sums
}

fn sums_of_squares(bins: &[f64]) -> Vec<f64> {
    sums(bins, |bin| bin * bin)
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{LevelStretch, changes, of};
    use crate::truth::{Autoregressive, WarmUp};

    const RUNS: u32 = 200;

    /// The levels of simulated runs of 300 bins with noise of 5 %, the last 120 of them by `fall`
    /// lower.
    fn runs(memory: f64, fall: f64) -> Vec<Vec<LevelStretch>> {
        let mut random = Random::new(5);
        let system = Autoregressive::new(100.0, 0.05, memory, WarmUp::None);
        let runs = (0..RUNS).map(|_| {
            let mut bins = system.bins(&mut || random.draw(), 300);
            bins[180..].iter_mut().for_each(|bin| *bin *= 1.0 - fall);
            of(&bins)
        });
        runs.collect()
    }

    #[test]
    fn one_level_is_one_however_much_neighbours_resemble_each_other() {
        for memory in [0.0, 0.7, 0.9] {
            let runs = runs(memory, 0.0);
            let more = runs.iter().filter(|regimes| regimes.len() > 1).count();
            assert!(more <= 12, "{memory}: {more}");
        }
    }

    /// Answers a second in bins of 100 ms to a user who is answered every so many microseconds, and up to
    /// two milliseconds more.
    fn single_user(random: &mut Random, period: u64) -> Vec<f64> {
        let mut bins = vec![0.0; 100];
        let mut at = random.below(period);
        while let Some(bin) = usize::try_from(at / 100_000)
            .ok()
            .and_then(|bin| bins.get_mut(bin))
        {
            *bin += 10.0;
            at += period + random.below(2_000);
        }
        bins
    }

    #[test]
    fn a_steady_user_stands_at_one_level_though_no_bin_has_a_whole_number_of_answers() {
        let mut random = Random::new(7);
        for period in [33_000, 50_100, 99_000, 100_200, 200_000, 300_000] {
            for _ in 0..20 {
                let bins = single_user(&mut random, period);
                assert_eq!(of(&bins).len(), 1, "{period}: {bins:?}");
            }
        }
        let mut bins = single_user(&mut random, 99_000);
        bins.extend(single_user(&mut random, 49_000));
        assert_eq!(of(&bins).len(), 2);
    }

    #[test]
    fn a_fall_by_a_quarter_is_found_where_it_is() {
        for (memory, within, least) in [(0.0, 2, 198), (0.7, 8, 150)] {
            let runs = runs(memory, 0.25);
            let found = runs.iter().filter(|regimes| {
                matches!(&regimes[..], [high, low]
                    if high.to == low.from
                        && high.to.abs_diff(180) <= within
                        && (low.mean / high.mean - 0.75).abs() < 0.06)
            });
            let found = found.count();
            assert!(found >= least, "{memory}: {found}");
        }
    }

    #[test]
    fn what_is_left_out_changes_nothing() {
        let mut random = Random::new(9);
        let system = Autoregressive::new(100.0, 0.1, 0.3, WarmUp::None);
        for run in 0..100_usize {
            let mut bins = system.bins(&mut || random.draw(), 120);
            bins[run / 2..run / 2 + 40]
                .iter_mut()
                .for_each(|bin| *bin += 20.0);
            for price in [10.0, 300.0, 3_000.0] {
                let fast = changes(&bins, price, true);
                assert_eq!(fast, changes(&bins, price, false), "run {run} at {price}");
            }
        }
    }

    #[test]
    fn small_and_short_changes_are_not_told() {
        let mut bins = vec![100.0; 100];
        bins[50..].fill(96.0);
        assert_eq!(of(&bins).len(), 1);
        bins[50..].fill(80.0);
        let told = super::several(&bins, 30).unwrap().to_string();
        let known = "2 levels one after the other, the largest change -20.0 % at bin 80";
        assert_eq!(
            (told.as_str(), super::several(&bins[..50], 0)),
            (known, None)
        );
        let levels: Vec<(usize, usize)> = of(&bins).iter().map(|one| (one.from, one.to)).collect();
        assert_eq!(levels, [(0, 50), (50, 100)]);
        let mut spike = vec![100.0; 100];
        spike[40..45].fill(500.0);
        assert!(of(&spike).iter().all(|one| one.to - one.from >= 10));
        assert_eq!((of(&[]).len(), of(&[1.0]).len()), (0, 1));
    }
}
