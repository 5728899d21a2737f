//! Seasons drawn from the figures of the public hotel-bookings data set.
//!
//! N. Antonio, A. de Almeida and L. Nunes, "Hotel booking demand datasets", Data in Brief 22
//! (2019), CC BY 4.0. The tables below were counted in 14,938 of its rows: 4,939 of the city hotel
//! (arrivals July to October 2015), 9,999 of the resort (July 2015 to February 2017; its months
//! are those of one year, July 2015 to June 2016).

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use turnstile_types::{Night, Stay};

use super::GuestPlan;

/// The year in which guests arrive.
const YEAR: u32 = 2027;

/// The figures of one hotel.
struct HotelStatistics {
    property: &'static str,
    /// Rows, cancelled ones included.
    rows: u32,
    /// Arrivals by month.
    months: [u32; 12],
    /// Stays by nights, from 1; the last also holds longer ones. Rows without a night are left out.
    nights: [u32; 15],
    /// Lead times in days: every twentieth of the rows has one no longer than this.
    lead_days: [u16; 21],
    /// Reserved types of room; those with fewer than ten rows are left out.
    types: &'static [(char, u32)],
    /// Cancelled bookings in a thousand, by lead time: see [`LEAD_CLASSES`].
    cancelled_permille: [u32; 5],
    /// When in the lead time a cancellation comes, in percent of it: every tenth of the
    /// cancellations comes no later than this.
    cancelled_percent: [u16; 11],
}

/// The longest lead time, in days, of each class but the last.
const LEAD_CLASSES: [u16; 4] = [7, 30, 90, 180];

const HOTELS: [HotelStatistics; 2] = [
    HotelStatistics {
        property: "city",
        rows: 4_939,
        months: [0, 0, 0, 0, 0, 0, 500, 1578, 2008, 853, 0, 0],
        nights: [664, 1951, 973, 842, 267, 85, 78, 19, 19, 9, 3, 3, 5, 1, 9],
        lead_days: [
            0, 0, 2, 5, 10, 15, 20, 28, 36, 40, 50, 58, 65, 74, 80, 87, 96, 104, 132, 164, 210,
        ],
        types: &[('A', 4640), ('B', 50), ('D', 141), ('E', 23), ('F', 83)],
        cancelled_permille: [161, 289, 357, 496, 388],
        cancelled_percent: [0, 0, 7, 35, 57, 73, 78, 82, 89, 97, 100],
    },
    HotelStatistics {
        property: "resort",
        rows: 9_999,
        months: [126, 411, 528, 718, 754, 490, 842, 643, 602, 748, 436, 467],
        nights: [
            1144, 1617, 1593, 1442, 772, 485, 1751, 251, 189, 239, 75, 62, 27, 190, 83,
        ],
        lead_days: [
            0, 3, 11, 20, 29, 37, 46, 56, 66, 78, 90, 105, 118, 136, 155, 169, 191, 213, 244, 327,
            737,
        ],
        types: &[
            ('A', 6090),
            ('C', 164),
            ('D', 1755),
            ('E', 1180),
            ('F', 173),
            ('G', 453),
            ('H', 179),
        ],
        cancelled_permille: [447, 653, 664, 705, 563],
        cancelled_percent: [0, 1, 6, 13, 25, 36, 50, 65, 80, 92, 100],
    },
];

/// A season of so many bookings. The same seed gives the same season.
pub(crate) fn season(bookings: usize, seed: u64) -> Vec<GuestPlan> {
    let mut dice = SeasonDraws(StdRng::seed_from_u64(seed));
    (0..bookings)
        .map(|number| {
            let [city, resort] = &HOTELS;
            let hotel = match dice.weighted(&[city.rows, resort.rows]) {
                0 => city,
                _ => resort,
            };
            dice.booking(hotel, number, seed)
        })
        .collect()
}

struct SeasonDraws(StdRng);

