//! Histories of a right server, of which some is not known.

use turnstile_seed::Random;

use super::{
    super::{AgencyOperation, JourneyEnd, JourneyStep, TripBooked, TripCancelled, TripConfirmed},
    ADA, BOB, add, agency, book, committed, held_for, locator, priced_bill, priced_query, reserve,
};
use crate::{Model as _, rooms::InlineReference};

/// A history as a right server makes it: what it answers follows from counts that this keeps by
/// itself, in the order of the history.
struct Truth {
    random: Random,
    free: [i64; 3],
    prices: [u32; 3],
    bills: [[i64; 3]; 2],
    /// What each on a bill costs.
    costs: [[u32; 3]; 2],
    standing: Vec<(InlineReference, u16, u16)>,
    /// What is held, and until when.
    holds: Vec<(InlineReference, u16, u16, u64)>,
    now: u64,
    /// Holds whose locators nobody was told.
    anonymous: Vec<(InlineReference, u16, u16, u64)>,
    booked: u64,
}

impl Truth {
    fn below(&mut self, bound: u64) -> u16 {
        u16::try_from(self.random.below(bound)).unwrap()
    }

    fn query(&self, item: u16) -> JourneyStep {
        let at = usize::from(item);
        let reserved = self.bills[0][at] + self.bills[1][at];
        priced_query(item, self.free[at], reserved, self.prices[at])
    }

    fn bill(&self, customer: u16) -> JourneyStep {
        let costs = self.costs[usize::from(customer)];
        let lines = (0..).zip(self.bills[usize::from(customer)]).zip(costs);
        let lines = lines.map(|((item, count), price)| (item, count, price));
        let lines: Vec<_> = lines.filter(|(_, count, _)| *count > 0).collect();
        priced_bill(customer, &lines)
    }

    fn take(&mut self, customer: u16, item: u16, count: i64) {
        self.free[usize::from(item)] -= count;
        self.bills[usize::from(customer)][usize::from(item)] += count;
        if count > 0 {
            self.costs[usize::from(customer)][usize::from(item)] = self.prices[usize::from(item)];
        }
    }

    /// Something that is held, booked or given back; holds are given back when their time is over, or later.
    fn next_of_holds(&mut self) -> Option<AgencyOperation> {
        self.now += u64::from(self.below(4));
        let now = self.now;
        let over: Vec<_> = self
            .anonymous
            .extract_if(.., |hold| hold.3 <= now)
            .collect();
        for (_, customer, item, _) in over {
            self.take(customer, item, -1);
        }
        if let Some(number) = self.holds.iter().position(|hold| hold.3 <= self.now)
            && self.below(3) > 0
        {
            let (locator, customer, item, _) = self.holds.swap_remove(number);
            self.take(customer, item, -1);
            let answer = TripConfirmed::Over;
            let asks = self.below(2) == 0;
            return asks.then_some(AgencyOperation::Confirm { locator, answer });
        }
        let (customer, item, answer) = (self.below(2), self.below(3), TripConfirmed::Done);
        match self.below(8) {
            0 if !self.holds.is_empty() => {
                let (locator, customer, item, _) = self.holds.swap_remove(0);
                self.standing.push((locator, customer, item));
                Some(AgencyOperation::Confirm { locator, answer })
            }
            1 if !self.holds.is_empty() => {
                let (locator, customer, item, _) = self.holds.swap_remove(0);
                self.take(customer, item, -1);
                let answer = TripCancelled::Done;
                Some(AgencyOperation::Cancel { locator, answer })
            }
            2 | 3 if self.free[usize::from(item)] > 0 => {
                self.take(customer, item, 1);
                self.booked += 1;
                let text = format!("L{}", self.booked);
                let until = self.now + 1 + u64::from(self.below(20));
                self.holds.push((locator(&text), customer, item, until));
                let price = self.prices[usize::from(item)].into();
                Some(book(
                    customer,
                    &[item],
                    held_for(&text, price, (self.now, until)),
                ))
            }
            _ => None,
        }
    }

