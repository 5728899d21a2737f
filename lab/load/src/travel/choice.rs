//! Which journey is bought next, and by whom.

use std::{ops::Range, sync::Arc};

use crate::seed::Dice;

/// Clients that the ancestor's rule keeps apart.
const CLIENTS_APART: u64 = 8;

/// How journeys are chosen.
#[derive(Clone, Debug)]
pub(super) enum JourneyRule {
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
pub(super) struct JourneyChooser {
    rule: JourneyRule,
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

impl JourneyChooser {
    /// The choices of one of `clients` clients.
    pub(super) fn new(
        rule: JourneyRule,
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
            JourneyRule::Apart => of(self.next, self.journeys.len()),
            JourneyRule::Zipf(zipf) => zipf.draw(&mut self.dice),
        };
        self.next += self.stride;
        (customer, self.journeys.start + journey)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn clients_that_are_equally_fast_choose_apart() {
        let choice =
            |client| JourneyChooser::new(JourneyRule::Apart, 100..200, 200, (client, 8), 1);
        let mut choices: Vec<JourneyChooser> = (0..8).map(choice).collect();
        for turn in 0..1_000 {
            let chosen: Vec<(usize, usize)> =
                choices.iter_mut().map(JourneyChooser::next).collect();
            let journeys: BTreeSet<usize> = chosen.iter().map(|(_, journey)| *journey).collect();
            let customers: BTreeSet<usize> = chosen.iter().map(|(customer, _)| *customer).collect();
            assert_eq!((journeys.len(), customers.len()), (8, 8), "{chosen:?}");
            let first = (turn * 8 % 200, 100 + turn * 8 % 100);
            assert_eq!(chosen[0], first);
        }
        // More clients than eight are kept apart in the same way.
        let choice = |client| JourneyChooser::new(JourneyRule::Apart, 0..100, 200, (client, 20), 1);
        let mut choices: Vec<JourneyChooser> = (0..20).map(choice).collect();
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
}
