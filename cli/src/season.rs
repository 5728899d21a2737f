//! A season of a hotel: who books what and when, who cancels, and how many rooms there are.

pub(crate) mod hotel_csv;
pub(crate) mod published;
mod replay;

use std::collections::BTreeMap;

use turnstile_rooms::IdNumber;
use turnstile_types::{Night, Stay};

pub(crate) use replay::{AcknowledgedBooking, SeasonPlayed, play};

/// The share of the peak demand for which rooms are made, in percent, when nobody says: on the
/// public data set about one booking in forty is then refused.
pub(crate) const FILL_PERCENT: u32 = 60;

/// One guest's plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GuestPlan {
    pub(crate) property: &'static str,
    /// The type of room that the guest reserves: one letter.
    pub(crate) room_type: char,
    pub(crate) stay: Stay,
    /// The day on which the booking is made.
    pub(crate) made: Night,
    /// The day on which it is cancelled, not before `made`.
    pub(crate) cancelled: Option<Night>,
    /// The guest's number, from which name and id number follow.
    pub(crate) guest: u64,
    /// The idempotency key of the booking; that of its cancellation has `:cancel` behind it.
    pub(crate) key: String,
}

impl GuestPlan {
    pub(crate) fn guest_name(&self) -> String {
        format!("guest {}", self.guest)
    }

    /// Twelve digits that follow from the guest's number; the last is the Verhoeff digit of the
    /// others.
    pub(crate) fn id_number(&self) -> String {
        let stem = format!("{:011}", 20_000_000_000 + self.guest % 70_000_000_000);
        (0..10)
            .map(|check| format!("{stem}{check}"))
            .find(|digits| IdNumber::parse(digits.as_bytes(), true).is_ok())
            .expect("eleven digits have exactly one check digit")
    }
}

/// One thing that happens on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    day: Night,
    deed: SeasonDeed,
    /// The booking's number in the season.
    pub(crate) booking: usize,
}

/// On one day bookings come before cancellations: a guest may do both on the same day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SeasonDeed {
    Book,
    Cancel,
}

impl Step {
    pub(crate) const fn deed(&self) -> SeasonDeed {
        self.deed
    }
}

/// Everything that happens, in the order of days; on one day in the order of the season.
pub(crate) fn steps(season: &[GuestPlan]) -> Vec<Step> {
    let mut steps = Vec::with_capacity(2 * season.len());
    for (booking, plan) in season.iter().enumerate() {
        steps.push(Step {
            day: plan.made,
            deed: SeasonDeed::Book,
            booking,
        });
        steps.extend(plan.cancelled.map(|day| Step {
            day,
            deed: SeasonDeed::Cancel,
            booking,
        }));
    }
    steps.sort_unstable();
    steps
}

/// A type of room of a property.
type Kind = (&'static str, char);

/// How many rooms of each type are made: a share of the peak demand, which is the most stays of
/// that type in one night if nobody had cancelled; rounded up, so at least one.
pub(crate) fn rooms(season: &[GuestPlan], fill_percent: u32) -> BTreeMap<Kind, u32> {
    let mut demand: BTreeMap<Kind, BTreeMap<Night, u32>> = BTreeMap::new();
    for booking in season {
        let nights = demand
            .entry((booking.property, booking.room_type))
            .or_default();
        for night in booking.stay.iter() {
            *nights.entry(night).or_default() += 1;
        }
    }
    demand
        .into_iter()
        .map(|(kind, nights)| {
            let peak = nights.into_values().max().unwrap_or_default();
            (kind, (peak * fill_percent).div_ceil(100))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booking(
        guest: u64,
        arrival: u16,
        nights: u16,
        made: u16,
        cancelled: Option<u16>,
    ) -> GuestPlan {
        let arrival = Night::from_days(arrival);
        GuestPlan {
            property: "city",
            room_type: 'A',
            stay: Stay::new(arrival, arrival.checked_add(nights).unwrap()).unwrap(),
            made: Night::from_days(made),
            cancelled: cancelled.map(Night::from_days),
            guest,
            key: format!("k{guest}"),
        }
    }

    #[test]
    fn days_are_in_order_and_on_one_day_bookings_come_first() {
        let season = [
            booking(0, 50, 2, 9, Some(9)),
            booking(1, 50, 2, 3, Some(20)),
            booking(2, 50, 2, 9, None),
        ];
        let order: Vec<(SeasonDeed, usize)> = steps(&season)
            .iter()
            .map(|step| (step.deed, step.booking))
            .collect();
        let expected = [
            (SeasonDeed::Book, 1),
            (SeasonDeed::Book, 0),
            (SeasonDeed::Book, 2),
            (SeasonDeed::Cancel, 0),
            (SeasonDeed::Cancel, 1),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn rooms_are_a_share_of_the_busiest_night_rounded_up() {
        let season = [
            booking(0, 50, 2, 0, None),
            booking(1, 51, 2, 0, Some(1)),
            booking(2, 51, 1, 0, None),
            booking(3, 60, 1, 0, None),
        ];
        let made = |fill| rooms(&season, fill)[&("city", 'A')];
        assert_eq!([made(100), made(60), made(1), made(200)], [3, 2, 1, 6]);
    }

    #[test]
    fn an_id_number_has_twelve_digits_and_is_the_guests_own() {
        let ids: std::collections::BTreeSet<String> = (0..1_000)
            .map(|guest| booking(guest, 50, 1, 0, None).id_number())
            .collect();
        assert_eq!(ids.len(), 1_000);
        assert!(
            ids.iter()
                .all(|id| IdNumber::parse(id.as_bytes(), true).is_ok())
        );
    }
}