    fn next(&mut self) -> AgencyOperation {
        if let Some(operation) = self.next_of_holds() {
            return operation;
        }

        let (customer, item) = (self.below(2), self.below(3));
        let sold_out = self.free[usize::from(item)] == 0;
        match self.below(4) {
            0 if !self.standing.is_empty() => {
                let (locator, customer, item) = self.standing.swap_remove(0);
                self.take(customer, item, -1);
                let answer = TripCancelled::Done;
                AgencyOperation::Cancel { locator, answer }
            }
            0 | 1 if sold_out => book(customer, &[item], TripBooked::SoldOut(item)),
            0 | 1 => {
                self.take(customer, item, 1);
                self.booked += 1;
                let text = format!("L{}", self.booked);
                self.standing.push((locator(&text), customer, item));
                let answer = TripBooked::Done {
                    locator: locator(&text),
                    price: self.prices[usize::from(item)].into(),
                };
                book(customer, &[item], answer)
            }
            _ => {
                let mut steps = vec![self.bill(customer), self.query(item)];
                if sold_out {
                    self.free[usize::from(item)] += 1;
                    let price = (self.below(2) == 0).then(|| 10 + u32::from(self.below(5)));
                    if let Some(price) = price {
                        self.prices[usize::from(item)] = price;
                    }
                    steps.push(add(item, 1, price));
                } else {
                    self.take(customer, item, 1);
                    steps.push(reserve(customer, &[item]));
                }
                steps.push(self.query(item));
                committed(&steps)
            }
        }
    }
}

/// The same without its answer, or with its answer and without its place.
fn unanswered(operation: &AgencyOperation, certain: bool) -> AgencyOperation {
    let mut operation = operation.clone();
    match &mut operation {
        _ if certain => {}
        AgencyOperation::Transaction { end, .. } => *end = JourneyEnd::Unknown,
        AgencyOperation::Book {
            answer: answer @ TripBooked::Held { .. },
            ..
        } => *answer = TripBooked::HeldUnknown,
        AgencyOperation::Book { answer, .. } => *answer = TripBooked::Unknown,
        AgencyOperation::Cancel { answer, .. } => *answer = TripCancelled::Unknown,
        AgencyOperation::Confirm { answer, .. } => *answer = TripConfirmed::Unknown,
    }
    operation
}

#[test]
fn no_history_of_a_right_server_is_accused_however_much_of_it_is_unknown() {
    for seed in 0..400 {
        let mut truth = Truth {
            random: Random::new(seed),
            free: [2; 3],
            prices: [10; 3],
            bills: [[0; 3]; 2],
            costs: [[0; 3]; 2],
            standing: Vec::new(),
            holds: Vec::new(),
            now: 0,
            anonymous: Vec::new(),
            booked: 0,
        };
        let mut agency = agency();
        // Of so many one is unknown; without any, all is compared.
        let one_in = [0, 3, 9][usize::from(truth.below(3))];
        for place in 1..60 {
            let operation = truth.next();
            let chance = one_in > 0 && truth.below(one_in) == 0;
            if chance {
                let placed = matches!(operation, AgencyOperation::Confirm { .. });
                let certain = !placed && truth.below(2) == 0;
                let unknown = unanswered(&operation, certain);
                if let (AgencyOperation::Book { answer, .. }, false) = (&operation, certain) {
                    // Its locator was never told: nobody can cancel it, but a hold ends.
                    match answer {
                        TripBooked::Done { .. } => drop(truth.standing.pop()),
                        TripBooked::Held { .. } => truth.anonymous.extend(truth.holds.pop()),
                        _ => {}
                    }
                }
                let refused = matches!(
                    operation,
                    AgencyOperation::Book {
                        answer: TripBooked::SoldOut(_),
                        ..
                    }
                );
                if refused {
                    // Nothing was done, and nobody was told.
                    continue;
                }
                agency.suspect(&unknown);
                continue;
            }
            // What never was carried out may be suspected, too.
            if one_in > 0 && truth.below(30) == 0 {
                agency.suspect(&book(ADA, &[0], TripBooked::Unknown));
            }
            let found = agency.apply(place, &operation);
            assert_eq!(found, Ok(()), "seed {seed}, place {place}: {operation:?}");
        }
        for (_, customer, item, _) in [&truth.holds[..], &truth.anonymous[..]].concat() {
            truth.take(customer, item, -1);
        }
        let read: Vec<JourneyStep> = (0..3).map(|item| truth.query(item)).collect();
        let bills = [ADA, BOB].map(|customer| truth.bill(customer));
        let read = [read, bills.to_vec()].concat();
        let last = agency.last(&read);
        assert!(last.charge.is_empty(), "seed {seed}: {last:?}");
        if one_in == 0 {
            let standing = u64::try_from(truth.standing.len()).unwrap();
            assert_eq!(last.counts, Some((truth.booked, standing)), "seed {seed}");
        }
    }
}