impl SeasonDraws {
    fn booking(&mut self, hotel: &'static HotelStatistics, number: usize, seed: u64) -> GuestPlan {
        let arrival = self.arrival(hotel);
        let nights = self.weighted(&hotel.nights) + 1;
        let nights = u16::try_from(nights).expect("the table has fifteen rows");
        let departure = arrival.checked_add(nights).expect("the year has a next");
        let lead = self.quantile(&hotel.lead_days);
        let made = Night::from_days(arrival.days() - lead);
        let class = LEAD_CLASSES.iter().filter(|&&days| days < lead).count();
        let is_cancelled = self.0.random_range(0..1_000) < hotel.cancelled_permille[class];
        let cancelled = is_cancelled.then(|| {
            let percent = u32::from(self.quantile(&hotel.cancelled_percent));
            let days = u16::try_from(u32::from(lead) * percent / 100);
            let days = days.expect("a part of the lead time is no longer than it");
            made.checked_add(days)
                .expect("a cancellation comes before the arrival")
        });
        let weights: Vec<u32> = hotel.types.iter().map(|&(_, rows)| rows).collect();
        GuestPlan {
            property: hotel.property,
            room_type: hotel.types[self.weighted(&weights)].0,
            stay: Stay::new(arrival, departure).expect("1 to 15 nights are a stay"),
            made,
            cancelled,
            guest: u64::try_from(number).expect("a season fits 64 bits"),
            key: format!("season:{seed}:{number}"),
        }
    }

    fn arrival(&mut self, hotel: &HotelStatistics) -> Night {
        let month = self.weighted(&hotel.months) + 1;
        let day = |text: String| Night::parse(text.as_bytes()).expect("the first of a month");
        let first = day(format!("{YEAR:04}-{month:02}-01"));
        let next = if month == 12 {
            day(format!("{:04}-01-01", YEAR + 1))
        } else {
            day(format!("{YEAR:04}-{:02}-01", month + 1))
        };
        Night::from_days(self.0.random_range(first.days()..next.days()))
    }

    /// An index, by weight.
    fn weighted(&mut self, weights: &[u32]) -> usize {
        let drawn = self.0.random_range(0..weights.iter().sum());
        let mut sum = 0;
        let place = weights.iter().position(|weight| {
            sum += weight;
            drawn < sum
        });
        place.expect("the draw is below the sum of the weights")
    }

    /// A value of the distribution with these equally spaced quantiles; straight lines between.
    fn quantile(&mut self, quantiles: &[u16]) -> u16 {
        let interval = self.0.random_range(0..quantiles.len() - 1);
        self.0
            .random_range(quantiles[interval]..=quantiles[interval + 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_season() {
        assert_eq!(season(200, 7), season(200, 7));
        assert_ne!(season(200, 7), season(200, 8));
    }

    #[test]
    fn a_season_has_the_shape_of_the_data() {
        let season = season(20_000, 1);
        let percent = |count: usize, of: usize| 100 * count / of;
        let (city, resort): (Vec<_>, Vec<_>) = season
            .iter()
            .partition(|booking| booking.property == "city");
        assert!(
            (31..=35).contains(&percent(city.len(), season.len())),
            "a third is the city's"
        );
        let cancelled = |of: &[&GuestPlan]| {
            percent(
                of.iter()
                    .filter(|booking| booking.cancelled.is_some())
                    .count(),
                of.len(),
            )
        };
        // The data: 34 % of the city's bookings are cancelled, and 63 % of the resort's.
        assert!(
            (31..=37).contains(&cancelled(&city)),
            "{}",
            cancelled(&city)
        );
        assert!(
            (60..=66).contains(&cancelled(&resort)),
            "{}",
            cancelled(&resort)
        );
        let weeks = resort
            .iter()
            .filter(|booking| booking.stay.nights() == 7)
            .count();
        assert!(
            (16..=19).contains(&percent(weeks, resort.len())),
            "a week is popular"
        );
        assert!(
            season
                .iter()
                .all(|booking| booking.made <= booking.stay.arrival())
        );
        let in_time = |booking: &GuestPlan| {
            booking
                .cancelled
                .is_none_or(|day| booking.made <= day && day <= booking.stay.arrival())
        };
        assert!(season.iter().all(in_time));
    }
}
