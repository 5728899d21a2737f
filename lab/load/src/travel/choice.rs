//! Which journey is bought next, by whom, and when.

use std::{ops::Range, sync::Arc};

use crate::seed::Dice;

/// Clients that the ancestor's rule keeps apart.
const CLIENTS_APART: u64 = 8;

/// A jitter of one percent, in millionths, either way.
const JITTER: u64 = 10_000;
const MILLION: u64 = 1_000_000;

/// How journeys are chosen.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// The ancestor's: transaction i of client c buys journey (8i + c) modulo their number, so that
    /// up to eight clients that are about equally fast stay out of each other's way.
    Apart,
    /// The k-th journey is bought in proportion to 1 / k^theta.
    Zipf(Zipf),
}

/// The shares of a Zipf distribution: for each place, how many of all 2^64 numbers are at or below
/// it. Made once; drawing from it needs no floats.
#[derive(Clone, Debug)]
pub(super) struct Zipf(Arc<[u64]>);

/// The choices of one client.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    rule: Rule,
    journeys: Range<usize>,
    customers: usize,
    dice: Dice,
    /// What the ancestor's rule counts, and its step.
    next: u64,
    stride: u64,
}

impl Zipf {
    /// Of so many places; theta is at least 0, where all places have the same share.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "shares are rounded; they are positive and at most 2^64"
    )]
    pub(super) fn new(places: usize, theta: f64) -> Self {
        let weight = |place: usize| (place as f64).powf(-theta);
        let whole: f64 = (1..=places).map(weight).sum();
        let mut below = 0.0;
        let mut shares: Vec<u64> = (1..=places)
            .map(|place| {
                below += weight(place);
                (below / whole * 2f64.powi(64)) as u64
            })
            .collect();
        if let Some(last) = shares.last_mut() {
            *last = u64::MAX;
        }
        Self(shares.into())
    }

    fn draw(&self, dice: &mut Dice) -> usize {
        let number = dice.next();
        self.0.partition_point(|&share| share < number)
    }
}

impl Choice {
    /// The choices of one of `clients` clients.
    pub(super) fn new(
        rule: Rule,
        journeys: Range<usize>,
        customers: usize,
        client: (usize, usize),
        seed: u64,
    ) -> Self {
        let (client, clients) = client;
        let wide = |number| u64::try_from(number).expect("a count fits 64 bits");
        Self {
            rule,
            journeys,
            customers,
            dice: Dice::of_user(seed, wide(client)),
            next: wide(client),
            stride: wide(clients).max(CLIENTS_APART),
        }
    }

    /// The next customer and journey.
    pub(super) fn next(&mut self) -> (usize, usize) {
        let of = |number: u64, count: usize| {
            let count = u64::try_from(count).expect("a count fits 64 bits");
            usize::try_from(number % count).expect("it is below a count")
        };
        let customer = of(self.next, self.customers);
        let journey = match &self.rule {
            Rule::Apart => of(self.next, self.journeys.len()),
            Rule::Zipf(zipf) => zipf.draw(&mut self.dice),
        };
        self.next += self.stride;
        (customer, self.journeys.start + journey)
    }
}

/// When a client's transactions are due: at a rate, each interval one percent longer or shorter at
/// the most. It is known before the run, whatever is answered.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    next: u64,
    interval: u64,
    dice: Dice,
}

impl Schedule {
    /// The schedule of one of `clients` clients that are to begin `rate` transactions a second
    /// together. They begin one after the other.
    pub(super) fn new(rate: u32, client: (usize, usize), seed: u64) -> Self {
        let (client, clients) = client;
        let wide = |number| u64::try_from(number).expect("a count fits 64 bits");
        let (client, clients) = (wide(client), wide(clients));
        let interval = clients * 1_000_000_000 / u64::from(rate);
        Self {
            next: interval / clients * client,
            interval,
            dice: Dice::of_user(seed ^ 0x7363_6865_6475_6c65, client),
        }
    }

    /// When the next transaction is due, in nanoseconds since the start.
    pub(super) const fn due(&self) -> u64 {
        self.next
    }

    /// That one has begun.
    pub(super) const fn advance(&mut self) {
        let share = MILLION - JITTER + self.dice.below(2 * JITTER + 1);
        self.next += self.interval / MILLION * share + self.interval % MILLION * share / MILLION;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn clients_that_are_equally_fast_choose_apart() {
        let choice = |client| Choice::new(Rule::Apart, 100..200, 200, (client, 8), 1);
        let mut choices: Vec<Choice> = (0..8).map(choice).collect();
        for turn in 0..1_000 {
            let chosen: Vec<(usize, usize)> = choices.iter_mut().map(Choice::next).collect();
            let journeys: BTreeSet<usize> = chosen.iter().map(|(_, journey)| *journey).collect();
            let customers: BTreeSet<usize> = chosen.iter().map(|(customer, _)| *customer).collect();
            assert_eq!((journeys.len(), customers.len()), (8, 8), "{chosen:?}");
            let first = (turn * 8 % 200, 100 + turn * 8 % 100);
            assert_eq!(chosen[0], first);
        }
        // More clients than eight are kept apart in the same way.
        let choice = |client| Choice::new(Rule::Apart, 0..100, 200, (client, 20), 1);
        let mut choices: Vec<Choice> = (0..20).map(choice).collect();
        let journeys: BTreeSet<usize> = choices.iter_mut().map(|choice| choice.next().1).collect();
        assert_eq!(journeys.len(), 20);
    }

    #[test]
    fn zipf_draws_each_place_as_often_as_its_share() {
        let zipf = Zipf::new(100, 0.99);
        let mut dice = Dice::of_user(1, 0);
        let mut counts = [0_u32; 100];
        for _ in 0..200_000 {
            counts[zipf.draw(&mut dice)] += 1;
        }
        let whole: f64 = (1..=100).map(|place| f64::from(place).powf(-0.99)).sum();
        for place in [1_u32, 2, 10, 100] {
            let expected = 200_000.0 * f64::from(place).powf(-0.99) / whole;
            let found = f64::from(counts[usize::try_from(place).unwrap() - 1]);
            // Five standard deviations.
            assert!(
                (found - expected).abs() < 5.0 * expected.sqrt(),
                "{place}: {found}"
            );
        }
        let even = Zipf::new(4, 0.0);
        assert_eq!(even.0[..], [1 << 62, 1 << 63, 3 << 62, u64::MAX]);
    }

    #[test]
    fn transactions_are_due_at_the_rate_within_a_percent_and_one_client_after_the_other() {
        let mut first = Schedule::new(1_000, (0, 4), 1);
        let second = Schedule::new(1_000, (1, 4), 1);
        assert_eq!((first.due(), second.due()), (0, 1_000_000));
        let mut different = BTreeSet::new();
        for _ in 0..1_000 {
            let before = first.due();
            first.advance();
            let interval = first.due() - before;
            assert!((3_960_000..=4_040_000).contains(&interval), "{interval}");
            different.insert(interval);
        }
        assert!(different.len() > 900, "{}", different.len());
        // The mean of a thousand is ten times nearer than a percent.
        assert!(
            first.due().abs_diff(4_000_000_000) < 4_000_000,
            "{}",
            first.due()
        );
    }
}
